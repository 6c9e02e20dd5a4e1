//! Where the money went: the cost of each contestant from its lower bound up, step by step.

use maud::{Markup, html};
use plimsoll_sim::{LadderStep, ScoreCard};

use crate::Contestant;
use crate::chart::ink;
use crate::figures::{NOTHING, dollars, share};

/// Width of a bar's drawing, in its own units.
const WIDTH: i128 = 1000;

/// `true` if the steps of any contestant are known.
pub(crate) fn is_known(contestants: &[Contestant]) -> bool {
    let mut cards = contestants.iter().map(|contestant| &contestant.card);
    cards.any(|card| !card.ladder.is_empty())
}

/// A row for each step that is not zero for some contestant, a column for each contestant.
pub(crate) fn table(contestants: &[Contestant]) -> Markup {
    let known = || contestants.iter().filter(|one| !one.card.ladder.is_empty());
    let matters = |step: &LadderStep| known().any(|one| cost_of(&one.card, *step).1 != 0);
    html! {
        div.wide {
            table.waterfall.many[known().count() > 2] {
                thead { tr { th {} @for one in known() { th scope="col" colspan="3" { (one.name) } } } }
                tbody {
                    @for step in LadderStep::all().filter(matters) {
                        tr {
                            th scope="row" { (step.to_string()) }
                            @for (place, one) in known().enumerate() { (cells(&one.card, place, step)) }
                        }
                    }
                }
                tfoot { tr {
                    th scope="row" { "cost" }
                    @for one in known() { td { (dollars(one.card.cost)) } td.more { (part(one.card.cost, &one.card)) } td {} }
                } }
            }
        }
    }
}

/// The cost before a step and of the step itself.
fn cost_of(card: &ScoreCard, wanted: LadderStep) -> (i128, i128) {
    let mut before = 0;
    for entry in &card.ladder {
        if entry.step == wanted {
            return (before, i128::from(entry.cost));
        }
        before += i128::from(entry.cost);
    }
    (before, 0)
}

fn cells(card: &ScoreCard, place: usize, step: LadderStep) -> Markup {
    let (before, cost) = cost_of(card, step);
    let cost = i64::try_from(cost).unwrap_or(i64::MAX);
    html! {
        td { @if cost == 0 { (NOTHING) } @else { (dollars(cost)) } }
        td.more { @if cost != 0 { (part(cost, card)) } }
        td.bar { (bar(card, place, (before, before + i128::from(cost)))) }
    }
}

fn part(cost: i64, card: &ScoreCard) -> String {
    plimsoll_sim::thousandths(cost, card.cost).map_or_else(|| NOTHING.to_owned(), share)
}

/// A bar from one height of the cost to another.
fn bar(card: &ScoreCard, place: usize, (from, to): (i128, i128)) -> Markup {
    let mut height = 0;
    let heights = card.ladder.iter().map(|entry| {
        height += i128::from(entry.cost);
        height
    });
    let most = heights.max().unwrap_or(0).max(1);
    let at = |height: i128| height.clamp(0, most) * WIDTH / most;
    let (left, right) = (at(from.min(to)), at(from.max(to)));
    html! {
        svg viewBox={ "0 0 " (WIDTH) " 12" } preserveAspectRatio="none" aria-hidden="true" {
            rect class={ "ground-" (place % ink::KINDS) } x=(left) y="0" width=((right - left).max(2)) height="12" {}
        }
    }
}
