//! One loop for every world: events and outcomes in, actions out.
//!
//! The controller runs an [`Engine`] in one task and carries its actions out against an API server and a cloud; the
//! simulator runs the same engine against its own. It does no I/O, reads no clock and draws no numbers.
//!
//! - All that must survive is on objects. An engine fed with the objects as they are, then [`Input::Synced`], goes on where another stopped.
//! - Every order has an identity and at most one per object and purpose is under way; an outcome that is unknown is read back.
//! - Decisions are made elsewhere: [`Action::Solve`] hands out a snapshot, [`Input::Solved`] brings the plan, and what may
//!   have changed in between is checked again before anything is asked for.
//!
//! The caller hands in [`Input::Tick`] at [`Engine::next_wake`]; nothing happens by itself.

mod announce;
mod asked;
mod begin;
mod claims;
mod commit;
mod counts;
mod disrupt;
mod do_not_disrupt;
mod failed;
mod found;
mod freshness;
mod garbage;
mod group_pace;
mod input;
mod interrupted;
mod lapse;
mod launched;
mod launches;
mod ledger;
mod naming;
mod nominate;
mod notes;
mod orders;
mod orphans;
mod outcome;
mod overdrawn;
mod pod_events;
mod progress;
mod provision;
mod queue;
mod recent;
mod repair;
mod resume;
mod runaway;
mod search_pace;
mod spare;
mod static_pools;
mod statuses;
mod together;
mod undersized;
mod unschedulable;
mod unused;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

pub use begin::replaced_by;
pub use counts::{CommandKind, CreatedClaim, EngineCounts};
pub use input::Input;
pub use ledger::Begun;
pub use nominate::{Landing, Landings};
pub use together::may_be_nominated;

use plimsoll_base::event_reason::EventReason;
use plimsoll_base::ids::{ClaimName, ReservationId};
use plimsoll_base::time::Timestamp;
use plimsoll_cluster::{
    Assignment, Cluster, Expected, Frozen, GroupId, NOMINATION_WINDOW, PromisedTarget, Promises,
    World,
};
use plimsoll_lifecycle::{Instance, Want};
use plimsoll_model::action::{Action, Event, ObjectKey};
use plimsoll_model::catalogue::{Catalogues, Market};
use plimsoll_model::command::Refused;
use plimsoll_model::snapshot::{Activity, Settings, Snapshot};
use plimsoll_model::{ClaimPhase, NodeClaim, Object, Version};

use disrupt::Disruption;
use do_not_disrupt::ToldWishes;
use freshness::Freshness;
use garbage::Garbage;
use launches::Launches;
use ledger::CommandLedger;
use nominate::Nominations;
use notes::{ClaimNotes, Notes};
use orders::{Orders, Retry};
use orphans::Orphans;
use provision::Provision;
use queue::CommandQueue;
use recent::RecentActivity;
use runaway::Runaway;
use spare::SpareWatch;
use static_pools::StaticPools;
use statuses::StatusWatch;
use undersized::UndersizedNodes;
use unschedulable::ToldPods;
use unused::NodeUse;

/// The whole of Plimsoll's deciding side, as one value.
#[derive(Clone, Debug)]
pub struct Engine {
    settings: Arc<Settings>,
    seed: u64,
    synced: Option<Timestamp>,
    freshness: Freshness,
    /// When the list of what can be bought was handed in, or counted as such.
    listed: Option<Timestamp>,
    cluster: Cluster,
    market: Market,
    expected: Expected,
    promises: Promises,
    /// The snapshot handed out last.
    frozen: Frozen,
    nominations: Nominations,
    launches: Launches,
    orders: Orders,
    retry: Retry,
    provision: Provision,
    disruption: Disruption,
    queue: CommandQueue,
    ledger: CommandLedger,
    runaway: Runaway,
    recent: RecentActivity,
    undersized: UndersizedNodes,
    node_use: NodeUse,
    told_pods: ToldPods,
    told_wishes: ToldWishes,
    spare: SpareWatch,
    static_pools: StaticPools,
    statuses: StatusWatch,
    begun: Begun,
    counts: EngineCounts,
    notes: Notes,
    /// The last event of a pod on each claim's node, as decisions are told.
    pod_events: Arc<BTreeMap<ClaimName, Timestamp>>,
    orphans: Orphans,
    garbage: Garbage,
    dirty_claims: BTreeSet<ClaimName>,
    dirty_groups: BTreeSet<GroupId>,
    /// Groups that lost promises: their pods ask for a decision once it is clear which of them still stand for others.
    orphaned_groups: BTreeSet<GroupId>,
}

