//! The chart of costs as an SVG file of its own, for pages that take pictures: heading, legend, chart, and the styles of the page.

use maud::{Markup, PreEscaped, html};

use crate::chart::ink::Ink;
use crate::chart::{Size, WHOLE};
use crate::courses::{bounded, cost_chart};
use crate::{Contestant, Report, STYLE};

/// Height of the heading and the legend above the chart.
const ABOVE: u32 = 130;

/// Where heading and legend begin.
const LEFT: usize = 20;

/// About how wide a letter of a legend is.
const LETTER: usize = 14;

/// Room for the sample of a line and the space behind a name.
const SAMPLE: usize = 150;

/// The picture.
pub(crate) fn picture(report: &Report) -> Markup {
    let Size(width, height) = WHOLE;
    let contestants = &report.contestants;
    html! {
        svg xmlns="http://www.w3.org/2000/svg" viewBox={ "0 0 " (width) " " (height + ABOVE) } font-family="system-ui, sans-serif" {
            style { (PreEscaped(STYLE)) "rect{fill:var(--paper)} text{fill:var(--ink)}" }
            rect width=(width) height=(height + ABOVE) {}
            text x=(LEFT) y="42" font-weight="bold" { (report.title) ": cost in dollars per hour, by time since the start" }
            (legend(contestants))
            svg y=(ABOVE) width=(width) height=(height) { (cost_chart(contestants).draw()) }
        }
    }
}

fn legend(contestants: &[Contestant]) -> Markup {
    let lines = contestants.iter().enumerate();
    let lines = lines.map(|(place, contestant)| (Ink::Line(place), contestant.name.as_str()));
    let bound = bounded(contestants).map(|_| (Ink::Bound, "LP bound at list prices"));
    let entries = lines.chain(bound).scan(LEFT, |next, (ink, name)| {
        let left = *next;
        *next += SAMPLE + LETTER * name.chars().count();
        Some((ink, name, left))
    });
    html! {
        @for (ink, name, left) in entries {
            line class=(ink.class()) x1=(left) y1="92" x2=(left + 64) y2="92" {}
            text x=(left + 80) y="101" { (name) }
        }
    }
}
