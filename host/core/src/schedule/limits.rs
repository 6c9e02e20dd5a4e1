//! What pools may still buy, while pods are placed one by one.
//!
//! Each new node is charged at the largest machine it may still become, per resource, and as one node. Contract: the section
//! on limits; unlike upstream, `limits.nodes` falls with every new node of the same decision.

use std::collections::BTreeSet;

use super::compile::Compiled;
use crate::bits::Bits;
use crate::resources::{ResourceName, Resources};

/// Limits left per template.
pub(super) struct Limits {
    remaining: Vec<Option<Resources>>,
}

impl Limits {
    /// What limits leave before any new node.
    pub(super) fn new(compiled: &Compiled<'_>) -> Self {
        Self {
            remaining: compiled
                .templates
                .iter()
                .map(|template| template.remaining.clone())
                .collect(),
        }
    }

    /// The rows that limits still allow; `None` when the pool has none.
    pub(super) fn within(
        &self,
        compiled: &Compiled<'_>,
        template: usize,
        rows: &Bits,
    ) -> Option<Bits> {
        let remaining = self.remaining[template].as_ref()?;
        let mut result = Bits::none(compiled.rows.len());
        for row in rows.iter() {
            let one = capacity(compiled, row);
            if remaining.iter().all(|(name, left)| one.get(name) <= left) {
                result.insert(row);
            }
        }
        Some(result)
    }

    /// Charges a new node.
    pub(super) fn charge(&mut self, compiled: &Compiled<'_>, template: usize, rows: &Bits) {
        let Some(remaining) = &mut self.remaining[template] else {
            return;
        };
        let types: BTreeSet<usize> = rows
            .iter()
            .map(|row| compiled.rows.rows[row].instance_type)
            .collect();
        let catalogue = compiled.templates[template].catalogue.types();
        let largest = types
            .iter()
            .map(|at| catalogue[*at].capacity.clone())
            .reduce(|left, right| left.larger(&right))
            .unwrap_or_default()
            .with(ResourceName::Nodes, 1);
        *remaining = remaining.minus(&largest);
    }
}

/// What one node of a row takes of its pool's limits.
pub(super) fn capacity(compiled: &Compiled<'_>, row: usize) -> Resources {
    let (instance_type, _) = compiled.offering(row);
    instance_type.capacity.clone().with(ResourceName::Nodes, 1)
}