impl Engine {
    /// An engine that has seen nothing yet. `seed` is handed to decisions.
    pub fn new(settings: Arc<Settings>, catalogues: Arc<Catalogues>, seed: u64) -> Self {
        Self {
            settings,
            seed,
            synced: None,
            freshness: Freshness::default(),
            listed: None,
            cluster: Cluster::default(),
            market: Market::new(catalogues),
            expected: Expected::default(),
            promises: Promises::default(),
            frozen: Frozen::default(),
            nominations: Nominations::default(),
            launches: Launches::default(),
            orders: Orders::default(),
            retry: Retry::default(),
            provision: Provision::default(),
            disruption: Disruption::default(),
            queue: CommandQueue::default(),
            ledger: CommandLedger::default(),
            runaway: Runaway::default(),
            recent: RecentActivity::default(),
            undersized: UndersizedNodes::default(),
            node_use: NodeUse::default(),
            told_pods: ToldPods::default(),
            told_wishes: ToldWishes::default(),
            spare: SpareWatch::default(),
            static_pools: StaticPools::default(),
            statuses: StatusWatch::default(),
            begun: Begun::default(),
            counts: EngineCounts::default(),
            notes: Notes::default(),
            pod_events: Arc::default(),
            orphans: Orphans::default(),
            garbage: Garbage::default(),
            dirty_claims: BTreeSet::new(),
            dirty_groups: BTreeSet::new(),
            orphaned_groups: BTreeSet::new(),
        }
    }

    /// Takes in one thing that happened and says what to do. Until [`Input::Synced`] it only listens.
    pub fn handle(&mut self, input: Input, now: Timestamp) -> Vec<Action> {
        let mut actions = Vec::new();
        self.take(input, now, &mut actions);
        self.absorb_touched(now);
        if self.synced.is_none() {
            return actions;
        }
        if self.market.expire_unavailable(now) {
            self.provision.market_changed();
        }
        for id in self.orders.overdue(now) {
            self.end_order(
                id,
                plimsoll_model::action::Outcome::Unknown,
                now,
                &mut actions,
            );
        }
        self.absorb_touched(now);
        self.judge_node_use(now);
        self.lapse_promises(now);
        self.step_groups(now, &mut actions);
        self.step_claims(now, &mut actions);
        self.step_orphans(now, &mut actions);
        self.step_queue(now, &mut actions);
        self.step_ledger(now, &mut actions);
        self.step_static_pools(now, &mut actions);
        self.step_statuses(now, &mut actions);
        self.step_launches(now, &mut actions);
        self.step_garbage(now, &mut actions);
        self.step_provision(now, &mut actions);
        self.step_disruption(now, &mut actions);
        actions
    }

    /// When to hand in [`Input::Tick`] if nothing else happens; `None` when there is nothing to wait for.
    pub fn next_wake(&self) -> Option<Timestamp> {
        self.synced?;
        let candidates = [
            self.notes.next_wake(),
            self.orphans.next_wake(),
            self.garbage.next_wake(),
            self.launches
                .next_wake(self.market.catalogues().provider().launch),
            (!self.disruption.is_confirming())
                .then(|| self.provision.next_wake(&self.settings))
                .flatten(),
            self.orders.next_overdue(),
            self.market.next_change(),
            self.nominations.next_wake(),
            self.queue.next_wake(),
            self.ledger.next_wake(),
            self.runaway.next_wake(),
            self.undersized
                .next_wake(self.settings.runaway.equal_relaunches),
            self.node_use.next_wake(),
            self.disruption_wake(),
            self.spare_wake(),
            self.static_pools.next_wake(),
            self.statuses.next_wake(),
        ];
        candidates.into_iter().flatten().min()
    }

    /// Commands begun so far, and moves refused.
    pub fn disruptions(&self) -> (Begun, Refused) {
        (self.begun, self.disruption.refused())
    }

    /// The cluster as the engine sees it.
    pub fn cluster(&self) -> &Cluster {
        &self.cluster
    }

