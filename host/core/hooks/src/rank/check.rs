//! Reads a policy's prices: lengths, ranges, `first` against `then`, counts of groups. Nothing of them is trusted before.
//!
//! The first violation ends the reading and names the row, the field, the value and what was expected, because the
//! reader of that sentence is the policy's author. Whatever passes is typed and cannot break packing.

use std::collections::BTreeMap;
use std::fmt;

use plimsoll_base::units::{MAX_DOLLARS_PER_HOUR, PricePerHour};
use thiserror::Error;

use super::answer::{Price, PriceAnswer, Prices, Quote};
use super::catalogue::Tables;
use super::question::PriceQuestion;
use crate::hook::{Capacity, WrongLength, check_lengths};

/// One candidate of a question, in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CandidateName {
    /// Row among the candidates.
    pub row: usize,
    /// Pool or claim of the candidate, for instance `pool general`.
    pub owner: String,
    /// Name of the instance type.
    pub instance_type: String,
    /// Zone.
    pub zone: String,
    /// `on-demand`, `spot` or `reserved`.
    pub capacity: &'static str,
}

impl fmt::Display for CandidateName {
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
pub enum RankingError {
    /// A column is shorter or longer than the question.
    #[error(transparent)]
    Length(#[from] WrongLength),
    /// A value is NaN.
    #[error("{slot}: `{column}` is NaN; expected {}", expected(column))]
    NotANumber {
        /// The candidate.
        slot: Box<CandidateName>,
        /// Column of the answer.
        column: &'static str,
    },
    /// A value lies outside of what the column may hold.
    #[error("{slot}: `{column}` is {value}; expected {}", expected(column))]
    OutOfRange {
        /// The candidate.
        slot: Box<CandidateName>,
        /// Column of the answer.
        column: &'static str,
        /// The value in the column.
        value: f64,
    },
    /// Later nodes are cheaper than the first ones, which packing would buy wrongly.
    #[error("{slot}: `first` is {first} and `then` is {then}; `first` must not be above `then`")]
    FirstAboveThen {
        /// The candidate.
        slot: Box<CandidateName>,
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
        slot: Box<CandidateName>,
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
pub fn check_prices(
    question: &PriceQuestion,
    answer: &PriceAnswer,
) -> Result<Prices, RankingError> {
    check_lengths(answer.lengths(), question.pools.cand.len(), "candidates")?;

    if !is_plain(answer) {
        check_rows(question, answer)?;
    }
    let first = answer.first.iter().zip(&answer.first_reason);
    let counts = answer.first_count.iter().zip(&answer.first_group);
    let then = answer.then.iter().zip(&answer.then_reason);
    let typed = first.zip(counts).zip(then).map(|((first, counts), then)| {
        let at_first = price(*first.0);
        // Most rows have one price.
        let is_one = first.0.to_bits() == then.0.to_bits();
        let later = if is_one { at_first } else { price(*then.0) };
        let quote = |price, reason: &u16| Quote {
            price,
            reason: *reason,
        };
        Price {
            first: quote(at_first, first.1),
            first_count: *counts.0,
            first_group: *counts.1,
            then: quote(later, then.1),
        }
    });
    Ok(Prices {
        rows: typed.collect(),
        held: Vec::new(),
    })
}

/// `true` if every row is right at first sight, as nearly all are: finite prices in order, no groups.
fn is_plain(answer: &PriceAnswer) -> bool {
    let mut prices = answer.first.iter().zip(&answer.then);
    let in_range =
        prices.all(|(first, then)| 0.0 <= *first && first <= then && *then <= MAX_DOLLARS_PER_HOUR);
    in_range && answer.first_group.iter().all(|group| *group == 0)
}

/// Checks row by row; the first violation in words.
fn check_rows(question: &PriceQuestion, answer: &PriceAnswer) -> Result<(), RankingError> {
    let slot = |row| Box::new(price_slot(question, row));
    let mut groups = FirstGroups::default();
    for row in 0..answer.first.len() {
        let (first, then) = (answer.first[row], answer.then[row]);
        check_price("first", first, || slot(row))?;
        check_price("then", then, || slot(row))?;
        if first > then {
            return Err(RankingError::FirstAboveThen {
                slot: slot(row),
                first,
                then,
            });
        }
        let (group, count) = (answer.first_group[row], answer.first_count[row]);
        if let Err((expected, since)) = groups.enter(group, count, row) {
            return Err(RankingError::GroupCount {
                slot: slot(row),
                group,
                count,
                expected,
                since,
            });
        }
    }
    Ok(())
}

/// A value that has passed the checks, as a price per hour; `None` for a veto.
fn price(value: f64) -> Option<PricePerHour> {
    (value != f64::INFINITY).then(|| PricePerHour::of_valid_dollars(value))
}

/// Counts of the groups seen so far. Rows of one group often stand together.
#[derive(Default)]
struct FirstGroups {
    counts: BTreeMap<u32, (u32, usize)>,
    last: (u32, u32),
}

impl FirstGroups {
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

fn check_price(
    column: &'static str,
    value: f64,
    slot: impl FnOnce() -> Box<CandidateName>,
) -> Result<(), RankingError> {
    if value.is_nan() {
        return Err(RankingError::NotANumber {
            slot: slot(),
            column,
        });
    }
    if value == f64::INFINITY || (0.0..=MAX_DOLLARS_PER_HOUR).contains(&value) {
        return Ok(());
    }
    Err(RankingError::OutOfRange {
        slot: slot(),
        column,
        value,
    })
}

fn price_slot(question: &PriceQuestion, row: usize) -> CandidateName {
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

pub(super) fn describe(
    tables: &Tables,
    candidates: &[u32],
    row: usize,
    owner: String,
) -> CandidateName {
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
    CandidateName {
        row,
        owner,
        instance_type,
        zone,
        capacity,
    }
}
