//! Instances that end before they have joined: EC2's reason in a sentence with the way out, and the classes that are left alone for a while
//! for it, since the next instance would end as the last one did.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use plimsoll_base::ids::{ClaimName, ProviderId};

use crate::class::dry_run::Refusal;

/// A class is left alone for so long after the first instance of its that ended at once.
const FIRST: Duration = Duration::from_mins(1);
/// The longest that it is left alone.
const LONGEST: Duration = Duration::from_mins(30);
/// Reason of the condition of a class that is left alone.
const REASON: &str = "InstancesEndAtOnce";

/// Why an instance is in its state, as EC2 tells it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StateReason {
    /// Its code, such as `Client.InternalError`; empty where EC2 says none.
    pub code: String,
    /// Its message.
    pub message: String,
}

/// An instance that has ended before it joined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndedEarly {
    /// The instance.
    pub instance: ProviderId,
    /// Its claim.
    pub claim: ClaimName,
    /// A sentence: EC2's reason, and the way out.
    pub sentence: String,
}

/// Reasons by code, whether another instance of the class would end as well, and the way out; of several that fit the first.
const KNOWN: &[(&str, bool, &str)] = &[
    (
        "Client.InternalError",
        true,
        "most often the key that its volumes are encrypted with may not be used: let the controller's role, or for spot the role of the fleet, use it in the key's policy (kms:CreateGrant, kms:Decrypt, kms:GenerateDataKeyWithoutPlaintext)",
    ),
    (
        "Client.InvalidKMSKey",
        true,
        "the key that its volumes are encrypted with is disabled, deleted or of another region: enable it, or name another one in spec.blockDeviceMappings[].ebs.kmsKeyID",
    ),
    (
        "Client.InvalidSnapshot",
        true,
        "a snapshot that its volumes are made of is not there, or not shared with this account: select another image in spec.amiSelectorTerms, or another spec.blockDeviceMappings[].ebs.snapshotID",
    ),
    (
        "Client.VolumeLimitExceeded",
        true,
        "have the quota of EBS storage raised in Service Quotas, or delete unused volumes",
    ),
    (
        "Client.InstanceInitiatedShutdown",
        true,
        "it has shut itself down: look at its console output (aws ec2 get-console-output), and at spec.userData",
    ),
    (
        "Client.UserInitiatedShutdown",
        false,
        "somebody else has ended it: CloudTrail tells who called ec2:TerminateInstances",
    ),
    (
        "Client.UserInitiatedHibernate",
        false,
        "somebody else has stopped it",
    ),
    (
        "Server.",
        false,
        "AWS has ended it; another one is launched",
    ),
    ("Client.", true, "correct what EC2 says in the EC2NodeClass"),
];

impl StateReason {
    /// A sentence for people, and `true` if another instance of the class would end as well.
    pub(crate) fn told(&self) -> (String, bool) {
        let text = match (self.message.as_str(), self.code.as_str()) {
            ("", "") => "EC2 does not say why".to_owned(),
            ("", code) => code.to_owned(),
            (message, code) if message.contains(code) => message.to_owned(),
            (message, code) => format!("{code}: {message}"),
        };
        let mut known = KNOWN.iter();
        match known.find(|(code, ..)| self.code.starts_with(code)) {
            Some((_, is_of_class, way_out)) => (format!("{text}; {way_out}"), *is_of_class),
            None => (text, false),
        }
    }
}

/// Classes whose instances have ended at once, and instances of which that was told.
#[derive(Debug, Default)]
pub(crate) struct Setbacks(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    by_class: BTreeMap<String, Setback>,
    told: BTreeSet<ProviderId>,
}

#[derive(Clone, Debug)]
struct Setback {
    /// Content of the class as it was: another one is tried at once.
    content: u64,
    /// Number of times that it was left alone.
    count: u32,
    until: Instant,
    sentence: String,
}

impl Setbacks {
    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// `true` if nothing was told yet of the end of an instance, which is told now.
    pub(crate) fn is_new(&self, instance: &ProviderId) -> bool {
        self.known().told.insert(instance.clone())
    }

    /// Instances whose end cannot be reported any more are forgotten.
    pub(crate) fn keep(&self, is_there: impl Fn(&ProviderId) -> bool) {
        self.known().told.retain(is_there);
    }

