//! Ceilings on buying, whatever plans say: nodes in flight, nodes asked for within a minute, dollars per hour.
//!
//! They hold for the whole cluster and every way of packing. A claim that would break one is not asked for: its pods wait, are
//! told which ceiling holds them, and are planned again when something has changed or the minute has passed. A command that
//! would break one is not begun. Nodes that are going or being replaced count neither as in flight nor in dollars.
//!
//! When claims were asked for is read off the claims after a restart; claims that failed before it are forgotten.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use super::{Engine, report};
use crate::action::{Action, ObjectKey};
use crate::catalog::Catalogue;
use crate::ids::{PoolName, Uid};
use crate::lifecycle::planned_option;
use crate::model::{ClaimPhase, NodeClaim};
use crate::plan::{Plan, PlannedClaim, Target as Place};
use crate::resources::Resources;
use crate::snapshot::Snapshot;
use crate::time::{Span, Timestamp};
use crate::units::PricePerHour;

/// The stretch in which claims asked for are counted.
const MINUTE: Span = Span::from_secs(60);

/// What is remembered of buying.
#[derive(Clone, Debug, Default)]
pub(super) struct Runaway {
    /// When claims were asked for within the last minute, oldest first.
    asked: VecDeque<Timestamp>,
    /// When pods that the minute's ceiling holds are to be looked at again.
    again: Option<Timestamp>,
    /// Pods that ceilings hold, and what they are told.
    held: BTreeMap<Uid, String>,
}

/// What has been bought and is about to be, while a plan or a command is carried out.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    /// What pools take of their limits.
    pub(super) usage: BTreeMap<PoolName, Resources>,
    /// What counts against ceilings.
    load: Option<Load>,
}

#[derive(Clone, Copy, Debug)]
struct Load {
    in_flight: u32,
    lately: u32,
    rate: PricePerHour,
}

impl Runaway {
    /// A claim is asked for.
    pub(super) fn note(&mut self, now: Timestamp) {
        self.asked.push_back(now);
    }

    pub(super) fn next_wake(&self) -> Option<Timestamp> {
        self.again
    }

    /// Whether pods held by the minute's ceiling are to be looked at now.
    pub(super) fn is_over(&mut self, now: Timestamp) -> bool {
        self.again.take_if(|again| *again <= now).is_some()
    }

    fn prune(&mut self, now: Timestamp) {
        while self.asked.front().is_some_and(|at| *at + MINUTE <= now) {
            self.asked.pop_front();
        }
    }
}

impl Engine {
    /// Which ceiling on buying held a waiting pod when it was planned last, in words.
    pub fn held_by_ceiling(&self, pod: &Uid) -> Option<&str> {
        self.runaway.held.get(pod).map(String::as_str)
    }

    /// What claims that are there say of the last minute, after a restart.
    pub(super) fn recall_asked(&mut self, claims: &[Arc<NodeClaim>], now: Timestamp) {
        let lately = claims.iter().map(|claim| claim.created);
        let mut asked: Vec<Timestamp> = lately.filter(|at| *at + MINUTE > now).collect();
        asked.sort_unstable();
        self.runaway.asked = asked.into();
    }

    /// The ceiling that one more claim would break, in words; where there is none, the claim counts from then on.
    pub(super) fn ceiling(
        &mut self,
        planned: &PlannedClaim,
        tally: &mut Tally,
        now: Timestamp,
    ) -> Option<String> {
        let ceilings = self.settings.runaway;
        let load = match tally.load {
            Some(load) => load,
            None => self.load(now),
        };
        let price = planned.chosen().map(|option| option.list_price);
        let rate = load.rate + price.unwrap_or_default();
        let words = if load.in_flight >= ceilings.nodes_in_flight {
            Some(format!(
                "ceiling on nodes in flight: {} of {} are on their way (setting runaway.nodesInFlight)",
                load.in_flight, ceilings.nodes_in_flight
            ))
        } else if load.lately >= ceilings.nodes_per_minute {
            let oldest = self.runaway.asked.front().copied();
            self.runaway.again = oldest.map(|oldest| oldest + MINUTE);
            Some(format!(
                "ceiling on nodes per minute: {} of {} were asked for (setting runaway.nodesPerMinute)",
                load.lately, ceilings.nodes_per_minute
            ))
        } else if rate > ceilings.dollars_per_hour {
            Some(format!(
                "ceiling on cost: {rate} with one more node is above {} (setting runaway.dollarsPerHour)",
                ceilings.dollars_per_hour
            ))
        } else {
            None
        };
        tally.load = Some(match words {
            Some(_) => load,
            None => Load {
                in_flight: load.in_flight.saturating_add(1),
                lately: load.lately.saturating_add(1),
                rate,
            },
        });
        words
    }

    /// What counts against ceilings now.
    fn load(&mut self, now: Timestamp) -> Load {
        self.runaway.prune(now);
        let seen = self.cluster.claims.objects();
        let unseen = self
            .expected
            .asked()
            .filter(|claim| self.cluster.claims.get(&claim.name).is_none());
        let stays = |claim: &&NodeClaim| {
            claim.deleting.is_none()
                && !claim.instance_terminating
                && self.cluster.marked(&claim.name).is_none()
        };
        let mut load = Load {
            in_flight: 0,
            lately: u32::try_from(self.runaway.asked.len()).unwrap_or(u32::MAX),
            rate: PricePerHour::ZERO,
        };
        let claims = seen.iter().chain(unseen).map(AsRef::as_ref);
        for claim in claims.filter(stays) {
            load.in_flight += u32::from(claim.phase < ClaimPhase::Initialized);
            load.rate += price_of(claim, self.market.catalogue());
        }
        load
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
                    actions.push(report(object, "FailedScheduling", words.clone(), now));
                }
                self.runaway.held.insert(pod.uid.clone(), words.clone());
            }
        }
    }
}

/// What a claim costs at list price: as what it became, or else as it was planned.
fn price_of(claim: &NodeClaim, catalogue: &Catalogue) -> PricePerHour {
    let became = catalogue.offering_of(&claim.labels);
    let planned = || planned_option(claim, catalogue).map(|option| option.list_price);
    let price = became.map(|offering| offering.price).or_else(planned);
    price.unwrap_or_default()
}
