//! Bounds on what cheap packing may do, as far as they shape the packing problem. Every one yields rather than leave a pod
//! without an instance. What becomes of them in a plan is told by [`super::fleet::guarded`].

pub(crate) mod addresses;
pub(crate) mod spot_share;
use std::collections::BTreeMap;
use std::sync::Arc;

use plimsoll_base::bits::Bits;
use plimsoll_base::ids::Uid;
use plimsoll_base::labels;
use plimsoll_base::requirement::Requirement;
use plimsoll_base::resources::ResourceName;
use plimsoll_model::catalogue::CapacityType;
use plimsoll_model::snapshot::Guards;

use super::batch::compile::Compiled;
use super::offers::best::Best;
use super::offers::size::{Largest, Size};
use super::offers::table::Guarded;

/// The rows under some guards.
pub(crate) fn guarded(compiled: &Compiled<'_>, guards: &Guards) -> Arc<Guarded> {
    let table = compiled.rows.table();
    let largest = compiled.shares.largest(guards, &table.sizes);
    let read = || {
        let row_guards = RowGuards::of(compiled, guards);
        let rows = 0..compiled.rows.len();
        Arc::new(Guarded {
            guard_excluded: rows.filter(|row| row_guards.exclude(*row)).collect(),
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

/// Verdicts of guards on single rows.
pub(crate) struct RowGuards<'c, 's> {
    compiled: &'c Compiled<'s>,
    guards: &'c Guards,
    /// By template: how large a new node may be.
    largest: Vec<Largest>,
    /// By template: whether its pool names the types that it wants.
    names_types: Vec<bool>,
    /// By template: whether its pool says something of capacity types.
    names_capacity_types: Vec<bool>,
}

impl<'c, 's> RowGuards<'c, 's> {
    /// Reads what pools name.
    pub(crate) fn of(compiled: &'c Compiled<'s>, guards: &'c Guards) -> Self {
        let provider = compiled.snapshot.catalogues.provider();
        let names = |names: &dyn Fn(&Requirement) -> bool| {
            let templates = compiled.templates.iter();
            templates
                .map(|template| template.pool.requirements.iter().any(names))
                .collect()
        };
        Self {
            compiled,
            guards,
            largest: compiled
                .shares
                .largest(guards, &compiled.rows.table().sizes),
            names_types: names(&|asked| provider.names_types(asked)),
            names_capacity_types: names(&|asked| asked.key().as_str() == labels::CAPACITY_TYPE),
        }
    }

    /// `true` if any of them keeps a row from being bought while there are others.
    fn exclude(&self, row: usize) -> bool {
        self.is_too_large(row) || self.is_exotic(row) || self.is_unrequested_spot(row)
    }

    /// `true` for instances with too large a share of what their pool's pods request. Those with accelerators never are: they come in few
    /// sizes, and where cores are scarce beside accelerators only large ones have enough.
    pub(crate) fn is_too_large(&self, row: usize) -> bool {
        let template = self.compiled.rows.rows[row].template;
        let (instance_type, _) = self.compiled.offering(row);
        let allowed = || self.largest[template].allows(Size::of(&instance_type.capacity));
        let provider = self.compiled.snapshot.catalogues.provider();
        self.guards.enabled && !provider.is_accelerated(&instance_type.capacity) && !allowed()
    }

    /// `true` for burstable, previous-generation and bare-metal instances, unless their pool names what it wants.
    pub(crate) fn is_exotic(&self, row: usize) -> bool {
        let row = &self.compiled.rows.rows[row];
        let holds = self.guards.enabled && !self.guards.exotic_types;
        holds && !self.names_types[row.template] && self.compiled.offers.exotic[row.instance_type]
    }

    /// `true` for spot instances, unless their pool says something of capacity types: who says nothing is not interrupted.
    pub(crate) fn is_unrequested_spot(&self, row: usize) -> bool {
        let template = self.compiled.rows.rows[row].template;
        let holds = self.guards.enabled && !self.guards.unrequested_spot;
        holds
            && !self.names_capacity_types[template]
            && self.compiled.offering(row).1.capacity_type == CapacityType::Spot
    }
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
    let owners = compiled.replicas().keys();
    let limit = |uid: &Uid| Some((uid.clone(), replica_limit(compiled, guards, uid)?));
    owners.filter_map(limit).collect()
}

/// The same of one workload; `None` where it has few replicas.
pub(crate) fn replica_limit(compiled: &Compiled<'_>, guards: &Guards, owner: &Uid) -> Option<u32> {
    if !guards.enabled || guards.replicas_apart_from == u32::MAX {
        return None;
    }
    let count = compiled.replicas().get(owner)?;
    let divisor = guards.replicas_apart_divisor.max(1);
    (*count >= guards.replicas_apart_from).then(|| (count / divisor).max(1))
}
