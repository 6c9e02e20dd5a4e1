//! Pods, ReplicaSets and volume claims as controllers make them of a workload.

use std::collections::BTreeMap;
use std::sync::Arc;

use plimsoll_api::{Kind, Object, ObjectKey, ReadError};
use serde_json::{Map, Value, json};

use super::template::{Maker, Template};
use crate::gather::Gatherer;
use crate::note::{Named, Note};

/// Driver of the volumes of a storage class that is not in the file.
pub(crate) const ASSUMED_DRIVER: &str = "ebs.csi.aws.com";
/// Name of the class that stands for a default class that is not in the file.
const ASSUMED_DEFAULT: &str = "default";
/// Label of a Deployment's pods that tells its ReplicaSets apart.
const TEMPLATE_HASH: &str = "pod-template-hash";

/// Why pods of a workload were not made.
pub(super) enum Unmade {
    /// There would be too many, in words.
    TooMany(String),
    /// Its template cannot be read: the field and what is wrong with it.
    Unreadable(String),
}

/// Objects made so far, and how many more may be.
pub(super) struct Made<'g> {
    pub(super) gathered: &'g mut Gatherer,
    /// Pods that may still be made, and how many that was at first.
    left: u64,
    limit: usize,
    /// Storage classes that were assumed, with the workloads whose volumes are of them; `None` for a default class.
    classes: BTreeMap<Option<String>, Named>,
}

impl<'g> Made<'g> {
    pub(super) fn new(gathered: &'g mut Gatherer, limit: usize) -> Self {
        Self {
            gathered,
            left: limit as u64,
            limit,
            classes: BTreeMap::new(),
        }
    }

    /// Notes of what was assumed.
    pub(super) fn into_notes(self) -> impl Iterator<Item = Note> {
        let classes = self.classes.into_iter();
        classes.map(|(class, workloads)| Note::AssumedClass { class, workloads })
    }

    /// Makes the pods of a workload.
    pub(super) fn pods_of(&mut self, template: &Template) -> Result<(), Unmade> {
        let Some(left) = self.left.checked_sub(template.count) else {
            return Err(Unmade::TooMany(format!(
                "{} asks for {} pods; expected at most {} for all workloads whose pods are not in the file",
                template.counted_by(),
                template.count,
                self.limit
            )));
        };
        self.left = left;
        let (owner, labels) = match template.maker {
            Maker::Deployment => self.replica_set(template)?,
            _ => (
                owner(template.maker, &template.namespace, &template.name),
                Map::new(),
            ),
        };
        let first = template.spec["ordinals"]["start"].as_u64().unwrap_or(0);
        for number in 0..template.count {
            let number = first.saturating_add(number);
            let name = self.free_name(template, number);
            let labels = labels.clone().into_iter();
            let labels = labels.chain(own_labels(template, &name, number));
            let mut pod = pod(template, &name, &owner, labels);
            self.gathered.admission.complete(Kind::Pod, &mut pod);
            self.claims_of(template, &name, &pod["spec"])?;
            self.add(Kind::Pod, &pod)?;
        }
        Ok(())
    }

    /// A name that no pod has: `web-0`, or with the kind where another workload has taken it.
    fn free_name(&self, template: &Template, number: u64) -> String {
        let Template { maker, name, .. } = template;
        let kind = maker.kind().to_lowercase();
        let mut candidates =
            std::iter::once(format!("{name}-{number}")).chain((0_u64..).map(|at| match at {
                0 => format!("{name}-{kind}-{number}"),
                at => format!("{name}-{kind}-{number}-{at}"),
            }));
        let is_free = |name: &String| !self.has(Kind::Pod, &template.namespace, name);
        candidates.find(is_free).unwrap_or_default()
    }

    fn has(&self, kind: Kind, namespace: &str, name: &str) -> bool {
        self.gathered.has(&ObjectKey {
            kind,
            namespace: Arc::from(namespace),
            name: Arc::from(name),
        })
    }

