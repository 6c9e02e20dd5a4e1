//! One cluster under one packing: its plan, facts about it, and the cluster after it was carried out.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use plimsoll_api::claim_refusal;
use plimsoll_base::ids::{NodeName, Uid};
use plimsoll_base::labels::{CAPACITY_TYPE, HOSTNAME, INSTANCE_TYPE, LabelKey, OS, ZONE};
use plimsoll_base::requirement::Requirement;
use plimsoll_base::time::Timestamp;
use plimsoll_model::catalogue::Catalogues;
use plimsoll_model::plan::{Plan, PlannedClaim, Refusal, Target};
use plimsoll_model::snapshot::{Objects, Settings, Snapshot};
use plimsoll_model::{PackingMode, Pod, PodPhase};
use plimsoll_oracles::fixture::{ClusterFixture, NodeFixture, PodFixture, cluster, node};
use plimsoll_schedule::Outside;

/// The instant of every run.
const NOW: Timestamp = Timestamp::from_millis(1_000_000_000);

/// A planned cluster.
#[derive(Clone, Debug)]
pub struct Run {
    objects: Objects,
    catalogues: Catalogues,
    settings: Settings,
    snapshot: Snapshot,
    plan: Plan,
    /// Nodes made so far.
    made: usize,
}

impl Run {
    /// Plans objects under one packing.
    ///
    /// # Panics
    /// When the plan is not complete and consistent.
    pub fn new(
        objects: Objects,
        catalogues: &Catalogues,
        settings: &Settings,
        packing: PackingMode,
    ) -> Self {
        let settings = Settings {
            packing: Some(packing),
            ..settings.clone()
        };
        Self::planned(objects, catalogues.clone(), settings, 0)
    }

    fn planned(objects: Objects, catalogues: Catalogues, settings: Settings, made: usize) -> Self {
        let snapshot = Snapshot::new(
            NOW,
            0,
            Arc::new(settings.clone()),
            Arc::new(catalogues.clone()),
            objects.clone(),
        );
        let plan = plimsoll_schedule::plan(&snapshot);
        let run = Self {
            objects,
            catalogues,
            settings,
            snapshot,
            plan,
            made,
        };
        run.judge();
        run
    }

    /// The checker finds nothing, and every pod has one fate.
    fn judge(&self) {
        let findings = plimsoll_check::check(&self.snapshot, &self.plan);
        assert!(findings.is_empty(), "{:?}: {findings:#?}", self.packing());
        let placed = self.plan.placements.iter().map(|placement| placement.pod);
        let waiting = self.plan.unplaced.iter().map(|unplaced| unplaced.pod);
        let outside = plimsoll_schedule::outside(&self.snapshot).into_iter();
        let mut seen = BTreeSet::new();
        for pod in placed.chain(waiting).chain(outside.map(|(pod, _)| pod)) {
            assert!(seen.insert(pod), "pod {pod} has two fates");
        }
        let pods = self.snapshot.pods.iter().enumerate();
        for (row, pod) in pods.filter(|(_, pod)| pod.node.is_none() && !pod.is_terminal()) {
            assert!(seen.contains(&row), "pod {} is passed over", pod.name);
        }
        self.judge_claims();
        assert!(
            self.plan.cost.bound <= self.plan.cost.list,
            "nothing is cheaper than the bound"
        );
        let bounds = plimsoll_schedule::bounds_of_plan(
            &plimsoll_schedule::prepare(&self.snapshot),
            &self.plan,
        );
        let (within, without) = (bounds.within_guards, bounds.without_guards);
        assert!(
            without <= within && within <= self.plan.cost.list,
            "{:?}: {without} <= {within} <= {}",
            self.packing(),
            self.plan.cost.list
        );
    }

    /// An API server takes every claim.
    fn judge_claims(&self) {
        for (row, planned) in self.plan.claims.iter().enumerate() {
            let claim = planned.to_claim(format!("claim-{row}").into(), NOW);
            let refused = claim_refusal(&claim, &Uid::from("pool"));
            assert_eq!(refused, None, "{:?}: {claim:#?}", self.packing());
        }
    }

