//! The rules of an election by lease: who may take it when, and until when its holder may write.
//!
//! The same as client-go's, so that instances of either take turns. None trusts another's clock: a lease counts as held for as long as it
//! says, from when a change of it was last *seen*. Its holder counts from when it *asked* for the last renewal, which is earlier. So no holder
//! writes when another can have taken over, however long an answer, a pause of the process or the other's look at the lease took.

use std::time::{Duration, Instant};

use plimsoll_base::time::Timestamp;

/// Time for what was sent at the very end to arrive, before another can hold the lease.
const ARRIVAL: Duration = Duration::from_secs(1);

/// Time limits of an election.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timings {
    /// From a renewal until another may take the lease; whole seconds.
    pub duration: Duration,
    /// From the answer to a renewal until the holder gives up if there is no other; shorter than `duration`.
    pub renewal: Duration,
    /// Between two tries.
    pub retry: Duration,
}

impl Default for Timings {
    /// 15 s, 10 s and 2 s.
    fn default() -> Self {
        Self {
            duration: Duration::from_secs(15),
            renewal: Duration::from_secs(10),
            retry: Duration::from_secs(2),
        }
    }
}

/// Content of a lease.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Record {
    /// Identity of the holder; empty where there is none.
    pub(super) holder: String,
    /// How long it counts as held after a renewal.
    pub(super) duration: Duration,
    /// When this holder took it, by the holder's clock.
    pub(super) acquired: Timestamp,
    /// When the holder renewed it last, by the holder's clock.
    pub(super) renewed: Timestamp,
    /// How often it changed hands.
    pub(super) transitions: i32,
}

/// One participant's part in an election.
#[derive(Clone, Debug)]
pub(super) struct Election {
    identity: String,
    timings: Timings,
    /// The lease as last seen, and since when it has been seen so.
    seen: Option<(Record, Instant)>,
    /// Until when we may write.
    term: Option<Instant>,
}

impl Election {
    pub(super) fn new(identity: String, timings: Timings) -> Self {
        Self {
            identity,
            timings,
            seen: None,
            term: None,
        }
    }

    /// Takes in the lease as it was read.
    pub(super) fn observe(&mut self, record: Record, now: Instant) {
        if self.seen.as_ref().is_none_or(|(seen, _)| *seen != record) {
            self.seen = Some((record, now));
        }
    }

    /// Takes in that there is no lease.
    pub(super) fn observe_none(&mut self) {
        self.seen = None;
    }

    /// The record to write now; `None` while the lease is another's. `clock` is the time by the wall.
    pub(super) fn bid(&self, now: Instant, clock: Timestamp) -> Option<Record> {
        let fresh = Record {
            holder: self.identity.clone(),
            duration: self.timings.duration,
            acquired: clock,
            renewed: clock,
            transitions: 0,
        };
        let Some((record, _)) = &self.seen else {
            return Some(fresh);
        };
        if record.holder == self.identity {
            return Some(Record {
                acquired: record.acquired,
                transitions: record.transitions,
                ..fresh
            });
        }
        let is_free = self.free_at().is_none_or(|at| at <= now);
        is_free.then(|| Record {
            transitions: record.transitions + 1,
            ..fresh
        })
    }

    /// Takes in that the record is what the API server has now. `asked` is when it was about to be sent.
    pub(super) fn won(&mut self, record: Record, asked: Instant, now: Instant) {
        self.seen = Some((record, now));
        let arrival = self.timings.duration.saturating_sub(ARRIVAL);
        self.term = Some((now + self.timings.renewal).min(asked + arrival));
    }

    /// Until when we may write; `None` before the lease was ours.
    pub(super) fn term(&self) -> Option<Instant> {
        self.term
    }

    /// The holder last seen; `None` where there is none.
    pub(super) fn holder(&self) -> Option<&str> {
        let (record, _) = self.seen.as_ref()?;
        (!record.holder.is_empty()).then_some(&record.holder)
    }

    /// The next try after one that began at `asked`: when the lease falls free, if that is sooner than the usual time.
    pub(super) fn next_try(&self, asked: Instant) -> Instant {
        let usual = asked + self.timings.retry;
        self.free_at()
            .filter(|at| *at > asked)
            .map_or(usual, |at| at.min(usual))
    }

