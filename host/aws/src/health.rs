//! Impairments that EC2 finds in instances, and when a node goes for them.

use std::collections::BTreeSet;

use plimsoll_base::time::{Span, Timestamp};
use plimsoll_lifecycle::Interruption;

/// A failing check counts after so long: Karpenter's time.
const FAILING: Span = Span::from_secs(120);

/// Events for which a node goes before they happen: Karpenter's.
pub(crate) const SCHEDULED: [&str; 5] = [
    "instance-reboot",
    "system-reboot",
    "system-maintenance",
    "instance-retirement",
    "instance-stop",
];

/// Something that is wrong with an instance, or scheduled for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Impairment {
    /// Its id.
    pub instance: String,
    /// The word on it.
    pub says: Interruption,
    /// Since when its check fails; `None` where EC2 does not say, and for events.
    pub since: Option<Timestamp>,
}

/// Impairments that were counted and have not ended since.
#[derive(Clone, Debug, Default)]
pub struct Impaired {
    counted: BTreeSet<(String, Interruption)>,
}

impl Impaired {
    /// Of all impairments that there are at a time: those for which a node goes, with whether each is new.
    pub fn due(&mut self, all: Vec<Impairment>, now: Timestamp) -> Vec<(Impairment, bool)> {
        let is_due = |own: &Impairment| match own.says {
            Interruption::ScheduledEvent => true,
            _ => own.since.is_some_and(|since| now.since(since) >= FAILING),
        };
        let due: Vec<Impairment> = all.into_iter().filter(is_due).collect();
        let keys = due.iter().map(|own| (own.instance.clone(), own.says));
        let before = std::mem::replace(&mut self.counted, keys.collect());
        let with_news = due.into_iter().map(|own| {
            let is_new = !before.contains(&(own.instance.clone(), own.says));
            (own, is_new)
        });
        with_news.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn second(second: i64) -> Timestamp {
        Timestamp::from_millis(second * 1000)
    }

    fn impairment(instance: &str, says: Interruption, since: Option<i64>) -> Impairment {
        Impairment {
            instance: instance.to_owned(),
            says,
            since: since.map(second),
        }
    }

    #[test]
    fn a_failing_check_counts_after_two_minutes_and_an_event_at_once() {
        let all = || {
            vec![
                impairment("i-1", Interruption::InstanceImpaired, Some(100)),
                impairment("i-2", Interruption::SystemImpaired, Some(101)),
                impairment("i-3", Interruption::SystemImpaired, None),
                impairment("i-4", Interruption::ScheduledEvent, None),
            ]
        };
        let due = |impaired: &mut Impaired, at: i64| {
            let due = impaired.due(all(), second(at)).into_iter();
            let due = due.map(|(own, is_new)| format!("{} {is_new}", own.instance));
            due.collect::<Vec<_>>()
        };
        let mut impaired = Impaired::default();
        assert_eq!(due(&mut impaired, 219), ["i-4 true"]);
        assert_eq!(due(&mut impaired, 220), ["i-1 true", "i-4 false"]);
        // One that has recovered and fails again is new.
        assert_eq!(impaired.due(Vec::new(), second(221)), []);
        assert_eq!(
            due(&mut impaired, 222),
            ["i-1 true", "i-2 true", "i-4 true"]
        );
    }
}
