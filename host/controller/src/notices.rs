//! Events that wait until their object is seen, so that they name it by uid: `kubectl describe` finds no others.

use std::time::{Duration, Instant};

use plimsoll_api::Kind;
use plimsoll_kube::event::Notice;
use plimsoll_kube::watch::{Index, Key};

/// The longest that an event waits: what the engine has made is seen in moments.
const PATIENCE: Duration = Duration::from_secs(5);
/// The most events that wait.
const MOST: usize = 1024;

/// Events that wait, the first of them the oldest.
#[derive(Debug, Default)]
pub(crate) struct WaitingNotices(Vec<Waiting>);

/// An event that waits.
#[derive(Debug)]
struct Waiting {
    until: Instant,
    /// Its object, by kind, namespace and name; `None` where the event names it by uid already.
    object: Option<(Kind, Key)>,
    notice: Notice,
}

impl WaitingNotices {
    /// Adds an event.
    pub(crate) fn add(&mut self, notice: Notice, now: Instant) {
        let object = notice.unseen().map(|(kind, (namespace, name))| {
            let key = (namespace.to_owned(), name.to_owned());
            (kind, key)
        });
        self.0.push(Waiting {
            until: now + PATIENCE,
            object,
            notice,
        });
    }

    /// When an event has waited long enough.
    pub(crate) fn next_wake(&self) -> Option<Instant> {
        self.0.first().map(|own| own.until)
    }

    /// Those that need not wait, by what is seen. An object that is not seen after a while is gone: its event is sent without a uid, and shows
    /// in lists of all events.
    pub(crate) fn take(&mut self, index: &Index, now: Instant) -> Vec<Notice> {
        let (mut ready, mut waiting) = (Vec::new(), Vec::new());
        if self.0.is_empty() {
            return ready;
        }
        for own in std::mem::take(&mut self.0) {
            let seen = own
                .object
                .as_ref()
                .map(|(kind, key)| index.seen(*kind, key));
            match seen {
                Some(Some(seen)) => ready.push(own.notice.seen(seen.uid.as_str(), seen.version)),
                Some(None) if now < own.until => waiting.push(own),
                Some(None) | None => ready.push(own.notice),
            }
        }
        let surplus = waiting.len().saturating_sub(MOST);
        ready.extend(waiting.drain(..surplus).map(|own| own.notice));
        self.0 = waiting;
        ready
    }
}

#[cfg(test)]
mod tests {
    use kube::core::DynamicObject;
    use plimsoll_base::event_reason::EventReason;
    use plimsoll_kube::watch::Change;
    use plimsoll_model::Version;
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
        // One that names its object by uid need not wait.
        let named = notice("unseen").seen("a-uid", Version(1));
        waiting.add(named.clone(), now);
        assert_eq!(waiting.take(&index, now), [named]);
    }
}
