//! A node group of one fixed type, grown one node after another by first fit: the baseline that many clusters run today.
//!
//! It reads requests, taints, node selectors and required node affinity, as a node group's owner would; rules between pods
//! (spread, affinity) are not read, so a comparison on pods that carry them says little.

use std::sync::Arc;

use plimsoll_base::ids::TypeName;
use plimsoll_base::labels::{self, LabelKey};
use plimsoll_base::requirement::{Requirement, Requirements, Undefined};
use plimsoll_base::resources::{ResourceName, Resources};
use plimsoll_model::action::ConsiderRequest;
use plimsoll_model::catalogue::{CapacityType, InstanceType, Offering};
use plimsoll_model::command::{Command, DisruptionQuestion};
use plimsoll_model::plan::{
    LaunchOption, Placement, Plan, PlannedClaim, PoolRefusal, Refusal, Target, Unplaced,
};
use plimsoll_model::snapshot::{Snapshot, StateNode};
use plimsoll_model::{DaemonSet, NodePool, Pod, first_untolerated, is_displaced, wants_node};

use crate::planner::{Considered, Planned, Planner};

/// A group of nodes of one type.
#[derive(Clone, Debug)]
pub struct FixedGroup {
    instance_type: TypeName,
    terms: CapacityType,
}

/// One node of the plan, there already or to be bought.
struct Bin {
    target: Target,
    free: Resources,
    labels: Requirements,
    new: bool,
    taints: Vec<plimsoll_model::Taint>,
}

impl FixedGroup {
    /// A group of this type, on demand.
    pub fn new(instance_type: impl Into<TypeName>) -> Self {
        Self {
            instance_type: instance_type.into(),
            terms: CapacityType::OnDemand,
        }
    }

    /// On other terms.
    #[must_use]
    pub fn on(mut self, terms: CapacityType) -> Self {
        self.terms = terms;
        self
    }

    fn offerings<'a>(&self, listed: &'a InstanceType) -> Vec<&'a Offering> {
        let mut offerings: Vec<&Offering> = listed
            .offerings
            .iter()
            .filter(|offering| offering.available && offering.capacity_type == self.terms)
            .collect();
        offerings.sort_by(|a, b| (a.price, &a.zone).cmp(&(b.price, &b.zone)));
        offerings
    }
}

impl Planner for FixedGroup {
    fn plan(&mut self, snapshot: &Snapshot) -> Planned {
        let mut filler = Filler::new(snapshot);
        let mut pods: Vec<usize> = open_pods(snapshot);
        pods.sort_by_key(|row| {
            let pod = &snapshot.pods[*row];
            (std::cmp::Reverse(pod.spec.priority), pod.created, &pod.name)
        });
        for row in pods {
            filler.place(row, self);
        }
        filler.plan.into()
    }

    /// A group gives back instances that nothing uses; it moves nothing.
    fn consider(&mut self, request: &ConsiderRequest) -> Considered {
        let question = match &request.question {
            DisruptionQuestion::Pass { .. } => DisruptionQuestion::Pass { consolidate: false },
            confirmed @ DisruptionQuestion::Confirm(_) => confirmed.clone(),
        };
        let mut decision = plimsoll_disrupt::consider(&request.snapshot, &question);
        let moves_nothing = |command: &Command| !command.reason.facts().moves_pods;
        decision.commands.retain(moves_nothing);
        decision.into()
    }
}

/// Pods that wait, and those on nodes that are deleting.
fn open_pods(snapshot: &Snapshot) -> Vec<usize> {
    let mut rows: Vec<usize> = (0..snapshot.pods.len())
        .filter(|row| wants_node(&snapshot.pods[*row]) && snapshot.pods[*row].nominated.is_none())
        .collect();
    for (node, pods) in snapshot.nodes.iter().zip(snapshot.pods_by_node()) {
        if node.is_deleting() {
            let moved = pods
                .into_iter()
                .filter(|row| is_displaced(&snapshot.pods[*row], snapshot.now));
            rows.extend(moved);
        }
    }
    rows
}

