//! Columns: which loads to buy how often, as a linear programme over whole loads.
//!
//! Where pods are large against nodes, what the aggregate programme values cannot be filled. Here a row is an item and a column a
//! load that a node of some kind really holds, so values say how hard items are to place together. Columns come from fleets
//! found before and from filling nodes by the values of the last solution. Whole parts of the solution are bought, the rest is
//! solved again, and after each step the greedy finishes what is left: the best of these fleets is the answer.

use std::collections::BTreeSet;

use super::basis::{Basis, LpColumn, NO_TAG};
use super::fill::{Filler, Taste};
use super::fleet::{PackedFleet, PackedGroup, holds, needs, usable};
use super::greedy::greedy;
use super::ledger::Ledger;
use super::model::{Model, ModelKind};
use super::worth::{Values, Worth};

/// With more items than this, the programme costs more than it brings.
const MOST_ITEMS: usize = 120;

/// Rounds of filling before the first purchase, and after each.
const FIRST_ROUNDS: u32 = 12;
const LATER_ROUNDS: u32 = 1;

/// Purchases before the greedy has the last word.
const MOST_PURCHASES: u32 = 20;

/// Columns kept.
const MOST_COLUMNS: usize = 1500;

/// A load that a kind holds.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Pattern {
    kind: usize,
    load: Vec<(usize, u32)>,
}

/// A fleet made of columns, seeded with the loads of `fleets`; `None` where columns do not pay.
pub(super) fn columns(
    model: &Model<'_>,
    worth: &Worth,
    fleets: &[PackedFleet],
) -> Option<PackedFleet> {
    let draws = |kind: &ModelKind| model.problem.kinds[kind.row].supply.is_some();
    if model.items.len() > MOST_ITEMS || model.kinds.iter().any(draws) {
        return None;
    }
    let mut search = Search::new(model, worth, fleets);
    let mut best: Option<PackedFleet> = None;
    let mut rounds = FIRST_ROUNDS;
    for _ in 0..MOST_PURCHASES {
        let solution = search.solve(rounds);
        if !search.buy(&solution) {
            break;
        }
        rounds = LATER_ROUNDS;
        let fleet = search.finished();
        let key = |fleet: &PackedFleet| (fleet.unplaced(), fleet.price(model), fleet.nodes());
        if best.as_ref().is_none_or(|best| key(&fleet) < key(best)) {
            best = Some(fleet);
        }
    }
    best
}

struct Search<'m, 'p> {
    model: &'m Model<'p>,
    worth: &'m Worth,
    filler: Filler<'m, 'p>,
    patterns: Vec<Pattern>,
    known: BTreeSet<Pattern>,
    bought: Vec<PackedGroup>,
    ledger: Ledger,
}

impl<'m, 'p> Search<'m, 'p> {
    fn new(model: &'m Model<'p>, worth: &'m Worth, fleets: &[PackedFleet]) -> Self {
        let left = model.items.iter().map(|item| item.count).collect();
        let mut search = Self {
            model,
            worth,
            filler: Filler::new(model, left),
            patterns: Vec::new(),
            known: BTreeSet::new(),
            bought: Vec::new(),
            ledger: Ledger::new(model.problem),
        };
        for group in fleets.iter().flat_map(|fleet| &fleet.groups) {
            let mut load = group.load.clone();
            load.sort_unstable();
            search.learn(group.kind, load);
        }
        search
    }

    /// Adds a pattern that is new, on the cheapest kind that holds it.
    fn learn(&mut self, kind: usize, load: Vec<(usize, u32)>) -> bool {
        if load.is_empty() || self.patterns.len() >= MOST_COLUMNS {
            return false;
        }
        let needs = needs(self.model, &load);
        let cheapest = usable(self.model, &load)
            .iter()
            .find(|&kind| self.may_buy(kind) && holds(&self.model.kinds[kind].capacity, &needs));
        let kind = cheapest.unwrap_or(kind);
        let pattern = Pattern { kind, load };
        let is_new = self.known.insert(pattern.clone());
        if is_new {
            self.patterns.push(pattern);
        }
        is_new
    }

