//! Optional signals of a case's rows: numbers by name, given on every row or on none.

use std::collections::BTreeMap;

use plimsoll_hooks::hook::{Column, ExtColumn, Sym, Symbols};

use super::field::{Field, Problem};

/// Signals of the rows so far.
#[derive(Debug, Default)]
pub(super) struct Signals {
    rows: usize,
    columns: BTreeMap<String, Vec<f64>>,
}

impl Signals {
    /// Takes the signals of the next row.
    pub(super) fn add(
        &mut self,
        row: &Field<'_>,
        signals: Option<&Field<'_>>,
    ) -> Result<(), Problem> {
        for (name, field) in signals.map_or(Ok(Vec::new()), Field::named)? {
            let column = self.columns.entry(name.to_owned()).or_default();
            if column.len() < self.rows {
                return Err(
                    field.problem("is not given on the rows before; expected it on all".to_owned())
                );
            }
            column.push(field.number()?);
        }
        self.rows += 1;
        match self
            .columns
            .iter()
            .find(|(_, values)| values.len() < self.rows)
        {
            None => Ok(()),
            Some((name, _)) => Err(row.problem(format!(
                "has no signal {name}; expected it on all rows, as others have it"
            ))),
        }
    }

    /// The columns; their names become symbols of the question.
    pub(super) fn columns(self, symbols: &mut Symbols) -> Vec<ExtColumn> {
        let column = |(name, values): (String, Vec<f64>)| ExtColumn {
            name: symbol(symbols, &name),
            values: Column::F64s(values),
        };
        self.columns.into_iter().map(column).collect()
    }
}

/// The symbol of a text, which is added where it is new.
fn symbol(symbols: &mut Symbols, text: &str) -> Sym {
    let number = |length: usize| u32::try_from(length).expect("a case has fewer than 2^32 names");
    let rows = number(symbols.len());
    if let Some(known) = (0..rows).find(|&row| symbols.get(row) == Some(text)) {
        return known;
    }
    symbols.blob.extend_from_slice(text.as_bytes());
    symbols.ends.push(number(symbols.blob.len()));
    rows
}