struct Filler<'a> {
    snapshot: &'a Snapshot,
    bins: Vec<Bin>,
    plan: Plan,
}

impl<'a> Filler<'a> {
    fn new(snapshot: &'a Snapshot) -> Self {
        let by_node = snapshot.pods_by_node();
        let rows = snapshot.nodes.iter().enumerate();
        let bins = rows
            .filter(|(_, node)| !node.is_deleting())
            .map(|(row, node)| existing_bin(snapshot, row, node, &by_node[row]))
            .collect();
        Self {
            snapshot,
            bins,
            plan: Plan::default(),
        }
    }

    fn place(&mut self, row: usize, group: &FixedGroup) {
        let pod = &self.snapshot.pods[row];
        let at = self.bins.iter().position(|bin| fits(pod, bin));
        let at = match at {
            Some(at) => Ok(at),
            None => self.open(pod, group),
        };
        match at {
            Ok(at) => {
                let bin = &mut self.bins[at];
                bin.free = bin.free.minus(&pod.spec.requests);
                if let (Target::New(claim), true) = (bin.target, bin.new) {
                    self.plan.claims[claim].requests.add(&pod.spec.requests);
                }
                self.plan.placements.push(Placement {
                    pod: row,
                    target: bin.target,
                    relaxed: 0,
                });
            }
            Err(reason) => self.plan.unplaced.push(Unplaced { pod: row, reason }),
        }
    }

    /// One more node of the type.
    fn open(&mut self, pod: &Pod, group: &FixedGroup) -> Result<usize, Refusal> {
        let mut refusals = Vec::new();
        let pools = self.snapshot.pools.iter();
        for pool in pools.filter(|pool| pool.ready && pool.replicas.is_none()) {
            match self.try_pool(pod, pool, group) {
                Ok((bin, claim)) => {
                    self.bins.push(bin);
                    self.plan.claims.push(claim);
                    return Ok(self.bins.len() - 1);
                }
                Err(reason) => refusals.push(PoolRefusal::whole(pool.name.clone(), reason)),
            }
        }
        Err(if refusals.is_empty() {
            Refusal::NoPool
        } else {
            Refusal::Unschedulable(refusals)
        })
    }

    fn try_pool(
        &self,
        pod: &Pod,
        pool: &NodePool,
        group: &FixedGroup,
    ) -> Result<(Bin, PlannedClaim), String> {
        let name = &group.instance_type;
        let catalogue = self.snapshot.catalogues.of(&pool.class);
        let listed = catalogue
            .get(name.as_str())
            .ok_or_else(|| format!("{name} is not in the catalogue"))?;
        let offerings = group.offerings(listed);
        let first = offerings
            .first()
            .ok_or_else(|| format!("{name} cannot be had {}", group.terms))?;
        let mut labels = pool.node_requirements();
        labels.add_all(&listed.requirements);
        labels.add(Requirement::one_of(
            LabelKey::from(labels::INSTANCE_TYPE),
            [name.as_str()],
        ));
        let bin = Bin {
            target: Target::New(self.plan.claims.len()),
            free: self.room(listed, first, &labels),
            taints: pool.taints.clone(),
            labels,
            new: true,
        };
        refusal(pod, &bin).map_or(Ok(()), Err)?;
        let options = offerings.iter().map(|offering| option(listed, offering));
        let claim = planned_claim(pool, listed, options.collect(), group.terms);
        Ok((bin, claim))
    }

    /// Room of a new node for pods, after its daemons.
    fn room(&self, listed: &InstanceType, offering: &Offering, labels: &Requirements) -> Resources {
        let mut free = listed.allocatable(offering);
        let sets = self.snapshot.daemon_sets.iter();
        for set in sets.filter(|set| daemon_runs(set, labels)) {
            free = free.minus(&set.pod.requests);
        }
        free
    }
}