    /// Carries the plan out, adds pods, and plans again.
    #[must_use]
    pub fn then(mut self, pods: impl IntoIterator<Item = PodFixture>) -> Self {
        let mut nodes = Vec::new();
        for (at, claim) in self.plan.claims.iter().enumerate() {
            nodes.push(self.realised(claim, &made_name(self.made + at)));
        }
        let names: BTreeMap<usize, NodeName> = self
            .plan
            .placements
            .iter()
            .filter_map(|placement| Some((placement.pod, self.target_node(placement.target)?)))
            .collect();
        let mut bound = Vec::new();
        for (row, pod) in self.snapshot.pods.iter().enumerate() {
            bound.push(match names.get(&row) {
                Some(name) => Arc::new(Pod {
                    node: Some(name.clone()),
                    phase: PodPhase::Running,
                    unschedulable: false,
                    ready: Some(true),
                    started: Some(NOW),
                    ..Pod::clone(pod)
                }),
                None => Arc::clone(pod),
            });
        }
        self.made += nodes.len();
        let fresh = nodes
            .into_iter()
            .fold(cluster().pods(pods), ClusterFixture::node);
        let (fresh, _, _) = fresh.parts();
        bound.extend(fresh.pods);
        self.objects.pods = bound;
        self.objects.nodes.extend(fresh.nodes);
        self.objects.claims.extend(fresh.claims);
        Self::planned(self.objects, self.catalogues, self.settings, self.made)
    }

    /// Name of the Node behind a target, once the plan is carried out.
    fn target_node(&self, target: Target) -> Option<NodeName> {
        match target {
            Target::New(claim) => Some(NodeName::from(made_name(self.made + claim))),
            Target::Existing(row) => Some(self.snapshot.nodes[row].node.as_ref()?.name.clone()),
        }
    }

    /// The node that a claim's first option gives.
    fn realised(&self, claim: &PlannedClaim, name: &str) -> NodeFixture {
        let option = claim.chosen().expect("a claim names a way to buy it");
        let sold = self
            .catalogues
            .of(&claim.class)
            .get(option.instance_type.as_str())
            .expect("a claim names types that are sold");
        let offering = sold
            .offerings
            .iter()
            .find(|offering| {
                offering.zone == option.zone && offering.capacity_type == option.capacity_type
            })
            .expect("a claim names offerings that are sold");
        let mut result = node(name)
            .managed(claim.pool.as_str())
            .class(&claim.class.name);
        for requirement in sold.requirements.iter() {
            let key = requirement.key().as_str();
            let both = claim
                .requirements
                .get(key)
                .map_or_else(|| requirement.clone(), |own| own.intersect(requirement));
            let preferred = (key == OS && both.allows("linux")).then(|| Arc::from("linux"));
            if let Some(value) = preferred.or_else(|| both.listed()?.first().cloned()) {
                result = result.label(key, &value);
            }
        }
        for (key, value) in &claim.labels {
            result = result.label(key, value);
        }
        for taint in &claim.taints {
            result = result.taint(&taint.key, &taint.value, taint.effect);
        }
        result
            .zone(&option.zone)
            .label(CAPACITY_TYPE, option.capacity_type.as_str())
            .of_type(option.instance_type.as_str())
            .with(|node| {
                node.capacity = sold.capacity.clone();
                node.allocatable = sold.allocatable(offering);
            })
    }

    /// Pods without a node that are not planned for, by name, with the reason.
    pub fn outside(&self) -> Vec<(String, Outside)> {
        let outside = plimsoll_schedule::outside(&self.snapshot).into_iter();
        let named = outside.map(|(row, why)| (self.snapshot.pods[row].name.name.to_string(), why));
        let mut named: Vec<_> = named.collect();
        named.sort_by(|left, right| left.0.cmp(&right.0));
        named
    }

    /// The packing it was planned under.
    pub fn packing(&self) -> PackingMode {
        self.settings.packing.unwrap_or_default()
    }

    /// The plan.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The snapshot that was planned.
    pub fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    /// Pods called `app` per domain, smallest number first.
    pub fn skew(&self, key: &str, app: &str) -> Vec<usize> {
        let mut counts: Vec<usize> = self.domains(key, app).into_values().collect();
        counts.sort_unstable();
        counts
    }

    /// Pods labelled `app: <app>` per domain: those that ran, and those just placed.
    pub fn domains(&self, key: &str, app: &str) -> BTreeMap<String, usize> {
        let rows = self.snapshot.rows_by_node();
        let targets: BTreeMap<usize, Target> = self.targets();
        let mut result = BTreeMap::new();
        for (row, pod) in self.snapshot.pods.iter().enumerate() {
            if !is_called(pod, app) {
                continue;
            }
            let bound = (pod.node.as_ref()).and_then(|name| rows.get(name.as_str()));
            let target = targets
                .get(&row)
                .copied()
                .or_else(|| bound.filter(|_| pod.is_active()).map(Target::Existing));
            if let Some(target) = target {
                *result.entry(self.domain(key, target)).or_default() += 1;
            }
        }
        result
    }

