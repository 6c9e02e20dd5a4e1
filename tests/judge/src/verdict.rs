//! The judgement of one plan: the scheduler is handed the nodes as planned and asked about every placement and every refusal.

use std::collections::{BTreeMap, BTreeSet};

use plimsoll_model::plan::Refusal;
use plimsoll_oracles::generate::Draw;
use serde_json::Value;

use crate::binding::Queue;
use crate::case::{Case, full_name, items, kind_of, text};
use crate::count::{Ledger, with_default_requests};
use crate::defect::{Defect, Rule};
use crate::market::{self, Purchase};
use crate::planned::{Place, Planned, PlannedNode};
use crate::scheduler::{Fresh, SCHEDULED, Scheduler, SchedulerError, Verdict};
use crate::simulated::Pairs;
use crate::zone_rules::decide_zone;

/// Orders in which the scheduler is let loose on a plan.
const ORDERS: usize = 20;

/// By refused pod, the rule that is broken and what takes the pod.
type Takers = BTreeMap<String, (Rule, String)>;

/// Verdict of the judge on a plan.
#[derive(Clone, Debug, Default)]
pub struct Judgement {
    /// Rules that the plan breaks.
    pub defects: Vec<Defect>,
    /// Defects that were taken out because their fault is known to be open.
    pub open: usize,
    /// Questions that could not be judged, with the reason.
    pub not_judged: Vec<String>,
    /// Placements that were asked about.
    pub placements: usize,
    /// Refused pods that were asked about.
    pub refusals: usize,
    /// Pods that were to bind without nominations, and those that did; both zero where it was not tried.
    pub unnominated: (usize, usize),
    /// Pairs on which the simulator's scheduler was compared.
    pub simulated: Pairs,
}

/// A choice to let the scheduler bind the pods as well, which takes as long as everything else together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binding {
    /// In twenty random orders, nominated and once not.
    Tried,
    /// Not at all.
    Left,
}

/// A plan with the nodes it stands for, ready to be asked about.
struct Trial<'t> {
    case: &'t Case,
    planned: &'t Planned,
    drivers: Vec<String>,
    purchases: Vec<Purchase>,
    /// The purchase of each planned claim; `None` where its pool sells no such thing.
    bought: Vec<Option<Purchase>>,
    /// Nodes that have no daemons yet.
    bare: Vec<String>,
}

/// Judges a plan for a case.
pub fn judge(
    case: &Case,
    planned: &Planned,
    scheduler: &mut Scheduler,
    binding: Binding,
) -> Result<Judgement, SchedulerError> {
    let mut judgement = Judgement::default();
    let mut trial = Trial::of(case, planned, &mut judgement);
    let mut ledger = Ledger::of(case);
    judgement
        .defects
        .extend(ledger.book(planned, &trial.purchases));
    account(case, planned, &mut judgement);
    claims(case, planned, &mut judgement);
    trial.load(scheduler)?;
    trial.placements(scheduler, &mut judgement)?;
    trial.refusals(scheduler, &ledger, &mut judgement)?;
    if binding == Binding::Tried && judgement.defects.is_empty() {
        trial.bindings(scheduler, &mut judgement)?;
    }
    Ok(judgement)
}

impl<'t> Trial<'t> {
    fn of(case: &'t Case, planned: &'t Planned, judgement: &mut Judgement) -> Self {
        let purchases = market::purchases(case);
        let mut draw = Draw::new(case.seed, "launch", 0);
        let bought = planned.claims.iter().enumerate().map(|(at, claim)| {
            // What the plan counts on, or now and then another of the ways to launch it.
            let chosen = if draw.percent(70) {
                0
            } else {
                draw.below(claim.options.len())
            };
            let found = bought(claim, chosen, &purchases);
            if found.is_none() {
                let text = format!(
                    "claim {at} of pool {} would launch {:?}",
                    claim.pool,
                    claim.options.get(chosen)
                );
                judgement.defects.push(Defect::new(Rule::NotSold, text));
            }
            found
        });
        Self {
            case,
            planned,
            drivers: market::drivers(case),
            bought: bought.collect(),
            purchases,
            bare: Vec::new(),
        }
    }

