//! Writes to pods: nominated for a node, moved away.

use k8s_openapi::api::core::v1::Pod;
use kube::Error;
use kube::api::{Api, DeleteParams, EvictParams, Patch, Preconditions};
use kube::core::Status;
use plimsoll_api::Kind;
use plimsoll_base::ids::{NodeName, ObjectName, Uid};
use plimsoll_base::time::Span;
use plimsoll_model::action::Answer;
use serde_json::json;

use super::{Failure, Writer, answer, ours};
use crate::resource::in_namespace;

impl Writer {
    /// A merge patch of the one field; the scheduler writes it, too, and the last word holds. A pod that has been bound meanwhile needs no
    /// nomination: that is no failure, and nothing to tell anybody.
    pub(super) async fn nominate(
        &self,
        pod: &ObjectName,
        uid: &Uid,
        node: Option<&NodeName>,
    ) -> Result<Answer, Failure> {
        let api = in_namespace(&self.client, Kind::Pod, &pod.namespace);
        let patch = json!({
            "metadata": {"uid": uid.as_str()},
            "status": {"nominatedNodeName": node.map(NodeName::as_str)},
        });
        let patched = api
            .patch_status(&pod.name, &ours(), &Patch::Merge(&patch))
            .await;
        match patched {
            Err(Error::Api(status)) if is_of_bound(&status) => Ok(Answer::Nothing),
            Err(Error::Api(status)) if is_of_another(&status) => Err(Failure::Gone),
            patched => answer(Kind::Pod, patched?),
        }
    }

    /// A move that has to end within some time is a deletion, which no disruption budget holds up.
    pub(super) async fn evict(
        &self,
        pod: &ObjectName,
        uid: &Uid,
        within: Option<Span>,
    ) -> Result<Answer, Failure> {
        let api: Api<Pod> = Api::namespaced(self.client.clone(), &pod.namespace);
        let options = DeleteParams {
            grace_period_seconds: within.map(whole_seconds),
            preconditions: Some(Preconditions {
                uid: Some(uid.as_str().to_owned()),
                resource_version: None,
            }),
            ..DeleteParams::default()
        };
        if within.is_some() {
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

/// `true` if a server has a nomination refused since the pod is bound already.
fn is_of_bound(status: &Status) -> bool {
    has_cause(status, "status.nominatedNodeName", "FieldValueForbidden")
}

/// `true` if another pod bears the name: a uid never changes.
fn is_of_another(status: &Status) -> bool {
    has_cause(status, "metadata.uid", "FieldValueInvalid")
}

fn has_cause(status: &Status, field: &str, reason: &str) -> bool {
    let details = status.details.as_ref();
    let mut causes = details.into_iter().flat_map(|details| &details.causes);
    causes.any(|cause| cause.field == field && cause.reason == reason)
}

/// As a server counts it: whole seconds, and at least one, since none means at once and without a word.
fn whole_seconds(span: Span) -> u32 {
    u32::try_from(span.millis() / 1000).map_or(u32::MAX, |seconds| seconds.max(1))
}
