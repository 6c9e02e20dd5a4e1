//! Rows of questions in words, to be shown to people. A row that is not there is an empty text, and texts are clean.

use plimsoll_base::words::shortened;
use plimsoll_hooks::allow::AllowQuestion;
use plimsoll_hooks::rank::{OrderQuestion, PriceQuestion, Tables};
use plimsoll_hooks::score::ScoreQuestion;

use crate::text;

/// `general, m5.large, us-east-1a, spot`.
pub(crate) fn price_words(question: &PriceQuestion, row: usize) -> String {
    let pools = &question.pools;
    let pool = pools.name.get(owner(&pools.cand_ends, row));
    let pool = pool.and_then(|name| question.tables.symbols.get(*name));
    candidate(&question.tables, pools.cand.get(row), pool.unwrap_or("?"))
}

/// `claim 3, m5.large, us-east-1a, spot`.
pub(crate) fn order_words(question: &OrderQuestion, row: usize) -> String {
    let claims = &question.claims;
    let claim = owner(&claims.cand_ends, row);
    let owner = format!("claim {claim}");
    candidate(&question.tables, claims.cand.get(row), &owner)
}

/// `replace node-1, node-2`.
pub(crate) fn move_words(question: &ScoreQuestion, row: usize) -> String {
    let Some(kind) = question.moves.kind.get(row) else {
        return String::new();
    };
    let kind = match kind {
        0 => "remove empty",
        1 => "delete",
        _ => "replace",
    };
    let members = question.moves.members(row).iter();
    let members = shortened(members.map(|node| question.node_name(*node)));
    text::clean(&format!("{kind} {members}"), text::NAME)
}

/// `general, drift`.
pub(crate) fn budget_words(question: &AllowQuestion, row: usize) -> String {
    let pools = &question.pools;
    let Some((name, reason)) = pools.name.get(row).zip(pools.reason.get(row)) else {
        return String::new();
    };
    let name = question.symbols.get(*name).unwrap_or("?");
    let reason = match reason {
        0 => "emptiness",
        1 => "consolidation",
        2 => "drift",
        _ => "another reason",
    };
    text::clean(&format!("{name}, {reason}"), text::NAME)
}

/// Whose part of a joined column a row lies in.
fn owner(ends: &[u32], row: usize) -> usize {
    ends.partition_point(|&end| end as usize <= row)
}

fn candidate(tables: &Tables, offering: Option<&u32>, owner: &str) -> String {
    let Some(&offering) = offering else {
        return String::new();
    };
    let capacity = tables.catalogue.o_capacity.get(offering as usize);
    let capacity = match capacity {
        Some(0) => "on-demand",
        Some(1) => "spot",
        Some(2) => "reserved",
        _ => "other capacity type",
    };
    let (name, zone) = (tables.type_name(offering), tables.zone(offering));
    text::clean(&format!("{owner}, {name}, {zone}, {capacity}"), text::NAME)
}
