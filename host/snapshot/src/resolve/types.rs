//! Instance types written one by one.

use std::collections::{BTreeMap, BTreeSet};

use plimsoll_api::Interner;
use plimsoll_base::ids::{ReservationId, TypeName};
use plimsoll_base::labels::{self, LabelKey};
use plimsoll_base::requirement::{Operator, Requirement, Requirements};
use plimsoll_base::resources::{ResourceName, Resources};
use plimsoll_base::units::PricePerHour;
use plimsoll_ec2_facts::provider;
use plimsoll_model::catalogue::{
    CapacityType, Catalogue, InstanceType, Offering, PriceSource, Reservation,
};

use crate::section::{
    Amount, LabelValues, OfferingEntry, RequirementEntry, TypeEntry, price_above_zero,
};

/// Pods that a node holds when nothing is said.
const DEFAULT_PODS: i64 = 110;

/// The catalogue of these types.
pub(super) fn catalogue(
    entries: &[TypeEntry],
    well_known: &[String],
    interner: &mut Interner,
) -> Result<Catalogue, String> {
    let types = read(entries, "catalogue", interner)?;
    if let Some(at) = types.iter().position(|sold| sold.offerings.is_empty()) {
        let name = &types[at].name;
        return Err(format!(
            "catalogue.instanceTypes[{at}] {name}: offerings is empty; expected at least one zone"
        ));
    }
    let well_known = well_known.iter().map(|key| LabelKey::from(key.as_str()));
    Ok(Catalogue::new(provider(), types, well_known))
}

/// The types that nodes of one class are; one without offerings is not sold to it. `path` leads to them.
pub(super) fn of_class(
    entries: &[TypeEntry],
    path: &str,
    interner: &mut Interner,
) -> Result<Vec<InstanceType>, String> {
    read(entries, path, interner)
}

fn read(
    entries: &[TypeEntry],
    path: &str,
    interner: &mut Interner,
) -> Result<Vec<InstanceType>, String> {
    let mut names = BTreeSet::new();
    let mut types = Vec::with_capacity(entries.len());
    for (at, entry) in entries.iter().enumerate() {
        let own = format!("{path}.instanceTypes[{at}] {}: ", entry.name);
        if entry.name.is_empty() {
            return Err(format!(
                "{path}.instanceTypes[{at}].name is missing; expected the name of the type"
            ));
        }
        if !names.insert(entry.name.as_str()) {
            return Err(format!("{own}name is given twice; expected each name once"));
        }
        let made = instance_type(entry, interner).map_err(|sentence| own + &sentence)?;
        types.push(made);
    }
    Ok(types)
}

fn instance_type(entry: &TypeEntry, interner: &mut Interner) -> Result<InstanceType, String> {
    let mut capacity = amounts("capacity", &entry.capacity, interner)?;
    for needed in [ResourceName::Cpu, ResourceName::Memory] {
        if capacity.get(&needed) == 0 {
            return Err(format!(
                "capacity.{needed} is missing or 0; expected an amount"
            ));
        }
    }
    if !capacity.contains(&ResourceName::Pods) {
        capacity.set(ResourceName::Pods, DEFAULT_PODS);
    }
    let one = |(at, entry): (usize, &OfferingEntry)| {
        offering(entry, interner).map_err(|sentence| format!("offerings[{at}].{sentence}"))
    };
    let mut offerings = entry
        .offerings
        .iter()
        .enumerate()
        .map(one)
        .collect::<Result<Vec<_>, String>>()?;
    offerings.sort_by(|a, b| order(a).cmp(&order(b)));
    let twice = |pair: &&[Offering]| order(&pair[0]) == order(&pair[1]);
    if let Some(
        [
            Offering {
                zone,
                capacity_type,
                ..
            },
            ..,
        ],
    ) = offerings.windows(2).find(twice)
    {
        return Err(format!(
            "offerings has {capacity_type} in {zone} twice; expected it once"
        ));
    }
    Ok(InstanceType {
        name: TypeName::from(entry.name.as_str()),
        requirements: requirements_of_type(entry, interner)?,
        capacity,
        overhead: amounts("overhead", &entry.overhead, interner)?,
        offerings,
        attach_limits: entry
            .attach_limits
            .iter()
            .map(|(driver, limit)| (interner.text(driver), *limit))
            .collect(),
    })
}

fn order(offering: &Offering) -> (&str, CapacityType, &Option<Reservation>) {
    (
        &offering.zone,
        offering.capacity_type,
        &offering.reservation,
    )
}

