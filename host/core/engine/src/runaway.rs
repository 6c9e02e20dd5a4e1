//! Ceilings on buying, whatever plans say: nodes in flight, nodes asked for within a minute, dollars per hour.
//!
//! The cluster has them as settings, a pool as annotations; they hold for every way of packing. What counts against them is in
//! the ledger of [`plimsoll_model::supply`], with limits and reservations. A claim that would break one
//! is not asked for: its pods wait, are told which ceiling holds them, and are planned again when something has changed or
//! the minute has passed. A command that would break one is not begun. Nodes that are deleting or being replaced count neither
//! as in flight nor in dollars.
//!
//! When claims were asked for is read off the claims after a restart, and of those that are no more off their pools ([`super::asked`]).

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use plimsoll_base::event_reason::EventReason;
use plimsoll_base::ids::{PoolName, Uid};
use plimsoll_base::time::{Span, Timestamp};
use plimsoll_model::action::{Action, ObjectKey};
use plimsoll_model::catalogue::{ExpectedResources, Overlaid};
use plimsoll_model::plan::{LaunchOption, Plan, PlannedClaim, Target as Place};
use plimsoll_model::snapshot::{Snapshot, StateNode};
use plimsoll_model::supply::{CeilingScope, Exhausted, Load, Loads, Supply};
use plimsoll_model::{ClaimPhase, NodeClaim, NodePool};

use super::commit::CommitVerdict;
use super::{Engine, report};

/// The stretch in which claims asked for are counted.
pub(super) const MINUTE: Span = Span::from_secs(60);

/// Memory of buying, for the ceilings on it.
#[derive(Clone, Debug, Default)]
pub(super) struct Runaway {
    /// When claims were asked for within the last minute, oldest first, and for which pool.
    asked: VecDeque<(Timestamp, PoolName)>,
    /// When pods that the minute's ceiling holds are to be looked at again.
    again: Option<Timestamp>,
    /// Pods that ceilings hold, and what they are told.
    held: BTreeMap<Uid, String>,
}

/// Supply left while a plan or a command is carried out; read when it is first asked for.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally(Option<(Overlaid, Supply)>);

impl Runaway {
    /// A claim is asked for.
    pub(super) fn note(&mut self, pool: &PoolName, now: Timestamp) {
        self.asked.push_back((now, pool.clone()));
    }

    pub(super) fn next_wake(&self) -> Option<Timestamp> {
        self.again
    }

    /// `true` if pods held by the minute's ceiling are to be looked at now.
    pub(super) fn is_over(&mut self, now: Timestamp) -> bool {
        self.again.take_if(|again| *again <= now).is_some()
    }

    fn prune(&mut self, now: Timestamp) {
        while self
            .asked
            .front()
            .is_some_and(|(at, _)| *at + MINUTE <= now)
        {
            self.asked.pop_front();
        }
    }

    /// Looks again when the oldest claim of a scope no longer counts.
    fn wait_for_minute(&mut self, scope: &CeilingScope) {
        let oldest = self.asked.iter().find(|(_, pool)| scope.contains(pool));
        let again = oldest.map(|(at, _)| *at + MINUTE);
        self.again = [self.again, again].into_iter().flatten().min();
    }
}

impl Engine {
    /// The ceiling on buying that held a waiting pod when it was planned last, in words; `None` where none did.
    pub fn held_by_ceiling(&self, pod: &Uid) -> Option<&str> {
        self.runaway.held.get(pod).map(String::as_str)
    }

    /// Takes the claims of the last minute from the claims that are there, after a restart.
    pub(super) fn recall_asked(&mut self, claims: &[Arc<NodeClaim>], now: Timestamp) {
        let recent = claims.iter().filter(|claim| claim.created + MINUTE > now);
        let mut asked: Vec<(Timestamp, PoolName)> = recent
            .map(|claim| (claim.created, claim.pool.clone()))
            .collect();
        for pool in self.cluster.pools.objects() {
            let gone = self.recall_gone_asks(&pool.name, now);
            asked.extend(gone.into_iter().map(|at| (at, pool.name.clone())));
        }
        asked.sort_unstable();
        self.runaway.asked = asked.into();
    }

    /// Charges one more claim of a pool. The error is `Held` where a ceiling refuses it, in words, and `Refused` where limits or
    /// reservations leave none.
    pub(super) fn charge(
        &mut self,
        pool: &NodePool,
        planned: &PlannedClaim,
        tally: &mut Tally,
        now: Timestamp,
    ) -> Result<(), CommitVerdict> {
        let (overlaid, supply) = self.stock(tally, now);
        let chosen = planned.chosen().map(LaunchOption::offering);
        let sold = chosen.and_then(|key| overlaid.of(&pool.name).offering(&key));
        let Some(sold) = sold else {
            return Err(CommitVerdict::Refused);
        };
        let ceilings = self.settings.runaway.ceilings();
        match supply.allows(pool, &ceilings, sold) {
            Ok(()) => {
                supply.buy(&pool.name, sold);
                Ok(())
            }
            Err(Exhausted::Ceiling(broken)) => {
                if broken.passes() {
                    self.runaway.wait_for_minute(&broken.scope);
                }
                Err(CommitVerdict::Held(broken.to_string()))
            }
            Err(Exhausted::Limit(_) | Exhausted::Reservation(_)) => Err(CommitVerdict::Refused),
        }
    }

