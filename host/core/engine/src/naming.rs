//! Names of claims, made of what was decided: the same decision made twice, by another process or after a restart, asks for the
//! same claim, and the second creation finds the first and buys no other instance.
//!
//! A name is that of the pool and a hash of the pool's uid, of what the claim is for, and of the attempt:
//!
//! - for waiting pods: the least uid of those planned on it;
//! - for spare room alone: the least uid of the pods that stand for the room, which are made of the buffer's uid and a number;
//! - in the place of nodes that are removed: the least uid of the claims that it replaces, and its place among those that the command buys;
//! - for a static pool: nothing more, its nodes being all alike.
//!
//! The attempt is the first of which no claim is known that bears its name: with it one counts the nodes of a static pool, and the
//! launches for one pod whose claims are still going. It follows from the objects, so that nothing has to be remembered. A name
//! whose claim is gone may come back; uids tell the two apart.

use std::sync::Arc;

use plimsoll_base::fixed_hash::{hash_of, short_name};
use plimsoll_base::ids::{ClaimName, PoolName, Uid};
use plimsoll_cluster::{ANNOTATION, PromisedTarget};
use plimsoll_model::catalogue::LAUNCH_ORDER_ANNOTATION;
use plimsoll_model::plan::Plan;
use plimsoll_model::plan::Target as Place;
use plimsoll_model::snapshot::Snapshot;
use plimsoll_model::{NodeClaim, Pod};

use super::Engine;

/// Letters and digits of a name after that of the pool.
const HASH_LENGTH: usize = 8;

/// Purpose of a claim, as far as its name tells it.
#[derive(Clone, Debug, Hash)]
pub(super) enum ClaimPurpose {
    /// Room for pods, the least uid of which is this; `None` for a plan that places none on it.
    Pods(Option<Uid>),
    /// In the place of claims, the least uid of which is this: so manieth of those that the command buys.
    Replaces(Option<Uid>, usize),
    /// A node of a static pool.
    Replica,
}

impl ClaimPurpose {
    /// Purposes of the claims of a plan, by row: room for the pods placed on each, those that exist before those of spare room.
    pub(super) fn of_plan(snapshot: &Snapshot, plan: &Plan) -> Vec<Self> {
        let rank = |pod: &Arc<Pod>| (pod.is_spare(), pod.uid.clone());
        let mut least: Vec<Option<(bool, Uid)>> = vec![None; plan.claims.len()];
        for placement in &plan.placements {
            let Place::New(row) = placement.target else {
                continue;
            };
            let pod = snapshot.pods.get(placement.pod).map(rank);
            if let Some((so_far, pod)) = least.get_mut(row).zip(pod) {
                *so_far = Some(match so_far.take() {
                    Some(before) => before.min(pod),
                    None => pod,
                });
            }
        }
        let purposes = least.into_iter();
        purposes
            .map(|least| Self::Pods(least.map(|(_, uid)| uid)))
            .collect()
    }
}

impl Engine {
    /// The first name, from an attempt on, that no claim bears which is known, and its attempt.
    pub(super) fn free_name(
        &self,
        pool: &PoolName,
        purpose: &ClaimPurpose,
        first: u32,
    ) -> (ClaimName, u32) {
        let uid = self.cluster.pools.get(pool).map(|pool| &pool.uid);
        let mut attempt = first;
        loop {
            let number = hash_of(&(uid, purpose, attempt));
            let name = format!("{pool}-{}", short_name(number, HASH_LENGTH));
            let name = ClaimName::from(name);
            let is_known = self.cluster.claims.get(&name).is_some();
            if !is_known && self.expected.get(&name).is_none() {
                return (name, attempt);
            }
            attempt += 1;
        }
    }

    /// A claim that was asked for is there. Where it is not the one of this request, it has the room that is written on it: what
    /// was promised here beyond that is planned anew.
    pub(super) fn meet(&mut self, claim: &NodeClaim) {
        let Some(asked) = self.expected.get(&claim.name) else {
            return;
        };
        let says = |claim: &NodeClaim, key: &str| claim.annotations.get(key).cloned();
        let alike = |key: &str| says(claim, key) == says(asked, key);
        if !alike(ANNOTATION) || !alike(LAUNCH_ORDER_ANNOTATION) {
            self.drop_promises(&PromisedTarget::Claim(claim.name.clone()));
        }
    }
}
