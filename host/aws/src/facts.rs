//! Facts about EC2 that only matter where instances are really launched there, beside those of its types and labels.

use std::collections::BTreeSet;
use std::sync::{Arc, LazyLock};

use plimsoll_base::time::Span;
use plimsoll_model::provider::{LaunchWindow, ProviderFacts};

/// Annotations by which a claim says that its instance bears its name, and that of its cluster.
const TAGGED: [&str; 2] = [
    "karpenter.k8s.aws/tagged",
    "compatibility.karpenter.k8s.aws/cluster-name-tagged",
];
/// Launches that ask for the same are gathered into one fleet: Karpenter's times and number.
const LAUNCH: LaunchWindow = LaunchWindow {
    idle: Span::from_millis(35),
    longest: Span::from_secs(1),
    size: 1000,
};

static FACTS: LazyLock<Arc<ProviderFacts>> = LazyLock::new(|| {
    Arc::new(ProviderFacts {
        tagged: TAGGED.into_iter().map(Arc::from).collect::<BTreeSet<_>>(),
        launch: LAUNCH,
        ..ProviderFacts::clone(&plimsoll_ec2_facts::provider())
    })
});

/// The facts, the same value for everybody.
pub(crate) fn facts() -> Arc<ProviderFacts> {
    Arc::clone(&FACTS)
}
