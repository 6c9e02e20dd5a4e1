//! What each row costs: the question for the ranking policy, and its answer carried back to rows.
//!
//! Without a policy a row costs its list price. Either way the node's own cost is added, and nothing is free: the floor is one
//! nano-dollar. A row that the policy vetoes is not bought.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::compile::Compiled;
use super::templates::Template;
use crate::bits::Bits;
use crate::catalog::{CapacityType, InstanceType, Offering};
use crate::labels;
use crate::rank::{
    Architecture, Capacity, Context, InstanceTypeRow, OfferingRow, PoolRow, Pools, PriceQuestion,
    Prices, TablesBuilder,
};
use crate::resources::ResourceName;
use crate::units::PricePerHour;

/// Prices of rows, in nano-dollars per hour.
#[derive(Clone, Debug)]
pub(super) struct RowPrices {
    /// What decides: the policy's price for one more node.
    pub(super) planned: Vec<i64>,
    /// What is reported: the provider's price.
    pub(super) list: Vec<i64>,
    /// Position of each row in the order in which ways to buy are tried: price, list price, type, zone, row.
    pub(super) order: Vec<u32>,
    /// Rows in that order.
    pub(super) ranked: Vec<usize>,
    /// Rows that may be bought.
    pub(super) allowed: Bits,
    /// Cheaper prices of the first nodes: row, price, supply.
    pub(super) first: Vec<(usize, i64, usize)>,
    /// Nodes in each supply.
    pub(super) supplies: Vec<u32>,
    /// Supply of each row that draws on a reservation.
    pub(super) reserved: BTreeMap<usize, usize>,
}

/// The candidates of a question, as rows of the catalogue.
#[derive(Clone, Debug, Default)]
pub(super) struct Slots {
    /// Position among the question's candidates, by template, type and offering.
    pub(super) at: BTreeMap<(usize, usize, usize), usize>,
}

/// Asks what one more node of each offering costs in each pool; `None` when there is nothing to buy.
pub(super) fn question(compiled: &Compiled<'_>) -> Option<(PriceQuestion, Slots)> {
    let snapshot = compiled.snapshot;
    let asked: BTreeSet<Asked> = (0..compiled.rows.len())
        .map(|row| asked_of(compiled, row))
        .collect();
    if asked.is_empty() {
        return None;
    }
    let running = running(compiled);
    let mut tables = TablesBuilder::default();
    let mut numbers: BTreeMap<Asked, u32> = BTreeMap::new();
    let mut last: Option<(usize, u32)> = None;
    for (type_at, offering_at, price) in asked {
        let instance_type = &snapshot.catalogue.types()[type_at];
        let type_row = match last {
            Some((known, row)) if known == type_at => row,
            _ => add_type(&mut tables, instance_type),
        };
        last = Some((type_at, type_row));
        let offering = &instance_type.offerings[offering_at];
        let number = tables
            .offering(&OfferingRow {
                price: price.dollars(),
                ..offering_row(type_row, instance_type, offering, &running)
            })
            .ok()?;
        numbers.insert((type_at, offering_at, price), number);
    }
    let mut pools = Pools::default();
    let mut slots = Slots::default();
    for (number, template) in compiled.templates.iter().enumerate() {
        let own: BTreeSet<Asked> = compiled.rows.of_template[number]
            .iter()
            .map(|row| asked_of(compiled, row))
            .collect();
        let start = pools.cand.len();
        for (position, (type_at, offering_at, _)) in own.iter().enumerate() {
            slots
                .at
                .insert((number, *type_at, *offering_at), start + position);
        }
        let (nodes, cost) = standing(compiled, template);
        let candidates: Vec<u32> = own.iter().map(|key| numbers[key]).collect();
        let row = PoolRow {
            name: tables.symbol(template.pool.name.as_str()),
            weight: template.pool.weight,
            nodes,
            cost,
        };
        pools.push(row, &candidates);
    }
    let context = Context {
        generation: 0,
        now_unix_s: u64::try_from(snapshot.now.millis() / 1000).unwrap_or(0),
        seed: snapshot.seed,
        zones: Vec::new(),
    };
    Some((
        PriceQuestion {
            context,
            tables: Arc::new(tables.finish()),
            pools,
        },
        slots,
    ))
}

