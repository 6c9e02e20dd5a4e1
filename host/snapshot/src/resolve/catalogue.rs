//! The catalogues of a file: of a region, or of types one by one, as the class of nodes shapes them; then the prices quoted in
//! the file.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use plimsoll_api::Interner;
use plimsoll_base::units::PricePerHour;
use plimsoll_ec2_facts::ClassSettings;
use plimsoll_model::ClassRef;
use plimsoll_model::catalogue::{
    CapacityType, Catalogue, Catalogues, InstanceType, Offering, PriceSource,
};

use super::{region, types};
use crate::section::{CatalogueEntry, ClassEntry, PriceEntry, capacity_type, price_above_zero};

/// Least likeness of two names for one to be suggested.
const LIKENESS: f64 = 0.85;

/// The catalogue of every class, or a sentence about what makes no sense. `classes` are those whose settings are known.
pub(super) fn catalogues(
    entry: &CatalogueEntry,
    quotes: &[PriceEntry],
    classes: &BTreeMap<ClassRef, ClassSettings>,
    interner: &mut Interner,
) -> Result<Catalogues, String> {
    let mut made: Vec<(&ClassSettings, Arc<Catalogue>)> = Vec::new();
    let default = ClassSettings::default();
    let mut by_class: BTreeMap<ClassRef, Arc<Catalogue>> = BTreeMap::new();
    let others = Arc::new(of_entry(entry, &default, interner)?);
    made.push((&default, Arc::clone(&others)));
    for (class, settings) in classes {
        let known = made.iter().find(|(known, _)| *known == settings);
        let own = match known {
            Some((_, known)) => Arc::clone(known),
            None => Arc::new(of_entry(entry, settings, interner)?),
        };
        made.push((settings, Arc::clone(&own)));
        by_class.insert(class.clone(), own);
    }
    let mut written = BTreeSet::new();
    for (at, own) in entry.classes.iter().enumerate() {
        let path = format!("catalogue.classes[{at}]");
        let class = class_of(own, &path)?;
        if !written.insert(class.clone()) {
            return Err(format!(
                "{path}.name is \"{}\", like that of an earlier one; expected every class once",
                class.name
            ));
        }
        let base = by_class.get(&class).unwrap_or(&others);
        let own = types::of_class(&own.instance_types, &path, interner)?;
        let types = base.types().iter().map(|sold| InstanceType::clone(sold));
        // Of two types with one name the later is kept.
        let replaced = base.with_types(types.chain(own));
        by_class.insert(class, Arc::new(replaced));
    }
    quoted(Catalogues::new(others, by_class), quotes)
}

fn class_of(entry: &ClassEntry, path: &str) -> Result<ClassRef, String> {
    if entry.name.is_empty() {
        return Err(format!(
            "{path}.name is missing; expected the name of a node class"
        ));
    }
    Ok(ClassRef {
        group: Arc::from(entry.group.as_str()),
        kind: Arc::from(entry.kind.as_str()),
        name: Arc::from(entry.name.as_str()),
    })
}

fn of_entry(
    entry: &CatalogueEntry,
    class: &ClassSettings,
    interner: &mut Interner,
) -> Result<Catalogue, String> {
    match (&entry.region, &entry.instance_types) {
        (Some(_), Some(_)) => Err(
            "catalogue.instanceTypes stands beside catalogue.region; expected one of the two"
                .to_owned(),
        ),
        (Some(region), None) => region::of_entry(region, entry, class),
        (None, Some(entries)) => types::catalogue(entries, &entry.well_known_labels, interner),
        (None, None) => {
            Err("catalogue names neither region nor instanceTypes; expected one of the two".into())
        }
    }
}

/// A price that was quoted, and the offerings of its type that it is for.
struct Quote<'q> {
    entry: &'q PriceEntry,
    capacity_type: CapacityType,
    price: PricePerHour,
}

impl Quote<'_> {
    fn is_for(&self, offering: &Offering) -> bool {
        let zone = self.entry.zone.as_deref();
        offering.capacity_type == self.capacity_type
            && zone.is_none_or(|zone| zone == offering.zone.as_ref())
    }
}

/// The catalogues with quotes in place of their own prices.
fn quoted(catalogues: Catalogues, quotes: &[PriceEntry]) -> Result<Catalogues, String> {
    if quotes.is_empty() {
        return Ok(catalogues);
    }
    let mut by_type: BTreeMap<&str, Vec<Quote<'_>>> = BTreeMap::new();
    for (at, entry) in quotes.iter().enumerate() {
        let path = format!("prices[{at}].");
        let quote = Quote {
            entry,
            capacity_type: capacity_type(&path, entry.capacity_type.as_deref())?,
            price: price_above_zero(&format!("{path}price"), entry.price)?,
        };
        let name = entry.instance_type.as_str();
        // Every catalogue has all types.
        if catalogues.of_others().get(name).is_none() {
            return Err(unknown_type(&path, name, catalogues.of_others()));
        }
        let sold = catalogues.distinct().iter().filter_map(|own| own.get(name));
        let mut offerings = sold.flat_map(|sold| &sold.offerings);
        if !offerings.any(|offering| quote.is_for(offering)) {
            let zone = entry.zone.as_deref().unwrap_or("any zone");
            let terms = quote.capacity_type;
            return Err(format!(
                "{path}zone is \"{zone}\"; {name} has no {terms} offering there"
            ));
        }
        by_type.entry(name).or_default().push(quote);
    }
    Ok(catalogues.with_types(|sold| {
        let quotes = by_type.get(sold.name.as_str());
        for quote in quotes.into_iter().flatten() {
            let offerings = sold.offerings.iter_mut();
            for offering in offerings.filter(|offering| quote.is_for(offering)) {
                offering.price = quote.price;
                offering.price_source = PriceSource::Quote;
                offering.price_age_s = quote.entry.age_seconds.unwrap_or(0);
                offering.available = quote.entry.available.unwrap_or(offering.available);
            }
        }
    }))
}

fn unknown_type(path: &str, name: &str, catalogue: &Catalogue) -> String {
    let likeness = |known: &str| strsim::jaro_winkler(known, name);
    let names = catalogue.types().iter().map(|known| known.name.as_str());
    let best = names.max_by(|a, b| likeness(a).total_cmp(&likeness(b)));
    let hint = match best.filter(|best| likeness(best) >= LIKENESS) {
        Some(best) => format!("; did you mean {best}?"),
        None => String::new(),
    };
    format!("{path}instanceType is \"{name}\"; expected a type of the catalogue{hint}")
}
