//! Reasons in words: the same text for a file and for a live cluster.

use plimsoll_core::plan::{Plan, Refusal, Unplaced};
use plimsoll_core::snapshot::Snapshot;

/// Names listed before the rest is counted.
const SHOWN: usize = 5;

/// Why a pod goes nowhere.
pub(crate) fn refusal(snapshot: &Snapshot, unplaced: &Unplaced) -> String {
    let name = &snapshot.pods[unplaced.pod].name;
    match &unplaced.reason {
        Refusal::Invalid(problem) => format!("{name} cannot be planned: {problem}\n"),
        Refusal::DynamicResources => {
            format!(
                "{name} asks for devices through dynamic resource allocation, which is not served\n"
            )
        }
        Refusal::NoPool => format!("{name} waits for a node: there is no pool that may buy one\n"),
        Refusal::Reserved => format!("{name} waits for a capacity reservation that others hold\n"),
        Refusal::Unschedulable(pools) => {
            let width = pools
                .iter()
                .map(|pool| pool.pool.as_str().len())
                .max()
                .unwrap_or(0);
            let lines = pools
                .iter()
                .map(|pool| format!("  pool {:width$}  {}\n", pool.pool, pool.reason));
            let lines: String = lines.collect();
            format!("{name} waits for a node: nothing that its pools may buy can hold it\n{lines}")
        }
    }
}

/// What a planned claim is and what it may become.
pub(crate) fn claim(plan: &Plan, number: usize) -> String {
    let claim = &plan.claims[number];
    let Some(chosen) = claim.chosen() else {
        return format!("claim {number} names nothing that can be bought\n");
    };
    let mut text = format!(
        "claim {number} of pool {}: {}, {}, zone {}, {}\n  asks {}\n",
        claim.pool,
        chosen.instance_type,
        chosen.capacity_type,
        chosen.zone,
        chosen.list_price,
        claim.requests
    );
    if chosen.price != chosen.list_price {
        text.push_str(&format!("  priced by the policy at {}\n", chosen.price));
    }
    let others: Vec<String> = claim.options[1..]
        .iter()
        .map(|option| {
            format!(
                "{} {} {}",
                option.instance_type, option.zone, option.list_price
            )
        })
        .collect();
    if !others.is_empty() {
        text.push_str(&format!("  or {}\n", shortened(&others)));
    }
    text
}

/// The first few names, and how many others there are.
pub(crate) fn shortened(names: &[String]) -> String {
    if names.len() <= SHOWN {
        return names.join(", ");
    }
    format!(
        "{} and {} other(s)",
        names[..SHOWN].join(", "),
        names.len() - SHOWN
    )
}
