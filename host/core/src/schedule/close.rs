//! From a node to buy to a claim: which types it names, in launch order, and what its object says.
//!
//! A claim packed by price names the types within [`PRICE_WINDOW`] of the planned one's price, more where minimum values or
//! spot flexibility ask for it, at most [`MOST_LAUNCHED`]; a claim packed as the incumbent does names every type that holds
//! it, at most [`MOST_NAMED`]. All named offerings can hold all of its pods where topology has put them.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::axes::fits;
use super::compile::Compiled;
use super::limits::{capacity, distinct_values};
use super::place::Step;
use super::prices::RowPrices;
use crate::bits::Bits;
use crate::catalog::CapacityType;
use crate::labels::{self, LabelKey};
use crate::plan::{LaunchOption, PlannedClaim};
use crate::requirement::{Requirement, Requirements};
use crate::resources::Resources;
use crate::units::PricePerHour;

/// Named types cost at most this share of the planned one's price, in percent.
const PRICE_WINDOW: i64 = 115;
/// Types handed to a launch.
const MOST_LAUNCHED: usize = 60;
/// Types written to a claim.
const MOST_NAMED: usize = 600;

/// A node about to become a claim.
#[derive(Clone, Debug)]
pub(super) struct Node {
    /// The row the plan counts on.
    pub(super) row: usize,
    /// Price of that row, in nano-dollars per hour; that of a supply where it draws on one.
    pub(super) price: i64,
    /// What it may become.
    pub(super) rows: Bits,
    /// What its pods ask for.
    pub(super) used: Box<[i64]>,
    /// Steps that put pods on it, ascending.
    pub(super) steps: Vec<usize>,
    /// Whether it is packed as the incumbent does.
    pub(super) compatible: bool,
}

/// The first row in launch order that may be bought and holds `used`.
pub(super) fn cheapest(
    compiled: &Compiled<'_>,
    prices: &RowPrices,
    rows: &Bits,
    used: &[i64],
) -> Option<usize> {
    let holds = |row: &usize| fits(used, compiled.rows.capacity(*row)) && prices.buyable(*row);
    rows.iter()
        .filter(holds)
        .min_by_key(|row| prices.order[*row])
}

/// Turns a node into a claim. `steps` are those of the whole placement.
pub(super) fn close(
    compiled: &Compiled<'_>,
    prices: &RowPrices,
    node: &Node,
    steps: &[Step],
) -> PlannedClaim {
    let holds = |row: &usize| {
        *row != node.row && fits(&node.used, compiled.rows.capacity(*row)) && prices.buyable(*row)
    };
    let mut rows: Vec<usize> = node.rows.iter().filter(holds).collect();
    keep_alike(compiled, prices, &mut rows, node.row);
    rows.sort_unstable_by_key(|row| prices.order[*row]);
    rows.insert(0, node.row);
    let named = named_rows(compiled, prices, &rows, node.price, node.compatible);
    let price = |row: usize| {
        if row == node.row {
            node.price
        } else {
            prices.planned[row]
        }
    };
    let options: Vec<LaunchOption> = named
        .iter()
        .map(|row| option(compiled, prices, *row, price(*row)))
        .collect();
    let steps: Vec<&Step> = node.steps.iter().map(|step| &steps[*step]).collect();
    claim(compiled, node.row, &named, options, &steps)
}

/// Keeps the rows that one claim can name beside the chosen one: of its pool and label state; drawing on the same
/// reservation, or on none; and, where limits bind, not larger.
fn keep_alike(compiled: &Compiled<'_>, prices: &RowPrices, rows: &mut Vec<usize>, chosen: usize) {
    let model = &compiled.rows.rows[chosen];
    let limits = compiled.templates[model.template].remaining.as_ref();
    let most = limits.map(|_| capacity(compiled, chosen));
    rows.retain(|row| {
        let other = &compiled.rows.rows[*row];
        let within = limits.zip(most.as_ref()).is_none_or(|(limits, most)| {
            let one = capacity(compiled, *row);
            limits
                .iter()
                .all(|(name, _)| one.get(name) <= most.get(name))
        });
        other.template == model.template
            && other.state == model.state
            && prices.reserved.get(row) == prices.reserved.get(&chosen)
            && within
    });
}

/// The rows that the claim names, best first.
fn named_rows(
    compiled: &Compiled<'_>,
    prices: &RowPrices,
    rows: &[usize],
    planned: i64,
    compatible: bool,
) -> Vec<usize> {
    let most = if compatible {
        MOST_NAMED
    } else {
        MOST_LAUNCHED
    };
    let chosen = rows[0];
    let guards = &compiled.snapshot.settings.guards;
    let template = &compiled.templates[compiled.rows.rows[chosen].template];
    let spot = terms(compiled, chosen) == CapacityType::Spot;
    let wanted_spot = if guards.enabled && spot {
        guards.spot_types as usize
    } else {
        1
    };
    let minimum: Vec<(&str, usize)> = template
        .requirements
        .iter()
        .filter_map(|requirement| {
            Some((
                requirement.key().as_str(),
                requirement.min_values()? as usize,
            ))
        })
        .collect();
    let mut types: BTreeSet<usize> = BTreeSet::new();
    let mut named = Vec::new();
    for row in rows {
        let instance_type = compiled.rows.rows[*row].instance_type;
        let near = prices.planned[*row].saturating_mul(100) <= planned.saturating_mul(PRICE_WINDOW);
        let spot_short = types.len() < wanted_spot && terms(compiled, *row) == CapacityType::Spot;
        let few_values = || {
            let achieved = distinct_values(compiled, &types);
            minimum.iter().any(|(key, wanted)| achieved(key) < *wanted)
        };
        let known = types.contains(&instance_type);
        if !(compatible || near || spot_short || (!minimum.is_empty() && few_values())) {
            continue;
        }
        if known || types.len() < most {
            types.insert(instance_type);
            named.push(*row);
        }
    }
    named
}

