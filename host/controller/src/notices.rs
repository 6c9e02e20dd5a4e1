//! Events that wait until their object is seen, so that they name it by uid: `kubectl describe` finds no others.

use std::time::{Duration, Instant};

use plimsoll_kube::event::Notice;
use plimsoll_kube::watch::Index;

/// The longest that an event waits: what the engine has made is seen in moments.
const PATIENCE: Duration = Duration::from_secs(5);
/// The most events that wait.
const MOST: usize = 1024;

/// Events that wait, the first of them the eldest.
#[derive(Debug, Default)]
pub(crate) struct WaitingNotices(Vec<(Instant, Notice)>);

impl WaitingNotices {
    /// Adds an event.
    pub(crate) fn add(&mut self, notice: Notice, now: Instant) {
        self.0.push((now + PATIENCE, notice));
    }

    /// When an event has waited long enough.
    pub(crate) fn next_wake(&self) -> Option<Instant> {
        self.0.first().map(|(until, _)| *until)
    }

    /// Those that need not wait, by what is seen. An object that is not seen after a while is gone: its event is sent without uid, for whoever
    /// looks through all events.
    pub(crate) fn take(&mut self, index: &Index, now: Instant) -> Vec<Notice> {
        let (mut ready, mut waiting) = (Vec::new(), Vec::new());
        for (until, notice) in std::mem::take(&mut self.0) {
            let (notice, is_known) = seen(notice, index);
            if is_known || now >= until {
                ready.push(notice);
            } else {
                waiting.push((until, notice));
            }
        }
        let surplus = waiting.len().saturating_sub(MOST);
        ready.extend(waiting.drain(..surplus).map(|(_, notice)| notice));
        self.0 = waiting;
        ready
    }
}

/// The event with the uid and the version of its object, or itself, and `true` if its object is known.
fn seen(notice: Notice, index: &Index) -> (Notice, bool) {
    let Some((kind, (namespace, name))) = notice.unseen() else {
        return (notice, true);
    };
    let key = (namespace.to_owned(), name.to_owned());
    match index.seen(kind, &key) {
        Some(seen) => (notice.seen(seen.uid.as_str(), seen.version), true),
        None => (notice, false),
    }
}

#[cfg(test)]
mod tests {
    use kube::core::DynamicObject;
    use plimsoll_api::Kind;
    use plimsoll_core::event_reason::EventReason;
    use plimsoll_core::model::Version;
    use plimsoll_kube::watch::Change;
    use serde_json::json;

    use super::*;

    fn notice(name: &str) -> Notice {
        let reason = EventReason::DisruptionTerminating;
        Notice::new(Kind::Node, ("", name), reason, String::new())
    }

    #[test]
    fn an_event_waits_for_its_object_and_not_for_ever() {
        let mut index = Index::new(&[Kind::Node]);
        let mut waiting = WaitingNotices::default();
        let now = Instant::now();
        for name in ["seen", "gone"] {
            waiting.add(notice(name), now);
        }
        assert_eq!(waiting.take(&index, now), []);
        let object = json!({
            "apiVersion": "v1", "kind": "Node",
            "metadata": {"name": "seen", "uid": "its-uid", "resourceVersion": "7"},
        });
        let object: DynamicObject = serde_json::from_value(object).expect("an object");
        index.take((Kind::Node, Change::Applied(Box::new(object))));
        let named = notice("seen").seen("its-uid", Version(7));
        assert_eq!(waiting.take(&index, now), [named]);
        assert_eq!(waiting.next_wake(), Some(now + PATIENCE));
        assert_eq!(waiting.take(&index, now + PATIENCE), [notice("gone")]);
        assert_eq!(waiting.next_wake(), None);
    }
}
