//! Classes that turn out not to be ready, in the log and on the class itself: what their conditions begin to say.

use plimsoll_api::kinds::{Condition, Ec2NodeClass, Ec2NodeClassStatus};
use plimsoll_core::event_reason::EventReason;
use plimsoll_core::model::ConditionType;
use plimsoll_kube::event::Notice;

/// Events for the conditions of a class that are False in its next status, unless it says so already.
pub(super) fn newly(class: &Ec2NodeClass, next: &Ec2NodeClassStatus) -> Vec<Notice> {
    let said = class.status.iter().flat_map(|status| &status.conditions);
    let said: Vec<&Condition> = said.collect();
    let is_said = |new: &&Condition| {
        let mut said = said.iter();
        said.any(|own| {
            (&own.kind, &own.status, &own.message) == (&new.kind, &new.status, &new.message)
        })
    };
    let fails = next.conditions.iter().filter(|own| own.status == "False");
    // This one only sums up the others.
    let fails = fails.filter(|own| own.kind != ConditionType::Ready.as_str());
    let notice = |own: &Condition| {
        let reason = if own.kind == ConditionType::ValidationSucceeded.as_str() {
            EventReason::FailedValidation
        } else {
            EventReason::NodeClassNotReady
        };
        let name = class.metadata.name.as_deref().unwrap_or_default();
        let Condition {
            kind,
            reason: cause,
            message,
            ..
        } = own;
        tracing::warn!(
            class = name,
            reason = cause,
            "EC2NodeClass is not ready: {kind}: {message}"
        );
        Notice::of_class(class, reason, format!("{kind}: {message}"))
    };
    fails.filter(|own| !is_said(own)).map(notice).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(message: &str) -> Ec2NodeClassStatus {
        let condition = |kind: &str, status: &str| Condition {
            kind: kind.to_owned(),
            status: status.to_owned(),
            reason: "SubnetsNotFound".to_owned(),
            message: message.to_owned(),
            last_transition_time: None,
            observed_generation: None,
        };
        let conditions = vec![
            condition("SubnetsReady", "False"),
            condition("AMIsReady", "True"),
            condition("Ready", "False"),
        ];
        Ec2NodeClassStatus {
            conditions,
            ..Ec2NodeClassStatus::default()
        }
    }

    #[test]
    fn what_a_class_begins_to_lack_is_told_once() {
        let mut class = Ec2NodeClass::default();
        let words = |class: &Ec2NodeClass, next: &Ec2NodeClassStatus| -> Vec<String> {
            let notices = newly(class, next).into_iter();
            notices
                .map(|notice| format!("{}: {}", notice.reason, notice.message))
                .collect()
        };
        let none = "selectors find no subnet";
        assert_eq!(
            words(&class, &status(none)),
            ["NodeClassNotReady: SubnetsReady: selectors find no subnet"]
        );
        class.status = Some(status(none));
        assert_eq!(words(&class, &status(none)), [""; 0]);
        assert_eq!(words(&class, &status("another")).len(), 1);
    }
}
