//! The state in which a run comes to rest, and what is wrong with it.

use std::collections::BTreeSet;
use std::fmt;

use plimsoll_base::ids::Uid;
use plimsoll_base::units::PricePerHour;
use plimsoll_model::{OwnerKind, Version};

use super::world::{Course, Simulated};

/// Counts of what must not be, and the figures of the end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Verdict {
    /// Instances without a claim.
    pub(super) leaked: usize,
    /// Pods of live workloads that do not run, or that there are too many of.
    pub(super) lost: usize,
    /// Claims and nodes that were asked to go and are there, and nodes with our finalizer that no claim stands for.
    pub(super) stuck: usize,
    /// Claims and nodes whose instance is no more.
    pub(super) hollow: usize,
    /// Changes of objects after the run should have come to rest.
    pub(super) unrest: u64,
    /// Instances launched for a claim that had one before.
    pub(super) doubles: u32,
    /// Instances launched in all.
    pub(super) launches: u32,
    /// Evictions in all.
    pub(super) evictions: u32,
    /// Price of the instances that are there.
    pub(super) price: PricePerHour,
}

impl Verdict {
    /// `true` if nothing of it must not be.
    pub(super) fn is_clean(&self) -> bool {
        let wrong = self.leaked + self.lost + self.stuck + self.hollow;
        wrong == 0 && self.unrest == 0 && self.doubles == 0
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "leaked {} lost {} stuck {} hollow {} unrest {} doubles {}; launches {} evictions {} price {}",
            self.leaked,
            self.lost,
            self.stuck,
            self.hollow,
            self.unrest,
            self.doubles,
            self.launches,
            self.evictions,
            self.price,
        )
    }
}

/// Lets a run come to rest, and judges it.
pub(super) fn rest(course: &Course, mut run: Simulated) -> Verdict {
    run.run_until(course.rests);
    let Version(before) = run.version();
    run.run_until(course.stays);
    let Version(after) = run.version();
    let verdict = judge(course, &run);
    Verdict {
        unrest: after - before,
        ..verdict
    }
}

fn judge(course: &Course, run: &Simulated) -> Verdict {
    let claims: BTreeSet<&Uid> = run.claims().map(|claim| &claim.uid).collect();
    let machines: BTreeSet<_> = run.instances().map(|(id, _)| id).collect();
    let owned: BTreeSet<_> = run
        .claims()
        .filter_map(|claim| claim.provider_id.as_ref())
        .collect();
    let leaked = run
        .instances()
        .filter(|(_, claim)| !claims.contains(&claim.uid));
    let going = run
        .claims()
        .filter(|claim| claim.deleting.is_some())
        .count();
    let stuck = run.nodes().filter(|node| {
        let is_owned = node
            .provider_id
            .as_ref()
            .is_some_and(|id| owned.contains(id));
        node.deleting.is_some() || (run.is_held(&node.name) && !is_owned)
    });
    let hollow_claims = run.claims().filter(|claim| {
        let id = claim.provider_id.as_ref();
        id.is_none_or(|id| !machines.contains(id))
    });
    let hollow_nodes = run.nodes().filter(|node| {
        let id = node.provider_id.as_ref();
        id.is_none_or(|id| !machines.contains(id))
    });
    Verdict {
        leaked: leaked.count(),
        lost: lost(course, run),
        stuck: going + stuck.count(),
        hollow: hollow_claims.count() + hollow_nodes.count(),
        unrest: 0,
        doubles: run.double_launches(),
        launches: run.counts().launches,
        evictions: run.counts().evictions,
        price: run.price(),
    }
}

fn lost(course: &Course, run: &Simulated) -> usize {
    let mut lost = 0;
    for (name, wished) in course.wish.iter().copied() {
        let own = run.pods().filter(|pod| {
            let owner = pod.owner.as_ref();
            owner.is_some_and(|owner| &*owner.name == name && owner.kind == OwnerKind::ReplicaSet)
        });
        let runs = own.filter(|pod| pod.node.is_some() && pod.deleting.is_none());
        lost += runs.count().abs_diff(wished);
    }
    lost + run.pods().filter(|pod| pod.node.is_none()).count()
}
