//! Counts that rules keep on one node.

use super::problem::{Membership, NodeRule};

/// The rules that concern what a node holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct RuleCounts {
    /// By ascending rule.
    entries: Vec<RuleCount>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct RuleCount {
    rule: usize,
    counted: u32,
    owned: bool,
}

impl RuleCounts {
    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        self.entries.clear();
    }

    /// How many more units of a class with these memberships the node may hold.
    pub(super) fn room_for(&self, rules: &[NodeRule], memberships: &[Membership]) -> u32 {
        let room = |membership: &Membership| {
            let (counted, owned) = match self.find(membership.rule) {
                Ok(at) => (self.entries[at].counted, self.entries[at].owned),
                Err(_) => (0, false),
            };
            if !owned && !membership.owner {
                return u32::MAX;
            }
            match rules[membership.rule].limit.checked_sub(counted) {
                None => 0,
                Some(left) => left.checked_div(membership.counted).unwrap_or(u32::MAX),
            }
        };
        memberships.iter().map(room).min().unwrap_or(u32::MAX)
    }

    /// Counts `units` more of a class with these memberships.
    pub(super) fn add(&mut self, memberships: &[Membership], units: u32) {
        for membership in memberships {
            let at = self.find(membership.rule).unwrap_or_else(|at| {
                let entry = RuleCount {
                    rule: membership.rule,
                    counted: 0,
                    owned: false,
                };
                self.entries.insert(at, entry);
                at
            });
            let entry = &mut self.entries[at];
            let counted = membership.counted.saturating_mul(units);
            entry.counted = entry.counted.saturating_add(counted);
            entry.owned |= membership.owner;
        }
    }

    fn find(&self, rule: usize) -> Result<usize, usize> {
        self.entries.binary_search_by_key(&rule, |entry| entry.rule)
    }
}
