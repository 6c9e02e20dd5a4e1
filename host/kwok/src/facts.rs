//! Facts about this provider: its labels, and the devices that instances in its lists may have.
//!
//! Nothing is marked as burstable or old: what a list sells is what somebody wrote down.

use std::collections::BTreeSet;
use std::sync::{Arc, LazyLock};

use plimsoll_base::labels::LabelKey;
use plimsoll_base::resources::ResourceName;
use plimsoll_base::time::Span;
use plimsoll_model::ConditionStatus;
use plimsoll_model::provider::{ClassKind, LaunchWindow, ProviderFacts, RepairRule};

use crate::DOMAIN;
use crate::provider::CLASS;

/// Id of the capacity reservation that a node draws on, as lists of types write it.
pub(crate) const RESERVATION_ID: &str = "karpenter.k8s.aws/capacity-reservation-id";
/// Labels that the provider gives its nodes, without their domain.
const WELL_KNOWN: [&str; 4] = ["instance-size", FAMILY, "instance-cpu", "instance-memory"];
const FAMILY: &str = "instance-family";
/// Resources that count as accelerators.
const ACCELERATORS: [&str; 4] = [
    "amd.com/gpu",
    "aws.amazon.com/neuron",
    "habana.ai/gaudi",
    "nvidia.com/gpu",
];

/// Each call reads its class at the API server: launches are gathered as Karpenter gathers those of its largest cloud.
const LAUNCH: LaunchWindow = LaunchWindow {
    idle: Span::from_millis(35),
    longest: Span::from_secs(1),
    size: 1000,
};

/// How long a node may be unready, as the upstream provider has it.
const UNREADY: Span = Span::from_secs(600);

static PROVIDER: LazyLock<Arc<ProviderFacts>> = LazyLock::new(|| Arc::new(facts()));

/// The facts, the same value for everybody.
pub fn provider() -> Arc<ProviderFacts> {
    Arc::clone(&PROVIDER)
}

fn facts() -> ProviderFacts {
    let own = |name: &str| LabelKey::from(format!("{DOMAIN}/{name}"));
    let reservation_id = LabelKey::from(RESERVATION_ID);
    let well_known = WELL_KNOWN.into_iter().map(own);
    ProviderFacts {
        name: "kwok".into(),
        domains: vec![DOMAIN.into()],
        well_known: well_known.chain([reservation_id.clone()]).collect(),
        classes: BTreeSet::from([ClassKind {
            group: DOMAIN.into(),
            kind: CLASS.into(),
        }]),
        of_classes: BTreeSet::from([own("kwoknodeclass")]),
        reservation_id: Some(reservation_id),
        family: Some(own(FAMILY)),
        naming: BTreeSet::from([own(FAMILY)]),
        accelerators: ACCELERATORS.into_iter().map(ResourceName::from).collect(),
        repairs: [ConditionStatus::False, ConditionStatus::Unknown]
            .map(|status| RepairRule {
                condition: "Ready".into(),
                status,
                toleration: UNREADY,
            })
            .into(),
        launch: LAUNCH,
        ..ProviderFacts::default()
    }
}
