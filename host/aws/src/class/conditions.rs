//! Conditions of a class, from what was found about it; `Ready` follows from the others, but for what launches do not wait for.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use plimsoll_api::kinds::Condition;

/// Something that was found about a class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Finding {
    /// It is so.
    Holds,
    /// It is not, for a reason in one word, and in a sentence.
    Fails(&'static str, String),
    /// AWS did not say this time, and why, in words that may be empty: what was said before of this generation stands.
    Unchanged(String),
    /// It depends on what is not known, for a reason in one word, and in a sentence: what was said before of this generation stands.
    Waits(&'static str, String),
}

/// Type of the condition that sums up the others.
const READY: &str = "Ready";
/// Type of the condition that the interruption queue is read, which launches do not wait for.
pub(crate) const QUEUE: &str = "InterruptionQueueReady";

/// The conditions after these findings, by type; times of those whose status stays as it is stay, too. Those of other types go.
pub(crate) fn conditions(
    before: &[Condition],
    findings: &[(&str, Finding)],
    generation: Option<i64>,
    now: &Time,
) -> Vec<Condition> {
    let said = |kind: &str, status: &str, reason: &str, message: &str| {
        let same = before
            .iter()
            .find(|own| own.kind == kind && own.status == status);
        let since = same.and_then(|own| own.last_transition_time.clone());
        Condition {
            kind: kind.to_owned(),
            status: status.to_owned(),
            reason: reason.to_owned(),
            message: message.to_owned(),
            last_transition_time: Some(since.unwrap_or_else(|| now.clone())),
            observed_generation: generation,
        }
    };
    let is_known = |own: &Condition, kind: &str| {
        own.kind == kind && own.observed_generation == generation && own.status != "Unknown"
    };
    let unknown = |kind: &str, reason: &str, words: &str| {
        let known = before.iter().find(|own| is_known(own, kind));
        known
            .cloned()
            .unwrap_or_else(|| said(kind, "Unknown", reason, words))
    };
    let mut all: Vec<Condition> = findings
        .iter()
        .map(|(kind, finding)| match finding {
            Finding::Holds => said(kind, "True", kind, ""),
            Finding::Fails(reason, message) => said(kind, "False", reason, message),
            Finding::Unchanged(words) => {
                let words = match words.as_str() {
                    "" => "object is awaiting reconciliation",
                    words => words,
                };
                unknown(kind, "AwaitingReconciliation", words)
            }
            Finding::Waits(reason, words) => unknown(kind, reason, words),
        })
        .collect();
    let (status, reason, words) = summed(&all);
    all.push(said(READY, status, reason, &words));
    all.sort_by(|one, other| one.kind.cmp(&other.kind));
    all
}

/// Status, reason and words of the condition that sums these up.
fn summed(all: &[Condition]) -> (&'static str, &'static str, String) {
    let unmet = |status: &str| {
        let needed = all.iter().filter(|own| own.kind != QUEUE);
        let unmet = needed.filter(|own| own.status == status);
        unmet
            .map(|own| format!("{}={status}", own.kind))
            .collect::<Vec<_>>()
    };
    let (failed, unknown) = (unmet("False"), unmet("Unknown"));
    if !failed.is_empty() {
        let all = [failed, unknown].concat().join(", ");
        ("False", "UnhealthyDependents", all)
    } else if !unknown.is_empty() {
        ("Unknown", "ReconcilingDependents", unknown.join(", "))
    } else {
        ("True", READY, String::new())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Time {
        Time(k8s_openapi::jiff::Timestamp::from_second(second).expect("a time"))
    }

    fn shown(conditions: &[Condition]) -> Vec<String> {
        let show = |own: &Condition| {
            let since = own
                .last_transition_time
                .as_ref()
                .map(|time| time.0.as_second());
            format!(
                "{}={} {} \"{}\" {since:?}",
                own.kind, own.status, own.reason, own.message
            )
        };
        conditions.iter().map(show).collect()
    }

    #[test]
    fn ready_does_not_depend_on_the_interruption_queue() {
        for finding in [
            Finding::Fails("QueueNotFound", "none".to_owned()),
            Finding::Unchanged("no answer".to_owned()),
        ] {
            let findings = [("SubnetsReady", Finding::Holds), (QUEUE, finding)];
            let all = conditions(&[], &findings, Some(1), &at(1));
            let ready = all.iter().find(|own| own.kind == READY);
            assert_eq!(ready.map(|own| own.status.as_str()), Some("True"));
        }
    }

    #[test]
    fn what_waits_for_something_else_has_its_own_reason_until_it_is_known() {
        let waits = || {
            Finding::Waits(
                "DependenciesNotReady",
                "not known yet: AMIsReady".to_owned(),
            )
        };
        let look = |before: &[Condition], finding: Finding, generation: i64| {
            let findings = [("ValidationSucceeded", finding)];
            let all = conditions(before, &findings, Some(generation), &at(1));
            let shown = shown(&all);
            (all, shown[1].clone())
        };
        let unknown =
            "ValidationSucceeded=Unknown DependenciesNotReady \"not known yet: AMIsReady\" Some(1)";
        let (first, told) = look(&[], waits(), 1);
        assert_eq!(told, unknown);
        let (known, _) = look(&first, Finding::Holds, 1);
        let (_, told) = look(&known, waits(), 1);
        assert_eq!(
            told,
            "ValidationSucceeded=True ValidationSucceeded \"\" Some(1)"
        );
        let (_, told) = look(&known, waits(), 2);
        assert_eq!(told, unknown);
    }

    #[test]
    fn ready_follows_from_the_others_and_times_change_with_the_status_alone() {
        let fails = || Finding::Fails("SubnetsNotFound", "none".to_owned());
        let first = conditions(
            &[],
            &[
                ("SubnetsReady", fails()),
                ("AMIsReady", Finding::Unchanged(String::new())),
            ],
            Some(1),
            &at(1),
        );
        let expected = [
            "AMIsReady=Unknown AwaitingReconciliation \"object is awaiting reconciliation\" Some(1)",
            "Ready=False UnhealthyDependents \"SubnetsReady=False, AMIsReady=Unknown\" Some(1)",
            "SubnetsReady=False SubnetsNotFound \"none\" Some(1)",
        ];
        assert_eq!(shown(&first), expected);
        let second = conditions(
            &first,
            &[
                ("SubnetsReady", Finding::Holds),
                ("AMIsReady", Finding::Unchanged("denied".to_owned())),
            ],
            Some(2),
            &at(2),
        );
        let expected = [
            "AMIsReady=Unknown AwaitingReconciliation \"denied\" Some(1)",
            "Ready=Unknown ReconcilingDependents \"AMIsReady=Unknown\" Some(2)",
            "SubnetsReady=True SubnetsReady \"\" Some(2)",
        ];
        assert_eq!(shown(&second), expected);
        let third = conditions(
            &second,
            &[
                ("SubnetsReady", Finding::Holds),
                ("AMIsReady", Finding::Holds),
            ],
            Some(2),
            &at(3),
        );
        let expected = [
            "AMIsReady=True AMIsReady \"\" Some(3)",
            "Ready=True Ready \"\" Some(3)",
            "SubnetsReady=True SubnetsReady \"\" Some(2)",
        ];
        assert_eq!(shown(&third), expected);
    }
}
