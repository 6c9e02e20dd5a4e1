//! An axis: where it begins, ends and has its marks, and what is written there: round numbers with their unit.

use std::ops::Range;

use plimsoll_base::time::Span;
use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};

use crate::course::seconds;
use crate::figures::{THIN, count};

/// Steps of time that people count in, in seconds.
const STEPS: [i64; 20] = [
    1, 5, 15, 30, 60, 300, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400, 172_800, 432_000,
    604_800, 1_209_600, 2_592_000, 7_776_000,
];

/// Marks of an axis of waiting times, in seconds.
const WAITS: [i64; 17] = [
    1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600, 10_800, 43_200, 86_400, 604_800, 2_592_000,
];

/// Unit of an axis.
#[derive(Clone, Copy, Debug)]
enum Unit {
    /// Seconds since the start, written in the unit that the step is a multiple of.
    Elapsed { step: i64 },
    /// Tenfolds of a second.
    Waited,
    /// Dollars, with so many digits.
    Dollars { digits: usize },
    /// Things.
    Count,
    /// Hundredths.
    Percent,
}

/// One axis.
#[derive(Clone, Debug)]
pub(crate) struct Axis {
    /// Where it begins; less than where it ends.
    pub(crate) low: f64,
    /// Where it ends.
    pub(crate) high: f64,
    /// Where it has marks.
    pub(crate) ticks: Vec<f64>,
    unit: Unit,
}

impl Axis {
    /// Time from the start of a run, with about `most` marks.
    pub(crate) fn elapsed(lasted: Span, most: i64) -> Self {
        let high = seconds(lasted).max(1.0);
        let few = |step: &&i64| high <= float(**step) * float(most);
        let last = STEPS[STEPS.len() - 1];
        let step = STEPS.iter().find(few).copied();
        let step = step.unwrap_or_else(|| last * whole(high / float(last * most)));
        let marks = whole(high / float(step));
        let ticks = (0..=marks).map(|mark| float(mark) * float(step));
        Self {
            low: 0.0,
            high,
            ticks: ticks.filter(|tick| *tick <= high).collect(),
            unit: Unit::Elapsed { step },
        }
    }

    /// Waiting times that hold `shortest` and `longest`, each tenfold as wide as the one before.
    pub(crate) fn waited(shortest: Span, longest: Span) -> Self {
        let (shortest, longest) = (seconds(shortest), seconds(longest));
        let begin = WAITS.iter().rposition(|wait| float(*wait) <= shortest);
        let begin = begin.unwrap_or_default().min(WAITS.len() - 2);
        let end = WAITS.iter().position(|wait| float(*wait) >= longest);
        let end = end.unwrap_or(WAITS.len() - 1).max(begin + 1);
        let marks = &WAITS[begin..=end];
        // Marks nearer than a tenth of the axis would be written over one another.
        let width = tenfolds(float(WAITS[end])) - tenfolds(float(WAITS[begin]));
        let mut ticks: Vec<f64> = Vec::new();
        for tick in marks.iter().map(|wait| tenfolds(float(*wait))) {
            if ticks.last().is_none_or(|last| tick - last >= width / 10.0) {
                ticks.push(tick);
            }
        }
        Self {
            low: tenfolds(float(WAITS[begin])),
            high: tenfolds(float(WAITS[end])),
            ticks,
            unit: Unit::Waited,
        }
    }

    /// Where a waiting time stands on the axis made by [`Self::waited`].
    pub(crate) fn place_of_wait(&self, wait: Span) -> f64 {
        tenfolds(seconds(wait).max(0.001)).clamp(self.low, self.high)
    }

    /// Dollars from nothing to at least `highest`.
    pub(crate) fn dollars(highest: f64) -> Self {
        let (high, step, ticks) = amounts(highest, 0.0001);
        let digits = if step >= 1.0 {
            0
        } else if step >= 0.01 {
            2
        } else {
            4
        };
        Self {
            low: 0.0,
            high,
            ticks,
            unit: Unit::Dollars { digits },
        }
    }

    /// Things from none to at least `highest`.
    pub(crate) fn count(highest: f64) -> Self {
        let (high, _, ticks) = amounts(highest, 1.0);
        Self {
            low: 0.0,
            high,
            ticks,
            unit: Unit::Count,
        }
    }

    /// Shares from nothing to all, as fractions of one.
    pub(crate) fn percent() -> Self {
        Self {
            low: 0.0,
            high: 1.0,
            ticks: vec![0.0, 0.25, 0.5, 0.75, 1.0],
            unit: Unit::Percent,
        }
    }

    /// The text at a mark.
    pub(crate) fn label(&self, value: f64) -> String {
        match self.unit {
            Unit::Elapsed { step } => {
                let (size, name) = unit_of(step);
                format!("{}{THIN}{name}", whole(value / float(size)))
            }
            Unit::Waited => {
                let wait = WAITS
                    .into_iter()
                    .find(|wait| tenfolds(float(*wait)) > value - 0.01)
                    .unwrap_or_default();
                let (size, name) = unit_of(wait);
                format!("{}{THIN}{name}", wait / size)
            }
            Unit::Dollars { digits: 0 } => format!("${THIN}{}", count(whole(value))),
            Unit::Dollars { digits } => format!("${THIN}{value:.digits$}"),
            Unit::Count => count(whole(value)),
            Unit::Percent => format!("{}{THIN}%", whole(value * 100.0)),
        }
    }

