//! Moves to save money: what each was to save and did save, the ones that were to save most first.

use std::cmp::Reverse;

use maud::{Markup, html};
use plimsoll_model::command::Settled;
use plimsoll_sim::ScoreCard;

use crate::Contestant;
use crate::figures::{count, dollars, span};

/// Moves shown of one contestant.
const MOST_MOVES: usize = 10;

/// `true` if anybody moved pods to save money.
pub(crate) fn are_any(contestants: &[Contestant]) -> bool {
    let mut cards = contestants.iter().map(|contestant| &contestant.card);
    cards.any(|card| of(card).next().is_some())
}

/// A table per contestant that moved pods to save money.
pub(crate) fn lists(contestants: &[Contestant]) -> Markup {
    html! {
        @for contestant in contestants {
            @let sorted = sorted(&contestant.card);
            @if !sorted.is_empty() {
                h3 { (contestant.name) ": " (count(sorted.len() as i128)) }
                (list(&contestant.card, &sorted))
            }
        }
    }
}

fn of(card: &ScoreCard) -> impl Iterator<Item = &Settled> {
    let entries = card.ledger.iter();
    entries.filter(|entry| entry.reason.facts().saves)
}

fn sorted(card: &ScoreCard) -> Vec<&Settled> {
    let mut sorted: Vec<&Settled> = of(card).collect();
    sorted.sort_by_key(|entry| Reverse(entry.predicted));
    sorted
}

fn list(card: &ScoreCard, sorted: &[&Settled]) -> Markup {
    let (predicted, realised) = card.saved();
    html! {
        div.wide {
            table.moves {
                thead { tr {
                    th scope="col" { "started after" }
                    th scope="col" { "took" }
                    th scope="col" { "nodes terminated" }
                    th scope="col" { "replacements" }
                    th scope="col" { "predicted, per hour" }
                    th scope="col" { "realised, per hour" }
                } }
                tbody {
                    @for entry in sorted.iter().take(MOST_MOVES) { (row(card, entry)) }
                    tr {
                        th scope="row" { "all" }
                        td {}
                        td { (count(sorted.iter().map(|entry| entry.gone.len() as i128).sum::<i128>())) }
                        td { (count(sorted.iter().map(|entry| i128::from(entry.replacements)).sum::<i128>())) }
                        td { (dollars(predicted.nanos())) }
                        td { (dollars(realised.nanos())) }
                    }
                }
            }
        }
        @if sorted.len() > MOST_MOVES {
            p { (count((sorted.len() - MOST_MOVES) as i128)) " more are in the sum." }
        }
    }
}

fn row(card: &ScoreCard, entry: &Settled) -> Markup {
    let gone = entry.gone.len() as i128;
    let nodes = if gone == i128::from(entry.nodes) {
        count(entry.nodes)
    } else {
        format!("{} of {}", count(gone), count(entry.nodes))
    };
    html! {
        tr {
            td { (span(entry.begun.since(card.start))) }
            td { (span(entry.ended.since(entry.begun))) }
            td { (nodes) }
            td { (count(entry.replacements)) }
            td { (dollars(entry.predicted.nanos())) }
            td { (dollars(entry.realised.nanos())) }
        }
    }
}
