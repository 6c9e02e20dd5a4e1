//! Owners of pods: deployments that keep replicas, replicas that follow load, and pods that come back when moved.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use plimsoll_base::ids::ObjectName;
use plimsoll_base::time::{Span, Timestamp};
use plimsoll_model::{Object, OwnerKind, Pod, PodPhase};

use crate::input::{Change, Deployment, Recording, ReplicaRule, TimedChange, Usage};
use crate::world::{Event, Task, World};

/// How often replicas are compared with load, as the horizontal autoscaler does.
pub(crate) const AUTOSCALE: Span = Span::from_secs(15);
/// A ratio within this many thousandths of one is left alone.
const TOLERANCE: u128 = 100;

/// Deployments, and names given to pods that come back.
#[derive(Clone, Debug, Default)]
pub(crate) struct Workloads {
    deployments: BTreeMap<ObjectName, Kept>,
    returned: u64,
    autoscaling: bool,
    /// `true` if the API server shows deployments: only capacity buffers read them.
    are_shown: bool,
}

#[derive(Clone, Debug)]
struct Kept {
    deployment: Deployment,
    pods: BTreeSet<ObjectName>,
    made: u64,
    load: u64,
}

impl Workloads {
    /// The owners of a recording's pods.
    pub(crate) fn of(recording: &Recording) -> Self {
        let brings = |timed: &TimedChange| matches!(timed.change, Change::Apply(Object::Buffer(_)));
        Self {
            are_shown: !recording.objects.buffers.is_empty()
                || recording.changes.iter().any(brings),
            ..Self::default()
        }
    }

    /// A pod ended that its owner does not replace.
    pub(crate) fn forget(&mut self, pod: &Pod) {
        if let Some(kept) = self.owner_of(pod) {
            kept.pods.remove(&pod.name);
        }
    }

    fn owner_of(&mut self, pod: &Pod) -> Option<&mut Kept> {
        let owner = pod.owner.as_ref()?;
        let namespace = Arc::clone(&pod.name.namespace);
        let name = ObjectName::new(namespace, Arc::clone(&owner.name));
        let kept = self.deployments.get_mut(&name)?;
        kept.pods.contains(&pod.name).then_some(kept)
    }
}

/// Replicas wanted at a load, from so many now: `ceil(current x metric / target)` with the metric per replica, which is
/// the load over the replicas; unchanged while the ratio is within a tenth of one.
pub fn desired_replicas(rule: &ReplicaRule, current: u32, load: u64) -> u32 {
    let bounded = |wanted: u32| wanted.clamp(rule.least, rule.most.max(rule.least));
    if current == 0 || rule.target == 0 {
        return bounded(current.max(u32::from(load > 0)));
    }
    let full = u128::from(rule.target) * u128::from(current);
    let ratio = u128::from(load) * 1000 / full;
    if ratio.abs_diff(1000) <= TOLERANCE {
        return bounded(current);
    }
    let wanted = u128::from(load).div_ceil(u128::from(rule.target));
    bounded(u32::try_from(wanted).unwrap_or(u32::MAX))
}

impl World {
    /// A change from the recording happens.
    pub(crate) fn change(&mut self, change: Change) {
        match change {
            Change::Arrive(pod, runs_for) => {
                if let Some(span) = runs_for {
                    self.tasks.insert(pod.name.clone(), Task::of(span));
                }
                let mut pod = Pod::clone(&pod);
                pod.created = self.now;
                self.arrive(pod);
            }
            Change::Apply(object) => {
                if let Object::Pool(pool) = &object {
                    self.class_of(pool);
                }
                self.api.put_other(object);
                self.scheduler.try_all();
            }
            Change::Detach(name) => {
                if let Some(node) = self.api.remove_attachment(&name) {
                    self.scheduler.try_node(&node);
                }
            }
            Change::DeletePod(name) => {
                if let Some(pod) = self.api.pods.get(&name).cloned() {
                    self.workloads.forget(&pod);
                    self.tasks.remove(&name);
                    self.meter.expect_gone(&pod);
                    self.ask_to_go(&name);
                }
            }
            Change::Deploy(deployment) => self.deploy(deployment),
            Change::Scale(name, replicas) => self.scale(&name, replicas),
            Change::Load(name, load) => {
                if let Some(kept) = self.workloads.deployments.get_mut(&name) {
                    kept.load = load;
                }
                self.follow_load();
            }
            Change::Uses(name, usage) => self.use_of(&name, usage),
            Change::Price(which, price) => {
                self.cloud.set_price(&which, price);
                self.meter.repriced(&self.cloud, self.now);
                let listed = self.cloud.listed();
                let input = plimsoll_engine::Input::Catalogues(listed);
                self.announcements.push(input);
            }
            Change::Stock(which, left) => self.cloud.set_stock(&which, left),
            Change::Admit(name, most) => self.scheduler.admit(name, most),
            Change::Interrupt(node) => {
                let id = self
                    .api
                    .nodes
                    .get(&node)
                    .and_then(|node| node.provider_id.clone());
                if let Some(id) = id {
                    self.notice(&id);
                }
            }
        }
    }

