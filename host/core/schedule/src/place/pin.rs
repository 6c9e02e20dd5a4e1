//! Narrowing what a new node may become to what topology must know of it: one domain for every key that matters to a pod,
//! and one side of every node filter that decides whether the pod counts.
//!
//! Choices are tried best first until one leaves enough values for the node's minimum. Where limits were found to bind,
//! places that they leave alone come first: a limit of one pool must not drive pods past others of its weight.

use std::cell::Cell;

use plimsoll_base::bits::Bits;

use super::super::topology::{Allowed, TopologyRule};
use super::Placer;
use crate::batch::compile::Compiled;
use crate::batch::pod_group::PodGroup;
use crate::batch::sets::SetId;

/// A pod about to be put on a new node.
pub(super) struct Guest<'a> {
    pub(super) group: &'a PodGroup,
    /// Its step of relaxation.
    pub(super) level: usize,
    /// Amounts per axis that the node must hold, the pod's among them.
    pub(super) used: &'a [i64],
    /// `true` if so narrow a node leaves enough values to choose from.
    pub(super) is_broad: &'a dyn Fn(&Bits) -> bool,
    /// How many more ways of narrowing are tried: begins at [`MOST_TRIES`].
    pub(super) tries: Cell<u32>,
}

/// Ways of narrowing that are tried for one node. They multiply with every key and node filter; where so many of the best
/// leave too few values, the pod is taken to find no place there.
pub(super) const MOST_TRIES: u32 = 64;

impl Placer<'_, '_> {
    /// Narrows a set to one domain for every key that matters to the pod, and keeps room for all that it must hold.
    pub(super) fn pin(
        &mut self,
        guest: &Guest<'_>,
        set: SetId,
        allowed: &[Allowed],
    ) -> Option<SetId> {
        if guest.tries.get() == 0 {
            return None;
        }
        let Some((first, rest)) = allowed.split_first() else {
            return self.settle(guest, set, &guest.group.selected);
        };
        let domains = self.domains_for(guest, set, first);
        let pinned = domains
            .into_iter()
            .find_map(|narrowed| self.pin(guest, narrowed, rest));
        pinned.or_else(|| {
            // A pool may want more to choose from than any one domain has. Where no more than wishes count the domains, the node may
            // lie in each that is open.
            let open = self.in_any(guest, set, first)?;
            self.pin(guest, open, rest)
        })
    }

    /// Rows of a set in all open domains of a key, and in none where that is open; `None` where one domain has them all, or where
    /// some pod requires that its domain be known.
    fn in_any(&mut self, guest: &Guest<'_>, set: SetId, allowed: &Allowed) -> Option<SetId> {
        let model = &self.compiled.model;
        let counts = |group: &usize| {
            model.groups[*group].identity.key == allowed.key && self.required.contains(*group)
        };
        let owned = &guest.group.levels[guest.level].owned;
        let mut counting = owned
            .iter()
            .chain(&guest.group.selected)
            .chain(&guest.group.inverse);
        if counting.any(counts) {
            return None;
        }
        let outside = self.compiled.model.keys[allowed.key].values.len();
        let outside = (!allowed.required).then_some(outside);
        let domains = allowed.domains.iter().chain(outside);
        let parts: Vec<SetId> = domains
            .filter_map(|domain| self.in_domain(set, allowed.key, domain))
            .collect();
        if parts.len() < 2 {
            return None;
        }
        let mut rows = Bits::none(self.compiled.rows.len());
        for part in parts {
            rows.join(self.sets.bits(part));
        }
        self.sets.intern(rows)
    }