    /// Hands the scheduler the nodes of the plan, with their daemons and nothing else.
    fn load(&mut self, scheduler: &mut Scheduler) -> Result<(), SchedulerError> {
        self.bare.clear();
        let objects = self.objects();
        scheduler.load(&objects)?;
        scheduler.start_daemons(&self.bare)?;
        Ok(())
    }

    /// Everything that the scheduler is handed: the manifests, nodes that have not joined, planned nodes.
    fn objects(&mut self) -> Vec<Value> {
        let mut objects: Vec<Value> = Vec::new();
        for object in &self.case.objects {
            match kind_of(object) {
                "DaemonSet" => objects.push(with_default_requests(self.case, object)),
                kind if SCHEDULED.contains(&kind) => objects.push(object.clone()),
                "NodeClaim" if text(object, "/status/nodeName").is_empty() => {
                    let name = node_of_claim(text(object, "/metadata/name"));
                    let fresh = self.joining(object, &name);
                    objects.extend(std::iter::once(fresh.node).chain(fresh.with));
                    self.bare.push(name);
                }
                _ => {}
            }
        }
        for (at, purchase) in self.bought.iter().enumerate() {
            if let Some(purchase) = purchase {
                let fresh = purchase.node(&node_of_plan(at), &self.drivers);
                objects.extend(std::iter::once(fresh.node).chain(fresh.with));
                self.bare.push(node_of_plan(at));
            }
        }
        objects
    }

    /// The node of a claim in flight, as its status tells it.
    fn joining(&self, claim: &Value, name: &str) -> Fresh {
        let label = |key: &str| {
            claim["metadata"]["labels"][key]
                .as_str()
                .unwrap_or_default()
        };
        let instance_type = label("node.kubernetes.io/instance-type");
        let alike = self
            .purchases
            .iter()
            .find(|one| one.instance_type == instance_type);
        let labels = claim["metadata"]["labels"]
            .as_object()
            .into_iter()
            .flatten();
        Purchase {
            pool: String::new(),
            instance_type: instance_type.to_owned(),
            zone: String::new(),
            capacity_type: String::new(),
            reservation: None,
            labels: labels
                .map(|(key, value)| (key.clone(), value.as_str().unwrap_or_default().to_owned()))
                .collect(),
            taints: items(claim, "/spec/taints").to_vec(),
            capacity: market::amounts(&claim["status"]["capacity"]),
            allocatable: market::amounts(&claim["status"]["allocatable"]),
            attaches: alike.map(|one| one.attaches.clone()).unwrap_or_default(),
        }
        .node(name, &self.drivers)
    }

    /// The plan's placements whose node could be made, in its order.
    fn pairs(&self) -> Vec<(String, String)> {
        let node = |place: &Place| match place {
            Place::Node(name) => Some(name.clone()),
            Place::Claim(name) => Some(node_of_claim(name)),
            Place::New(at) => self.bought[*at].is_some().then(|| node_of_plan(*at)),
        };
        let placed = self.planned.placements.iter();
        placed
            .filter_map(|(pod, place)| Some((pod.clone(), node(place)?)))
            .collect()
    }

    fn placements(
        &self,
        scheduler: &mut Scheduler,
        judgement: &mut Judgement,
    ) -> Result<(), SchedulerError> {
        let pairs = self.pairs();
        judgement.placements = pairs.len();
        for Verdict { pod, node, reasons } in scheduler.place(&pairs)? {
            if !reasons.is_empty() {
                let text = format!(
                    "{pod} on {node}{}: {}",
                    self.what(&node),
                    reasons.join(", ")
                );
                judgement.defects.push(Defect::new(Rule::Placement, text));
            }
        }
        Ok(())
    }

    /// What a planned node is, for people.
    fn what(&self, node: &str) -> String {
        let at = node
            .strip_prefix("planned-")
            .and_then(|at| at.parse::<usize>().ok());
        let purchase = at.and_then(|at| self.bought[at].as_ref());
        purchase.map_or_else(String::new, |one| {
            format!(
                " ({} {} {} of {})",
                one.instance_type, one.zone, one.capacity_type, one.pool
            )
        })
    }

