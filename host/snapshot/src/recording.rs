//! The changes that follow a snapshot, with their times. Workloads and offerings are said as the simulator plays them.

use plimsoll_api::{Object, ObjectKey};
use plimsoll_base::ids::{NodeName, ObjectName};
use plimsoll_base::time::Span;
use plimsoll_base::units::PricePerHour;
use plimsoll_sim::{Deployment, Timed, Usage, Which};

/// A change as a file states it, and its instant, which is never before the snapshot.
pub type TimedChange = Timed<Change>;

/// One change of the world outside.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// An object appears, or replaces the one of its name.
    Upsert {
        /// The object.
        object: Object,
        /// For a pod: how long it runs once it has started, if it ends by itself.
        runs_for: Option<Span>,
    },
    /// An object goes.
    Delete(ObjectKey),
    /// An offering's price changes; in every zone when none is named.
    Price(Which, PricePerHour),
    /// An offering runs dry (false), or can be had again.
    Availability(Which, bool),
    /// The cloud announces that it takes a spot node back.
    Interrupt(NodeName),
    /// A workload that keeps replicas appears, or replaces the one of its name.
    Deploy(Deployment),
    /// A deployment is given another number of replicas.
    Scale(ObjectName, u32),
    /// A deployment's load in all, in the unit of its rule's target.
    Load(ObjectName, u64),
    /// Use of each pod of a deployment from now on.
    Uses(ObjectName, Usage),
}
