//! The live loop: what watches show and what orders came to goes in, orders go out, one engine in the middle.
//!
//! [`Controller`] owns the engine and is the only one to touch it; everything else is a task that ends in an input. It
//! decides nothing: the same inputs, handed to the same engine on another machine, give the same actions, and [`record`]
//! writes them down so that [`replay`] can show it. Policies are exchanged beside it ([`policies`]). Of several processes one acts ([`lease`]). The clock is read here and nowhere below.

mod bounds;
mod clock;
mod decision;
mod fidelity;
mod freshness;
mod lane;
pub mod lease;
mod limits;
mod metrics;
mod notices;
mod obtained;
mod orders;
mod planner;
pub mod policies;
pub mod provider;
mod publish;
pub mod record;
pub mod replay;
mod run;
pub mod serve;
mod story;
mod telemetry;
mod trouble;
mod unready;
mod view;

pub use decision::Keep;
pub use fidelity::{Fidelity, LandingCounts};
pub use limits::{Limited, Limits};
pub use metrics::StateMetrics;
pub use planner::Planner;
pub use publish::Notices;
pub use run::{Controller, Setup};
pub use telemetry::Telemetry;