    fn refusals(
        &mut self,
        scheduler: &mut Scheduler,
        ledger: &Ledger,
        judgement: &mut Judgement,
    ) -> Result<(), SchedulerError> {
        let refused = self.planned.refused.iter();
        let (asked, told): (Vec<_>, Vec<_>) = refused
            .partition(|one| matches!(one.reason, Refusal::Unschedulable(_) | Refusal::NoPool));
        judgement
            .not_judged
            .extend(told.iter().map(|one| format!("{} {}", one.pod, one.reason)));
        let pods: Vec<String> = asked.iter().map(|one| one.pod.clone()).collect();
        if pods.is_empty() {
            return Ok(());
        }
        judgement.refusals = pods.len();
        let mut found = self.takers(scheduler, ledger, &pods)?;
        if !found.is_empty() {
            self.leave_undecided(scheduler, ledger, &mut found)?;
        }
        for (pod, (rule, taker)) in found {
            let why = asked.iter().find(|one| one.pod == pod);
            let text = format!(
                "{pod}: {taker} takes it; the plan says it {}",
                why.map(|one| one.reason.to_string()).unwrap_or_default()
            );
            judgement.defects.push(Defect::new(rule, text));
        }
        Ok(())
    }

    /// By pod, the node that would take it, or what could still be bought and would, for people; pods that nothing takes are left out.
    fn takers(
        &self,
        scheduler: &mut Scheduler,
        ledger: &Ledger,
        pods: &[String],
    ) -> Result<Takers, SchedulerError> {
        let mut result = Takers::new();
        for verdict in scheduler.fits(pods)? {
            // Only nodes that have joined: what a planned node has left depends on which of its options is launched.
            if verdict.reasons.is_empty() && self.has_joined(&verdict.node) {
                result
                    .entry(verdict.pod)
                    .or_insert((Rule::Room, verdict.node));
            }
        }
        let affordable: Vec<&Purchase> = self
            .purchases
            .iter()
            .filter(|one| ledger.allows(one))
            .collect();
        let fresh: Vec<Fresh> = affordable
            .iter()
            .enumerate()
            .map(|(at, one)| one.node(&format!("fresh-{at}"), &self.drivers))
            .collect();
        let mut takers: BTreeMap<(String, String), Vec<&Purchase>> = BTreeMap::new();
        for verdict in scheduler.fresh(pods, &fresh)? {
            let at = verdict
                .node
                .strip_prefix("fresh-")
                .and_then(|at| at.parse::<usize>().ok());
            if let Some(taker) = at
                .and_then(|at| affordable.get(at))
                .filter(|_| verdict.reasons.is_empty())
            {
                takers
                    .entry((verdict.pod, taker.pool.clone()))
                    .or_default()
                    .push(taker);
            }
        }
        for ((pod, pool), takers) in takers {
            if ledger.is_choice(&pool, &takers, decide_zone(self.case, &pod)) {
                let one = takers[0];
                let text = format!("a new {} in {} of pool {pool}", one.instance_type, one.zone);
                result.entry(pod).or_insert((Rule::Refusal, text));
            }
        }
        Ok(result)
    }

    /// Leaves out pods that nothing takes if a planned node comes in another zone. A pool that wants several zones to choose from lets no
    /// plan decide that, and a domain more or less is what their spread is about: such a pod waits until the node is there.
    fn leave_undecided(
        &mut self,
        scheduler: &mut Scheduler,
        ledger: &Ledger,
        found: &mut Takers,
    ) -> Result<(), SchedulerError> {
        let as_planned = self.bought.clone();
        let zones: BTreeSet<String> = self.purchases.iter().map(|one| one.zone.clone()).collect();
        for zone in zones {
            let elsewhere = self.planned.claims.iter().enumerate().map(|(at, claim)| {
                let is_there = |option: &usize| claim.options[*option].zone == zone;
                let option = (0..claim.options.len()).find(is_there);
                let option = option.filter(|_| ledger.wants_zones(&claim.pool));
                let other = option.and_then(|option| bought(claim, option, &self.purchases));
                other.or_else(|| as_planned[at].clone())
            });
            self.bought = elsewhere.collect();
            self.load(scheduler)?;
            scheduler.place(&self.pairs())?;
            let pods: Vec<String> = found.keys().cloned().collect();
            let still = self.takers(scheduler, ledger, &pods)?;
            found.retain(|pod, _| still.contains_key(pod));
        }
        self.bought = as_planned;
        self.load(scheduler)
    }