    /// An instance of a class has ended at once. Several of one launch count once.
    pub(crate) fn note(&self, class: &str, content: u64, sentence: &str, now: Instant) {
        let mut known = self.known();
        let before = known.by_class.get(class);
        let before = before.filter(|before| before.content == content);
        if before.is_some_and(|before| now < before.until) {
            return;
        }
        let count = before.map_or(0, |before| before.count);
        let pause = FIRST.saturating_mul(1 << count.min(16)).min(LONGEST);
        let setback = Setback {
            content,
            count: count.saturating_add(1),
            until: now + pause,
            sentence: sentence.to_owned(),
        };
        known.by_class.insert(class.to_owned(), setback);
    }

    /// An instance of a class has joined.
    pub(crate) fn forgive(&self, class: &str) {
        self.known().by_class.remove(class);
    }

    /// Why a class is left alone at an instant; `None` where it is not.
    pub(crate) fn refusal(&self, class: &str, content: u64, now: Instant) -> Option<Refusal> {
        let known = self.known();
        let setback = known.by_class.get(class)?;
        let holds = setback.content == content && now < setback.until;
        holds.then(|| Refusal {
            reason: REASON,
            message: format!(
                "its last instance has ended before it joined: {}; nothing of the class is launched for up to {}",
                setback.sentence,
                pause(setback.count)
            ),
        })
    }
}

/// Time for which a class was left alone the last time, for people.
fn pause(count: u32) -> String {
    let pause = FIRST.saturating_mul(1 << count.saturating_sub(1).min(16));
    match pause.min(LONGEST).as_secs() / 60 {
        1 => "1 minute".to_owned(),
        minutes => format!("{minutes} minutes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_told_with_the_way_out_and_blames_the_class_where_another_instance_would_end_too()
    {
        for (code, message, way_out, is_of_class) in [
            (
                "Client.InternalError",
                "Client.InternalError: Client error on launch",
                "kms:CreateGrant",
                true,
            ),
            (
                "Client.InvalidKMSKey.InvalidState",
                "The KMS key provided is in an incorrect state",
                "kmsKeyID",
                true,
            ),
            ("Client.InvalidSnapshot.NotFound", "", "snapshotID", true),
            ("Client.VolumeLimitExceeded", "", "quota", true),
            (
                "Client.InstanceInitiatedShutdown",
                "",
                "get-console-output",
                true,
            ),
            ("Client.Strange", "", "EC2NodeClass", true),
            ("Client.UserInitiatedShutdown", "", "CloudTrail", false),
            (
                "Server.SpotInstanceTermination",
                "",
                "another one is launched",
                false,
            ),
            ("", "", "does not say why", false),
        ] {
            let reason = StateReason {
                code: code.to_owned(),
                message: message.to_owned(),
            };
            let (told, blames) = reason.told();
            assert!(told.contains(way_out) && told.contains(code), "{told}");
            assert_eq!(blames, is_of_class, "{code}");
        }
    }

    #[test]
    fn a_class_is_left_alone_ever_longer_until_an_instance_joins_or_it_is_changed() {
        let (setbacks, start) = (Setbacks::default(), Instant::now());
        let mut now = start;
        let mut pauses = Vec::new();
        for _ in 0..7 {
            setbacks.note("default", 1, "a", now);
            // Another of the same launch.
            setbacks.note("default", 1, "b", now);
            let mut minutes = 0;
            while setbacks.refusal("default", 1, now).is_some() {
                now += Duration::from_mins(1);
                minutes += 1;
            }
            pauses.push(minutes);
        }
        assert_eq!(pauses, [1, 2, 4, 8, 16, 30, 30]);
        setbacks.note("default", 1, "a", now);
        let refusal = setbacks.refusal("default", 1, now).expect("a refusal");
        assert_eq!(
            (refusal.reason, refusal.message.as_str()),
            (
                "InstancesEndAtOnce",
                "its last instance has ended before it joined: a; nothing of the class is launched for up to 30 minutes"
            )
        );
        assert_eq!(setbacks.refusal("default", 2, now), None, "it was changed");
        assert_eq!(setbacks.refusal("other", 1, now), None);
        setbacks.forgive("default");
        assert_eq!(setbacks.refusal("default", 1, now), None);
        setbacks.note("default", 1, "a", now);
        let later = now + Duration::from_mins(1);
        assert_eq!(
            setbacks.refusal("default", 1, later),
            None,
            "the first pause"
        );
    }

    #[test]
    fn an_end_is_told_once() {
        let setbacks = Setbacks::default();
        let id = ProviderId::from("aws:///us-east-1a/i-1");
        assert!(setbacks.is_new(&id) && !setbacks.is_new(&id));
        setbacks.keep(|_| false);
        assert!(setbacks.is_new(&id));
    }
}
