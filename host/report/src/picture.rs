//! The chart of costs as an SVG file of its own, for pages that take pictures: heading, legend, chart, and the styles of the page.

use maud::{Markup, PreEscaped, html};

use crate::chart::ink::Ink;
use crate::chart::{Size, WHOLE};
use crate::courses::{cost_chart, yardsticks};
use crate::{Contestant, Report, STYLE};

/// Height of the heading and one line of legend above the chart.
const ABOVE: usize = 130;

/// Height of each further line of legend.
const LINE: usize = 50;

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
    let entries = legend(contestants, width as usize);
    let lines = entries.last().map_or(0, |entry| entry.line);
    let above = ABOVE + LINE * lines;
    html! {
        svg xmlns="http://www.w3.org/2000/svg" viewBox={ "0 0 " (width) " " (height as usize + above) } font-family="system-ui, sans-serif" {
            style { (PreEscaped(STYLE)) "rect{fill:var(--paper)} text{fill:var(--ink)}" }
            rect width=(width) height=(height as usize + above) {}
            text x=(LEFT) y="42" font-weight="bold" { (report.title) ": cost in dollars per hour, by time since the start" }
            @for entry in entries { (entry.draw()) }
            svg y=(above) width=(width) height=(height) { (cost_chart(contestants).draw()) }
        }
    }
}

/// A name of the legend and its place.
struct Entry<'r> {
    ink: Ink,
    name: &'r str,
    /// Line of the legend, from 0.
    line: usize,
    /// Where the sample begins.
    left: usize,
}

impl Entry<'_> {
    fn draw(&self) -> Markup {
        let (left, down) = (self.left, self.line * LINE);
        html! {
            line class=(self.ink.class()) x1=(left) y1=(92 + down) x2=(left + 64) y2=(92 + down) {}
            text x=(left + 80) y=(101 + down) { (self.name) }
        }
    }
}

/// Names from left to right, on the next line where one would end beyond the picture's width.
fn legend(contestants: &[Contestant], width: usize) -> Vec<Entry<'_>> {
    let lines = contestants.iter().enumerate();
    let lines = lines.map(|(place, contestant)| (Ink::Line(place), contestant.name.as_str()));
    let (mut line, mut next) = (0, LEFT);
    let mut entries = Vec::new();
    for (ink, name) in lines.chain(yardsticks(contestants)) {
        let room = SAMPLE + LETTER * name.chars().count();
        if next > LEFT && next + room > width {
            (line, next) = (line + 1, LEFT);
        }
        entries.push(Entry {
            ink,
            name,
            line,
            left: next,
        });
        next += room;
    }
    entries
}
