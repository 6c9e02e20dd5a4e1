//! Duties of the scheduler as tests: one file per area, each test named after a fact.
//!
//! [`check`] plans a cluster under both packings and gives the facts on which they agree; [`Outcome::then`] carries the plan
//! out and plans again.

mod outcome;
mod run;

pub use outcome::{Outcome, check};
pub use run::Run;

use plimsoll_oracles::fixture::{
    Amounts, ClusterFixture, PodFixture, cluster, fake_types, pod, pool,
};

/// A cluster that sells Karpenter's fake types and has one pool that may buy any of them.
pub fn market() -> ClusterFixture {
    bare_market().pool(pool("general"))
}

/// The same without a pool.
pub fn bare_market() -> ClusterFixture {
    cluster().types(fake_types())
}

/// A pod of the app `web` whatever its name, 100m of CPU; the constraint that `constrained` gives it selects all pods of that app.
pub fn of_web(name: &str, constrained: impl FnOnce(PodFixture) -> PodFixture) -> PodFixture {
    let app = [("app", "web")];
    constrained(pod(name).cpu(100).only_labels(&app)).selecting(&app)
}
