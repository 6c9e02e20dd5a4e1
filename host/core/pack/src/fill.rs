//! Fills one empty node by value: what is worth most for the room it takes comes first, then loads are exchanged.
//!
//! Room counts by what is left of it, so that axes run out together. Of lots that are equally good for the room the larger
//! may come first: small things fit later too. Within a lot the class under the strictest rules that still obeys comes first.

use plimsoll_base::bits::Bits;

use super::counts::RuleCounts;
use super::model::Model;
use super::problem::Membership;
use super::worth::Values;

/// Fills nodes from what is left of the demand.
pub(super) struct Filler<'m, 'p> {
    pub(super) model: &'m Model<'p>,
    /// Per item: units not yet placed.
    left: Vec<u32>,
    /// Per lot: classes of which units are left.
    present: Vec<Bits>,
    /// Lots with anything left, ascending.
    open: Vec<usize>,
    /// Classes that no rule concerns.
    free: Bits,
    /// The node at hand.
    pub(super) node: PackedNode,
}

/// A node being filled.
#[derive(Default)]
pub(super) struct PackedNode {
    /// Room left on it, per axis.
    pub(super) room: Vec<i64>,
    /// Items on it.
    pub(super) load: Vec<Portion>,
    /// Lots that may still fit, ascending.
    open: Vec<usize>,
    /// Classes that rules still admit.
    admitted: Bits,
    counts: RuleCounts,
    inverse: Vec<f64>,
    /// The share of what is left of an item that the node may take, though always one unit.
    share: f64,
}

/// Units of one item on a node.
#[derive(Clone, Copy)]
pub(super) struct Portion {
    pub(super) lot: usize,
    pub(super) class: usize,
    pub(super) item: usize,
    pub(super) units: u32,
}

/// Load of a node that has been filled.
#[derive(Clone, Debug, Default)]
pub(super) struct Filled {
    /// Items with how many of each, each item once, ascending.
    pub(super) load: Vec<(usize, u32)>,
    /// Worth of the whole load.
    pub(super) worth: f64,
}

impl<'m, 'p> Filler<'m, 'p> {
    /// With `left` units of each item still to be placed.
    pub(super) fn new(model: &'m Model<'p>, left: Vec<u32>) -> Self {
        let classes = model.classes.len();
        let mut free = Bits::none(classes);
        for (class, it) in model.classes.iter().enumerate() {
            if it.memberships.is_empty() {
                free.insert(class);
            }
        }
        let mut filler = Self {
            model,
            left: Vec::new(),
            present: vec![Bits::none(classes); model.lots.len()],
            open: Vec::new(),
            free,
            node: PackedNode::default(),
        };
        filler.restart(left);
        filler
    }

    /// Starts again with `left` units of each item.
    pub(super) fn restart(&mut self, left: Vec<u32>) {
        for (item, &left) in self.model.items.iter().zip(&left) {
            if left > 0 {
                self.present[item.lot].insert(item.class);
            } else {
                self.present[item.lot].remove(item.class);
            }
        }
        self.left = left;
        let lots = 0..self.model.lots.len();
        self.open = lots.filter(|&lot| !self.present[lot].is_empty()).collect();
    }

    /// Units not yet placed, per item.
    pub(super) fn left(&self) -> &[u32] {
        &self.left
    }

    /// Units not yet placed, per item; gives the filler up.
    pub(super) fn into_left(self) -> Vec<u32> {
        self.left
    }

    /// `true` if nothing is left.
    pub(super) fn is_done(&self) -> bool {
        self.open.is_empty()
    }