    /// Supply left by a tally.
    pub(super) fn left<'t>(&mut self, tally: &'t mut Tally, now: Timestamp) -> &'t Supply {
        &self.stock(tally, now).1
    }

    /// Offers of the pools, and the supply left of them.
    fn stock<'t>(&mut self, tally: &'t mut Tally, now: Timestamp) -> &'t mut (Overlaid, Supply) {
        tally.0.get_or_insert_with(|| {
            let overlaid = self.overlaid();
            let supply = self.supply(&overlaid, now);
            (overlaid, supply)
        })
    }

    /// Supply left now.
    fn supply(&mut self, overlaid: &Overlaid, now: Timestamp) -> Supply {
        let loads = self.loads(overlaid, now);
        let catalogues = self.market.catalogues();
        let listed = Supply::listed(catalogues, &self.cluster.pools.objects());
        let nodes = if listed.is_unbounded() {
            Vec::new()
        } else {
            self.state_nodes(overlaid)
        };
        listed.less(catalogues, &nodes).with_loads(loads)
    }

    /// Claims, those asked for and not seen among them, each with its node and with what is to be counted on of it; then nodes
    /// that no claim stands behind, which count against limits of their pool, too.
    fn state_nodes(&self, overlaid: &Overlaid) -> Vec<StateNode> {
        let mut expected = ExpectedResources::new(overlaid);
        let claims = self.expected.overlay(&self.cluster).into_iter();
        let with_node = |mut claim: Arc<NodeClaim>| {
            let resources = expected.of(&claim);
            if claim.capacity != resources.capacity {
                Arc::make_mut(&mut claim).capacity = resources.capacity;
            }
            StateNode {
                node: self.cluster.nodes_of(&claim).first().cloned(),
                claim: Some(claim),
            }
        };
        let nodes = self.cluster.nodes.objects().into_iter();
        let alone = nodes.filter(|node| self.cluster.claim_on(&node.name).is_none());
        let alone = alone.map(|node| StateNode {
            node: Some(node),
            claim: None,
        });
        claims.map(with_node).chain(alone).collect()
    }

    /// Loads that count against ceilings now.
    fn loads(&mut self, overlaid: &Overlaid, now: Timestamp) -> Loads {
        self.runaway.prune(now);
        let seen = self.cluster.claims.objects();
        let unseen = self
            .expected
            .asked()
            .filter(|claim| self.cluster.claims.get(&claim.name).is_none());
        let stays = |claim: &&NodeClaim| {
            claim.deleting.is_none()
                && !claim.is_instance_terminating()
                && self.cluster.marked(&claim.name).is_none()
        };
        let mut loads = Loads::default();
        for (_, pool) in &self.runaway.asked {
            let one = Load {
                within_minute: 1,
                ..Load::default()
            };
            loads.add(pool, one);
        }
        let claims = seen.iter().chain(unseen).map(AsRef::as_ref);
        for claim in claims.filter(stays) {
            let one = Load {
                in_flight: u32::from(claim.phase() < ClaimPhase::Initialized),
                within_minute: 0,
                rate: overlaid.of_claim(claim).price_of(claim),
            };
            loads.add(&claim.pool, one);
        }
        loads
    }

    /// Tells pods of a plan whose claims a ceiling keeps from being asked for, each once for as long as it is held.
    pub(super) fn tell_held(
        &mut self,
        snapshot: &Snapshot,
        plan: &Plan,
        held: &BTreeMap<usize, String>,
        now: Timestamp,
        actions: &mut Vec<Action>,
    ) {
        let before = std::mem::take(&mut self.runaway.held);
        for placement in &plan.placements {
            let Place::New(row) = placement.target else {
                continue;
            };
            let pod = snapshot.pods.get(placement.pod);
            let pod = pod.filter(|pod| !pod.is_spare());
            if let Some((words, pod)) = held.get(&row).zip(pod) {
                if !before.contains_key(&pod.uid) {
                    let object = ObjectKey::Pod(pod.uid.clone());
                    actions.push(report(
                        object,
                        EventReason::FailedScheduling,
                        words.clone(),
                        now,
                    ));
                }
                self.runaway.held.insert(pod.uid.clone(), words.clone());
            }
        }
    }
}
