//! Freshness of what is seen, kind by kind: nothing is ended on the word of an old view.
//!
//! A kind is fresh if its watch goes on, and has shown all that a consistent read found which began after our last write to the kind, and
//! no more than [`OLDEST`] ago. Where a kind has many objects a read asks for its version first; where the watch does not reach that soon, since nothing happens to
//! the kind or the watch lags, the next read compares object by object. A read that takes long is followed by a longer pause.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use kube::{Client, Error};
use plimsoll_api::Kind;
use plimsoll_kube::watch::{Change, Depth, Failure, Index, Read, read};
use plimsoll_model::Version;
use tokio::task::JoinSet;

/// Age at which a read proves nothing any more.
pub(crate) const OLDEST: Duration = Duration::from_mins(1);
/// Age at which a read is followed by the next.
const RENEWED: Duration = Duration::from_secs(25);
/// Shortest time from one read of a kind to its next.
const PACE: Duration = Duration::from_millis(400);
/// The same in terms of how long the read took.
const COST: u32 = 10;
/// Objects of a kind that are compared at once: they come in one answer, and spare the next read.
const FEW: usize = 200;
/// Time from a read that failed to the next.
const AGAIN: Duration = Duration::from_secs(2);

/// Views of all kinds.
#[derive(Debug, Default)]
pub(crate) struct Freshness {
    kinds: BTreeMap<Kind, Sight>,
}

/// The view of one kind.
#[derive(Debug, Default)]
struct Sight {
    /// When its watch said something last; `None` before the first list.
    heard: Option<Instant>,
    /// Why the watch does not go on.
    failing: Option<Failure>,
    /// When our last write to it was answered.
    written: Option<Instant>,
    /// When the last read began that the watch has caught up with.
    passed: Option<Instant>,
    /// The last read, until the watch has caught up with it: when it began, and the version.
    open: Option<(Instant, Version)>,
    /// `true` while a read is under way.
    is_asked: bool,
    /// Time before which the kind is not read again.
    not_before: Option<Instant>,
}

/// How a kind's watch does.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Health {
    /// `true` if it does not go on.
    pub(crate) is_failing: bool,
    /// Time since it said something last; `None` before the first list.
    pub(crate) silent: Option<Duration>,
}

/// A kind that is to be read, and how.
pub(crate) type Asked = (Kind, Depth);

/// A read that has ended: the kind, when it began, and what it found.
pub(crate) type Answered = (Kind, Instant, Result<Read, Error>);

impl Sight {
    fn is_fresh(&self, now: Instant) -> bool {
        let proves = |passed: Instant| {
            self.written.is_none_or(|written| passed >= written) && now < passed + OLDEST
        };
        self.failing.is_none() && self.passed.is_some_and(proves)
    }

    /// When it is read next; `None` while it is being read, not listed, or its watch does not go on.
    fn due(&self) -> Option<Instant> {
        let heard = self.heard?;
        if self.is_asked || self.failing.is_some() {
            return None;
        }
        let wanted = match self.passed {
            Some(passed) if self.open.is_none() => match self.written {
                Some(written) if written > passed => written,
                _ => passed + RENEWED,
            },
            _ => heard,
        };
        Some(self.not_before.map_or(wanted, |at| at.max(wanted)))
    }

    fn catch_up(&mut self, reached: Version) {
        if let Some((begun, _)) = self.open.take_if(|(_, version)| reached >= *version) {
            self.passed = Some(begun);
        }
    }
}

impl Freshness {
    /// Nothing is known of these kinds yet: all of them are stale.
    pub(crate) fn new(kinds: &[Kind]) -> Self {
        let kinds = kinds.iter().map(|kind| (*kind, Sight::default()));
        Self {
            kinds: kinds.collect(),
        }
    }

    /// A watch has said something, which the index has taken in.
    pub(crate) fn hear(
        &mut self,
        kind: Kind,
        failure: Option<Failure>,
        index: &Index,
        now: Instant,
    ) {
        let Some(sight) = self.kinds.get_mut(&kind) else {
            return;
        };
        if let Some(failure) = failure {
            if sight.failing.is_none() {
                tracing::warn!("{failure}");
            }
            sight.failing = Some(failure);
            return;
        }
        if index.is_listed(kind) {
            sight.heard = Some(now);
            sight.failing = None;
            sight.catch_up(index.reached(kind));
        }
    }

    /// A write to an object of a kind was answered, or its outcome is unknown.
    pub(crate) fn wrote(&mut self, kind: Kind, now: Instant) {
        if let Some(sight) = self.kinds.get_mut(&kind) {
            sight.written = Some(now);
        }
    }

    /// Kinds that are to be read now; they count as being read from here on.
    pub(crate) fn ask(&mut self, index: &Index, now: Instant) -> Vec<Asked> {
        let mut asked = Vec::new();
        for (kind, sight) in &mut self.kinds {
            if sight.due().is_none_or(|due| due > now) {
                continue;
            }
            sight.is_asked = true;
            let depth = if sight.open.is_some() || index.count(*kind) <= FEW {
                Depth::Objects
            } else {
                Depth::Version
            };
            asked.push((*kind, depth));
        }
        asked
    }

