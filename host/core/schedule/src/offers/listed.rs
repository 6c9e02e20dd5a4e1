//! Everything that pools sell, as the tables of a ranking question: listed once for many decisions.
//!
//! A type that classes of nodes have in different sizes is listed once for each size.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use plimsoll_base::labels;
use plimsoll_base::resources::ResourceName;
use plimsoll_base::units::PricePerHour;
use plimsoll_hooks::rank::{
    Architecture, Capacity, InstanceTypeRow, OfferingRow, Sym, Tables, TablesBuilder,
};
use plimsoll_model::catalogue::{CapacityType, Catalogues, InstanceType, Offering};
use plimsoll_model::provider::ProviderFacts;
use plimsoll_model::snapshot::Snapshot;
use plimsoll_model::supply::Supply;

use super::PoolOffers;
use super::templates::Template;

/// An offering in a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct ListedKey {
    /// Position of the type.
    instance_type: usize,
    /// Position of the first catalogue that sells the type as the pool's class does.
    class: usize,
    /// Position among the type's offerings.
    offering: usize,
    /// Price at which a pool sells it, which overlays may have changed.
    price: PricePerHour,
}

impl ListedKey {
    fn of(alike: &[Vec<usize>], template: &Template, offer: (usize, usize)) -> Self {
        let sold = &template.catalogue.types()[offer.0].offerings[offer.1];
        Self {
            instance_type: offer.0,
            class: alike[template.class][offer.0],
            offering: offer.1,
            price: sold.price,
        }
    }
}

/// Everything that can be asked about.
pub(crate) struct Listed {
    /// Offerings that some pool sells, ascending; positions are rows of the tables.
    rows: Vec<ListedKey>,
    /// By catalogue and type, the first catalogue that sells the type so.
    alike: Vec<Vec<usize>>,
    tables: Arc<Tables>,
    /// Names of the pools, by template.
    pools: Vec<Sym>,
}

impl Listed {
    /// Lists what the pools of templates sell; `None` where a type or price is none that a question may hold.
    pub(crate) fn new(
        catalogues: &Catalogues,
        templates: &[Template],
        by_pool: &[Arc<PoolOffers>],
    ) -> Option<Self> {
        let alike = alike(catalogues);
        let mut seen = BTreeSet::new();
        let sold = templates
            .iter()
            .zip(by_pool)
            .filter(|(_, pool_offers)| seen.insert(Arc::as_ptr(pool_offers)))
            .flat_map(|(template, pool_offers)| {
                let offers = pool_offers.offers.iter();
                let alike = &alike;
                offers.map(move |offer| {
                    ListedKey::of(alike, template, (offer.instance_type, offer.offering))
                })
            });
        let mut rows: Vec<ListedKey> = sold.collect();
        rows.sort_unstable();
        rows.dedup();
        let provider = catalogues.provider();
        let mut tables = TablesBuilder::default();
        let mut last: Option<((usize, usize), u32)> = None;
        for row in &rows {
            let instance_type = sold_as(catalogues, row);
            let shown = (row.instance_type, row.class);
            let type_row = match last {
                Some((known, type_row)) if known == shown => type_row,
                _ => add_type(&mut tables, provider, instance_type),
            };
            last = Some((shown, type_row));
            let offering = &instance_type.offerings[row.offering];
            tables
                .offering(&offering_row(type_row, offering, row.price))
                .ok()?;
        }
        let name = |template: &Template| tables.symbol(template.pool.name.as_str());
        let pools = templates.iter().map(name).collect();
        Some(Self {
            rows,
            alike,
            tables: Arc::new(tables.finish()),
            pools,
        })
    }

    /// Where an offering of a template's pool stands in the list: its type, and its position among the type's offerings.
    pub(crate) fn position(&self, template: &Template, offer: (usize, usize)) -> Option<u32> {
        self.find(ListedKey::of(&self.alike, template, offer))
    }

    /// The same at another price, for a pool whose class has catalogue `class`.
    pub(crate) fn position_at(
        &self,
        class: usize,
        (instance_type, offering): (usize, usize),
        price: PricePerHour,
    ) -> Option<u32> {
        self.find(ListedKey {
            instance_type,
            class: *self.alike.get(class)?.get(instance_type)?,
            offering,
            price,
        })
    }

    fn find(&self, key: ListedKey) -> Option<u32> {
        let at = self.rows.binary_search(&key).ok()?;
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
        for (at, row) in self.rows.iter().enumerate() {
            let offering = &sold_as(&snapshot.catalogues, row).offerings[row.offering];
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
        for ((type_at, zone, capacity_type), count) in running {
            let before = |row: &ListedKey| row.instance_type < type_at;
            let first = self.rows.partition_point(before);
            for (at, row) in self.rows.iter().enumerate().skip(first) {
                if row.instance_type != type_at {
                    break;
                }
                let offering = &sold_as(&snapshot.catalogues, row).offerings[row.offering];
                if offering.zone == zone && offering.capacity_type == capacity_type {
                    tables.catalogue.o_running[at] = count;
                }
            }
        }
        Arc::new(tables)
    }
}

/// By catalogue and type, the first catalogue that sells the type just so.
fn alike(catalogues: &Catalogues) -> Vec<Vec<usize>> {
    let types = 0..catalogues.of_others().types().len();
    let numbers = 0..catalogues.distinct().len();
    let of_class = |number| {
        let types = types.clone();
        types.map(|at| catalogues.first_alike(number, at)).collect()
    };
    numbers.map(of_class).collect()
}

/// The type of a row as it is listed.
fn sold_as<'c>(catalogues: &'c Catalogues, row: &ListedKey) -> &'c InstanceType {
    &catalogues.distinct()[row.class].types()[row.instance_type]
}

fn add_type(
    tables: &mut TablesBuilder,
    provider: &ProviderFacts,
    instance_type: &InstanceType,
) -> u32 {
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
        .find(|(name, amount)| provider.accelerators.contains(*name) && *amount > 0);
    tables.instance_type(&InstanceTypeRow {
        name,
        family: provider.family_of(name, &instance_type.requirements),
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

/// Nodes that run already, by position of the type, zone and capacity type.
fn running(snapshot: &Snapshot) -> BTreeMap<(usize, Arc<str>, CapacityType), u32> {
    let types = snapshot.catalogues.of_others().types();
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
            let capacity_type = CapacityType::parse(labels.get(labels::CAPACITY_TYPE)?)?;
            Some((type_at, zone, capacity_type))
        });
        if let Some(place) = place {
            *result.entry(place).or_insert(0) += 1;
        }
    }
    result
}
