//! Instances that turn out smaller than planned: what is learned of their type, and which launch is not repeated.
//!
//! A node that has come up teaches the market what its type really has ([`plimsoll_model::catalogue::Learned`]), so that the next one is
//! planned right. Where nothing can be learned, or learning is switched off, the same plan would be made for the same pods
//! for ever. So a launch is *undersized* when none of the pods it was made for came to its node while one of them still waits
//! that would have fitted what was computed and does not fit what is there. Launches are equal when pool, planned type and
//! promised pods are; a claim for spare room alone has no pods, so its room counts. After
//! [`equal_relaunches`](plimsoll_model::snapshot::RunawayGuards::equal_relaunches) undersized repetitions the next is not made: its pods
//! wait and are told by how much they miss. Instances may have been put right meanwhile, so it is tried once more every hour.
//!
//! Another engine learns from the nodes it finds, and reads the counts off the pools ([`memory`]). What is learned ends every count,
//! since plans are others then; a launch that was not undersized ends its own.

mod memory;

use std::collections::BTreeMap;
use std::fmt;

use plimsoll_base::fixed_hash::hash_of;
use plimsoll_base::ids::{PoolName, TypeName};
use plimsoll_base::resources::{ResourceName, Resources};
use plimsoll_base::time::{Span, Timestamp};
use plimsoll_cluster::{ANNOTATION, PromisedTarget, bound_of, to_annotation};
use plimsoll_model::action::ObjectKey;
use plimsoll_model::catalogue::{Catalogues, NodeResources};
use plimsoll_model::plan::PlannedClaim;
use plimsoll_model::{ClaimPhase, Node, NodeClaim, Pod};

use super::Engine;
use super::commit::PodCounts;

/// How long a launch that was undersized too often is not made again.
const HELD: Span = Span::from_secs(3600);
/// How long an undersized launch is remembered.
const REMEMBERED: Span = Span::from_secs(24 * 3600);

/// Launches that were undersized.
#[derive(Clone, Debug, Default)]
pub(super) struct UndersizedNodes {
    back_off: BTreeMap<Launch, RelaunchBackOff>,
}

/// Key of launches: those with equal keys are the same attempt.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Launch {
    pool: PoolName,
    /// Of the planned type, the promises as they are written on the claim, and the room that it must have where no pod is promised a
    /// place on it.
    digest: u64,
}

/// By how much pods miss a node that has less than its claim says, in the units of [`Resources`].
#[derive(Clone, Debug, PartialEq, Eq)]
struct Miss {
    resource: ResourceName,
    /// What the node has.
    has: i64,
    /// What was computed for it.
    computed: i64,
    /// What the pods ask for beyond what is free.
    short: i64,
}

#[derive(Clone, Debug)]
struct RelaunchBackOff {
    /// How often it was repeated.
    relaunched: u32,
    /// `true` if the last one was undersized; not while the next is under way.
    open: bool,
    /// By how much its pods miss.
    misses: Miss,
    /// When it was last known to be undersized.
    at: Timestamp,
}

impl RelaunchBackOff {
    fn is_held(&self, most: u32) -> bool {
        self.open && self.relaunched >= most
    }
}

impl UndersizedNodes {
    /// When a launch that is held may be tried once more.
    pub(super) fn next_wake(&self, most: u32) -> Option<Timestamp> {
        let held = self.back_off.values().filter(|it| it.is_held(most));
        held.map(|back_off| back_off.at + HELD).min()
    }

    /// `true` if launches that were held may be tried once more from now on.
    pub(super) fn is_over(&mut self, most: u32, now: Timestamp) -> bool {
        let held = self.back_off.values_mut();
        let over = held.filter(|it| it.is_held(most) && it.at + HELD <= now);
        over.map(|back_off| back_off.open = false).count() > 0
    }
}

impl Launch {
    fn of(planned: &PlannedClaim, pods: &PodCounts) -> Option<Self> {
        let room = pods.is_empty().then_some(&planned.requests);
        let chosen = &planned.chosen()?.instance_type;
        Some(Self::new(&planned.pool, chosen, &to_annotation(pods), room))
    }

    /// The launch that made a claim.
    fn behind(claim: &NodeClaim, catalogues: &Catalogues) -> Option<Self> {
        let pods = claim.annotations.get(ANNOTATION)?;
        let planned = catalogues.of(&claim.class).planned(claim)?;
        let room = pods.is_empty().then_some(&claim.requests);
        let planned = &planned.instance_type.name;
        Some(Self::new(&claim.pool, planned, pods, room))
    }

    fn new(pool: &PoolName, planned: &TypeName, pods: &str, room: Option<&Resources>) -> Self {
        Self {
            pool: pool.clone(),
            digest: hash_of(&(planned, pods, room)),
        }
    }
}

impl Engine {
    /// Learns what a claim's node has, once it has come up.
    pub(super) fn learn(&mut self, claim: &NodeClaim, now: Timestamp) {
        if claim.phase() != ClaimPhase::Initialized {
            return;
        }
        let [node] = self.cluster.nodes_of(claim) else {
            return;
        };
        let labels = &node.labels;
        let seen = NodeResources {
            capacity: node.capacity.clone(),
            allocatable: node.allocatable.clone(),
        };
        if self.settings.guards.learns() && self.market.learn(&claim.class, labels, &seen) {
            let counted = std::mem::take(&mut self.undersized.back_off);
            for launch in counted.into_keys() {
                self.statuses.look_at(&ObjectKey::Pool(launch.pool));
            }
            self.provision.market_changed();
        }
        self.judge_room(claim, &seen.allocatable, now);
    }

