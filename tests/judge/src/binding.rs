//! The scheduler let loose on a plan's nodes, with the product nominating as it does on a live cluster: what may stand beside what
//! is on a node is nominated, and nominated again once the scheduler has taken it off; equal pods take one another's places.

use std::collections::BTreeMap;

use plimsoll_engine::may_be_nominated;
use plimsoll_model::Pod;

use crate::planned::Planned;
use crate::scheduler::{Scheduler, SchedulerError, Verdict};

/// Pods that wait, and the places that the plan has for them.
pub(crate) struct Queue<'q> {
    planned: &'q Planned,
    /// Pods by the order in which they are tried.
    order: &'q [String],
    /// Nodes with places left, by what makes pods equal, in the plan's order.
    places: Vec<(&'q Pod, Vec<&'q str>)>,
    is_nominated: bool,
    /// Pods that found no place in the last round, in the order in which they were tried.
    pub(crate) waiting: Vec<Verdict>,
}

impl<'q> Queue<'q> {
    /// Pods of a plan with the node of each, to be tried in an order; nominated to those nodes or not.
    pub(crate) fn new(
        planned: &'q Planned,
        pairs: &'q [(String, String)],
        order: &'q [String],
        is_nominated: bool,
    ) -> Self {
        let mut places: Vec<(&Pod, Vec<&str>)> = Vec::new();
        for (pod, node) in pairs {
            let pod = planned.pods[pod].as_ref();
            match places.iter_mut().find(|(other, _)| are_equal(other, pod)) {
                Some((_, nodes)) => nodes.push(node),
                None => places.push((pod, vec![node])),
            }
        }
        Self {
            planned,
            order,
            places,
            is_nominated,
            waiting: Vec::new(),
        }
    }

    /// Lets the scheduler try all pods, and those that wait again, until a round binds none.
    pub(crate) fn bind(&mut self, scheduler: &mut Scheduler) -> Result<(), SchedulerError> {
        let mut order = self.order.to_vec();
        while !order.is_empty() {
            let nominations = self.nominations(&order);
            let told = scheduler.bind(&order, &nominations)?;
            let (waiting, bound) = told.into_iter().partition(|one| one.node.is_empty());
            let bound: Vec<Verdict> = bound;
            self.waiting = waiting;
            if bound.is_empty() {
                return Ok(());
            }
            for one in &bound {
                self.take(one);
            }
            order = self.waiting.iter().map(|one| one.pod.clone()).collect();
        }
        self.waiting.clear();
        Ok(())
    }

    /// Node of each waiting pod that is nominated now.
    fn nominations(&self, waiting: &[String]) -> Vec<(String, String)> {
        if !self.is_nominated {
            return Vec::new();
        }
        let mut left = self.places.clone();
        let mut on: BTreeMap<&str, Vec<&Pod>> = BTreeMap::new();
        let mut result = Vec::new();
        for name in waiting {
            let pod = self.planned.pods[name].as_ref();
            let own = left.iter_mut().find(|(other, _)| are_equal(other, pod));
            let Some((_, nodes)) = own.filter(|(_, nodes)| !nodes.is_empty()) else {
                continue;
            };
            let node = nodes.remove(0);
            let beside = on.entry(node).or_default();
            if may_be_nominated(pod, beside.iter().copied()) {
                beside.push(pod);
                result.push((name.clone(), node.to_owned()));
            }
        }
        result
    }

    /// A bound pod takes a place of its equals on the node, if they have one there.
    fn take(&mut self, bound: &Verdict) {
        let pod = self.planned.pods[&bound.pod].as_ref();
        let own = self.places.iter_mut();
        for (_, nodes) in own.filter(|(other, _)| are_equal(other, pod)) {
            if let Some(at) = nodes.iter().position(|node| *node == bound.node) {
                nodes.remove(at);
            }
        }
    }
}

/// `true` if pods are one another's equals: each may take a place of the other.
fn are_equal(one: &Pod, other: &Pod) -> bool {
    one.name.namespace == other.name.namespace
        && one.labels == other.labels
        && one.owner == other.owner
        && one.spec == other.spec
}
