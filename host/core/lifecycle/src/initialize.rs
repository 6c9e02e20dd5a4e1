//! Initialisation: a node is complete once ready, free of start-up and passing taints, and reporting every resource its claim counts on.

use std::fmt;
use std::sync::Arc;

use plimsoll_base::labels;
use plimsoll_base::resources::ResourceName;
use plimsoll_model::action::{ClaimChange, NodeChange, Purpose};
use plimsoll_model::snapshot::is_ephemeral;
use plimsoll_model::{ClaimPhase, Node, NodeClaim, Readiness, Taint};

use super::standing::standing;
use super::view::is_marked;
use super::{ClaimView, Step};

pub(super) fn initialize(view: &ClaimView<'_>, step: &mut Step) {
    let Some((node, version)) = view.only_node() else {
        return;
    };
    if is_marked(node, labels::INITIALIZED) {
        let change = ClaimChange::saying(standing(view, ClaimPhase::Initialized));
        step.change_claim(view, Purpose::MarkInitialized, change);
    } else if lack(view.claim, node, &node.taints).is_none() {
        let change = NodeChange {
            labels: [(Arc::from(labels::INITIALIZED), Arc::from("true"))].into(),
            ..NodeChange::default()
        };
        step.change_node(node, Purpose::Initialize, Some(version), change);
    }
}

/// Requirements of a complete node that one does not meet yet.
pub(super) enum Lack<'a> {
    Readiness,
    /// It has not lost a taint that it starts with.
    StartupTaint(&'a Taint),
    /// It has not lost a taint that passes by itself.
    EphemeralTaint(&'a Taint),
    /// It does not report a resource that its claim counts on.
    Resource(&'a ResourceName),
}

impl Lack<'_> {
    /// As conditions name it.
    pub(super) const fn reason(&self) -> &'static str {
        match self {
            Self::Readiness => "NodeNotReady",
            Self::StartupTaint(_) => "StartupTaintsExist",
            Self::EphemeralTaint(_) => "KnownEphemeralTaintsExist",
            Self::Resource(_) => "ResourceNotRegistered",
        }
    }
}

impl fmt::Display for Lack<'_> {
    /// In words, as a condition's message.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Readiness => f.write_str("Node status is NotReady"),
            Self::StartupTaint(taint) => {
                write!(f, "StartupTaint \"{}\" still exists", written(taint))
            }
            Self::EphemeralTaint(taint) => {
                write!(f, "KnownEphemeralTaint \"{}\" still exists", written(taint))
            }
            Self::Resource(name) => {
                write!(f, "Resource \"{name}\" was requested but not registered")
            }
        }
    }
}

fn written(taint: &Taint) -> String {
    let value = if taint.value.is_empty() { "" } else { "=" };
    format!("{}{value}{}:{}", taint.key, taint.value, taint.effect)
}

/// The first thing that a node with these taints lacks to be complete, in Karpenter's order.
pub(super) fn lack<'a>(
    claim: &'a NodeClaim,
    node: &'a Node,
    taints: &'a [Taint],
) -> Option<Lack<'a>> {
    if node.readiness() != Readiness::Ready {
        return Some(Lack::Readiness);
    }
    let is_there = |start: &&Taint| {
        let mut taints = taints.iter();
        taints.any(|taint| start.key == taint.key && start.effect == taint.effect)
    };
    if let Some(taint) = claim.startup_taints.iter().find(is_there) {
        return Some(Lack::StartupTaint(taint));
    }
    if let Some(taint) = taints.iter().find(|taint| is_ephemeral(taint)) {
        return Some(Lack::EphemeralTaint(taint));
    }
    let missing =
        |(name, amount): &(&ResourceName, i64)| *amount != 0 && node.allocatable.get(name) <= 0;
    let missing = claim.requests.iter().find(missing);
    missing.map(|(name, _)| Lack::Resource(name))
}
