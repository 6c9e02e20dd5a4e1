//! Writes to NodeClaims: made, marked, let go.

use kube::ResourceExt;
use kube::api::{Patch, PostParams};
use kube::core::DynamicObject;
use plimsoll_api::write::{amounts, claim_spec, map};
use plimsoll_api::{Kind, keys};
use plimsoll_core::action::{Answer, ClaimMark, Machine};
use plimsoll_core::ids::{ClaimName, Uid};
use plimsoll_core::model::{NodeClaim, Version};
use plimsoll_core::time::Timestamp;
use serde_json::{Map, Value, json};

use super::condition::{Stamp, with_true};
use super::{Failure, Writer, answer, check, is_status, ours};
use crate::FIELD_MANAGER;
use crate::resource::api;

impl Writer {
    /// A claim of that name that is there already is the one we asked for: names are made from what was decided.
    pub(super) async fn create_claim(
        &self,
        claim: &NodeClaim,
        pool: &Uid,
    ) -> Result<Answer, Failure> {
        let api = api(&self.client, Kind::NodeClaim);
        let object = serde_json::from_value(manifest(claim, pool));
        let object: DynamicObject =
            object.map_err(|error| Failure::Answer(format!("claim {}: {error}", claim.name)))?;
        let parameters = PostParams {
            field_manager: Some(FIELD_MANAGER.to_owned()),
            ..PostParams::default()
        };
        match api.create(&parameters, &object).await {
            Ok(created) => answer(Kind::NodeClaim, &created),
            Err(error) if is_status(&error, 409) => {
                answer(Kind::NodeClaim, &api.get(claim.name.as_str()).await?)
            }
            Err(error) => Err(error.into()),
        }
    }

    pub(super) async fn read_claim(&self, name: &ClaimName) -> Result<Answer, Failure> {
        let api = api(&self.client, Kind::NodeClaim);
        match api.get_opt(name.as_str()).await? {
            Some(claim) => answer(Kind::NodeClaim, &claim),
            None => Ok(Answer::Absent),
        }
    }

    /// Labels first, status last: the condition says that all that belongs to it has been written.
    pub(super) async fn mark_claim(
        &self,
        name: &ClaimName,
        mark: &ClaimMark,
        version: Option<Version>,
        now: Timestamp,
    ) -> Result<Answer, Failure> {
        let api = api(&self.client, Kind::NodeClaim);
        let mut claim = api.get(name.as_str()).await?;
        check(&claim, version)?;
        if let ClaimMark::Launched(machine) = mark {
            let patch = json!({"metadata": {
                "resourceVersion": claim.resource_version(),
                "labels": missing_labels(&claim, machine),
            }});
            claim = api
                .patch(name.as_str(), &ours(), &Patch::Merge(&patch))
                .await?;
        }
        let patch = json!({
            "metadata": {"resourceVersion": claim.resource_version()},
            "status": status(&claim, mark, now),
        });
        let marked = api
            .patch_status(name.as_str(), &ours(), &Patch::Merge(&patch))
            .await?;
        answer(Kind::NodeClaim, &marked)
    }

    pub(super) async fn release_claim(&self, name: &ClaimName) -> Result<Answer, Failure> {
        let api = api(&self.client, Kind::NodeClaim);
        let Some(claim) = api.get_opt(name.as_str()).await? else {
            return Ok(Answer::Nothing);
        };
        let left: Vec<&String> = claim
            .finalizers()
            .iter()
            .filter(|finalizer| *finalizer != keys::FINALIZER)
            .collect();
        let patch = json!({"metadata": {
            "resourceVersion": claim.resource_version(),
            "finalizers": left,
        }});
        api.patch(name.as_str(), &ours(), &Patch::Merge(&patch))
            .await?;
        Ok(Answer::Nothing)
    }
}

/// A new claim as it is posted. Deleting its pool deletes it.
fn manifest(claim: &NodeClaim, pool: &Uid) -> Value {
    json!({
        "apiVersion": Kind::NodeClaim.api_version(),
        "kind": Kind::NodeClaim.as_str(),
        "metadata": {
            "name": claim.name.as_str(),
            "labels": map(&claim.labels),
            "annotations": map(&claim.annotations),
            "finalizers": [keys::FINALIZER],
            "ownerReferences": [{
                "apiVersion": Kind::NodePool.api_version(),
                "kind": Kind::NodePool.as_str(),
                "name": claim.pool.as_str(),
                "uid": pool.as_str(),
                "blockOwnerDeletion": true,
            }],
        },
        "spec": claim_spec(claim),
    })
}

/// Labels of the machine that the claim has not: its own values win.
fn missing_labels(claim: &DynamicObject, machine: &Machine) -> Value {
    let own = claim.labels();
    let missing = machine
        .labels
        .iter()
        .filter(|(key, _)| !own.contains_key(key.as_ref()));
    let entries = missing.map(|(key, value)| (key.to_string(), value.as_ref().into()));
    Value::Object(entries.collect::<Map<_, _>>())
}

fn status(claim: &DynamicObject, mark: &ClaimMark, now: Timestamp) -> Value {
    let created = claim
        .creation_timestamp()
        .map_or(now, |time| Timestamp::from_millis(time.0.as_millisecond()));
    let stamp = Stamp {
        created,
        now,
        generation: claim.metadata.generation.unwrap_or_default(),
    };
    let conditions = &claim.data["status"]["conditions"];
    let kind = match mark {
        ClaimMark::Launched(_) => "Launched",
        ClaimMark::Registered(_) => "Registered",
        ClaimMark::Initialized => "Initialized",
        ClaimMark::Terminating => "InstanceTerminating",
    };
    let mut status = json!({"conditions": with_true(conditions, kind, stamp)});
    match mark {
        ClaimMark::Launched(machine) => {
            status["providerID"] = machine.provider_id.as_str().into();
            status["capacity"] = amounts(&machine.capacity);
            status["allocatable"] = amounts(&machine.allocatable);
        }
        ClaimMark::Registered(node) => status["nodeName"] = node.as_str().into(),
        ClaimMark::Initialized | ClaimMark::Terminating => {}
    }
    status
}