    /// Room that the widest label needs beside the drawing.
    pub(crate) fn room(&self) -> u32 {
        let lengths = self
            .ticks
            .iter()
            .map(|tick| self.label(*tick).chars().count());
        let longest = u32::try_from(lengths.max().unwrap_or_default()).unwrap_or_default();
        30 + 14 * longest
    }
}

impl Ranged for Axis {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, (from, to): (i32, i32)) -> i32 {
        let share = ((value - self.low) / (self.high - self.low)).clamp(0.0, 1.0);
        let place = f64::from(from) + share * f64::from(to - from);
        i32::try_from(nearest(place)).unwrap_or(to)
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        // The library asks twice; lines between the marks are not wanted.
        if hint.weight().allow_light_points() {
            return Vec::new();
        }
        self.ticks.clone()
    }

    fn range(&self) -> Range<f64> {
        self.low..self.high
    }
}

impl ValueFormatter<f64> for Axis {
    fn format_ext(&self, value: &f64) -> String {
        self.label(*value)
    }
}

/// The largest unit of time that a number of seconds is a multiple of.
fn unit_of(seconds: i64) -> (i64, &'static str) {
    let units = [(86_400, "d"), (3600, "h"), (60, "min")];
    let fits = |(size, _): &(i64, &str)| seconds >= *size && seconds % size == 0;
    units.into_iter().find(fits).unwrap_or((1, "s"))
}

/// End, step and marks of an axis that begins at nothing and holds `highest`, with three to six marks.
fn amounts(highest: f64, least: f64) -> (f64, f64, Vec<f64>) {
    let mut step = least;
    for factor in [2.0, 2.5, 2.0].into_iter().cycle() {
        if step * 5.0 >= highest || !highest.is_finite() {
            break;
        }
        step *= factor;
    }
    let marks = whole(highest / step).max(1);
    let marks = if float(marks) * step < highest {
        marks + 1
    } else {
        marks
    };
    let ticks = (0..=marks).map(|mark| float(mark) * step).collect();
    (float(marks) * step, step, ticks)
}

/// The one step that is not plain arithmetic: machines may differ in its last bit, which whole units of a drawing swallow.
fn tenfolds(seconds: f64) -> f64 {
    seconds.log10()
}

/// The nearest whole number that is not negative.
fn whole(value: f64) -> i64 {
    nearest(value).max(0)
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the cast saturates, which an axis may"
)]
fn nearest(value: f64) -> i64 {
    value.round() as i64
}

fn float(whole: i64) -> f64 {
    whole as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: &Axis) -> Vec<String> {
        let ticks = axis.ticks.iter();
        ticks
            .map(|tick| axis.label(*tick).replace(THIN, " "))
            .collect()
    }

    #[test]
    fn time_is_counted_in_units_that_people_use() {
        let day = Span::from_secs(86_400);
        assert_eq!(
            labels(&Axis::elapsed(day, 8)),
            [
                "0 h", "3 h", "6 h", "9 h", "12 h", "15 h", "18 h", "21 h", "24 h"
            ]
        );
        let fortnight = Span::from_secs(14 * 86_400 - 1);
        assert_eq!(
            labels(&Axis::elapsed(fortnight, 8)),
            ["0 d", "2 d", "4 d", "6 d", "8 d", "10 d", "12 d"]
        );
        let years = Axis::elapsed(Span::from_secs(86_400 * 4000), 8);
        assert!(years.ticks.len() <= 10, "{years:?}");
    }

    #[test]
    fn waits_stand_between_round_marks() {
        let axis = Axis::waited(Span::from_secs(38), Span::from_secs(320));
        assert_eq!(labels(&axis), ["30 s", "1 min", "2 min", "5 min", "10 min"]);
        let nobody = Axis::waited(Span::ZERO, Span::ZERO);
        assert_eq!(labels(&nobody), ["1 s", "2 s"]);
        assert!(
            nobody
                .place_of_wait(Span::ZERO)
                .total_cmp(&nobody.low)
                .is_eq()
        );
        let ages = Axis::waited(Span::from_secs(1), Span::from_millis(i64::MAX));
        assert!(ages.high > ages.low);
    }

    #[test]
    fn amounts_hold_the_highest() {
        assert_eq!(
            labels(&Axis::dollars(38.2)),
            ["$ 0", "$ 10", "$ 20", "$ 30", "$ 40"]
        );
        assert_eq!(
            labels(&Axis::dollars(0.31)),
            ["$ 0.00", "$ 0.10", "$ 0.20", "$ 0.30", "$ 0.40"]
        );
        assert_eq!(labels(&Axis::count(0.0)), ["0", "1"]);
        assert_eq!(
            labels(&Axis::count(4300.0)),
            ["0", "1,000", "2,000", "3,000", "4,000", "5,000"]
        );
        assert_eq!(labels(&Axis::percent()).last().unwrap(), "100 %");
    }
}
