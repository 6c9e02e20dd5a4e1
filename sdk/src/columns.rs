//! The common parts of the columns of all hooks: texts by number, optional signals by name, how an instance is bought.

use std::cell::OnceCell;

use crate::bindings::configure::plimsoll::policy::types::{Column, ExtColumn, Symbols};

/// Methods of every table, whatever its hook: how many rows it has, and the time of its snapshot. Names the column whose length
/// is the number of rows, and the context.
macro_rules! rows_and_time {
    ($($column:ident).+, $($context:ident).+) => {
        /// Rows to be answered.
        pub fn len(&self) -> usize {
            self.$($column).+.len()
        }

        /// `true` if nothing is asked.
        pub fn is_empty(&self) -> bool {
            self.len() == 0
        }

        /// Seconds since 1970 at the time of the snapshot; for budgets cut to the minute.
        pub fn now_unix_s(&self) -> u64 {
            self.$($context).+.now_unix_s
        }

        /// Date and time of day in a time zone that is a setting of the policy.
        pub fn local(&self, zone: &$crate::time::TimeZone) -> $crate::time::LocalTime {
            $crate::time::LocalTime::of(&self.$($context).+, zone)
        }
    };
}

pub(crate) use rows_and_time;

/// The texts of one call. Columns name them by number.
#[derive(Debug)]
pub(crate) struct Texts {
    blob: Vec<u8>,
    ends: Vec<u32>,
    /// The blob as text, checked when the first name is asked for: many policies never ask.
    text: OnceCell<String>,
}

impl Texts {
    pub(crate) fn new(symbols: Symbols) -> Self {
        let Symbols { blob, ends } = symbols;
        Self {
            blob,
            ends,
            text: OnceCell::new(),
        }
    }

    /// The text of a symbol; empty for one that is not there.
    pub(crate) fn get(&self, symbol: u32) -> &str {
        let text = self
            .text
            .get_or_init(|| String::from_utf8(self.blob.clone()).unwrap_or_default());
        let index = symbol as usize;
        let end = self.ends.get(index).copied().unwrap_or_default() as usize;
        let start = if index == 0 {
            0
        } else {
            self.ends.get(index - 1).copied().unwrap_or_default() as usize
        };
        text.get(start..end).unwrap_or_default()
    }

    /// The value of a signal among `columns`, at `row`.
    pub(crate) fn signal(
        &self,
        columns: &[ExtColumn],
        name: &str,
        row: usize,
    ) -> Option<Signal<'_>> {
        let column = columns
            .iter()
            .find(|column| self.get(column.name) == name)?;
        match &column.values {
            Column::F64s(values) => values.get(row).map(|&value| Signal::Number(value)),
            Column::U32s(values) => values
                .get(row)
                .map(|&value| Signal::Number(f64::from(value))),
            Column::U8s(values) => values
                .get(row)
                .map(|&value| Signal::Number(f64::from(value))),
            Column::Syms(values) => values
                .get(row)
                .map(|&symbol| Signal::Text(self.get(symbol))),
        }
    }
}

/// Value of an optional signal on one row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Signal<'a> {
    /// A number, a count or a code.
    Number(f64),
    /// A text.
    Text(&'a str),
}

impl<'a> Signal<'a> {
    /// The number, if it is one.
    pub fn number(self) -> Option<f64> {
        if let Self::Number(value) = self {
            Some(value)
        } else {
            None
        }
    }

    /// The text, if it is one.
    pub fn text(self) -> Option<&'a str> {
        if let Self::Text(value) = self {
            Some(value)
        } else {
            None
        }
    }
}

/// How an instance is bought.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Capacity {
    /// By the second at list price.
    OnDemand,
    /// Spare capacity that may be taken back.
    Spot,
    /// Out of a capacity reservation.
    Reserved,
}

impl Capacity {
    pub(crate) const fn of(code: u8) -> Self {
        match code {
            1 => Self::Spot,
            2 => Self::Reserved,
            _ => Self::OnDemand,
        }
    }
}
