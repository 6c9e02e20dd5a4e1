//! Facts about the cloud that instances come from: what its labels mean, and which of its instances are bought only on request.
//!
//! A provider hands them in with what it sells ([`crate::catalogue::Catalogue::provider`]), so that a decision is a function of the
//! snapshot and nothing here knows the name of a cloud. What is true of every provider stands in [`plimsoll_base::labels`].
//!
//! A recording holds these facts with the catalogue: it is replayed by the facts that it was made with.

use std::collections::BTreeSet;
use std::sync::Arc;

use plimsoll_base::ids::ReservationId;
use plimsoll_base::labels::{self, LabelKey, Labels};
use plimsoll_base::requirement::{Requirement, Requirements};
use plimsoll_base::resources::{ResourceName, Resources};
use plimsoll_base::time::Span;
use serde::{Deserialize, Serialize};

use crate::{ClassRef, Condition, ConditionStatus, class_label};

/// Domain of the keys that every provider has.
const KARPENTER: &str = "karpenter.sh";
/// Resources of every node that every provider reports itself.
const REPORTED: [ResourceName; 4] = [
    ResourceName::Cpu,
    ResourceName::Memory,
    ResourceName::EphemeralStorage,
    ResourceName::Pods,
];

/// Facts of one provider. The default is one that gives its instances no labels of its own and has no reservations.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProviderFacts {
    /// Name by which people know the provider.
    pub name: Arc<str>,
    /// Domains of its labels: of a key in one of them or below, only what is well known may be asked for.
    pub domains: Vec<Arc<str>>,
    /// Keys that new nodes may have although no pool names them, beside those of every provider.
    pub well_known: BTreeSet<LabelKey>,
    /// Those of its well-known keys whose value an offering decides; a type decides the others.
    pub of_offerings: BTreeSet<LabelKey>,
    /// Kinds of classes that it serves: pools and claims of any other are somebody else's. None of them said stands for all.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub classes: BTreeSet<ClassKind>,
    /// Keys in its domains that are not well known and that NodeOverlays may ask for all the same: those of its classes.
    pub of_classes: BTreeSet<LabelKey>,
    /// The key with the id of the capacity reservation that a node draws on; `None` where there are no reservations.
    pub reservation_id: Option<LabelKey>,
    /// The key with a type's family.
    pub family: Option<LabelKey>,
    /// Keys by which a requirement says which types are wanted, beside the name of the type.
    pub naming: BTreeSet<LabelKey>,
    /// Marks of types that are bought only where a pool asks for them: burstable ones, previous generations, bare metal.
    pub exotic: Vec<TypeMark>,
    /// Resources that it reports itself, beside those of every node; an overlay cannot add them.
    pub reported: BTreeSet<ResourceName>,
    /// Resources that count as accelerators, which policies are told the number and kind of.
    pub accelerators: BTreeSet<ResourceName>,
    /// Annotations by which a claim says that its instance was named after it and its node. None: instances are not named.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub tagged: BTreeSet<Arc<str>>,
    /// Conditions that a node may not have for long.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repairs: Vec<RepairRule>,
    /// How launches that ask for the same are gathered into one call.
    #[serde(default, skip_serializing_if = "LaunchWindow::is_default")]
    pub launch: LaunchWindow,
}

/// A condition of unhealthy nodes, and how long that is tolerated.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RepairRule {
    /// Type of the condition, such as `Ready`.
    pub condition: Arc<str>,
    /// Its status where the node is unhealthy.
    pub status: ConditionStatus,
    /// How long after it became so the node is replaced.
    pub toleration: Span,
}

/// How launches that ask for the same are gathered into one call: it is made once none has come for some time and none is being
/// created, once the first has waited for some time, or once there are so many. The default gathers none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaunchWindow {
    /// The call waits for so long after each that comes.
    pub idle: Span,
    /// The first waits no longer than this.
    pub longest: Span,
    /// The most claims of one call, at least one.
    pub size: usize,
}

impl Default for LaunchWindow {
    fn default() -> Self {
        Self {
            idle: Span::ZERO,
            longest: Span::ZERO,
            size: 1,
        }
    }
}

impl LaunchWindow {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// Group and kind of a provider's classes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ClassKind {
    /// API group of the kind.
    pub group: Arc<str>,
    /// The kind.
    pub kind: Arc<str>,
}

