//! Reads a policy's prices: lengths, ranges, `first` against `then`, counts of groups. Nothing of them is trusted before.
//!
//! The first violation ends the reading and names the row, the field, the value and what was expected, because the
//! reader of that sentence is the policy's author. Whatever passes is typed and cannot break packing.

use std::collections::BTreeMap;
use std::fmt;

use thiserror::Error;

use super::answer::{Price, PriceAnswer, Prices, Quote};
use super::catalogue::Tables;
use super::question::PriceQuestion;
use crate::hook::Capacity;
use crate::units::PricePerHour;

/// One candidate of a question, in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slot {
    /// Row among the candidates.
    pub row: usize,
    /// Which pool or claim it belongs to, for instance `pool general`.
    pub owner: String,
    /// Name of the instance type.
    pub instance_type: String,
    /// Zone.
    pub zone: String,
    /// `on-demand`, `spot` or `reserved`.
    pub capacity: &'static str,
}

impl fmt::Display for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            row,
            owner,
            instance_type,
            zone,
            capacity,
        } = self;
        write!(
            f,
            "row {row} ({owner}, {instance_type}, {zone}, {capacity})"
        )
    }
}

/// Why an answer is refused whole.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum AnswerError {
    /// A column is shorter or longer than the question.
    #[error("answer column `{column}` has {found} rows; the question has {expected} candidates")]
    Length {
        /// Column of the answer.
        column: &'static str,
        /// Candidates of the question.
        expected: usize,
        /// Rows of the answer.
        found: usize,
    },
    /// A value is NaN.
    #[error("{slot}: `{column}` is NaN; expected {}", expected(column))]
    NotANumber {
        /// The candidate.
        slot: Box<Slot>,
        /// Column of the answer.
        column: &'static str,
    },
    /// A value lies outside of what the column may hold.
    #[error("{slot}: `{column}` is {value}; expected {}", expected(column))]
    OutOfRange {
        /// The candidate.
        slot: Box<Slot>,
        /// Column of the answer.
        column: &'static str,
        /// What it held.
        value: f64,
    },
    /// Later nodes are cheaper than the first ones, which packing would buy wrongly.
    #[error("{slot}: `first` is {first} and `then` is {then}; `first` must not be above `then`")]
    FirstAboveThen {
        /// The candidate.
        slot: Box<Slot>,
        /// Price of the first nodes.
        first: f64,
        /// Price of the rest.
        then: f64,
    },
    /// Rows that share a count disagree on it.
    #[error(
        "{slot}: `first-count` is {count}; group {group} has {expected} since row {since}, and a group has one count"
    )]
    GroupCount {
        /// The candidate.
        slot: Box<Slot>,
        /// The group.
        group: u32,
        /// Count on this row.
        count: u32,
        /// Count on the first row of the group.
        expected: u32,
        /// First row of the group.
        since: usize,
    },
}

fn expected(column: &str) -> &'static str {
    match column {
        "score" => "a finite number, or +inf to remove the offering",
        _ => "dollars per hour in 0 to 100000, or +inf to veto",
    }
}

/// Checks prices against their question and turns them into integers.
pub fn check_prices(question: &PriceQuestion, answer: &PriceAnswer) -> Result<Prices, AnswerError> {
    let rows = question.pools.cand.len();
    check_length("first", rows, answer.first.len())?;
    check_length("first-count", rows, answer.first_count.len())?;
    check_length("first-group", rows, answer.first_group.len())?;
    check_length("first-reason", rows, answer.first_reason.len())?;
    check_length("then", rows, answer.then.len())?;
    check_length("then-reason", rows, answer.then_reason.len())?;

    let slot = |row| Box::new(price_slot(question, row));
    let mut groups = Groups::default();
    let mut prices = Vec::with_capacity(rows);
    for row in 0..rows {
        let first = read_price("first", answer.first[row], || slot(row))?;
        // Most rows have one price.
        let then = if answer.then[row].to_bits() == answer.first[row].to_bits() {
            first
        } else {
            read_price("then", answer.then[row], || slot(row))?
        };
        if answer.first[row] > answer.then[row] {
            let (first, then) = (answer.first[row], answer.then[row]);
            return Err(AnswerError::FirstAboveThen {
                slot: slot(row),
                first,
                then,
            });
        }
        let (first_count, first_group) = (answer.first_count[row], answer.first_group[row]);
        if let Err((expected, since)) = groups.enter(first_group, first_count, row) {
            return Err(AnswerError::GroupCount {
                slot: slot(row),
                group: first_group,
                count: first_count,
                expected,
                since,
            });
        }
        prices.push(Price {
            first: Quote {
                price: first,
                reason: answer.first_reason[row],
            },
            first_count,
            first_group,
            then: Quote {
                price: then,
                reason: answer.then_reason[row],
            },
        });
    }
    Ok(Prices { rows: prices })
}

/// Counts of the groups seen so far. Rows of one group often stand together.
#[derive(Default)]
struct Groups {
    counts: BTreeMap<u32, (u32, usize)>,
    last: (u32, u32),
}

impl Groups {
    /// Enters a row; the count of its group and the row that set it, where this row has another.
    fn enter(&mut self, group: u32, count: u32, row: usize) -> Result<(), (u32, usize)> {
        if group == 0 || self.last == (group, count) {
            return Ok(());
        }
        let (expected, since) = *self.counts.entry(group).or_insert((count, row));
        if expected != count {
            return Err((expected, since));
        }
        self.last = (group, count);
        Ok(())
    }
}

pub(super) fn check_length(
    column: &'static str,
    expected: usize,
    found: usize,
) -> Result<(), AnswerError> {
    if found == expected {
        Ok(())
    } else {
        Err(AnswerError::Length {
            column,
            expected,
            found,
        })
    }
}

fn read_price(
    column: &'static str,
    value: f64,
    slot: impl FnOnce() -> Box<Slot>,
) -> Result<Option<PricePerHour>, AnswerError> {
    if value.is_nan() {
        return Err(AnswerError::NotANumber {
            slot: slot(),
            column,
        });
    }
    if value == f64::INFINITY {
        return Ok(None);
    }
    match PricePerHour::from_dollars(value) {
        Some(price) if value >= 0.0 => Ok(Some(price)),
        _ => Err(AnswerError::OutOfRange {
            slot: slot(),
            column,
            value,
        }),
    }
}

fn price_slot(question: &PriceQuestion, row: usize) -> Slot {
    let PriceQuestion { tables, pools, .. } = question;
    let pool = pools.name.get(owner_of(&pools.cand_ends, row));
    let name = pool
        .and_then(|&symbol| tables.symbols.get(symbol))
        .unwrap_or("?");
    describe(tables, &pools.cand, row, format!("pool {name}"))
}

pub(super) fn owner_of(ends: &[u32], row: usize) -> usize {
    ends.partition_point(|&end| end as usize <= row)
}

pub(super) fn describe(tables: &Tables, candidates: &[u32], row: usize, owner: String) -> Slot {
    let offering = candidates.get(row).copied().unwrap_or(u32::MAX);
    let capacity = match tables.catalogue.o_capacity.get(offering as usize).copied() {
        Some(code) if code == Capacity::OnDemand as u8 => "on-demand",
        Some(code) if code == Capacity::Spot as u8 => "spot",
        Some(code) if code == Capacity::Reserved as u8 => "reserved",
        _ => "unknown",
    };
    let (instance_type, zone) = (
        tables.type_name(offering).to_owned(),
        tables.zone(offering).to_owned(),
    );
    Slot {
        row,
        owner,
        instance_type,
        zone,
        capacity,
    }
}
