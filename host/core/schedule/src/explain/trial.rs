//! Offerings that would hold a pod, said only of those that a trial has shown to: the plan is made again with the obstacles lifted.
//!
//! A trial costs as much as the plan itself, so only commands that print reasons make them, and few of them for one plan: what is not
//! tried is not said.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use plimsoll_base::ids::{PoolName, ReservationId};
use plimsoll_base::requirement::Requirement;
use plimsoll_base::resources::Resources;
use plimsoll_model::NodePool;
use plimsoll_model::catalogue::{InstanceType, OfferingKey};
use plimsoll_model::plan::{Plan, Refusal, Target};
use plimsoll_model::snapshot::Snapshot;

use super::nearest::{NearOffering, Obstacle, candidates, level_to_search};
use crate::batch::compile::{Compiled, compile};

/// Trials for one plan: people read no more reasons than that.
const MOST_TRIALS: usize = 24;

/// Pods planned in all trials for one plan: some seconds of a processor.
const MOST_PODS: usize = 20_000;

/// Groups of equal pods, times pools, for which the catalogue is searched.
const MOST_SEARCHES: usize = 200;

/// Adds to unschedulable pods of a plan, by pool, the nearest offering that would hold them: to those that are meant, given as rows
/// of the snapshot. `replan` plans a changed snapshot as the snapshot itself was planned; it answers `None` where it fails.
pub fn tell_nearest(
    snapshot: &Snapshot,
    plan: &mut Plan,
    is_meant: impl Fn(usize) -> bool,
    replan: impl Fn(&Snapshot) -> Option<Plan>,
) {
    let waiting = plan.unplaced.len();
    let is_told = |row: usize| is_meant(row) && !snapshot.pods[row].is_spare();
    let unplaced = plan.unplaced.iter_mut();
    let refused = unplaced.filter_map(|unplaced| match &mut unplaced.reason {
        Refusal::Unschedulable(pools) if is_told(unplaced.pod) => Some((unplaced.pod, pools)),
        _ => None,
    });
    let mut refused = refused.peekable();
    if refused.peek().is_none() {
        return;
    }
    let compiled = compile(snapshot, None);
    let pods = compiled.pods.iter();
    let group_of: BTreeMap<usize, usize> = pods.map(|pod| (pod.row, pod.group)).collect();
    let mut trials = Trials {
        compiled: &compiled,
        replan,
        waiting,
        searched: BTreeMap::new(),
        tried: BTreeMap::new(),
    };
    for (row, pools) in refused {
        let Some(group) = group_of.get(&row) else {
            continue;
        };
        for refusal in pools {
            refusal.nearest = trials.nearest(row, *group, &refusal.pool);
        }
    }
}

/// A pool, by template, and what is changed for it. Only what is sold out is named: other changes are the pool's alone.
type ChangeOfPool = (usize, Vec<Obstacle>, Option<OfferingKey>);

/// Offerings that pods would get in a pool, by row of the pod.
type Placed = BTreeMap<usize, OfferingKey>;

/// Trials for one plan.
struct Trials<'c, 's, R> {
    compiled: &'c Compiled<'s>,
    replan: R,
    /// Unplaced pods of the plan.
    waiting: usize,
    /// Candidates by group and template.
    searched: BTreeMap<(usize, usize), Rc<[NearOffering]>>,
    tried: BTreeMap<ChangeOfPool, Placed>,
}

impl<R: Fn(&Snapshot) -> Option<Plan>> Trials<'_, '_, R> {
    /// In words: the nearest offering of a pool that would hold a pod, and what keeps it from it.
    fn nearest(&mut self, row: usize, group: usize, pool: &PoolName) -> Option<String> {
        let mut templates = self.compiled.templates.iter();
        let number = templates.position(|template| template.pool.name == *pool)?;
        let candidates = self.candidates(group, number);
        let (offering, obstacles) = candidates.iter().find_map(|candidate| {
            let offering = self.placed(number, candidate)?.get(&row)?.clone();
            Some((offering, &candidate.obstacles))
        })?;
        let obstacles: Vec<String> = obstacles.iter().map(ToString::to_string).collect();
        Some(format!(
            "{} in zone {}, {}, would fit, but {}",
            offering.instance_type,
            offering.zone,
            offering.capacity_type,
            obstacles.join(" and ")
        ))
    }

