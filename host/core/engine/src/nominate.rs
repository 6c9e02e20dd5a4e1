//! Nominations: the promises of the plan, written on pods for the scheduler to honour.
//!
//! A pod that stands for a promise is nominated as soon as the node exists, again whenever the scheduler has dropped it, and
//! the nomination is withdrawn when the promise has lapsed while the pod still waits. Pods that would refuse each other are nominated in
//! turn ([`super::together`]).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use plimsoll_base::ids::{ClaimName, NodeName, ObjectName, Uid};
use plimsoll_base::time::{Span, Timestamp};
use plimsoll_cluster::{
    Assignment, GroupId, NOMINATION_WINDOW, PromisedTarget, node_of, target_of,
};
use plimsoll_lifecycle::{UNREGISTERED_TAINT, Want, is_coming_up};
use plimsoll_model::action::{Action, ObjectKey, Purpose, Request, Write};
use plimsoll_model::snapshot::is_ephemeral;
use plimsoll_model::{ClaimPhase, Node, Pod, Readiness};

use super::Engine;
use super::group_pace::GroupPace;
use super::together::may_be_nominated;

/// A nomination that does not hold any more and is still being written is looked at again after this long.
const ON_ITS_WAY: Span = Span::from_millis(100);

/// While more pods wait for a node, none is nominated that is not yet: at the usual 200 requests a second so many are written in the nine
/// seconds for which a node waits at most, with some to spare for all else. The scheduler has its own way with the others, and the API server
/// has its time for them.
const MOST_WAITING: usize = 1_500;

/// The nominations that we stand by.
#[derive(Clone, Debug, Default)]
pub(super) struct Nominations {
    by_pod: BTreeMap<ObjectName, Nomination>,
    by_node: BTreeMap<NodeName, BTreeSet<ObjectName>>,
    pub(super) lapses: BTreeMap<Timestamp, BTreeSet<PromisedTarget>>,
    again: BTreeMap<Timestamp, BTreeSet<GroupId>>,
    /// By node, groups of which some pod is nominated once another of the node's pods is not any more.
    in_turn: BTreeMap<NodeName, BTreeSet<GroupId>>,
    pace: GroupPace,
}

/// How a binding stands to what was planned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Landing {
    /// On a node that the pod's group was planned for.
    AsPlanned,
    /// On another node, while none of those planned for could be used yet: room became free in the meantime.
    Sooner,
    /// On another node, though one that was planned for could be used.
    Elsewhere,
}

#[derive(Clone, Debug)]
struct Nomination {
    uid: Uid,
    node: NodeName,
    group: GroupId,
    /// Nodes that were asked for before: the pod may carry the last of them still, or at any moment.
    before: BTreeSet<NodeName>,
}

impl Nomination {
    /// `true` if what a pod carries was asked for by us.
    fn is_ours(&self, carried: &NodeName) -> bool {
        self.node == *carried || self.before.contains(carried)
    }
}

impl Nominations {
    pub(super) fn next_wake(&self) -> Option<Timestamp> {
        let lapse = self.lapses.keys().next().copied();
        let again = self.again.keys().next().copied();
        let rest = self.pace.next_wake();
        lapse.into_iter().chain(again).chain(rest).min()
    }

    pub(super) fn holds(&self, pod: &ObjectName) -> bool {
        self.by_pod.contains_key(pod)
    }

    /// `true` if a pod of a group was nominated to a node before.
    fn is_for(&self, pod: &Pod, node: &NodeName, group: GroupId) -> bool {
        let held = self.by_pod.get(&pod.name);
        held.is_some_and(|held| held.node == *node && held.uid == pod.uid && held.group == group)
    }

    /// Sets a nomination down; what was asked for before, if that was another node.
    fn put(&mut self, pod: &Pod, node: &NodeName, group: GroupId) -> Option<NodeName> {
        let held = self.drop_pod(&pod.name);
        let held = held.filter(|held| held.uid == pod.uid);
        let other = held.as_ref().map(|held| held.node.clone());
        let other = other.filter(|other| other != node);
        let mut before = held.map(|held| held.before).unwrap_or_default();
        before.extend(other.clone());
        let names = self.by_node.entry(node.clone()).or_default();
        names.insert(pod.name.clone());
        let nomination = Nomination {
            uid: pod.uid.clone(),
            node: node.clone(),
            group,
            before,
        };
        self.by_pod.insert(pod.name.clone(), nomination);
        other
    }

    fn drop_pod(&mut self, pod: &ObjectName) -> Option<Nomination> {
        let nomination = self.by_pod.remove(pod)?;
        if let Some(names) = self.by_node.get_mut(&nomination.node) {
            names.remove(pod);
            if names.is_empty() {
                self.by_node.remove(&nomination.node);
            }
        }
        Some(nomination)
    }
}