    fn deploy(&mut self, deployment: Deployment) {
        let name = deployment.name.clone();
        let replicas = deployment.replicas;
        let kept = self.workloads.deployments.entry(name.clone());
        let kept = kept.or_insert_with(|| Kept {
            deployment: deployment.clone(),
            pods: BTreeSet::new(),
            made: 0,
            load: 0,
        });
        let uses = deployment.uses;
        kept.deployment = deployment;
        if let Some(usage) = uses {
            self.use_of(&name, usage);
        }
        self.scale(&name, replicas);
        self.follow_load();
    }

    /// Each pod of a deployment uses so much from now on.
    fn use_of(&mut self, name: &ObjectName, usage: Usage) {
        if let Some(kept) = self.workloads.deployments.get(name) {
            let deployment = &kept.deployment;
            let owner = deployment.owner().uid;
            self.meter
                .uses(&self.api, owner, &deployment.name, &deployment.spec, usage);
        }
    }

    /// Another number of replicas: waiting pods go first, then the youngest, as the deployment's controller does.
    pub(crate) fn scale(&mut self, name: &ObjectName, replicas: u32) {
        let Some(kept) = self.workloads.deployments.get_mut(name) else {
            return;
        };
        kept.deployment.replicas = replicas;
        if self.workloads.are_shown {
            let shown = Object::Workload(Arc::new(kept.deployment.object()));
            self.api.put_other(shown);
        }
        let mut pods: Vec<Arc<Pod>> = kept
            .pods
            .iter()
            .filter_map(|pod| self.api.pods.get(pod).cloned())
            .collect();
        pods.sort_by(|a, b| {
            let rank = |pod: &Pod| (pod.node.is_none(), pod.created);
            (rank(a), &a.name).cmp(&(rank(b), &b.name))
        });
        let extra = pods.split_off(pods.len().min(replicas as usize));
        for pod in &extra {
            kept.pods.remove(&pod.name);
        }
        for pod in extra {
            self.meter.expect_gone(&pod);
            self.ask_to_go(&pod.name);
        }
        self.fill_up(name);
    }

    /// Makes the pods that a deployment lacks, and says which.
    fn fill_up(&mut self, name: &ObjectName) -> Vec<Pod> {
        let mut born = Vec::new();
        if let Some(kept) = self.workloads.deployments.get_mut(name) {
            while kept.pods.len() < kept.deployment.replicas as usize {
                kept.made += 1;
                let pod = new_pod(&kept.deployment, kept.made, self.now);
                kept.pods.insert(pod.name.clone());
                born.push(pod);
            }
        }
        for pod in &born {
            self.arrive(pod.clone());
        }
        born
    }

    /// A pod is gone that was not deleted: its owner makes another under another name. A Job's pod begins its work anew; any
    /// other serves for what is left of its time.
    pub(crate) fn replace(&mut self, pod: &Pod) {
        if let Some(kept) = self.workloads.owner_of(pod) {
            kept.pods.remove(&pod.name);
            let owner = kept.deployment.name.clone();
            for successor in self.fill_up(&owner) {
                self.meter.returns(&successor);
            }
            return;
        }
        let returns = pod.owner.as_ref().is_some_and(|owner| {
            !matches!(owner.kind, OwnerKind::DaemonSet | OwnerKind::Node)
                && !owner.uid.as_str().starts_with("deployment/")
        });
        if !returns || self.meter.was_expected_to_go(pod) {
            return;
        }
        self.workloads.returned += 1;
        let number = self.workloads.returned;
        let stem = pod.name.name.split("-again").next().unwrap_or("pod");
        let name = ObjectName::new(
            Arc::clone(&pod.name.namespace),
            format!("{stem}-again{number}"),
        );
        if let Some(task) = self.tasks.remove(&pod.name) {
            let again = task.again(pod.is_owned_by(OwnerKind::Job), self.now);
            self.tasks.insert(name.clone(), again);
        }
        let mut next = fresh(pod, name, self.now);
        next.uid = format!("{}-again{number}", pod.uid).into();
        self.meter.returns(&next);
        self.arrive(next);
    }

