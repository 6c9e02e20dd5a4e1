//! Conditions of an object: how far something is true of it, why, since when, and of which of its generations.
//!
//! The rules are Karpenter's. What [`Ready`](ConditionType::Ready) depends on is unknown since the object's creation until
//! something is said of it; the time of a transition changes with the status alone, not with reason or message; and `Ready`
//! follows from what it depends on. Conditions of types that are not listed here are others': they are neither read nor
//! touched.
//!
//! The simulator's API server applies the same rules.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use plimsoll_base::time::Timestamp;
use serde::{Deserialize, Serialize};

use super::ClaimPhase;
use super::condition_type::ConditionType;

/// How far a condition holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum ConditionStatus {
    /// It holds.
    True,
    /// It does not.
    False,
    /// Not known yet.
    Unknown,
}

impl ConditionStatus {
    /// As the API writes it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::True => "True",
            Self::False => "False",
            Self::Unknown => "Unknown",
        }
    }

    /// A status as it is written; whatever is neither true nor false is unknown.
    pub fn parse(text: &str) -> Self {
        match text {
            "True" => Self::True,
            "False" => Self::False,
            _ => Self::Unknown,
        }
    }
}

/// One condition of an object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Condition {
    /// How far it holds.
    pub status: ConditionStatus,
    /// Cause, one word for machines.
    pub reason: Arc<str>,
    /// Cause in words; may be empty.
    pub message: Arc<str>,
    /// When the status last changed.
    pub since: Timestamp,
    /// The generation of the object that it speaks of; `None` where nothing is said of that.
    pub generation: Option<i64>,
}

/// A condition as it is to be: what is said of an object, whatever has been said before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DesiredCondition {
    /// Type of the condition.
    pub kind: ConditionType,
    /// How far it holds.
    pub status: ConditionStatus,
    /// Cause, one word for machines.
    pub reason: Arc<str>,
    /// Cause in words; may be empty.
    pub message: Arc<str>,
}

impl DesiredCondition {
    /// It holds; the cause is the type's own name.
    pub fn holds(kind: ConditionType) -> Self {
        Self::with(kind, ConditionStatus::True, kind.as_str(), "")
    }

    /// It holds, and why.
    pub fn holds_since(kind: ConditionType, reason: &str, message: &str) -> Self {
        Self::with(kind, ConditionStatus::True, reason, message)
    }

    /// It does not hold, and why.
    pub fn fails(kind: ConditionType, reason: &str, message: &str) -> Self {
        Self::with(kind, ConditionStatus::False, reason, message)
    }

    /// Not known yet, and why.
    pub fn unknown(kind: ConditionType, reason: &str, message: &str) -> Self {
        Self::with(kind, ConditionStatus::Unknown, reason, message)
    }

    /// The same as is said already.
    pub fn repeated(kind: ConditionType, said: &Condition) -> Self {
        Self {
            kind,
            status: said.status,
            reason: Arc::clone(&said.reason),
            message: Arc::clone(&said.message),
        }
    }

    /// `true` if it is to hold.
    pub fn is_true(&self) -> bool {
        self.status == ConditionStatus::True
    }

    /// Not looked at yet.
    pub fn awaited(kind: ConditionType) -> Self {
        Self::unknown(kind, "AwaitingReconciliation", "")
    }

    fn with(kind: ConditionType, status: ConditionStatus, reason: &str, message: &str) -> Self {
        Self {
            kind,
            status,
            reason: Arc::from(reason),
            message: Arc::from(message),
        }
    }
}

/// When a condition is written, and of which state of the object it speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// When the object was created.
    pub created: Timestamp,
    /// When the condition is written.
    pub now: Timestamp,
    /// The object's generation.
    pub generation: i64,
    /// `true` if the object was asked to go, which is a generation of its own: all conditions then speak of it.
    pub deleting: bool,
}

/// Conditions of one object, by type.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Conditions(BTreeMap<ConditionType, Condition>);

impl Conditions {
    /// Conditions of a claim that has come so far, with every step at one instant.
    pub fn reached(phase: ClaimPhase, at: Timestamp) -> Self {
        let steps = ClaimPhase::STEPS.into_iter();
        let past = steps.filter(|(step, _)| *step <= phase);
        past.map(|(_, kind)| {
            let condition = Condition {
                status: ConditionStatus::True,
                reason: Arc::from(kind.as_str()),
                message: Arc::from(""),
                since: at,
                generation: None,
            };
            (kind, condition)
        })
        .collect()
    }

