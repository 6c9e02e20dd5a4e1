//! History of the watch: the objects as a list would have shown them at an earlier instant, and what came after.

use plimsoll_base::time::Timestamp;
use plimsoll_model::{Object, Version};

use crate::api::Watched;

/// All that the watch has put out since an instant.
#[derive(Clone, Debug)]
pub(crate) struct History {
    first: Vec<(Object, Version)>,
    events: Vec<(Timestamp, Watched)>,
}

impl History {
    /// A history that begins with what there is now.
    pub(crate) fn since(first: Vec<(Object, Version)>) -> Self {
        let events = Vec::new();
        Self { first, events }
    }

    pub(crate) fn note(&mut self, watched: &Watched, now: Timestamp) {
        self.events.push((now, watched.clone()));
    }

    /// Objects as they were at the end of an instant, each with its version, and the events since.
    pub(crate) fn at(&self, at: Timestamp) -> (Vec<(Object, Version)>, Vec<Watched>) {
        let seen = self.events.partition_point(|(when, _)| *when <= at);
        let (before, after) = self.events.split_at(seen);
        let mut listed = self.first.clone();
        for (_, watched) in before {
            let own = listed
                .iter()
                .position(|(have, _)| have.is_same(&watched.object));
            match own {
                Some(own) if watched.deleted => {
                    listed.remove(own);
                }
                Some(own) => listed[own] = (watched.object.clone(), watched.version),
                None if watched.deleted => {}
                None => listed.push((watched.object.clone(), watched.version)),
            }
        }
        let after = after.iter().map(|(_, watched)| watched.clone());
        (listed, after.collect())
    }
}

/// The last event of each object, as a watch that was cut and lists anew sees them: what came and went meanwhile it never
/// hears of, unless `is_known` says that it knew an object of that name before.
pub(crate) fn coalesced(events: Vec<Watched>, is_known: impl Fn(&Object) -> bool) -> Vec<Watched> {
    let mut last: Vec<Watched> = Vec::new();
    for watched in events {
        last.retain(|have| !have.object.is_same(&watched.object));
        last.push(watched);
    }
    last.retain(|own| !own.deleted || is_known(&own.object));
    last
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    use plimsoll_model::Namespace;

    fn event(name: &str, version: u64, deleted: bool) -> Watched {
        let labels = [("version".into(), version.to_string().into())].into();
        let name = Arc::from(name);
        Watched {
            object: Object::Namespace(Arc::new(Namespace { name, labels })),
            version: Version(version),
            deleted,
        }
    }

    fn versions(listed: &[(Object, Version)]) -> Vec<u64> {
        listed.iter().map(|(_, version)| version.0).collect()
    }

    #[test]
    fn an_older_list_and_the_events_since_make_the_present() {
        let at = Timestamp::from_millis;
        let first = event("a", 1, false);
        let mut history = History::since(vec![(first.object, first.version)]);
        for (when, name, version, deleted) in [
            (10, "b", 2, false),
            (20, "a", 3, false),
            (20, "b", 4, true),
            (30, "a", 5, true),
        ] {
            history.note(&event(name, version, deleted), at(when));
        }
        let lists = [5, 10, 20, 30].map(|when| versions(&history.at(at(when)).0));
        assert_eq!(lists, [vec![1], vec![1, 2], vec![3], vec![]]);
        let since = [5, 10, 20, 30].map(|when| history.at(at(when)).1.len());
        assert_eq!(since, [4, 3, 1, 0]);
    }

    #[test]
    fn of_several_changes_the_last_is_seen_and_of_what_came_and_went_nothing() {
        let events = vec![
            event("a", 2, false),
            event("b", 3, false),
            event("a", 4, false),
            event("b", 5, true),
            event("c", 6, true),
            event("c", 7, false),
            event("d", 8, true),
        ];
        let known = event("d", 1, false).object;
        let seen = coalesced(events, |object| object.is_same(&known));
        let seen: Vec<u64> = seen.iter().map(|own| own.version.0).collect();
        assert_eq!(seen, [4, 7, 8]);
    }
}
