//! Usage of pods beside their requests: sums over time, nodes that are busy while no pod waits, requests that are inflated.
//!
//! Nodes are bought for requests of pods that wait, never for load. So high use with nothing waiting buys nothing, and
//! requests far above use buy nodes that are not needed; a run says both where its recording says what workloads use. On a
//! node, pods whose use is not known count with what they ask for.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::AddAssign;
use std::sync::Arc;

use plimsoll_base::ids::{NodeName, ObjectName, Uid};
use plimsoll_base::resources::ResourceName;
use plimsoll_base::time::{Span, Timestamp};
use plimsoll_model::{Node, Pod, PodSpec};
use serde::{Deserialize, Serialize};

use crate::input::Usage;

/// A node is busy above this share of the cpu that it gives pods, in percent.
pub const BUSY_PERCENT: i64 = 80;
/// Spans of busy nodes that are listed.
pub const MOST_BUSY_SPANS: usize = 100;
/// Requests are inflated when more than so many times what is used.
const INFLATED: i128 = 2;

/// Cpu and memory that pods request, and that they use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestsAndUse<T> {
    /// Cpu requested.
    pub cpu_requested: T,
    /// Cpu used.
    pub cpu_used: T,
    /// Memory requested.
    pub memory_requested: T,
    /// Memory used.
    pub memory_used: T,
}

impl<T> RequestsAndUse<T> {
    /// Each of the amounts, changed.
    fn map<U>(self, change: impl Fn(T) -> U) -> RequestsAndUse<U> {
        RequestsAndUse {
            cpu_requested: change(self.cpu_requested),
            cpu_used: change(self.cpu_used),
            memory_requested: change(self.memory_requested),
            memory_used: change(self.memory_used),
        }
    }
}

impl AddAssign for RequestsAndUse<i128> {
    fn add_assign(&mut self, more: Self) {
        self.cpu_requested += more.cpu_requested;
        self.cpu_used += more.cpu_used;
        self.memory_requested += more.memory_requested;
        self.memory_used += more.memory_used;
    }
}

/// Requests and use of pods, over those whose use is known, from being bound to being gone.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UsageCard {
    /// Cpu in thousandths of core hours, memory in MiB hours.
    #[serde(flatten)]
    pub hours: RequestsAndUse<i64>,
    /// Workloads that ask for more than twice what they use, most cpu hours wasted first.
    pub inflated: Vec<Inflated>,
    /// When nodes were busy while no pod waited: the first [`MOST_BUSY_SPANS`].
    pub busy: Vec<BusySpan>,
    /// How many such spans there were.
    pub busy_count: u32,
    /// How long they were together.
    pub busy_for: Span,
}

/// A workload that asks for more than twice what it uses, of cpu or of memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Inflated {
    /// Namespace and name.
    pub workload: String,
    /// Milli-cores and bytes of one pod, on average.
    #[serde(flatten)]
    pub of_pod: RequestsAndUse<i64>,
}

/// A span in which some node was busy and no pod waited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BusySpan {
    /// When it began.
    pub from: Timestamp,
    /// When it ended.
    pub to: Timestamp,
    /// Most busy nodes at once.
    pub nodes: u32,
}

impl UsageCard {
    /// Conclusions in sentences: requests without use, their reason and a remedy.
    pub fn advice(&self) -> Vec<String> {
        let mut result = Vec::new();
        for inflated in &self.inflated {
            result.push(format!(
                "{}: a pod requests cpu {}, memory {} and uses cpu {}, memory {}; nodes are launched for requests, and a VerticalPodAutoscaler (VPA) lowers requests to use",
                inflated.workload,
                ResourceName::Cpu.amount_text(inflated.of_pod.cpu_requested),
                ResourceName::Memory.amount_text(inflated.of_pod.memory_requested),
                ResourceName::Cpu.amount_text(inflated.of_pod.cpu_used),
                ResourceName::Memory.amount_text(inflated.of_pod.memory_used),
            ));
        }
        if self.busy_count > 0 {
            result.push(format!(
                "busy nodes, none pending: above {BUSY_PERCENT} % of cpu for {} in {} span(s) while no pod was pending; nodes are launched for pending pods, never for load: let replicas follow load (HPA) or raise requests (VPA)",
                self.busy_for, self.busy_count
            ));
        }
        result
    }
}

/// Counts use while a run goes on; idle as long as no use is known.
#[derive(Clone, Debug, Default)]
pub(crate) struct UsageMeter {
    workloads: BTreeMap<Uid, Workload>,
    nodes: BTreeMap<NodeName, Carried>,
    busy: BTreeSet<NodeName>,
    open: Option<BusySpan>,
    card: UsageCard,
}

/// A workload whose use is known.
#[derive(Clone, Debug)]
struct Workload {
    name: String,
    asked: Usage,
    used: Usage,
    /// Pods on nodes now.
    pods: i64,
    sums: Sums,
}

/// Sums of amount x milliseconds.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    pods: i128,
    amounts: RequestsAndUse<i128>,
}

/// Requests and use of the pods on a node.
#[derive(Clone, Debug, Default)]
struct Carried {
    /// Milli-cores that it gives pods.
    cpu: i64,
    /// Milli-cores that pods ask for whose use is not known.
    unknown: i64,
    pods: BTreeMap<Uid, i64>,
}

impl UsageMeter {
    /// `true` if nothing is known of any pod's use.
    pub(crate) fn is_idle(&self) -> bool {
        self.workloads.is_empty()
    }

