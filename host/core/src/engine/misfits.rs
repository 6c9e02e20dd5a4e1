//! Machines that turn out smaller than planned: what is learned of their type, and which launch is not repeated.
//!
//! A node that has come up teaches the market what its type really has ([`crate::catalog::Learned`]), so that the next one is
//! planned right. Where nothing can be learned, or learning is switched off, the same plan would be made for the same pods
//! for ever. So a launch is *in vain* when none of the pods it was made for came to its node while one of them still waits
//! that would have fitted what was computed and does not fit what is there. Launches are equal when pool, planned type and
//! promised pods are. After [`equal_relaunches`](crate::snapshot::RunawayGuards::equal_relaunches) repetitions in vain the
//! next is not made: its pods wait and are told by how much they miss.
//!
//! Both are held in memory. Another engine learns from the nodes it finds, and begins to count anew. What is learned ends
//! every count, since plans are others then.

use std::collections::BTreeMap;

use super::Engine;
use super::commit::Crew;
use crate::ids::{ClaimName, PoolName, TypeName};
use crate::lifecycle::planned_option;
use crate::model::{ClaimPhase, Node, NodeClaim, Pod};
use crate::plan::PlannedClaim;
use crate::resources::Resources;
use crate::state::{ANNOTATION, Target, bound_of, to_annotation};
use crate::words;

/// Launches that were in vain.
#[derive(Clone, Debug, Default)]
pub(super) struct Misfits {
    in_vain: BTreeMap<Launch, InVain>,
}

/// What makes launches equal.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Launch {
    pool: PoolName,
    planned: TypeName,
    /// Its promises, as they are written on the claim.
    crew: String,
}

#[derive(Clone, Debug, Default)]
struct InVain {
    /// How often it was repeated.
    relaunched: u32,
    /// Whether the last one was in vain; not while the next is under way.
    open: bool,
    /// By how much its pods miss.
    misses: String,
}

impl Launch {
    fn of(planned: &PlannedClaim, crew: &Crew) -> Option<Self> {
        Some(Self {
            pool: planned.pool.clone(),
            planned: planned.chosen()?.instance_type.clone(),
            crew: to_annotation(crew),
        })
    }
}

impl Engine {
    /// Learns what a claim's node has, once it has come up.
    pub(super) fn learn(&mut self, name: &ClaimName) {
        if !self.settings.guards.learns() {
            return;
        }
        let claim = self.cluster.claims.get(name);
        let Some(claim) = claim.filter(|claim| claim.phase == ClaimPhase::Initialized) else {
            return;
        };
        let [node] = self.cluster.nodes_of(claim)[..] else {
            return;
        };
        if self.market.learn(&node.labels, &node.allocatable) {
            self.expected.forget_floors();
            self.misfits.in_vain.clear();
            self.provision.market_changed();
        }
    }

    /// The promises on a target end: remembers its launch if it was in vain.
    pub(super) fn note_in_vain(&mut self, target: &Target) {
        if let Some((launch, misses)) = self.launch_in_vain(target) {
            let in_vain = self.misfits.in_vain.entry(launch).or_default();
            in_vain.open = true;
            in_vain.misses = misses;
        }
    }

    fn launch_in_vain(&self, target: &Target) -> Option<(Launch, String)> {
        let Target::Claim(name) = target else {
            return None;
        };
        let claim = self.cluster.claims.get(name)?;
        if claim.phase < ClaimPhase::Initialized || claim.deleting.is_some() {
            return None;
        }
        let planned = planned_option(claim, self.market.catalogue())?;
        let node = self.cluster.nodes_of(claim).first().copied()?;
        let groups = self.promises.groups_on(target);
        let came = |group| bound_of(group, target, &self.cluster) > 0;
        if groups.iter().any(|group| came(*group)) {
            return None;
        }
        let misses = groups.iter().find_map(|group| {
            let pod = self.cluster.unbound_of(*group).next()?;
            self.misses(pod, claim, node)
        })?;
        let launch = Launch {
            pool: claim.pool.clone(),
            planned: planned.instance_type,
            crew: claim.annotations.get(ANNOTATION)?.to_string(),
        };
        Some((launch, misses))
    }

    /// By how much a pod misses a node that it would fit were it as large as its claim says, in words.
    fn misses(&self, pod: &Pod, claim: &NodeClaim, node: &Node) -> Option<String> {
        let mut used = Resources::new();
        for bound in self.cluster.pods_on(&node.name) {
            if bound.is_active() {
                used.add(&bound.spec.requests);
            }
        }
        let free = node.allocatable.minus(&used);
        let mut computed = free.clone();
        for (name, amount) in claim.allocatable.iter() {
            let lost = amount.saturating_sub(node.allocatable.get(name)).max(0);
            computed.set(name.clone(), free.get(name).saturating_add(lost));
        }
        let requests = &pod.spec.requests;
        let short = free.first_short_of(requests)?;
        computed.fits(requests).then(|| {
            let amount = |amount| words::amount(&short, amount);
            format!(
                "{short} of its node is {} where {} was computed, and it misses by {}",
                amount(node.allocatable.get(&short)),
                amount(claim.allocatable.get(&short)),
                amount(requests.get(&short).saturating_sub(free.get(&short))),
            )
        })
    }

    /// Why a launch is not made: equal ones were in vain, as often as they may be.
    pub(super) fn was_in_vain(&self, planned: &PlannedClaim, crew: &Crew) -> Option<String> {
        let launch = Launch::of(planned, crew)?;
        let in_vain = self.misfits.in_vain.get(&launch)?;
        let most = self.settings.runaway.equal_relaunches;
        (in_vain.open && in_vain.relaunched >= most).then(|| {
            format!(
                "{} was bought {} times in vain: {} (setting runaway.equalRelaunches)",
                launch.planned,
                in_vain.relaunched.saturating_add(1),
                in_vain.misses
            )
        })
    }

    /// A launch is made: where an equal one was in vain it counts as repeated.
    pub(super) fn note_relaunch(&mut self, planned: &PlannedClaim, crew: &Crew) {
        let launch = Launch::of(planned, crew);
        let in_vain = launch.and_then(|launch| self.misfits.in_vain.get_mut(&launch));
        if let Some(in_vain) = in_vain.filter(|in_vain| in_vain.open) {
            in_vain.relaunched = in_vain.relaunched.saturating_add(1);
            in_vain.open = false;
        }
    }
}
