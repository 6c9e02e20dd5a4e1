//! The table of figures: a row each, a column per contestant, and how each differs from the first.

use maud::{Markup, html};
use plimsoll_core::model::DisruptionReason;
use plimsoll_sim::{Fidelity, ScoreCard};

use crate::Contestant;
use crate::figures::{
    NOTHING, count, count_more, dollars, dollars_more, percent_more, share, share_more, span,
    span_more, tenths, times,
};

/// A row: how a card's figure is written, and how far a card is from that of the reference.
struct Figure {
    label: &'static str,
    /// Belongs to the row before it.
    inner: bool,
    value: fn(&ScoreCard) -> String,
    more: fn(&ScoreCard, &ScoreCard) -> Option<String>,
}

const FIGURES: &[Figure] = &[
    Figure {
        label: "cost",
        inner: false,
        value: |card| dollars(card.cost),
        more: |reference, card| percent_more(reference.cost, card.cost),
    },
    Figure {
        label: "per hour, mean",
        inner: true,
        value: |card| dollars(card.cost_per_hour()),
        more: |_, _| None,
    },
    Figure {
        label: "for starting nodes",
        inner: true,
        value: |card| part(card.cost_starting, card),
        more: |reference, card| dollars_more(reference.cost_starting, card.cost_starting),
    },
    Figure {
        label: "for idle nodes",
        inner: true,
        value: |card| part(card.cost_idle, card),
        more: |reference, card| dollars_more(reference.cost_idle, card.cost_idle),
    },
    Figure {
        label: "cost / LP bound",
        inner: true,
        value: |card| {
            let times = card.bound.and_then(|bound| times(card.cost, bound));
            times.unwrap_or_else(|| NOTHING.to_owned())
        },
        more: |_, _| None,
    },
    Figure {
        label: "nodes, mean / max",
        inner: false,
        value: |card| format!("{} / {}", tenths(card.nodes_mean), count(card.nodes_max)),
        more: |reference, card| percent_more(reference.nodes_mean, card.nodes_mean),
    },
    Figure {
        label: "pending, p50 / p99",
        inner: false,
        value: |card| {
            let (half, most) = (card.waiting.p50, card.waiting.p99);
            format!("{} / {}", span(half), span(most))
        },
        more: |reference, card| {
            let more = span_more(reference.waiting.p99, card.waiting.p99)?;
            Some(format!("p99 {more}"))
        },
    },
    Figure {
        label: "unschedulable pods",
        inner: false,
        value: |card| count(card.unplaced_count),
        more: |reference, card| count_more(reference.unplaced_count, card.unplaced_count),
    },
    Figure {
        label: "evictions",
        inner: false,
        value: |card| count(card.evictions),
        more: |reference, card| count_more(reference.evictions, card.evictions),
    },
    Figure {
        label: "disrupted pod-minutes",
        inner: true,
        value: |card| tenths(card.disrupted.millis() / 60),
        more: |_, _| None,
    },
    Figure {
        label: DisruptionReason::COUNTS,
        inner: false,
        value: |card| {
            DisruptionReason::LISTED
                .map(|reason| count(card.begun.of(reason)))
                .join(" / ")
        },
        more: |reference, card| {
            let moves = |card: &ScoreCard| card.begun.of(DisruptionReason::Underutilized);
            count_more(moves(reference), moves(card))
        },
    },
    Figure {
        label: "saved per hour, predicted",
        inner: true,
        value: |card| dollars(card.saved().0.nanos()),
        more: |reference, card| dollars_more(reference.saved().0.nanos(), card.saved().0.nanos()),
    },
    Figure {
        label: "realised",
        inner: true,
        value: |card| dollars(card.saved().1.nanos()),
        more: |reference, card| dollars_more(reference.saved().1.nanos(), card.saved().1.nanos()),
    },
    Figure {
        label: "refused by policy / guard / budget",
        inner: true,
        value: |card| {
            let refused = card.refused;
            [refused.by_policy, refused.by_guard, refused.by_budget]
                .map(count)
                .join(" / ")
        },
        more: |_, _| None,
    },
    Figure {
        label: "interruptions",
        inner: false,
        value: |card| count(card.interruptions),
        more: |reference, card| count_more(reference.interruptions, card.interruptions),
    },
    Figure {
        label: "launches",
        inner: false,
        value: launches,
        more: |reference, card| count_more(reference.launches, card.launches),
    },
    Figure {
        label: "cpu requested",
        inner: false,
        value: |card| share(card.cpu_used),
        more: |reference, card| share_more(reference.cpu_used, card.cpu_used),
    },
    Figure {
        label: "memory requested",
        inner: false,
        value: |card| share(card.memory_used),
        more: |reference, card| share_more(reference.memory_used, card.memory_used),
    },
    Figure {
        label: "plan fidelity, pending pods",
        inner: false,
        value: |card| fidelity(card.pending_pods),
        more: |reference, card| share_more(kept(reference.pending_pods)?, kept(card.pending_pods)?),
    },
    Figure {
        label: "evicted pods",
        inner: true,
        value: |card| fidelity(card.evicted_pods),
        more: |reference, card| share_more(kept(reference.evicted_pods)?, kept(card.evicted_pods)?),
    },
    Figure {
        label: "policy faults",
        inner: false,
        value: |card| count(card.faults),
        more: |reference, card| count_more(reference.faults, card.faults),
    },
];

/// The table; nothing when nobody ran.
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

fn row(figure: &Figure, reference: &ScoreCard, contestants: &[Contestant]) -> Markup {
    html! {
        tr.inner[figure.inner] {
            th scope="row" { (figure.label) }
            @for (place, contestant) in contestants.iter().enumerate() {
                td { ((figure.value)(&contestant.card)) }
                @if place > 0 {
                    td.more { ((figure.more)(reference, &contestant.card).unwrap_or_default()) }
                }
            }
        }
    }
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
    let whole = i128::from(card.cost).max(1);
    let thousandths = (i128::from(nanos) * 1000 + whole / 2) / whole;
    let share = share(i64::try_from(thousandths).unwrap_or(0));
    format!("{}, {share}", dollars(nanos))
}

/// The share of planned pods that were bound as planned or sooner, and that of those sooner.
fn fidelity(of: Fidelity) -> String {
    match (kept(of), of_bound(of, of.sooner)) {
        (Some(kept), Some(0)) => share(kept),
        (Some(kept), Some(sooner)) => format!("{}, {} sooner", share(kept), share(sooner)),
        _ => NOTHING.to_owned(),
    }
}

/// Thousandths of the planned pods that were bound as planned or sooner.
fn kept(of: Fidelity) -> Option<i64> {
    of_bound(of, of.kept())
}

fn of_bound(of: Fidelity, pods: u32) -> Option<i64> {
    let (pods, bound) = (i64::from(pods), i64::from(of.bound));
    (bound > 0).then(|| (pods * 1000 + bound / 2) / bound)
}
