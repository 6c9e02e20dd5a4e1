//! Pods that never got a node, gathered by reason, the commonest first.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use maud::{Markup, html};
use plimsoll_sim::ScoreCard;

use crate::Contestant;
use crate::figures::count;

/// Pods named for a reason.
const MOST_NAMES: usize = 6;

/// Reasons shown.
const MOST_REASONS: usize = 20;

/// A list per contestant that left pods without a node; a sentence when none did.
pub(crate) fn lists(contestants: &[Contestant]) -> Markup {
    let all = contestants.iter();
    let left: Vec<&Contestant> = all
        .filter(|contestant| contestant.card.unplaced_count > 0)
        .collect();
    html! {
        @if left.is_empty() { p { "Every pod was bound." } }
        @for contestant in left {
            h3 { (contestant.name) ": " (count(contestant.card.unplaced_count)) }
            (list(&contestant.card))
        }
    }
}

fn list(card: &ScoreCard) -> Markup {
    let reasons = reasons(card);
    let silent = usize::try_from(card.unplaced_count).unwrap_or(usize::MAX);
    let silent = silent.saturating_sub(card.unplaced.len());
    html! {
        div.wide {
            table.unplaced {
                thead { tr { th scope="col" { "pods" } th scope="col" { "reason" } th scope="col" { "names" } } }
                tbody {
                    @for (reason, pods) in reasons.iter().take(MOST_REASONS) {
                        tr {
                            td { (count(pods.len() as i128)) }
                            td.text { (reason) }
                            td.text { (which(pods)) }
                        }
                    }
                }
            }
        }
        @if reasons.len() > MOST_REASONS {
            p { (count((reasons.len() - MOST_REASONS) as i128)) " more reasons." }
        }
        @if silent > 0 {
            p { (count(silent as i128)) " more are counted and not listed." }
        }
    }
}

fn reasons(card: &ScoreCard) -> Vec<(&str, Vec<&str>)> {
    let mut reasons: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for unplaced in &card.unplaced {
        let pods = reasons.entry(&unplaced.reason).or_default();
        pods.push(&unplaced.pod);
    }
    let mut reasons: Vec<_> = reasons.into_iter().collect();
    reasons.sort_by_key(|(_, pods)| Reverse(pods.len()));
    reasons
}

fn which(pods: &[&str]) -> String {
    let named = pods[..pods.len().min(MOST_NAMES)].join(", ");
    match pods.len().saturating_sub(MOST_NAMES) {
        0 => named,
        more => format!("{named} and {} more", count(more as i128)),
    }
}
