//! The catalogue of a region, from the embedded facts.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use plimsoll_base::labels;
use plimsoll_ec2_facts::catalogue::{CapacityTypes, Zone};
use plimsoll_ec2_facts::price::ExchangeRate;
use plimsoll_ec2_facts::zone::assumed_zones;
use plimsoll_ec2_facts::{CatalogueSettings, ClassSettings, SpotModel};
use plimsoll_model::Node;
use plimsoll_model::catalogue::Catalogue;

use crate::note::Note;
use crate::section::{CatalogueEntry, ZoneEntry};

/// The region of files that name none.
const DEFAULT_REGION: &str = "us-east-1";
/// Nano-dollars in a dollar.
const NANOS: f64 = 1e9;
/// The largest exchange rate taken for meant.
const MAX_RATE: f64 = 1e6;

/// The catalogue that an entry with a region asks for.
pub(super) fn of_entry(
    region: &str,
    entry: &CatalogueEntry,
    class: &ClassSettings,
) -> Result<Catalogue, String> {
    let mut settings = CatalogueSettings::for_region(region);
    settings.class = class.clone();
    if let Some(zones) = &entry.zones {
        settings.zones = Some(zones.iter().map(zone).collect());
    }
    if let Some(types) = &entry.capacity_types {
        settings.capacity_types = capacity_types(types)?;
    }
    if let Some(spot) = &entry.spot_prices {
        settings.spot_model = SpotModel { seed: spot.seed };
    }
    settings.exchange_rate = entry.exchange_rate.map(exchange_rate).transpose()?;
    built(&settings)
}

/// The entry of a file without one: of the region that most nodes name, else of the default one.
pub(super) fn assumed(nodes: &[Arc<Node>], notes: &mut Vec<Note>) -> CatalogueEntry {
    let mut regions: BTreeMap<&str, usize> = BTreeMap::new();
    for region in nodes.iter().filter_map(|node| node.label(labels::REGION)) {
        *regions.entry(region).or_default() += 1;
    }
    let is_known = |region: &str| {
        let known = plimsoll_ec2_facts::region(region);
        known.is_ok_and(|region| region.check_dollars(None).is_ok())
    };
    let most = regions.into_iter().rev().max_by_key(|(_, count)| *count);
    let most = most.map(|(region, _)| region);
    let of_nodes = most.filter(|region| is_known(region));
    let region = of_nodes.unwrap_or(DEFAULT_REGION);
    notes.push(Note::AssumedRegion {
        region: region.to_owned(),
        from_nodes: of_nodes.is_some(),
        unpriced: most.filter(|region| !is_known(region)).map(str::to_owned),
    });
    let seen = nodes.iter().filter(|_| of_nodes.is_some());
    let seen = seen.filter_map(|node| node.label(labels::ZONE));
    let mut zones: BTreeSet<String> = seen.map(ToString::to_string).collect();
    zones.extend(assumed_zones(region));
    CatalogueEntry {
        region: Some(region.to_owned()),
        zones: Some(zones.into_iter().map(ZoneEntry::Name).collect()),
        ..CatalogueEntry::default()
    }
}

fn built(settings: &CatalogueSettings) -> Result<Catalogue, String> {
    plimsoll_ec2_facts::catalogue(settings).map_err(|error| format!("catalogue: {error}"))
}

fn zone(entry: &ZoneEntry) -> Zone {
    match entry {
        ZoneEntry::Name(name) => Zone {
            name: name.clone(),
            id: None,
        },
        ZoneEntry::WithId { name, id } => Zone {
            name: name.clone(),
            id: Some(id.clone()),
        },
    }
}

fn capacity_types(types: &[String]) -> Result<CapacityTypes, String> {
    let mut terms = (false, false);
    for (at, text) in types.iter().enumerate() {
        match text.as_str() {
            "on-demand" => terms.0 = true,
            "spot" => terms.1 = true,
            other => {
                return Err(format!(
                    "catalogue.capacityTypes[{at}] is \"{other}\"; expected on-demand or spot"
                ));
            }
        }
    }
    match terms {
        (true, true) => Ok(CapacityTypes::OnDemandAndSpot),
        (true, false) => Ok(CapacityTypes::OnDemandOnly),
        (false, true) => Ok(CapacityTypes::SpotOnly),
        (false, false) => {
            Err("catalogue.capacityTypes is empty; expected on-demand, spot or both".to_owned())
        }
    }
}

fn exchange_rate(rate: f64) -> Result<ExchangeRate, String> {
    let is_meant = rate > 0.0 && rate <= MAX_RATE;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the range was checked: above 0 and at most 1e15"
    )]
    let nanos = if is_meant {
        (rate * NANOS).round() as u64
    } else {
        0
    };
    ExchangeRate::from_nano_dollars_per_yuan(nanos).ok_or_else(|| {
        format!("catalogue.exchangeRate is {rate}; expected dollars for one unit, above 0")
    })
}
