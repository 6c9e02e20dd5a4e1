//! Plans of one cluster under both packings, and the facts on which they agree.

use std::collections::BTreeMap;
use std::fmt::Debug;

use plimsoll_model::PackingMode;
use plimsoll_oracles::fixture::{ClusterFixture, PodFixture};
use plimsoll_schedule::Outside;

use crate::Run;

/// Plans of a cluster, one under each packing.
#[derive(Clone, Debug)]
pub struct Outcome {
    runs: Vec<Run>,
}

/// Plans a cluster under both packings; each plan must be complete, consistent and, by price, no worse than first fit.
pub fn check(cluster: ClusterFixture) -> Outcome {
    let (objects, catalogues, settings) = cluster.parts();
    let run = |packing| Run::new(objects.clone(), &catalogues, &settings, packing);
    Outcome {
        runs: vec![run(PackingMode::Price), run(PackingMode::Compatible)],
    }
}

impl Outcome {
    /// Carries the plans out, adds pods, and plans again.
    #[must_use]
    pub fn then(self, pods: impl IntoIterator<Item = PodFixture>) -> Self {
        let pods: Vec<PodFixture> = pods.into_iter().collect();
        let runs = self.runs.into_iter();
        Self {
            runs: runs.map(|run| run.then(pods.clone())).collect(),
        }
    }

    /// The plan under one packing, for facts in which they may differ.
    pub fn under(&self, packing: PackingMode) -> &Run {
        let found = self.runs.iter().find(|run| run.packing() == packing);
        found.expect("both packings were planned")
    }

    /// Both plans.
    pub fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// A fact on which both packings agree.
    ///
    /// # Panics
    /// When they do not.
    pub fn agreed<T: PartialEq + Debug>(&self, fact: impl Fn(&Run) -> T) -> T {
        let price = fact(self.under(PackingMode::Price));
        let compatible = fact(self.under(PackingMode::Compatible));
        assert_eq!(
            price, compatible,
            "packing by price (left) and first fit (right) agree"
        );
        price
    }

    /// Pods called `app` per domain of a label, smallest number first: those that ran, and those just placed.
    pub fn skew(&self, key: &str, app: &str) -> Vec<usize> {
        self.agreed(|run| run.skew(key, app))
    }

    /// The same by domain.
    pub fn domains(&self, key: &str, app: &str) -> BTreeMap<String, usize> {
        self.agreed(|run| run.domains(key, app))
    }

    /// The domains of a label that have pods called `app`, in the order of their names.
    pub fn domain_names(&self, key: &str, app: &str) -> Vec<String> {
        self.domains(key, app).into_keys().collect()
    }

    /// How many pods called `app` are placed by this plan.
    pub fn placed(&self, app: &str) -> usize {
        self.agreed(|run| run.placed(app))
    }

    /// Names of pods left waiting.
    pub fn waiting(&self) -> Vec<String> {
        self.agreed(Run::waiting)
    }

    /// Pods without a node that are not planned for, by name, with the reason.
    pub fn outside(&self) -> Vec<(String, Outside)> {
        self.agreed(Run::outside)
    }

    /// How many pods are left waiting.
    pub fn unplaced(&self) -> usize {
        self.agreed(|run| run.waiting().len())
    }

    /// Why a pod is left waiting.
    pub fn reason(&self, pod: &str) -> String {
        self.agreed(|run| run.reason(pod));
        // Which offering is nearest is a matter of the packing.
        self.under(PackingMode::Price).reason_and_nearest(pod)
    }

    /// Instances asked for.
    pub fn bought(&self) -> usize {
        self.agreed(|run| run.plan().claims.len())
    }

    /// The node or instance that a pod was put on.
    pub fn place(&self, pod: &str) -> Option<String> {
        self.agreed(|run| run.place(pod))
    }

    /// `true` if pods are all placed, on one node.
    pub fn together(&self, pods: &[&str]) -> bool {
        self.agreed(|run| {
            let first = run.place(pods[0]);
            first.is_some() && pods.iter().all(|pod| run.place(pod) == first)
        })
    }

    /// `true` if pods are all placed, each on a node of its own.
    pub fn apart(&self, pods: &[&str]) -> bool {
        self.agreed(|run| {
            let places: std::collections::BTreeSet<_> =
                pods.iter().filter_map(|pod| run.place(pod)).collect();
            places.len() == pods.len()
        })
    }
}
