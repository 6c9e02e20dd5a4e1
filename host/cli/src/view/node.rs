//! Explanations of nodes: what a node is and carries, and whether it goes now.

use std::collections::{BTreeMap, BTreeSet};

use plimsoll_base::ids::Uid;
use plimsoll_base::resources::{ResourceName, Resources};
use plimsoll_base::words::shortened;
use plimsoll_cluster::bought_for;
use plimsoll_disrupt::drift::drift;
use plimsoll_disrupt::outlook::{DeclinedBy, Outlook};
use plimsoll_model::catalogue::{Catalogue, TypeOffering, launch_order};
use plimsoll_model::plan::LaunchOption;
use plimsoll_model::snapshot::{Snapshot, StateNode};
use plimsoll_model::{NodeClaim, OwnerKind, Pod};
use schemars::JsonSchema;
use serde::Serialize;

use super::explanation::Ranking;
use super::plan::Offering;
use super::{Document, Dollars, Instant, Name, instant, quantities};
use crate::output::counted;
use crate::priced::Priced;

/// Output of `plimsoll explain node`: what it is and carries, and whether it goes now.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct NodeExplanation {
    /// Its name.
    name: String,
    /// Its NodeClaim; absent where it is not managed.
    #[serde(skip_serializing_if = "Option::is_none")]
    node_claim: Option<String>,
    /// Its NodePool.
    #[serde(skip_serializing_if = "Option::is_none")]
    node_pool: Option<String>,
    /// When its NodeClaim was created, or else the node.
    created: Instant,
    #[serde(flatten)]
    machine: Machine,
    /// Pods on it, without those of DaemonSets.
    pods: Vec<Name>,
    /// Number of workloads that those belong to.
    workloads: usize,
    /// Number of pods of DaemonSets on it.
    daemon_set_pods: usize,
    /// Requests of all pods on it: quantities by resource.
    requests: BTreeMap<String, String>,
    /// Its allocatable: quantities by resource.
    allocatable: BTreeMap<String, String>,
    /// The requested share of its allocatable cpu and memory, in words.
    #[serde(skip)]
    used: String,
    /// The difference from its NodePool or node class, as the condition `Drifted` names it; absent where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    drifted: Option<String>,
    /// The outlook of its disruption.
    disruption: NodeDisruption,
    /// Findings beside: node classes of which not all is well, and launches that failed, in sentences.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) findings: Vec<String>,
}

impl Document for NodeExplanation {}

/// An instance: what it was bought as, and what else it might have been.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Machine {
    /// Its offering with its list price; absent where it is not sold, and of a NodeClaim that has none yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    offering: Option<Offering>,
    /// Its launch options, best first, as they are written on its NodeClaim.
    options: Vec<Offering>,
    /// The pods that its NodeClaim was created for; absent where that does not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    bought_for: Option<BoughtFor>,
    /// Answers of the ranking policy, at its prices of now, about its offering and the cheapest other option; absent where no policy
    /// was asked about them.
    #[serde(skip_serializing_if = "Option::is_none")]
    ranking: Option<Ranking>,
    /// The answers in lines of text.
    #[serde(skip)]
    priced: String,
}

/// Pods that a NodeClaim was created for.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct BoughtFor {
    /// Number of pods.
    pods: u32,
    /// Number of workloads that they belong to.
    workloads: usize,
}

/// The outlook of a node's disruption.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct NodeDisruption {
    /// `Now` where a command takes it away; else the kind of rule that keeps it: `Blocked`, `Budget`, `NoPlace`, `Later`, `Limit`,
    /// `NotConsolidatable`, `NotSearched`, `Declined` or `NoSaving`.
    state: &'static str,
    /// The rule in words.
    message: String,
    /// When that rule ends by itself; absent where that is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    until: Option<Instant>,
    /// `Underutilized`, `Empty` or `Drifted`, of a command or a budget.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    /// Dollars per hour that the command, or a move that was declined, saves at the prices that decide.
    #[serde(skip_serializing_if = "Option::is_none")]
    saving_per_hour: Option<Dollars>,
    /// Dollars per hour that a move that was declined is worth to the consolidation policy.
    #[serde(skip_serializing_if = "Option::is_none")]
    value_per_hour: Option<Dollars>,
    /// NodeClaims that the command takes away, this one among them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    node_claims: Vec<String>,
    /// NodeClaims whose nodes go after these, once budgets let them; the saving is that of all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    later_node_claims: Vec<String>,
    /// Best launch option of each NodeClaim that the command creates.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    replacements: Vec<Offering>,
}