    /// Fills an empty node of a kind; what it takes is still left afterwards.
    ///
    /// Up to `share` of each item is taken first, and more only where room is left: who takes the best for the first nodes
    /// is left with what does not go together.
    pub(super) fn try_fill(
        &mut self,
        kind: usize,
        values: &Values,
        taste: Taste,
        share: f64,
    ) -> Filled {
        self.start(kind, share);
        self.top_up(values, taste);
        if share < 1.0 {
            self.node.share = 1.0;
            for entry in &self.node.load {
                if self.left[entry.item] > 0 {
                    self.present[entry.lot].insert(entry.class);
                }
            }
            self.top_up(values, taste);
        }
        self.exchange(values, taste);
        self.finish(values)
    }

    /// Takes what `times` nodes with this load hold.
    pub(super) fn take(&mut self, load: &[(usize, u32)], times: u32) {
        for &(item, units) in load {
            self.take_units(item, units * times);
        }
        self.open.retain(|&lot| !self.present[lot].is_empty());
    }

    fn start(&mut self, kind: usize, share: f64) {
        let model = self.model;
        let node = &mut self.node;
        node.room.clear();
        node.room.extend_from_slice(&model.kinds[kind].capacity);
        node.share = share;
        node.load.clear();
        node.counts.clear();
        node.admitted = Bits::all(model.classes.len());
        let sets = &model.kinds[kind].sets;
        node.open.clear();
        let usable = |lot: &usize| sets.contains(model.lots[*lot].set);
        node.open.extend(self.open.iter().copied().filter(usable));
    }

    /// Puts on what fits, best first, until nothing does.
    fn top_up(&mut self, values: &Values, taste: Taste) {
        let mut open = std::mem::take(&mut self.node.open);
        let whole = open.clone();
        while let Some((lot, class)) = self.best_lot(&mut open, values, taste) {
            self.put(lot, class);
        }
        self.node.open = whole;
    }

    /// Load of the node; its units return to those left.
    fn finish(&mut self, values: &Values) -> Filled {
        let mut filled = Filled::default();
        let load = std::mem::take(&mut self.node.load);
        for entry in &load {
            let value = values.of(self.model, entry.lot, entry.class);
            filled.worth += f64::from(entry.units) * value;
            filled.load.push((entry.item, entry.units));
            self.return_units(entry.item, entry.units);
        }
        self.node.load = load;
        filled.load.sort_unstable();
        filled
    }

    /// The best lot that fits, with the class to take from it. Lots that do not fit are dropped from `open`.
    fn best_lot(
        &mut self,
        open: &mut Vec<usize>,
        values: &Values,
        taste: Taste,
    ) -> Option<(usize, usize)> {
        let node = &mut self.node;
        node.inverse.clear();
        let inverse = node.room.iter().map(|&left| 1.0 / (left.max(1) as f64));
        node.inverse.extend(inverse);
        let mut best: Option<(f64, usize, usize)> = None;
        open.retain(|&lot| {
            let request = &self.model.lots[lot].request;
            let mut share = 0.0;
            for ((&ask, &have), inverse) in request.iter().zip(&node.room).zip(&node.inverse) {
                if ask > have {
                    return false;
                }
                share += ask as f64 * inverse;
            }
            let Some(class) = self.present[lot].first_in_both(&node.admitted) else {
                return false;
            };
            let score = taste.score(values.of(self.model, lot, class), share);
            if best.is_none_or(|(most, _, _)| score > most) {
                best = Some((score, lot, class));
            }
            true
        });
        best.map(|(_, lot, class)| (lot, class))
    }

    /// Puts units of a lot's class onto the node, or finds that rules do not admit the class any more.
    fn put(&mut self, lot: usize, class: usize) {
        let model = self.model;
        let memberships = model.classes[class].memberships;
        let admitted = self.node.counts.room_for(&model.problem.rules, memberships);
        if admitted == 0 {
            self.node.admitted.remove(class);
            return;
        }
        let item = model
            .item_of(lot, class)
            .expect("a present class has an item in its lot");
        let request = &model.lots[lot].request;
        let axes = request.iter().zip(&self.node.room);
        let fitting = axes
            .filter(|(ask, _)| **ask > 0)
            .map(|(ask, have)| have / ask);
        // A node that holds hundreds is filled in larger steps; the balance of axes is no worse for it.
        let step = u32::try_from(fitting.min().unwrap_or(i64::MAX) / 64);
        let step = step.unwrap_or(u32::MAX).max(1);
        let units = step.min(self.left[item]).min(admitted);
        let fair = fair(self.left[item], self.node.share);
        self.add(lot, class, item, units.min(fair));
    }

