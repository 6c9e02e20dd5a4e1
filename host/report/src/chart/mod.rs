//! One drawing: two axes, lines and areas, as an SVG element that takes its colours from the page.
//!
//! Whatever is drawn comes in as numbers; no text of a report reaches a drawing. A unit of a drawing is half a pixel on a
//! laptop, so that lines stay smooth although the drawing library counts in whole units.

pub(crate) mod axis;
pub(crate) mod ink;

use std::io;

use maud::{Markup, PreEscaped, html};
use plotters::coord::Shift;
use plotters::prelude::*;

use self::axis::Axis;
use self::ink::Ink;
use crate::course::Point;

/// Height of letters, before the library's own scaling.
const LETTERS: u32 = 30;

/// Room below the drawing for the labels of its axis.
const BELOW: u32 = 52;

/// Width and height of a drawing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size(pub(crate) u32, pub(crate) u32);

/// As wide as the page.
pub(crate) const WHOLE: Size = Size(2000, 620);

/// Two stand side by side.
pub(crate) const HALF: Size = Size(980, 560);

/// Something drawn.
pub(crate) enum Mark {
    /// Through points from left to right.
    Line(Ink, Vec<Point>),
    /// Between two courses of the same length.
    Area(Ink, Vec<Point>, Vec<Point>),
}

/// A drawing, ready to be drawn.
pub(crate) struct Chart {
    /// The chart in words, for those who cannot see it.
    pub(crate) says: String,
    pub(crate) size: Size,
    pub(crate) across: Axis,
    pub(crate) up: Axis,
    /// Later ones lie on earlier ones.
    pub(crate) marks: Vec<Mark>,
}

impl Chart {
    /// The element.
    pub(crate) fn draw(&self) -> Markup {
        let mut drawing = String::new();
        self.draw_into(&mut drawing)
            .expect("a string takes every drawing, and the sizes leave room for the axes");
        let inside = drawing.split_once('>').map_or("", |(_, inside)| {
            inside.trim_end().trim_end_matches("</svg>")
        });
        let Size(width, height) = self.size;
        html! {
            svg.chart viewBox={ "0 0 " (width) " " (height) } role="img" aria-label=(self.says) {
                (PreEscaped(ink::dress(inside)))
            }
        }
    }

    fn draw_into(&self, drawing: &mut String) -> Result<(), DrawingAreaErrorKind<io::Error>> {
        let Size(width, height) = self.size;
        let area = SVGBackend::with_string(drawing, (width, height)).into_drawing_area();
        self.draw_on(&area)?;
        area.present()
    }

    fn draw_on(
        &self,
        area: &DrawingArea<SVGBackend<'_>, Shift>,
    ) -> Result<(), DrawingAreaErrorKind<io::Error>> {
        let mut chart = ChartBuilder::on(area)
            .margin_top(18)
            .margin_right(44)
            .x_label_area_size(BELOW)
            .y_label_area_size(self.up.room())
            .build_cartesian_2d(self.across.clone(), self.up.clone())?;
        for mark in self
            .marks
            .iter()
            .filter(|mark| matches!(mark, Mark::Area(..)))
        {
            mark.draw_on(&mut chart)?;
        }
        let letters = ("sans-serif", LETTERS).into_font();
        chart
            .configure_mesh()
            .disable_x_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(Ink::Grid.colour())
            .axis_style(Ink::Axis.colour())
            .label_style(letters.color(&Ink::Text.colour()))
            .draw()?;
        for mark in self
            .marks
            .iter()
            .filter(|mark| matches!(mark, Mark::Line(..)))
        {
            mark.draw_on(&mut chart)?;
        }
        Ok(())
    }
}

/// A drawing under way.
type Canvas<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<Axis, Axis>>;

impl Mark {
    /// The same, held below all of something.
    pub(crate) fn within_all(self) -> Self {
        let hold = |points: Vec<Point>| {
            let points = points.into_iter();
            points.map(|(at, share)| (at, share.min(1.0))).collect()
        };
        match self {
            Self::Line(ink, points) => Self::Line(ink, hold(points)),
            Self::Area(ink, low, high) => Self::Area(ink, hold(low), hold(high)),
        }
    }

    fn draw_on(&self, canvas: &mut Canvas<'_, '_>) -> Result<(), DrawingAreaErrorKind<io::Error>> {
        match self {
            Self::Line(ink, points) if points.len() > 1 => {
                let line = PathElement::new(points.clone(), ink.colour());
                canvas.draw_series([line])?;
            }
            Self::Area(ink, low, high) if low.len() > 1 => {
                let outline = low.iter().chain(high.iter().rev()).copied();
                let area = Polygon::new(outline.collect::<Vec<Point>>(), ink.colour().filled());
                canvas.draw_series([area])?;
            }
            Self::Line(..) | Self::Area(..) => {}
        }
        Ok(())
    }
}
