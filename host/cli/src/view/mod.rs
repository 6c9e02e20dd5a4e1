//! Documents that `-o json` and `-o yaml` print, with `apiVersion` and `kind`, in names and forms that Kubernetes uses.
//!
//! These types are an interface, apart from what decisions work with. Fields are in camel case, pods are named by namespace and
//! name, quantities and durations are written as manifests write them, and money is in dollars ([`Dollars`]). The types are also
//! the JSON Schema that `plimsoll schema` prints. Within a version no field is renamed or removed; new ones may come.

pub(crate) mod answer;
mod disruption;
pub(crate) mod explanation;
pub(crate) mod instance_type;
mod losses;
pub(crate) mod node;
pub(crate) mod node_claim;
pub(crate) mod node_pool;
pub(crate) mod plan;
pub(crate) mod simulation;
pub(crate) mod snapshot;
mod unit;
mod usage;

use std::collections::BTreeMap;
use std::fmt;

use plimsoll_api::write;
use plimsoll_base::ids::ObjectName;
use plimsoll_base::resources::Resources;
use schemars::JsonSchema;
use serde::Serialize;

pub(crate) use unit::{
    Dollars, Instant, Micros, Percent, duration, instant, percent, share_of, thousandths,
};

/// The `apiVersion` of every document.
pub(crate) const API_VERSION: &str = "plimsoll.dev/v1alpha1";

/// A value that a command prints as one document. Its `kind` is the name of its type.
pub(crate) trait Document: Serialize + JsonSchema {}

impl<T: Document> Document for &T {}

/// A document with its `apiVersion` and `kind`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Framed<'a, T> {
    api_version: &'static str,
    kind: String,
    #[serde(flatten)]
    document: &'a T,
}

impl<'a, T: Document> Framed<'a, T> {
    /// The frame of a document.
    pub(crate) fn of(document: &'a T) -> Self {
        Self {
            api_version: API_VERSION,
            kind: T::schema_name().into_owned(),
            document,
        }
    }
}

/// A pod or another namespaced object.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct Name {
    /// Its namespace.
    namespace: String,
    /// Its name.
    name: String,
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.namespace, self.name)
    }
}

impl From<&ObjectName> for Name {
    fn from(name: &ObjectName) -> Self {
        Self {
            namespace: name.namespace.to_string(),
            name: name.name.to_string(),
        }
    }
}

/// Quantities by resource, as manifests write them.
fn quantities(resources: &Resources) -> BTreeMap<String, String> {
    let one = |(name, amount)| (ToString::to_string(name), write::quantity(name, amount));
    resources.iter().map(one).collect()
}
