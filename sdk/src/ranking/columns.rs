//! The columns of one call, owned once and shared by all views of it. Nothing outside of this file and the views indexes a column.

use crate::bindings::configure::plimsoll::policy::types::{Context, ExtColumn, Symbols};
use crate::bindings::ranker::exports::plimsoll::policy::ranker::Catalog;
use crate::columns::Texts;

/// Texts, catalogue and context of one call.
#[derive(Debug)]
pub(crate) struct Tables {
    pub(crate) context: Context,
    pub(crate) catalog: Catalog,
    /// Signals parallel to the candidates of the question.
    pub(crate) candidate_signals: Vec<ExtColumn>,
    pub(crate) texts: Texts,
}

impl Tables {
    pub(crate) fn new(context: Context, symbols: Symbols, catalog: Catalog) -> Self {
        Self {
            context,
            catalog,
            candidate_signals: Vec::new(),
            texts: Texts::new(symbols),
        }
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
        let place = keys
            .iter()
            .position(|&symbol| self.texts.get(symbol) == key)?;
        catalog
            .t_label_value
            .get(start + place)
            .map(|&symbol| self.texts.get(symbol))
    }
}