    fn may_buy(&self, kind: usize) -> bool {
        let row = self.model.kinds[kind].row;
        self.ledger.affordable(self.model.problem, row) > 0
    }

    /// Patterns with how often each is wanted, as a real number, for what is left.
    fn solve(&mut self, rounds: u32) -> Vec<(usize, f64)> {
        let rows: Vec<usize> = (0..self.model.items.len())
            .filter(|&item| self.filler.left()[item] > 0)
            .collect();
        let mut row_of = vec![None; self.model.items.len()];
        for (row, &item) in rows.iter().enumerate() {
            row_of[item] = Some(row);
        }
        let Some(first) = self.first_columns(&rows, &row_of) else {
            return Vec::new();
        };
        let mut basis = Basis::diagonal(first);
        for round in 0..=rounds {
            let values = self.optimise(&mut basis, &row_of);
            let mut of_item = vec![0.0; self.model.items.len()];
            for (row, &item) in rows.iter().enumerate() {
                of_item[item] = values[row].max(0.0) / f64::from(self.filler.left()[item]);
            }
            if round == rounds || !self.generate(of_item) {
                break;
            }
        }
        let amounts = basis.amounts().filter(|(column, _)| column.tag != NO_TAG);
        amounts
            .map(|(column, amount)| (column.tag, amount))
            .collect()
    }

    /// Per row the load of its item alone with the least price per unit; `None` when an item fits nowhere.
    fn first_columns(&mut self, rows: &[usize], row_of: &[Option<usize>]) -> Option<Vec<LpColumn>> {
        let model = self.model;
        let mut columns = Vec::with_capacity(rows.len());
        for &item in rows {
            let left = self.filler.left()[item];
            let single = |kind: usize| {
                let axes = model.request(item).iter().zip(&model.kinds[kind].capacity);
                let fits = axes
                    .filter(|(ask, _)| **ask > 0)
                    .map(|(ask, have)| have / ask);
                let by_room = u32::try_from(fits.min().unwrap_or(i64::MAX)).unwrap_or(u32::MAX);
                let memberships = model.classes[model.items[item].class].memberships;
                let counts = super::counts::RuleCounts::default();
                let by_rules = counts.room_for(&model.problem.rules, memberships);
                by_room.min(by_rules).min(left)
            };
            let price = |kind: usize| model.kinds[kind].price as f64 / f64::from(single(kind));
            let usable = model.kinds_of(item).iter();
            let kind = usable
                .filter(|&kind| self.may_buy(kind) && single(kind) > 0)
                .min_by(|&a, &b| price(a).total_cmp(&price(b)).then(a.cmp(&b)))?;
            let load = vec![(item, single(kind))];
            let pattern = Pattern { kind, load };
            if self.known.insert(pattern.clone()) {
                self.patterns.push(pattern.clone());
            }
            let tag = self.patterns.iter().position(|known| *known == pattern)?;
            columns.push(self.column(tag, row_of));
        }
        Some(columns)
    }

    fn column(&self, tag: usize, row_of: &[Option<usize>]) -> LpColumn {
        let pattern = &self.patterns[tag];
        let entry = |&(item, units): &(usize, u32)| {
            let row = row_of[item]?;
            Some((row, f64::from(units) / f64::from(self.filler.left()[item])))
        };
        LpColumn {
            cost: self.model.kinds[pattern.kind].price as f64,
            entries: pattern.load.iter().filter_map(entry).collect(),
            tag,
        }
    }