/// A provider's word on one of its classes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClassStatus {
    /// Generation of the class, which changes with what it asks for; 0 where it does not say.
    pub generation: i64,
    /// `true` if it was asked to go.
    pub deleting: bool,
    /// Its condition `Ready`; `None` where it has none.
    pub ready: Option<Condition>,
}

/// A label whose value marks a type.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TypeMark {
    /// The label.
    pub key: LabelKey,
    /// Values that are a mark; no label is none.
    pub values: MarkedValues,
    /// `true` if it marks types without accelerators alone. Accelerators are bought on request only, and a size may be the only one with so many.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub but_accelerated: bool,
}

/// Values of a label that mark a type.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum MarkedValues {
    /// These.
    OneOf(BTreeSet<Arc<str>>),
    /// Whole numbers up to this one.
    AtMost(i64),
    /// All that begin like this.
    StartsWith(Arc<str>),
}

impl MarkedValues {
    fn contains(&self, value: &str) -> bool {
        match self {
            Self::OneOf(values) => values.contains(value),
            Self::AtMost(most) => value.parse().is_ok_and(|number: i64| number <= *most),
            Self::StartsWith(start) => value.starts_with(start.as_ref()),
        }
    }
}

impl ProviderFacts {
    /// `true` if new nodes may carry a label although no pool names it.
    pub fn is_well_known(&self, key: &LabelKey) -> bool {
        labels::WELL_KNOWN.contains(&key.as_str()) || self.well_known.contains(key)
    }

    /// Every well-known key, sorted.
    pub fn well_known_keys(&self) -> BTreeSet<LabelKey> {
        let common = labels::WELL_KNOWN.into_iter().map(LabelKey::from);
        common.chain(self.well_known.iter().cloned()).collect()
    }

    /// The well-known keys that a type has a value of, or says to be absent: all but those that its pool or its offering decides.
    pub fn keys_of_types(&self) -> BTreeSet<LabelKey> {
        let decided = [labels::NODEPOOL, labels::ZONE, labels::CAPACITY_TYPE];
        let mut result = self.well_known_keys();
        result.retain(|key| {
            !decided.contains(&key.as_str())
                && !self.of_offerings.contains(key)
                && self.reservation_id.as_ref() != Some(key)
        });
        result
    }

    /// Why users may not set a label or ask for it; `None` when they may.
    pub fn restriction(&self, key: &LabelKey) -> Option<String> {
        if self.is_well_known(key) {
            return None;
        }
        let key = key.as_str();
        if key == labels::HOSTNAME {
            return Some(format!(
                "label {key} is set by the kubelet and must not be asked for"
            ));
        }
        let domain = key.split_once('/').map_or("", |(domain, _)| domain);
        std::iter::once(KARPENTER)
            .chain(self.domains.iter().map(AsRef::as_ref))
            .find(|restricted| {
                let below = domain.strip_suffix(restricted);
                below.is_some_and(|below| below.is_empty() || below.ends_with('.'))
            })
            .map(|restricted| format!("label {key} is in the reserved domain {restricted}"))
    }

    /// `true` if pools and claims of a class are this provider's to serve.
    pub fn serves(&self, class: &ClassRef) -> bool {
        let mut kinds = self.classes.iter();
        self.classes.is_empty()
            || kinds.any(|own| own.group == class.group && own.kind == class.kind)
    }

    /// `true` if a node with these labels is of a class that it serves.
    pub fn manages(&self, labels: &Labels) -> bool {
        let mut kinds = self.classes.iter();
        self.classes.is_empty()
            || kinds.any(|own| labels.contains_key(class_label(&own.group, &own.kind).as_str()))
    }

    /// The reservation that a node with these labels draws on.
    pub fn reservation_of(&self, labels: &Labels) -> Option<ReservationId> {
        let id = labels.get(self.reservation_id.as_ref()?.as_str())?;
        Some(ReservationId::from(Arc::clone(id)))
    }

    /// Family of a type with this name and these requirements: its label or, where there is none, its name up to the first dot.
    pub fn family_of<'t>(&self, name: &'t str, requirements: &'t Requirements) -> &'t str {
        let label = self.family.as_ref().and_then(|key| {
            let requirement = requirements.get(key.as_str())?;
            requirement.single().map(AsRef::as_ref)
        });
        label.unwrap_or_else(|| name.split_once('.').map_or(name, |(family, _)| family))
    }