    /// When another's lease falls free if it is not renewed; `None` where it is free, or ours.
    fn free_at(&self) -> Option<Instant> {
        let (record, since) = self.seen.as_ref()?;
        let is_anothers = !record.holder.is_empty() && record.holder != self.identity;
        is_anothers.then(|| *since + record.duration)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    /// What a participant is about to do with the one API server.
    #[derive(Clone, Debug)]
    enum Stage {
        Look,
        Bid {
            version: u64,
        },
        Arrive {
            version: u64,
            record: Record,
            asked: Instant,
        },
        Hear {
            record: Option<Record>,
            asked: Instant,
        },
    }

    struct Participant {
        election: Election,
        stage: Stage,
    }

    /// One API server and some participants, each of which does its next step when it is told to: pauses, slow requests and lost answers
    /// are orders of steps and times between them.
    struct World {
        now: Instant,
        clock: Timestamp,
        lease: Option<Record>,
        version: u64,
        participants: Vec<Participant>,
    }

    impl World {
        fn new(participants: usize) -> Self {
            let one = |number: usize| Participant {
                election: Election::new(format!("p{number}"), Timings::default()),
                stage: Stage::Look,
            };
            Self {
                now: Instant::now(),
                clock: Timestamp::default(),
                lease: None,
                version: 0,
                participants: (0..participants).map(one).collect(),
            }
        }

        fn pass(&mut self, millis: u64) {
            self.now += Duration::from_millis(millis);
            self.clock = Timestamp::from_millis(self.clock.millis() + millis.cast_signed());
        }

        fn step(&mut self, who: usize, is_answer_lost: bool) {
            let (now, clock) = (self.now, self.clock);
            let one = &mut self.participants[who];
            one.stage = match one.stage.clone() {
                Stage::Look => {
                    match self.lease.clone() {
                        Some(record) => one.election.observe(record, now),
                        None => one.election.observe_none(),
                    }
                    Stage::Bid {
                        version: self.version,
                    }
                }
                Stage::Bid { version } => match one.election.bid(now, clock) {
                    Some(record) => Stage::Arrive {
                        version,
                        record,
                        asked: now,
                    },
                    None => Stage::Look,
                },
                Stage::Arrive {
                    version,
                    record,
                    asked,
                } => {
                    let is_current = version == self.version;
                    if is_current {
                        self.lease = Some(record.clone());
                        self.version += 1;
                    }
                    let told = is_current && !is_answer_lost;
                    Stage::Hear {
                        record: told.then_some(record),
                        asked,
                    }
                }
                Stage::Hear { record, asked } => {
                    if let Some(record) = record {
                        one.election.won(record, asked, now);
                    }
                    Stage::Look
                }
            };
        }

        fn leaders(&self) -> Vec<usize> {
            let leads = |one: &Participant| one.election.term().is_some_and(|term| self.now < term);
            let all = self.participants.iter().enumerate();
            all.filter(|(_, one)| leads(one))
                .map(|(number, _)| number)
                .collect()
        }

        /// Steps of one participant until it has tried once.
        fn try_once(&mut self, who: usize) {
            for _ in 0..4 {
                self.step(who, false);
                if matches!(self.participants[who].stage, Stage::Look) {
                    return;
                }
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

        /// Whatever the pauses, delays and losses: no two may write at the same time.
        #[test]
        fn no_two_lead_at_the_same_time(
            steps in vec((0..3_usize, prop_oneof![0..300_u64, 1000..20_000_u64], prop::bool::weighted(0.1)), 1..200),
        ) {
            let mut world = World::new(3);
            for (who, millis, is_answer_lost) in steps {
                world.pass(millis);
                world.step(who, is_answer_lost);
                let leaders = world.leaders();
                prop_assert!(leaders.len() <= 1, "{leaders:?}");
            }
        }
    }

    #[test]
    fn a_leader_that_dies_is_followed_within_twenty_seconds() {
        for dies_after in [0, 700, 1999] {
            let mut world = World::new(2);
            world.try_once(0);
            world.try_once(1);
            assert_eq!(world.leaders(), [0]);
            world.pass(dies_after);
            let death = world.now;
            let mut next = world.now;
            while world.leaders() != [1] {
                world.now = next;
                world.try_once(1);
                next = world.participants[1].election.next_try(next);
            }
            let late = world.now - death;
            assert!(late <= Duration::from_secs(17), "{late:?}");
        }
    }

    #[test]
    fn a_holder_that_renews_keeps_the_lease_and_one_that_releases_gives_it_at_once() {
        let mut world = World::new(2);
        for _ in 0..20 {
            world.try_once(0);
            world.try_once(1);
            assert_eq!(world.leaders(), [0]);
            world.pass(2000);
        }
        let held = world.lease.clone().unwrap();
        assert_eq!((held.transitions, held.acquired.millis()), (0, 0));
        world.lease = Some(Record {
            holder: String::new(),
            ..held
        });
        world.version += 1;
        world.participants.remove(0);
        world.try_once(0);
        assert_eq!(world.leaders(), [0]);
        assert_eq!(world.lease.unwrap().transitions, 1);
    }

    #[test]
    fn slow_answers_leave_a_term_that_the_next_one_reaches() {
        let (start, slow) = (Instant::now(), Duration::from_secs(5));
        let timings = Timings::default();
        let mut election = Election::new("p".to_owned(), timings);
        let mut asked = start;
        for _ in 0..10 {
            let record = election.bid(asked, Timestamp::default()).unwrap();
            assert!(election.term().is_none_or(|term| asked + slow < term));
            election.won(record, asked, asked + slow);
            asked += slow + timings.retry;
        }
    }
}
