//! All that may be asked of the outside, and the answers to it.
//!
//! The engine decides; adapters carry out. An [`Order`] says what to do, on what condition, and under which identity; an
//! [`Outcome`] says how it ended. An order may be carried out twice without harm: creations are by name, launches by their
//! token, writes by uid and version.

mod change;
mod cloud;
mod launch;

use std::fmt;
use std::sync::Arc;

pub use change::{ClaimChange, Finalizer, NodeChange, StatusChange};
pub use cloud::{CloudCall, LaunchedInstance, ListedInstance};
pub use launch::{
    ClaimLaunch, LAUNCH_BATCH_ANNOTATION, LAUNCH_TOKEN_ANNOTATION, LaunchAnswer, LaunchBatch,
    LaunchRequest, launch_digest, machine_digest,
};
use serde::{Deserialize, Serialize};

use plimsoll_base::event_reason::EventReason;
use plimsoll_base::fixed_hash;
use plimsoll_base::ids::{ClaimName, LaunchToken, NodeName, ObjectName, PoolName, ProviderId, Uid};
use plimsoll_base::time::{Span, Timestamp};

use crate::catalogue::OfferingKey;
use crate::command::{BegunCommand, DisruptionQuestion, Settled};
use crate::snapshot::Snapshot;
use crate::{NodeClaim, Object, Version};

/// An order of the engine to the world outside it.
#[derive(Clone, Debug, Serialize)]
pub enum Action {
    /// Change or read something, and say how it went.
    Do(Box<Order>),
    /// Plan for this snapshot and hand the plan back.
    Solve(SolveRequest),
    /// Say which nodes of this snapshot should go, or whether a command still holds, and hand the decision back.
    Consider(Box<ConsiderRequest>),
    /// Tell people.
    Report(Event),
    /// Record that a command begins.
    Begin(Box<BegunCommand>),
    /// Record what a command came to: at its end, and once more an hour later where it was made to save.
    Settle(Box<Settled>),
}

/// A decision to be made on another thread, or at once.
#[derive(Clone, Debug, Serialize)]
pub struct SolveRequest {
    /// To be handed back with the plan.
    pub id: u64,
    /// The world as it was.
    pub snapshot: Arc<Snapshot>,
}

/// A question about nodes that might go, to be answered on another thread, or at once.
#[derive(Clone, Debug, Serialize)]
pub struct ConsiderRequest {
    /// To be handed back with the decision.
    pub id: u64,
    /// The world as it was.
    pub snapshot: Arc<Snapshot>,
    /// The question, with the snapshot it is put to.
    pub question: DisruptionQuestion,
}

/// Identity of an order: the same object, purpose and attempt give the same id on every machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ActionId(u64);

impl ActionId {
    /// The id of an attempt. `uid` tells the object from others that bear its name before or after it.
    pub fn of(object: &ObjectKey, uid: Option<&Uid>, purpose: Purpose, attempt: u32) -> Self {
        Self(fixed_hash::hash_of(&(object, uid, purpose, attempt)))
    }
}

impl fmt::Display for ActionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// The object that an order is about. Claims and nodes are known by name; which of those that bore it one after the other
/// says the order's uid.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum ObjectKey {
    /// A NodeClaim.
    Claim(ClaimName),
    /// A Node.
    Node(NodeName),
    /// A pod, by uid: its name may come back for another.
    Pod(Uid),
    /// A CapacityBuffer.
    Buffer(ObjectName),
    /// A NodePool.
    Pool(PoolName),
    /// A NodeOverlay.
    Overlay(Arc<str>),
    /// A launch of claims that ask for the same.
    Launch(LaunchToken),
    /// An instance that no claim stands for.
    Instance(ProviderId),
    /// All instances.
    Cloud,
}

/// Purpose of an order. Of one object and purpose at most one order is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Purpose {
    /// Make a claim.
    Create,
    /// Write on a claim by which launch it gets its instance.
    MarkLaunching,
    /// Get instances for claims.
    Launch,
    /// Look whether there is an instance.
    Find,
    /// Look which instances there are.
    List,
    /// Name an instance after its node and claim.
    Tag,
    /// Write on a claim that its instance has its names.
    MarkTagged,
    /// Write down that a claim is launched.
    MarkLaunched,
    /// Write down that a claim's node has joined.
    MarkRegistered,
    /// Write down that a claim's node is complete.
    MarkInitialized,
    /// Write down that a claim's instance is being ended.
    MarkTerminating,
    /// Let a node join.
    Register,
    /// Label a node as complete.
    Initialize,
    /// Keep new pods off a node.
    Taint,
    /// Let new pods onto a node again.
    Untaint,
    /// Promise a node to a pod.
    Nominate,
    /// Take a promise back.
    Withdraw,
    /// Ask a claim to go.
    DeleteClaim,
    /// Ask a node to go.
    DeleteNode,
    /// Move a pod away.
    Evict,
    /// End an instance.
    Terminate,
    /// Let a node's object go.
    ReleaseNode,
    /// Let a claim's object go.
    ReleaseClaim,
    /// Write down what a claim waits for.
    MarkWaiting,
    /// Write down how a pool, overlay or buffer stands.
    MarkStatus,
    /// Write down when a claim's drain must be over.
    MarkDeadline,
    /// Write down when a pod last came to a claim's node or left it.
    MarkPodEvent,
    /// Put our finalizer on a claim that others made.
    Hold,
    /// Write down whether a claim has drifted, may be consolidated, and why it is being disrupted.
    MarkDisruption,
    /// Write the hash of a claim's pool on it, by the rules of our version.
    MarkHash,
    /// Label a claim with its node class.
    Hydrate,
    /// Label a node with its node class.
    HydrateNode,
}

