//! The catalogue of a file: of a region, or of types one by one; then the prices quoted in the file.

use plimsoll_api::Interner;
use plimsoll_core::catalogue::{Catalogue, PriceSource};
use plimsoll_ec2_facts::AllocatableSettings;

use super::{region, types};
use crate::section::{CatalogueEntry, PriceEntry, capacity_type, price_above_zero};

/// Least likeness of two names for one to be suggested.
const LIKENESS: f64 = 0.85;

/// The catalogue, or a sentence about what makes no sense.
pub(super) fn catalogue(
    entry: &CatalogueEntry,
    quotes: &[PriceEntry],
    class: &AllocatableSettings,
    interner: &mut Interner,
) -> Result<Catalogue, String> {
    quoted(of_entry(entry, class, interner)?, quotes)
}

fn of_entry(
    entry: &CatalogueEntry,
    class: &AllocatableSettings,
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

/// The catalogue with quotes in place of its own prices.
fn quoted(catalogue: Catalogue, quotes: &[PriceEntry]) -> Result<Catalogue, String> {
    if quotes.is_empty() {
        return Ok(catalogue);
    }
    let mut types: Vec<_> = catalogue
        .types()
        .iter()
        .map(|instance_type| instance_type.as_ref().clone())
        .collect();
    for (at, quote) in quotes.iter().enumerate() {
        let path = format!("prices[{at}].");
        let terms = capacity_type(&path, quote.capacity_type.as_deref())?;
        let price = price_above_zero(&format!("{path}price"), quote.price)?;
        let found = types.binary_search_by(|known| known.name.as_str().cmp(&quote.instance_type));
        let Ok(row) = found else {
            return Err(unknown_type(&path, &quote.instance_type, &catalogue));
        };
        let is_meant = |zone: &str| quote.zone.as_deref().is_none_or(|meant| meant == zone);
        let mut is_known = false;
        for offering in &mut types[row].offerings {
            if offering.capacity_type == terms && is_meant(&offering.zone) {
                offering.price = price;
                offering.price_source = PriceSource::Quote;
                offering.price_age_s = quote.age_seconds.unwrap_or(0);
                offering.available = quote.available.unwrap_or(offering.available);
                is_known = true;
            }
        }
        if !is_known {
            let zone = quote.zone.as_deref().unwrap_or("any zone");
            return Err(format!(
                "{path}zone is \"{zone}\"; {} has no {terms} offering there",
                quote.instance_type
            ));
        }
    }
    Ok(Catalogue::new(types, catalogue.own_keys().iter().cloned()))
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
