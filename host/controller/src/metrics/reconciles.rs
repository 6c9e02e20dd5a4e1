//! Work of the process, by Karpenter's controllers that do the same: objects taken in, decisions made, orders carried out.
//!
//! It is counted at every input, so that each controller has a place of its own and no name is looked up.

use plimsoll_engine::Input;
use plimsoll_model::Object;
use plimsoll_model::action::{ObjectKey, Order, Outcome, Purpose, Reason};

use super::exposition::{Exposition, whole};
use super::families;
use super::histogram::Histogram;

macro_rules! controllers {
    ($($controller:ident = $name:literal,)*) => {
        /// A controller of Karpenter, or one of ours for what it does not do.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Controller {
            $($controller,)*
        }

        const NAMES: &[&str] = &[$($name),*];
    };
}

controllers! {
    CapacityBuffer = "capacitybuffer",
    Disruption = "disruption",
    EvictionQueue = "eviction-queue",
    NodeHydration = "node.hydration",
    NodeTermination = "node.termination",
    ClaimDisruption = "nodeclaim.disruption",
    GarbageCollection = "nodeclaim.garbagecollection",
    ClaimHydration = "nodeclaim.hydration",
    ClaimLifecycle = "nodeclaim.lifecycle",
    PodEvents = "nodeclaim.podevents",
    NodeOverlay = "nodeoverlay.controller",
    PoolHash = "nodepool.hash",
    PoolReadiness = "nodepool.readiness",
    Nomination = "pod.nomination",
    Provisioner = "provisioner",
    StateNode = "state.node",
    StateClaim = "state.nodeclaim",
    StatePool = "state.nodepool",
    StateOther = "state.other",
    StatePod = "state.pod",
}

impl Controller {
    /// Those that give orders.
    pub(crate) fn of_orders() -> impl Iterator<Item = Self> {
        let all = [
            Self::CapacityBuffer,
            Self::EvictionQueue,
            Self::NodeHydration,
            Self::NodeTermination,
            Self::ClaimDisruption,
            Self::GarbageCollection,
            Self::ClaimHydration,
            Self::ClaimLifecycle,
            Self::PodEvents,
            Self::NodeOverlay,
            Self::PoolHash,
            Self::PoolReadiness,
            Self::Nomination,
        ];
        all.into_iter()
    }

    pub(crate) const fn name(self) -> &'static str {
        NAMES[self as usize]
    }

    /// The controller that takes in an object; `None` for inputs that are none.
    pub(crate) const fn of_input(input: &Input) -> Option<Self> {
        let (Input::Applied(object, _) | Input::Deleted(object, _)) = input else {
            return None;
        };
        Some(match object {
            Object::Pod(_) => Self::StatePod,
            Object::Node(_) => Self::StateNode,
            Object::Claim(_) => Self::StateClaim,
            Object::Pool(_) => Self::StatePool,
            Object::Overlay(_) => Self::NodeOverlay,
            Object::Buffer(_) => Self::CapacityBuffer,
            _ => Self::StateOther,
        })
    }

    /// The controller that gives an order.
    pub(crate) const fn of_order(order: &Order) -> Self {
        match order.purpose {
            Purpose::List => Self::GarbageCollection,
            Purpose::Evict => Self::EvictionQueue,
            Purpose::Nominate | Purpose::Withdraw => Self::Nomination,
            Purpose::Taint
            | Purpose::Untaint
            | Purpose::DeleteNode
            | Purpose::ReleaseNode
            | Purpose::Terminate => Self::NodeTermination,
            Purpose::MarkDisruption => Self::ClaimDisruption,
            Purpose::MarkPodEvent => Self::PodEvents,
            Purpose::MarkHash => Self::PoolHash,
            Purpose::Hydrate => Self::ClaimHydration,
            Purpose::HydrateNode => Self::NodeHydration,
            Purpose::MarkStatus => match order.object {
                ObjectKey::Buffer(_) => Self::CapacityBuffer,
                ObjectKey::Overlay(_) => Self::NodeOverlay,
                _ => Self::PoolReadiness,
            },
            _ => Self::ClaimLifecycle,
        }
    }
}

/// End of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    Success,
    /// It is tried again, and is no error.
    Requeue,
    Error,
}

impl Ending {
    const WORDS: [&str; 3] = ["success", "requeue", "error"];

    /// The end of an order.
    pub(crate) const fn of(outcome: &Outcome) -> Self {
        match outcome {
            Outcome::Done(_) => Self::Success,
            Outcome::Conflict | Outcome::Refused(Reason::Blocked(_) | Reason::Throttled(_)) => {
                Self::Requeue
            }
            Outcome::Refused(_) | Outcome::Unknown => Self::Error,
        }
    }
}

/// Figures of one controller.
#[derive(Clone, Debug)]
struct Reconciles {
    ended: [u64; Ending::WORDS.len()],
    time: Histogram,
}

/// Figures of all controllers, each in its place.
#[derive(Clone, Debug)]
pub(crate) struct ReconcileMeters(Vec<Reconciles>);

impl Default for ReconcileMeters {
    fn default() -> Self {
        let none = Reconciles {
            ended: [0; Ending::WORDS.len()],
            time: Histogram::new(families::RECONCILE_TIME.bounds()),
        };
        Self(vec![none; NAMES.len()])
    }
}

impl ReconcileMeters {
    /// One has ended after so many seconds.
    pub(crate) fn ended(&mut self, controller: Controller, ending: Ending, took: f64) {
        let own = &mut self.0[controller as usize];
        own.ended[ending as usize] += 1;
        own.time.observe(took);
    }

    /// One has failed after an unknown time.
    pub(crate) fn failed(&mut self, controller: Controller) {
        self.0[controller as usize].ended[Ending::Error as usize] += 1;
    }

    /// All figures; of controllers that have done nothing, that.
    pub(crate) fn write(&self, out: &mut Exposition) {
        let each = || NAMES.iter().zip(&self.0);
        let mut samples = out.family(&families::RECONCILE_TOTAL);
        for (name, own) in each() {
            for (word, count) in Ending::WORDS.iter().zip(own.ended) {
                samples.sample(&[name, word], whole(count));
            }
        }
        let mut samples = out.family(&families::RECONCILE_ERRORS);
        for (name, own) in each() {
            samples.sample(&[name], whole(own.ended[Ending::Error as usize]));
        }
        let mut samples = out.family(&families::RECONCILE_TIME);
        for (name, own) in each() {
            samples.histogram(&[name], &own.time);
        }
    }
}
