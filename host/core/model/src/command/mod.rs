//! The outcome of one disruption pass: commands to be carried out, and why other nodes stay.

mod begun;
mod settled;

use std::fmt;

pub use begun::BegunCommand;
pub use settled::{CommandId, Settled, WATCHED};

use plimsoll_base::event_reason::EventReason;
use plimsoll_base::ids::{ClaimName, PoolName};
use plimsoll_base::time::{Span, Timestamp};
use plimsoll_base::units::PricePerHour;
use serde::{Deserialize, Serialize};

use crate::DisruptionReason;
use crate::plan::Plan;
use crate::snapshot::PastMove;

/// How long a command must hold before it is carried out: as long as Karpenter waits.
pub const VALIDATION: Span = Span::from_secs(15);

/// Nodes that go together, and what comes in their place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Command {
    /// Disruption reason, which events and metrics name.
    pub reason: DisruptionReason,
    /// Claims of the nodes that are removed, ascending.
    pub members: Vec<ClaimName>,
    /// List price of each member, parallel to the members.
    pub prices: Vec<PricePerHour>,
    /// Nodes that are removed after the members, when budgets let them, ascending: what is bought has room for their pods, too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub later: Vec<LaterNode>,
    /// Saving per hour when all have gone, at the prices that decided: the ranking policy's where it was asked, else list prices.
    pub saving: PricePerHour,
    /// Saving per hour of the members alone at list prices, as the ledger and score cards tell it; negative where what is bought pays only
    /// when more nodes have gone.
    #[serde(default)]
    pub list_saving: PricePerHour,
    /// Where their pods go and what is bought for them; rows are those of the snapshot it was decided on.
    pub plan: Plan,
    /// The move as later ones remember it, so that they do not reverse it.
    pub past: Option<PastMove>,
}

/// A node that is removed after the members of a command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaterNode {
    /// Its claim.
    pub claim: ClaimName,
    /// Its list price.
    pub price: PricePerHour,
}

impl Command {
    /// Saving per hour at list prices when all have gone.
    pub fn whole_list_saving(&self) -> PricePerHour {
        self.list_saving + self.later.iter().map(|node| node.price).sum()
    }

    /// `true` if a claim's node goes, now or later.
    pub fn is_about(&self, claim: &ClaimName) -> bool {
        self.members.contains(claim) || self.later.iter().any(|node| node.claim == *claim)
    }

    /// How long it must hold before it is carried out.
    pub fn wait(&self) -> Span {
        if self.reason.facts().waits {
            VALIDATION
        } else {
            Span::ZERO
        }
    }
}

/// A question to the decider about disruption.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum DisruptionQuestion {
    /// Find commands among all candidates.
    Pass {
        /// `true` if moves to save money are looked for, which takes longest.
        consolidate: bool,
    },
    /// Does this still hold? Answered with the command as it is now, or with none.
    Confirm(Box<Command>),
}

/// Commands of one disruption pass, and why other nodes stay.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Decision {
    /// To be carried out, best first.
    pub commands: Vec<Command>,
    /// Why nodes stay that people may wonder about, by claim.
    pub held: Vec<Held>,
    /// Pools of whose nodes none may go, by name.
    #[serde(default)]
    pub held_pools: Vec<HeldPool>,
    /// Moves that were found and are not made, and who said so.
    pub refused: Refused,
    /// When to ask again if nothing happens.
    pub wake: Option<Timestamp>,
}

/// Why one node stays.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Held {
    /// The node's claim.
    pub claim: ClaimName,
    /// As events name it.
    pub event: HeldAs,
    /// In words.
    pub words: String,
}

/// Why no node of a pool may go for some reasons.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeldPool {
    /// The pool.
    pub pool: PoolName,
    /// In words.
    pub words: String,
}

/// Names of events about nodes that stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum HeldAs {
    /// It may not be disrupted.
    DisruptionBlocked,
    /// It may, but consolidation leaves it alone.
    Unconsolidatable,
}

impl HeldAs {
    /// The reason of its event.
    pub const fn reason(self) -> EventReason {
        match self {
            Self::DisruptionBlocked => EventReason::DisruptionBlocked,
            Self::Unconsolidatable => EventReason::Unconsolidatable,
        }
    }
}

impl fmt::Display for HeldAs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.reason().fmt(f)
    }
}

/// How often moves were refused, by whom. Counted at each pass: what stands in the way of ten looks counts ten times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refused {
    /// By budgets of pools.
    pub by_budget: u32,
    /// By guards against churn.
    pub by_guard: u32,
    /// By the policy that values moves, `Balanced` among them.
    pub by_policy: u32,
    /// Since something changed while they waited.
    pub by_change: u32,
    /// Candidates held by a pod or its disruption budget.
    pub by_pods: u32,
}

impl Refused {
    /// Adds another count.
    pub fn add(&mut self, other: Self) {
        self.by_budget += other.by_budget;
        self.by_guard += other.by_guard;
        self.by_policy += other.by_policy;
        self.by_change += other.by_change;
        self.by_pods += other.by_pods;
    }
}