    /// A read has ended.
    pub(crate) fn answer(&mut self, (kind, begun, read): Answered, index: &Index, now: Instant) {
        let Some(sight) = self.kinds.get_mut(&kind) else {
            return;
        };
        sight.is_asked = false;
        match read {
            Ok(read) if index.lacks(kind, &read) => {
                sight.open = Some((begun, read.version));
                sight.not_before = Some(begun + PACE.max((now - begun) * COST));
            }
            Ok(_) => {
                sight.open = None;
                sight.passed = Some(begun);
                sight.not_before = Some(begun + PACE.max((now - begun) * COST));
            }
            Err(error) => {
                tracing::debug!(kind = kind.as_str(), %error, "consistent read failed");
                sight.not_before = Some(now + AGAIN);
            }
        }
    }

    /// When a kind is to be read, or falls stale by its age.
    pub(crate) fn next_wake(&self, now: Instant) -> Option<Instant> {
        let due = self.kinds.values().filter_map(Sight::due);
        let old = self.kinds.values().filter_map(|sight| sight.passed);
        let old = old.map(|passed| passed + OLDEST).filter(|at| *at > now);
        due.chain(old).min()
    }

    /// Kinds whose view is stale.
    pub(crate) fn stale(&self, now: Instant) -> Vec<Kind> {
        let stale = self.kinds.iter().filter(|(_, sight)| !sight.is_fresh(now));
        stale.map(|(kind, _)| *kind).collect()
    }

    /// Causes that keep kinds from being seen, by kind.
    pub(crate) fn failures(&self) -> impl Iterator<Item = &Failure> {
        self.kinds
            .values()
            .filter_map(|sight| sight.failing.as_ref())
    }

    /// How each kind's watch does.
    pub(crate) fn health(&self, now: Instant) -> impl Iterator<Item = (Kind, Health)> {
        self.kinds.iter().map(move |(kind, sight)| {
            let health = Health {
                is_failing: sight.failing.is_some(),
                silent: sight.heard.map(|heard| now.duration_since(heard)),
            };
            (*kind, health)
        })
    }
}

/// The failure that a change tells of.
pub(crate) fn failure(change: &Change) -> Option<Failure> {
    match change {
        Change::Failed(failure) => Some(failure.clone()),
        _ => None,
    }
}

/// Reads that are under way.
pub(crate) struct Reads {
    client: Client,
    tasks: JoinSet<Answered>,
}

impl Reads {
    pub(crate) fn new(client: Client) -> Self {
        Self {
            client,
            tasks: JoinSet::new(),
        }
    }

    /// Begins to read a kind.
    pub(crate) fn begin(&mut self, (kind, depth): Asked, now: Instant) {
        let client = self.client.clone();
        self.tasks.spawn(async move {
            let answer = tokio::time::timeout(OLDEST, read(client, kind, depth)).await;
            let late = || Error::Service("the API server does not answer".into());
            (kind, now, answer.unwrap_or_else(|_| Err(late())))
        });
    }

