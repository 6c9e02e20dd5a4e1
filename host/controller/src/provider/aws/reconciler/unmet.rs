//! Classes that turn out not to be ready, as events say it: what their conditions begin to say.

use plimsoll_api::kinds::{Condition, Ec2NodeClass, Ec2NodeClassStatus};
use plimsoll_aws::QUEUE_CONDITION;
use plimsoll_base::event_reason::EventReason;
use plimsoll_kube::event::Notice;
use plimsoll_model::ConditionType;

/// Reason of a condition that only says which others are not met.
const OTHERS: &str = "DependenciesNotReady";

/// Conditions of a class that launches wait for and that are False in its next status, unless it says so already. Those that only sum up
/// others are left out.
pub(super) fn newly<'s>(class: &Ec2NodeClass, next: &'s Ec2NodeClassStatus) -> Vec<&'s Condition> {
    let said = class.status.iter().flat_map(|status| &status.conditions);
    let said: Vec<&Condition> = said.collect();
    let is_said = |new: &Condition| {
        let mut said = said.iter();
        said.any(|own| {
            (&own.kind, &own.status, &own.message) == (&new.kind, &new.status, &new.message)
        })
    };
    let is_left_out = |own: &Condition| {
        let kinds = [ConditionType::Ready.as_str(), QUEUE_CONDITION];
        kinds.contains(&own.kind.as_str()) || own.reason == OTHERS
    };
    let fails = next.conditions.iter().filter(|own| own.status == "False");
    fails
        .filter(|own| !is_left_out(own) && !is_said(own))
        .collect()
}

/// Event that says it of the class.
pub(super) fn notice(class: &Ec2NodeClass, condition: &Condition) -> Notice {
    let reason = if condition.kind == ConditionType::ValidationSucceeded.as_str() {
        EventReason::FailedValidation
    } else {
        EventReason::NodeClassNotReady
    };
    Notice::of_class(class, reason, words(condition))
}

/// The condition in words.
pub(super) fn words(condition: &Condition) -> String {
    format!("{}: {}", condition.kind, condition.message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(message: &str) -> Ec2NodeClassStatus {
        let condition = |kind: &str, status: &str, reason: &str| Condition {
            kind: kind.to_owned(),
            status: status.to_owned(),
            reason: reason.to_owned(),
            message: message.to_owned(),
            last_transition_time: None,
            observed_generation: None,
        };
        let conditions = vec![
            condition("SubnetsReady", "False", "SubnetsNotFound"),
            condition("AMIsReady", "True", "AMIsReady"),
            condition("Ready", "False", "UnhealthyDependents"),
            condition(QUEUE_CONDITION, "False", "QueueNotFound"),
            condition("ValidationSucceeded", "False", OTHERS),
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
                .map(|condition| notice(class, condition))
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
        let mut refused = status(none);
        refused.conditions[4].reason = "RunInstancesAuthCheckFailed".to_owned();
        assert_eq!(
            words(&class, &refused),
            [""; 0],
            "the same words are said already"
        );
        class.status = None;
        assert_eq!(
            words(&class, &refused)[1],
            "FailedValidation: ValidationSucceeded: selectors find no subnet"
        );
    }
}