/// One thing to do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Order {
    /// Its identity, named in the outcome.
    pub id: ActionId,
    /// The object that the order is about.
    pub object: ObjectKey,
    /// Purpose of the order.
    pub purpose: Purpose,
    /// Number of the attempt, from 0.
    pub attempt: u32,
    /// Uid of the claim or node, for which another object of its name is not taken: the object counts as gone then. `None` where
    /// it does not exist yet, and for pods, whose uid stands in the request.
    #[serde(default)]
    pub uid: Option<Uid>,
    /// The version that the object must still have; anything else is a conflict. `None` where it does not matter.
    pub version: Option<Version>,
    /// The call that carries the order out.
    pub request: Request,
}

/// The call that carries the order out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Request {
    /// At the API server.
    Write(Write),
    /// At the cloud.
    Cloud(CloudCall),
}

/// A change of an object at the API server. Answered with the object as it is afterwards.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Write {
    /// Create a claim, with our finalizer and its pool as owner. An object of that name that is there already is the
    /// answer.
    CreateClaim {
        /// The claim.
        claim: Box<NodeClaim>,
        /// The uid of its pool, which an owner is named by.
        pool: Uid,
    },
    /// Read a claim by name; answered with [`Answer::Absent`] when there is none.
    ReadClaim(ClaimName),
    /// Bring what is ours on a claim to what it is to be.
    ChangeClaim(ClaimName, Box<ClaimChange>),
    /// Ask a claim to go; it stays until released.
    DeleteClaim(ClaimName),
    /// Bring what is ours on a node to what it is to be.
    ChangeNode(NodeName, Box<NodeChange>),
    /// Bring what is ours in the status of a pool, overlay or buffer to what it is to be.
    ChangeStatus(ObjectKey, Box<StatusChange>),
    /// Ask a node to go; it stays until released where it carries our finalizer.
    DeleteNode(NodeName),
    /// Set or clear `status.nominatedNodeName`, if the pod still has this uid and is not bound.
    Nominate {
        /// The pod.
        pod: ObjectName,
        /// Uid of the object, so that a later one of its name is left alone.
        uid: Uid,
        /// The node; `None` to clear.
        node: Option<NodeName>,
    },
    /// Evict a pod under its disruption budgets, if it still has this uid.
    Evict {
        /// The pod.
        pod: ObjectName,
        /// Uid of the object, so that a later one of its name is left alone.
        uid: Uid,
        /// Pass over disruption budgets, with so long to end: the time allowed for the drain is over. `None` keeps the
        /// budgets and the pod's own time.
        within: Option<Span>,
    },
}

/// How an order ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Outcome {
    /// As asked.
    Done(Answer),
    /// Not done, and why.
    Refused(Reason),
    /// Not done: the object has changed since.
    Conflict,
    /// Perhaps done. It is read back, never assumed.
    Unknown,
}

/// The answer to an order that was carried out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Answer {
    /// Nothing further.
    Nothing,
    /// The object as it is now.
    Object(Object, Version),
    /// There is no such thing.
    Absent,
    /// An instance.
    Instance(Box<LaunchedInstance>),
    /// What became of the claims of a launch.
    Launched(LaunchAnswer),
    /// Every instance that is not gone.
    Listed(Vec<ListedInstance>),
    /// The instance is deleting.
    Ending,
    /// The instance is no more.
    Gone,
}

/// Why an order was refused, sorted by what is done next.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reason {
    /// The cloud gives none of these offerings: the claim goes, they are avoided for a while.
    InsufficientCapacity {
        /// The offerings.
        offerings: Vec<OfferingKey>,
        /// Why it gives none, in words, where that is not that it is out of stock.
        because: Option<String>,
    },
    /// The provider's class is not there. As with exhausted offerings the claim goes and its pods are planned anew, but no
    /// offering is to blame.
    ClassMissing(String),
    /// The provider's class cannot be used: the claim goes.
    ClassNotReady(String),
    /// The object is not there.
    NotFound,
    /// Not now: a disruption budget of the pod's, in words.
    Blocked(String),
    /// Not now: too many requests. `None` where the server does not say how long to wait.
    Throttled(Option<Span>),
    /// The API server will not have it: admission, a missing right, a quota; in its words. Nothing that is decided anew helps.
    Rejected(String),
    /// The cloud would not carry out a launch, for something that no other offering cures; tried again later.
    LaunchFailed {
        /// In Pascal case, as the claim's condition `Launched` names it.
        reason: Arc<str>,
        /// In words.
        words: String,
    },
    /// Anything else, in words; tried again later.
    Other(String),
}

impl Reason {
    /// The cloud is out of stock of these offerings.
    pub const fn out_of_stock(offerings: Vec<OfferingKey>) -> Self {
        Self::InsufficientCapacity {
            offerings,
            because: None,
        }
    }
}

/// Something worth telling, under the names that operators know.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Event {
    /// The object that the order is about.
    pub object: ObjectKey,
    /// The event's reason.
    pub reason: EventReason,
    /// In words.
    pub message: String,
    /// When.
    pub at: Timestamp,
}