/// What a question asks about: type, offering, and the price at which a pool sells it, which overlays may have made its own.
type Asked = (usize, usize, PricePerHour);

fn asked_of(compiled: &Compiled<'_>, at: usize) -> Asked {
    let row = &compiled.rows.rows[at];
    let (_, offering) = compiled.offering(at);
    (row.instance_type, row.offering, offering.price)
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

/// Whether a resource is one of the accelerators that types are described with.
pub(super) fn is_accelerator(name: &ResourceName) -> bool {
    matches!(
        name.as_str(),
        "nvidia.com/gpu" | "amd.com/gpu" | "habana.ai/gaudi" | "aws.amazon.com/neuron"
    )
}

fn offering_row<'a>(
    type_row: u32,
    instance_type: &InstanceType,
    offering: &'a Offering,
    running: &BTreeMap<(String, String, String), u32>,
) -> OfferingRow<'a> {
    let place = (
        instance_type.name.as_str().to_owned(),
        offering.zone.as_ref().to_owned(),
        offering.capacity_type.as_str().to_owned(),
    );
    OfferingRow {
        instance_type: type_row,
        zone: &offering.zone,
        capacity: match offering.capacity_type {
            CapacityType::OnDemand => Capacity::OnDemand,
            CapacityType::Spot => Capacity::Spot,
            CapacityType::Reserved => Capacity::Reserved,
        },
        price: offering.price.dollars(),
        price_age_s: offering.price_age_s,
        interruptions_per_day: offering.interruptions_per_day,
        failures_1h: offering.failures_1h,
        reserved_left: offering
            .reservation
            .as_ref()
            .map_or(0, |reservation| reservation.remaining),
        running: running.get(&place).copied().unwrap_or(0),
    }
}

/// Nodes that run already, by type, zone and terms.
fn running(compiled: &Compiled<'_>) -> BTreeMap<(String, String, String), u32> {
    let mut result = BTreeMap::new();
    for node in compiled
        .snapshot
        .nodes
        .iter()
        .filter(|node| node.is_managed() && !node.is_deleting())
    {
        let value = |key: &str| {
            node.labels()
                .get(key)
                .map_or_else(String::new, |value| value.as_ref().to_owned())
        };
        let place = (
            value(labels::INSTANCE_TYPE),
            value(labels::ZONE),
            value(labels::CAPACITY_TYPE),
        );
        *result.entry(place).or_insert(0) += 1;
    }
    result
}

/// How many nodes a pool has, and what they cost at the prices it buys at.
fn standing(compiled: &Compiled<'_>, template: &Template) -> (u32, f64) {
    let snapshot = compiled.snapshot;
    let own = snapshot.nodes.iter().filter(|node| {
        node.is_managed()
            && !node.is_deleting()
            && node.pool().is_some_and(|name| name == template.pool.name)
    });
    let mut count = 0;
    let mut cost = PricePerHour::ZERO;
    for node in own {
        count += 1;
        let labels = node.labels();
        let offering = labels
            .get(labels::INSTANCE_TYPE)
            .and_then(|name| template.catalogue.get(name))
            .and_then(|found| {
                found.offerings.iter().find(|offering| {
                    labels.get(labels::ZONE) == Some(&offering.zone)
                        && labels
                            .get(labels::CAPACITY_TYPE)
                            .is_some_and(|terms| terms.as_ref() == offering.capacity_type.as_str())
                })
            });
        cost += offering.map_or(PricePerHour::ZERO, |offering| offering.price);
    }
    (count, cost.dollars())
}