    fn has_joined(&self, node: &str) -> bool {
        self.case
            .of_kind("Node")
            .any(|one| text(one, "/metadata/name") == node)
    }

    fn bindings(
        &self,
        scheduler: &mut Scheduler,
        judgement: &mut Judgement,
    ) -> Result<(), SchedulerError> {
        let pairs = self.pairs();
        let mut order: Vec<String> = pairs.iter().map(|(pod, _)| pod.clone()).collect();
        for round in 0..=ORDERS {
            shuffle(&mut order, &mut Draw::new(self.case.seed, "order", round));
            let is_nominated = round < ORDERS;
            scheduler.reset()?;
            scheduler.start_daemons(&self.bare)?;
            let mut queue = Queue::new(self.planned, &pairs, &order, is_nominated);
            queue.bind(scheduler)?;
            if !is_nominated {
                judgement.unnominated = (order.len(), order.len() - queue.waiting.len());
            } else if let Some(first) = queue.waiting.first() {
                let text = format!(
                    "{} of {} pods wait in order {round}, {} first: {}",
                    queue.waiting.len(),
                    order.len(),
                    first.pod,
                    first.reasons.join(", ")
                );
                judgement.defects.push(Defect::new(Rule::Binding, text));
                return Ok(());
            }
        }
        Ok(())
    }
}

fn node_of_claim(name: &str) -> String {
    format!("joining-{name}")
}

fn node_of_plan(at: usize) -> String {
    format!("planned-{at}")
}

/// The purchase that a claim comes to, with the claim's own labels; taints are the pool's, whatever the claim says of them.
fn bought(claim: &PlannedNode, option: usize, purchases: &[Purchase]) -> Option<Purchase> {
    let launch = claim.options.get(option)?;
    let mut found = launch.of(&claim.pool, purchases)?.clone();
    found.labels.extend(claim.labels.iter().cloned());
    Some(found)
}

/// Every waiting pod of the default scheduler is placed, refused or told of.
fn account(case: &Case, planned: &Planned, judgement: &mut Judgement) {
    let placed = planned.placements.iter().map(|(pod, _)| pod);
    let refused = planned.refused.iter().map(|one| &one.pod);
    let told: BTreeSet<&String> = placed.chain(refused).chain(&planned.noted).collect();
    for pod in case
        .of_kind("Pod")
        .filter(|pod| text(pod, "/spec/nodeName").is_empty())
    {
        let name = full_name(pod);
        if !told.contains(&name) {
            let text = format!("{name} waits, and the plan does not name it");
            judgement.defects.push(Defect::new(Rule::Missing, text));
        }
    }
}

/// Every planned claim is one that the API takes, with the taints of its pool.
fn claims(case: &Case, planned: &Planned, judgement: &mut Judgement) {
    for claim in &planned.claims {
        let pool = case
            .of_kind("NodePool")
            .find(|pool| text(pool, "/metadata/name") == claim.pool);
        let taints = pool.map_or(&[][..], |pool| items(pool, "/spec/template/spec/taints"));
        if claim.taints.as_array().map_or(&[][..], Vec::as_slice) != taints {
            let text = format!(
                "a claim of pool {} has the taints {}, not the pool's",
                claim.pool, claim.taints
            );
            judgement.defects.push(Defect::new(Rule::Claim, text));
        }
        let found = plimsoll_api::validate("karpenter.sh/v1", "NodeClaim", &claim.object);
        for finding in found
            .iter()
            .filter(|one| one.severity == plimsoll_api::Severity::Error)
        {
            let text = format!("a claim of pool {}: {finding}", claim.pool);
            judgement.defects.push(Defect::new(Rule::Claim, text));
        }
    }
}

fn shuffle(order: &mut [String], draw: &mut Draw) {
    for at in (1..order.len()).rev() {
        order.swap(at, draw.below(at + 1));
    }
}
