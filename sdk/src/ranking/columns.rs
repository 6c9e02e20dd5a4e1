//! The columns of one call, owned once and shared by all views of it. Nothing outside of this file indexes a column.

use std::cell::OnceCell;

use crate::bindings::configure::plimsoll::policy::types::{Column, Context, ExtColumn, Symbols};
use crate::bindings::ranker::exports::plimsoll::policy::ranker::Catalog;

/// Texts, catalogue and context of one call.
#[derive(Debug)]
pub(crate) struct Tables {
    pub(crate) context: Context,
    pub(crate) catalog: Catalog,
    /// Signals parallel to the candidates of the question.
    pub(crate) candidate_signals: Vec<ExtColumn>,
    blob: Vec<u8>,
    ends: Vec<u32>,
    /// The blob as text, checked when the first name is asked for: many policies never ask.
    text: OnceCell<String>,
}

impl Tables {
    pub(crate) fn new(context: Context, symbols: Symbols, catalog: Catalog) -> Self {
        let Symbols { blob, ends } = symbols;
        Self {
            context,
            catalog,
            candidate_signals: Vec::new(),
            blob,
            ends,
            text: OnceCell::new(),
        }
    }

    /// The text of a symbol; empty for one that is not there.
    pub(crate) fn text(&self, symbol: u32) -> &str {
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

    /// The value of the label `key` of an instance type row.
    pub(crate) fn label(&self, instance_type: usize, key: &str) -> Option<&str> {
        let catalog = &self.catalog;
        let ends = &catalog.t_label_ends;
        let end = *ends.get(instance_type)? as usize;
        let start = if instance_type == 0 {
            0
        } else {
            ends[instance_type - 1] as usize
        };
        let keys = catalog.t_label_key.get(start..end)?;
        let place = keys.iter().position(|&symbol| self.text(symbol) == key)?;
        catalog
            .t_label_value
            .get(start + place)
            .map(|&symbol| self.text(symbol))
    }

    /// The value of a signal among `columns`, at `row`.
    pub(crate) fn signal<'a>(
        &'a self,
        columns: &'a [ExtColumn],
        name: &str,
        row: usize,
    ) -> Option<Signal<'a>> {
        let column = columns
            .iter()
            .find(|column| self.text(column.name) == name)?;
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
                .map(|&symbol| Signal::Text(self.text(symbol))),
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
