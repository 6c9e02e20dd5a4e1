//! Writes to Nodes: let in, labelled, tainted, let go. Lists that others write to as well (finalizers, owners) are merged
//! by the server, entry by entry.

use kube::api::Patch;
use plimsoll_api::write::{map, taints};
use plimsoll_api::{Kind, keys};
use plimsoll_core::action::{Answer, NodeIdentity};
use plimsoll_core::ids::NodeName;
use plimsoll_core::labels;
use plimsoll_core::model::{Taint, Version};
use serde_json::{Value, json};

use super::{Failure, Writer, answer, is_status, ours, written};
use crate::resource::api;

impl Writer {
    pub(super) async fn register_node(
        &self,
        identity: &NodeIdentity,
        version: Option<Version>,
    ) -> Result<Answer, Failure> {
        let patch = json!({
            "metadata": {
                "resourceVersion": written(version),
                "finalizers": [keys::FINALIZER],
                "ownerReferences": [{
                    "apiVersion": Kind::NodeClaim.api_version(),
                    "kind": Kind::NodeClaim.as_str(),
                    "name": identity.claim.as_str(),
                    "uid": identity.claim_uid.as_str(),
                    "blockOwnerDeletion": true,
                }],
                "labels": map(&identity.labels),
                "annotations": map(&identity.annotations),
            },
            "spec": {"taints": taints(&identity.taints)},
        });
        self.patch_node(&identity.node, &patch).await
    }

    pub(super) async fn initialize_node(
        &self,
        name: &NodeName,
        version: Option<Version>,
    ) -> Result<Answer, Failure> {
        let patch = json!({"metadata": {
            "resourceVersion": written(version),
            "labels": {labels::INITIALIZED: "true"},
        }});
        self.patch_node(name, &patch).await
    }

    pub(super) async fn set_taints(
        &self,
        name: &NodeName,
        all: &[Taint],
        version: Option<Version>,
    ) -> Result<Answer, Failure> {
        let patch = json!({
            "metadata": {"resourceVersion": written(version)},
            "spec": {"taints": taints(all)},
        });
        self.patch_node(name, &patch).await
    }

    pub(super) async fn release_node(&self, name: &NodeName) -> Result<Answer, Failure> {
        let patch = json!({"metadata": {
            "$deleteFromPrimitiveList/finalizers": [keys::FINALIZER],
        }});
        match self.patch_node(name, &patch).await {
            Ok(_) => Ok(Answer::Nothing),
            Err(Failure::Request(error)) if is_status(&error, 404) => Ok(Answer::Nothing),
            Err(failure) => Err(failure),
        }
    }

    async fn patch_node(&self, name: &NodeName, patch: &Value) -> Result<Answer, Failure> {
        let api = api(&self.client, Kind::Node);
        let patched = api
            .patch(name.as_str(), &ours(), &Patch::Strategic(patch))
            .await?;
        answer(Kind::Node, &patched)
    }
}