    /// The condition of a type.
    pub fn get(&self, kind: ConditionType) -> Option<&Condition> {
        self.0.get(&kind)
    }

    /// `true` if the condition of a type is there and holds.
    pub fn is_true(&self, kind: ConditionType) -> bool {
        self.status(kind) == ConditionStatus::True
    }

    /// How far a condition holds: unknown for one that is not there.
    pub fn status(&self, kind: ConditionType) -> ConditionStatus {
        let known = self.get(kind);
        known.map_or(ConditionStatus::Unknown, |known| known.status)
    }

    /// Types and conditions, in the order of types.
    pub fn iter(&self) -> impl Iterator<Item = (ConditionType, &Condition)> {
        self.0.iter().map(|(kind, condition)| (*kind, condition))
    }

    /// `true` if this is said already: with the same status, reason and message.
    pub fn says(&self, desired: &DesiredCondition) -> bool {
        self.get(desired.kind).is_some_and(|known| {
            known.status == desired.status
                && known.reason == desired.reason
                && known.message == desired.message
        })
    }

    /// `true` if this is said already of a generation, or of none in particular.
    pub fn says_of(&self, desired: &DesiredCondition, generation: i64) -> bool {
        let known = self.get(desired.kind);
        let own = known.and_then(|known| known.generation);
        self.says(desired) && own.is_none_or(|own| own == generation)
    }

    /// Takes conditions off; says whether any was there.
    pub fn clear(&mut self, kinds: &[ConditionType]) -> bool {
        let before = self.0.len();
        self.0.retain(|kind, _| !kinds.contains(kind));
        self.0.len() < before
    }

    /// `true` if there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Says these of an object, and what follows of its `Ready`, which depends on the types given; without any it has none.
    pub fn say(
        &mut self,
        desired: &[DesiredCondition],
        dependents: &[ConditionType],
        stamp: &Stamp,
    ) {
        for kind in dependents {
            let unknown = DesiredCondition::awaited(*kind);
            let unknown = stamped(&unknown, stamp.created, stamp);
            self.0.entry(*kind).or_insert(unknown);
        }
        for desired in desired {
            self.set(desired, stamp);
        }
        if stamp.deleting {
            for condition in self.0.values_mut() {
                condition.generation = Some(stamp.generation);
            }
        }
        if !dependents.is_empty() {
            let ready = self.ready(dependents, stamp.generation);
            self.set(&ready, stamp);
        }
    }

    fn set(&mut self, desired: &DesiredCondition, stamp: &Stamp) {
        let known = self.0.get(&desired.kind);
        let known = known.filter(|known| known.status == desired.status);
        let since = known.map_or(stamp.now, |known| known.since);
        self.0.insert(desired.kind, stamped(desired, since, stamp));
    }

    /// True if all that it depends on is true of this generation, false if one of them is false of it, else unknown. The message
    /// lists what holds it up, the latest first.
    fn ready(&self, dependents: &[ConditionType], generation: i64) -> DesiredCondition {
        let of_now = |kind: ConditionType| {
            let known = self.get(kind)?;
            (known.generation == Some(generation)).then_some(known.status)
        };
        let mut open: Vec<(ConditionType, &Condition)> = self
            .iter()
            .filter(|(kind, _)| dependents.contains(kind))
            .filter(|(kind, _)| of_now(*kind) != Some(ConditionStatus::True))
            .collect();
        if open.is_empty() {
            return DesiredCondition::holds(ConditionType::Ready);
        }
        open.sort_by_key(|(_, condition)| std::cmp::Reverse(condition.since));
        let words: Vec<String> = open
            .iter()
            .map(|(kind, condition)| format!("{kind}={}", condition.status))
            .collect();
        let words = words.join(", ");
        let mut kinds = open.iter().map(|(kind, _)| *kind);
        if kinds.any(|kind| of_now(kind) == Some(ConditionStatus::False)) {
            DesiredCondition::fails(ConditionType::Ready, "UnhealthyDependents", &words)
        } else {
            DesiredCondition::unknown(ConditionType::Ready, "ReconcilingDependents", &words)
        }
    }
}

