//! Rules of pools, claims, overlays and buffers.

use super::super::Provider;
use super::common::{class_reference, key, labels, requirements};
use super::{Rules, listed, rule};
use crate::schema::known::{OF_TYPES, Use};

pub(super) fn pool(provider: Provider) -> Rules {
    let mut rules = Rules::from([
        (
            "spec",
            vec![
                rule(
                    "has(self.replicas) == has(oldSelf.replicas)",
                    "replicas: expected as it was, there or absent: a pool is static or not for good",
                ),
                rule(
                    "!has(self.replicas) || !has(self.limits) || self.limits.all(x, x == 'nodes')",
                    "limits: expected nodes and no other resource beside replicas",
                ),
                rule(
                    "!(has(self.replicas) && has(self.weight))",
                    "weight: expected none beside replicas: a static pool is not chosen by weight",
                ),
            ],
        ),
        (
            "spec.disruption.budgets",
            vec![rule(
                "self.all(x, has(x.schedule) == has(x.duration))",
                "expected schedule and duration together in a budget: a window has a beginning and a length",
            )],
        ),
        ("spec.template.metadata.labels", labels(provider)),
        (
            "spec.template.spec.nodeClassRef",
            vec![
                rule(
                    "self.group == oldSelf.group",
                    "group: expected as it was; another provider's class needs another pool",
                ),
                rule(
                    "self.kind == oldSelf.kind",
                    "kind: expected as it was; a class of another kind needs another pool",
                ),
            ],
        ),
        ("spec.template.spec.requirements", requirements(Use::Pool)),
        (
            "spec.template.spec.requirements[].key",
            key(provider, Use::Pool),
        ),
    ]);
    let fields = [
        "spec.template.spec.nodeClassRef.group",
        "spec.template.spec.nodeClassRef.kind",
        "spec.template.spec.nodeClassRef.name",
    ];
    class_reference(fields, &mut rules);
    rules
}

pub(super) fn claim(provider: Provider) -> Rules {
    let mut rules = Rules::from([
        (
            "spec",
            vec![rule(
                "self == oldSelf",
                "expected as it was: a claim cannot be changed, only deleted",
            )],
        ),
        ("spec.requirements", requirements(Use::Claim)),
        ("spec.requirements[].key", key(provider, Use::Claim)),
    ]);
    let fields = [
        "spec.nodeClassRef.group",
        "spec.nodeClassRef.kind",
        "spec.nodeClassRef.name",
    ];
    class_reference(fields, &mut rules);
    rules
}

pub(super) fn overlay(provider: Provider) -> Rules {
    let of_types = listed(OF_TYPES);
    Rules::from([
        (
            "spec",
            vec![rule(
                "!(has(self.price) && has(self.priceAdjustment))",
                "expected price or priceAdjustment, not both",
            )],
        ),
        (
            "spec.capacity",
            vec![rule(
                format!("self.all(x, !(x in {of_types}))"),
                format!(
                    "expected resources other than {}, which the type itself has",
                    OF_TYPES.join(", ")
                ),
            )],
        ),
        ("spec.requirements", requirements(Use::Overlay)),
        ("spec.requirements[].key", key(provider, Use::Overlay)),
    ])
}

pub(super) fn buffer() -> Rules {
    Rules::from([(
        "spec",
        vec![
            rule(
                "!has(self.podTemplateRef) || has(self.replicas) || has(self.limits)",
                "expected replicas or limits beside podTemplateRef, which does not say how much room is kept",
            ),
            rule(
                "!(has(self.podTemplateRef) && has(self.scalableRef))",
                "expected podTemplateRef or scalableRef, not both",
            ),
        ],
    )])
}
