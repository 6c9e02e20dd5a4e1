//! The page: heading, verdict, figures, charts, instance types, consolidations, unschedulable pods, notes, glossary.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::chart::ink;
use crate::{
    Report, STYLE, courses, differences, headline, moves, unplaced, usage, verdict, waterfall,
};

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
            @if waterfall::is_known(contestants) {
                section { h2 { "Cost step by step" } (waterfall::table(contestants)) }
            }
            section { h2 { "Nodes by type" } (courses::nodes(contestants)) }
            section { h2 { "Time pending" } (courses::waiting(contestants)) }
            section { h2 { "Utilisation" } (courses::utilisation(contestants)) }
            @if usage::is_known(contestants) {
                section { h2 { "Requested against used" } (usage::lists(contestants)) }
            }
            section {
                h2 { @if contestants.len() > 1 { "Instance types, by difference in cost" } @else { "Instance types" } }
                (differences::table(contestants))
            }
            @if moves::are_any(contestants) {
                section { h2 { "Consolidations" } (moves::lists(contestants)) }
            }
            section { h2 { "Unschedulable pods" } (unplaced::lists(contestants)) }
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
            h2 { "Glossary" }
            dl {
                @for (word, meaning) in WORDS { dt { (word) } dd { (meaning) } }
            }
        }
    }
}

const WORDS: [(&str, &str); 13] = [
    (
        "LP bound",
        "The linear-programming lower bound: at list prices no fleet could have run the same pods for less. It counts fractions of nodes that start and terminate in no time, so that no run reaches it; with spot prices a cost may lie below it.",
    ),
    (
        "fresh plan",
        "The fleet that would be bought from nothing, within the guards, for the pods that ran at an instant: whole nodes, moved at no cost. It is planned at regular intervals for the first contestant, and is what its nodes in use are held against.",
    ),
    (
        "cost step by step",
        "From the LP bound up. At regular intervals the pods that run are planned as if there were no nodes, first without guards, then with one guard after the other; what nodes in use cost beyond that plan is counted under the first rule that keeps each of them. Steps may be negative. \"Between samples\" is what the cost of the whole run differs by, and the steps add up to the cost.",
    ),
    (
        "for starting nodes",
        "Paid from the launch of an instance until pods could run on its node.",
    ),
    (
        "for idle nodes",
        "Paid while a node ran nothing but DaemonSet pods: before its first pod, after its last pod until consolidateAfter had passed, and while it terminated.",
    ),
    (
        "pending",
        "Time from a pod's creation to its binding, over the pods that were bound.",
    ),
    (
        "cpu and memory requested",
        "Requests of pods as a share of the allocatable of nodes, averaged over time.",
    ),
    (
        "requested against used",
        "Over the pods whose use the recording states: requests, and use. A node is busy above 80 % of its allocatable cpu.",
    ),
    (
        "plan fidelity",
        "The share of planned pods that the scheduler bound to the node that they were planned for, or sooner to another one, since room became free while their node was starting. Pending pods had been found unschedulable; evicted pods are the replacements of those that disruption evicted.",
    ),
    (
        "evictions, interruptions",
        "Pods evicted from a node; instances that the cloud reclaimed.",
    ),
    (
        "disrupted pod-minutes",
        "Time from the end of an evicted pod until its replacement was bound, summed over pods.",
    ),
    (
        "saved per hour, predicted and realised",
        "Of consolidations, at list prices. Predicted when the command was made; realised is the price of the nodes that terminated, less what stood in their place cost per hour in the hour after, on average: replacements, and nodes that were launched for the same pods.",
    ),
    (
        "difference",
        "Small figures compare a column with the first, the reference.",
    ),
];
