//! Reasons in words, laid out for people: why a pod goes nowhere, what a planned claim is and what it may become.

use plimsoll_base::labels;
use plimsoll_base::words::shortened;
use plimsoll_model::plan::{Plan, PoolRefusal, Refusal, Unplaced, excluding, refusals_in_full};
use plimsoll_model::snapshot::Snapshot;

use crate::output::thousands;
use crate::priced::{Priced, option_words};
use crate::view::plan::claim_name;

/// Why a pod goes nowhere: one line, then one per pool and rule, then the nearest thing that would have worked.
pub(crate) fn refusal(snapshot: &Snapshot, unplaced: &Unplaced) -> String {
    let name = &snapshot.pods[unplaced.pod].name;
    let Refusal::Unschedulable(pools) = &unplaced.reason else {
        return format!("{name} {}\n", unplaced.reason);
    };
    let mut text = format!("{name} is unschedulable: no offering of its NodePools can hold it\n");
    let (shown, others) = refusals_in_full(pools);
    let names = shown.iter().map(|pool| pool.pool.as_str().len());
    let width = names.max().unwrap_or(0);
    for pool in shown {
        text.push_str(&of_pool(pool, width));
    }
    if others > 0 {
        text.push_str(&format!("  {}\n", excluding(others)));
    }
    for pool in pools {
        if let Some(nearest) = &pool.nearest {
            text.push_str(&format!("nearest to pool {}: {nearest}\n", pool.pool));
        }
    }
    text
}

/// The rules of one pool, counts one below the other.
fn of_pool(refusal: &PoolRefusal, width: usize) -> String {
    let head = format!("  pool {:width$}  ", refusal.pool);
    if refusal.offerings.is_empty() {
        return format!("{head}{}\n", refusal.reason);
    }
    let total = format!("{} offerings: ", thousands(refusal.looked_at() as u64));
    let counts: Vec<String> = refusal
        .offerings
        .iter()
        .map(|refused| thousands(refused.count as u64))
        .collect();
    let most = counts.iter().map(String::len).max().unwrap_or(0);
    let mut text = head + &total;
    let indent = " ".repeat(text.chars().count());
    for (at, (count, refused)) in counts.iter().zip(&refusal.offerings).enumerate() {
        if at > 0 {
            text.push_str(&indent);
        }
        text.push_str(&format!("{count:>most$} {}\n", refused.rule));
    }
    text
}

/// Text about a planned claim: its chosen offering, requests, prices and other launch options.
pub(crate) fn claim(snapshot: &Snapshot, plan: &Plan, number: usize, priced: &Priced) -> String {
    let claim = &plan.claims[number];
    let name = claim_name(snapshot, plan, number);
    let Some(chosen) = claim.chosen() else {
        return format!("NodeClaim {name} has no launch option\n");
    };
    let mut text = format!(
        "NodeClaim {name} of NodePool {}: {}, {}, zone {}, {}\n  requests {}\n",
        claim.pool,
        chosen.instance_type,
        chosen.capacity_type,
        chosen.zone,
        chosen.list_price,
        claim.requests
    );
    if let Some(answers) = priced.answers(claim) {
        text.push_str(&answers.lines(chosen));
    }
    for (mark, what) in [
        (labels::PRICE_OVERLAY_APPLIED, "the price"),
        (labels::CAPACITY_OVERLAY_APPLIED, "the capacity"),
    ] {
        if claim.annotations.contains_key(mark) {
            text.push_str(&format!(
                "  NodeOverlays set {what} of some of its instance types\n"
            ));
        }
    }
    let others = claim.options[1..]
        .iter()
        .map(|option| format!("{} {}", option_words(option), option.list_price));
    let others = shortened(others);
    if !others.is_empty() {
        text.push_str(&format!("  or {others}\n"));
    }
    text
}