    /// Rows of a set in each open domain of a key that has room, best domain first.
    fn domains_for(&mut self, guest: &Guest<'_>, set: SetId, allowed: &Allowed) -> Vec<SetId> {
        let key = allowed.key;
        let view = guest.group.view(guest.level);
        let mut choices = Vec::new();
        for domain in allowed.domains.iter() {
            if let Some(narrowed) = self.in_domain(set, key, domain)
                && self.sets.has_room(self.compiled, narrowed, guest.used)
            {
                let crowd = self.counts.crowd(&self.compiled.model, view, key, domain);
                let price = self.sets.cheapest(self.prices, narrowed);
                choices.push((
                    self.strategy.avoids_limited_pools && self.is_limited(narrowed),
                    self.strategy.prefers_cheap_domains.then_some(price),
                    crowd,
                    price,
                    // Among equals the scarcer domain, which leaves later pods more to choose from.
                    self.sets.bits(narrowed).len(),
                    domain,
                    narrowed,
                ));
            }
        }
        self.had_choice |= choices.len() > 1;
        choices.sort_unstable();
        let mut narrowed: Vec<SetId> = choices.into_iter().map(|(.., set)| set).collect();
        if narrowed.is_empty() && !allowed.required {
            let outside = self.compiled.model.keys[key].values.len();
            narrowed.extend(self.in_domain(set, key, outside));
        }
        narrowed
    }

    /// Decides for every group that counts the pod whether it will: a node that could still turn out on either side of the
    /// group's node filter goes to the cheaper side that will do, and is left undecided only where neither does.
    fn settle(&mut self, guest: &Guest<'_>, set: SetId, selecting: &[usize]) -> Option<SetId> {
        let left = guest.tries.get().checked_sub(1)?;
        let Some((first, rest)) = selecting.split_first() else {
            guest.tries.set(left);
            return (guest.is_broad)(self.sets.bits(set)).then_some(set);
        };
        let group = &self.compiled.model.groups[*first];
        let rows = self.sets.bits(set);
        let undecided = |counted: &&Bits| rows.meets(counted) && !rows.is_within(counted);
        let counted = group.rows.as_ref().filter(undecided);
        let Some(counted) = counted.filter(|_| group.identity.rule != TopologyRule::Inverse) else {
            return self.settle(guest, set, rest);
        };
        let inside = rows.and(counted);
        let mut outside = rows.clone();
        outside.drop_all(counted);
        let mut sides = Vec::with_capacity(2);
        for side in [inside, outside] {
            if let Some(side) = self.sets.intern(side)
                && self.sets.has_room(self.compiled, side, guest.used)
            {
                let price = self.sets.cheapest(self.prices, side);
                let limited = self.strategy.avoids_limited_pools && self.is_limited(side);
                sides.push(((limited, price), side));
            }
        }
        self.had_choice |= sides.len() > 1;
        sides.sort_by_key(|(order, _)| *order);
        let settled = sides
            .into_iter()
            .find_map(|(_, side)| self.settle(guest, side, rest));
        settled.or_else(|| self.settle(guest, set, rest))
    }

    /// `true` if every row of a set counts against some limit.
    fn is_limited(&self, set: SetId) -> bool {
        let compiled = self.compiled;
        self.sets.bits(set).iter().all(|row| {
            let template = compiled.rows.rows[row].template;
            compiled.templates[template].remaining.is_some()
        })
    }

    /// Rows of a set that lie in a domain, or, for the number after the last one, in none; `None` where there are none.
    pub(super) fn in_domain(&mut self, set: SetId, key: usize, domain: usize) -> Option<SetId> {
        let of_domain = self.domains[key][domain]?;
        self.sets.join(set, of_domain)
    }
}

/// Topology groups that some pod of the batch, or one that runs, requires.
pub(super) fn required_groups(compiled: &Compiled<'_>) -> Bits {
    let last = compiled.groups.iter().flat_map(PodGroup::last_levels);
    let owned = last.flat_map(|level| level.owned.iter().copied());
    let groups = 0..compiled.model.groups.len();
    let inverse = groups.filter(|group| compiled.model.is_inverse(*group));
    owned.chain(inverse).collect()
}