/// Bindings of one moment, each seen in the light of those before it.
pub struct Landings<'e> {
    engine: &'e Engine,
    now: Timestamp,
    /// Places taken by pods of a group, by target.
    taken: BTreeMap<GroupId, BTreeMap<PromisedTarget, u32>>,
    /// The places that pods of a group stand for before the first of these bindings.
    assigned: BTreeMap<GroupId, Assignment>,
}

impl Landings<'_> {
    /// How a pod that is being bound to a node stands to its promises; `None` where none is open for it. Pods of a group are one
    /// another's equals: what counts is that the group was planned there, and that not all of its places there are taken. Of a pod
    /// that goes elsewhere it counts whether the place that it stands for itself could be used.
    pub fn of(&mut self, pod: &Pod, node: &NodeName) -> Option<Landing> {
        let engine = self.engine;
        let group = engine.cluster.group_of(&pod.name)?;
        let taken = self.taken.entry(group).or_default();
        let open = engine.promises.open_targets(group, &engine.cluster, taken);
        let here = target_of(node, &engine.cluster);
        let is_planned = !open.is_empty();
        let is_here = open.contains(&&here);
        *taken.entry(here).or_default() += 1;
        if is_here {
            return Some(Landing::AsPlanned);
        }
        let assign = || engine.assigned(group, self.now);
        let assigned = self.assigned.entry(group).or_insert_with(assign);
        let own = assigned.get(&pod.name).filter(|_| is_planned)?;
        Some(if engine.is_usable(own) {
            Landing::Elsewhere
        } else {
            Landing::Sooner
        })
    }
}

impl Engine {
    /// A nomination from before we were there is taken for a promise, so that it is kept while good and withdrawn when late.
    pub(super) fn adopt_nomination(&mut self, pod: &Arc<Pod>, now: Timestamp) {
        let nominated = pod.nominated.as_ref();
        let Some(node) = nominated.filter(|_| self.settings.nominations) else {
            return;
        };
        let Some(group) = self.cluster.group_of(&pod.name) else {
            return;
        };
        let target = target_of(node, &self.cluster);
        let ours = self.cluster.claim_on(node).is_some();
        if !ours {
            return;
        }
        self.nominations.put(pod, node, group);
        if !self.promises.groups_on(&target).contains(&group) {
            self.promises.make(&target, group, 1, 0, now);
        }
        let lapses = self.nominations.lapses.entry(now + NOMINATION_WINDOW);
        lapses.or_default().insert(target);
        self.dirty_groups.insert(group);
    }

    /// Groups to look at when a claim or its node changed: while the node waits to be let in, all that are promised to it.
    pub(super) fn groups_to_nominate(&mut self, name: &ClaimName) -> Vec<GroupId> {
        let target = PromisedTarget::Claim(name.clone());
        if !self.promises.has_any(&target) {
            return Vec::new();
        }
        self.plan_lapse(&target);
        let Some(claim) = self.cluster.claims.get(name) else {
            return Vec::new();
        };
        let nodes = self.cluster.nodes_of(claim);
        let waiting = claim.phase() < ClaimPhase::Registered && claim.deleting.is_none();
        match nodes.first() {
            Some(node) if waiting && !self.nominations.by_node.contains_key(&node.name) => {
                self.promises.groups_on(&target)
            }
            _ => Vec::new(),
        }
    }

    /// Follows pods that came, changed or went: which groups need another look, and who asks for a decision.
    pub(super) fn follow_pods(
        &mut self,
        touched: &BTreeSet<ObjectName>,
        gone: &[Arc<Pod>],
        now: Timestamp,
    ) {
        for pod in gone {
            if let Some(nomination) = self.drop_nomination(&pod.name) {
                self.dirty_groups.insert(nomination.group);
            }
        }
        let mut nodes = BTreeSet::new();
        for name in touched {
            let Some(pod) = self.cluster.pods.get(name).cloned() else {
                continue;
            };
            self.follow_pod(&pod);
            nodes.extend(pod.node.clone());
            if self.synced.is_some() {
                self.trigger(&pod, now);
                self.trigger_equals(&pod, now);
            }
        }
        self.cut_promises(&nodes);
    }

    fn follow_pod(&mut self, pod: &Arc<Pod>) {
        if let Some(node) = &pod.node {
            if let Some(nomination) = self.drop_nomination(&pod.name)
                && nomination.node != *node
                && let Some(group) = self.cluster.group_of(&pod.name)
            {
                self.dirty_groups.insert(group);
            }
            return;
        }
        let Some(group) = self.cluster.group_of(&pod.name) else {
            return;
        };
        let held = self.nominations.by_pod.get(&pod.name);
        if !self.promises.covers(group) && held.is_none() {
            return;
        }
        let stands = held
            .is_some_and(|held| pod.nominated.as_ref() == Some(&held.node) && held.uid == pod.uid);
        if stands {
            if let Some(node) = &pod.nominated {
                self.look_at_claim_on(node);
            }
        } else {
            self.dirty_groups.insert(group);
        }
    }