impl NodeExplanation {
    /// The explanation of the node in a row of the snapshot.
    pub(crate) fn of(snapshot: &Snapshot, outlook: &Outlook, priced: &Priced, row: usize) -> Self {
        let node = &snapshot.nodes[row];
        let rows = snapshot.pods_by_node();
        let on_it = rows.get(row).into_iter().flatten();
        let on_it = on_it.map(|row| snapshot.pods[*row].as_ref());
        let (daemons, pods): (Vec<&Pod>, Vec<&Pod>) = on_it
            .filter(|pod: &&Pod| pod.is_active())
            .partition(|pod| pod.is_owned_by(OwnerKind::DaemonSet));
        let mut requests = Resources::default();
        for pod in pods.iter().chain(&daemons) {
            requests.add(&pod.spec.requests);
        }
        let allocatable = node.allocatable();
        let claim = node.claim.as_deref();
        let object = node.node.as_ref();
        let created = claim.map(|claim| claim.created);
        let created = created.or_else(|| object.map(|object| object.created));
        Self {
            name: node.name().to_owned(),
            node_claim: claim.map(|claim| claim.name.to_string()),
            node_pool: node.pool().map(|pool| pool.to_string()),
            created: instant(created.unwrap_or(snapshot.now)),
            machine: Machine::of(snapshot, node, priced),
            workloads: workloads(&pods),
            pods: pods.iter().map(|pod| Name::from(&pod.name)).collect(),
            daemon_set_pods: daemons.len(),
            used: used(&requests, &allocatable),
            requests: quantities(&requests),
            allocatable: quantities(&allocatable),
            drifted: claim.and_then(|claim| drifted(snapshot, claim)),
            disruption: NodeDisruption::of(outlook),
            findings: Vec::new(),
        }
    }

    /// The explanation for people.
    pub(crate) fn text(&self) -> String {
        let of = match (&self.node_claim, &self.node_pool) {
            (Some(claim), Some(pool)) => format!(" of NodePool {pool}, NodeClaim {claim}"),
            (Some(claim), None) => format!(", NodeClaim {claim}"),
            (None, _) => String::new(),
        };
        let mut text = format!("node {}{of}\n", self.name);
        text += &match self.node_claim {
            Some(_) => self.machine.text(&self.created),
            None => format!("  created {}\n", self.created),
        };
        let names = self.pods.iter().map(ToString::to_string);
        let pods = match self.pods.len() {
            0 => "no pods".to_owned(),
            many => format!(
                "{} of {}: {}",
                counted(many, "pod"),
                counted(self.workloads, "workload"),
                shortened(names)
            ),
        };
        text += &format!("  runs {pods}\n");
        if self.daemon_set_pods > 0 {
            let daemons = counted(self.daemon_set_pods, "pod");
            text += &format!("  and {daemons} of DaemonSets\n");
        }
        text += &format!("  requested {}\n", self.used);
        if let Some(drifted) = &self.drifted {
            text += &format!("drifted: {drifted}\n");
        }
        text + &self.disruption.text()
    }
}

impl Machine {
    /// The instance behind a node or claim.
    pub(super) fn of(snapshot: &Snapshot, node: &StateNode, priced: &Priced) -> Self {
        let overlaid = snapshot.overlaid();
        let pool = node.pool().unwrap_or_default();
        let catalogue = overlaid.of(&pool);
        let claim = node.claim.as_deref();
        let options: Vec<LaunchOption> = claim
            .map(|claim| options(claim, catalogue))
            .unwrap_or_default();
        let own = catalogue.of_labels(node.labels()).map(option);
        let answers = own
            .as_ref()
            .and_then(|own| priced.answers_about(&pool, own, &options));
        Self {
            priced: match (&answers, &own) {
                (Some(answers), Some(own)) => answers.lines_now(own),
                _ => String::new(),
            },
            ranking: answers.map(Ranking::of),
            offering: own.as_ref().map(Offering::of),
            options: options.iter().map(Offering::of).collect(),
            bought_for: claim.and_then(BoughtFor::of),
        }
    }

    /// The instance in lines of text.
    pub(super) fn text(&self, created: &Instant) -> String {
        let bought = self.bought_for.as_ref().map_or_else(String::new, |it| {
            format!(
                " for {} of {}",
                counted(it.pods as usize, "pod"),
                counted(it.workloads, "workload")
            )
        });
        let mut text = format!("  bought {created}{bought}\n");
        if let Some(offering) = &self.offering {
            text += &format!("  {}\n", offering.headline());
        }
        text += &self.priced;
        let own = self.offering.as_ref().map(ToString::to_string);
        let options = self.options.iter().map(ToString::to_string);
        let others = shortened(options.filter(|option| Some(option) != own.as_ref()));
        if !others.is_empty() {
            let or = if own.is_some() { "or" } else { "to be" };
            text += &format!("  {or} {others}\n");
        }
        text
    }
}

impl BoughtFor {
    fn of(claim: &NodeClaim) -> Option<Self> {
        let groups = bought_for(claim);
        (!groups.is_empty()).then(|| Self {
            pods: groups.iter().map(|(_, count)| count).sum(),
            workloads: groups.len(),
        })
    }
}

