//! A ranking policy's answer per row, and the columns it becomes.

use crate::bindings::ranker::exports::plimsoll::policy::ranker::{Ordering, Prices};
use crate::reason::Reason;

/// Price of one more node, in dollars per hour.
///
/// The host wants finite prices in 0 to 100,000, and the first nodes never dearer than the rest; else the whole answer
/// is refused.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Price {
    first: f64,
    first_count: u32,
    first_group: u32,
    first_reason: Reason,
    then: f64,
    then_reason: Reason,
}

impl Price {
    /// The same price for every node.
    pub const fn dollars(per_hour: f64, reason: Reason) -> Self {
        Self {
            first: per_hour,
            first_count: 0,
            first_group: 0,
            first_reason: reason,
            then: per_hour,
            then_reason: reason,
        }
    }

    /// Never to be bought.
    pub const fn veto(reason: Reason) -> Self {
        Self::dollars(f64::INFINITY, reason)
    }

    /// Another price for the first `count` nodes of the plan: what is committed, reserved or within a quota.
    #[must_use]
    pub const fn but_first(self, count: u32, per_hour: f64, reason: Reason) -> Self {
        Self {
            first: per_hour,
            first_count: count,
            first_reason: reason,
            ..self
        }
    }

    /// Shares the count of first nodes with all rows of the same group, other than 0. They must carry the same count.
    #[must_use]
    pub const fn in_group(self, group: u32) -> Self {
        Self {
            first_group: group,
            ..self
        }
    }

    /// Dollars per hour of the first nodes.
    pub const fn first(&self) -> f64 {
        self.first
    }

    /// Dollars per hour of the rest.
    pub const fn then(&self) -> f64 {
        self.then
    }

    /// Reason for the price of the first nodes, which is the one for all where there is no count.
    pub const fn reason(&self) -> Reason {
        self.first_reason
    }

    /// How many first nodes there are.
    pub const fn first_count(&self) -> u32 {
        self.first_count
    }
}

/// Place in a launch list: lower is tried first.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Score {
    value: f64,
    reason: Reason,
}

impl Score {
    /// A score, which must not be NaN.
    pub const fn new(value: f64, reason: Reason) -> Self {
        Self { value, reason }
    }

    /// Takes the offering off the list. The host keeps the list as it is if nothing would be left.
    pub const fn remove(reason: Reason) -> Self {
        Self {
            value: f64::INFINITY,
            reason,
        }
    }

    /// The number.
    pub const fn value(&self) -> f64 {
        self.value
    }

    /// The reason.
    pub const fn reason(&self) -> Reason {
        self.reason
    }
}

/// All prices of a call, in the order of the table's rows.
#[derive(Debug)]
pub struct PriceAnswer {
    columns: Prices,
}

impl PriceAnswer {
    /// An empty answer with room for `rows`.
    pub fn with_capacity(rows: usize) -> Self {
        Self {
            columns: Prices {
                first: Vec::with_capacity(rows),
                first_count: Vec::with_capacity(rows),
                first_group: Vec::with_capacity(rows),
                first_reason: Vec::with_capacity(rows),
                then: Vec::with_capacity(rows),
                then_reason: Vec::with_capacity(rows),
            },
        }
    }

    /// Adds the price of the next row.
    pub fn push(&mut self, price: Price) {
        self.columns.first.push(price.first);
        self.columns.first_count.push(price.first_count);
        self.columns.first_group.push(price.first_group);
        self.columns.first_reason.push(price.first_reason.0);
        self.columns.then.push(price.then);
        self.columns.then_reason.push(price.then_reason.0);
    }

    /// As many rows as the answer to a question of `rows` has, to be written through [`slots`](Self::slots).
    pub(super) fn blank(rows: usize) -> Self {
        Self {
            columns: Prices {
                first: vec![0.0; rows],
                first_count: vec![0; rows],
                first_group: vec![0; rows],
                first_reason: vec![0; rows],
                then: vec![0.0; rows],
                then_reason: vec![0; rows],
            },
        }
    }

