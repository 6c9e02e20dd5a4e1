//! Events on a Policy: one for each change of what its status says of its module, and one for each way in which that fails.

use plimsoll_api::kinds::{Condition, PolicyStatus};
use plimsoll_base::event_reason::EventReason;
use plimsoll_policy::{Fault, Hook};

/// Status of a condition that holds.
const TRUE: &str = "True";
/// Reason of a module whose pools other policies serve.
const SERVED_BY_ANOTHER: &str = EventReason::ServedByAnother.as_str();

/// An event to be written on a Policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Said {
    /// That of the condition where it tells of one.
    pub(super) reason: EventReason,
    pub(super) message: String,
}

/// News in a status against the one before it.
pub(super) fn of_change(before: Option<&PolicyStatus>, after: &PolicyStatus) -> Vec<Said> {
    let was = |kind: &str| before.and_then(|status| condition(status, kind));
    let mut said = Vec::new();
    let conflict = condition(after, "Conflicting").filter(|own| {
        let was = was("Conflicting");
        own.status == TRUE && !was.is_some_and(|was| is_alike(was, own))
    });
    if let Some(ready) = condition(after, "Ready") {
        let is_same = was("Ready").is_some_and(|own| is_alike(own, ready));
        if ready.status != TRUE {
            said.extend(as_written(ready).filter(|_| !is_same));
        } else if !is_same || before.is_some_and(|status| serves_another(status, after)) {
            let is_back = was("Ready").is_some_and(|own| own.status != TRUE);
            // Who serves its pools instead is what the event of the conflict says.
            let is_said = conflict.is_some() && ready.reason == SERVED_BY_ANOTHER && !is_back;
            said.extend(serves(before, (ready, after)).filter(|_| !is_said));
        }
    }
    said.extend(conflict.and_then(as_written));
    said
}

/// A module failed in a way that it had not before; what is done instead.
pub(super) fn of_fault(module: &str, fault: &Fault, instead: &str) -> Said {
    Said {
        reason: EventReason::PolicyFailed,
        message: format!("module {module} failed: {fault}; {instead}"),
    }
}

/// The way out where a module does not answer; `behind` is the last good module, where there is one that may stand in.
pub(super) fn instead(hook: Hook, vetoes: bool, behind: Option<&str>) -> String {
    match (hook, behind) {
        (Hook::Rank, _) if vetoes => {
            "nothing is bought for its pools without its answer".to_owned()
        }
        (_, Some(behind)) => format!("its last good module {behind} decides"),
        (Hook::Rank, None) => "list prices are taken for its pools".to_owned(),
        (Hook::Consolidate, None) => "no node of its pools is consolidated".to_owned(),
        (Hook::Budget, None) => "only drift continues in its pools, as declared".to_owned(),
    }
}

/// Condition of a type; `None` where the status has none.
pub(super) fn condition<'s>(status: &'s PolicyStatus, kind: &str) -> Option<&'s Condition> {
    status.conditions.iter().find(|own| own.kind == kind)
}

/// `true` if two conditions say the same. One of calls that fail counts them in its message, which is no other news with each call.
fn is_alike(one: &Condition, other: &Condition) -> bool {
    let kind = |own: &Condition| (own.status.clone(), own.reason.clone());
    let counts = one.reason == EventReason::PolicyFailed.as_str();
    kind(one) == kind(other) && (counts || one.message == other.message)
}

/// `true` if another module, or the same with other settings, serves.
fn serves_another(before: &PolicyStatus, after: &PolicyStatus) -> bool {
    let serves = |status: &PolicyStatus| {
        let newest = status.last_good.first().cloned();
        (status.served_digest.clone(), newest)
    };
    serves(before) != serves(after)
}