    /// Pods of an owner use so much each from now on. Whether the owner is new, so that all nodes are to be looked at.
    pub(crate) fn learn(
        &mut self,
        owner: Uid,
        name: &ObjectName,
        spec: &PodSpec,
        used: Usage,
    ) -> bool {
        let asked = Usage {
            cpu_milli: spec.requests.get(&ResourceName::Cpu),
            memory_bytes: spec.requests.get(&ResourceName::Memory),
        };
        let is_new = !self.workloads.contains_key(&owner);
        let known = self.workloads.entry(owner).or_insert_with(|| Workload {
            name: name.to_string(),
            asked,
            used,
            pods: 0,
            sums: Sums::default(),
        });
        (known.asked, known.used) = (asked, used);
        let names: Vec<NodeName> = self.nodes.keys().cloned().collect();
        for name in &names {
            self.judge(name);
        }
        is_new
    }

    /// A node carries these pods from now on; `None` when it is gone.
    pub(crate) fn carries(
        &mut self,
        name: &NodeName,
        node: Option<(&Node, &mut dyn Iterator<Item = &Arc<Pod>>)>,
    ) {
        if let Some(before) = self.nodes.remove(name) {
            self.count(&before, -1);
        }
        if let Some((node, pods)) = node {
            let mut carried = Carried {
                cpu: node.allocatable.get(&ResourceName::Cpu),
                ..Carried::default()
            };
            for pod in pods.filter(|pod| !pod.is_terminal()) {
                let owner = pod.owner.as_ref().map(|owner| &owner.uid);
                match owner.filter(|owner| self.workloads.contains_key(*owner)) {
                    Some(owner) => *carried.pods.entry(owner.clone()).or_default() += 1,
                    None => carried.unknown += pod.spec.requests.get(&ResourceName::Cpu),
                }
            }
            self.count(&carried, 1);
            self.nodes.insert(name.clone(), carried);
        }
        self.judge(name);
    }

    fn count(&mut self, carried: &Carried, sign: i64) {
        for (owner, pods) in &carried.pods {
            if let Some(workload) = self.workloads.get_mut(owner) {
                workload.pods += sign * pods;
            }
        }
    }

    /// Begins or ends a busy stretch of a node, as it is now.
    fn judge(&mut self, name: &NodeName) {
        let busy = self.nodes.get(name).is_some_and(|carried| {
            let of_owner = |(owner, pods): (&Uid, &i64)| {
                let workload = self.workloads.get(owner);
                let each = workload.map_or(0, |workload| workload.used.cpu_milli);
                i128::from(each) * i128::from(*pods)
            };
            let used: i128 = carried.pods.iter().map(of_owner).sum();
            let used = used + i128::from(carried.unknown);
            used * 100 > i128::from(carried.cpu) * i128::from(BUSY_PERCENT)
        });
        if busy {
            self.busy.insert(name.clone());
        } else {
            self.busy.remove(name);
        }
    }

    /// Time passes with everything as it is.
    pub(crate) fn advance(&mut self, millis: i128) {
        for workload in self.workloads.values_mut() {
            let weight = i128::from(workload.pods) * millis;
            let (asked, used) = (workload.asked, workload.used);
            let now = RequestsAndUse {
                cpu_requested: asked.cpu_milli,
                cpu_used: used.cpu_milli,
                memory_requested: asked.memory_bytes,
                memory_used: used.memory_bytes,
            };
            workload.sums.pods += weight;
            workload.sums.amounts += now.map(|amount| i128::from(amount) * weight);
        }
    }

    /// Looks whether nodes are busy while no pod waits.
    pub(crate) fn look(&mut self, now: Timestamp, waiting: usize) {
        let busy = u32::try_from(self.busy.len()).unwrap_or(u32::MAX);
        if busy == 0 || waiting > 0 {
            self.close(now);
            return;
        }
        let open = self.open.get_or_insert(BusySpan {
            from: now,
            to: now,
            nodes: busy,
        });
        open.nodes = open.nodes.max(busy);
    }

    fn close(&mut self, now: Timestamp) {
        let Some(open) = self.open.take().filter(|open| open.from < now) else {
            return;
        };
        self.card.busy_count += 1;
        self.card.busy_for = self.card.busy_for + now.since(open.from);
        if self.card.busy.len() < MOST_BUSY_SPANS {
            self.card.busy.push(BusySpan { to: now, ..open });
        }
    }

    /// The card; `None` when nothing was known of any pod's use.
    pub(crate) fn finish(mut self, now: Timestamp) -> Option<UsageCard> {
        self.close(now);
        if self.is_idle() {
            return None;
        }
        let mut all = RequestsAndUse::default();
        let mut inflated: Vec<(i128, Inflated)> = Vec::new();
        for workload in self.workloads.values() {
            let Sums { pods, amounts } = workload.sums;
            all += amounts;
            let is_inflated = amounts.cpu_requested > amounts.cpu_used * INFLATED
                || amounts.memory_requested > amounts.memory_used * INFLATED;
            if is_inflated {
                let one = Inflated {
                    workload: workload.name.clone(),
                    of_pod: amounts.map(|sum| whole(sum / pods.max(1))),
                };
                inflated.push((amounts.cpu_used - amounts.cpu_requested, one));
            }
        }
        inflated.sort_by(|(a, one), (b, other)| (a, &one.workload).cmp(&(b, &other.workload)));
        all.memory_requested >>= 20;
        all.memory_used >>= 20;
        Some(UsageCard {
            hours: all.map(|sum| whole(sum / 3_600_000)),
            inflated: inflated.into_iter().map(|(_, one)| one).collect(),
            ..self.card
        })
    }
}

fn whole(number: i128) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
