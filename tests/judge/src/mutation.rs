//! Rules taken out of the planner, one by one, without touching it: it is given manifests that lack what the rule is about, while the
//! judge goes by the true ones. A judge that finds no fault in such plans would find none in a planner without the rule.

use serde_json::Value;

use crate::case::{Case, kind_of};
use crate::feature::Feature;

/// A rule that the planner does not get to see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mutation {
    /// Nothing is taken out.
    None,
    /// Fields at these pointers are taken off objects of a kind.
    Field(&'static str, &'static [&'static str]),
    /// Objects of a kind are not there.
    Kind(&'static str),
}

/// A rule by its name, with the feature without which no cluster has anything that the rule is about.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// The rule that is taken out.
    pub name: &'static str,
    /// The feature that it is about; `None` where every cluster has it.
    pub about: Option<Feature>,
    /// How it is taken out.
    pub mutation: Mutation,
}

const fn rule(name: &'static str, about: Feature, mutation: Mutation) -> Rule {
    Rule {
        name,
        about: Some(about),
        mutation,
    }
}

const fn of_pods(name: &'static str, about: Feature, pointers: &'static [&'static str]) -> Rule {
    rule(name, about, Mutation::Field("Pod", pointers))
}

/// Every rule that is taken out.
pub const RULES: &[Rule] = &[
    Rule {
        name: "requests",
        about: None,
        mutation: Mutation::Field("Pod", &["/spec/containers/0/resources"]),
    },
    rule(
        "taints of pools",
        Feature::TaintedPools,
        Mutation::Field("NodePool", &["/spec/template/spec/taints"]),
    ),
    of_pods(
        "node selectors",
        Feature::PoolSelectors,
        &["/spec/nodeSelector"],
    ),
    of_pods(
        "node affinity",
        Feature::NodeAffinity,
        &["/spec/affinity/nodeAffinity"],
    ),
    of_pods(
        "spread over zones",
        Feature::ZoneSpread,
        &["/spec/topologySpreadConstraints"],
    ),
    of_pods(
        "spread over nodes",
        Feature::HostSpread,
        &["/spec/topologySpreadConstraints"],
    ),
    of_pods(
        "pod affinity",
        Feature::Affinity,
        &["/spec/affinity/podAffinity"],
    ),
    of_pods(
        "pod anti-affinity",
        Feature::AntiAffinity,
        &["/spec/affinity/podAntiAffinity"],
    ),
    of_pods(
        "host ports",
        Feature::HostPorts,
        &["/spec/containers/0/ports"],
    ),
    of_pods("sidecars", Feature::Sidecars, &["/spec/initContainers"]),
    of_pods(
        "pod-level resources",
        Feature::PodResources,
        &["/spec/resources"],
    ),
    of_pods(
        "overhead",
        Feature::RuntimeClass,
        &["/spec/overhead", "/spec/runtimeClassName"],
    ),
    of_pods("volumes", Feature::BoundVolumes, &["/spec/volumes"]),
    of_pods(
        "access modes",
        Feature::ExclusiveVolumes,
        &["/spec/volumes"],
    ),
    rule(
        "topology of volumes",
        Feature::BoundVolumes,
        Mutation::Field(
            "PersistentVolume",
            &["/spec/nodeAffinity", "/metadata/labels"],
        ),
    ),
    rule(
        "storage capacity",
        Feature::StorageCapacity,
        Mutation::Kind("CSIDriver"),
    ),
    rule("daemons", Feature::Daemons, Mutation::Kind("DaemonSet")),
    rule(
        "default requests",
        Feature::LimitRanges,
        Mutation::Kind("LimitRange"),
    ),
    rule(
        "limits of pools",
        Feature::Limits,
        Mutation::Field("NodePool", &["/spec/limits"]),
    ),
];

impl Mutation {
    /// The case as the planner gets to see it.
    pub fn of(self, case: &Case) -> Case {
        let mut seen = case.clone();
        match self {
            Self::None => {}
            Self::Kind(kind) => seen.objects.retain(|object| kind_of(object) != kind),
            Self::Field(kind, pointers) => {
                for object in seen
                    .objects
                    .iter_mut()
                    .filter(|object| kind_of(object) == kind)
                {
                    for pointer in pointers {
                        take(object, pointer);
                    }
                }
            }
        }
        seen
    }
}

/// Takes the field at a pointer away, if it is there.
fn take(object: &mut Value, pointer: &str) {
    let Some((parent, field)) = pointer.rsplit_once('/') else {
        return;
    };
    if let Some(fields) = object.pointer_mut(parent).and_then(Value::as_object_mut) {
        fields.remove(field);
    }
}
