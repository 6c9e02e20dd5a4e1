//! The decision about waiting pods: from a snapshot to the cheapest feasible fleet.
//!
//! [`prepare`] reads the snapshot and asks the ranking policy what instances cost; [`pack`] takes the answer, puts every pod on
//! an instance and asks in which order the ways to buy each should be tried; [`launch`] takes that answer and makes the plan.
//! Between the steps nothing is remembered anywhere else, so that questions, answers and decisions can be recorded, replayed
//! and compared. Who asks no policy calls [`finish`].
//!
//! ```text
//! snapshot ─► eligible ─► compile (groups, rows, topology) ─► question ─► policy
//!                                     │                                     │ prices
//!                                     ▼                                     ▼
//!                              place pods in order ─► buy by price ─► question ─► policy
//!                                                         │                         │ order
//!                                                         ▼                         ▼
//!                                                     finished instances ──► close claims ─► plan
//! ```
//!
//! Two plans are made: by price, and by first fit in Karpenter's order. The better one by (unplaced, room not kept,
//! addresses that are not there, preferences given up, price, nodes) is returned, so that packing by price is never worse. Room that buffers ask for is
//! placed after all pods that exist ([`plimsoll_model::buffers`]).

mod batch;
pub mod claims;
mod decision;
mod explain;
mod fleet;
mod fresh;
mod guards;
mod launch;
pub(crate) mod offers;
mod place;
mod pods;
mod prepared;
pub mod prices;
pub mod reading;
mod session;
pub mod simulation;
pub mod spare;
mod topology;
pub mod waste;

pub use claims::named::Reach;
pub use decision::{finish, pack, plan};
pub use explain::trial::tell_nearest;
pub use fleet::bound::{PlanBounds, bound_from_nothing, bounds_of_plan, bounds_of_work};
pub use fleet::guarded::{GuardCost, guard_costs, note_guards};
pub use fresh::{FreshFleet, fresh_fleet};
pub use launch::relist::Relisted;
pub use launch::relist::{in_question, order_question};
pub use launch::{Packed, launch};
pub use pods::needs::features_of_new;
pub use pods::outside::{Outside, outside};
pub use prepared::{Prepared, prepare};
pub use prices::quoted::{Quoted, price_question};
pub use prices::sale::Offers;
pub use session::Session;