    /// Makes the ReplicaSet of a Deployment; gives its pods' owner and the label that tells them from those of another.
    fn replica_set(&mut self, template: &Template) -> Result<(Value, Map<String, Value>), Unmade> {
        let Template {
            namespace,
            name: deployment,
            spec,
            ..
        } = template;
        let hash = hash(&spec["template"].to_string());
        let name = format!("{deployment}-{hash}");
        let mut selector = spec["selector"].clone();
        selector["matchLabels"][TEMPLATE_HASH] = Value::from(&*hash);
        let set = json!({
            "apiVersion": Maker::ReplicaSet.api_version(),
            "kind": Maker::ReplicaSet.kind(),
            "metadata": {
                "name": name,
                "namespace": namespace,
                "uid": uid(Maker::ReplicaSet, namespace, &name),
                "ownerReferences": [owner(Maker::Deployment, namespace, deployment)],
            },
            "spec": {"replicas": template.count, "selector": selector},
        });
        if !self.has(Kind::ReplicaSet, namespace, &name) {
            self.add(Kind::ReplicaSet, &set)?;
        }
        let labels = Map::from_iter([(TEMPLATE_HASH.to_owned(), hash.into())]);
        Ok((owner(Maker::ReplicaSet, namespace, &name), labels))
    }

    /// Makes the volume claims of a pod that are made with it: those of a StatefulSet's templates, and of ephemeral volumes.
    fn claims_of(&mut self, template: &Template, pod: &str, spec: &Value) -> Result<(), Unmade> {
        let named = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let of_set = items(&template.spec["volumeClaimTemplates"]);
        let of_set = of_set.map(|own| (claim_name(own, pod), own["spec"].clone()));
        let of_pod = items(&spec["volumes"]).filter(|volume| volume["ephemeral"].is_object());
        let of_pod = of_pod.map(|volume| {
            let claim = &volume["ephemeral"]["volumeClaimTemplate"]["spec"];
            (format!("{pod}-{}", named(&volume["name"])), claim.clone())
        });
        let claims: Vec<(String, Value)> = of_set.chain(of_pod).collect();
        for (name, mut spec) in claims {
            if self.has(Kind::PersistentVolumeClaim, &template.namespace, &name) {
                continue;
            }
            self.assume_class(template, &mut spec)?;
            let claim = json!({
                "apiVersion": "v1",
                "kind": Kind::PersistentVolumeClaim.as_str(),
                "metadata": {"name": name, "namespace": template.namespace},
                "spec": spec,
            });
            self.add(Kind::PersistentVolumeClaim, &claim)?;
        }
        Ok(())
    }

    /// Makes the storage class of a claim where the file does not have it: one that waits for the first pod.
    fn assume_class(&mut self, template: &Template, claim: &mut Value) -> Result<(), Unmade> {
        let classes = &self.gathered.volumes.classes;
        let class = claim["storageClassName"].as_str().map(str::to_owned);
        let is_known = match class.as_deref() {
            // None on purpose.
            Some("") => true,
            Some(name) => classes.contains_key(name) && !self.classes.contains_key(&class),
            None => classes.values().any(|own| own.default_since.is_some()),
        };
        if is_known {
            return Ok(());
        }
        let name = class.as_deref().unwrap_or(ASSUMED_DEFAULT).to_owned();
        if !classes.contains_key(&*name) {
            let made = json!({
                "apiVersion": Kind::StorageClass.api_version(),
                "kind": Kind::StorageClass.as_str(),
                "metadata": {"name": name},
                "provisioner": ASSUMED_DRIVER,
                "volumeBindingMode": "WaitForFirstConsumer",
            });
            self.add(Kind::StorageClass, &made)?;
        }
        claim["storageClassName"] = name.into();
        self.classes
            .entry(class)
            .or_default()
            .add_once(template.to_string());
        Ok(())
    }

