//! Workloads that keep replicas, as they are written in a recording, and what happens to them.

use std::sync::Arc;

use plimsoll_api::{Interner, Kind, Object};
use plimsoll_base::ids::ObjectName;
use plimsoll_base::resources::ResourceName;
use plimsoll_sim::{Deployment, ReplicaRule, Usage};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::catalogue::Amount;
use super::change::Unknown;

/// A workload that keeps replicas.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DeploymentEntry {
    /// Its namespace; `default` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// Name of the deployment.
    pub name: String,
    /// How many pods it keeps.
    pub replicas: u32,
    /// Its pods: `metadata.labels` and `spec`, as in a Deployment's template.
    #[schemars(with = "serde_json::Map<String, Value>")]
    pub template: Value,
    /// How its replicas follow its load, if they do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub follows: Option<FollowsEntry>,
    /// Use of each of its pods, whatever they request, where it was seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uses: Option<UsageEntry>,
}

/// Processor time and memory that a pod uses. Nothing is decided by it; a simulation holds it against what pods ask for.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct UsageEntry {
    /// Cpu, such as `250m`.
    pub cpu: Amount,
    /// Memory, such as `512Mi`.
    pub memory: Amount,
}

/// Use of each pod of a deployment from an instant on.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct UsesEntry {
    /// The deployment's namespace; `default` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// The deployment's name.
    pub name: String,
    /// Cpu, such as `250m`.
    pub cpu: Amount,
    /// Memory, such as `512Mi`.
    pub memory: Amount,
}

/// Replicas in proportion to load: the ceiling of load over target, compared every fifteen seconds, left alone while within
/// a tenth.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FollowsEntry {
    /// Load per replica that is aimed at, above 0.
    pub target: u64,
    /// Fewest replicas; 1 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub least: Option<u32>,
    /// Most replicas.
    pub most: u32,
}

/// An amount of something for a deployment.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AmountEntry {
    /// The deployment's namespace; `default` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// The deployment's name.
    pub name: String,
    /// How much.
    pub amount: u64,
}

impl AmountEntry {
    pub(super) fn name(&self, interner: &mut Interner) -> ObjectName {
        object_name(self.namespace.as_deref(), &self.name, interner)
    }
}

impl UsesEntry {
    /// The deployment and what its pods use, or a sentence about the amount that makes no sense.
    pub(super) fn read(self, interner: &mut Interner) -> Result<(ObjectName, Usage), String> {
        let name = object_name(self.namespace.as_deref(), &self.name, interner);
        Ok((name, usage("uses", &self.cpu, &self.memory)?))
    }
}

fn usage(path: &str, cpu: &Amount, memory: &Amount) -> Result<Usage, String> {
    let amount = |name: ResourceName, written: &Amount| {
        let read = name.parse_amount(&written.to_text());
        read.map_err(|error| format!("{path}.{name} {error}"))
    };
    Ok(Usage {
        cpu_milli: amount(ResourceName::Cpu, cpu)?,
        memory_bytes: amount(ResourceName::Memory, memory)?,
    })
}

impl DeploymentEntry {
    /// Reads it, or says what is wrong with it.
    pub(super) fn read(
        self,
        interner: &mut Interner,
        unknown: Unknown<'_>,
    ) -> Result<Deployment, String> {
        for path in unread(&self.template) {
            unknown(Kind::Deployment, &format!("template.{path}"));
        }
        let name = object_name(self.namespace.as_deref(), &self.name, interner);
        let part = |at: &str| self.template.pointer(at).cloned().unwrap_or(Value::Null);
        let labels = match part("/metadata/labels") {
            Value::Null => json!({}),
            labels => labels,
        };
        let pod = json!({
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": { "name": self.name, "namespace": &*name.namespace, "labels": labels },
            "spec": part("/spec"),
        });
        let read = plimsoll_api::read(Kind::Pod, &pod, interner, &mut |path| {
            unknown(Kind::Pod, path);
        });
        let (_, object) = read.map_err(|error| format!("deploy.template {error}"))?;
        let Object::Whole(plimsoll_model::Object::Pod(pod)) = object else {
            return Err("deploy.template is no pod".to_owned());
        };
        Ok(Deployment {
            name,
            labels: Arc::clone(&pod.labels),
            spec: Arc::clone(&pod.spec),
            replicas: self.replicas,
            follows: self.follows.map(FollowsEntry::read).transpose()?,
            uses: self
                .uses
                .map(|uses| usage("deploy.uses", &uses.cpu, &uses.memory))
                .transpose()?,
        })
    }
}

/// Fields of a template that say something and are not read.
fn unread(template: &Value) -> impl Iterator<Item = String> {
    let said = |at: &str| {
        let fields = template.pointer(at).and_then(Value::as_object);
        let fields = fields.into_iter().flatten();
        fields.filter(|(_, value)| !value.is_null())
    };
    let own = said("")
        .filter(|(key, _)| !["metadata", "spec"].contains(&key.as_str()))
        .map(|(key, _)| key.clone());
    let of_metadata = said("/metadata")
        .filter(|(key, _)| key.as_str() != "labels")
        .map(|(key, _)| format!("metadata.{key}"));
    own.chain(of_metadata)
}

impl FollowsEntry {
    fn read(self) -> Result<ReplicaRule, String> {
        let least = self.least.unwrap_or(1);
        if self.target == 0 {
            return Err("deploy.follows.target is 0; expected a load above 0".to_owned());
        }
        if self.most < least {
            let most = self.most;
            return Err(format!(
                "deploy.follows.most is {most}; expected at least {least}, the fewest replicas"
            ));
        }
        Ok(ReplicaRule {
            target: self.target,
            least,
            most: self.most,
        })
    }
}

fn object_name(namespace: Option<&str>, name: &str, interner: &mut Interner) -> ObjectName {
    ObjectName {
        namespace: interner.text(namespace.unwrap_or("default")),
        name: interner.text(name),
    }
}
