//! Explanations as documents: where a pod goes, or why nowhere; what a planned NodeClaim is and what else it may become.

use std::collections::BTreeMap;

use plimsoll_base::labels;
use plimsoll_model::plan::{LaunchOption, Plan, Target, Unplaced};
use plimsoll_model::snapshot::Snapshot;
use plimsoll_policy::records::ExplainedRow;
use plimsoll_schedule::{Outside, outside};
use schemars::JsonSchema;
use serde::Serialize;

use super::answer::RowAnswer;
use super::plan::{Offering, OutsideReason, PodRefusal, claim_name};
use super::{Document, Name, quantities};
use crate::priced::{Priced, PricedClaim};

/// Output of `plimsoll explain pod`: where a pod goes, or why nowhere.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PodExplanation {
    /// The pod.
    pod: Name,
    /// `Unschedulable`, `FitsExistingNode`, `NeedsNewNode`, `Nominated` (expected on a NodeClaim whose node does not exist yet),
    /// `Bound`, `NotPlanned` (it has no node and is not planned for), or `Ended`.
    state: &'static str,
    /// The node that it is bound to, or fits on.
    #[serde(skip_serializing_if = "Option::is_none")]
    node: Option<String>,
    /// The NodeClaim of the cluster that it is expected on.
    #[serde(skip_serializing_if = "Option::is_none")]
    node_claim: Option<String>,
    /// The planned NodeClaim that it goes to.
    #[serde(skip_serializing_if = "Option::is_none")]
    planned_node_claim: Option<PlannedNodeClaim>,
    /// The reason why it fits on no node.
    #[serde(skip_serializing_if = "Option::is_none")]
    refusal: Option<PodRefusal>,
    /// The reason why it is not planned for.
    #[serde(skip_serializing_if = "Option::is_none")]
    not_planned: Option<OutsideReason>,
    /// Findings beside: node classes of which not all is well, and launches that failed, in sentences.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) findings: Vec<String>,
}

impl Document for PodExplanation {}

/// Output of `plimsoll explain nodeclaim`: a NodeClaim of the plan, and what else it may become.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct NodeClaimExplanation {
    #[serde(flatten)]
    planned: PlannedNodeClaim,
    /// Its pods.
    pods: Vec<Name>,
    /// Remarks about the whole plan, and about its NodePool.
    notes: Vec<String>,
    /// Findings beside: node classes of which not all is well, and launches that failed, in sentences.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) findings: Vec<String>,
}

impl Document for NodeClaimExplanation {}

/// A NodeClaim of a plan.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct PlannedNodeClaim {
    /// Its name.
    name: String,
    /// Its NodePool.
    node_pool: String,
    /// Requests of its pods and of DaemonSets: quantities by resource.
    requests: BTreeMap<String, String>,
    /// The launch options, best first.
    options: Vec<Offering>,
    /// True if a NodeOverlay sets the price of some of its instance types.
    price_overlay_applied: bool,
    /// True if a NodeOverlay sets the capacity of some of its instance types.
    capacity_overlay_applied: bool,
    /// Answers of the ranking policy about the first option and the cheapest other one by its prices; absent where no policy was
    /// asked, or its prices were not followed.
    #[serde(skip_serializing_if = "Option::is_none")]
    ranking: Option<Ranking>,
}

/// Answers of a ranking policy.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Ranking {
    /// The policy.
    policy: String,
    /// The options that it can explain.
    explained: Vec<ExplainedOption>,
}

/// A launch option with the ranking policy's answer.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ExplainedOption {
    /// The option.
    option: Offering,
    #[serde(flatten)]
    answer: RowAnswer,
}

