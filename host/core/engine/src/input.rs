//! Inputs of the engine: the world's changes, the outcomes of what was asked for, plans, and the passing of time.

use std::sync::Arc;

use plimsoll_base::ids::ProviderId;
use plimsoll_lifecycle::Interruption;
use plimsoll_model::action::{ActionId, Outcome};
use plimsoll_model::catalogue::Catalogues;
use plimsoll_model::command::Decision;
use plimsoll_model::plan::Plan;
use plimsoll_model::provider::ClassStatus;
use plimsoll_model::{ClassRef, Object, Version};
use serde::{Deserialize, Serialize};

/// One thing that happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Input {
    /// An object is now so.
    Applied(Object, Version),
    /// An object is no more; the object as it was last, and the version of its deletion.
    Deleted(Object, Version),
    /// Every object that was there at the start has been handed in.
    Synced,
    /// How an order ended.
    Outcome(ActionId, Outcome),
    /// The plan for a solve request, by the request's id.
    Solved(u64, Box<Plan>),
    /// The decision about nodes, by the id of its request.
    Considered(u64, Box<Decision>),
    /// The plan for a solve request, by the request's id, cannot be made: its maker failed.
    Unsolved(u64),
    /// The decision about nodes, by the id of its request, cannot be made.
    Unconsidered(u64),
    /// The catalogues have changed. Reservations have what is left beside every instance that was there when they were listed, and
    /// nothing for those that had ended.
    Catalogues(Arc<Catalogues>),
    /// The classes that the provider has, all of them; said again when one of them changes. Before that nothing is known of any.
    Classes(Vec<(ClassRef, ClassStatus)>),
    /// The cloud says what is going to happen to an instance. Handed in until its claim is seen to go, where it has to.
    Interrupted(ProviderId, Interruption),
    /// Other policies decide than before: what waits is decided again at once, and savings are looked for again.
    PoliciesChanged,
    /// What waits is decided again at once, though nothing about it has changed: a policy that failed may answer now.
    Replan,
    /// What is seen may be older than the cluster: the kinds of which that is so, by name. Said again when they change.
    Stale(Vec<Arc<str>>),
    /// So many NodeClaims cannot be read: no node is without a claim for that, and no instance is ended for want of one.
    UnreadableClaims(usize),
    /// What is seen is what is there; so it is taken to be until something else is said.
    Fresh,
    /// Time has passed.
    Tick,
}
