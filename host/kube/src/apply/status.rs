//! Writes to the statuses of NodePools, NodeOverlays and CapacityBuffers.

use kube::api::Patch;
use plimsoll_api::Kind;
use plimsoll_core::action::{Answer, ObjectKey, StatusChange};
use plimsoll_core::model::ConditionType;
use plimsoll_core::time::Timestamp;

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
        let cluster_wide = |kind| api(&self.client, kind);
        let (kind, name, api, dependents) = match object {
            ObjectKey::Pool(name) => {
                let kind = Kind::NodePool;
                (
                    kind,
                    name.as_str(),
                    cluster_wide(kind),
                    ConditionType::OF_POOLS,
                )
            }
            ObjectKey::Overlay(name) => {
                let kind = Kind::NodeOverlay;
                (
                    kind,
                    name.as_ref(),
                    cluster_wide(kind),
                    ConditionType::OF_OVERLAYS,
                )
            }
            ObjectKey::Buffer(name) => {
                let kind = Kind::CapacityBuffer;
                let api = in_namespace(&self.client, kind, &name.namespace);
                (kind, name.name.as_ref(), api, ConditionType::OF_BUFFERS)
            }
            _ => {
                let words = format!("{object:?} has no status of ours");
                return Err(Failure::Answer(words));
            }
        };
        let seen = api.get_opt(name).await?;
        let Some(mut seen) = seen.filter(|seen| is_it(seen, only.uid)) else {
            return Err(Failure::Gone);
        };
        check(&seen, only.version)?;
        if let Some(patch) = difference::asked(&seen, change) {
            seen = api.patch(name, &ours(), &Patch::Merge(&patch)).await?;
        }
        let Some(patch) = difference::status(&seen, change, dependents, now) else {
            return answer(kind, &seen);
        };
        match api.patch_status(name, &ours(), &Patch::Merge(&patch)).await {
            Ok(patched) => answer(kind, &patched),
            Err(error) => Err(error.into()),
        }
    }
}
