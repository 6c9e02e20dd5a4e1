//! Writes to the statuses of NodePools, NodeOverlays and CapacityBuffers.

use kube::api::Patch;
use plimsoll_api::Kind;
use plimsoll_base::time::Timestamp;
use plimsoll_model::ConditionType;
use plimsoll_model::action::{Answer, ObjectKey, StatusChange};

use super::{Failure, Preconditions, Writer, answer, check, difference, is_it, ours};
use crate::resource::{api, in_namespace};

impl Writer {
    /// Brings a status to what it is to be, on the object as it is; nothing is sent where nothing differs.
    pub(super) async fn change_status(
        &self,
        object: &ObjectKey,
        change: &StatusChange,
        only: Preconditions<'_>,
        now: Timestamp,
    ) -> Result<Answer, Failure> {
        let (kind, name, dependents) = match object {
            ObjectKey::Pool(name) => (Kind::NodePool, name.as_str(), ConditionType::OF_POOLS),
            ObjectKey::Overlay(name) => {
                (Kind::NodeOverlay, name.as_ref(), ConditionType::OF_OVERLAYS)
            }
            ObjectKey::Buffer(name) => {
                let own = name.name.as_ref();
                (Kind::CapacityBuffer, own, ConditionType::OF_BUFFERS)
            }
            _ => {
                let words = format!("{object:?} has no status of ours");
                return Err(Failure::Answer(words));
            }
        };
        let api = match object {
            ObjectKey::Buffer(own) => in_namespace(&self.client, kind, &own.namespace),
            _ => api(&self.client, kind),
        };
        let seen = api.get_opt(name).await?;
        let Some(mut seen) = seen.filter(|seen| is_it(seen, only.uid)) else {
            return Err(Failure::Gone);
        };
        check(&seen, only.version)?;
        if let Some(patch) = difference::memory(&seen, change) {
            seen = api.patch(name, &ours(), &Patch::Merge(&patch)).await?;
        }
        let Some(patch) = difference::status(&seen, change, dependents, now) else {
            return answer(kind, seen);
        };
        match api.patch_status(name, &ours(), &Patch::Merge(&patch)).await {
            Ok(patched) => answer(kind, patched),
            Err(error) => Err(error.into()),
        }
    }
}