    /// Adds units that are known to fit and to obey.
    pub(super) fn add(&mut self, lot: usize, class: usize, item: usize, units: u32) {
        let model = self.model;
        let node = &mut self.node;
        for (have, ask) in node.room.iter_mut().zip(&model.lots[lot].request) {
            *have -= ask * i64::from(units);
        }
        match node.load.iter_mut().find(|entry| entry.item == item) {
            Some(entry) => entry.units += units,
            None => node.load.push(Portion {
                lot,
                class,
                item,
                units,
            }),
        }
        let memberships = model.classes[class].memberships;
        if !memberships.is_empty() {
            node.counts.add(memberships, units);
            self.readmit(memberships);
        }
        self.take_units(item, units);
        self.close_when_fair(item);
    }

    /// Puts one unit of `item` in the place of one unit of entry `at`; rules count the same before and after.
    pub(super) fn replace(&mut self, at: usize, lot: usize, class: usize, item: usize) {
        let model = self.model;
        let node = &mut self.node;
        let entry = &mut node.load[at];
        let gone = entry.item;
        entry.units -= 1;
        if entry.units == 0 {
            node.load.remove(at);
        }
        let requests = model.request(gone).iter().zip(model.request(item));
        for (have, (given, ask)) in node.room.iter_mut().zip(requests) {
            *have += given - ask;
        }
        match node.load.iter_mut().find(|entry| entry.item == item) {
            Some(entry) => entry.units += 1,
            None => node.load.push(Portion {
                lot,
                class,
                item,
                units: 1,
            }),
        }
        self.return_units(gone, 1);
        self.take_units(item, 1);
        self.close_when_fair(item);
    }

    /// Takes no more of an item of which the node has its share.
    fn close_when_fair(&mut self, item: usize) {
        if self.node.share < 1.0 {
            let entry = self.node.load.iter().find(|entry| entry.item == item);
            let taken = entry.map_or(0, |entry| entry.units);
            if taken >= fair(self.left[item].saturating_add(taken), self.node.share) {
                let it = &self.model.items[item];
                self.present[it.lot].remove(it.class);
            }
        }
    }

    /// The class of `lot` that may take the place of one unit of `class` whatever the rules: the same, or of free ones a free one.
    pub(super) fn stand_in(&self, class: usize, lot: usize) -> Option<usize> {
        if self.free.contains(class) {
            self.present[lot].first_in_both(&self.free)
        } else {
            self.present[lot].contains(class).then_some(class)
        }
    }

    /// Lots of which something is left and that may use the node.
    pub(super) fn usable_lots(&self) -> &[usize] {
        &self.node.open
    }

    /// Renews which classes the rules of `memberships` admit.
    fn readmit(&mut self, memberships: &[Membership]) {
        let model = self.model;
        for membership in memberships {
            for &class in &model.classes_of_rule[membership.rule] {
                let others = model.classes[class].memberships;
                if self.node.counts.room_for(&model.problem.rules, others) == 0 {
                    self.node.admitted.remove(class);
                }
            }
        }
    }

    fn exchange(&mut self, values: &Values, taste: Taste) {
        let mut rounds = 24;
        while rounds > 0 && super::exchange::improve(self, values) {
            self.top_up(values, taste);
            rounds -= 1;
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

/// A share of what is left, at least one unit.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a share of a u32 is one"
)]
fn fair(left: u32, share: f64) -> u32 {
    ((f64::from(left) * share.clamp(0.0, 1.0)) as u32).max(1)
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
