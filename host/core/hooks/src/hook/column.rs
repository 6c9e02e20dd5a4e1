//! Columns that more than one hook has: how an instance is bought, and optional signals by name.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::symbols::{Sym, SymbolsBuilder};

/// How an offering is bought, as its code in columns named `capacity`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[repr(u8)]
pub enum Capacity {
    /// By the second at list price.
    OnDemand = 0,
    /// Spare capacity that may be taken back.
    Spot = 1,
    /// Out of a capacity reservation.
    Reserved = 2,
}

/// Values of an optional signal, parallel to the rows it belongs to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Column {
    /// Numbers with fractions.
    F64s(Vec<f64>),
    /// Counts.
    U32s(Vec<u32>),
    /// Codes.
    U8s(Vec<u8>),
    /// Texts.
    Syms(Vec<Sym>),
}

/// An optional signal: how the interface grows without changing a record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExtColumn {
    /// Its name, as a policy's manifest asks for it.
    pub name: Sym,
    /// One value per row.
    pub values: Column,
}

/// Signals of the rows of a question being built, by name. A row that is skipped holds 0.
#[derive(Debug, Clone, Default)]
pub(crate) struct Signals(Vec<(&'static str, Column)>);

impl Signals {
    /// Sets the value of a row, in ascending order of rows.
    pub(crate) fn set<T: SignalValue>(&mut self, name: &'static str, row: usize, value: T) {
        let known = self.0.iter().position(|(known, _)| *known == name);
        let place = known.unwrap_or_else(|| {
            self.0.push((name, T::column()));
            self.0.len() - 1
        });
        value.set(row, &mut self.0[place].1);
    }

    /// The columns of a table of so many rows; their names become symbols of the question.
    pub(crate) fn finish(self, rows: usize, symbols: &mut SymbolsBuilder) -> Vec<ExtColumn> {
        let finish = |(name, mut values): (&'static str, Column)| {
            match &mut values {
                Column::U32s(values) | Column::Syms(values) => values.resize(rows, 0),
                Column::F64s(values) => values.resize(rows, 0.0),
                Column::U8s(values) => values.resize(rows, 0),
            }
            let name = symbols.intern(name);
            ExtColumn { name, values }
        };
        self.0.into_iter().map(finish).collect()
    }
}

/// A value of a signal, and the column that holds such values.
pub(crate) trait SignalValue {
    /// A column of such values, without rows.
    fn column() -> Column;

    /// Makes it the last row of the column, with 0 on the rows skipped.
    fn set(self, row: usize, column: &mut Column);
}

macro_rules! signal_values {
    ($($value:ty: $column:ident;)*) => {
        $(impl SignalValue for $value {
            fn column() -> Column {
                Column::$column(Vec::new())
            }

            fn set(self, row: usize, column: &mut Column) {
                if let Column::$column(values) = column {
                    values.resize(row, Self::default());
                    values.push(self);
                }
            }
        })*
    };
}

signal_values! {
    u32: U32s;
    f64: F64s;
}

/// A column of an answer that is shorter or longer than the question.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("answer column `{column}` has {found} rows; the question has {expected} {things}")]
pub struct WrongLength {
    /// Column of the answer.
    pub column: &'static str,
    /// Rows of the answer.
    pub found: usize,
    /// Rows of the question.
    pub expected: usize,
    /// Things that the question has rows of, for instance `moves`.
    pub things: &'static str,
}

/// Fails with the first column, named with its rows, that has not as many as there are things in the question.
pub(crate) fn check_lengths<const N: usize>(
    columns: [(&'static str, usize); N],
    expected: usize,
    things: &'static str,
) -> Result<(), WrongLength> {
    let mut columns = columns.into_iter();
    match columns.find(|(_, found)| *found != expected) {
        None => Ok(()),
        Some((column, found)) => Err(WrongLength {
            column,
            found,
            expected,
            things,
        }),
    }
}