fn requirements_of_type(
    entry: &TypeEntry,
    interner: &mut Interner,
) -> Result<Requirements, String> {
    let mut result = requirements(&entry.labels, &entry.requirements, interner)?;
    let mut default = |key: &str, value: &str| {
        if result.get(key).is_none() {
            result.add(Requirement::one_of(LabelKey::from(key), [value]));
        }
    };
    default(labels::INSTANCE_TYPE, &entry.name);
    default(labels::ARCH, "amd64");
    default(labels::OS, "linux");
    for key in provider().keys_of_types() {
        if result.get(key.as_str()).is_none() {
            result.add(Requirement::does_not_exist(key));
        }
    }
    for expression in &entry.requirements {
        // Said to be open: neither a value nor absence follows from the type.
        if expression.operator == "Exists" {
            result.remove(LabelKey::from(expression.key.as_str()).as_str());
        }
    }
    Ok(result)
}

fn requirements(
    labels: &BTreeMap<String, LabelValues>,
    expressions: &[RequirementEntry],
    interner: &mut Interner,
) -> Result<Requirements, String> {
    let mut result = Requirements::new();
    for (key, values) in labels {
        let values = match values {
            LabelValues::One(value) => std::slice::from_ref(value),
            LabelValues::Several(values) => values,
        };
        let values = values.iter().map(|value| interner.text(value));
        result.add(Requirement::one_of(LabelKey::from(key.as_str()), values));
    }
    for (at, entry) in expressions.iter().enumerate() {
        let operator = Operator::parse(&entry.operator).ok_or_else(|| {
            format!(
                "requirements[{at}].operator is \"{}\"; expected In, NotIn, Exists, DoesNotExist, Gt, Lt, Gte or Lte",
                entry.operator
            )
        })?;
        let values: Vec<_> = entry
            .values
            .iter()
            .map(|value| interner.text(value))
            .collect();
        let made = Requirement::new(LabelKey::from(entry.key.as_str()), operator, &values);
        result.add(made.map_err(|error| format!("requirements[{at}]: {error}"))?);
    }
    Ok(result)
}

fn offering(entry: &OfferingEntry, interner: &mut Interner) -> Result<Offering, String> {
    if entry.zone.is_empty() {
        return Err("zone is missing; expected the name of a zone".to_owned());
    }
    let terms = entry
        .capacity_type
        .as_deref()
        .unwrap_or(CapacityType::OnDemand.as_str());
    let capacity_type = CapacityType::parse(terms).ok_or_else(|| {
        format!("capacityType is \"{terms}\"; expected on-demand, spot or reserved")
    })?;
    let is_reserved = capacity_type == CapacityType::Reserved;
    if is_reserved != entry.reservation.is_some() {
        return Err(format!(
            "reservation is {}; expected one with capacityType reserved and no other",
            if is_reserved { "missing" } else { "given" }
        ));
    }
    let price = match entry.price {
        Some(0.0) if is_reserved => PricePerHour::ZERO,
        price => price_above_zero("price", price)?,
    };
    let interruptions = entry.interruptions_per_day.unwrap_or(0.0);
    if !(interruptions.is_finite() && interruptions >= 0.0) {
        return Err(format!(
            "interruptionsPerDay is {interruptions}; expected a number of at least 0"
        ));
    }
    let mut made = Offering::new(interner.text(&entry.zone), capacity_type, price);
    made.price_source = price_source(entry.price_source.as_deref())?;
    made.price_age_s = entry.price_age_seconds.unwrap_or(0);
    made.available = entry.available.unwrap_or(true);
    made.requirements = requirements(&entry.labels, &entry.requirements, interner)?;
    made.reservation = entry.reservation.as_ref().map(|reservation| Reservation {
        id: ReservationId::from(reservation.id.as_str()),
        remaining: reservation.remaining,
    });
    made.capacity_override = amounts("capacity", &entry.capacity, interner)?;
    made.overhead_override = amounts("overhead", &entry.overhead, interner)?;
    made.interruptions_per_day = interruptions;
    made.failures_1h = entry.failures_last_hour.unwrap_or(0);
    Ok(made)
}

fn price_source(text: Option<&str>) -> Result<PriceSource, String> {
    match text {
        None | Some("List") => Ok(PriceSource::List),
        Some("Quote") => Ok(PriceSource::Quote),
        Some("Model") => Ok(PriceSource::Model),
        Some(other) => Err(format!(
            "priceSource is \"{other}\"; expected List, Quote or Model"
        )),
    }
}

fn amounts(
    path: &str,
    written: &BTreeMap<String, Amount>,
    interner: &mut Interner,
) -> Result<Resources, String> {
    let one = |(name, amount): (&String, &Amount)| {
        let resource = interner.resource(name);
        let amount = resource
            .parse_amount(&amount.to_text())
            .map_err(|error| format!("{path}.{name} {error}"))?;
        Ok((resource, amount))
    };
    written.iter().map(one).collect()
}
