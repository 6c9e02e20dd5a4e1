//! Writes to pods: nominated for a node, moved away.

use k8s_openapi::api::core::v1::Pod;
use kube::api::{Api, DeleteParams, EvictParams, Patch, PatchParams, Preconditions};
use plimsoll_api::Kind;
use plimsoll_core::action::Answer;
use plimsoll_core::ids::{NodeName, ObjectName, Uid};
use serde_json::json;

use super::{Failure, Writer, answer};
use crate::FIELD_MANAGER;
use crate::resource::in_namespace;

impl Writer {
    /// Server-side apply under our name, so that what we no longer say is taken back by saying nothing.
    pub(super) async fn nominate(
        &self,
        pod: &ObjectName,
        uid: &Uid,
        node: Option<&NodeName>,
    ) -> Result<Answer, Failure> {
        let api = in_namespace(&self.client, Kind::Pod, &pod.namespace);
        let status = match node {
            Some(node) => json!({"nominatedNodeName": node.as_str()}),
            None => json!({}),
        };
        let patch = json!({
            "apiVersion": Kind::Pod.api_version(),
            "kind": Kind::Pod.as_str(),
            "metadata": {"uid": uid.as_str()},
            "status": status,
        });
        let parameters = PatchParams::apply(FIELD_MANAGER).force();
        let patched = api
            .patch_status(&pod.name, &parameters, &Patch::Apply(&patch))
            .await?;
        answer(Kind::Pod, &patched)
    }

    /// A forced move is a deletion, which no disruption budget holds up, with one second left to end.
    pub(super) async fn evict(
        &self,
        pod: &ObjectName,
        uid: &Uid,
        force: bool,
    ) -> Result<Answer, Failure> {
        let api: Api<Pod> = Api::namespaced(self.client.clone(), &pod.namespace);
        let options = DeleteParams {
            grace_period_seconds: force.then_some(1),
            preconditions: Some(Preconditions {
                uid: Some(uid.as_str().to_owned()),
                resource_version: None,
            }),
            ..DeleteParams::default()
        };
        if force {
            api.delete(&pod.name, &options).await?;
        } else {
            let eviction = EvictParams {
                delete_options: Some(options),
                ..EvictParams::default()
            };
            api.evict(&pod.name, &eviction).await?;
        }
        Ok(Answer::Nothing)
    }
}