/// Event of a module that serves now, with what was so before: the same words once more would only raise the count of an older event, which
/// stands above the trouble that is over.
fn serves(
    before: Option<&PolicyStatus>,
    (ready, after): (&Condition, &PolicyStatus),
) -> Option<Said> {
    let module = after.serving.as_deref().unwrap_or("of this policy");
    let with_remark = |does: &str| match ready.message.as_str() {
        "" => format!("module {module} {does}"),
        remark => format!("module {module} {does}; {remark}"),
    };
    let (reason, message) = match EventReason::parse(&ready.reason)? {
        // No pool is left to it either; that it is no warning tells it from the conflict.
        EventReason::ServedByAnother | EventReason::NoNodePools => {
            (EventReason::NoNodePools, ready.message.clone())
        }
        EventReason::Shadowing => (EventReason::Shadowing, with_remark("is asked in shadow")),
        reason => (reason, with_remark("serves")),
    };
    let was = before.and_then(|status| condition(status, "Ready"));
    let module_before = before.and_then(|status| status.serving.as_deref());
    let more = match (was, module_before) {
        (Some(was), _) if (&was.status, &was.reason) != (&ready.status, &ready.reason) => {
            let Condition { status, reason, .. } = was;
            format!("; Ready was {status} ({reason}) before")
        }
        (_, Some(other)) if other != module => format!("; module {other} served before"),
        _ => String::new(),
    };
    let message = message + &more;
    Some(Said { reason, message })
}

/// A condition in its own words; nothing of a policy that does not serve since that was asked for, or is not known yet.
fn as_written(condition: &Condition) -> Option<Said> {
    Some(Said {
        reason: EventReason::parse(&condition.reason)?,
        message: condition.message.clone(),
    })
}

#[cfg(test)]
mod tests {
    use plimsoll_api::kinds::RememberedModule;
    use plimsoll_policy::Outcome;

    use super::*;

    fn status(ready: (&str, &str, &str), digest: &str, conflict: &str) -> PolicyStatus {
        let condition = |kind: &str, (status, reason, message): (&str, &str, &str)| Condition {
            kind: kind.to_owned(),
            status: status.to_owned(),
            reason: reason.to_owned(),
            message: message.to_owned(),
            last_transition_time: None,
            observed_generation: None,
        };
        let is_conflict = if conflict.is_empty() { "False" } else { "True" };
        PolicyStatus {
            conditions: vec![
                condition("Ready", ready),
                condition("Conflicting", (is_conflict, "ServedByAnother", conflict)),
            ],
            serving: Some(format!("{digest} (1)")),
            served_digest: Some(digest.to_owned()),
            last_good: vec![RememberedModule {
                digest: digest.to_owned(),
                ..RememberedModule::default()
            }],
            ..PolicyStatus::default()
        }
    }

    fn told(before: Option<&PolicyStatus>, after: &PolicyStatus) -> Vec<String> {
        let said = of_change(before, after).into_iter();
        said.map(|said| format!("{}: {}", said.reason, said.message))
            .collect()
    }

    const SERVES: (&str, &str, &str) = ("True", "Serving", "");

    #[test]
    fn a_change_is_told_once() {
        let first = status(SERVES, "a", "");
        assert_eq!(told(None, &first), ["Serving: module a (1) serves"]);
        assert!(told(Some(&first), &first).is_empty());
        let next = status(SERVES, "b", "");
        assert_eq!(
            told(Some(&first), &next),
            ["Serving: module b (1) serves; module a (1) served before"]
        );
        let refused = status(("False", "ImportsForbidden", "it imports"), "b", "");
        assert_eq!(
            told(Some(&next), &refused),
            ["ImportsForbidden: it imports"]
        );
        assert!(told(Some(&refused), &refused).is_empty());
        // The module that had served all along, again.
        assert_eq!(
            told(Some(&refused), &next),
            ["Serving: module b (1) serves; Ready was False (ImportsForbidden) before"]
        );
    }

    #[test]
    fn what_is_over_is_an_event_of_its_own() {
        let serves = status(SERVES, "a", "");
        let shadow = status(("True", "Shadowing", ""), "a", "");
        let off = status(("False", "Off", "its mode is Off"), "a", "");
        for (before, after, said) in [
            (
                status(("False", "BytesMissing", "it is gone"), "a", ""),
                &serves,
                "Serving: module a (1) serves; Ready was False (BytesMissing) before",
            ),
            (
                status(("False", "SettingsRefused", "setting x"), "a", ""),
                &serves,
                "Serving: module a (1) serves; Ready was False (SettingsRefused) before",
            ),
            (
                off,
                &shadow,
                "Shadowing: module a (1) is asked in shadow; Ready was False (Off) before",
            ),
            (
                shadow.clone(),
                &serves,
                "Serving: module a (1) serves; Ready was True (Shadowing) before",
            ),
        ] {
            assert_eq!(told(Some(&before), after), [said]);
        }
    }

