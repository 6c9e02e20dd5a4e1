//! Status of an overlay: whether it holds, which depends on the other overlays, the pools and what is listed.

use std::collections::BTreeMap;
use std::sync::Arc;

use plimsoll_base::time::Timestamp;
use plimsoll_cluster::SeenStatus;
use plimsoll_model::action::{ObjectKey, StatusChange};
use plimsoll_model::catalogue::OverlayRefusal;
use plimsoll_model::{ConditionType, DesiredCondition};

use super::super::Engine;

/// Overlays that hold nowhere, as they were found in one world.
#[derive(Clone, Debug, Default)]
pub(super) struct RefusedOverlays {
    /// Revisions of overlays and pools, and when the catalogues were listed.
    world: Option<(u64, u64, Option<Timestamp>)>,
    refused: BTreeMap<Arc<str>, OverlayRefusal>,
}

impl Engine {
    /// Finds out which overlays hold nowhere, where that may have changed, and looks at all of them then.
    pub(super) fn judge_overlays(&mut self) {
        if !self.settings.node_overlays {
            return;
        }
        let (overlays, pools) = (&self.cluster.overlays, &self.cluster.pools);
        let world = Some((overlays.revision(), pools.revision(), self.listed));
        if self.statuses.overlays.world == world {
            return;
        }
        let overlays = overlays.objects();
        let refused = if overlays.is_empty() {
            BTreeMap::new()
        } else {
            self.overlaid().refused().iter().cloned().collect()
        };
        for overlay in overlays {
            let object = ObjectKey::Overlay(Arc::clone(&overlay.name));
            self.statuses.look_at(&object);
        }
        self.statuses.overlays = RefusedOverlays { world, refused };
    }

    /// The change that brings an overlay's status to what it is to be; `None` where it is so, and where overlays are not in use.
    pub(super) fn overlay_status(
        &self,
        name: &Arc<str>,
        seen: &SeenStatus,
    ) -> Option<StatusChange> {
        if !self.settings.node_overlays {
            return None;
        }
        let kind = ConditionType::ValidationSucceeded;
        let said = match self.statuses.overlays.refused.get(name) {
            None => DesiredCondition::holds(kind),
            Some(refusal) => DesiredCondition::fails(kind, refusal.reason(), &refusal.to_string()),
        };
        let status = &seen.status;
        let is_new = !status.conditions.says_of(&said, status.generation);
        is_new.then(|| StatusChange {
            conditions: vec![said],
            ..StatusChange::default()
        })
    }
}