    /// Forgets a nomination; its node's claim, or pods to be nominated in turn, may have waited for nothing else.
    fn drop_nomination(&mut self, pod: &ObjectName) -> Option<Nomination> {
        let nomination = self.nominations.drop_pod(pod)?;
        self.look_at_claim_on(&nomination.node);
        let next = self.nominations.in_turn.remove(&nomination.node);
        self.dirty_groups.extend(next.into_iter().flatten());
        Some(nomination)
    }

    /// `true` if a pod may be nominated to a node now; otherwise its group is looked at again once another of the node's nominations is
    /// gone.
    fn is_next(&mut self, pod: &Pod, node: &NodeName, group: GroupId) -> bool {
        if self.nominations.is_for(pod, node, group) {
            return true;
        }
        let names = self.nominations.by_node.get(node).into_iter().flatten();
        let others = names.filter(|name| **name != pod.name);
        let others = others.filter_map(|name| self.cluster.pods.get(name));
        let is_next = may_be_nominated(pod, others.map(Arc::as_ref));
        if !is_next {
            let groups = self.nominations.in_turn.entry(node.clone()).or_default();
            groups.insert(group);
        }
        is_next
    }

    fn look_at_claim_on(&mut self, node: &NodeName) {
        let claim = self.cluster.claim_on(node);
        self.dirty_claims
            .extend(claim.map(|claim| claim.name.clone()));
    }

    /// `true` if every pod nominated to a target's node carries the nomination. A node that no look at its groups has seen yet has none that do.
    pub(super) fn are_nominated(&self, target: &PromisedTarget) -> bool {
        let Some(node) = node_of(target, &self.cluster) else {
            return false;
        };
        let is_asked = |group: &GroupId| self.nominations.pace.is_asked(*group);
        if !self.nominations.by_node.contains_key(&node)
            && self.promises.groups_on(target).iter().any(is_asked)
        {
            return false;
        }
        let names = self.nominations.by_node.get(&node).into_iter().flatten();
        let mut pods = names.filter_map(|name| self.cluster.pods.get(name));
        pods.all(|pod| pod.node.is_some() || pod.nominated.as_ref() == Some(&node))
    }

    /// Nominates the pods of touched groups, and withdraws what no longer holds. Groups that rest are looked at afterwards, and only then
    /// pods of theirs that lost their places ask anew.
    pub(super) fn step_groups(&mut self, now: Timestamp, actions: &mut Vec<Action>) {
        while let Some(entry) = self.nominations.again.first_entry() {
            if *entry.key() > now {
                break;
            }
            self.dirty_groups.extend(entry.remove());
        }
        self.dirty_groups
            .extend(self.nominations.pace.take_due(now));
        for group in std::mem::take(&mut self.dirty_groups) {
            if self.nominations.pace.may_look(group) {
                self.nominate_group(group, now, actions);
            }
        }
        for group in std::mem::take(&mut self.orphaned_groups) {
            if self.nominations.pace.is_asked(group) {
                self.orphaned_groups.insert(group);
            } else {
                self.trigger_group(group, now);
            }
        }
    }

    fn nominate_group(&mut self, group: GroupId, now: Timestamp, actions: &mut Vec<Action>) {
        if !self.settings.nominations {
            return;
        }
        let assigned = self.assigned(group, now);
        let pods: Vec<Arc<Pod>> = self.cluster.unbound_of(group).cloned().collect();
        let too_many = self.cluster.unbound_count() > MOST_WAITING;
        self.nominations.pace.looked(group, pods.len(), now);
        for pod in pods {
            let node = assigned
                .get(&pod.name)
                .and_then(|target| node_of(target, &self.cluster));
            match node {
                Some(_) if too_many && !self.nominations.holds(&pod.name) => {}
                Some(node) if !self.is_next(&pod, &node, group) => {
                    self.withdraw(&pod, group, now, actions);
                }
                Some(node) => {
                    let was_asked = self.nominations.is_for(&pod, &node, group);
                    if !was_asked && let Some(other) = self.nominations.put(&pod, &node, group) {
                        self.look_at_claim_on(&other);
                    }
                    // Until the node joins nothing can be taken from it: what the scheduler drops meanwhile is asserted then.
                    let may_wait = was_asked && self.is_coming_up(&node, now);
                    if pod.nominated.as_ref() != Some(&node) && !may_wait {
                        self.write_nomination(&pod, Some(node.clone()), group, now, actions);
                        let claim = self.cluster.claim_on(&node).map(|claim| claim.name.clone());
                        if let Some(claim) = claim {
                            self.wait_for_nominations(&claim);
                        }
                    }
                }
                None => self.withdraw(&pod, group, now, actions),
            }
        }
        self.look_at_claims_without(group);
    }

