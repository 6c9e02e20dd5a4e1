//! Pools that may buy nodes now, as templates of those nodes.
//!
//! A pool is used when it is ready, not static and not being deleted. Heavier pools come first; among equals, later names
//! first, as upstream. The position in this order is the template's number everywhere else.

use std::collections::BTreeSet;
use std::sync::Arc;

use plimsoll_base::labels::LabelKey;
use plimsoll_base::requirement::{Operator, Requirement, Requirements, Undefined};
use plimsoll_base::resources::Resources;
use plimsoll_model::catalogue::{Catalogue, Overlaid};
use plimsoll_model::snapshot::Snapshot;
use plimsoll_model::supply::Supply;
use plimsoll_model::{Effect, NodePool, PackingMode, Taint};

/// Label states kept per template; beyond them pods of different custom labels no longer share nodes.
const MAX_STATES: usize = 48;

/// A pool's new nodes before pods narrow them.
#[derive(Clone, Debug)]
pub(crate) struct Template {
    /// The pool.
    pub(crate) pool: Arc<NodePool>,
    /// Requirements that its nodes satisfy.
    pub(crate) requirements: Requirements,
    /// Resources that its limits leave; `None` without limits.
    pub(crate) remaining: Option<Resources>,
    /// Its catalogue: that of its class with the pool's own prices and capacities, row for row.
    pub(crate) catalogue: Arc<Catalogue>,
    /// Position of its class's among the snapshot's catalogues.
    pub(crate) class: usize,
    /// How its new nodes are packed.
    pub(crate) packing: PackingMode,
    /// Keys on which pods may choose.
    pub(crate) open: BTreeSet<LabelKey>,
    /// Choices of labels that neither pool nor type decides: `[nothing chosen]` and every combination that pods ask for.
    pub(crate) states: Vec<Requirements>,
}

/// The usable pools of a snapshot, in the order in which they are tried. Limits are those of `supply`; without one nothing is
/// limited.
pub(crate) fn templates(
    snapshot: &Snapshot,
    overlaid: &Overlaid,
    supply: Option<&Supply>,
) -> Vec<Template> {
    let usable = |pool: &&Arc<NodePool>| {
        pool.ready
            && pool.replicas.is_none()
            && pool.deleting.is_none()
            && snapshot.catalogues.serves(&pool.class)
    };
    let mut pools: Vec<Arc<NodePool>> = snapshot.pools.iter().filter(usable).cloned().collect();
    pools.sort_by(|a, b| (b.weight, &b.name).cmp(&(a.weight, &a.name)));
    let template = |pool: Arc<NodePool>| Template {
        requirements: pool.node_requirements(),
        remaining: supply.and_then(|supply| supply.limits_left(&pool.name).cloned()),
        catalogue: Arc::clone(overlaid.of(&pool.name)),
        class: snapshot.catalogues.number_of(&pool.class),
        packing: snapshot.settings.packing.unwrap_or(pool.packing),
        open: BTreeSet::new(),
        states: vec![Requirements::new()],
        pool,
    };
    pools.into_iter().map(template).collect()
}

impl Template {
    /// Taints that a pod must tolerate.
    pub(crate) fn taints(&self) -> &[Taint] {
        &self.pool.taints
    }

    /// `true` if a taint only prefers to keep pods away.
    pub(crate) fn has_soft_taint(&self) -> bool {
        self.pool
            .taints
            .iter()
            .any(|taint| taint.effect == Effect::PreferNoSchedule)
    }

    /// `true` if pods may share nodes that this decision has opened for others, as Karpenter does.
    pub(crate) fn is_compatible(&self) -> bool {
        self.packing == PackingMode::Compatible
    }

    /// `true` if a requirement asks for a minimum of values to choose from.
    pub(crate) fn has_minimum_values(&self) -> bool {
        self.requirements
            .iter()
            .any(|requirement| requirement.min_values().is_some())
    }

    /// Learns the choices of open labels that pods ask for: each pod's own, and those that two or more can share.
    pub(crate) fn learn_states(&mut self, open: BTreeSet<LabelKey>, asked: &[Requirements]) {
        self.open = open;
        let mut states: BTreeSet<Requirements> = BTreeSet::new();
        for requirements in asked {
            let own: Requirements = requirements
                .iter()
                .filter(|requirement| self.open.contains(requirement.key()))
                .cloned()
                .collect();
            if !own.is_empty() && self.admits(&own) {
                states.insert(own);
            }
        }
        let own: Vec<Requirements> = states.iter().cloned().collect();
        let mut frontier = own.clone();
        while states.len() < MAX_STATES && !frontier.is_empty() {
            let mut next = Vec::new();
            for left in &frontier {
                let agrees =
                    |right: &&Requirements| left.accepts(right, Undefined::Ignored).is_ok();
                for right in own.iter().filter(agrees) {
                    let both = left.intersect(right);
                    if states.len() < MAX_STATES
                        && self.admits(&both)
                        && states.insert(both.clone())
                    {
                        next.push(both);
                    }
                }
            }
            frontier = next;
        }
        self.states.extend(states);
    }

    fn admits(&self, state: &Requirements) -> bool {
        state.iter().all(|asked| {
            let narrowed = self.narrowed(asked);
            narrowed.operator() != Operator::DoesNotExist
                || asked.operator() == Operator::DoesNotExist
        })
    }

    /// The pool's requirement on a key, intersected with the one given.
    pub(crate) fn narrowed(&self, requirement: &Requirement) -> Requirement {
        match self.requirements.get(requirement.key().as_str()) {
            Some(own) => own.intersect(requirement),
            None => requirement.clone(),
        }
    }
}