    fn take(&mut self, input: Input, now: Timestamp, actions: &mut Vec<Action>) {
        match input {
            Input::Applied(object, version) => self.see(object, version),
            Input::Deleted(object, version) => self.cluster.remove(&object, version),
            Input::Synced => self.sync(now),
            Input::Outcome(id, outcome) => self.end_order(id, outcome, now, actions),
            Input::Solved(id, plan) => self.commit(id, &plan, now, actions),
            Input::Considered(id, decision) => self.considered(id, *decision, now, actions),
            Input::Unsolved(id) => self.unsolved(id, now),
            Input::Unconsidered(id) => self.unconsidered(id, now),
            Input::Catalogues(catalogues) => {
                let launched = self.launched_unseen();
                self.market.relist(catalogues, launched);
                self.listed = Some(now);
                self.notes.forget_drift();
                let claims = self.cluster.claims.unordered();
                self.dirty_claims
                    .extend(claims.map(|claim| claim.name.clone()));
                self.provision.market_changed();
            }
            Input::Classes(classes) => self.note_classes(classes),
            Input::Interrupted(instance, interruption) => {
                self.note_interruption(&instance, interruption, now, actions);
            }
            Input::PoliciesChanged => self.note_policies_changed(),
            Input::Replan => self.replan(),
            Input::Stale(kinds) => self.note_stale(kinds),
            Input::Fresh => self.note_stale(Vec::new()),
            Input::UnreadableClaims(count) => self.note_unreadable_claims(count),
            Input::Tick => {}
        }
    }

    /// Takes in an object. Claims of classes that others serve are theirs: their nodes are like any that we did not make.
    fn see(&mut self, mut object: Object, version: Version) {
        if let Object::Pool(pool) = &mut object {
            let is_ready = self.is_ready(pool);
            if pool.ready != is_ready {
                Arc::make_mut(pool).ready = is_ready;
            }
        }
        let is_foreign = match &object {
            Object::Claim(claim) => !self.market.catalogues().serves(&claim.class),
            _ => false,
        };
        if !is_foreign {
            self.cluster.apply(object, version);
        }
    }

    /// Claims whose instances the cloud has given and that do not say so yet, with the reservations that they draw on.
    fn launched_unseen(&self) -> Vec<(ClaimName, ReservationId)> {
        let notes = self.notes.unordered();
        let provider = self.market.catalogues().provider();
        let of_reservation = |(name, notes): (&ClaimName, &ClaimNotes)| {
            let labels = &notes.machine.as_ref()?.labels;
            Some((name.clone(), provider.reservation_of(labels)?))
        };
        notes.filter_map(of_reservation).collect()
    }

    /// All objects are there: look at every one of them once, and take over what was promised before.
    fn sync(&mut self, now: Timestamp) {
        self.synced = Some(now);
        self.garbage.list_by(now);
        self.market.counts_all();
        self.listed = Some(now);
        let claims = self.cluster.claims.objects();
        self.recall_asked(&claims, now);
        self.recall_undersized(now);
        self.resume_commands(&claims, now);
        for claim in &claims {
            self.adopt_promises(claim, now);
            self.watch_node_use(claim, now);
            self.recall_pod_event(claim, now);
            self.follow_pod_event(&claim.name);
            self.dirty_claims.insert(claim.name.clone());
        }
        let nominated: Vec<_> = self
            .cluster
            .pods
            .objects()
            .into_iter()
            .filter(|pod| pod.node.is_none() && pod.nominated.is_some() && pod.is_active())
            .collect();
        for pod in nominated {
            self.adopt_nomination(&pod, now);
        }
        self.dirty_groups.extend(self.promises.groups());
        self.trigger_all(now);
    }

