//! Everything that pools sell, as the tables of a ranking question: listed once for many decisions.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::PoolOffers;
use super::templates::Template;
use crate::catalogue::{CapacityType, InstanceType, Offering};
use crate::labels;
use crate::rank::{
    Architecture, Capacity, InstanceTypeRow, OfferingRow, Sym, Tables, TablesBuilder,
};
use crate::resources::ResourceName;
use crate::snapshot::Snapshot;
use crate::supply::Supply;
use crate::units::PricePerHour;

/// Key of an offering in a question: type, offering, and the price at which a pool sells it, which overlays may have changed.
pub(crate) type ListedKey = (usize, usize, PricePerHour);

/// Everything that can be asked about.
pub(crate) struct Listed {
    /// Offerings that some pool sells, ascending; positions are rows of the tables.
    rows: Vec<ListedKey>,
    tables: Arc<Tables>,
    /// Names of the pools, by template.
    pools: Vec<Sym>,
}

impl Listed {
    /// Lists what the shelves of templates hold; `None` where a type or price is none that a question may hold.
    pub(crate) fn new(
        types: &[Arc<InstanceType>],
        templates: &[Template],
        shelves: &[PoolOffers],
    ) -> Option<Self> {
        let sold = templates.iter().zip(shelves).flat_map(|(template, shelf)| {
            let offers = shelf.offers.iter();
            offers.map(|offer| asked(template, offer.instance_type, offer.offering))
        });
        let mut rows: Vec<ListedKey> = sold.collect();
        rows.sort_unstable();
        rows.dedup();
        let mut tables = TablesBuilder::default();
        let mut last: Option<(usize, u32)> = None;
        for (type_at, offering_at, price) in &rows {
            let instance_type = &types[*type_at];
            let type_row = match last {
                Some((known, row)) if known == *type_at => row,
                _ => add_type(&mut tables, instance_type),
            };
            last = Some((*type_at, type_row));
            let offering = &instance_type.offerings[*offering_at];
            tables
                .offering(&offering_row(type_row, offering, *price))
                .ok()?;
        }
        let name = |template: &Template| tables.symbol(template.pool.name.as_str());
        let pools = templates.iter().map(name).collect();
        Some(Self {
            rows,
            tables: Arc::new(tables.finish()),
            pools,
        })
    }

    /// Where something stands in the list.
    pub(crate) fn position(&self, asked: ListedKey) -> Option<u32> {
        let at = self.rows.binary_search(&asked).ok()?;
        Some(u32::try_from(at).expect("a catalogue has fewer than 2^32 rows"))
    }

    /// The name of a template's pool.
    pub(crate) fn pool(&self, template: usize) -> Sym {
        self.pools[template]
    }

    fn set_reserved_left(&self, tables: &mut Tables, snapshot: &Snapshot, supply: &Supply) {
        if supply.reservations().is_empty() {
            return;
        }
        let types = snapshot.catalogue.types();
        for (at, (type_at, offering_at, _)) in self.rows.iter().enumerate() {
            let offering = &types[*type_at].offerings[*offering_at];
            if let Some(reservation) = &offering.reservation {
                tables.catalogue.o_reserved_left[at] = supply.reservation_left(&reservation.id);
            }
        }
    }

    /// The tables, with the nodes that run already, and with what is left of reservations.
    pub(crate) fn tables(&self, snapshot: &Snapshot, supply: &Supply) -> Arc<Tables> {
        let running = running(snapshot);
        if running.is_empty() && supply.reservations().is_empty() {
            return Arc::clone(&self.tables);
        }
        let mut tables = Tables::clone(&self.tables);
        self.set_reserved_left(&mut tables, snapshot, supply);
        for ((type_at, zone, terms), count) in running {
            let first = self.rows.partition_point(|row| row.0 < type_at);
            let offerings = &snapshot.catalogue.types()[type_at].offerings;
            for (at, row) in self.rows.iter().enumerate().skip(first) {
                if row.0 != type_at {
                    break;
                }
                let offering = &offerings[row.1];
                if offering.zone == zone && offering.capacity_type == terms {
                    tables.catalogue.o_running[at] = count;
                }
            }
        }
        Arc::new(tables)
    }
}