    /// Notes, once, of a claim that is to hold spare room alone whether its node has that room.
    fn judge_room(&mut self, claim: &NodeClaim, allocatable: &Resources, now: Timestamp) {
        let pods = claim.annotations.get(ANNOTATION);
        if pods.is_none_or(|pods| !pods.is_empty()) {
            return;
        }
        let Some(launch) = Launch::behind(claim, self.market.catalogues()) else {
            return;
        };
        let notes = self.notes.of(&claim.name);
        if std::mem::replace(&mut notes.judged, true) {
            return;
        }
        let misses = miss(claim, allocatable, allocatable, &claim.requests);
        self.note_launch(launch, misses, now);
    }

    /// The promises on a target end: remembers whether its launch was undersized.
    pub(super) fn note_undersized(&mut self, target: &PromisedTarget, now: Timestamp) {
        if let Some((launch, misses)) = self.launch_behind(target) {
            self.note_launch(launch, misses, now);
        }
    }

    fn note_launch(&mut self, launch: Launch, misses: Option<Miss>, now: Timestamp) {
        let known = &mut self.undersized.back_off;
        known.retain(|_, back_off| back_off.at + REMEMBERED > now);
        let Some(misses) = misses else {
            if known.remove(&launch).is_some() {
                self.statuses.look_at(&ObjectKey::Pool(launch.pool));
            }
            return;
        };
        self.statuses.look_at(&ObjectKey::Pool(launch.pool.clone()));
        let relaunched = known.get(&launch).map_or(0, |before| before.relaunched);
        let back_off = RelaunchBackOff {
            relaunched,
            open: true,
            misses,
            at: now,
        };
        known.insert(launch, back_off);
    }

    /// The launch behind a target, and by how much its pods miss the node where none of them came for want of room.
    fn launch_behind(&self, target: &PromisedTarget) -> Option<(Launch, Option<Miss>)> {
        let PromisedTarget::Claim(name) = target else {
            return None;
        };
        let claim = self.cluster.claims.get(name)?;
        if claim.phase() < ClaimPhase::Initialized || claim.deleting.is_some() {
            return None;
        }
        let launch = Launch::behind(claim, self.market.catalogues())?;
        let node = self.cluster.nodes_of(claim).first()?;
        let groups = self.promises.groups_on(target);
        let came = |group| bound_of(group, target, &self.cluster) > 0;
        if groups.iter().any(|group| came(*group)) {
            return Some((launch, None));
        }
        let misses = groups.iter().find_map(|group| {
            let pod = self.cluster.unbound_of(*group).next()?;
            self.misses(pod, claim, node)
        })?;
        Some((launch, Some(misses)))
    }

    /// By how much a pod misses a node that it would fit were it as large as its claim says.
    fn misses(&self, pod: &Pod, claim: &NodeClaim, node: &Node) -> Option<Miss> {
        let mut used = Resources::new();
        for bound in self.cluster.pods_on(&node.name) {
            if bound.is_active() {
                used.add(&bound.spec.requests);
            }
        }
        let free = node.allocatable.minus(&used);
        miss(claim, &node.allocatable, &free, &pod.spec.requests)
    }

    /// Why a launch is not made: equal ones were undersized, as often as they may be.
    pub(super) fn was_undersized(
        &self,
        planned: &PlannedClaim,
        pods: &PodCounts,
    ) -> Option<String> {
        let launch = Launch::of(planned, pods)?;
        let back_off = self.undersized.back_off.get(&launch)?;
        let most = self.settings.runaway.equal_relaunches;
        back_off.is_held(most).then(|| {
            format!(
                "{} was launched {} times and was too small for its pods each time: {} (setting runaway.equalRelaunches)",
                planned.chosen().map_or("", |chosen| chosen.instance_type.as_str()),
                back_off.relaunched.saturating_add(1),
                back_off.misses
            )
        })
    }

    /// A launch is made: where an equal one was undersized it counts as repeated.
    pub(super) fn note_relaunch(&mut self, planned: &PlannedClaim, pods: &PodCounts) {
        let launch = Launch::of(planned, pods);
        let back_off = launch.and_then(|launch| self.undersized.back_off.get_mut(&launch));
        if let Some(back_off) = back_off.filter(|back_off| back_off.open) {
            self.statuses
                .look_at(&ObjectKey::Pool(planned.pool.clone()));
            back_off.relaunched = back_off.relaunched.saturating_add(1);
            back_off.open = false;
        }
    }
}

/// By how much something misses what is free on a node that has less than its claim says, where it would fit otherwise.
fn miss(
    claim: &NodeClaim,
    allocatable: &Resources,
    free: &Resources,
    requests: &Resources,
) -> Option<Miss> {
    let mut computed = free.clone();
    for (name, amount) in claim.allocatable.iter() {
        let lost = amount.saturating_sub(allocatable.get(name)).max(0);
        computed.set(name.clone(), free.get(name).saturating_add(lost));
    }
    let short = free.first_short_of(requests)?;
    computed.fits(requests).then(|| Miss {
        has: allocatable.get(&short),
        computed: claim.allocatable.get(&short),
        short: requests.get(&short).saturating_sub(free.get(&short)),
        resource: short,
    })
}

impl fmt::Display for Miss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let amount = |amount| self.resource.amount_text(amount);
        let (has, computed) = (amount(self.has), amount(self.computed));
        let (resource, short) = (&self.resource, amount(self.short));
        write!(
            f,
            "{resource} of its node is {has} where {computed} was computed, and it misses by {short}"
        )
    }
}