    fn candidates(&mut self, group: usize, number: usize) -> Rc<[NearOffering]> {
        if let Some(known) = self.searched.get(&(group, number)) {
            return Rc::clone(known);
        }
        let pods = &self.compiled.groups[group];
        let level = level_to_search(self.compiled, pods, number);
        let Some(level) = level.filter(|_| self.searched.len() < MOST_SEARCHES) else {
            return Rc::from([]);
        };
        let found: Rc<[NearOffering]> = candidates(self.compiled, pods, level, number).into();
        self.searched.insert((group, number), Rc::clone(&found));
        found
    }

    /// Pods that get a node of the pool once a candidate's obstacles are lifted; `None` where that is not tried.
    fn placed(&mut self, number: usize, candidate: &NearOffering) -> Option<&Placed> {
        let is_sold_out = candidate.obstacles.contains(&Obstacle::SoldOut);
        let sold_out = is_sold_out.then(|| candidate.offering.clone());
        let change = (number, candidate.obstacles.clone(), sold_out);
        if !self.tried.contains_key(&change) {
            let pods = self.compiled.pods.len() * (self.tried.len() + 1);
            if self.tried.len() >= MOST_TRIALS || pods > MOST_PODS {
                return None;
            }
            let placed = self.attempt(number, candidate);
            self.tried.insert(change.clone(), placed);
        }
        self.tried.get(&change)
    }

    fn attempt(&self, number: usize, candidate: &NearOffering) -> Placed {
        let pool = &self.compiled.templates[number].pool.name;
        let changed = changed(self.compiled.snapshot, pool, candidate);
        // Where as many pods wait as before, others wait instead.
        let plan = (self.replan)(&changed).filter(|plan| plan.unplaced.len() < self.waiting);
        let Some(plan) = plan else {
            return Placed::new();
        };
        let placements = plan.placements.iter();
        let placed = placements.filter_map(|placement| {
            let Target::New(claim) = placement.target else {
                return None;
            };
            let claim = plan.claims.get(claim).filter(|claim| claim.pool == *pool)?;
            Some((placement.pod, claim.chosen()?.offering()))
        });
        placed.collect()
    }
}

/// The cluster with a candidate's obstacles lifted in one pool.
fn changed(snapshot: &Snapshot, pool: &PoolName, candidate: &NearOffering) -> Snapshot {
    let mut changed = snapshot.clone();
    // Equal revisions stand for equal objects, and these are others.
    changed.revision = 0;
    if candidate.obstacles.contains(&Obstacle::SoldOut) {
        let sells = |sold: &mut InstanceType| sell(sold, &candidate.offering);
        changed.catalogues = Arc::new(changed.catalogues.with_types(sells));
    }
    let mut pools = changed.pools.iter_mut();
    if let Some(pool) = pools.find(|known| known.name == *pool) {
        let pool = Arc::make_mut(pool);
        for obstacle in &candidate.obstacles {
            match obstacle {
                Obstacle::SoldOut => {}
                Obstacle::Requirement(required) => lift_requirement(pool, required),
                Obstacle::Limits(left) | Obstacle::SharedLimits(left) => lift_limits(pool, left),
            }
        }
    }
    changed
}

fn sell(sold: &mut InstanceType, key: &OfferingKey) {
    let reservation = key.reservation.as_ref().map(ReservationId::as_str);
    let position = sold.position_of(&key.zone, key.capacity_type, reservation);
    if sold.name == key.instance_type
        && let Some(offering) = position.and_then(|at| sold.offerings.get_mut(at))
    {
        offering.available = true;
    }
}

/// Lets a pool have any value of a label. How many values it wants to choose from stays as it is.
fn lift_requirement(pool: &mut NodePool, required: &Requirement) {
    let key = required.key();
    let wanted = required.min_values();
    pool.labels.remove(key.as_str());
    pool.requirements.retain(|own| own.key() != key);
    if wanted.is_some() {
        let any = Requirement::exists(key.clone()).with_min_values(wanted);
        pool.requirements.push(any);
    }
}

fn lift_limits(pool: &mut NodePool, lifted: &Resources) {
    let Some(limits) = pool.limits.take() else {
        return;
    };
    let kept = limits.iter().filter(|(name, _)| !lifted.contains(name));
    let kept: Resources = kept.map(|(name, amount)| (name.clone(), amount)).collect();
    pool.limits = Some(kept).filter(|kept| !kept.is_empty());
}
