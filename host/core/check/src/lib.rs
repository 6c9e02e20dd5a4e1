//! Contradictions in any plan, whatever made it.
//!
//! Written from the scheduling contract alone, apart from the planner: it shares no code with it beyond the algebra of
//! requirements and resources, and what the model says of single objects. Placements are replayed in their order, since spread and affinity depend on it, and each is
//! held against the hard rules at its moment; claims, pools and cost are checked as a whole.
//!
//! **Which scheduler.** A plan must stand before the real kube-scheduler, and must be what the contract allows. Where the two
//! differ, the stricter decides, with these notes: the least count of a host-name spread is 0, since an empty host can join at
//! any time; the least count over other domains includes those in which a node can be bought for a pod of the constraint, though none
//! is there yet, and those of nodes that the plan buys for others; preferences, soft spread and `PreferNoSchedule` taints are not checked; required terms that relaxation may have dropped still count as
//! alternatives of a pod that is placed, while one that waits is held against each step of relaxation by itself. Affinity is the
//! kube-scheduler's: of a pod with several required terms only pods that match them all count, and a pod begins a domain of its own
//! only while no such pod is in any. Daemons are pods like others: those that come with claims, and those that nodes wait for, count.
//!
//! **Claims.** A claim may turn out as any of its options, and as anything its requirements allow for the types they name.
//! Every option must serve all pods of the claim; topology must hold however the claims turn out. Prices and capacities are
//! those that each pool sells at, NodeOverlays applied.

mod addresses;
mod alone;
mod claims;
mod cost;
mod daemons;
mod entry;
mod features;
mod finding;
mod guards;
mod host;
mod hosts;
mod listings;
mod market;
mod one_pod;
mod options;
mod placement;
mod pools;
mod ports;
mod topology;
mod unplaced;
mod volumes;

use std::sync::Arc;

pub use finding::{Finding, Place, Rule, Subject};

use entry::Eligibility;
use finding::Breach;
use hosts::Hosts;
use listings::Listings;
use market::Shop;
use placement::SoftTaints;
use plimsoll_base::labels::{HOSTNAME, LabelKey};
use plimsoll_base::requirement::{Requirement, Requirements};
use plimsoll_model::Pod;
use plimsoll_model::plan::{Plan, Target};
use plimsoll_model::snapshot::{Snapshot, StateNode};
use topology::{Doubt, Topology};

/// Whose prices the options of a plan carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PriceRule {
    /// The provider's, with the node's own cost.
    List,
    /// A policy's: only sums are checked.
    Policy,
}

/// Everything that is wrong with a plan made at list prices; empty for a good one.
pub fn check(snapshot: &Snapshot, plan: &Plan) -> Vec<Finding> {
    let mut findings = review(snapshot, plan, PriceRule::List);
    findings.retain(|finding| !finding.rule.is_remark());
    findings
}

/// Everything there is to say about a plan: what is wrong with it, and what is worth knowing ([`Rule::is_remark`]).
pub fn review(snapshot: &Snapshot, plan: &Plan, prices: PriceRule) -> Vec<Finding> {
    let listings = Listings::new(snapshot);
    let shops = market::shops(snapshot, &listings);
    let mut replay = Replay::new(snapshot, &listings, &shops, plan);
    replay.claims(prices);
    // Pods that exist are judged as if no room were kept: it comes after them, and no pod may count on it.
    for is_spare in [false, true] {
        replay.placements(is_spare);
        replay.unplaced(is_spare);
    }
    replay.finished_claims();
    replay.complete();
    let of_addresses = addresses::breaches(snapshot, &replay.hosts, plan);
    let of_guards = guards::breaches(snapshot, &listings, &shops, &replay.entries, plan);
    let mut findings = replay.findings;
    findings.extend(of_addresses);
    findings.extend(of_guards);
    findings.extend(pools::limits(snapshot, &listings, &shops, plan));
    findings.extend(pools::reservations(snapshot, plan));
    let costs = cost::breaches(snapshot, plan).into_iter();
    findings.extend(costs.map(|breach| breach.about(Subject::Plan)));
    findings
}

