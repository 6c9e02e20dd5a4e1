//! Colours of a drawing, taken from the page, so that one drawing serves light, dark and print.
//!
//! The library can only draw in fixed colours. Each ink is drawn in a colour of its own that stands for it, and that
//! colour is replaced by a class afterwards; the page's styles say what the class looks like. Inks are told apart by
//! dashes and patterns as well as by colour.

use maud::{Markup, html};
use plotters::style::RGBColor;

/// Lines and areas that can be told apart; after these they begin again.
pub(crate) const KINDS: usize = 8;

/// Colour and pattern of a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ink {
    /// Letters at the axes.
    Text,
    /// The axes.
    Axis,
    /// Lines across.
    Grid,
    /// The lower bound of cost.
    Bound,
    /// Fleets bought from nothing.
    Fresh,
    /// A contestant by its place, begun again after [`KINDS`].
    Line(usize),
    /// A type by its place, likewise.
    Area(usize),
}

impl Ink {
    /// The class of what is drawn with it.
    pub(crate) fn class(self) -> String {
        match self {
            Self::Text => "text".to_owned(),
            Self::Axis => "axis".to_owned(),
            Self::Grid => "grid".to_owned(),
            Self::Bound => "bound".to_owned(),
            Self::Fresh => "fresh".to_owned(),
            Self::Line(place) => format!("line line-{}", place % KINDS),
            Self::Area(place) => format!("area-{}", place % KINDS),
        }
    }

    /// The colour that stands for it while drawing.
    pub(crate) fn colour(self) -> RGBColor {
        let kind = |place: usize| u8::try_from(place % KINDS).unwrap_or_default();
        match self {
            Self::Text => RGBColor(1, 0, 0),
            Self::Axis => RGBColor(2, 0, 0),
            Self::Grid => RGBColor(3, 0, 0),
            Self::Bound => RGBColor(4, 0, 0),
            Self::Fresh => RGBColor(7, 0, 0),
            Self::Line(place) => RGBColor(5, kind(place), 0),
            Self::Area(place) => RGBColor(6, kind(place), 0),
        }
    }

    fn all() -> impl Iterator<Item = Self> {
        let lines = (0..KINDS).map(Self::Line);
        let areas = (0..KINDS).map(Self::Area);
        [Self::Text, Self::Axis, Self::Grid, Self::Bound, Self::Fresh]
            .into_iter()
            .chain(lines)
            .chain(areas)
    }

    /// A sample for a legend.
    pub(crate) fn sample(self) -> Markup {
        html! {
            svg.sample viewBox="0 0 64 24" aria-hidden="true" {
                @if let Self::Area(_) = self {
                    rect class=(self.class()) width="64" height="24" {}
                } @else {
                    line class=(self.class()) x1="0" y1="12" x2="64" y2="12" {}
                }
            }
        }
    }
}

/// A drawing with classes in the place of colours, and without what the page's styles say anyway.
pub(crate) fn dress(drawing: &str) -> String {
    let mut dressed = drawing
        .replace(" opacity=\"1\"", "")
        .replace(" stroke-width=\"1\"", "")
        .replace(" fill=\"none\"", "")
        .replace(" \"/>\n", "\"/>");
    for ink in Ink::all() {
        let RGBColor(red, green, blue) = ink.colour();
        let class = format!("class=\"{}\"", ink.class());
        for property in ["stroke", "fill"] {
            let stand_in = format!("{property}=\"#{red:02X}{green:02X}{blue:02X}\"");
            dressed = dressed.replace(&stand_in, &class);
        }
    }
    dressed
}

/// The patterns of areas; drawings on the page use them by name.
pub(crate) fn patterns() -> Markup {
    html! {
        svg.patterns aria-hidden="true" width="0" height="0" {
            defs {
                @for (place, threads) in THREADS.iter().enumerate() {
                    pattern id={ "weave-" (place) } width="20" height="20" patternUnits="userSpaceOnUse" {
                        rect class={ "ground-" (place) } width="20" height="20" {}
                        @if !threads.is_empty() { path.thread d=(threads) {} }
                    }
                }
            }
        }
    }
}

/// Strokes over the ground of each pattern, in a square of 20 units that repeats.
const THREADS: [&str; KINDS] = [
    "",
    "M-5 5L5 -5M0 20L20 0M15 25L25 15",
    "M10 10h.01",
    "M-5 15L5 25M0 0L20 20M15 -5L25 5",
    "M0 10H20",
    "M10 0V20",
    "M0 0L20 20M0 20L20 0",
    "M5 5h.01M15 15h.01",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_ink_has_a_colour_of_its_own() {
        let inks: Vec<Ink> = Ink::all().collect();
        for (place, ink) in inks.iter().enumerate() {
            let twins = inks[place + 1..]
                .iter()
                .filter(|other| other.colour() == ink.colour());
            assert_eq!(twins.count(), 0, "{ink:?}");
        }
    }

    #[test]
    fn a_colour_that_stands_for_an_ink_becomes_its_class() {
        let drawing = "<polyline fill=\"none\" opacity=\"1\" stroke=\"#050300\" stroke-width=\"1\" points=\"1,2 3,4 \"/>\n";
        assert_eq!(
            dress(drawing),
            "<polyline class=\"line line-3\" points=\"1,2 3,4\"/>"
        );
    }
}
