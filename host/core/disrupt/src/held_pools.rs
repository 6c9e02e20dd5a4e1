//! Pools of which no node may go now, by their own budgets: what people look for first where nothing happens.

use std::collections::BTreeMap;

use plimsoll_base::ids::PoolName;
use plimsoll_model::command::HeldPool;

use super::budget::PoolAllowance;

/// Pools that have nodes of which their own budgets let none go, each with the reasons that this is so for.
pub(super) fn held_pools(allowances: &[PoolAllowance]) -> Vec<HeldPool> {
    let shut = allowances
        .iter()
        .filter(|row| row.nodes.counted > 0 && row.declared.nodes == 0);
    let mut reasons: BTreeMap<&PoolName, (Vec<&str>, Option<String>)> = BTreeMap::new();
    for row in shut {
        let (names, problem) = reasons.entry(&row.pool).or_default();
        names.push(row.reason.as_str());
        *problem = row.declared.problem.as_ref().map(ToString::to_string);
    }
    let held = reasons.into_iter().map(|(pool, (names, problem))| {
        let names = names.join(", ");
        let words = match problem {
            None => format!("no node may be disrupted now for {names}: a budget of the pool allows 0"),
            Some(problem) => format!(
                "no node may be disrupted for {names}: a budget of the pool cannot be followed: {problem}"
            ),
        };
        HeldPool {
            pool: pool.clone(),
            words,
        }
    });
    held.collect()
}
