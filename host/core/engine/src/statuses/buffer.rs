//! Status of a buffer: whether its room can be worked out, how much that is, and whether nodes that are there have it.
//!
//! The first two follow from the objects, the last from the last plan; until there is one, what was said before stands.

use std::sync::Arc;

use plimsoll_base::ids::ObjectName;
use plimsoll_base::time::Timestamp;
use plimsoll_cluster::SeenStatus;
use plimsoll_model::action::{ObjectKey, StatusChange};
use plimsoll_model::buffers::{Unready, next_change, resolve};
use plimsoll_model::{
    BufferSource, CapacityBuffer, ConditionType, DesiredCondition, PodTemplate, Replicated,
    UsedTemplate, WorkloadKind,
};
use plimsoll_schedule::spare::{BufferVerdict, State};

use super::super::Engine;

const READY: ConditionType = ConditionType::ReadyForProvisioning;
const PROVISIONING: ConditionType = ConditionType::Provisioning;

impl Engine {
    /// A plan came to this for a buffer.
    pub(crate) fn note_verdict(&mut self, verdict: &BufferVerdict) {
        let reason = verdict.state.to_string();
        let said = if verdict.state == State::FitsExistingCapacity {
            DesiredCondition::holds_since(PROVISIONING, &reason, &verdict.message)
        } else {
            DesiredCondition::fails(PROVISIONING, &reason, &verdict.message)
        };
        let name = verdict.buffer.clone();
        self.statuses.look_at(&ObjectKey::Buffer(name.clone()));
        self.statuses.verdicts.insert(name, said);
    }

    /// Something changed that buffers may refer to.
    pub(crate) fn look_at_buffers(&mut self) {
        self.spare.may_ask = true;
        if !self.settings.capacity_buffers {
            return;
        }
        let names = self.cluster.buffers.unordered().map(|buffer| &buffer.name);
        let names = names.map(|name| ObjectKey::Buffer(name.clone()));
        self.statuses.due.extend(names);
    }

    /// The change that brings a buffer's status to what it is to be; `None` where it is so, and where buffers are not in use.
    pub(super) fn buffer_status(
        &mut self,
        name: &ObjectName,
        seen: &SeenStatus,
        now: Timestamp,
    ) -> Option<StatusChange> {
        let buffer = self.cluster.buffers.get(name).cloned()?;
        if !self.settings.capacity_buffers {
            return None;
        }
        if let Some(at) = next_change([&buffer], now) {
            self.statuses
                .look_again(ObjectKey::Buffer(name.clone()), at);
        }
        let (templates, workloads) = self.referred(&buffer);
        let (ready, provisioning, units) = match resolve(&buffer, &templates, &workloads, now) {
            Ok(room) => {
                let ready = DesiredCondition::holds_since(READY, "Resolved", "");
                let known = self.statuses.verdicts.get(name).cloned();
                (ready, known, Some(i64::from(room.units)))
            }
            Err(unready) => {
                let words = unready.to_string();
                let ready = DesiredCondition::fails(READY, reason(&unready), &words);
                let state = State::NotReadyForProvisioning.to_string();
                let waits = DesiredCondition::fails(PROVISIONING, &state, &words);
                (ready, Some(waits), None)
            }
        };
        let template = match &buffer.source {
            BufferSource::Template(name) => Some(UsedTemplate {
                name: Arc::clone(name),
                generation: templates.first().map_or(0, |own| own.generation),
            }),
            BufferSource::Workload { .. } | BufferSource::Nothing => None,
        };
        let status = &seen.status;
        let mut conditions: Vec<DesiredCondition> =
            Some(ready).into_iter().chain(provisioning).collect();
        conditions.retain(|said| !status.conditions.says_of(said, status.generation));
        let change = StatusChange {
            conditions,
            units: units.filter(|units| Some(*units) != status.units),
            template: template.filter(|own| Some(own) != status.template.as_ref()),
            ..StatusChange::default()
        };
        (change != StatusChange::default()).then_some(change)
    }

    /// What a buffer refers to, as far as it is there.
    fn referred(&self, buffer: &CapacityBuffer) -> (Vec<Arc<PodTemplate>>, Vec<Arc<Replicated>>) {
        let named =
            |name: &Arc<str>| ObjectName::new(Arc::clone(&buffer.name.namespace), Arc::clone(name));
        match &buffer.source {
            BufferSource::Nothing => (Vec::new(), Vec::new()),
            BufferSource::Template(name) => {
                let template = self.cluster.templates.get(&named(name));
                (template.cloned().into_iter().collect(), Vec::new())
            }
            BufferSource::Workload { name, .. } => {
                let kinds = [
                    WorkloadKind::Deployment,
                    WorkloadKind::StatefulSet,
                    WorkloadKind::ReplicaSet,
                ];
                let found = kinds.into_iter().filter_map(|kind| {
                    let workload = self.cluster.workloads.get(&(kind, named(name)));
                    workload.cloned()
                });
                (Vec::new(), found.collect())
            }
        }
    }
}

fn reason(unready: &Unready) -> &'static str {
    match unready {
        Unready::TemplateNotFound(_) => "PodTemplateNotFound",
        Unready::WorkloadNotFound { .. } => "ScalableRefNotFound",
        _ => "ResolutionFailed",
    }
}
