//! Rules taken out of the planner, one by one, without touching it: it is given manifests that lack what the rule is about, while the
//! judge goes by the true ones. A judge that finds no fault in such plans would find none in a planner without the rule.

use serde_json::Value;

use crate::case::{Case, kind_of};

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

/// Every mutation, by the rule that it takes out.
pub const MUTATIONS: &[(&str, Mutation)] = &[
    (
        "taints of pools",
        Mutation::Field("NodePool", &["/spec/template/spec/taints"]),
    ),
    (
        "node selectors",
        Mutation::Field("Pod", &["/spec/nodeSelector"]),
    ),
    (
        "node affinity",
        Mutation::Field("Pod", &["/spec/affinity/nodeAffinity"]),
    ),
    (
        "topology spread",
        Mutation::Field("Pod", &["/spec/topologySpreadConstraints"]),
    ),
    (
        "pod affinity",
        Mutation::Field("Pod", &["/spec/affinity/podAffinity"]),
    ),
    (
        "pod anti-affinity",
        Mutation::Field("Pod", &["/spec/affinity/podAntiAffinity"]),
    ),
    (
        "host ports",
        Mutation::Field("Pod", &["/spec/containers/0/ports"]),
    ),
    (
        "sidecars",
        Mutation::Field("Pod", &["/spec/initContainers"]),
    ),
    (
        "pod-level resources",
        Mutation::Field("Pod", &["/spec/resources"]),
    ),
    (
        "overhead",
        Mutation::Field("Pod", &["/spec/overhead", "/spec/runtimeClassName"]),
    ),
    (
        "requests",
        Mutation::Field("Pod", &["/spec/containers/0/resources"]),
    ),
    ("daemons", Mutation::Kind("DaemonSet")),
    ("volumes", Mutation::Field("Pod", &["/spec/volumes"])),
    (
        "topology of volumes",
        Mutation::Field(
            "PersistentVolume",
            &["/spec/nodeAffinity", "/metadata/labels"],
        ),
    ),
    (
        "limits of pools",
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
                    pointers.iter().for_each(|pointer| take(object, pointer));
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