/// A plan being carried out in thought.
struct Replay<'a> {
    snapshot: &'a Snapshot,
    listings: &'a Listings<'a>,
    shops: &'a [Shop],
    plan: &'a Plan,
    entries: Vec<Eligibility>,
    hosts: Hosts,
    topology: Topology<'a>,
    /// Claims for one pod that are taken.
    taken: one_pod::Taken,
    /// How often each pod is placed or listed.
    mentioned: Vec<u32>,
    /// Pods of each claim, and whether no topology rule spoke of each when it was placed.
    pods: Vec<Vec<(Arc<Pod>, bool)>>,
    findings: Vec<Finding>,
}

impl<'a> Replay<'a> {
    fn new(
        snapshot: &'a Snapshot,
        listings: &'a Listings<'a>,
        shops: &'a [Shop],
        plan: &'a Plan,
    ) -> Self {
        let entries = entry::entries(snapshot);
        let hosts = Hosts::new(snapshot, listings, &plan.claims);
        let is_planned = |row: usize| !matches!(entries[row], Eligibility::Elsewhere(_));
        let topology = Topology::new(snapshot, shops, &hosts, &is_planned);
        Self {
            snapshot,
            listings,
            shops,
            plan,
            hosts,
            topology,
            taken: one_pod::Taken::default(),
            mentioned: vec![0; snapshot.pods.len()],
            pods: vec![Vec::new(); plan.claims.len()],
            entries,
            findings: Vec::new(),
        }
    }

    fn say(&mut self, breach: Breach, subject: Subject) {
        self.findings.push(breach.about(subject));
    }

    /// Claims and their options, before any pod.
    fn claims(&mut self, prices: PriceRule) {
        for (row, claim) in self.plan.claims.iter().enumerate() {
            let pool = claim.pool.clone();
            let subject = Subject::Place(Place::Claim { row, pool });
            let mut breaches = claims::breaches(self.snapshot, self.shops, claim);
            breaches.extend(claims::min_values(self.snapshot, self.listings, claim));
            breaches.extend(claims::marks(self.listings, claim));
            breaches.extend(options::breaches(
                self.snapshot,
                self.listings,
                claim,
                prices,
            ));
            for breach in breaches {
                self.say(breach, subject.clone());
            }
        }
    }

    /// `true` if a row is that of a pod that stands for room.
    fn is_spare(&self, row: usize) -> bool {
        self.snapshot
            .pods
            .get(row)
            .is_some_and(|pod| pod.is_spare())
    }

    /// Every placement of pods of one sort in its order.
    fn placements(&mut self, is_spare: bool) {
        for placement in &self.plan.placements {
            if self.is_spare(placement.pod) != is_spare {
                continue;
            }
            let (Some(pod), Some(host)) = (
                self.snapshot.pods.get(placement.pod),
                self.hosts.row(placement.target),
            ) else {
                let value = format!("pod {} to {:?}", placement.pod, placement.target);
                let breach = Breach::new(Rule::Rows, value, "rows of the snapshot and the plan");
                self.say(breach, Subject::Plan);
                continue;
            };
            self.mention(placement.pod);
            self.place(placement.pod, pod, host, placement.target);
        }
    }

    fn mention(&mut self, row: usize) {
        self.mentioned[row] += 1;
        if self.mentioned[row] == 2 {
            let breach = Breach::new(
                Rule::Once,
                "it is mentioned again",
                "one place or one reason",
            );
            self.say(breach, Subject::Pod(self.snapshot.pods[row].name.clone()));
        }
    }

