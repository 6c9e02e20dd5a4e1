//! Checks any packing against its problem, knowing nothing of how it was made.

use thiserror::Error;

use super::problem::{Bought, Packing, Problem};

/// A fault of a packing.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Violation {
    /// A row that the problem does not have.
    #[error("{what} {row} does not exist")]
    UnknownRow {
        /// Kind of row: `kind` or `demand`.
        what: &'static str,
        /// Position that the packing gives, beyond the end of the list.
        row: usize,
    },
    /// A node entry that buys nothing, holds nothing, or lists demands out of order.
    #[error("node entry {entry} is empty or not in order")]
    MalformedEntry {
        /// Position in the packing.
        entry: usize,
    },
    /// Units appear or vanish.
    #[error("demand {demand} has {found} units placed or unplaced, expected {expected}")]
    Units {
        /// Position among the problem's demands.
        demand: usize,
        /// Units accounted for.
        found: u64,
        /// Units asked for.
        expected: u64,
    },
    /// A class on a kind that it may not use.
    #[error("node entry {entry} holds demand {demand}, which may not use kind {kind}")]
    KindForbidden {
        /// Position in the packing.
        entry: usize,
        /// Position among the problem's demands.
        demand: usize,
        /// Position among the problem's kinds.
        kind: usize,
    },
    /// More on a node than it has.
    #[error("node entry {entry} holds {needed} of axis {axis}, its kind has {capacity}")]
    Capacity {
        /// Position in the packing.
        entry: usize,
        /// Position among the axes.
        axis: usize,
        /// Request of its load on the axis.
        needed: i128,
        /// Capacity of the kind on the axis.
        capacity: i64,
    },
    /// A rule broken on a node.
    #[error("node entry {entry} counts {counted} under rule {rule}, whose limit is {limit}")]
    Rule {
        /// Position in the packing.
        entry: usize,
        /// Position among the problem's rules.
        rule: usize,
        /// Pods that the rule counts.
        counted: u64,
        /// The most that the rule allows.
        limit: u32,
    },
    /// A spend limit exceeded.
    #[error("spend limit {limit}, entry {axis}: {spent} spent of {remaining}")]
    Spend {
        /// Position among the problem's spend limits.
        limit: usize,
        /// Entry of [`super::SpendLimit::remaining`].
        axis: usize,
        /// Amount that bought nodes take of the limit.
        spent: i128,
        /// Amount that was left of the limit.
        remaining: i64,
    },
    /// More nodes than a supply has.
    #[error("supply {supply}: {bought} nodes bought of {available}")]
    Supply {
        /// Position among the problem's supplies.
        supply: usize,
        /// Nodes bought.
        bought: u64,
        /// Nodes there are.
        available: u32,
    },
}

/// `Ok` if a packing accounts for every unit and breaks no rule; the first violation as the error.
pub fn verify(problem: &Problem, packing: &Packing) -> Result<(), Violation> {
    let mut units = vec![0_u64; problem.demands.len()];
    for (entry, node) in packing.nodes.iter().enumerate() {
        check_node(problem, entry, node)?;
        for &(demand, count) in &node.load {
            units[demand] += u64::from(count) * u64::from(node.count);
        }
    }
    for &(demand, count) in &packing.unplaced {
        let row = units.get_mut(demand).ok_or(Violation::UnknownRow {
            what: "demand",
            row: demand,
        })?;
        *row += u64::from(count);
    }
    for (demand, (&found, asked)) in units.iter().zip(&problem.demands).enumerate() {
        let expected = u64::from(asked.count);
        if found != expected {
            return Err(Violation::Units {
                demand,
                found,
                expected,
            });
        }
    }
    check_spending(problem, packing)?;
    check_supplies(problem, packing)
}

fn check_node(problem: &Problem, entry: usize, node: &Bought) -> Result<(), Violation> {
    let kind = problem.kinds.get(node.kind).ok_or(Violation::UnknownRow {
        what: "kind",
        row: node.kind,
    })?;
    let ascending = node.load.windows(2).all(|pair| pair[0].0 < pair[1].0);
    let counted = node.load.iter().all(|(_, count)| *count > 0);
    if node.count == 0 || node.load.is_empty() || !ascending || !counted {
        return Err(Violation::MalformedEntry { entry });
    }
    let mut needed = vec![0_i128; problem.axes];
    for &(row, count) in &node.load {
        let demand = problem.demands.get(row).ok_or(Violation::UnknownRow {
            what: "demand",
            row,
        })?;
        if !problem.classes[demand.class].kinds.contains(node.kind) {
            return Err(Violation::KindForbidden {
                entry,
                demand: row,
                kind: node.kind,
            });
        }
        for (sum, &amount) in needed.iter_mut().zip(&demand.request) {
            *sum += i128::from(amount) * i128::from(count);
        }
    }
    for (axis, (&needed, &capacity)) in needed.iter().zip(&kind.capacity).enumerate() {
        if needed > i128::from(capacity) {
            return Err(Violation::Capacity {
                entry,
                axis,
                needed,
                capacity,
            });
        }
    }
    check_rules(problem, entry, node)
}

fn check_rules(problem: &Problem, entry: usize, node: &Bought) -> Result<(), Violation> {
    let members = node.load.iter().flat_map(|&(row, count)| {
        let class = &problem.classes[problem.demands[row].class];
        class.memberships.iter().map(move |m| (m, count))
    });
    let mut members: Vec<_> = members.collect();
    members.sort_by_key(|(membership, _)| membership.rule);
    for of_rule in members.chunk_by(|a, b| a.0.rule == b.0.rule) {
        let rule = of_rule[0].0.rule;
        let owned = of_rule.iter().any(|(membership, _)| membership.owner);
        let counted = of_rule
            .iter()
            .map(|(membership, count)| u64::from(membership.counted) * u64::from(*count))
            .sum();
        let limit = problem.rules[rule].limit;
        if owned && counted > u64::from(limit) {
            return Err(Violation::Rule {
                entry,
                rule,
                counted,
                limit,
            });
        }
    }
    Ok(())
}

fn check_spending(problem: &Problem, packing: &Packing) -> Result<(), Violation> {
    for (limit, it) in problem.spend_limits.iter().enumerate() {
        for (axis, &remaining) in it.remaining.iter().enumerate() {
            let mut spent = 0_i128;
            let mut bought = false;
            for node in &packing.nodes {
                if let Some((drawn, takes)) = &problem.kinds[node.kind].spends
                    && *drawn == limit
                {
                    bought = true;
                    spent += i128::from(takes[axis]) * i128::from(node.count);
                }
            }
            if bought && spent > i128::from(remaining) {
                return Err(Violation::Spend {
                    limit,
                    axis,
                    spent,
                    remaining,
                });
            }
        }
    }
    Ok(())
}

fn check_supplies(problem: &Problem, packing: &Packing) -> Result<(), Violation> {
    for (supply, &available) in problem.supplies.iter().enumerate() {
        let drawn = packing
            .nodes
            .iter()
            .filter(|node| problem.kinds[node.kind].supply == Some(supply));
        let bought = drawn.map(|node| u64::from(node.count)).sum();
        if bought > u64::from(available) {
            return Err(Violation::Supply {
                supply,
                bought,
                available,
            });
        }
    }
    Ok(())
}
