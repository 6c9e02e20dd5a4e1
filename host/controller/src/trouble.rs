//! Trouble with what is seen, told to people: once when it begins, and again while it lasts.
//!
//! Trouble with an object is told on the object. Trouble with a whole kind is told on the NodePools, whose nodes are not disrupted for it.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use plimsoll_api::Kind;
use plimsoll_base::event_reason::EventReason;
use plimsoll_kube::event::Notice;
use plimsoll_kube::watch::{Failure, Unreadable};

/// A view that is stale for less is not reported: writes of ours make it so for moments.
const PATIENCE: Duration = Duration::from_mins(1);
/// Time after which trouble that lasts is told again.
const AGAIN: Duration = Duration::from_mins(10);
/// The most pools on which the same is told.
const POOLS: usize = 10;

/// Trouble that was told, and when.
#[derive(Debug, Default)]
pub(crate) struct Troubles {
    told: BTreeMap<String, Instant>,
    /// Trouble that is in the log.
    logged: BTreeSet<String>,
    stale_since: Option<Instant>,
}

impl Troubles {
    /// When there may be something to tell though nothing happens.
    pub(crate) fn next_wake(&self, now: Instant) -> Option<Instant> {
        let first = self.stale_since.map(|since| since + PATIENCE);
        let again = self.told.values().map(|at| *at + AGAIN);
        again.chain(first).filter(|at| *at > now).min()
    }

    /// Objects that cannot be read, wholly or in part.
    pub(crate) fn unreadable(objects: Vec<Unreadable>) -> Vec<Notice> {
        let notice = |it: Unreadable| {
            let (kind, (namespace, name)) = (it.kind, it.key);
            let problem = it.problem;
            let rest = match (kind, it.is_known) {
                (Kind::NodePool, true) => {
                    "nothing is launched for it and none of its nodes is disrupted voluntarily"
                }
                (Kind::NodeClaim, true) => {
                    "it is not launched, and its node neither joins nor is disrupted voluntarily"
                }
                (_, true) => "ignored; what was known of it before stays",
                (_, false) => "ignored; nothing is known of it",
            };
            tracing::warn!(
                kind = kind.as_str(),
                namespace,
                name,
                problem,
                "the object is invalid: {rest}"
            );
            let message = format!("{problem}: {rest}");
            Notice::new(
                kind,
                (&namespace, &name),
                EventReason::FailedValidation,
                message,
            )
        };
        objects.into_iter().map(notice).collect()
    }

    /// Kinds that are stale, and what keeps kinds from being seen.
    pub(crate) fn of_view<'f>(
        &mut self,
        stale: &[Kind],
        failures: impl Iterator<Item = &'f Failure>,
        pools: &[&str],
        now: Instant,
    ) -> Vec<Notice> {
        let mut troubles: Vec<(EventReason, String)> = failures
            .filter_map(|failure| Some((failure.reason()?, failure.to_string())))
            .collect();
        if stale.is_empty() {
            self.stale_since = None;
        } else {
            let since = *self.stale_since.get_or_insert(now);
            if now >= since + PATIENCE {
                let kinds: Vec<&str> = stale.iter().map(|kind| kind.plural()).collect();
                let words = format!(
                    "no voluntary disruption and no expiry: what is seen of {} is older than a minute",
                    kinds.join(", ")
                );
                troubles.push((EventReason::DisruptionBlocked, words));
            }
        }
        self.told.retain(|_, at| now < *at + AGAIN);
        let lasts = |words: &String| troubles.iter().any(|(_, have)| have == words);
        self.logged.retain(lasts);
        let mut notices = Vec::new();
        for (reason, words) in troubles {
            if self.told.contains_key(&words) {
                continue;
            }
            if self.logged.insert(words.clone()) {
                tracing::warn!(%reason, "{words}");
            }
            // There will be pools once they have been listed.
            if pools.is_empty() {
                continue;
            }
            notices.extend(on_pools(pools, reason, &words));
            self.told.insert(words, now);
        }
        notices
    }
}

/// The same on pools, as many as can be told.
pub(crate) fn on_pools(pools: &[&str], reason: EventReason, words: &str) -> Vec<Notice> {
    let notice = |pool: &&str| Notice::new(Kind::NodePool, ("", pool), reason, words.to_owned());
    pools.iter().take(POOLS).map(notice).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use kube::Error;
    use kube::core::Status;

    fn told(
        troubles: &mut Troubles,
        stale: &[Kind],
        failures: &[Failure],
        at: Instant,
    ) -> Vec<String> {
        let notices = troubles.of_view(stale, failures.iter(), &["a", "b"], at);
        let words = |notice: Notice| format!("{}: {}", notice.reason, notice.message);
        notices.into_iter().map(words).collect()
    }

    #[test]
    fn a_view_that_stays_stale_is_told_on_the_pools_and_again_while_it_lasts() {
        let mut troubles = Troubles::default();
        let start = Instant::now();
        let at = |seconds: u64| start + Duration::from_secs(seconds);
        let mut tell = |stale: &[Kind], second| told(&mut troubles, stale, &[], at(second));
        assert_eq!(tell(&[Kind::Pod], 0), [""; 0]);
        assert_eq!(tell(&[], 59), [""; 0], "it was a moment");
        assert_eq!(tell(&[Kind::Pod], 60), [""; 0]);
        let words = "DisruptionBlocked: no voluntary disruption and no expiry: what is seen of pods is older than a minute";
        assert_eq!(tell(&[Kind::Pod], 120), [words; 2]);
        assert_eq!(tell(&[Kind::Pod], 300), [""; 0]);
        assert_eq!(tell(&[Kind::Pod], 720), [words; 2]);
    }

    #[test]
    fn a_missing_right_is_told_at_once_and_what_passes_by_itself_is_not() {
        let failure = |code| {
            let status = Status {
                code,
                ..Status::default()
            };
            Failure::of(Kind::Pod, "list", Some(&Error::Api(status.boxed())))
        };
        let mut troubles = Troubles::default();
        let now = Instant::now();
        let said = told(
            &mut troubles,
            &[Kind::Pod],
            &[failure(403), failure(503)],
            now,
        );
        assert_eq!(said.len(), 2, "{said:?}");
        assert!(
            said[0].starts_with("Forbidden: no right to list pods; "),
            "{said:?}"
        );
    }

    #[test]
    fn trouble_from_before_the_pools_are_known_is_told_once_they_are() {
        let status = Status {
            code: 403,
            ..Status::default()
        };
        let failure = Failure::of(Kind::Pod, "list", Some(&Error::Api(status.boxed())));
        let mut troubles = Troubles::default();
        let now = Instant::now();
        let none = troubles.of_view(&[Kind::Pod], [&failure].into_iter(), &[], now);
        assert_eq!(none, []);
        assert_eq!(told(&mut troubles, &[Kind::Pod], &[failure], now).len(), 2);
    }

    #[test]
    fn many_pools_are_not_all_told() {
        assert_eq!(
            on_pools(&["a"; 40], EventReason::Forbidden, "no").len(),
            POOLS
        );
    }
}