/// Key under which an offering of a pool is asked about.
pub(crate) fn asked(template: &Template, type_at: usize, offering_at: usize) -> ListedKey {
    let offering = &template.catalogue.types()[type_at].offerings[offering_at];
    (type_at, offering_at, offering.price)
}

fn add_type(tables: &mut TablesBuilder, instance_type: &InstanceType) -> u32 {
    let single = |key: &str| {
        instance_type
            .requirements
            .get(key)
            .and_then(|requirement| requirement.single())
            .map_or("", AsRef::as_ref)
    };
    let labels: Vec<(&str, &str)> = instance_type
        .requirements
        .iter()
        .filter_map(|requirement| {
            Some((requirement.key().as_str(), requirement.single()?.as_ref()))
        })
        .collect();
    let name = instance_type.name.as_str();
    let amount = |resource: &ResourceName| {
        u32::try_from(instance_type.capacity.get(resource)).unwrap_or(u32::MAX)
    };
    let memory = instance_type.capacity.get(&ResourceName::Memory) >> 20;
    let device = instance_type
        .capacity
        .iter()
        .find(|(name, amount)| is_accelerator(name) && *amount > 0);
    tables.instance_type(&InstanceTypeRow {
        name,
        family: name.split_once('.').map_or(name, |(family, _)| family),
        architecture: if single(labels::ARCH) == "arm64" {
            Architecture::Arm64
        } else {
            Architecture::Amd64
        },
        cpu_milli: amount(&ResourceName::Cpu),
        memory_mib: u32::try_from(memory).unwrap_or(u32::MAX),
        pods: amount(&ResourceName::Pods),
        gpus: device.map_or(0, |(_, amount)| u32::try_from(amount).unwrap_or(u32::MAX)),
        gpu_kind: device.map_or("", |(name, _)| name.as_str()),
        labels: &labels,
    })
}

/// `true` if a resource is one of the accelerators that types are described with.
pub(crate) fn is_accelerator(name: &ResourceName) -> bool {
    matches!(
        name.as_str(),
        "nvidia.com/gpu" | "amd.com/gpu" | "habana.ai/gaudi" | "aws.amazon.com/neuron"
    )
}

fn offering_row(type_row: u32, offering: &Offering, price: PricePerHour) -> OfferingRow<'_> {
    let reservation = offering.reservation.as_ref();
    OfferingRow {
        instance_type: type_row,
        zone: &offering.zone,
        capacity: match offering.capacity_type {
            CapacityType::OnDemand => Capacity::OnDemand,
            CapacityType::Spot => Capacity::Spot,
            CapacityType::Reserved => Capacity::Reserved,
        },
        price: price.dollars(),
        price_age_s: offering.price_age_s,
        interruptions_per_day: offering.interruptions_per_day,
        failures_1h: offering.failures_1h,
        reserved_left: reservation.map_or(0, |reservation| reservation.remaining),
        running: 0,
    }
}

/// Nodes that run already, by type in the catalogue, zone and terms.
fn running(snapshot: &Snapshot) -> BTreeMap<(usize, Arc<str>, CapacityType), u32> {
    let types = snapshot.catalogue.types();
    let mut result = BTreeMap::new();
    for node in &snapshot.nodes {
        if !node.is_managed() || node.is_deleting() {
            continue;
        }
        let labels = node.labels();
        let place = labels.get(labels::INSTANCE_TYPE).and_then(|name| {
            let type_at = types
                .binary_search_by(|have| have.name.as_str().cmp(name))
                .ok()?;
            let zone = Arc::clone(labels.get(labels::ZONE)?);
            let terms = CapacityType::parse(labels.get(labels::CAPACITY_TYPE)?)?;
            Some((type_at, zone, terms))
        });
        if let Some(place) = place {
            *result.entry(place).or_insert(0) += 1;
        }
    }
    result
}