fn terms(compiled: &Compiled<'_>, row: usize) -> CapacityType {
    compiled
        .rows
        .offering(compiled.snapshot, row)
        .1
        .capacity_type
}

fn option(compiled: &Compiled<'_>, prices: &RowPrices, row: usize, price: i64) -> LaunchOption {
    let (instance_type, offering) = compiled.rows.offering(compiled.snapshot, row);
    LaunchOption {
        instance_type: instance_type.name.clone(),
        zone: Arc::clone(&offering.zone),
        capacity_type: offering.capacity_type,
        reservation: offering
            .reservation
            .as_ref()
            .map(|reservation| reservation.id.clone()),
        price: PricePerHour::from_nanos(price),
        list_price: PricePerHour::from_nanos(prices.list[row]),
    }
}

fn claim(
    compiled: &Compiled<'_>,
    chosen: usize,
    named: &[usize],
    options: Vec<LaunchOption>,
    steps: &[&Step],
) -> PlannedClaim {
    let row = &compiled.rows.rows[chosen];
    let template = &compiled.templates[row.template];
    let pool = &template.pool;
    let mut requirements = template.requirements.intersect(&template.states[row.state]);
    let mut requests = Resources::new();
    for step in steps {
        let group = &compiled.groups[compiled.pods[step.pod].group];
        requirements.add_all(&group.levels[step.level].requirements);
        requests.add(&group.spec.requests);
    }
    requests.add(&least_overhead(compiled, named));
    let labels = custom_labels(compiled, template, &requirements);
    for key in [labels::REGISTERED, labels::INITIALIZED, labels::HOSTNAME] {
        requirements.remove(key);
    }
    narrow_to_options(&mut requirements, &options);
    let mut annotations = pool.annotations.clone();
    if let Some((hash, version)) = &pool.hash {
        annotations.insert("karpenter.sh/nodepool-hash".into(), Arc::clone(hash));
        annotations.insert(
            "karpenter.sh/nodepool-hash-version".into(),
            Arc::clone(version),
        );
    }
    PlannedClaim {
        pool: pool.name.clone(),
        class: pool.class.clone(),
        labels,
        annotations,
        taints: pool.taints.clone(),
        startup_taints: pool.startup_taints.clone(),
        expire_after: pool.expire_after,
        termination_grace: pool.termination_grace,
        requirements,
        requests,
        options,
    }
}

/// The least that daemons of any named type take, per resource that all of them take.
fn least_overhead(compiled: &Compiled<'_>, named: &[usize]) -> Resources {
    let overheads = named
        .iter()
        .map(|row| compiled.rows.rows[*row].overhead.requests.clone());
    overheads
        .reduce(|left, right| left.smaller(&right))
        .unwrap_or_default()
}

/// The pool's labels, its name and class, and one value for every custom label that is required.
fn custom_labels(
    compiled: &Compiled<'_>,
    template: &super::templates::Template,
    requirements: &Requirements,
) -> labels::Labels {
    let pool = &template.pool;
    let mut result = pool.labels.clone();
    result.insert(Arc::from(labels::NODEPOOL), pool.name.clone().into());
    result.insert(
        Arc::from(pool.class.label_key()),
        Arc::clone(&pool.class.name),
    );
    for requirement in requirements.iter() {
        let key = requirement.key();
        let internal =
            [labels::REGISTERED, labels::INITIALIZED, labels::HOSTNAME].contains(&key.as_str());
        if internal
            || compiled.snapshot.catalogue.is_well_known(key)
            || result.contains_key(key.as_str())
        {
            continue;
        }
        if let Some(value) = requirement.any() {
            result.insert(Arc::from(key.as_str()), value);
        }
    }
    result
}

/// Writes types, terms, zones and reservations of the options into the requirements.
fn narrow_to_options(requirements: &mut Requirements, options: &[LaunchOption]) {
    let mut set = |key: &str, values: BTreeSet<Arc<str>>| {
        let key = LabelKey::from(key);
        let minimum = requirements
            .get(key.as_str())
            .and_then(Requirement::min_values);
        requirements.replace(Requirement::one_of(key, values).with_min_values(minimum));
    };
    set(
        labels::INSTANCE_TYPE,
        options
            .iter()
            .map(|option| option.instance_type.clone().into())
            .collect(),
    );
    set(
        labels::CAPACITY_TYPE,
        options
            .iter()
            .map(|option| Arc::from(option.capacity_type.as_str()))
            .collect(),
    );
    set(
        labels::ZONE,
        options
            .iter()
            .map(|option| Arc::clone(&option.zone))
            .collect(),
    );
    let reservations: BTreeSet<Arc<str>> = options
        .iter()
        .filter_map(|option| option.reservation.clone().map(Into::into))
        .collect();
    if !reservations.is_empty() {
        set(labels::RESERVATION_ID, reservations);
    }
}
