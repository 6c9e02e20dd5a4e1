//! The charts: what each shows, from which numbers of the score cards.
//!
//! A contestant keeps its line in all charts and a type its pattern; drawings of one kind share their axes, so that they
//! can be held against each other.

use std::collections::BTreeMap;

use maud::{Markup, html};
use plimsoll_base::ids::TypeName;
use plimsoll_base::time::Span;
use plimsoll_sim::{FreshPrice, ScoreCard};

use crate::Contestant;
use crate::chart::axis::Axis;
use crate::chart::ink::{Ink, KINDS};
use crate::chart::{Chart, HALF, Mark, WHOLE};
use crate::course::{Point, points, seconds};

/// Points of a line; more could not be told apart.
const LINE_POINTS: usize = 360;

/// Points of the edge of an area.
const AREA_POINTS: usize = 160;

const NANOS: f64 = 1e9;
const THOUSANDTHS: f64 = 1e3;

/// Dollars per hour of each contestant against the bound.
pub(crate) fn cost(contestants: &[Contestant]) -> Markup {
    html! {
        figure {
            figcaption { "Cost in dollars per hour, by time since the start" }
            ul.legend {
                (names(contestants))
                @for (ink, name) in yardsticks(contestants) { li { (ink.sample()) (name) } }
            }
            (cost_chart(contestants).draw())
        }
    }
}

/// The drawing of those costs.
pub(crate) fn cost_chart(contestants: &[Contestant]) -> Chart {
    let mut marks = lines(contestants, NANOS, |card| &card.series.means.cost);
    if let Some(card) = planned_afresh(contestants) {
        let at = |fresh: &FreshPrice| seconds(fresh.at.since(card.start));
        let points = card.fresh.iter();
        let points = points.map(|fresh| (at(fresh), fresh.price as f64 / NANOS));
        marks.push(Mark::Line(Ink::Fresh, points.collect()));
    }
    if let Some(card) = bounded(contestants) {
        let course = course(card, &card.series.means.bound, NANOS);
        marks.push(Mark::Line(Ink::Bound, course));
    }
    Chart {
        says: "Dollars per hour over time, a line for each contestant".to_owned(),
        size: WHOLE,
        across: Axis::elapsed(lasted(contestants), 12),
        up: Axis::dollars(highest(&marks)),
        marks,
    }
}

/// Lines beside those of the contestants, with their names.
pub(crate) fn yardsticks(contestants: &[Contestant]) -> impl Iterator<Item = (Ink, &str)> {
    let fresh = planned_afresh(contestants).map(|_| (Ink::Fresh, "fresh plan of the same pods"));
    let bound = bounded(contestants).map(|_| (Ink::Bound, "LP bound at list prices"));
    fresh.into_iter().chain(bound)
}

/// The card whose fresh plans are drawn: the first, where there are any.
fn planned_afresh(contestants: &[Contestant]) -> Option<&ScoreCard> {
    let first = contestants.first().map(|first| &first.card);
    first.filter(|card| !card.fresh.is_empty())
}

/// The card whose bound is drawn: the first, where a bound was computed.
fn bounded(contestants: &[Contestant]) -> Option<&ScoreCard> {
    let first = contestants.first().map(|first| &first.card);
    first.filter(|card| card.series.means.bound.iter().any(|bound| *bound > 0))
}

/// Nodes by type over time, a drawing for each contestant.
pub(crate) fn nodes(contestants: &[Contestant]) -> Markup {
    let types = top_types(contestants);
    let drawn: Vec<(&str, Vec<Mark>)> = contestants
        .iter()
        .map(|contestant| (contestant.name.as_str(), stack(&contestant.card, &types)))
        .collect();
    let most = drawn.iter().map(|(_, marks)| highest(marks));
    let most = most.fold(0.0, f64::max);
    let others = contestants.iter().any(|contestant| {
        let mut names = contestant.card.series.means.nodes.keys();
        names.any(|name| !types.contains(name))
    });
    let size = if contestants.len() > 1 { HALF } else { WHOLE };
    html! {
        ul.legend {
            @for (place, name) in types.iter().enumerate() { li { (Ink::Area(place).sample()) (name) } }
            @if others { li { (Ink::Area(types.len()).sample()) "other types" } }
        }
        div.pair[contestants.len() > 1] {
            @for (name, marks) in drawn {
                figure {
                    figcaption { strong { (name) } ": nodes, by time since the start" }
                    (Chart {
                        says: "Nodes over time, stacked by instance type".to_owned(),
                        size,
                        across: Axis::elapsed(lasted(contestants), if contestants.len() > 1 { 7 } else { 12 }),
                        up: Axis::count(most),
                        marks,
                    }.draw())
                }
            }
        }
    }
}