    /// `true` if a requirement says by name which types are wanted.
    pub fn names_types(&self, requirement: &Requirement) -> bool {
        let key = requirement.key();
        let is_name = key.as_str() == labels::INSTANCE_TYPE || self.naming.contains(key);
        is_name
            && requirement
                .listed()
                .is_some_and(|values| !values.is_empty())
    }

    /// `true` if a type of this capacity has accelerators.
    pub fn is_accelerated(&self, capacity: &Resources) -> bool {
        self.accelerators.iter().any(|name| capacity.get(name) > 0)
    }

    /// `true` if a type that satisfies these requirements and has this capacity is burstable, of a previous generation, or bare metal
    /// without accelerators.
    pub fn is_exotic(&self, requirements: &Requirements, capacity: &Resources) -> bool {
        let accelerated = self.is_accelerated(capacity);
        self.exotic.iter().any(|mark| {
            let requirement = requirements.get(mark.key.as_str());
            let value = requirement.and_then(Requirement::single);
            let counts = !(mark.but_accelerated && accelerated);
            counts && value.is_some_and(|value| mark.values.contains(value))
        })
    }

    /// `true` if the provider says itself how much of a resource a type has.
    pub fn reports(&self, resource: &ResourceName) -> bool {
        REPORTED.contains(resource) || self.reported.contains(resource)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts() -> ProviderFacts {
        ProviderFacts {
            domains: vec!["cloud.example".into()],
            well_known: ["cloud.example/cpu", "cloud.example/rack"]
                .map(LabelKey::from)
                .into(),
            of_offerings: BTreeSet::from([LabelKey::from("cloud.example/rack")]),
            ..ProviderFacts::default()
        }
    }

    #[test]
    fn reserved_domains_and_their_subdomains_are_refused_unless_well_known() {
        let restriction = |key: &str| facts().restriction(&LabelKey::from(key));
        for key in [
            "karpenter.sh/initialised",
            "sub.karpenter.sh/x",
            "cloud.example/mine",
            "sub.cloud.example/cpu",
            labels::HOSTNAME,
        ] {
            assert!(restriction(key).is_some(), "{key}");
        }
        for key in [
            labels::ZONE,
            labels::CAPACITY_TYPE,
            "cloud.example/cpu",
            "notkarpenter.sh/x",
            "kubernetes.io/x",
            "team",
        ] {
            assert_eq!(restriction(key), None, "{key}");
        }
    }

    #[test]
    fn a_provider_serves_the_kinds_of_classes_that_it_names() {
        let class = |group: &str, kind: &str| ClassRef {
            group: group.into(),
            kind: kind.into(),
            name: "default".into(),
        };
        let kind = ClassKind {
            group: "cloud.example".into(),
            kind: "CloudNodeClass".into(),
        };
        let own = ProviderFacts {
            classes: BTreeSet::from([kind]),
            ..facts()
        };
        assert!(own.serves(&class("cloud.example", "CloudNodeClass")));
        assert!(!own.serves(&class("cloud.example", "OtherNodeClass")));
        assert!(!own.serves(&class("other.example", "CloudNodeClass")));
        let labelled = |key: &str| own.manages(&[(Arc::from(key), Arc::from("default"))].into());
        assert!(labelled("cloud.example/cloudnodeclass"));
        assert!(!labelled("cloud.example/CloudNodeClass") && !labelled("other.example/x"));
        assert!(facts().serves(&class("other.example", "X")) && facts().manages(&Labels::new()));
    }

    #[test]
    fn types_decide_what_neither_pool_nor_offering_does() {
        let facts = facts();
        let keys = facts.keys_of_types();
        let has = |key: &str| keys.contains(key);
        assert!(has("cloud.example/cpu") && has(labels::ARCH));
        assert!(!has("cloud.example/rack") && !has(labels::ZONE));
    }

    #[test]
    fn marks_are_values_numbers_or_beginnings() {
        let one_of = MarkedValues::OneOf(BTreeSet::from([Arc::from("e2")]));
        let marked = [
            &one_of,
            &MarkedValues::AtMost(2),
            &MarkedValues::StartsWith("metal".into()),
        ];
        let of = |value: &str| marked.map(|values| values.contains(value));
        assert_eq!(of("e2"), [true, false, false]);
        assert_eq!(of("2"), [false, true, false]);
        assert_eq!(of("3"), [false; 3]);
        assert_eq!(of("metal-48xl"), [false, false, true]);
    }
}