    /// Claims of nodes for which a look has nominated no pod wait for none.
    fn look_at_claims_without(&mut self, group: GroupId) {
        let targets = self.promises.targets_of(group);
        let without = targets.filter_map(|target| {
            let PromisedTarget::Claim(name) = target else {
                return None;
            };
            let claim = self.cluster.claims.get(name)?;
            let nodes = self.cluster.nodes_of(claim);
            let is_without = |node: &&Arc<Node>| !self.nominations.by_node.contains_key(&node.name);
            let waits = claim.phase() < ClaimPhase::Registered;
            (waits && nodes.iter().any(|node| is_without(&node))).then(|| name.clone())
        });
        self.dirty_claims.extend(without.collect::<Vec<_>>());
    }

    /// Where pods of a group are expected: those that were nominated stay so, be it that their nominations are still being written.
    fn assigned(&self, group: GroupId, now: Timestamp) -> Assignment {
        let of = |pod: &Pod| {
            let held = self.nominations.by_pod.get(&pod.name);
            let held = held.filter(|held| held.uid == pod.uid);
            held.map(|held| &held.node)
        };
        let nominated = |pod| of(pod).or(pod.nominated.as_ref());
        (self.promises).assign_where(group, &self.cluster, now, nominated)
    }

    /// `true` if a node is waited for before it joins.
    fn is_coming_up(&self, node: &NodeName, now: Timestamp) -> bool {
        let claim = self.cluster.claim_on(node);
        let waits = claim.filter(|claim| claim.phase() < ClaimPhase::Registered);
        let node = self.cluster.nodes.get(node);
        let both = waits.zip(node);
        both.is_some_and(|(claim, node)| is_coming_up(claim, node, now))
    }

    /// Takes back a nomination of ours; it is forgotten once the pod no longer carries it.
    fn withdraw(&mut self, pod: &Pod, group: GroupId, now: Timestamp, actions: &mut Vec<Action>) {
        let Some(held) = self.nominations.by_pod.get(&pod.name) else {
            return;
        };
        let object = ObjectKey::Pod(pod.uid.clone());
        if self.orders.is_busy(&object, None, Purpose::Nominate) {
            // It may be there at any moment, and nothing else would take it back.
            self.renominate(group, now + ON_ITS_WAY);
            return;
        }
        let carried = pod.nominated.as_ref();
        if carried.is_some_and(|carried| held.is_ours(carried)) {
            self.write_nomination(pod, None, group, now, actions);
        } else {
            self.drop_nomination(&pod.name);
            self.trigger(pod, now);
        }
    }

    fn write_nomination(
        &mut self,
        pod: &Pod,
        node: Option<NodeName>,
        group: GroupId,
        now: Timestamp,
        actions: &mut Vec<Action>,
    ) {
        let want = Want {
            object: ObjectKey::Pod(pod.uid.clone()),
            uid: None,
            purpose: match node {
                Some(_) => Purpose::Nominate,
                None => Purpose::Withdraw,
            },
            version: None,
            request: Request::Write(Write::Nominate {
                pod: pod.name.clone(),
                uid: pod.uid.clone(),
                node,
            }),
        };
        if let Some(at) = self.order(want, now, actions) {
            self.renominate(group, at);
        }
    }

    /// Looks at a group again at a time.
    pub(super) fn renominate(&mut self, group: GroupId, at: Timestamp) {
        let groups = self.nominations.again.entry(at).or_default();
        groups.insert(group);
    }

    /// A judge of bindings of one moment, of which no watch has told us yet.
    pub fn landings(&self, now: Timestamp) -> Landings<'_> {
        Landings {
            engine: self,
            now,
            taken: BTreeMap::new(),
            assigned: BTreeMap::new(),
        }
    }

    /// `true` if pods may use a target's node.
    fn is_usable(&self, target: &PromisedTarget) -> bool {
        let node = node_of(target, &self.cluster).and_then(|node| self.cluster.nodes.get(&node));
        let starting = |node: &Node| {
            let mut taints = node.taints.iter();
            taints.any(|taint| &*taint.key == UNREGISTERED_TAINT || is_ephemeral(taint))
        };
        node.is_some_and(|node| node.readiness() == Readiness::Ready && !starting(node))
    }
}
