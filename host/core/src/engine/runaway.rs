//! Ceilings on buying, whatever plans say: nodes in flight, nodes asked for within a minute, dollars per hour.
//!
//! The cluster has them as settings, a pool as annotations; they hold for every way of packing. A claim that would break one
//! is not asked for: its pods wait, are told which ceiling holds them, and are planned again when something has changed or
//! the minute has passed. A command that would break one is not begun. Nodes that are going or being replaced count neither
//! as in flight nor in dollars.
//!
//! When claims were asked for is read off the claims after a restart; claims that failed before it are forgotten.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use super::{Engine, report};
use crate::action::{Action, ObjectKey};
use crate::catalogue::Catalogue;
use crate::ids::{PoolName, Uid};
use crate::model::{Ceilings, ClaimPhase, NodeClaim, NodePool};
use crate::plan::{Plan, PlannedClaim, Target as Place, planned_option};
use crate::resources::Resources;
use crate::snapshot::Snapshot;
use crate::time::{Span, Timestamp};
use crate::units::PricePerHour;

/// The stretch in which claims asked for are counted.
const MINUTE: Span = Span::from_secs(60);

/// What is remembered of buying.
#[derive(Clone, Debug, Default)]
pub(super) struct Runaway {
    /// When claims were asked for within the last minute, oldest first, and for which pool.
    asked: VecDeque<(Timestamp, PoolName)>,
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
    loads: Option<Loads>,
}

/// What counts against ceilings, of the whole cluster and of each pool.
#[derive(Clone, Debug, Default)]
struct Loads {
    cluster: Load,
    pools: BTreeMap<PoolName, Load>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Load {
    in_flight: u32,
    lately: u32,
    rate: PricePerHour,
}

/// Whose ceilings are meant.
#[derive(Clone, Copy, Debug)]
enum Scope<'a> {
    Cluster,
    Pool(&'a PoolName),
}

/// A ceiling that one more node would break: what there is, or would be, and the most there may be.
#[derive(Clone, Copy, Debug)]
enum Broken {
    InFlight(u32, u32),
    PerMinute(u32, u32),
    Cost(PricePerHour, PricePerHour),
}

impl Loads {
    fn add(&mut self, pool: &PoolName, more: Load) {
        self.cluster.add(more);
        self.pools.entry(pool.clone()).or_default().add(more);
    }

    fn of(&self, scope: Scope<'_>) -> Load {
        match scope {
            Scope::Cluster => self.cluster,
            Scope::Pool(pool) => self.pools.get(pool).copied().unwrap_or_default(),
        }
    }
}

impl Load {
    fn add(&mut self, more: Self) {
        self.in_flight = self.in_flight.saturating_add(more.in_flight);
        self.lately = self.lately.saturating_add(more.lately);
        self.rate += more.rate;
    }

    /// The ceiling that one more node of a price would break.
    fn breaks(self, ceilings: &Ceilings, price: PricePerHour) -> Option<Broken> {
        let rate = self.rate + price;
        let in_flight = ceilings
            .nodes_in_flight
            .filter(|most| self.in_flight >= *most)
            .map(|most| Broken::InFlight(self.in_flight, most));
        let per_minute = ceilings
            .nodes_per_minute
            .filter(|most| self.lately >= *most)
            .map(|most| Broken::PerMinute(self.lately, most));
        let cost = ceilings
            .dollars_per_hour
            .filter(|most| rate > *most)
            .map(|most| Broken::Cost(rate, most));
        in_flight.or(per_minute).or(cost)
    }
}

impl Scope<'_> {
    fn contains(self, pool: &PoolName) -> bool {
        match self {
            Self::Cluster => true,
            Self::Pool(own) => own == pool,
        }
    }

    /// What is said of a ceiling of this scope.
    fn words(self, broken: Broken) -> String {
        let (setting, annotation) = match broken {
            Broken::InFlight(..) => ("nodesInFlight", Ceilings::NODES_IN_FLIGHT),
            Broken::PerMinute(..) => ("nodesPerMinute", Ceilings::NODES_PER_MINUTE),
            Broken::Cost(..) => ("dollarsPerHour", Ceilings::DOLLARS_PER_HOUR),
        };
        let (of, source) = match self {
            Self::Cluster => (String::new(), format!("setting runaway.{setting}")),
            Self::Pool(pool) => (
                format!(" of pool {pool}"),
                format!("annotation {annotation}"),
            ),
        };
        match broken {
            Broken::InFlight(have, most) => format!(
                "ceiling on nodes in flight{of}: {have} of {most} are on their way ({source})"
            ),
            Broken::PerMinute(have, most) => {
                format!(
                    "ceiling on nodes per minute{of}: {have} of {most} were asked for ({source})"
                )
            }
            Broken::Cost(rate, most) => {
                format!("ceiling on cost{of}: {rate} with one more node is above {most} ({source})")
            }
        }
    }
}

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
    fn wait_for_minute(&mut self, scope: Scope<'_>) {
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

    /// What claims that are there say of the last minute, after a restart.
    pub(super) fn recall_asked(&mut self, claims: &[Arc<NodeClaim>], now: Timestamp) {
        let lately = claims.iter().filter(|claim| claim.created + MINUTE > now);
        let mut asked: Vec<(Timestamp, PoolName)> = lately
            .map(|claim| (claim.created, claim.pool.clone()))
            .collect();
        asked.sort_unstable();
        self.runaway.asked = asked.into();
    }

    /// The ceiling that one more claim would break, in words; where there is none, the claim counts from then on.
    pub(super) fn ceiling(
        &mut self,
        pool: &NodePool,
        planned: &PlannedClaim,
        tally: &mut Tally,
        now: Timestamp,
    ) -> Option<String> {
        let cluster = self.settings.runaway.ceilings();
        let mut loads = tally.loads.take().unwrap_or_else(|| self.loads(now));
        let price = planned.chosen().map(|option| option.list_price);
        let price = price.unwrap_or_default();
        let scopes = [
            (Scope::Cluster, &cluster),
            (Scope::Pool(&pool.name), &pool.ceilings),
        ];
        let broken = scopes.into_iter().find_map(|(scope, ceilings)| {
            let broken = loads.of(scope).breaks(ceilings, price)?;
            Some((scope, broken))
        });
        let words = broken.map(|(scope, broken)| {
            if matches!(broken, Broken::PerMinute(..)) {
                self.runaway.wait_for_minute(scope);
            }
            scope.words(broken)
        });
        if words.is_none() {
            let one = Load {
                in_flight: 1,
                lately: 1,
                rate: price,
            };
            loads.add(&pool.name, one);
        }
        tally.loads = Some(loads);
        words
    }

    /// What counts against ceilings now.
    fn loads(&mut self, now: Timestamp) -> Loads {
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
        let mut loads = Loads::default();
        for (_, pool) in &self.runaway.asked {
            let one = Load {
                lately: 1,
                ..Load::default()
            };
            loads.add(pool, one);
        }
        let claims = seen.iter().chain(unseen).map(AsRef::as_ref);
        for claim in claims.filter(stays) {
            let one = Load {
                in_flight: u32::from(claim.phase < ClaimPhase::Initialized),
                lately: 0,
                rate: price_of(claim, self.market.catalogue()),
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