    fn place(&mut self, row: usize, pod: &Arc<Pod>, host_row: usize, target: Target) {
        let host = self.hosts.get(host_row);
        let subject = Subject::Placed(pod.name.clone(), host.place.clone());
        let mut breaches = placement::breaches(self.snapshot, pod, host, SoftTaints::Yield);
        let why_not = match &self.entries[row] {
            Eligibility::Waits | Eligibility::Free => None,
            Eligibility::Invalid(why) | Eligibility::Elsewhere(why) => Some(why.clone()),
            Eligibility::DynamicResources => {
                Some("it asks for devices that are not served".to_owned())
            }
        };
        breaches.extend(why_not.map(|why| Breach::new(Rule::Entry, why, "pods that wait")));
        breaches.extend(self.taken.take(self.snapshot, pod));
        let is_plain = !self.topology.concerns(pod) && !self.topology.is_followed(pod);
        breaches.extend(self.topology.breaches(pod, host_row, host, Doubt::Forgives));
        self.topology.record(pod, host_row, host);
        placement::commit(self.snapshot, pod, self.hosts.get_mut(host_row));
        if let Target::New(claim) = target {
            self.pods[claim].push((Arc::clone(pod), is_plain));
        }
        for breach in breaches {
            self.say(breach, subject.clone());
        }
    }

    /// Claims with all their pods on.
    fn finished_claims(&mut self) {
        for (row, claim) in self.plan.claims.iter().enumerate() {
            let pool = claim.pool.clone();
            let subject = Subject::Place(Place::Claim { row, pool });
            if self.pods[row].is_empty() {
                let breach = Breach::new(Rule::ClaimPods, "nothing is put on it", "pods");
                self.say(breach, subject);
                continue;
            }
            let Some(host) = self.hosts.row(Target::New(row)) else {
                continue;
            };
            let host = self.hosts.get(host);
            let requests = claims::requests(self.snapshot, claim, host);
            let volumes = volumes::too_many(self.snapshot, claim, host);
            let pods = &self.pods[row];
            let weight = pools::weight(self.snapshot, self.shops, row, claim, host, pods);
            for breach in requests.into_iter().chain(volumes) {
                self.say(breach, subject.clone());
            }
            self.findings.extend(weight);
        }
    }

    /// Pods of one sort that go nowhere.
    fn unplaced(&mut self, is_spare: bool) {
        for unplaced in &self.plan.unplaced {
            if self.is_spare(unplaced.pod) != is_spare {
                continue;
            }
            let Some(pod) = self.snapshot.pods.get(unplaced.pod) else {
                let value = format!("pod {} is listed", unplaced.pod);
                let breach = Breach::new(Rule::Rows, value, "rows of the snapshot");
                self.say(breach, Subject::Plan);
                continue;
            };
            self.mention(unplaced.pod);
            let entry = &self.entries[unplaced.pod];
            let (snapshot, shops) = (self.snapshot, self.shops);
            let mut breach = unplaced::reason(snapshot, shops, entry, pod, &unplaced.reason);
            let says_nowhere = matches!(
                unplaced.reason,
                plimsoll_model::plan::Refusal::Unschedulable(_)
            );
            if breach.is_none() && *entry == Eligibility::Waits && says_nowhere {
                let topology = &mut self.topology;
                breach = unplaced::room_left(snapshot, shops, &self.hosts, topology, pod);
            }
            let subject = Subject::Pod(pod.name.clone());
            self.findings
                .extend(breach.map(|breach| breach.about(subject)));
        }
    }

    /// Pods that were forgotten.
    fn complete(&mut self) {
        for (row, pod) in self.snapshot.pods.iter().enumerate() {
            let must = matches!(
                self.entries[row],
                Eligibility::Waits | Eligibility::DynamicResources
            );
            if must && self.mentioned[row] == 0 {
                let breach = Breach::new(Rule::Complete, "it is forgotten", "a place or a reason");
                self.findings
                    .push(breach.about(Subject::Pod(pod.name.clone())));
            }
        }
    }
}

/// Labels of a node as requirements, with its host name.
fn labels_of(node: &StateNode) -> Requirements {
    let mut labels = Requirements::from_labels(node.labels());
    labels.replace(Requirement::one_of(
        LabelKey::from(HOSTNAME),
        [node.hostname()],
    ));
    labels
}