    /// Reads an object as if the file had it.
    fn add(&mut self, kind: Kind, value: &Value) -> Result<(), Unmade> {
        // Unknown fields were told when the workload was read.
        let read = plimsoll_api::read(kind, value, &mut self.gathered.interner, &mut |_| {});
        let refused =
            |error: ReadError| Unmade::Unreadable(format!("spec.template.{}", error.field));
        let (key, object): (ObjectKey, Object) = read.map_err(refused)?;
        self.gathered.add(key, object);
        Ok(())
    }
}

/// The reference to a workload by which a pod is its own.
fn owner(maker: Maker, namespace: &str, name: &str) -> Value {
    json!({
        "apiVersion": maker.api_version(),
        "kind": maker.kind(),
        "name": name,
        "uid": uid(maker, namespace, name),
        "controller": true,
    })
}

/// The uid of a workload that no server has seen: no other has it.
fn uid(maker: Maker, namespace: &str, name: &str) -> String {
    format!("{}/{namespace}/{name}", maker.kind().to_lowercase())
}

fn items(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}

/// The name of the claim that a StatefulSet makes for a pod of one of its templates.
fn claim_name(claim: &Value, pod: &str) -> String {
    let name = claim["metadata"]["name"].as_str().unwrap_or_default();
    format!("{name}-{pod}")
}

fn pod(
    template: &Template,
    name: &str,
    owner: &Value,
    labels: impl Iterator<Item = (String, Value)>,
) -> Value {
    let written = &template.spec["template"];
    let mut own = written["metadata"]["labels"].clone();
    for (key, value) in labels {
        own[key] = value;
    }
    let mut spec = written["spec"].clone();
    let claims: Vec<&Value> = items(&template.spec["volumeClaimTemplates"]).collect();
    if template.maker == Maker::StatefulSet && !claims.is_empty() {
        let names: Vec<&Value> = claims.iter().map(|own| &own["metadata"]["name"]).collect();
        let others = items(&spec["volumes"]);
        let others = others.filter(|volume| !names.contains(&&volume["name"]));
        let of_claims = claims.iter().map(|own| {
            let claim = claim_name(own, name);
            json!({"name": own["metadata"]["name"], "persistentVolumeClaim": {"claimName": claim}})
        });
        let volumes: Vec<Value> = others.cloned().chain(of_claims).collect();
        spec["volumes"] = volumes.into();
    }
    json!({
        "apiVersion": "v1",
        "kind": Kind::Pod.as_str(),
        "metadata": {
            "name": name,
            "namespace": template.namespace,
            "labels": own,
            "annotations": written["metadata"]["annotations"],
            "ownerReferences": [owner],
        },
        "spec": spec,
    })
}

/// Labels that a controller adds to a pod.
fn own_labels(
    template: &Template,
    pod: &str,
    number: u64,
) -> impl Iterator<Item = (String, Value)> + use<> {
    let number = number.to_string();
    let labels: Vec<(&str, &str)> = match template.maker {
        Maker::StatefulSet => vec![
            ("statefulset.kubernetes.io/pod-name", pod),
            ("apps.kubernetes.io/pod-index", &number),
        ],
        Maker::Job => {
            let mut labels: Vec<_> = super::JOB_NAME.map(|label| (label, &*template.name)).into();
            if template.spec["completionMode"] == "Indexed" {
                labels.push(("batch.kubernetes.io/job-completion-index", &number));
            }
            labels
        }
        _ => Vec::new(),
    };
    let owned = |(key, value): (&str, &str)| (key.to_owned(), Value::from(value));
    let owned: Vec<(String, Value)> = labels.into_iter().map(owned).collect();
    owned.into_iter()
}

/// A short name for a text: another text has another (FNV-1a, as wide as that of Kubernetes).
fn hash(text: &str) -> String {
    let mixed = text.bytes().fold(0x811c_9dc5_u32, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    });
    format!("{mixed:08x}")
}
