//! Conditions of a claim: launched, registered, initialised, and ready when it is all of these.
//!
//! The incumbent's model: conditions that `Ready` depends on are there from the first write, unknown until reached; the time
//! of a transition changes with the status only; `Ready` is true when all of them are.

use plimsoll_api::write::instant;
use plimsoll_core::time::Timestamp;
use serde_json::{Value, json};

/// Conditions that `Ready` depends on, in the order in which a claim gets there.
const DEPENDENTS: [&str; 3] = ["Launched", "Registered", "Initialized"];
const AWAITING: &str = "AwaitingReconciliation";

/// When and of which generation a condition speaks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stamp {
    /// When the object was created: since when what was never said is unknown.
    pub(super) created: Timestamp,
    pub(super) now: Timestamp,
    pub(super) generation: i64,
}

/// The conditions with one of them true, and `Ready` following from all.
pub(super) fn with_true(conditions: &Value, kind: &str, stamp: Stamp) -> Value {
    let mut list = conditions.as_array().cloned().unwrap_or_default();
    for dependent in DEPENDENTS {
        if !list.iter().any(|condition| condition["type"] == dependent) {
            let unknown = condition(dependent, "Unknown", AWAITING, stamp.created, stamp);
            list.push(unknown);
        }
    }
    set(&mut list, kind, "True", kind, "", stamp);
    let open: Vec<&str> = DEPENDENTS
        .into_iter()
        .filter(|dependent| !is_true(&list, dependent))
        .collect();
    if open.is_empty() {
        set(&mut list, "Ready", "True", "Ready", "", stamp);
    } else {
        let words = format!("waits for {}", open.join(", "));
        set(
            &mut list,
            "Ready",
            "Unknown",
            "ReconcilingDependents",
            &words,
            stamp,
        );
    }
    Value::Array(list)
}

fn is_true(list: &[Value], kind: &str) -> bool {
    list.iter()
        .any(|condition| condition["type"] == kind && condition["status"] == "True")
}

fn set(list: &mut Vec<Value>, kind: &str, status: &str, reason: &str, words: &str, stamp: Stamp) {
    let known = list.iter().position(|condition| condition["type"] == kind);
    let mut new = condition(kind, status, reason, stamp.now, stamp);
    new["message"] = words.into();
    match known {
        Some(at) => {
            if list[at]["status"] == status {
                new["lastTransitionTime"] = list[at]["lastTransitionTime"].clone();
            }
            list[at] = new;
        }
        None => list.push(new),
    }
}

/// Times are whole seconds, as the API server writes them.
fn condition(kind: &str, status: &str, reason: &str, since: Timestamp, stamp: Stamp) -> Value {
    let second = Timestamp::from_millis(since.millis() / 1000 * 1000);
    json!({
        "type": kind, "status": status, "reason": reason, "message": "",
        "lastTransitionTime": instant(second), "observedGeneration": stamp.generation,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stamp(second: i64) -> Stamp {
        Stamp {
            created: Timestamp::from_millis(0),
            now: Timestamp::from_millis(second * 1000 + 250),
            generation: 1,
        }
    }

    fn find<'a>(list: &'a Value, kind: &str) -> &'a Value {
        let list = list.as_array().unwrap();
        list.iter().find(|one| one["type"] == kind).unwrap()
    }

    #[test]
    fn a_claim_is_ready_when_it_is_all_it_must_be() {
        let mut list = Value::Null;
        for (second, kind) in [(5, "Launched"), (6, "Registered")] {
            list = with_true(&list, kind, stamp(second));
            assert_eq!(find(&list, "Ready")["status"], "Unknown");
        }
        assert_eq!(find(&list, "Ready")["message"], "waits for Initialized");
        list = with_true(&list, "Initialized", stamp(7));
        assert_eq!(find(&list, "Ready")["status"], "True");
        assert_eq!(
            find(&list, "Ready")["lastTransitionTime"],
            "1970-01-01T00:00:07Z"
        );
    }

    #[test]
    fn what_was_not_reached_is_unknown_since_the_creation() {
        let list = with_true(&Value::Null, "Launched", stamp(5));
        let registered = find(&list, "Registered");
        assert_eq!(registered["status"], "Unknown");
        assert_eq!(registered["lastTransitionTime"], "1970-01-01T00:00:00Z");
    }

    #[test]
    fn saying_the_same_again_keeps_the_time_of_the_transition() {
        let first = with_true(&Value::Null, "Launched", stamp(5));
        let again = with_true(&first, "Launched", stamp(9));
        assert_eq!(
            find(&again, "Launched")["lastTransitionTime"],
            "1970-01-01T00:00:05Z"
        );
    }

    #[test]
    fn a_condition_that_ready_does_not_depend_on_stands_free() {
        let list = with_true(&Value::Null, "InstanceTerminating", stamp(5));
        assert_eq!(find(&list, "InstanceTerminating")["status"], "True");
        assert_eq!(
            find(&list, "Ready")["message"],
            "waits for Launched, Registered, Initialized"
        );
    }
}