/// How large a share of the pods waited no longer than so long.
pub(crate) fn waiting(contestants: &[Contestant]) -> Markup {
    let waits = || {
        contestants
            .iter()
            .flat_map(|each| &each.card.waiting.hundredths)
    };
    let shortest = waits().min().copied().unwrap_or_default();
    let longest = waits().max().copied().unwrap_or_default();
    let across = Axis::waited(shortest, longest);
    let marks = contestants.iter().enumerate().map(|(place, contestant)| {
        let hundredths = contestant.card.waiting.hundredths.iter().enumerate();
        let share = hundredths
            .map(|(hundredth, wait)| (across.place_of_wait(*wait), hundredth as f64 / 100.0));
        Mark::Line(Ink::Line(place), share.collect())
    });
    let chart = Chart {
        says: "Share of pods that were bound within a time, a line for each contestant".to_owned(),
        size: WHOLE,
        marks: marks.collect(),
        across: across.clone(),
        up: Axis::percent(),
    };
    html! {
        figure {
            figcaption { "Share of pods bound within a time, on a logarithmic scale" }
            ul.legend { (names(contestants)) }
            (chart.draw())
        }
    }
}

/// Shares of cpu and memory that pods asked for, over time.
pub(crate) fn utilisation(contestants: &[Contestant]) -> Markup {
    let cpu = lines(contestants, THOUSANDTHS, |card| &card.series.means.cpu_used);
    let memory = lines(contestants, THOUSANDTHS, |card| {
        &card.series.means.memory_used
    });
    html! {
        ul.legend { (names(contestants)) }
        div.pair {
            @for (what, marks) in [("CPU", cpu), ("Memory", memory)] {
                figure {
                    figcaption { strong { (what) } " requested, of nodes' allocatable" }
                    (Chart {
                        says: format!("{what} requested over time, a line for each contestant"),
                        size: HALF,
                        across: Axis::elapsed(lasted(contestants), 7),
                        up: Axis::percent(),
                        marks: marks.into_iter().map(Mark::within_all).collect(),
                    }.draw())
                }
            }
        }
    }
}

fn names(contestants: &[Contestant]) -> Markup {
    html! {
        @for (place, contestant) in contestants.iter().enumerate() {
            li { (Ink::Line(place).sample()) (contestant.name) }
        }
    }
}

fn lines(
    contestants: &[Contestant],
    unit: f64,
    values: impl Fn(&ScoreCard) -> &Vec<i64>,
) -> Vec<Mark> {
    // The first lies on top: it is what the others are held against.
    let lines = contestants.iter().enumerate().rev().map(|(place, each)| {
        Mark::Line(
            Ink::Line(place),
            course(&each.card, values(&each.card), unit),
        )
    });
    lines.collect()
}

fn course(card: &ScoreCard, values: &[i64], unit: f64) -> Vec<Point> {
    scaled(
        points(values, card.series.width, card.lasted, LINE_POINTS),
        unit,
    )
}

fn scaled(points: Vec<Point>, unit: f64) -> Vec<Point> {
    points
        .into_iter()
        .map(|(at, value)| (at, value / unit))
        .collect()
}

/// Areas on each other, the commonest type at the bottom, all others on top.
fn stack(card: &ScoreCard, types: &[TypeName]) -> Vec<Mark> {
    let series = &card.series;
    let length = series
        .means
        .nodes
        .values()
        .map(Vec::len)
        .max()
        .unwrap_or_default();
    let mut layers = vec![vec![0; length]; types.len() + 1];
    for (name, column) in &series.means.nodes {
        let place = types.iter().position(|other| other == name);
        let layer = &mut layers[place.unwrap_or(types.len())];
        for (sum, nodes) in layer.iter_mut().zip(column) {
            *sum = i64::saturating_add(*sum, (*nodes).max(0));
        }
    }
    let mut below = vec![0; length];
    let mut marks = Vec::new();
    for (place, layer) in layers.into_iter().enumerate() {
        if layer.iter().all(|nodes| *nodes == 0) {
            continue;
        }
        let above: Vec<i64> = below
            .iter()
            .zip(&layer)
            .map(|(low, more)| i64::saturating_add(*low, *more))
            .collect();
        let edge = |values: &[i64]| {
            scaled(
                points(values, series.width, card.lasted, AREA_POINTS),
                THOUSANDTHS,
            )
        };
        marks.push(Mark::Area(Ink::Area(place), edge(&below), edge(&above)));
        below = above;
    }
    marks
}

/// The types with the most node hours of all contestants together, the commonest first.
fn top_types(contestants: &[Contestant]) -> Vec<TypeName> {
    let mut hours = BTreeMap::<&TypeName, i128>::new();
    for contestant in contestants {
        let series = &contestant.card.series;
        let width = i128::from(series.width.millis());
        for (name, column) in &series.means.nodes {
            let nodes: i128 = column.iter().map(|nodes| i128::from(*nodes)).sum();
            let hours = hours.entry(name).or_default();
            *hours = hours.saturating_add(nodes.saturating_mul(width));
        }
    }
    let mut types: Vec<(&TypeName, i128)> = hours.into_iter().collect();
    types.sort_by_key(|(_, hours)| std::cmp::Reverse(*hours));
    let top = types.into_iter().take(KINDS - 1);
    top.map(|(name, _)| name.clone()).collect()
}

fn lasted(contestants: &[Contestant]) -> Span {
    let spans = contestants.iter().map(|contestant| contestant.card.lasted);
    spans.max().unwrap_or_default()
}

fn highest(marks: &[Mark]) -> f64 {
    let heights = marks.iter().flat_map(|mark| match mark {
        Mark::Line(_, points) | Mark::Area(_, _, points) => points,
    });
    heights.map(|(_, height)| *height).fold(0.0, f64::max)
}
