//! Promises whose time is over while pods may still wait for them.

use plimsoll_base::time::{Span, Timestamp};
use plimsoll_cluster::{NOMINATION_WINDOW, PromisedTarget, node_of};

use super::Engine;

/// A promise that holds no longer than this has held for half of its time on a node that can be used.
const DOUBTFUL: Span = Span::from_millis(NOMINATION_WINDOW.millis() / 2);

impl Engine {
    /// Sets down when a target's promises lapse.
    pub(super) fn plan_lapse(&mut self, target: &PromisedTarget) {
        let until = self
            .promises
            .hold_until(target, &self.cluster, &self.expected);
        if let Some(at) = until {
            let targets = self.nominations.lapses.entry(at).or_default();
            targets.insert(target.clone());
        }
    }

    /// Drops promises whose time is over.
    pub(super) fn lapse_promises(&mut self, now: Timestamp) {
        let (mut ended, mut was_waited_for) = (false, false);
        while let Some(entry) = self.nominations.lapses.first_entry() {
            if *entry.key() > now {
                break;
            }
            for target in entry.remove() {
                let until = self
                    .promises
                    .hold_until(&target, &self.cluster, &self.expected);
                let until = match until {
                    Some(at) if self.is_kept(&target) => Some(at.max(now + NOMINATION_WINDOW)),
                    until => until,
                };
                match until {
                    Some(at) if at > now => {
                        let targets = self.nominations.lapses.entry(at).or_default();
                        targets.insert(target);
                    }
                    Some(_) => {
                        was_waited_for |= self.is_waited_for(&target);
                        self.end_promises(&target, now);
                        ended = true;
                    }
                    None => {}
                }
            }
        }
        if was_waited_for {
            self.end_doubtful_promises(now);
        }
        if ended {
            self.trigger_all(now);
        }
    }

    /// Ends promises that pods have waited for in vain for half of their time, on nodes that can be used. Who was promised a place where
    /// the scheduler will not have it is planned anew together with all of whom that may be true: as long as they asked one by one, each
    /// would count on the others where none of them can be.
    fn end_doubtful_promises(&mut self, now: Timestamp) {
        for target in self.promises.targets() {
            let until = self
                .promises
                .hold_until(&target, &self.cluster, &self.expected);
            let is_doubtful = until.is_some_and(|until| until <= now + DOUBTFUL)
                && self.is_waited_for(&target)
                && !self.is_kept(&target);
            if is_doubtful {
                self.end_promises(&target, now);
            }
        }
    }

    /// `true` if pods wait for a place on a target.
    fn is_waited_for(&self, target: &PromisedTarget) -> bool {
        let mut groups = self.promises.groups_on(target).into_iter();
        groups.any(|group| self.open_places(target, group).is_some())
    }

    /// `true` if a command waits for pods on a target that is there and stays.
    pub(super) fn is_kept(&self, target: &PromisedTarget) -> bool {
        if !self.queue.keeps(target) {
            return false;
        }
        let node = node_of(target, &self.cluster).and_then(|node| self.cluster.nodes.get(&node));
        let stays = match target {
            PromisedTarget::Claim(name) => {
                (self.cluster.claims.get(name)).is_some_and(|claim| claim.deleting.is_none())
            }
            PromisedTarget::Node(_) => true,
        };
        stays && node.is_some_and(|node| node.deleting.is_none())
    }

    fn end_promises(&mut self, target: &PromisedTarget, now: Timestamp) {
        self.note_undersized(target, now);
        self.drop_promises(target);
        if let PromisedTarget::Claim(name) = target {
            self.dirty_claims.insert(name.clone());
            // What was kept for pods on their way may go now, though nothing else has changed.
            self.disruption.forget_last_pass();
        }
    }

    /// Pods that stood for the promises are looked at again: others of their group may still be good, or they ask anew.
    pub(super) fn drop_promises(&mut self, target: &PromisedTarget) {
        let groups = self.promises.drop_target(target);
        self.dirty_groups.extend(groups.iter().copied());
        self.orphaned_groups.extend(groups);
    }
}
