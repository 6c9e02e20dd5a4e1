//! The pace at which large groups of pods are looked at. What happens to one pod of a group looks at all that wait with it, and pods of
//! a group come and go together: one look at all of them costs hardly more than one at each.

use std::collections::{BTreeMap, BTreeSet};

use crate::state::GroupId;
use crate::time::{Span, Timestamp};

/// A group of more waiting pods than this is large.
const LARGE: usize = 50;
/// Time from a look at a large group to the next for its pods' sake.
const REST: Span = Span::from_millis(100);

/// Groups that rest.
#[derive(Clone, Debug, Default)]
pub(super) struct GroupPace {
    /// Until when each rests, and whether it is to be looked at then.
    resting: BTreeMap<GroupId, (Timestamp, bool)>,
    /// The same groups by when their rest is over.
    timers: BTreeSet<(Timestamp, GroupId)>,
}

impl GroupPace {
    /// `true` if a group may be looked at now; one that rests is looked at once its rest is over.
    pub(super) fn may_look(&mut self, group: GroupId) -> bool {
        match self.resting.get_mut(&group) {
            None => true,
            Some((_, asked)) => {
                *asked = true;
                false
            }
        }
    }

    /// A group of so many waiting pods has been looked at.
    pub(super) fn looked(&mut self, group: GroupId, pods: usize, now: Timestamp) {
        if let Some((until, _)) = self.resting.remove(&group) {
            self.timers.remove(&(until, group));
        }
        if pods > LARGE {
            self.resting.insert(group, (now + REST, false));
            self.timers.insert((now + REST, group));
        }
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
            if let Some((_, true)) = self.resting.remove(&group) {
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
        assert!(!pace.may_look(group) && !pace.may_look(group));
        assert_eq!(pace.take_due(at(299)), []);
        assert_eq!(pace.take_due(at(300)), [group]);
        assert!(pace.may_look(group));
    }
}
