//! What pools may still buy, and how many values a claim must leave to choose from, while pods are placed one by one.
//!
//! Each new node is charged at the largest machine it may still become, per resource, and as one node. Contract: the sections
//! on limits and minimum values; unlike upstream, `limits.nodes` falls with every new node of the same decision.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::axes::fits;
use super::compile::Compiled;
use crate::bits::Bits;
use crate::resources::{ResourceName, Resources};

/// Limits left per template, and minimum values.
pub(super) struct Limits {
    remaining: Vec<Option<Resources>>,
    minimum: Vec<Vec<(String, u32)>>,
}

impl Limits {
    /// What limits leave before any new node.
    pub(super) fn new(compiled: &Compiled<'_>) -> Self {
        let best_effort =
            compiled.snapshot.settings.min_values == crate::snapshot::MinValuesPolicy::BestEffort;
        let minimum = compiled.templates.iter().map(|template| {
            let wanted = template.requirements.iter().filter(|_| !best_effort);
            wanted
                .filter_map(|r| Some((r.key().as_str().to_owned(), r.min_values()?)))
                .collect()
        });
        Self {
            remaining: compiled
                .templates
                .iter()
                .map(|template| template.remaining.clone())
                .collect(),
            minimum: minimum.collect(),
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
        let catalogue = compiled.snapshot.catalogue.types();
        let largest = types
            .iter()
            .map(|at| catalogue[*at].capacity.clone())
            .reduce(|left, right| left.larger(&right))
            .unwrap_or_default()
            .with(ResourceName::Nodes, 1);
        *remaining = remaining.minus(&largest);
    }

    /// Whether rows with room for `used` leave enough values to choose from.
    pub(super) fn keeps_minimum_values(
        &self,
        compiled: &Compiled<'_>,
        rows: &Bits,
        used: &[i64],
    ) -> bool {
        let Some(first) = rows.first() else {
            return false;
        };
        let minimum = &self.minimum[compiled.rows.rows[first].template];
        minimum.is_empty() || {
            let roomy = rows
                .iter()
                .filter(|row| fits(used, compiled.rows.capacity(*row)));
            let types: BTreeSet<usize> = roomy
                .map(|row| compiled.rows.rows[row].instance_type)
                .collect();
            let achieved = distinct_values(compiled, &types);
            minimum
                .iter()
                .all(|(key, wanted)| achieved(key) >= *wanted as usize)
        }
    }
}

/// Counts distinct values of a key over types: their own values, not narrowed by the claim.
pub(super) fn distinct_values<'c>(
    compiled: &'c Compiled<'_>,
    types: &'c BTreeSet<usize>,
) -> impl Fn(&str) -> usize + 'c {
    move |key| {
        let catalogue = compiled.snapshot.catalogue.types();
        let mut values: BTreeSet<Arc<str>> = BTreeSet::new();
        for at in types {
            let instance_type = &catalogue[*at];
            let listed = instance_type
                .requirements
                .get(key)
                .and_then(|requirement| requirement.listed());
            if let Some(listed) = listed {
                values.extend(listed.iter().cloned());
            } else {
                let offered = instance_type
                    .offerings
                    .iter()
                    .filter(|offering| offering.available);
                let own = offered.map(crate::catalog::Offering::node_requirements);
                values.extend(own.filter_map(|own| own.get(key)?.single().cloned()));
            }
        }
        values.len()
    }
}

/// What one node of a row takes of its pool's limits.
pub(super) fn capacity(compiled: &Compiled<'_>, row: usize) -> Resources {
    let (instance_type, _) = compiled.rows.offering(compiled.snapshot, row);
    instance_type.capacity.clone().with(ResourceName::Nodes, 1)
}