    /// Compares replicas with load on the next mark of fifteen seconds, if any rule is there.
    fn follow_load(&mut self) {
        let ruled = |kept: &Kept| kept.deployment.follows.is_some();
        if self.workloads.autoscaling || !self.workloads.deployments.values().any(ruled) {
            return;
        }
        self.workloads.autoscaling = true;
        self.queue.push(next_mark(self.now), Event::Autoscale);
    }

    pub(crate) fn autoscale(&mut self) {
        self.workloads.autoscaling = false;
        let mut wanted = Vec::new();
        for (name, kept) in &self.workloads.deployments {
            if let Some(rule) = &kept.deployment.follows {
                let current = kept.deployment.replicas;
                let replicas = desired_replicas(rule, current, kept.load);
                if replicas != current {
                    wanted.push((name.clone(), replicas));
                }
            }
        }
        // A rule whose load has not changed since it was last met wants nothing new: no further look is needed.
        let again = !wanted.is_empty();
        for (name, replicas) in wanted {
            self.scale(&name, replicas);
        }
        if again {
            self.follow_load();
        }
    }
}

fn next_mark(now: Timestamp) -> Timestamp {
    let step = AUTOSCALE.millis();
    Timestamp::from_millis((now.millis().div_euclid(step) + 1) * step)
}

fn new_pod(deployment: &Deployment, number: u64, now: Timestamp) -> Pod {
    let name = format!("{}-{number}", deployment.name.name);
    Pod {
        labels: Arc::clone(&deployment.labels),
        spec: Arc::clone(&deployment.spec),
        owner: Some(deployment.owner()),
        unschedulable: false,
        ..Pod::pending(
            format!("{}/{name}", deployment.name.namespace).into(),
            ObjectName::new(Arc::clone(&deployment.name.namespace), name),
            now,
        )
    }
}

/// The same pod, as its owner makes it anew.
fn fresh(pod: &Pod, name: ObjectName, now: Timestamp) -> Pod {
    let mut next = pod.clone();
    next.name = name;
    next.created = now;
    next.node = None;
    next.nominated = None;
    next.phase = PodPhase::Pending;
    next.unschedulable = false;
    next.scheduler_message = None;
    next.ready = None;
    next.deleting = None;
    next.started = None;
    next
}

#[cfg(test)]
mod tests {
    use super::*;

    fn desired(current: u32, metric: u64, target: u64) -> u32 {
        let rule = ReplicaRule {
            target,
            least: 1,
            most: 100,
        };
        desired_replicas(&rule, current, metric * u64::from(current))
    }

    #[test]
    fn replicas_are_the_ceiling_of_current_times_metric_over_target() {
        let rows = [
            // current, metric per replica, target, wanted
            (1, 200, 100, 2),
            (2, 150, 100, 3),
            (3, 101, 50, 7),
            (4, 50, 100, 2),
            (3, 35, 100, 2),
            (1, 242, 50, 5),
        ];
        for (current, metric, target, wanted) in rows {
            assert_eq!(
                desired(current, metric, target),
                wanted,
                "{current} x {metric}/{target}"
            );
        }
    }

    #[test]
    fn a_tenth_more_or_less_changes_nothing() {
        assert_eq!(desired(10, 110, 100), 10);
        assert_eq!(desired(10, 90, 100), 10);
        assert_eq!(desired(10, 111, 100), 12);
        assert_eq!(desired(10, 89, 100), 9);
    }

    #[test]
    fn replicas_stay_within_their_bounds() {
        let rule = ReplicaRule {
            target: 10,
            least: 2,
            most: 5,
        };
        assert_eq!(desired_replicas(&rule, 3, 1000), 5);
        assert_eq!(desired_replicas(&rule, 3, 0), 2);
    }

    #[test]
    fn steps_fall_on_marks_of_fifteen_seconds() {
        let mark = |millis| next_mark(Timestamp::from_millis(millis)).millis();
        assert_eq!(mark(0), 15_000);
        assert_eq!(mark(14_999), 15_000);
        assert_eq!(mark(15_000), 30_000);
    }
}
