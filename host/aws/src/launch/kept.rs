//! Launch templates that are there: one that was used lately is not asked for again, and one that has not been used for a while is deleted.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A template is kept for so long after its last use: Karpenter's time.
const KEPT: Duration = Duration::from_mins(1);

/// Templates of a cluster that are known, by name.
#[derive(Debug, Default)]
pub(crate) struct KeptTemplates {
    by_name: Mutex<BTreeMap<String, Template>>,
    /// Held while templates are made: two launches at once would make the same.
    pub(crate) making: tokio::sync::Mutex<()>,
}

#[derive(Debug)]
struct Template {
    /// `true` once EC2 has said that it is there.
    is_there: bool,
    /// Launches that use it now.
    launches: usize,
    /// The end of its last use.
    used: Instant,
}

impl KeptTemplates {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Template>> {
        self.by_name.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that templates are used from now on; none of them is given up as long as the answer lives.
    pub(crate) fn begin(&self, names: Vec<String>, now: Instant) -> InUse<'_> {
        let mut known = self.lock();
        for name in &names {
            let own = known.entry(name.clone()).or_insert(Template {
                is_there: false,
                launches: 0,
                used: now,
            });
            own.launches += 1;
        }
        InUse { kept: self, names }
    }

    /// `true` if EC2 has said that a template is there, and it was not given up since.
    pub(crate) fn is_there(&self, name: &str) -> bool {
        self.lock().get(name).is_some_and(|own| own.is_there)
    }

    /// EC2 says that a template is there: one that a process before this one made counts as used just now.
    pub(crate) fn found(&self, name: String, now: Instant) {
        let mut known = self.lock();
        let own = known.entry(name).or_insert(Template {
            is_there: true,
            launches: 0,
            used: now,
        });
        own.is_there = true;
    }

    /// EC2 says that a template is not there.
    pub(crate) fn lost(&self, name: &str) {
        if let Some(own) = self.lock().get_mut(name) {
            own.is_there = false;
        }
    }

    /// Templates that have not been used for [`KEPT`]. They are forgotten: a launch that needs one asks EC2 again.
    pub(crate) fn give_up(&self, now: Instant) -> Vec<String> {
        let is_unused =
            |own: &Template| own.launches == 0 && now.saturating_duration_since(own.used) >= KEPT;
        let mut known = self.lock();
        let unused = known.extract_if(.., |_, own| is_unused(own));
        unused.map(|(name, _)| name).collect()
    }
}

/// Templates that a launch uses.
#[derive(Debug)]
pub(crate) struct InUse<'k> {
    kept: &'k KeptTemplates,
    names: Vec<String>,
}

impl Drop for InUse<'_> {
    fn drop(&mut self) {
        let now = Instant::now();
        let mut known = self.kept.lock();
        for name in &self.names {
            if let Some(own) = known.get_mut(name) {
                own.launches = own.launches.saturating_sub(1);
                own.used = own.used.max(now);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALMOST: Duration = Duration::from_secs(59);

    #[test]
    fn a_template_is_given_up_once_nobody_has_used_it_for_a_minute() {
        let (kept, now) = (KeptTemplates::default(), Instant::now());
        kept.found("a".to_owned(), now);
        kept.found("b".to_owned(), now + ALMOST);
        assert_eq!(kept.give_up(now + ALMOST), [""; 0]);
        assert_eq!(kept.give_up(now + KEPT), ["a"]);
        assert!(!kept.is_there("a") && kept.is_there("b"));
        assert_eq!(kept.give_up(now + KEPT), [""; 0]);
    }

    #[test]
    fn a_launch_keeps_its_templates_however_long_it_takes() {
        let (kept, now) = (KeptTemplates::default(), Instant::now());
        let (first, second) = (
            kept.begin(vec!["a".to_owned()], now),
            kept.begin(vec!["a".to_owned()], now),
        );
        drop(first);
        assert_eq!(kept.give_up(now + KEPT * 10), [""; 0]);
        drop(second);
        let end = Instant::now();
        assert_eq!(kept.give_up(now + ALMOST), [""; 0]);
        assert_eq!(kept.give_up(end + KEPT), ["a"]);
    }

    #[test]
    fn a_template_is_there_from_when_it_was_found_until_it_was_lost() {
        let (kept, now) = (KeptTemplates::default(), Instant::now());
        let _launch = kept.begin(vec!["a".to_owned()], now);
        assert!(!kept.is_there("a"), "it was never asked for");
        kept.found("a".to_owned(), now);
        assert!(kept.is_there("a"));
        kept.lost("a");
        assert!(!kept.is_there("a"));
    }
}