impl NodeDisruption {
    /// The outlook as a document.
    pub(super) fn of(outlook: &Outlook) -> Self {
        let mut disruption = Self {
            state: state(outlook),
            message: outlook.to_string(),
            until: outlook.until().map(instant),
            reason: None,
            saving_per_hour: None,
            value_per_hour: None,
            node_claims: Vec::new(),
            later_node_claims: Vec::new(),
            replacements: Vec::new(),
        };
        match outlook {
            Outlook::Goes(command) => {
                disruption.reason = Some(command.reason.as_str());
                disruption.saving_per_hour = Some(command.saving.into());
                disruption.node_claims = command.members.iter().map(ToString::to_string).collect();
                let later = command.later.iter().map(|node| node.claim.to_string());
                disruption.later_node_claims = later.collect();
                let chosen = command.plan.claims.iter();
                let chosen = chosen.filter_map(|claim| claim.chosen());
                disruption.replacements = chosen.map(Offering::of).collect();
            }
            Outlook::OverBudget(over) => disruption.reason = Some(over.reason.as_str()),
            Outlook::Declined(declined) => {
                disruption.saving_per_hour = Some(declined.saving.into());
                if declined.by == DeclinedBy::Value {
                    disruption.value_per_hour = Some(declined.value.into());
                }
            }
            _ => {}
        }
        disruption
    }

    /// The outlook in lines of text.
    pub(super) fn text(&self) -> String {
        let mut text = self.message.clone();
        if let Some(until) = &self.until {
            text += &format!(", until {until}");
        }
        text.push('\n');
        if self.state != NOW {
            return text;
        }
        if let Some(saving) = self.saving_per_hour {
            text += &format!("  saves {}\n", saving.per_hour());
        }
        if self.node_claims.len() > 1 {
            text += &format!("  together: {}\n", shortened(&self.node_claims));
        }
        if !self.later_node_claims.is_empty() {
            let later = shortened(&self.later_node_claims);
            text += &format!("  once budgets let them go, also: {later}\n");
        }
        let replacements = self.replacements.iter().map(ToString::to_string);
        let replacements = shortened(replacements);
        if !replacements.is_empty() {
            text += &format!("  replaced by {replacements}\n");
        }
        text
    }
}

const NOW: &str = "Now";

fn state(outlook: &Outlook) -> &'static str {
    match outlook {
        Outlook::Goes(_) => NOW,
        Outlook::Blocked(_) => "Blocked",
        Outlook::OverBudget(_) => "Budget",
        Outlook::NoPlace => "NoPlace",
        Outlook::DriftsLater => "Later",
        Outlook::NotReplaceable(_) => "Limit",
        Outlook::Unfit(_) => "NotConsolidatable",
        Outlook::NotSearched => "NotSearched",
        Outlook::Declined(declined) => match declined.by {
            DeclinedBy::LaterStage => "Later",
            DeclinedBy::Budgets { .. } => "Budget",
            _ => "Declined",
        },
        Outlook::NoSaving { .. } => "NoSaving",
    }
}

/// The way in which a claim differs from its pool or class, as conditions name it.
pub(super) fn drifted(snapshot: &Snapshot, claim: &NodeClaim) -> Option<String> {
    let pool = snapshot.pool(claim.pool.as_str())?;
    let overlaid = snapshot.overlaid();
    let drift = drift(pool, claim, overlaid.of(&pool.name), snapshot.now)?;
    Some(drift.to_string())
}

/// Launch options of a claim, as they are written on it.
fn options(claim: &NodeClaim, catalogue: &Catalogue) -> Vec<LaunchOption> {
    let keys = launch_order(claim);
    keys.filter_map(|key| catalogue.offering(&key).map(option))
        .collect()
}

/// An offering as a launch option at list price.
pub(super) fn option(sold: TypeOffering<'_>) -> LaunchOption {
    let key = sold.key();
    LaunchOption {
        instance_type: key.instance_type,
        zone: key.zone,
        capacity_type: key.capacity_type,
        reservation: key.reservation,
        price: sold.offering.price,
        list_price: sold.offering.price,
    }
}

/// Number of workloads of some pods; each pod without an owner is one.
fn workloads(pods: &[&Pod]) -> usize {
    let owners: BTreeSet<&Uid> = pods
        .iter()
        .filter_map(|pod| pod.owner.as_ref())
        .map(|owner| &owner.uid)
        .collect();
    let alone = pods.iter().filter(|pod| pod.owner.is_none());
    owners.len() + alone.count()
}

/// `cpu 1500m of 1930m (77 %), memory 2Gi of 3Gi (66 %)`.
fn used(requests: &Resources, allocatable: &Resources) -> String {
    let of = |name: ResourceName| {
        let (asked, has) = (requests.get(&name), allocatable.get(&name));
        let percent = i128::from(asked) * 100 / i128::from(has.max(1));
        let amount = |amount| name.amount_text(amount);
        format!("{name} {} of {} ({percent} %)", amount(asked), amount(has))
    };
    [ResourceName::Cpu, ResourceName::Memory].map(of).join(", ")
}
