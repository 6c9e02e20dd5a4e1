//! Values that nodes of a pool may have of a label, whatever is available just now.

use std::collections::BTreeSet;
use std::sync::Arc;

use plimsoll_base::labels::{self, LabelKey};
use plimsoll_base::requirement::Requirement;

use super::templates::Template;

/// Values that nodes of a template may have, by the types it allows, available or not.
pub(crate) fn reachable(template: &Template, key: &LabelKey) -> BTreeSet<Arc<str>> {
    let own = template.requirements.get(key.as_str());
    let mut result = BTreeSet::new();
    let mut take = |requirement: &Requirement| {
        let both = own.map_or_else(|| requirement.clone(), |own| own.intersect(requirement));
        result.extend(both.listed().into_iter().flatten().cloned());
    };
    if let Some(own) = own {
        take(own);
    }
    let agrees = |requirement: &Requirement| {
        template
            .requirements
            .get(requirement.key().as_str())
            .is_none_or(|own| own.overlaps(requirement))
    };
    let types = template.catalogue.types().iter();
    for instance_type in types.filter(|sold| !sold.offerings.is_empty()) {
        let absent_too =
            |requirement: &Requirement| agrees(requirement) || requirement.allows_absence();
        if !instance_type.requirements.iter().all(absent_too) {
            continue;
        }
        if let Some(requirement) = instance_type.requirements.get(key.as_str()) {
            take(requirement);
        }
        if key.as_str() == labels::ZONE || key.as_str() == labels::CAPACITY_TYPE {
            for offering in &instance_type.offerings {
                let zone =
                    Requirement::one_of(LabelKey::from(labels::ZONE), [Arc::clone(&offering.zone)]);
                let capacity_type = Requirement::one_of(
                    LabelKey::from(labels::CAPACITY_TYPE),
                    [offering.capacity_type.as_str()],
                );
                if agrees(&zone) && agrees(&capacity_type) {
                    take(if key.as_str() == labels::ZONE {
                        &zone
                    } else {
                        &capacity_type
                    });
                }
            }
        } else if template.catalogue.own_keys().contains(key) {
            let own = instance_type
                .offerings
                .iter()
                .filter_map(|offering| offering.requirements.get(key.as_str()));
            own.for_each(&mut take);
        }
    }
    result
}
