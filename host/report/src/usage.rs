//! Requests against usage, workloads that request too much, and hours in which nodes were busy while no pod waited.

use maud::{Markup, html};
use plimsoll_core::time::Timestamp;
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
                        td { (tenths(usage.cpu_requested)) }
                        td { (tenths(usage.cpu_used)) }
                        td { (part(usage.cpu_used, usage.cpu_requested)) }
                    }
                    tr {
                        th scope="row" { "memory, GiB hours" }
                        td { (count(usage.memory_requested >> 10)) }
                        td { (count(usage.memory_used >> 10)) }
                        td { (part(usage.memory_used, usage.memory_requested)) }
                    }
                }
            }
        }
    }
}

fn inflated(usage: &UsageCard) -> Markup {
    html! {
        @if !usage.inflated.is_empty() {
            div.wide {
                table.usage {
                    thead { tr {
                        th scope="col" { "requests more than twice its use" }
                        th scope="col" { "cpu requested" } th scope="col" { "cpu used" }
                        th scope="col" { "memory requested" } th scope="col" { "memory used" }
                    } }
                    tbody {
                        @for one in &usage.inflated {
                            tr {
                                th scope="row" { (one.workload) }
                                td { (with_unit(one.cpu_requested, "m")) }
                                td { (with_unit(one.cpu_used, "m")) }
                                td { (with_unit(one.memory_requested >> 20, "MiB")) }
                                td { (with_unit(one.memory_used >> 20, "MiB")) }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn busy(card: &ScoreCard, usage: &UsageCard) -> Markup {
    let since = |at: Timestamp| span(at.since(card.start));
    let listed = usize::try_from(usage.busy_count).unwrap_or(usize::MAX);
    html! {
        @if !usage.busy.is_empty() {
            div.wide {
                table.usage {
                    thead { tr {
                        th scope="col" { "busy nodes, none pending" }
                        th scope="col" { "from" } th scope="col" { "to" } th scope="col" { "nodes" }
                    } }
                    tbody {
                        @for one in &usage.busy {
                            tr {
                                th scope="row" { (span(one.to.since(one.from))) }
                                td { (since(one.from)) }
                                td { (since(one.to)) }
                                td { (count(one.nodes)) }
                            }
                        }
                    }
                }
            }
        }
        @if listed > MOST_BUSY_SPANS {
            p { (count((listed - MOST_BUSY_SPANS) as i128)) " more are counted and not listed." }
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