fn daemon_runs(set: &DaemonSet, labels: &Requirements) -> bool {
    let fits = |asked: &Requirements| labels.accepts(asked, Undefined::Ignored).is_ok();
    let terms = &set.pod.node_required;
    fits(&set.pod.node_selector)
        && (terms.is_empty() || terms.iter().any(|term| fits(&term.requirements)))
}

fn existing_bin(snapshot: &Snapshot, row: usize, node: &StateNode, pods: &[usize]) -> Bin {
    let mut free = node.allocatable();
    for pod in pods {
        let pod = &snapshot.pods[*pod];
        if !pod.is_terminal() {
            free = free.minus(&pod.spec.requests);
        }
    }
    let labels = match &node.claim {
        Some(claim) if !node.is_registered() => {
            let mut labels = claim.requirements.clone();
            labels.add_all(&Requirements::from_labels(&claim.labels));
            labels
        }
        _ => Requirements::from_labels(node.labels()),
    };
    // A node that has not joined has none of its daemons yet.
    if !node.is_initialized() {
        let sets = snapshot.daemon_sets.iter();
        for set in sets.filter(|set| daemon_runs(set, &labels)) {
            free = free.minus(&set.pod.requests);
        }
    }
    Bin {
        target: Target::Existing(row),
        free,
        labels,
        new: false,
        taints: node.taints(),
    }
}

fn fits(pod: &Pod, bin: &Bin) -> bool {
    refusal(pod, bin).is_none()
}

/// The first rule that keeps a pod off a node.
fn refusal(pod: &Pod, bin: &Bin) -> Option<String> {
    if let Some(taint) = first_untolerated(&bin.taints, &pod.spec.tolerations) {
        return Some(format!("tainted {taint}, not tolerated"));
    }
    let undefined = if bin.new {
        Undefined::Ignored
    } else {
        Undefined::Refused
    };
    let refused = |asked: &Requirements| bin.labels.accepts(asked, undefined).err();
    if let Some(incompatible) = refused(&pod.spec.node_selector) {
        return Some(incompatible.to_string());
    }
    let terms = &pod.spec.node_required;
    if !terms.is_empty()
        && terms
            .iter()
            .all(|term| refused(&term.requirements).is_some())
    {
        return Some("no term of its node affinity holds".to_owned());
    }
    let short = bin.free.first_short_of(&pod.spec.requests)?;
    Some(format!(
        "too little {short}: asks {}, there is {}",
        short.amount_text(pod.spec.requests.get(&short)),
        short.amount_text(bin.free.get(&short))
    ))
}

fn option(listed: &InstanceType, offering: &Offering) -> LaunchOption {
    LaunchOption {
        instance_type: listed.name.clone(),
        zone: Arc::clone(&offering.zone),
        capacity_type: offering.capacity_type,
        reservation: None,
        price: offering.price,
        list_price: offering.price,
    }
}

fn planned_claim(
    pool: &NodePool,
    listed: &InstanceType,
    options: Vec<LaunchOption>,
    terms: CapacityType,
) -> PlannedClaim {
    let mut requirements = pool.node_requirements();
    for key in [labels::REGISTERED, labels::INITIALIZED] {
        requirements.remove(key);
    }
    let mut narrow = |key: &str, value: &str| {
        requirements.add(Requirement::one_of(LabelKey::from(key), [value]));
    };
    narrow(labels::INSTANCE_TYPE, listed.name.as_str());
    narrow(labels::CAPACITY_TYPE, terms.as_str());
    let mut own = pool.labels.clone();
    own.insert(Arc::from(labels::NODEPOOL), Arc::from(pool.name.as_str()));
    PlannedClaim {
        pool: pool.name.clone(),
        class: pool.class.clone(),
        labels: own,
        annotations: pool.annotations.clone(),
        taints: pool.taints.clone(),
        startup_taints: pool.startup_taints.clone(),
        expire_after: pool.expire_after,
        termination_grace: pool.termination_grace,
        requirements,
        requests: Resources::new().with(ResourceName::Pods, 0),
        options,
    }
}