    #[test]
    fn a_module_without_a_pool_says_so_in_no_warning_and_who_has_them_is_said_once() {
        let words = "module a (1) is loaded; no NodePool is selected";
        let idle = status(("True", "NoNodePools", words), "a", "");
        assert_eq!(told(None, &idle), [format!("NoNodePools: {words}")]);
        assert!(!EventReason::NoNodePools.is_warning());
        let serves = status(SERVES, "a", "");
        assert_eq!(
            told(Some(&idle), &serves),
            ["Serving: module a (1) serves; Ready was True (NoNodePools) before"]
        );
        let words = "module a (1) is loaded; policy b, which is older, serves";
        let held = status(("True", "ServedByAnother", words), "a", "pool x");
        assert_eq!(told(None, &held), ["ServedByAnother: pool x"]);
        assert_eq!(told(Some(&serves), &held), ["ServedByAnother: pool x"]);
        // The trouble is over, whichever policy serves its pools.
        let refused = status(("False", "BytesMissing", "it is gone"), "a", "pool x");
        assert_eq!(
            told(Some(&refused), &held),
            [format!(
                "NoNodePools: {words}; Ready was False (BytesMissing) before"
            )]
        );
    }

    #[test]
    fn calls_that_fail_are_told_once_however_many_follow() {
        let failing = |words| status(("False", "PolicyFailed", words), "a", "");
        let (three, four) = (failing("failed its last 3"), failing("failed its last 4"));
        let first = status(SERVES, "a", "");
        let said = told(Some(&first), &three);
        assert_eq!(said, ["PolicyFailed: failed its last 3"]);
        assert!(told(Some(&three), &four).is_empty());
        assert_eq!(
            told(Some(&four), &first),
            ["Serving: module a (1) serves; Ready was False (PolicyFailed) before"]
        );
    }

    #[test]
    fn counts_change_nothing_and_other_settings_are_another_module() {
        let first = status(SERVES, "a", "");
        let mut later = first.clone();
        later.calls = 7;
        assert!(told(Some(&first), &later).is_empty());
        let settings = &mut later.last_good[0].settings;
        settings.insert("hours".to_owned(), "2".to_owned());
        assert_eq!(told(Some(&first), &later).len(), 1);
    }

    #[test]
    fn what_was_asked_for_is_no_event_and_a_conflict_is_one() {
        let off = status(("False", "Off", "its mode is Off"), "a", "");
        assert!(told(None, &off).is_empty());
        let (first, held) = (status(SERVES, "a", ""), status(SERVES, "a", "pool x"));
        assert_eq!(told(Some(&first), &held), ["ServedByAnother: pool x"]);
        assert!(told(Some(&held), &held).is_empty());
        assert!(told(Some(&held), &first).is_empty());
    }

    #[test]
    fn a_fault_says_what_is_done_instead() {
        let fault = Fault {
            outcome: Outcome::Trap,
            sentence: "it trapped".to_owned(),
        };
        let said = |hook, vetoes, behind| of_fault("a (1)", &fault, &instead(hook, vetoes, behind));
        for (said, ends) in [
            (
                said(Hook::Rank, false, None),
                "list prices are taken for its pools",
            ),
            (
                said(Hook::Rank, false, Some("b")),
                "its last good module b decides",
            ),
            (
                said(Hook::Rank, true, Some("b")),
                "nothing is bought for its pools without its answer",
            ),
            (
                said(Hook::Consolidate, false, None),
                "no node of its pools is consolidated",
            ),
            (
                said(Hook::Budget, false, None),
                "only drift continues in its pools, as declared",
            ),
        ] {
            assert_eq!(
                said.message,
                format!("module a (1) failed: it trapped; {ends}")
            );
        }
    }
}