/// What a node costs at an offering's price: its own cost is added, and nothing is free.
pub(super) fn whole(compiled: &Compiled<'_>, price: PricePerHour) -> PricePerHour {
    (price + compiled.snapshot.settings.node_cost).max(PricePerHour::from_nanos(1))
}

impl RowPrices {
    /// Prices of rows: the policy's where it has answered, else the list's.
    pub(super) fn new(compiled: &Compiled<'_>, answer: Option<(&Slots, &Prices)>) -> Self {
        let node_cost = compiled.snapshot.settings.node_cost.nanos();
        let rows = compiled.rows.len();
        let mut result = Self {
            planned: vec![0; rows],
            list: vec![0; rows],
            order: vec![0; rows],
            ranked: Vec::new(),
            allowed: Bits::all(rows),
            first: Vec::new(),
            supplies: Vec::new(),
            reserved: BTreeMap::new(),
        };
        let mut reservations: BTreeMap<&str, usize> = BTreeMap::new();
        let mut shared: BTreeMap<u32, usize> = BTreeMap::new();
        for (at, row) in compiled.rows.rows.iter().enumerate() {
            let (_, offering) = compiled.offering(at);
            let list = whole(compiled, offering.price).nanos();
            result.list[at] = list;
            result.planned[at] = list;
            if let Some(reservation) = &offering.reservation {
                let supply = *reservations
                    .entry(reservation.id.as_str())
                    .or_insert_with(|| {
                        result.supplies.push(u32::MAX);
                        result.supplies.len() - 1
                    });
                result.supplies[supply] = result.supplies[supply].min(reservation.remaining);
                result.reserved.insert(at, supply);
            }
            let slot = answer.and_then(|(slots, prices)| {
                prices.rows.get(
                    *slots
                        .at
                        .get(&(row.template, row.instance_type, row.offering))?,
                )
            });
            if let Some(price) = slot {
                result.apply(at, price, node_cost, &mut shared);
            }
        }
        result.ranked = result.launch_order(compiled);
        for (rank, row) in (0_u32..).zip(&result.ranked) {
            result.order[*row] = rank;
        }
        result
    }

    /// Ranks rows; types are in name order in the catalogue and offerings in zone order within a type.
    fn launch_order(&self, compiled: &Compiled<'_>) -> Vec<usize> {
        let mut rows: Vec<usize> = (0..self.planned.len()).collect();
        rows.sort_by_key(|at| {
            let row = &compiled.rows.rows[*at];
            (
                self.planned[*at],
                self.list[*at],
                row.instance_type,
                row.offering,
                *at,
            )
        });
        rows
    }

    /// Whether a row may be bought at all.
    pub(super) fn buyable(&self, row: usize) -> bool {
        let left = self.reserved.get(&row).map(|supply| self.supplies[*supply]);
        self.allowed.contains(row) && left.is_none_or(|left| left > 0)
    }

    fn apply(
        &mut self,
        row: usize,
        price: &crate::rank::Price,
        node_cost: i64,
        shared: &mut BTreeMap<u32, usize>,
    ) {
        let nanos = |quote: &crate::rank::Quote| {
            quote
                .price
                .map(|price| price.nanos().saturating_add(node_cost).max(1))
        };
        let then = nanos(&price.then);
        match then {
            Some(then) => self.planned[row] = then,
            None => self.allowed.remove(row),
        }
        if price.first_count == 0 {
            return;
        }
        let Some(first) = nanos(&price.first).filter(|first| then.is_none_or(|then| *first < then))
        else {
            return;
        };
        let mut supply = || {
            self.supplies.push(price.first_count);
            self.supplies.len() - 1
        };
        let supply = match price.first_group {
            0 => supply(),
            group => *shared.entry(group).or_insert_with(supply),
        };
        self.first.push((row, first, supply));
    }
}