impl FromIterator<(ConditionType, Condition)> for Conditions {
    fn from_iter<I: IntoIterator<Item = (ConditionType, Condition)>>(conditions: I) -> Self {
        Self(conditions.into_iter().collect())
    }
}

impl fmt::Display for ConditionStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

fn stamped(desired: &DesiredCondition, since: Timestamp, stamp: &Stamp) -> Condition {
    Condition {
        status: desired.status,
        reason: Arc::clone(&desired.reason),
        message: Arc::clone(&desired.message),
        since,
        generation: Some(stamp.generation),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stamp(second: i64) -> Stamp {
        Stamp {
            created: Timestamp::default(),
            now: Timestamp::from_millis(second * 1000),
            generation: 1,
            deleting: false,
        }
    }

    fn said(steps: &[(i64, DesiredCondition)]) -> Conditions {
        let mut conditions = Conditions::default();
        for (second, desired) in steps {
            conditions.say(
                std::slice::from_ref(desired),
                ConditionType::OF_CLAIMS,
                &stamp(*second),
            );
        }
        conditions
    }

    fn shown(conditions: &Conditions, kind: ConditionType) -> (ConditionStatus, &str, &str, i64) {
        let condition = conditions.get(kind).expect("a condition of this type");
        (
            condition.status,
            &condition.reason,
            &condition.message,
            condition.since.millis() / 1000,
        )
    }

    #[test]
    fn a_claim_is_ready_when_it_is_all_it_must_be() {
        use ConditionType::{Initialized, Launched, Ready, Registered};
        let steps = [(5, Launched), (6, Registered), (7, Initialized)];
        let steps = steps.map(|(at, kind)| (at, DesiredCondition::holds(kind)));
        let waits = said(&steps[..2]);
        let words = "Initialized=Unknown";
        let reason = "ReconcilingDependents";
        assert_eq!(
            shown(&waits, Ready),
            (ConditionStatus::Unknown, reason, words, 5)
        );
        let ready = said(&steps);
        assert_eq!(
            shown(&ready, Ready),
            (ConditionStatus::True, "Ready", "", 7)
        );
    }

    #[test]
    fn what_was_never_said_is_unknown_since_the_creation() {
        let conditions = said(&[(5, DesiredCondition::holds(ConditionType::Launched))]);
        assert_eq!(
            shown(&conditions, ConditionType::Registered),
            (ConditionStatus::Unknown, "AwaitingReconciliation", "", 0)
        );
    }

    #[test]
    fn another_reason_is_no_transition() {
        use ConditionType::Initialized;
        let not_ready = DesiredCondition::unknown(Initialized, "NodeNotReady", "a");
        let tainted = DesiredCondition::unknown(Initialized, "StartupTaintsExist", "b");
        let conditions = said(&[(5, not_ready), (9, tainted)]);
        assert_eq!(
            shown(&conditions, Initialized),
            (ConditionStatus::Unknown, "StartupTaintsExist", "b", 0)
        );
    }

    #[test]
    fn one_that_fails_makes_the_claim_unhealthy_and_the_latest_is_named_first() {
        use ConditionType::{Launched, Ready, Registered};
        let several = DesiredCondition::fails(Registered, "MultipleNodesFound", "two");
        let conditions = said(&[(5, DesiredCondition::holds(Launched)), (6, several)]);
        let words = "Registered=False, Initialized=Unknown";
        assert_eq!(
            shown(&conditions, Ready),
            (ConditionStatus::False, "UnhealthyDependents", words, 6)
        );
    }

    #[test]
    fn what_was_said_of_an_older_generation_counts_again_once_the_object_is_asked_to_go() {
        use ConditionType::{InstanceTerminating, Ready};
        let mut conditions = Conditions::reached(ClaimPhase::Initialized, Timestamp::default());
        let ending = [DesiredCondition::holds(InstanceTerminating)];
        let newer = Stamp {
            generation: 2,
            ..stamp(5)
        };
        conditions.say(&ending, ConditionType::OF_CLAIMS, &newer);
        assert_eq!(conditions.status(Ready), ConditionStatus::Unknown);
        conditions.say(
            &ending,
            ConditionType::OF_CLAIMS,
            &Stamp {
                deleting: true,
                ..newer
            },
        );
        assert_eq!(conditions.status(Ready), ConditionStatus::True);
    }
}
