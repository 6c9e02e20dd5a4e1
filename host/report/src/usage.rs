//! Requests against usage, workloads that request too much, and hours in which nodes were busy while no pod waited.

use maud::{Markup, html};
use plimsoll_base::time::Timestamp;
use plimsoll_sim::{MOST_BUSY_SPANS, ScoreCard, UsageCard};

use crate::Contestant;
use crate::figures::{NOTHING, THIN, count, share, span, tenths};

/// `true` if any card tells of use.
pub(crate) fn is_known(contestants: &[Contestant]) -> bool {
    let mut all = contestants.iter();
    all.any(|contestant| contestant.card.usage.is_some())
}

/// A part per contestant whose card tells of use.
pub(crate) fn lists(contestants: &[Contestant]) -> Markup {
    html! {
        @for contestant in contestants {
            @if let Some(usage) = &contestant.card.usage {
                @if contestants.len() > 1 { h3 { (contestant.name) } }
                (sums(usage))
                (inflated(usage))
                (busy(&contestant.card, usage))
                @for sentence in usage.advice() { p { (sentence) "." } }
            }
        }
    }
}

fn sums(usage: &UsageCard) -> Markup {
    html! {
        div.wide {
            table.usage {
                thead { tr { th {} th scope="col" { "requested" } th scope="col" { "used" } th scope="col" { "share" } } }
                tbody {
                    tr {
                        th scope="row" { "cpu, core hours" }
                        td { (tenths(usage.hours.cpu_requested)) }
                        td { (tenths(usage.hours.cpu_used)) }
                        td { (part(usage.hours.cpu_used, usage.hours.cpu_requested)) }
                    }
                    tr {
                        th scope="row" { "memory, GiB hours" }
                        td { (count(usage.hours.memory_requested >> 10)) }
                        td { (count(usage.hours.memory_used >> 10)) }
                        td { (part(usage.hours.memory_used, usage.hours.memory_requested)) }
                    }
                }
            }
        }
    }
}

/// A table of these columns, each row with what it is about first; nothing without rows.
fn listed<const N: usize>(columns: [&str; N], rows: &[[String; N]]) -> Markup {
    html! {
        @if !rows.is_empty() {
            div.wide {
                table.usage {
                    thead { tr { @for column in columns { th scope="col" { (column) } } } }
                    tbody {
                        @for row in rows {
                            tr {
                                th scope="row" { (row[0]) }
                                @for cell in &row[1..] { td { (cell) } }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn inflated(usage: &UsageCard) -> Markup {
    let rows = usage.inflated.iter().map(|one| {
        [
            one.workload.clone(),
            with_unit(one.of_pod.cpu_requested, "m"),
            with_unit(one.of_pod.cpu_used, "m"),
            with_unit(one.of_pod.memory_requested >> 20, "MiB"),
            with_unit(one.of_pod.memory_used >> 20, "MiB"),
        ]
    });
    let columns = [
        "requests more than twice its use",
        "cpu requested",
        "cpu used",
        "memory requested",
        "memory used",
    ];
    listed(columns, &rows.collect::<Vec<_>>())
}

fn busy(card: &ScoreCard, usage: &UsageCard) -> Markup {
    let since = |at: Timestamp| span(at.since(card.start));
    let all = usize::try_from(usage.busy_count).unwrap_or(usize::MAX);
    let rows = usage.busy.iter().map(|one| {
        let lasted = span(one.to.since(one.from));
        [lasted, since(one.from), since(one.to), count(one.nodes)]
    });
    let columns = ["busy nodes, none pending", "from", "to", "nodes"];
    html! {
        (listed(columns, &rows.collect::<Vec<_>>()))
        @if all > MOST_BUSY_SPANS {
            p { (count((all - MOST_BUSY_SPANS) as i128)) " more are counted and not listed." }
        }
    }
}

fn with_unit(amount: i64, unit: &str) -> String {
    format!("{}{THIN}{unit}", count(amount))
}

fn part(used: i64, asked: i64) -> String {
    if asked <= 0 {
        return NOTHING.to_owned();
    }
    let thousandths = i128::from(used) * 1000 / i128::from(asked);
    share(i64::try_from(thousandths).unwrap_or(0))
}
