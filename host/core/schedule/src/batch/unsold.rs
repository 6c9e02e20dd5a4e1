//! Pools of which nothing can be bought, with the reason.

use std::collections::BTreeSet;

use plimsoll_model::plan::{Note, NoteKind};
use plimsoll_model::snapshot::{MinValuesPolicy, Snapshot};

use super::minimum;
use crate::offers::templates::Template;
use crate::offers::{PoolOffers, Stock, choices};

/// A remark for each pool of which nothing can be launched: no type is left, or too few of them where the pool wants to choose.
pub(crate) fn unsold(snapshot: &Snapshot, offers: &Stock, templates: &[Template]) -> Vec<Note> {
    let mut notes = Vec::new();
    for (template, of_pool) in templates.iter().zip(&offers.by_pool) {
        let text = if of_pool.offers.is_empty() {
            Some(
                "no available instance type satisfies its requirements and has room for its daemons"
                    .to_owned(),
            )
        } else if snapshot.settings.min_values == MinValuesPolicy::Strict {
            too_few(template, of_pool)
        } else {
            None
        };
        let Some(text) = text else {
            continue;
        };
        notes.push(Note {
            kind: NoteKind::NoCompatibleInstanceTypes,
            ..Note::of_pool(template.pool.name.clone(), text)
        });
    }
    notes
}

/// In words, that the types sold have fewer values than a pool wants to choose from; `None` where they have enough.
fn too_few(template: &Template, of_pool: &PoolOffers) -> Option<String> {
    let sold = of_pool.offers.iter().map(|offer| {
        let instance_type = &template.catalogue.types()[offer.instance_type];
        (&**instance_type, &instance_type.offerings[offer.offering])
    });
    let wanted = choices::wanted(template);
    let short = minimum::short_of_ways(
        &wanted,
        &template.requirements,
        template.catalogue.provider(),
        &sold,
    );
    if short.is_empty() {
        return None;
    }
    let wanted = short
        .iter()
        .map(|(key, least, _)| format!("{least} values of {key}"));
    let left = short.iter().map(|(.., left)| left.to_string());
    let types: BTreeSet<usize> = of_pool.types().collect();
    Some(format!(
        "its requirements want {} to choose from (minValues), and the {} available instance types that satisfy them have {}",
        wanted.collect::<Vec<_>>().join(" and "),
        types.len(),
        left.collect::<Vec<_>>().join(" and "),
    ))
}
