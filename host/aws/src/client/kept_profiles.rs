//! Roles of instance profiles, as they were read or given last: a profile that is known is not read again for a while.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A role is known for so long: Karpenter's time.
const KEPT: Duration = Duration::from_mins(15);

/// Roles by the names of their profiles. A profile without a role is never known: it is about to get one.
#[derive(Debug, Default)]
pub(super) struct KeptProfiles {
    by_name: Mutex<BTreeMap<String, (String, Instant)>>,
}

impl KeptProfiles {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, (String, Instant)>> {
        self.by_name.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The role of a profile; `None` where it has to be read.
    pub(super) fn role(&self, name: &str, now: Instant) -> Option<String> {
        let known = self.lock();
        let (role, since) = known.get(name)?;
        (now.saturating_duration_since(*since) < KEPT).then(|| role.clone())
    }

    /// A profile has a role, as IAM says.
    pub(super) fn has(&self, name: &str, role: &str, now: Instant) {
        self.lock().insert(name.to_owned(), (role.to_owned(), now));
    }

    /// A profile is being changed or deleted, or is not what was thought: it has to be read.
    pub(super) fn forget(&self, name: &str) {
        self.lock().remove(name);
    }

    /// Some profile is not what was thought: all have to be read.
    pub(super) fn forget_all(&self) {
        self.lock().clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_role_is_known_for_a_quarter_of_an_hour_unless_its_profile_changes() {
        let (kept, now) = (KeptProfiles::default(), Instant::now());
        assert_eq!(kept.role("a", now), None);
        for name in ["a", "b", "c"] {
            kept.has(name, "nodes", now);
        }
        let almost = now + Duration::from_secs(15 * 60 - 1);
        assert_eq!(kept.role("a", almost), Some("nodes".to_owned()));
        assert_eq!(kept.role("a", now + KEPT), None);
        kept.forget("b");
        assert_eq!(kept.role("b", now), None);
        kept.has("b", "others", now);
        assert_eq!(kept.role("b", now), Some("others".to_owned()));
        kept.forget_all();
        assert_eq!((kept.role("b", now), kept.role("c", now)), (None, None));
    }
}
