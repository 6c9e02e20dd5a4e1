//! The catalogues, type by type: that of most classes, and of the others what differs.

use std::collections::BTreeMap;

use plimsoll_api::write::quantity;
use plimsoll_base::labels;
use plimsoll_base::requirement::Requirements;
use plimsoll_base::resources::Resources;
use plimsoll_ec2_facts::provider;
use plimsoll_model::ClassRef;
use plimsoll_model::catalogue::{Catalogues, InstanceType, Offering};

use crate::section::{
    Amount, CatalogueEntry, ClassEntry, LabelValues, OfferingEntry, RequirementEntry,
    ReservationEntry, TypeEntry,
};

/// The catalogues of all classes.
pub(super) fn entry(catalogues: &Catalogues) -> CatalogueEntry {
    let catalogue = catalogues.of_others();
    // What only other classes are sold stands with them.
    let sold = catalogue.types().iter();
    let sold = sold.filter(|known| !known.offerings.is_empty());
    let types = sold.map(|known| instance_type(known));
    CatalogueEntry {
        instance_types: Some(types.collect()),
        classes: catalogues
            .classes()
            .filter_map(|class| of_class(class, catalogues))
            .collect(),
        well_known_labels: catalogue
            .own_keys()
            .iter()
            .map(ToString::to_string)
            .collect(),
        ..CatalogueEntry::default()
    }
}

/// The types of a class that are not as those of the others; `None` where all are.
fn of_class(class: &ClassRef, catalogues: &Catalogues) -> Option<ClassEntry> {
    let own = catalogues.of(class).types().iter();
    let pairs = own.zip(catalogues.of_others().types());
    let differing = pairs.filter(|(own, listed)| own != listed);
    let types: Vec<TypeEntry> = differing.map(|(own, _)| instance_type(own)).collect();
    (!types.is_empty()).then(|| ClassEntry {
        group: class.group.to_string(),
        kind: class.kind.to_string(),
        name: class.name.to_string(),
        instance_types: types,
    })
}

/// One type as a file writes it.
pub fn instance_type(known: &InstanceType) -> TypeEntry {
    let (mut labels, mut requirements) = split(&known.requirements);
    // The reader has these facts.
    for key in provider().keys_of_types() {
        let key = key.as_str();
        match known.requirements.get(key) {
            // Absence of a well-known label is what the reader assumes.
            Some(_) if is_assumed_absent(key, labels.get(key)) => {
                labels.remove(key);
            }
            Some(_) => {}
            None => requirements.push(RequirementEntry {
                key: key.to_owned(),
                operator: "Exists".to_owned(),
                values: Vec::new(),
            }),
        }
    }
    TypeEntry {
        name: known.name.to_string(),
        labels,
        requirements,
        capacity: amounts(&known.capacity),
        overhead: amounts(&known.overhead),
        offerings: known.offerings.iter().map(offering).collect(),
        attach_limits: known
            .attach_limits
            .iter()
            .map(|(driver, limit)| (driver.to_string(), *limit))
            .collect(),
    }
}

fn is_assumed_absent(key: &str, values: Option<&LabelValues>) -> bool {
    let has_default = [labels::INSTANCE_TYPE, labels::ARCH, labels::OS].contains(&key);
    !has_default && matches!(values, Some(LabelValues::Several(values)) if values.is_empty())
}

/// Requirements that list values, and the rest.
fn split(requirements: &Requirements) -> (BTreeMap<String, LabelValues>, Vec<RequirementEntry>) {
    let mut labels = BTreeMap::new();
    let mut rest = Vec::new();
    for requirement in requirements.iter() {
        let key = requirement.key().to_string();
        match (requirement.single(), requirement.listed()) {
            (Some(value), _) => {
                labels.insert(key, LabelValues::One(value.to_string()));
            }
            (None, Some(values)) => {
                let values = values.iter().map(ToString::to_string).collect();
                labels.insert(key, LabelValues::Several(values));
            }
            (None, None) => {
                let one = |(operator, values): (_, Vec<_>)| RequirementEntry {
                    key: key.clone(),
                    operator: format!("{operator:?}"),
                    values: values.iter().map(ToString::to_string).collect(),
                };
                rest.extend(requirement.to_expressions().into_iter().map(one));
            }
        }
    }
    (labels, rest)
}

fn offering(known: &Offering) -> OfferingEntry {
    let (labels, requirements) = split(&known.requirements);
    OfferingEntry {
        zone: known.zone.to_string(),
        capacity_type: Some(known.capacity_type.to_string()),
        price: Some(known.price.dollars()),
        price_source: Some(format!("{:?}", known.price_source)),
        price_age_seconds: Some(known.price_age_s),
        available: Some(known.available),
        labels,
        requirements,
        reservation: known
            .reservation
            .as_ref()
            .map(|reservation| ReservationEntry {
                id: reservation.id.to_string(),
                remaining: reservation.remaining,
            }),
        capacity: amounts(&known.capacity_override),
        overhead: amounts(&known.overhead_override),
        interruptions_per_day: Some(known.interruptions_per_day),
        failures_last_hour: Some(known.failures_1h),
    }
}

/// Amounts as quantities by resource.
pub fn amounts(resources: &Resources) -> BTreeMap<String, Amount> {
    let one = |(name, amount)| {
        (
            ToString::to_string(name),
            Amount::Text(quantity(name, amount)),
        )
    };
    resources.iter().map(one).collect()
}