/// State of a pod of a snapshot, once the snapshot is planned.
pub(crate) enum PodState<'p> {
    /// It fits on no node.
    Unschedulable(&'p Unplaced),
    /// It fits on the existing node of this row.
    FitsExistingNode(usize),
    /// It goes to the planned claim of this number.
    NeedsNewNode(usize),
    /// It is expected on the NodeClaim of this name, whose node does not exist yet.
    Nominated(&'p str),
    /// It runs on the node of this name.
    Bound(&'p str),
    /// It has no node and is not planned for.
    NotPlanned(Outside),
    /// It has ended, or was never bound and does not wait.
    Ended,
}

impl<'p> PodState<'p> {
    /// The state of the pod in a row of the snapshot, by its plan.
    pub(crate) fn of(snapshot: &'p Snapshot, plan: &'p Plan, row: usize) -> Self {
        if let Some(unplaced) = plan.unplaced.iter().find(|unplaced| unplaced.pod == row) {
            return Self::Unschedulable(unplaced);
        }
        let mut placements = plan.placements.iter();
        let placed = placements.find(|placement| placement.pod == row);
        match (placed.map(|placed| placed.target), &snapshot.pods[row].node) {
            (Some(Target::Existing(row)), _) => match &snapshot.nodes[row].claim {
                Some(claim) if !snapshot.nodes[row].is_registered() => {
                    Self::Nominated(claim.name.as_str())
                }
                _ => Self::FitsExistingNode(row),
            },
            (Some(Target::New(claim)), _) => Self::NeedsNewNode(claim),
            (None, None) => {
                let found = outside(snapshot).into_iter().find(|(pod, _)| *pod == row);
                found.map_or(Self::Ended, |(_, why)| Self::NotPlanned(why))
            }
            (None, Some(node)) => {
                let found = snapshot.rows_by_node().get(node.as_str());
                let exists = found.is_none_or(|row| snapshot.nodes[row].is_registered());
                if exists {
                    Self::Bound(node.as_str())
                } else {
                    Self::Nominated(node.as_str())
                }
            }
        }
    }

    fn name(&self) -> &'static str {
        match self {
            Self::Unschedulable(_) => "Unschedulable",
            Self::FitsExistingNode(_) => "FitsExistingNode",
            Self::NeedsNewNode(_) => "NeedsNewNode",
            Self::Nominated(_) => "Nominated",
            Self::Bound(_) => "Bound",
            Self::NotPlanned(_) => "NotPlanned",
            Self::Ended => "Ended",
        }
    }
}

impl PodExplanation {
    /// The explanation of the pod in a row.
    pub(crate) fn of(snapshot: &Snapshot, plan: &Plan, priced: &Priced, row: usize) -> Self {
        let state = PodState::of(snapshot, plan, row);
        let mut explanation = Self {
            pod: Name::from(&snapshot.pods[row].name),
            state: state.name(),
            node: None,
            node_claim: None,
            planned_node_claim: None,
            refusal: None,
            not_planned: None,
            findings: Vec::new(),
        };
        match state {
            PodState::Unschedulable(unplaced) => {
                explanation.refusal = Some(PodRefusal::of(&unplaced.reason));
            }
            PodState::FitsExistingNode(node) => {
                explanation.node = Some(snapshot.nodes[node].name().to_owned());
            }
            PodState::NeedsNewNode(claim) => {
                let planned = PlannedNodeClaim::of(snapshot, plan, priced, claim);
                explanation.planned_node_claim = Some(planned);
            }
            PodState::Nominated(claim) => explanation.node_claim = Some(claim.to_owned()),
            PodState::Bound(node) => explanation.node = Some(node.to_owned()),
            PodState::NotPlanned(outside) => {
                explanation.not_planned = Some(OutsideReason::of(&outside));
            }
            PodState::Ended => {}
        }
        explanation
    }
}

impl NodeClaimExplanation {
    /// The explanation of a planned claim.
    pub(crate) fn of(snapshot: &Snapshot, plan: &Plan, priced: &Priced, number: usize) -> Self {
        let own = plan.placements.iter();
        let own = own.filter(|placement| placement.target == Target::New(number));
        let notes = plan.notes_for(&plan.claims[number].pool);
        Self {
            planned: PlannedNodeClaim::of(snapshot, plan, priced, number),
            pods: own
                .map(|placement| Name::from(&snapshot.pods[placement.pod].name))
                .collect(),
            notes: notes.map(ToString::to_string).collect(),
            findings: Vec::new(),
        }
    }
}

impl PlannedNodeClaim {
    fn of(snapshot: &Snapshot, plan: &Plan, priced: &Priced, number: usize) -> Self {
        let claim = &plan.claims[number];
        let answers = priced.answers(claim);
        Self {
            name: claim_name(snapshot, plan, number).to_string(),
            node_pool: claim.pool.to_string(),
            requests: quantities(&claim.requests),
            options: claim.options.iter().map(Offering::of).collect(),
            price_overlay_applied: claim
                .annotations
                .contains_key(labels::PRICE_OVERLAY_APPLIED),
            capacity_overlay_applied: claim
                .annotations
                .contains_key(labels::CAPACITY_OVERLAY_APPLIED),
            ranking: answers.map(Ranking::of),
        }
    }
}

impl Ranking {
    /// The answers about one claim.
    pub(super) fn of(answers: PricedClaim) -> Self {
        Self {
            policy: answers.policy,
            explained: (answers.chosen.into_iter().chain(answers.next))
                .map(ExplainedOption::of)
                .collect(),
        }
    }
}

impl ExplainedOption {
    fn of((option, row): (LaunchOption, ExplainedRow)) -> Self {
        Self {
            option: Offering::of(&option),
            answer: row.into(),
        }
    }
}
