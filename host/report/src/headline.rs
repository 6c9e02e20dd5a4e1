//! The table of figures: a row each, a column per contestant, and how each differs from the first.

use maud::{Markup, html};
use plimsoll_model::DisruptionReason;
use plimsoll_sim::{Fidelity, ScoreCard, thousandths};

use self::Kind::{Bound, Count, Dollars, Share, Words};
use crate::Contestant;
use crate::figures::{
    NOTHING, count, count_more, dollars, dollars_more, percent_more, share, share_more, span,
    span_more, tenths, times,
};

/// Writing of a figure, and how far a card is from that of the reference.
enum Kind {
    /// Things.
    Count(fn(&ScoreCard) -> u64),
    /// Nano-dollars.
    Dollars(fn(&ScoreCard) -> i64),
    /// Thousandths of a whole.
    Share(fn(&ScoreCard) -> i64),
    /// Pods that were bound.
    Bound(fn(&ScoreCard) -> Fidelity),
    /// Words, which are compared in a way of their own.
    Words(fn(&ScoreCard) -> String, Comparison),
}

type Comparison = fn(&ScoreCard, &ScoreCard) -> Option<String>;

/// Words are all that there is to say.
const ALONE: Comparison = |_, _| None;

/// A row: its label, `true` if it belongs to the row before it, and its figure.
type Row = (&'static str, bool, Kind);

const FIGURES: &[Row] = &[
    (
        "cost",
        false,
        Words(
            |card| dollars(card.cost),
            |reference, card| {
                // Where policies failed, a cost is not that of what they ask for.
                let is_theirs = reference.faults == 0 && card.faults == 0;
                percent_more(reference.cost, card.cost).filter(|_| is_theirs)
            },
        ),
    ),
    (
        "per hour, mean",
        true,
        Words(|card| dollars(card.cost_per_hour()), ALONE),
    ),
    (
        "for starting nodes",
        true,
        Words(
            |card| part(card.cost_starting, card),
            |reference, card| dollars_more(reference.cost_starting, card.cost_starting),
        ),
    ),
    (
        "for idle nodes",
        true,
        Words(
            |card| part(card.cost_idle, card),
            |reference, card| dollars_more(reference.cost_idle, card.cost_idle),
        ),
    ),
    ("cost / LP bound", true, Words(cost_by_bound, ALONE)),
    (
        "nodes, mean / max",
        false,
        Words(nodes, |reference, card| {
            percent_more(reference.nodes_mean, card.nodes_mean)
        }),
    ),
    ("pending, p50 / p99", false, Words(pending, pending_more)),
    (
        "unschedulable pods",
        false,
        Count(|card| card.unplaced_count.into()),
    ),
    ("evictions", false, Count(|card| card.evictions.into())),
    (
        "disrupted pod-minutes",
        true,
        Words(|card| tenths(card.disrupted.millis() / 60), ALONE),
    ),
    (DisruptionReason::COUNTS, false, Words(begun, moves_more)),
    (
        "saved per hour, predicted",
        true,
        Dollars(|card| card.saved().0.nanos()),
    ),
    ("realised", true, Dollars(|card| card.saved().1.nanos())),
    (
        "refused by policy / guard / budget",
        true,
        Words(refused, ALONE),
    ),
    (
        "interruptions",
        false,
        Count(|card| card.interruptions.into()),
    ),
    (
        "launches",
        false,
        Words(launches, |reference, card| {
            count_more(reference.launches, card.launches)
        }),
    ),
    ("cpu requested", false, Share(|card| card.cpu_used)),
    ("memory requested", false, Share(|card| card.memory_used)),
    (
        "plan fidelity, pending pods",
        false,
        Bound(|card| card.pending_pods),
    ),
    ("evicted pods", true, Bound(|card| card.evicted_pods)),
    ("policy faults", false, Count(|card| card.faults)),
];

impl Kind {
    fn value(&self, card: &ScoreCard) -> String {
        match self {
            Count(of) => count(of(card)),
            Dollars(of) => dollars(of(card)),
            Share(of) => share(of(card)),
            Bound(of) => fidelity(of(card)),
            Words(of, _) => of(card),
        }
    }

    /// The difference to the reference; `None` where there is none to tell.
    fn more(&self, reference: &ScoreCard, card: &ScoreCard) -> Option<String> {
        match self {
            Count(of) => count_more(of(reference), of(card)),
            Dollars(of) => dollars_more(of(reference), of(card)),
            Share(of) => share_more(of(reference), of(card)),
            Bound(of) => share_more(kept(of(reference))?, kept(of(card))?),
            Words(_, more) => more(reference, card),
        }
    }
}

/// The table; nothing when no run was made.
pub(crate) fn table(contestants: &[Contestant]) -> Markup {
    let reference = contestants.first().map(|first| &first.card);
    html! {
        @if let Some(reference) = reference {
            div.wide {
                table.headline.many[contestants.len() > 3] {
                    thead { tr {
                        th {}
                        @for (place, contestant) in contestants.iter().enumerate() {
                            th scope="col" {
                                (contestant.name)
                                @if place == 0 && contestants.len() > 1 { small { "reference" } }
                            }
                            @if place > 0 { th.more { "difference" } }
                        }
                    } }
                    tbody {
                        @for figure in FIGURES { (row(figure, reference, contestants)) }
                    }
                }
            }
        }
    }
}

fn row((label, inner, figure): &Row, reference: &ScoreCard, contestants: &[Contestant]) -> Markup {
    html! {
        tr.inner[*inner] {
            th scope="row" { (label) }
            @for (place, contestant) in contestants.iter().enumerate() {
                td { (figure.value(&contestant.card)) }
                @if place > 0 {
                    td.more { (figure.more(reference, &contestant.card).unwrap_or_default()) }
                }
            }
        }
    }
}

fn cost_by_bound(card: &ScoreCard) -> String {
    let times = card.bound.and_then(|bound| times(card.cost, bound));
    times.unwrap_or_else(|| NOTHING.to_owned())
}

fn nodes(card: &ScoreCard) -> String {
    format!("{} / {}", tenths(card.nodes_mean), count(card.nodes_max))
}

fn pending(card: &ScoreCard) -> String {
    format!("{} / {}", span(card.waiting.p50), span(card.waiting.p99))
}

fn pending_more(reference: &ScoreCard, card: &ScoreCard) -> Option<String> {
    let more = span_more(reference.waiting.p99, card.waiting.p99)?;
    Some(format!("p99 {more}"))
}

/// Nodes that were disrupted, by reason.
fn begun(card: &ScoreCard) -> String {
    let counts = DisruptionReason::LISTED.map(|reason| count(card.begun.of(reason)));
    counts.join(" / ")
}

fn moves_more(reference: &ScoreCard, card: &ScoreCard) -> Option<String> {
    let moves = |card: &ScoreCard| card.begun.of(DisruptionReason::Underutilized);
    count_more(moves(reference), moves(card))
}

fn refused(card: &ScoreCard) -> String {
    let refused = card.refused;
    let counts = [refused.by_policy, refused.by_guard, refused.by_budget];
    counts.map(count).join(" / ")
}

fn launches(card: &ScoreCard) -> String {
    let bought = count(card.launches);
    match card.launch_failures {
        0 => bought,
        failed => format!("{bought}, {} failed", count(failed)),
    }
}

/// A part of the cost, and what share of it that is.
fn part(nanos: i64, card: &ScoreCard) -> String {
    let share = share(thousandths(nanos, card.cost).unwrap_or(0));
    format!("{}, {share}", dollars(nanos))
}

/// The share of planned pods that were bound as planned or sooner, and that of those sooner.
fn fidelity(of: Fidelity) -> String {
    match (kept(of), thousandths(of.sooner, of.bound)) {
        (Some(kept), Some(0)) => share(kept),
        (Some(kept), Some(sooner)) => format!("{}, {} sooner", share(kept), share(sooner)),
        _ => NOTHING.to_owned(),
    }
}

/// Thousandths of the planned pods that were bound as planned or sooner.
fn kept(of: Fidelity) -> Option<i64> {
    thousandths(of.kept(), of.bound)
}