    /// The next read that has ended; `None` while none is under way. Nothing is lost if the wait is given up.
    pub(crate) async fn next(&mut self) -> Option<Answered> {
        loop {
            match self.tasks.join_next().await? {
                Ok(answered) => return Some(answered),
                Err(error) => tracing::error!(%error, "consistent read"),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use kube::core::DynamicObject;
    use serde_json::json;

    use super::*;

    const KIND: Kind = Kind::Node;

    /// A kind's view, by the second.
    struct Seen {
        start: Instant,
        index: Index,
        freshness: Freshness,
    }

    impl Seen {
        /// A kind with many objects whose list showed it at version 5; one of them is named a.
        fn listed() -> Self {
            Self::of(FEW + 1)
        }

        fn of(count: usize) -> Self {
            let mut seen = Self {
                start: Instant::now(),
                index: Index::new(&[KIND]),
                freshness: Freshness::new(&[KIND]),
            };
            seen.hear(Change::ListBegun, 0);
            seen.hear(Change::Listed(node(4)), 0);
            for number in 1..count {
                let metadata = json!({"name": format!("n{number}"), "resourceVersion": "1"});
                let node = serde_json::from_value(json!({"metadata": metadata})).unwrap();
                seen.hear(Change::Listed(Box::new(node)), 0);
            }
            seen.hear(Change::ListDone(Version(5)), 0);
            seen
        }

        fn at(&self, millis: u64) -> Instant {
            self.start + Duration::from_millis(millis)
        }

        fn hear(&mut self, change: Change, millis: u64) {
            let failure = failure(&change);
            self.index.take((KIND, change));
            let now = self.at(millis);
            self.freshness.hear(KIND, failure, &self.index, now);
        }

        fn answer(&mut self, begun: u64, read: Read, millis: u64) {
            let answered = (KIND, self.at(begun), Ok(read));
            let now = self.at(millis);
            self.freshness.answer(answered, &self.index, now);
        }

        /// How the kind is to be read, and at which millisecond at the earliest.
        fn asks(&mut self, from: u64) -> (u64, Depth) {
            let now = self.at(from);
            let due = self.freshness.next_wake(now).map(|due| due.max(now));
            let due = due.expect("it is to be read");
            let asked = self.freshness.ask(&self.index, due);
            assert_eq!(asked.len(), 1, "at {:?}", due - self.start);
            let millis = (due - self.start).as_millis();
            (u64::try_from(millis).unwrap(), asked[0].1)
        }

        fn is_fresh(&self, millis: u64) -> bool {
            self.freshness.stale(self.at(millis)).is_empty()
        }
    }

    fn node(version: u64) -> Box<DynamicObject> {
        let metadata = json!({"name": "a", "resourceVersion": version.to_string()});
        Box::new(serde_json::from_value(json!({"metadata": metadata})).unwrap())
    }

    fn read_at(version: u64) -> Read {
        Read {
            version: Version(version),
            objects: None,
        }
    }

    #[test]
    fn a_kind_is_fresh_once_its_watch_has_caught_up_with_a_read_and_for_a_minute() {
        let mut seen = Seen::listed();
        assert!(!seen.is_fresh(0), "nobody has asked the server");
        assert_eq!(seen.asks(0), (0, Depth::Version));
        assert!(
            {
                let at = seen.at(10);
                seen.freshness.ask(&seen.index, at)
            }
            .is_empty(),
            "it is asked already"
        );
        seen.answer(0, read_at(7), 20);
        assert!(!seen.is_fresh(20), "the watch is behind");
        seen.hear(Change::Reached(Version(6)), 30);
        assert!(!seen.is_fresh(30));
        seen.hear(Change::Applied(node(8)), 40);
        assert!(seen.is_fresh(40) && seen.is_fresh(59_999));
        assert!(
            !seen.is_fresh(60_000),
            "it is a minute since the read began"
        );
        assert_eq!(seen.asks(40), (25_000, Depth::Version), "renewed in time");
    }

    #[test]
    fn a_kind_that_stays_behind_a_read_is_compared_object_by_object() {
        let mut few = Seen::of(FEW);
        assert_eq!(few.asks(0), (0, Depth::Objects));
        let mut seen = Seen::listed();
        seen.asks(0);
        seen.answer(0, read_at(7), 20);
        assert_eq!(seen.asks(20), (400, Depth::Objects));
        let found = |of_a: u64| {
            let key = |name: String| (String::new(), name);
            let others = (1..=FEW).map(|number| (key(format!("n{number}")), Version(1)));
            let objects = others.chain([(key("a".to_owned()), Version(of_a))]);
            Read {
                version: Version(9),
                objects: Some(objects.collect()),
            }
        };
        let (equal, newer) = (found(4), found(8));
        seen.answer(400, newer, 500);
        assert!(!seen.is_fresh(500));
        assert_eq!(
            seen.asks(500),
            (1400, Depth::Objects),
            "ten times what it took"
        );
        seen.answer(1400, equal, 1420);
        assert!(seen.is_fresh(1420));
    }

    #[test]
    fn what_we_wrote_is_to_be_seen_first() {
        let mut seen = Seen::listed();
        seen.asks(0);
        seen.answer(0, read_at(5), 20);
        assert!(seen.is_fresh(1000));
        let written = seen.at(1000);
        seen.freshness.wrote(KIND, written);
        assert!(!seen.is_fresh(1000));
        assert_eq!(seen.asks(1000), (1000, Depth::Version));
        seen.answer(1000, read_at(5), 1010);
        assert!(seen.is_fresh(1010));
        let again = seen.at(1050);
        seen.freshness.wrote(KIND, again);
        assert_eq!(seen.asks(1050).0, 1400, "not more often than its pace");
        seen.answer(1040, read_at(5), 1410);
        assert!(
            !seen.is_fresh(1410),
            "the read began before the write was answered"
        );
    }

    #[test]
    fn a_watch_that_does_not_go_on_makes_its_kind_stale_until_it_does() {
        let mut seen = Seen::listed();
        seen.asks(0);
        seen.answer(0, read_at(5), 20);
        let refused = kube::core::Status {
            code: 403,
            ..kube::core::Status::default()
        };
        let failed = Failure::of(KIND, "watch", Some(&Error::Api(refused.boxed())));
        seen.hear(Change::Failed(failed.clone()), 30);
        assert!(!seen.is_fresh(30));
        assert_eq!(seen.freshness.failures().collect::<Vec<_>>(), [&failed]);
        seen.hear(Change::Reached(Version(5)), 40);
        assert!(seen.is_fresh(40));
    }
}