    fn targets(&self) -> BTreeMap<usize, Target> {
        let placements = self.plan.placements.iter();
        placements
            .map(|placement| (placement.pod, placement.target))
            .collect()
    }

    /// The value of a label at a target; `undecided` where a claim's options differ.
    fn domain(&self, key: &str, target: Target) -> String {
        match target {
            Target::Existing(row) if key == HOSTNAME => {
                self.snapshot.nodes[row].hostname().to_owned()
            }
            Target::Existing(row) => self.snapshot.nodes[row]
                .labels()
                .get(key)
                .map_or("none".to_owned(), ToString::to_string),
            Target::New(claim) if key == HOSTNAME => made_name(self.made + claim),
            Target::New(claim) => self.claim_domain(key, &self.plan.claims[claim]),
        }
    }

    fn claim_domain(&self, key: &str, claim: &PlannedClaim) -> String {
        let of_option = |option: &plimsoll_model::plan::LaunchOption| -> Option<Arc<str>> {
            match key {
                ZONE => Some(Arc::clone(&option.zone)),
                CAPACITY_TYPE => Some(Arc::from(option.capacity_type.as_str())),
                INSTANCE_TYPE => Some(Arc::from(option.instance_type.as_str())),
                _ => {
                    let sold = self
                        .catalogues
                        .of(&claim.class)
                        .get(option.instance_type.as_str())?;
                    let any = Requirement::exists(LabelKey::from(key));
                    let of_type = sold.requirements.get(key).unwrap_or(&any);
                    let of_claim = claim.requirements.get(key).unwrap_or(&any);
                    let label = claim.labels.get(key).cloned();
                    of_type.intersect(of_claim).single().cloned().or(label)
                }
            }
        };
        let values: BTreeSet<Option<Arc<str>>> = claim.options.iter().map(of_option).collect();
        match values.iter().collect::<Vec<_>>().as_slice() {
            [Some(value)] => value.to_string(),
            _ => "undecided".to_owned(),
        }
    }

    /// How many pods called `app` this plan places.
    pub fn placed(&self, app: &str) -> usize {
        let placed = self.targets().into_keys();
        placed
            .filter(|row| is_called(&self.snapshot.pods[*row], app))
            .count()
    }

    /// Names of pods left waiting.
    pub fn waiting(&self) -> Vec<String> {
        let waiting = self.plan.unplaced.iter();
        waiting
            .map(|unplaced| self.snapshot.pods[unplaced.pod].name.name.to_string())
            .collect()
    }

    /// Why a pod is left waiting: the words for the pod, or those of every pool.
    ///
    /// # Panics
    /// When it is not.
    pub fn reason(&self, pod: &str) -> String {
        self.reason_in(&self.plan, pod)
    }

    /// The same with the nearest offerings of every pool.
    ///
    /// # Panics
    /// When it is not.
    pub fn reason_and_nearest(&self, pod: &str) -> String {
        let mut plan = self.plan.clone();
        let replan = |changed: &Snapshot| Some(plimsoll_schedule::plan(changed));
        plimsoll_schedule::tell_nearest(&self.snapshot, &mut plan, |_| true, replan);
        self.reason_in(&plan, pod)
    }

    fn reason_in(&self, plan: &Plan, pod: &str) -> String {
        let found = plan
            .unplaced
            .iter()
            .find(|unplaced| self.snapshot.pods[unplaced.pod].name.name.as_ref() == pod);
        match &found.expect("the pod is left waiting").reason {
            Refusal::Unschedulable(pools) => {
                let reasons: Vec<String> = pools.iter().map(ToString::to_string).collect();
                reasons.join("; ")
            }
            Refusal::Invalid(reason) => reason.clone(),
            other => format!("{other:?}"),
        }
    }

    /// The node or instance that a pod was put on.
    pub fn place(&self, pod: &str) -> Option<String> {
        let targets = self.targets();
        let row = self
            .snapshot
            .pods
            .iter()
            .position(|found| found.name.name.as_ref() == pod)?;
        Some(self.domain(HOSTNAME, *targets.get(&row)?))
    }
}

fn made_name(number: usize) -> String {
    format!("made-{number}")
}

fn is_called(pod: &Pod, app: &str) -> bool {
    pod.labels
        .get("app")
        .is_some_and(|value| value.as_ref() == app)
}