    /// The rows, to be written one after another.
    pub(super) fn slots(&mut self) -> impl ExactSizeIterator<Item = PriceSlot<'_>> {
        let columns = &mut self.columns;
        let first = columns.first.iter_mut().zip(&mut columns.first_count);
        let first = first.zip(
            columns
                .first_group
                .iter_mut()
                .zip(&mut columns.first_reason),
        );
        let then = columns.then.iter_mut().zip(&mut columns.then_reason);
        first.zip(then).map(
            |(((first, first_count), (first_group, first_reason)), (then, then_reason))| {
                PriceSlot {
                    first,
                    first_count,
                    first_group,
                    first_reason,
                    then,
                    then_reason,
                }
            },
        )
    }

    /// Takes back the rows that were not written, so that the host sees that they are missing.
    pub(super) fn keep(&mut self, rows: usize) {
        let columns = &mut self.columns;
        columns.first.truncate(rows);
        columns.first_count.truncate(rows);
        columns.first_group.truncate(rows);
        columns.first_reason.truncate(rows);
        columns.then.truncate(rows);
        columns.then_reason.truncate(rows);
    }

    /// The price of a row.
    pub fn get(&self, row: usize) -> Option<Price> {
        let columns = &self.columns;
        Some(Price {
            first: *columns.first.get(row)?,
            first_count: *columns.first_count.get(row)?,
            first_group: *columns.first_group.get(row)?,
            first_reason: Reason(*columns.first_reason.get(row)?),
            then: *columns.then.get(row)?,
            then_reason: Reason(*columns.then_reason.get(row)?),
        })
    }

    pub(crate) fn into_columns(self) -> Prices {
        self.columns
    }
}

/// One row of an answer that is being written. Six lists with a length each are dear to push to; this is not.
pub(super) struct PriceSlot<'a> {
    first: &'a mut f64,
    first_count: &'a mut u32,
    first_group: &'a mut u32,
    first_reason: &'a mut u16,
    then: &'a mut f64,
    then_reason: &'a mut u16,
}

impl PriceSlot<'_> {
    /// Writes the price of the row.
    pub(super) fn write(self, price: Price) {
        *self.first = price.first;
        *self.first_count = price.first_count;
        *self.first_group = price.first_group;
        *self.first_reason = price.first_reason.0;
        *self.then = price.then;
        *self.then_reason = price.then_reason.0;
    }
}

/// All scores of a call, in the order of the table's rows.
#[derive(Debug)]
pub struct ScoreAnswer {
    columns: Ordering,
}

impl ScoreAnswer {
    /// An empty answer with room for `rows`.
    pub fn with_capacity(rows: usize) -> Self {
        Self {
            columns: Ordering {
                score: Vec::with_capacity(rows),
                reason: Vec::with_capacity(rows),
            },
        }
    }

    /// Adds the score of the next row.
    pub fn push(&mut self, score: Score) {
        self.columns.score.push(score.value);
        self.columns.reason.push(score.reason.0);
    }

    /// As many rows as the answer to a question of `rows` has, to be written through [`slots`](Self::slots).
    pub(super) fn blank(rows: usize) -> Self {
        Self {
            columns: Ordering {
                score: vec![0.0; rows],
                reason: vec![0; rows],
            },
        }
    }

    /// The rows, to be written one after another.
    pub(super) fn slots(&mut self) -> impl ExactSizeIterator<Item = ScoreSlot<'_>> {
        let columns = &mut self.columns;
        let slots = columns.score.iter_mut().zip(&mut columns.reason);
        slots.map(|(value, reason)| ScoreSlot { value, reason })
    }

    /// Takes back the rows that were not written, so that the host sees that they are missing.
    pub(super) fn keep(&mut self, rows: usize) {
        self.columns.score.truncate(rows);
        self.columns.reason.truncate(rows);
    }

    /// The score of a row.
    pub fn get(&self, row: usize) -> Option<Score> {
        let (value, reason) = (
            *self.columns.score.get(row)?,
            *self.columns.reason.get(row)?,
        );
        Some(Score {
            value,
            reason: Reason(reason),
        })
    }

    pub(crate) fn into_columns(self) -> Ordering {
        self.columns
    }
}

/// One row of an answer that is being written.
pub(super) struct ScoreSlot<'a> {
    value: &'a mut f64,
    reason: &'a mut u16,
}

impl ScoreSlot<'_> {
    /// Writes the score of the row.
    pub(super) fn write(self, score: Score) {
        *self.value = score.value;
        *self.reason = score.reason.0;
    }
}