    /// Follows what events touched into the memory beside the objects.
    fn absorb_touched(&mut self, now: Timestamp) {
        let touched = self.cluster.take_touched();
        if touched.buffers {
            self.look_at_buffers();
        }
        for object in &touched.statuses {
            self.statuses.look_at(object);
        }
        self.orphans.due.extend(touched.orphans);
        for claim in &touched.gone_claims {
            self.follow_end(claim, now);
        }
        for node in &touched.gone_nodes {
            self.retry.forget(&ObjectKey::Node(node.name.clone()));
            self.orphans.forget(&node.name);
            self.drop_promises(&PromisedTarget::Node(node.name.clone()));
        }
        for pod in &touched.gone_pods {
            self.retry.forget(&ObjectKey::Pod(pod.uid.clone()));
            self.told_wishes.forget(&pod.uid);
        }
        let is_synced = self.synced.is_some();
        for group in touched.bound.iter().filter(|_| is_synced) {
            self.note_binding(*group, now);
        }
        for claim in touched.pod_events.iter().filter(|_| is_synced) {
            self.notes.of(claim).last_pod_event = Some(now);
            self.follow_pod_event(claim);
        }
        for name in &touched.claims {
            self.follow_claim(name, now);
        }
        let mut claims = touched.claims;
        claims.extend(touched.claims_of_pods);
        if is_synced {
            for name in &claims {
                self.trigger_deleting(name, now);
            }
        }
        self.dirty_claims.extend(claims);
        self.follow_pods(&touched.pods, &touched.gone_pods, now);
    }

    /// Follows a claim that came, changed or went, or whose node or pool did.
    fn follow_claim(&mut self, name: &ClaimName, now: Timestamp) {
        if let Some(claim) = self.cluster.claims.get(name).cloned() {
            self.count_created(&claim);
            if claim.deleting.is_some() {
                self.count_deleted(&claim);
            }
            self.settle_expected(name);
            self.follow_launch(&claim);
            self.garbage.has_machine(now);
            self.notes.of(name).drift = None;
            let has_ended = self.notes.of(name).instance == Instance::Gone;
            if claim.provider_id.is_some() && !has_ended {
                if self.market.draws(name, &claim.labels) {
                    self.provision.market_changed();
                }
                if let Some(offering) = interrupted::spot_offering(&claim) {
                    self.market.begins(name, offering, now);
                }
            }
            if self.synced.is_some() {
                self.adopt_promises(&claim, now);
                self.watch_node_use(&claim, now);
            }
            self.note_joined(&claim);
            self.learn(&claim, now);
        }
        self.follow_pod_event(name);
        let groups = self.groups_to_nominate(name);
        self.dirty_groups.extend(groups);
    }

    /// Adopts the promises written on a claim as long as they would hold.
    fn adopt_promises(&mut self, claim: &NodeClaim, now: Timestamp) {
        let on_its_way = claim.phase() < ClaimPhase::Initialized;
        if on_its_way || now < claim.phase_since() + NOMINATION_WINDOW {
            self.promises.adopt(claim);
            self.plan_lapse(&PromisedTarget::Claim(claim.name.clone()));
        }
    }

    /// Freezes the state at an instant, with what a decision is told beside the objects.
    fn freeze(
        &mut self,
        assigned: &Assignment,
        activity: Activity,
        now: Timestamp,
    ) -> Arc<Snapshot> {
        let changed = self.cluster.take_changed();
        let mut frozen = std::mem::take(&mut self.frozen);
        let snapshot = frozen.freeze(changed, &self.world(), assigned, now);
        let own = Arc::make_mut(snapshot);
        own.activity = activity;
        own.unused_nodes = self.pods_with_unused_nodes();
        let snapshot = Arc::clone(snapshot);
        self.frozen = frozen;
        snapshot
    }

    /// Parts that a snapshot is made of.
    fn world(&self) -> World<'_> {
        World {
            cluster: &self.cluster,
            expected: &self.expected,
            market: &self.market,
            settings: &self.settings,
            seed: self.seed,
        }
    }

    /// Gives an order unless one for the same is under way or held back; the time from which it may be given otherwise.
    fn order(
        &mut self,
        want: Want,
        now: Timestamp,
        actions: &mut Vec<Action>,
    ) -> Option<Timestamp> {
        let uid = want.uid.as_ref();
        if self.orders.is_busy(&want.object, uid, want.purpose) {
            return None;
        }
        match self.retry.may_begin(&want, now) {
            Err(not_before) => Some(not_before),
            Ok(attempt) => {
                let order = self.orders.begin(want, attempt, now);
                actions.push(Action::Do(Box::new(order)));
                None
            }
        }
    }
}

fn report(object: ObjectKey, reason: EventReason, message: String, at: Timestamp) -> Action {
    Action::Report(Event {
        object,
        reason,
        message,
        at,
    })
}
