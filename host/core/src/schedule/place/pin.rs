//! Narrowing what a new node may become to what topology must know of it: one domain for every key that matters to a pod,
//! and one side of every node filter that decides whether the pod counts.

use super::super::compile::PodGroup;
use super::super::sets::SetId;
use super::super::topology::{Allowed, Rule};
use super::Placer;

impl Placer<'_, '_> {
    /// Narrows a set to one domain for every key that matters to the pod, and keeps room for `used`.
    pub(super) fn pin(
        &mut self,
        group: &PodGroup,
        level: usize,
        set: SetId,
        allowed: &[Allowed],
        used: &[i64],
    ) -> Option<SetId> {
        let pinned = match allowed.split_first() {
            None => set,
            Some((first, rest)) => self.pin_key(group, level, set, first, rest, used)?,
        };
        Some(self.settle(group, pinned, used))
    }

    /// Decides for every group that counts the pod whether it will: a node that could still turn out on either side of the
    /// group's node filter goes to the cheaper side; where limits were found to bind, rather to one that they leave alone.
    fn settle(&mut self, group: &PodGroup, set: SetId, used: &[i64]) -> SetId {
        let model = &self.compiled.model;
        let filters = group.selected.iter().filter_map(|selecting| {
            let found = &model.groups[*selecting];
            found
                .rows
                .as_ref()
                .filter(|_| found.identity.rule != Rule::Inverse)
        });
        let mut settled = set;
        for counted in filters {
            let rows = self.sets.bits(settled);
            if !rows.meets(counted) || rows.is_within(counted) {
                continue;
            }
            let inside = rows.and(counted);
            let mut outside = rows.clone();
            outside.drop_all(counted);
            let mut sides = Vec::with_capacity(2);
            for side in [inside, outside] {
                if let Some(side) = self.sets.intern(side)
                    && self.sets.has_room(self.compiled, side, used)
                {
                    let price = self.sets.cheapest(self.prices, side);
                    let limited = self.manner.wary && self.is_limited(side);
                    sides.push(((limited, price), side));
                }
            }
            self.has_settled |= sides.len() > 1;
            if let Some((_, side)) = sides.into_iter().min_by_key(|(order, _)| *order) {
                settled = side;
            }
        }
        settled
    }

    /// Whether every row of a set counts against some limit.
    fn is_limited(&self, set: SetId) -> bool {
        let compiled = self.compiled;
        self.sets.bits(set).iter().all(|row| {
            let template = compiled.rows.rows[row].template;
            compiled.templates[template].remaining.is_some()
        })
    }

    fn pin_key(
        &mut self,
        group: &PodGroup,
        level: usize,
        set: SetId,
        allowed: &Allowed,
        rest: &[Allowed],
        used: &[i64],
    ) -> Option<SetId> {
        let key = allowed.key;
        let view = group.view(level);
        let mut choices = Vec::new();
        for domain in allowed.domains.iter() {
            if let Some(narrowed) = self.in_domain(set, key, domain)
                && self.sets.has_room(self.compiled, narrowed, used)
            {
                let crowd = self.counts.crowd(&self.compiled.model, view, key, domain);
                let price = self.sets.cheapest(self.prices, narrowed);
                choices.push((
                    self.manner.thrifty.then_some(price),
                    crowd,
                    price,
                    // Among equals the scarcer domain, which leaves later pods more to choose from.
                    self.sets.bits(narrowed).len(),
                    domain,
                    narrowed,
                ));
            }
        }
        choices.sort_unstable();
        let mut narrowed = choices
            .into_iter()
            .map(|(_, _, _, _, _, narrowed)| narrowed)
            .collect::<Vec<_>>();
        if narrowed.is_empty() && !allowed.required && !self.has_domain(set, key) {
            narrowed.push(set);
        }
        narrowed
            .into_iter()
            .find_map(|narrowed| match rest.split_first() {
                None => Some(narrowed),
                Some((next, rest)) => self.pin_key(group, level, narrowed, next, rest, used),
            })
    }

    /// Whether any row of a set lies in some domain of a key.
    fn has_domain(&self, set: SetId, key: usize) -> bool {
        let bits = self.sets.bits(set);
        self.compiled.model.keys[key]
            .rows
            .iter()
            .any(|rows| rows.meets(bits))
    }

    /// What of a set lies in a domain; `None` when nothing does.
    pub(super) fn in_domain(&mut self, set: SetId, key: usize, domain: usize) -> Option<SetId> {
        let of_domain = self.domains[key][domain]?;
        self.sets.join(set, of_domain)
    }
}
