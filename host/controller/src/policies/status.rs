//! The account of one Policy: its condition `Ready`, and the status that says it.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use k8s_openapi::jiff::Timestamp;
use plimsoll_api::kinds::{Condition, Policy, PolicyStatus};
use plimsoll_base::event_reason::EventReason;

/// The state of a policy against its object: as it says, or why not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ConditionState {
    pub(super) is_true: bool,
    /// In Pascal case, such as `DigestMismatch`.
    pub(super) reason: &'static str,
    pub(super) message: String,
}

impl ConditionState {
    pub(super) fn ready(reason: EventReason) -> Self {
        Self {
            is_true: true,
            reason: reason.as_str(),
            message: String::new(),
        }
    }

    /// Ready, with a remark.
    pub(super) fn remarked(reason: EventReason, message: String) -> Self {
        Self {
            message,
            ..Self::ready(reason)
        }
    }

    pub(super) fn unready(reason: EventReason, message: impl Into<String>) -> Self {
        Self::untold(reason.as_str(), message)
    }

    /// One of which no event tells: it was asked for, or is not known yet.
    pub(super) fn untold(reason: &'static str, message: impl Into<String>) -> Self {
        Self {
            is_true: false,
            reason,
            message: message.into(),
        }
    }
}

/// The status that says this; times of conditions that stay as they are stay, too.
pub(super) fn status(
    policy: &Policy,
    conditions: &[(&str, &ConditionState)],
    rest: PolicyStatus,
) -> PolicyStatus {
    let before = policy.status.as_ref();
    let before: &[Condition] = before.map_or(&[], |status| &status.conditions);
    let one = |(kind, state): &(&str, &ConditionState)| {
        let status = if state.is_true { "True" } else { "False" };
        let same = before.iter().find(|own| own.kind == *kind);
        let since = same
            .filter(|own| own.status == status)
            .and_then(|own| own.last_transition_time.clone());
        Condition {
            kind: (*kind).to_owned(),
            status: status.to_owned(),
            reason: state.reason.to_owned(),
            message: state.message.clone(),
            last_transition_time: Some(since.unwrap_or_else(now)),
            observed_generation: policy.metadata.generation,
        }
    };
    PolicyStatus {
        conditions: conditions.iter().map(one).collect(),
        ..rest
    }
}

/// Whole seconds, as conditions have them.
fn now() -> Time {
    let now = Timestamp::now();
    Time(Timestamp::from_second(now.as_second()).unwrap_or(now))
}