    /// Brings known patterns into the basis while they gain; returns what a row is worth.
    fn optimise(&self, basis: &mut Basis, row_of: &[Option<usize>]) -> Vec<f64> {
        let left = self.filler.left();
        let fits = |pattern: &Pattern| {
            pattern
                .load
                .iter()
                .all(|&(item, units)| units <= left[item])
        };
        let usable: Vec<usize> = (0..self.patterns.len())
            .filter(|&at| fits(&self.patterns[at]) && self.may_buy(self.patterns[at].kind))
            .collect();
        let columns: Vec<LpColumn> = usable.iter().map(|&at| self.column(at, row_of)).collect();
        let mut values = basis.row_values();
        for _ in 0..20 * values.len() + 50 {
            let gain = |column: &LpColumn| {
                let worth: f64 = column
                    .entries
                    .iter()
                    .map(|&(row, share)| values[row] * share)
                    .sum();
                (worth - column.cost) / column.cost
            };
            let best = columns.iter().map(gain).enumerate();
            let best = best.max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)));
            let entering = match best {
                Some((at, gain)) if gain > 1e-7 => columns[at].clone(),
                _ => match surplus(&values) {
                    Some(column) => column,
                    None => break,
                },
            };
            if !basis.pivot(entering) {
                break;
            }
            values = basis.row_values();
        }
        values
    }

    /// Fills a node of every kind by the values of items; true when a load worth more than its price was found.
    fn generate(&mut self, of_item: Vec<f64>) -> bool {
        let values = Values::of_items(self.model, of_item);
        let mut found = false;
        for kind in 0..self.model.kinds.len() {
            if !self.may_buy(kind) {
                continue;
            }
            for taste in [Taste::Large, Taste::Density] {
                let filled = self.filler.try_fill(kind, &values, taste, 1.0);
                if filled.worth > self.model.kinds[kind].price as f64 * (1.0 + 1e-6) {
                    found |= self.learn(kind, filled.load);
                }
            }
        }
        found
    }

    /// Buys the whole parts of a solution, or one node of what is wanted most; false when nothing could be bought.
    fn buy(&mut self, solution: &[(usize, f64)]) -> bool {
        let mut wanted: Vec<(usize, f64)> = solution.to_vec();
        wanted.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        let mut any = false;
        for &(at, amount) in &wanted {
            if amount >= 1.0 - 1e-9 {
                any |= self.purchase(at, amount + 1e-9);
            }
        }
        any || wanted.iter().any(|&(at, _)| self.purchase(at, 1.0))
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "amounts are small and not negative; rounding down is meant"
    )]
    fn purchase(&mut self, at: usize, amount: f64) -> bool {
        let pattern = self.patterns[at].clone();
        let left = self.filler.left();
        let lasts = pattern.load.iter().map(|&(item, units)| left[item] / units);
        let row = self.model.kinds[pattern.kind].row;
        let affordable = self.ledger.affordable(self.model.problem, row);
        let count = (amount as u32)
            .min(lasts.min().unwrap_or(0))
            .min(affordable);
        if count == 0 {
            return false;
        }
        self.filler.take(&pattern.load, count);
        self.ledger.take(self.model.problem, row, count);
        self.bought.push(PackedGroup {
            kind: pattern.kind,
            count,
            load: pattern.load,
        });
        true
    }

    /// The fleet bought so far, with the rest bought by the greedy.
    fn finished(&self) -> PackedFleet {
        let mut worth = self.worth.clone();
        let left = self.filler.left().to_vec();
        let mut ledger = self.ledger.clone();
        if left.iter().any(|count| *count > 0) {
            worth.renew(self.model, &left);
        }
        let mut fleet = greedy(self.model, left, &mut worth, &mut ledger, Taste::Large, 1.5);
        fleet.groups.extend(self.bought.iter().cloned());
        fleet.shrink(self.model, &mut ledger);
        fleet
    }
}

/// The row that pays most for being overfilled.
fn surplus(values: &[f64]) -> Option<LpColumn> {
    let largest = values
        .iter()
        .fold(0.0, |most: f64, value| most.max(value.abs()));
    let row = (0..values.len()).min_by(|&a, &b| values[a].total_cmp(&values[b]).then(a.cmp(&b)))?;
    (values[row] < -1e-9 * largest).then(|| LpColumn {
        cost: 0.0,
        entries: vec![(row, -1.0)],
        tag: NO_TAG,
    })
}
