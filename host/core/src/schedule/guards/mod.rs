//! Bounds on what cheap packing may do, as far as they shape the packing problem. Every one yields rather than leave a pod
//! without a machine. What becomes of them in a plan is told by [`super::fleet::guarded`].

pub(crate) mod addresses;
pub(crate) mod spot_share;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::batch::compile::Compiled;
use super::offers::best::Best;
use super::offers::size::Size;
use super::offers::table::Guarded;
use super::offers::templates::Template;
use crate::bits::Bits;
use crate::catalogue::CapacityType;
use crate::ids::Uid;
use crate::labels;
use crate::requirement::Requirement;
use crate::resources::ResourceName;
use crate::snapshot::Guards;

/// The rows under some guards.
pub(crate) fn guarded(compiled: &Compiled<'_>, guards: &Guards) -> Arc<Guarded> {
    let table = compiled.rows.table();
    let largest = compiled.shares.largest(guards, &table.sizes);
    let read = || {
        let mut guard_excluded = too_large(compiled, guards);
        guard_excluded.join(&exotic(compiled, guards));
        guard_excluded.join(&unrequested_spot(compiled, guards));
        Arc::new(Guarded {
            guard_excluded,
            best: Best::default(),
        })
    };
    let key = (guards.clone(), largest);
    compiled.answers.guarded.get(key, read)
}

/// Rows that guards keep from being bought while there are others.
pub(crate) fn guard_excluded(compiled: &Compiled<'_>, guards: &Guards) -> Bits {
    guarded(compiled, guards).guard_excluded.clone()
}

/// Rows of machines with too large a share of what their pool's pods request.
pub(crate) fn too_large(compiled: &Compiled<'_>, guards: &Guards) -> Bits {
    let sizes = &compiled.rows.table().sizes;
    let largest = compiled.shares.largest(guards, sizes);
    compiled.rows.select(|row| {
        let sold = &compiled.templates[row.template].catalogue.types()[row.instance_type];
        guards.enabled && !largest[row.template].allows(Size::of(&sold.capacity))
    })
}

/// Rows of burstable, previous-generation and bare-metal machines, unless their pool names what it wants.
pub(crate) fn exotic(compiled: &Compiled<'_>, guards: &Guards) -> Bits {
    let exotic = &compiled.offers.exotic;
    let provider = compiled.snapshot.catalogues.provider();
    let names_types = |asked: &Requirement| provider.names_types(asked);
    let named: Vec<bool> = compiled
        .templates
        .iter()
        .map(|template| template.pool.requirements.iter().any(names_types))
        .collect();
    compiled.rows.select(|row| {
        guards.enabled && !guards.exotic_types && !named[row.template] && exotic[row.instance_type]
    })
}

/// Rows of spot machines, unless their pool says something of capacity types: who says nothing is not interrupted.
pub(crate) fn unrequested_spot(compiled: &Compiled<'_>, guards: &Guards) -> Bits {
    let is_silent = |template: &Template| {
        let mut keys = template.pool.requirements.iter().map(Requirement::key);
        !keys.any(|key| key.as_str() == labels::CAPACITY_TYPE)
    };
    let silent: Vec<bool> = compiled.templates.iter().map(is_silent).collect();
    compiled.rows.select(|row| {
        let types = compiled.templates[row.template].catalogue.types();
        let offering = &types[row.instance_type].offerings[row.offering];
        guards.enabled
            && !guards.unrequested_spot
            && silent[row.template]
            && offering.capacity_type == CapacityType::Spot
    })
}

/// The most pods that may be planned on a new node of a row.
pub(crate) fn most_pods(compiled: &Compiled<'_>, row: usize, guards: &Guards) -> usize {
    if !guards.enabled {
        return usize::MAX;
    }
    let (instance_type, _) = compiled.offering(row);
    let small = instance_type.capacity.get(&ResourceName::Cpu) <= guards.small_node_cpu_milli;
    let most = if small {
        guards.pods_small_node
    } else {
        guards.pods_large_node
    };
    usize::try_from(most).unwrap_or(usize::MAX)
}

/// Room for pods on a node of a row, with the bound on their number; the bound yields to `fullest`, the most pods that
/// must share a host.
pub(crate) fn capacity(
    compiled: &Compiled<'_>,
    row: usize,
    guards: &Guards,
    fullest: usize,
) -> Box<[i64]> {
    let mut result: Box<[i64]> = compiled.rows.capacity(row).into();
    let most = most_pods(compiled, row, guards).max(fullest);
    let most = i64::try_from(most).unwrap_or(i64::MAX);
    for (axis, amount) in result.iter_mut().enumerate() {
        if *compiled.axes.name(axis) == ResourceName::Pods {
            *amount = (*amount).min(most);
        }
    }
    result
}

/// The most replicas of each workload that one new node may get, by owner; workloads with few replicas are not in it.
/// Replicas that run already count among all of them.
pub(crate) fn replicas_per_node(compiled: &Compiled<'_>, guards: &Guards) -> BTreeMap<Uid, u32> {
    let mut replicas: BTreeMap<&Uid, u32> = BTreeMap::new();
    if guards.enabled && guards.replicas_apart_from < u32::MAX {
        let pods = &compiled.snapshot.pods;
        for pod in pods.iter().filter(|pod| pod.is_active() && !pod.is_spare()) {
            if let Some(owner) = &pod.owner {
                *replicas.entry(&owner.uid).or_default() += 1;
            }
        }
    }
    let part = |count: u32| (count / guards.replicas_apart_divisor.max(1)).max(1);
    replicas
        .into_iter()
        .filter(|(_, count)| *count >= guards.replicas_apart_from)
        .map(|(uid, count)| (uid.clone(), part(count)))
        .collect()
}
