//! The pace of searches for savings: when the next may begin, by what the last found and what has happened since.
//!
//! A search costs far more than a look for empty nodes, and what it finds is worth little more for being found sooner. But where load
//! falls, nodes become consolidatable together, and waiting then costs money: one search soon after the last of them finds most.

use plimsoll_base::time::{Span, Timestamp};

/// The shortest time between two passes that come to nothing, and from a search that found savings to the next.
pub(super) const POLL: Span = Span::from_secs(10);
/// Time from a search that found nothing to the next while nodes keep becoming consolidatable.
const SEARCH: Span = Span::from_secs(60);
/// The longest time between two searches.
const LONGEST_PAUSE: Span = Span::from_secs(300);
/// Time without another node after which no more are waited for: pods that go together go within it.
const SETTLE: Span = Span::from_secs(2);
/// One of so many consolidatable nodes is a good part of them.
const GOOD_PART: usize = 10;

/// Searches so far, as far as they say when the next begins.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SearchPace {
    searched: Option<Timestamp>,
    /// Searches in a row that found nothing in the same world.
    fruitless: u32,
    /// Revisions of the world at the last search.
    revisions: (u64, u64),
    /// When something ends that stood in the way of the last search.
    held_until: Option<Timestamp>,
    fresh: Option<Fresh>,
}

/// Nodes that became empty or consolidatable since the last search: when the first and the last of them did.
#[derive(Clone, Copy, Debug)]
struct Fresh {
    nodes: usize,
    first: Timestamp,
    last: Timestamp,
}

impl SearchPace {
    /// A node has become empty or consolidatable.
    pub(super) fn freshen(&mut self, now: Timestamp) {
        let (nodes, first) = self.fresh.map_or((0, now), |it| (it.nodes, it.first));
        let nodes = nodes + 1;
        let last = now;
        self.fresh = Some(Fresh { nodes, first, last });
    }

    /// A search has ended that was begun in a world of these revisions; `wake` is when something ends that stood in its way.
    pub(super) fn searched(
        &mut self,
        found: bool,
        revisions: (u64, u64),
        wake: Option<Timestamp>,
        now: Timestamp,
    ) {
        let again = self.revisions == revisions;
        *self = Self {
            searched: Some(now),
            fruitless: match (found, again) {
                (true, _) => 0,
                (false, true) => self.fruitless + 1,
                (false, false) => 1,
            },
            revisions,
            held_until: wake,
            fresh: None,
        };
    }

    /// Moves that the last search found could not be made.
    pub(super) fn lapse(&mut self) {
        self.fruitless += 1;
    }

    /// Time from a search that found nothing to the next, if nothing tells sooner that it may find something.
    pub(super) fn pause(&self) -> Span {
        let doubled = SEARCH.millis() << self.fruitless.saturating_sub(1).min(8);
        Span::from_millis(doubled.min(LONGEST_PAUSE.millis()))
    }

    /// When the next search may begin, where so many nodes are consolidatable; `None` before the first. Fresh nodes that are a good
    /// part of them have lost load together: what can be saved is found as soon as no more follow.
    pub(super) fn next(&self, consolidatable: usize) -> Option<Timestamp> {
        let searched = self.searched?;
        if self.fruitless == 0 {
            return Some(searched + POLL);
        }
        let in_turn = searched + SEARCH;
        let Some(Fresh { nodes, first, last }) = self.fresh else {
            let held = self.held_until.map(|until| until.max(in_turn));
            return held.into_iter().chain([searched + self.pause()]).min();
        };
        let settled = last + SETTLE;
        let quiet = if nodes.saturating_mul(GOOD_PART) >= consolidatable {
            settled
        } else {
            (last + POLL).min(in_turn).max(settled)
        };
        Some(quiet.min(in_turn.max(first + POLL)).max(searched + POLL))
    }

    /// When no more nodes are likely to become empty or consolidatable together with the last; they are not waited for longer than
    /// a poll. `None` where none has since the last search.
    pub(super) fn settled(&self) -> Option<Timestamp> {
        let fresh = self.fresh?;
        Some((fresh.last + SETTLE).min(fresh.first + POLL))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_millis(seconds * 1000)
    }

    fn searched(found: bool, worlds: &[u64]) -> SearchPace {
        let mut pace = SearchPace::default();
        for world in worlds {
            pace.searched(found, (*world, 0), None, at(100));
        }
        pace
    }

    #[test]
    fn a_search_that_found_savings_is_followed_by_the_next_and_a_fruitless_one_waits() {
        assert_eq!(SearchPace::default().next(100), None);
        assert_eq!(searched(true, &[1]).next(100), Some(at(110)));
        assert_eq!(searched(false, &[1]).next(100), Some(at(160)));
        assert_eq!(searched(false, &[1, 1]).next(100), Some(at(220)));
        assert_eq!(searched(false, &[1, 1, 1, 1, 1]).next(100), Some(at(400)));
        assert_eq!(
            searched(false, &[1, 1, 2]).next(100),
            Some(at(160)),
            "another world"
        );
        let mut lapsed = searched(true, &[1]);
        lapsed.lapse();
        assert_eq!(lapsed.next(100), Some(at(160)));
    }

    #[test]
    fn a_hold_that_ends_is_searched_then_but_not_within_the_minute() {
        let held = |until: i64| {
            let mut pace = searched(false, &[1, 1, 1]);
            pace.searched(false, (1, 0), Some(at(until)), at(100));
            pace.next(100)
        };
        assert_eq!(held(130), Some(at(160)));
        assert_eq!(held(200), Some(at(200)));
        assert_eq!(held(900), Some(at(400)));
    }

    #[test]
    fn fresh_nodes_are_waited_for_together_and_not_for_ever() {
        let fresh = |times: &[i64]| {
            let mut pace = searched(false, &[1, 1, 1]);
            for time in times {
                pace.freshen(at(*time));
            }
            (pace.next(100), pace.settled())
        };
        assert_eq!(fresh(&[]), (Some(at(340)), None));
        assert_eq!(fresh(&[120]), (Some(at(130)), Some(at(122))));
        assert_eq!(fresh(&[120, 125]), (Some(at(135)), Some(at(127))));
        assert_eq!(fresh(&[101]), (Some(at(111)), Some(at(103))));
        let all_the_time = (101..159).collect::<Vec<i64>>();
        assert_eq!(fresh(&all_the_time).0, Some(at(160)));
        assert_eq!(
            fresh(&[200, 201]).0,
            Some(at(203)),
            "the last search was long ago"
        );
        let long_after = (200..220).collect::<Vec<i64>>();
        assert_eq!(fresh(&long_after), (Some(at(210)), Some(at(210))));
    }
}
