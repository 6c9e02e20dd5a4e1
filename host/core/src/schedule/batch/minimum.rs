//! Distinct values that a claim must leave its launch to choose from (`minValues`).
//!
//! Values are counted over the types that a node may still become, each with its own values of the key, not narrowed by
//! the claim. A strict minimum refuses; under best effort a new node lowers it to what there is, and later pods must keep
//! the lowered one. Contract: the section on minimum values.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::compile::Compiled;
use crate::bits::Bits;
use crate::catalogue::Catalogue;
use crate::labels::LabelKey;
use crate::schedule::offers::axes::fits;
use crate::schedule::offers::templates::Template;
use crate::snapshot::MinValuesPolicy;

/// Least number of distinct values, by key.
pub(crate) type Minimum = Vec<(LabelKey, u32)>;

/// Minimum values that a new node of some rows keeps when pods ask for `used` on it. Under the best-effort policy a minimum that
/// is not met is lowered to the values found; `None` when a strict minimum is not met.
pub(crate) fn of_new(compiled: &Compiled<'_>, rows: &Bits, used: &[i64]) -> Option<Minimum> {
    let template = compiled.rows.rows[rows.first()?].template;
    let mut result = wanted(compiled, template);
    if result.is_empty() || is_kept(compiled, &result, rows, used) {
        return Some(result);
    }
    if compiled.snapshot.settings.min_values == MinValuesPolicy::Strict {
        return None;
    }
    let types = roomy_types(compiled, rows, used);
    let found = distinct_values(&compiled.templates[template].catalogue, &types);
    for (key, minimum) in &mut result {
        *minimum = (*minimum).min(u32::try_from(found(key.as_str())).unwrap_or(u32::MAX));
    }
    Some(result)
}

/// Minimum values that a template's requirements ask for; empty when they ask for none.
pub(crate) fn wanted(compiled: &Compiled<'_>, template: usize) -> Minimum {
    of_template(&compiled.templates[template])
}

/// The same of a template that is not compiled yet.
pub(crate) fn of_template(template: &Template) -> Minimum {
    let requirements = template.requirements.iter();
    requirements
        .filter_map(|requirement| Some((requirement.key().clone(), requirement.min_values()?)))
        .collect()
}

/// `true` if rows with room for `used` leave enough values.
pub(crate) fn is_kept(
    compiled: &Compiled<'_>,
    minimum: &Minimum,
    rows: &Bits,
    used: &[i64],
) -> bool {
    let types = || roomy_types(compiled, rows, used);
    let row = rows.first();
    minimum.is_empty() || row.is_some_and(|row| is_met(compiled, row, minimum, &types()))
}

/// `true` if types leave enough values on a node of the template of `row`.
pub(crate) fn is_met(
    compiled: &Compiled<'_>,
    row: usize,
    minimum: &Minimum,
    types: &BTreeSet<usize>,
) -> bool {
    let template = &compiled.templates[compiled.rows.rows[row].template];
    is_met_by(&template.catalogue, minimum, types)
}

/// The same for types of a catalogue.
pub(crate) fn is_met_by(catalogue: &Catalogue, minimum: &Minimum, types: &BTreeSet<usize>) -> bool {
    let found = distinct_values(catalogue, types);
    let enough = |(key, least): &(LabelKey, u32)| found(key.as_str()) >= *least as usize;
    minimum.iter().all(enough)
}

fn roomy_types(compiled: &Compiled<'_>, rows: &Bits, used: &[i64]) -> BTreeSet<usize> {
    rows.iter()
        .filter(|row| fits(used, compiled.rows.capacity(*row)))
        .map(|row| compiled.rows.rows[row].instance_type)
        .collect()
}

/// Counts distinct values of a key over types: their own values, not narrowed by the claim.
pub(crate) fn distinct_values<'c>(
    catalogue: &'c Catalogue,
    types: &'c BTreeSet<usize>,
) -> impl Fn(&str) -> usize + 'c {
    move |key| {
        let mut values: BTreeSet<Arc<str>> = BTreeSet::new();
        for at in types {
            let instance_type = &catalogue.types()[*at];
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
                let own = offered.map(|sold| sold.node_requirements(catalogue.provider()));
                values.extend(own.filter_map(|own| own.get(key)?.single().cloned()));
            }
        }
        values.len()
    }
}
