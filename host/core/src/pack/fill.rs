//! Fills one empty node by value: what is worth most for the room it takes comes first.
//!
//! Room counts by what is left of it, so that axes run out together. Of lots that are equally good for the room the larger
//! comes first: small things fit later too. Within a lot the class under the strictest rules that still obeys comes first.

use super::counts::RuleCounts;
use super::model::Model;
use super::worth::Worth;
use crate::bits::Bits;

/// Fills nodes from what is left of the demand.
pub(super) struct Filler<'m, 'p> {
    model: &'m Model<'p>,
    /// Per item: units not yet placed.
    left: Vec<u32>,
    /// Per lot: classes of which units are left.
    present: Vec<Bits>,
    /// Lots with anything left, ascending.
    open: Vec<usize>,
    /// Classes that rules still admit to the node at hand.
    admitted: Bits,
    counts: RuleCounts,
}

/// What a node was filled with.
#[derive(Clone, Debug, Default)]
pub(super) struct Filled {
    /// Items with how many of each, each item once.
    pub(super) load: Vec<(usize, u32)>,
    /// What all of it is worth.
    pub(super) worth: f64,
}

impl<'m, 'p> Filler<'m, 'p> {
    /// With `left` units of each item still to be placed.
    pub(super) fn new(model: &'m Model<'p>, left: Vec<u32>) -> Self {
        let mut present = vec![Bits::none(model.classes.len()); model.lots.len()];
        for (item, &left) in model.items.iter().zip(&left).filter(|(_, left)| **left > 0) {
            let _ = left;
            present[item.lot].insert(item.class);
        }
        let open = (0..model.lots.len()).filter(|&lot| !present[lot].is_empty());
        Self {
            open: open.collect(),
            model,
            left,
            present,
            admitted: Bits::all(model.classes.len()),
            counts: RuleCounts::default(),
        }
    }

    /// Units not yet placed, per item.
    pub(super) fn left(&self) -> &[u32] {
        &self.left
    }

    /// Units not yet placed, per item; gives the filler up.
    pub(super) fn into_left(self) -> Vec<u32> {
        self.left
    }

    /// Whether nothing is left.
    pub(super) fn is_done(&self) -> bool {
        self.open.is_empty()
    }

    /// Fills an empty node of a kind; what it takes is still left afterwards.
    pub(super) fn try_fill(&mut self, kind: usize, worth: &Worth, taste: Taste) -> Filled {
        let model = self.model;
        let mut room: Vec<i64> = model.kinds[kind].capacity.to_vec();
        self.counts.clear();
        self.admitted = Bits::all(model.classes.len());
        let sets = &model.kinds[kind].sets;
        let mut open: Vec<usize> = self
            .open
            .iter()
            .copied()
            .filter(|&lot| sets.contains(model.lots[lot].set))
            .collect();
        let mut filled = Filled::default();
        while let Some((lot, class)) = self.best_lot(&mut open, &room, worth, taste) {
            let units = self.put(lot, class, &mut room, &mut filled);
            filled.worth += f64::from(units) * (worth.of_lot[lot] + worth.of_class[class]);
        }
        for &(item, units) in &filled.load {
            self.return_units(item, units);
        }
        filled.load.sort_unstable();
        let mut merged: Vec<(usize, u32)> = Vec::with_capacity(filled.load.len());
        for &(item, units) in &filled.load {
            match merged.last_mut() {
                Some((last, count)) if *last == item => *count += units,
                _ => merged.push((item, units)),
            }
        }
        filled.load = merged;
        filled
    }

    /// Takes what `times` nodes with this load hold.
    pub(super) fn take(&mut self, load: &[(usize, u32)], times: u32) {
        for &(item, units) in load {
            self.take_units(item, units * times);
        }
        self.open.retain(|&lot| !self.present[lot].is_empty());
    }

    /// The best lot that fits, with the class to take from it. Lots that cannot be used any more are dropped from `open`.
    fn best_lot(
        &self,
        open: &mut Vec<usize>,
        room: &[i64],
        worth: &Worth,
        taste: Taste,
    ) -> Option<(usize, usize)> {
        let inverse: Vec<f64> = room
            .iter()
            .map(|&left| 1.0 / (left.max(1) as f64))
            .collect();
        let mut best: Option<(f64, usize, usize)> = None;
        open.retain(|&lot| {
            let request = &self.model.lots[lot].request;
            let mut share = 0.0;
            for ((&ask, &have), inverse) in request.iter().zip(room).zip(&inverse) {
                if ask > have {
                    return false;
                }
                share += ask as f64 * inverse;
            }
            let Some(class) = self.present[lot].first_in_both(&self.admitted) else {
                return false;
            };
            let value = worth.of_lot[lot] + worth.of_class[class];
            let score = taste.score(value, share);
            if best.is_none_or(|(most, _, _)| score > most) {
                best = Some((score, lot, class));
            }
            true
        });
        best.map(|(_, lot, class)| (lot, class))
    }

    /// Puts units of a lot's class onto the node at hand; returns how many.
    fn put(&mut self, lot: usize, class: usize, room: &mut [i64], filled: &mut Filled) -> u32 {
        let model = self.model;
        let item = model
            .item_of(lot, class)
            .expect("a present class has an item in its lot");
        let request = &model.lots[lot].request;
        let memberships = model.classes[class].memberships;
        let most = self.left[item].min(self.counts.room_for(&model.problem.rules, memberships));
        if most == 0 {
            self.admitted.remove(class);
            return 0;
        }
        let fitting = request
            .iter()
            .zip(room.iter())
            .filter(|(ask, _)| **ask > 0)
            .map(|(ask, have)| have / ask)
            .min()
            .unwrap_or(i64::MAX);
        // A node that holds hundreds is filled in larger steps; the balance of axes is no worse for it.
        let step = u32::try_from(fitting / 64).unwrap_or(u32::MAX).max(1);
        let units = most.min(step);
        for (have, ask) in room.iter_mut().zip(request) {
            *have -= ask * i64::from(units);
        }
        filled.load.push((item, units));
        self.take_units(item, units);
        if !memberships.is_empty() {
            self.counts.add(memberships, units);
            self.readmit(memberships);
        }
        units
    }

    /// Renews which classes the rules of `memberships` admit.
    fn readmit(&mut self, memberships: &[super::problem::Membership]) {
        let model = self.model;
        for membership in memberships {
            for &class in &model.classes_of_rule[membership.rule] {
                let others = model.classes[class].memberships;
                if self.counts.room_for(&model.problem.rules, others) == 0 {
                    self.admitted.remove(class);
                }
            }
        }
    }

    fn take_units(&mut self, item: usize, units: u32) {
        self.left[item] -= units;
        if self.left[item] == 0 {
            let it = &self.model.items[item];
            self.present[it.lot].remove(it.class);
        }
    }

    fn return_units(&mut self, item: usize, units: u32) {
        self.left[item] += units;
        let it = &self.model.items[item];
        self.present[it.lot].insert(it.class);
    }
}

/// How much size counts when lots are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Taste {
    /// Value for the share of room taken; size does not count.
    Density,
    /// Between the two others.
    Between,
    /// Value for the share of room taken, times value: the large first.
    Large,
}

impl Taste {
    fn score(self, value: f64, share: f64) -> f64 {
        let density = value / share.max(1e-12);
        match self {
            Self::Density => density,
            Self::Between => density * value.sqrt(),
            Self::Large => density * value,
        }
    }
}
