//! Instances that EC2 has given and may not show yet: a reading that lacks one counts only once EC2 has had time to show it.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use plimsoll_base::ids::LaunchToken;

/// How long after a call EC2 may take to show what it gave (its documentation names no bound; Karpenter allows half of it).
const VISIBLE_AFTER: Duration = Duration::from_mins(1);

/// A clock that never goes back.
type Now = Box<dyn Fn() -> Instant + Send + Sync>;

/// Launches and instances that EC2 may not show yet.
pub(crate) struct Unseen {
    now: Now,
    /// Launches that were looked for without all being seen, and since when nothing was asked for under their token.
    sought: Mutex<BTreeMap<LaunchToken, Instant>>,
    /// Instances that launches of this process gave, and when.
    given: Mutex<BTreeMap<String, Instant>>,
}

impl Default for Unseen {
    fn default() -> Self {
        Self::by(Box::new(Instant::now))
    }
}

impl Unseen {
    /// Nothing yet, by a clock.
    pub(crate) fn by(now: Now) -> Self {
        Self {
            now,
            sought: Mutex::default(),
            given: Mutex::default(),
        }
    }

    /// The present instant.
    pub(crate) fn now(&self) -> Instant {
        (self.now)()
    }

    fn sought(&self) -> MutexGuard<'_, BTreeMap<LaunchToken, Instant>> {
        self.sought.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Something was asked for just now under a token, and may have been given.
    pub(crate) fn note_asked(&self, token: &LaunchToken) {
        let now = self.now();
        self.sought().insert(token.clone(), now);
    }

    /// All that a launch gave is known.
    pub(crate) fn forget(&self, token: &LaunchToken) {
        self.sought().remove(token);
    }

    /// `true` once EC2 has had time to show all instances of a launch, which are sought from the first question on.
    pub(crate) fn has_had_time(&self, token: &LaunchToken) -> bool {
        let now = self.now();
        let mut sought = self.sought();
        let since = *sought.entry(token.clone()).or_insert(now);
        let has_had = now.saturating_duration_since(since) >= VISIBLE_AFTER;
        if has_had {
            sought.remove(token);
        }
        has_had
    }

    /// A launch gave instances just now.
    pub(crate) fn note_given<'i>(&self, ids: impl Iterator<Item = &'i str>) {
        let now = self.now();
        let mut given = self.given.lock().unwrap_or_else(PoisonError::into_inner);
        given.retain(|_, since| now.saturating_duration_since(*since) < VISIBLE_AFTER);
        given.extend(ids.map(|id| (id.to_owned(), now)));
    }

    /// EC2 shows an instance: once it does not any more, it is gone.
    pub(crate) fn seen(&self, id: &str) {
        let mut given = self.given.lock().unwrap_or_else(PoisonError::into_inner);
        given.remove(id);
    }

    /// `true` for an instance that was given so short a time ago that EC2 may not show it yet.
    pub(crate) fn may_appear(&self, id: &str) -> bool {
        let now = self.now();
        let given = self.given.lock().unwrap_or_else(PoisonError::into_inner);
        let since = given.get(id);
        since.is_some_and(|since| now.saturating_duration_since(*since) < VISIBLE_AFTER)
    }
}
