//! The page: heading, verdict, figures, charts, differences, pods without a place, notes, and what the words mean.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::chart::ink;
use crate::{Report, courses, differences, headline, moves, unplaced, usage, verdict};

const STYLE: &str = include_str!("style.css");

/// The browser may load nothing; styles stand in the page.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'";

/// The whole page.
pub(crate) fn page(report: &Report) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (report.title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                (ink::patterns())
                (heading(report))
                main {
                    (body(report))
                    (notes(report))
                    (words())
                }
            }
        }
    }
}

fn heading(report: &Report) -> Markup {
    html! {
        header {
            h1 { (report.title) }
            @for line in &report.subtitle { p { (line) } }
        }
    }
}

fn body(report: &Report) -> Markup {
    let contestants = &report.contestants;
    html! {
        p.verdict { (verdict::praise(contestants)) }
        @if let Some(reservation) = verdict::reservation(contestants) { p.reservation { (reservation) } }
        @if !contestants.is_empty() {
            section { h2 { "Figures" } (headline::table(contestants)) }
            section { h2 { "Cost over time" } (courses::cost(contestants)) }
            section { h2 { "Nodes by type" } (courses::nodes(contestants)) }
            section { h2 { "Waiting for a node" } (courses::waiting(contestants)) }
            section { h2 { "Utilisation" } (courses::utilisation(contestants)) }
            @if usage::is_known(contestants) {
                section { h2 { "Requested against used" } (usage::lists(contestants)) }
            }
            section {
                h2 { @if contestants.len() > 1 { "What differed" } @else { "What was bought" } }
                (differences::table(contestants))
            }
            @if moves::are_any(contestants) {
                section { h2 { "Moves to save money" } (moves::lists(contestants)) }
            }
            section { h2 { "Pods without a node" } (unplaced::lists(contestants)) }
        }
    }
}

fn notes(report: &Report) -> Markup {
    html! {
        @if !report.notes.is_empty() {
            section {
                h2 { "Notes" }
                @for note in &report.notes { p { (note) } }
            }
        }
    }
}

fn words() -> Markup {
    html! {
        section.words {
            h2 { "What the words mean" }
            dl {
                @for (word, meaning) in WORDS { dt { (word) } dd { (meaning) } }
            }
        }
    }
}

const WORDS: [(&str, &str); 11] = [
    (
        "bound",
        "What no fleet could have undercut at list price for the pods that ran, for the time that they ran. It is made of fractions of machines that appear and go at once, so that no run comes down to it; on spot prices a cost may lie below it.",
    ),
    (
        "for nodes that start",
        "Paid between buying an instance and the moment from which pods could use its node.",
    ),
    (
        "for idle nodes",
        "Paid while a node carried nothing but daemons: before its first pod, after its last until the pool's consolidateAfter had passed, and on its way out.",
    ),
    (
        "waiting for a node",
        "From a pod's creation to its binding, over the pods that got a node. Half waited no longer than p50, ninety-nine in a hundred no longer than p99.",
    ),
    (
        "cpu and memory asked for",
        "What pods request, as a share of what nodes can give, averaged over time.",
    ),
    (
        "requested against used",
        "Over the pods whose use the recording states: what they asked for on nodes, and what they used. A node is busy above 80 % of the cpu that it gives pods.",
    ),
    (
        "plan fidelity",
        "The share of planned pods that the scheduler bound to a node they were planned for. Those bound elsewhere, sooner, found room that became free while their node was still on its way.",
    ),
    (
        "evictions, interruptions",
        "Pods asked to leave a node; instances that the cloud took back.",
    ),
    (
        "minutes of pods disrupted",
        "From the end of a pod that was moved until its successor was bound, in all.",
    ),
    (
        "moves, predicted and realised",
        "Commands that moved pods to save money. Predicted is what they were to save at list prices, realised what the nodes that went had cost, less the machines that came for them; both per hour, at the time of the move.",
    ),
    (
        "difference",
        "Small figures are what a column has more or less than the first, the reference.",
    ),
];
