//! What the scheduler must do, as tests: one file per area, each test named after a fact.
//!
//! [`check`] plans a cluster under both packings and gives the facts on which they agree; [`Outcome::then`] carries the plan
//! out and plans again.

mod outcome;
mod run;

pub use outcome::{Outcome, check};
pub use run::Run;

use plimsoll_oracles::fixture::{ClusterFixture, cluster, fake_types, pool};

/// A cluster that sells the incumbent's fake types and has one pool that may buy any of them.
pub fn market() -> ClusterFixture {
    bare_market().pool(pool("general"))
}

/// The same without a pool.
pub fn bare_market() -> ClusterFixture {
    cluster().types(fake_types())
}
