//! Rules that force nodes: owners that count themselves, of which a node may hold only so many.

use super::problem::Problem;

/// Rules beyond this many add little to the bound and much to its price.
const MOST_RULES: usize = 16;

/// The rules that force the most nodes, most first.
pub(super) fn forced_rules(problem: &Problem) -> Vec<usize> {
    let mut counted = vec![0_u64; problem.rules.len()];
    for demand in &problem.demands {
        let memberships = &problem.classes[demand.class].memberships;
        for membership in memberships.iter().filter(|m| m.owner) {
            counted[membership.rule] += u64::from(demand.count) * u64::from(membership.counted);
        }
    }
    let nodes = |rule: usize| counted[rule] / u64::from(problem.rules[rule].limit).max(1);
    let mut rules: Vec<usize> = (0..problem.rules.len())
        .filter(|&rule| problem.rules[rule].limit > 0 && nodes(rule) > 1)
        .collect();
    rules.sort_by_key(|&rule| (std::cmp::Reverse(nodes(rule)), rule));
    rules.truncate(MOST_RULES);
    rules
}
