//! The pace at which large groups of pods are looked at. What happens to one pod or node of a group looks at all that wait with it, and
//! pods of a group come and go together: one look at all of them costs hardly more than one at each.

use std::collections::{BTreeMap, BTreeSet};

use plimsoll_base::time::{Span, Timestamp};
use plimsoll_cluster::GroupId;

/// A group of more waiting pods than this is large.
const LARGE: usize = 50;
/// Least time from a look at a large group to the next.
const REST: Span = Span::from_millis(100);
/// Pods of all groups that rest for which each rests a millisecond: a look takes microseconds a pod, and so all looks together take a
/// small part of a processor, however many pods wait.
const PODS_PER_MILLI: usize = 20;

/// Groups that rest.
#[derive(Clone, Debug, Default)]
pub(super) struct GroupPace {
    resting: BTreeMap<GroupId, Rest>,
    /// The same groups by when their rest is over.
    timers: BTreeSet<(Timestamp, GroupId)>,
}

#[derive(Clone, Copy, Debug)]
struct Rest {
    until: Timestamp,
    /// It is to be looked at then.
    is_asked: bool,
    /// Pods of the group that waited at the look before.
    pods: usize,
}

impl GroupPace {
    /// `true` if a group may be looked at now; one that rests is looked at once its rest is over.
    pub(super) fn may_look(&mut self, group: GroupId) -> bool {
        match self.resting.get_mut(&group) {
            None => true,
            Some(rest) => {
                rest.is_asked = true;
                false
            }
        }
    }

    /// `true` if a group rests and is to be looked at then.
    pub(super) fn is_asked(&self, group: GroupId) -> bool {
        self.resting.get(&group).is_some_and(|rest| rest.is_asked)
    }

    /// A group of so many waiting pods has been looked at.
    pub(super) fn looked(&mut self, group: GroupId, pods: usize, now: Timestamp) {
        if let Some(before) = self.resting.remove(&group) {
            self.timers.remove(&(before.until, group));
        }
        if pods <= LARGE {
            return;
        }
        let others = self.resting.values().map(|rest| rest.pods);
        let all = others.fold(pods, usize::saturating_add);
        let own = i64::try_from(all / PODS_PER_MILLI).unwrap_or(i64::MAX);
        let until = now + Span::from_millis(own).max(REST);
        let rest = Rest {
            until,
            is_asked: false,
            pods,
        };
        self.resting.insert(group, rest);
        self.timers.insert((until, group));
    }

    /// When the first rest is over.
    pub(super) fn next_wake(&self) -> Option<Timestamp> {
        self.timers.first().map(|(until, _)| *until)
    }

    /// Groups whose rest is over and that are to be looked at.
    pub(super) fn take_due(&mut self, now: Timestamp) -> Vec<GroupId> {
        let mut due = Vec::new();
        while let Some((until, group)) = self.timers.first().copied()
            && until <= now
        {
            self.timers.pop_first();
            if let Some(rest) = self.resting.remove(&group)
                && rest.is_asked
            {
                due.push(group);
            }
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_millis(millis)
    }

    #[test]
    fn a_large_group_rests_after_a_look_and_is_looked_at_again_only_where_that_was_asked() {
        let group = GroupId::parse("00000000000000a1").expect("a group");
        let mut pace = GroupPace::default();
        assert!(pace.may_look(group));
        pace.looked(group, LARGE, at(0));
        assert!(pace.may_look(group), "it is small");
        pace.looked(group, LARGE + 1, at(0));
        assert_eq!(pace.next_wake(), Some(at(100)));
        assert_eq!(pace.take_due(at(100)), [], "nobody asked");
        assert_eq!(pace.next_wake(), None);
        pace.looked(group, LARGE + 1, at(200));
        assert!(!pace.is_asked(group));
        assert!(!pace.may_look(group) && !pace.may_look(group));
        assert!(pace.is_asked(group));
        assert_eq!(pace.take_due(at(299)), []);
        assert_eq!(pace.take_due(at(300)), [group]);
        assert!(pace.may_look(group) && !pace.is_asked(group));
    }

    #[test]
    fn groups_rest_longer_the_more_pods_they_have_together() {
        let group = |text: &str| GroupId::parse(text).expect("a group");
        let (first, second) = (group("00000000000000a1"), group("00000000000000a2"));
        for (pods, millis) in [(2_000, 100), (4_000, 200), (20_000, 1_000)] {
            let mut pace = GroupPace::default();
            pace.looked(first, pods, at(0));
            assert_eq!(pace.next_wake(), Some(at(millis)), "{pods} pods");
            pace.looked(second, pods, at(0));
            pace.looked(first, pods, at(0));
            assert_eq!(pace.next_wake(), Some(at(2 * millis)), "twice {pods} pods");
        }
    }
}
