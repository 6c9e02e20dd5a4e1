//! Worth of a unit of each demand in a good fleet: the aggregate programme's duals at the prices that decide.

use std::collections::BTreeMap;

use super::aggregate::{Aggregate, Duals, Source};
use super::forced::forced_rules;
use super::model::{Item, Lot, Model};

/// How much more of an axis must be needed, as a factor, for it to be watched.
const NEARLY: f64 = 1.3;

/// An axis that makes up less than this share of all value counts as free.
const FREE_BELOW: f64 = 0.02;

/// Kinds beyond about this many are thinned out for the programme; all of them hold its duals to their price.
const MANY_KINDS: usize = 320;

/// Values of one unit of each demand: a part for its request, and a part for the rules it is under.
#[derive(Clone, Debug, Default)]
pub(super) struct Values {
    /// Per lot: for what it asks. Above zero.
    of_lot: Vec<f64>,
    /// Per class: for the rules that force it onto nodes of its own.
    of_class: Vec<f64>,
    /// Per item: its value, which then counts instead.
    of_item: Option<Vec<f64>>,
    /// Per lot: the largest of its items' values.
    most_of_lot: Vec<f64>,
}

impl Values {
    /// One value for each item.
    pub(super) fn of_items(model: &Model<'_>, of_item: Vec<f64>) -> Self {
        let most = |lot: &Lot| {
            let items = lot.items.iter().map(|(_, item)| of_item[*item]);
            items.fold(0.0, f64::max)
        };
        Self {
            most_of_lot: model.lots.iter().map(most).collect(),
            of_item: Some(of_item),
            ..Self::default()
        }
    }

    /// The value of one unit of a class in a lot that has it.
    pub(super) fn of(&self, model: &Model<'_>, lot: usize, class: usize) -> f64 {
        match &self.of_item {
            None => self.of_lot[lot] + self.of_class[class],
            Some(values) => model.item_of(lot, class).map_or(0.0, |item| values[item]),
        }
    }

    /// At least the value of any unit of a lot.
    pub(super) fn most_of_lot(&self, lot: usize) -> f64 {
        self.most_of_lot[lot]
    }
}

/// Values of lots and classes, renewed as demand is used up.
#[derive(Clone)]
pub(super) struct Worth {
    /// Over a choice of the kinds.
    programme: Aggregate,
    /// Per kind: as a source.
    kinds: Vec<Source>,
    rules: Vec<usize>,
    /// Values of units.
    pub(super) values: Values,
    /// Value of everything left.
    pub(super) of_all: f64,
    /// The nodes that rules force for what is left.
    pub(super) forced_nodes: f64,
    /// Per kind: its price over what its capacity is worth; at least about 1.
    pub(super) price_ratio: Vec<f64>,
}

impl Worth {
    /// Values for all that the model asks for.
    pub(super) fn new(model: &Model<'_>) -> Self {
        let rules = forced_rules(model.problem);
        let problem = model.problem;
        let limits: Vec<f64> = (rules
            .iter()
            .map(|&rule| f64::from(problem.rules[rule].limit)))
        .collect();
        let kinds = model.kinds.iter().map(|kind| {
            let capacity = kind.capacity.iter().map(|amount| *amount as f64);
            Source {
                capacity: capacity.chain(limits.iter().copied()).collect(),
                price: kind.price as f64,
                sets: kind.sets.iter().collect(),
                supply: problem.kinds[kind.row].supply,
            }
        });
        let kinds: Vec<Source> = kinds.collect();
        let mut worth = Self {
            programme: Aggregate {
                axes: problem.axes + rules.len(),
                demand: Vec::new(),
                sources: thinned(&kinds),
                supplies: problem.supplies.iter().map(|n| f64::from(*n)).collect(),
            },
            kinds,
            rules,
            values: Values::default(),
            of_all: 0.0,
            forced_nodes: 0.0,
            price_ratio: Vec::new(),
        };
        let counts: Vec<u32> = model.items.iter().map(|item| item.count).collect();
        worth.renew(model, &counts);
        worth
    }

    /// Values for what is left.
    pub(super) fn renew(&mut self, model: &Model<'_>, left: &[u32]) {
        self.programme.demand = self.demand(model, left);
        let mut duals = self.programme.solve();
        self.programme.make_feasible(&mut duals, &self.kinds);
        self.value_what_is_nearly_scarce(&mut duals);
        self.price_ratio = self
            .kinds
            .iter()
            .map(|source| {
                let worth = self.programme.worth(source, &duals);
                if worth > 0.0 {
                    source.price / worth
                } else {
                    f64::MAX
                }
            })
            .collect();
        self.take_values(model, &duals);
        let worth = |(item, left): (&Item, &u32)| {
            f64::from(*left) * self.values.of(model, item.lot, item.class)
        };
        self.of_all = model.items.iter().zip(left).map(worth).sum();
        let axes = model.problem.axes;
        let rows = self.programme.demand.chunks(self.programme.axes.max(1));
        let mut counted = vec![0.0; self.rules.len()];
        for row in rows {
            for (sum, amount) in counted.iter_mut().zip(&row[axes..]) {
                *sum += amount;
            }
        }
        let limits = self
            .rules
            .iter()
            .map(|&rule| f64::from(model.problem.rules[rule].limit));
        self.forced_nodes = counted
            .iter()
            .zip(limits)
            .map(|(n, limit)| n / limit)
            .fold(0.0, f64::max);
    }

    /// An axis that is free now but would cost something if a little more of it were needed must not be wasted: the duals are
    /// averaged with those of that case. The average of feasible duals is feasible.
    fn value_what_is_nearly_scarce(&mut self, duals: &mut Duals) {
        let axes = self.programme.axes;
        let mut of_axis = vec![0.0; axes];
        for (at, (value, demand)) in duals.all().zip(&self.programme.demand).enumerate() {
            of_axis[at % axes] += value * demand;
        }
        let total: f64 = of_axis.iter().sum();
        let free: Vec<bool> = of_axis.iter().map(|v| *v < total * FREE_BELOW).collect();
        if !free.contains(&true) {
            return;
        }
        let before = self.programme.demand.clone();
        for (at, demand) in self.programme.demand.iter_mut().enumerate() {
            if free[at % axes] {
                *demand *= NEARLY;
            }
        }
        let mut others = self.programme.solve();
        self.programme.make_feasible(&mut others, &self.kinds);
        self.programme.demand = before;
        duals.average(&others);
    }

    fn demand(&self, model: &Model<'_>, left: &[u32]) -> Vec<f64> {
        let axes = self.programme.axes;
        let mut demand = vec![0.0; model.sets.len() * axes];
        for (item, &count) in model.items.iter().zip(left).filter(|(_, left)| **left > 0) {
            let lot = &model.lots[item.lot];
            let row = &mut demand[lot.set * axes..][..axes];
            let count = f64::from(count);
            for (sum, &amount) in row.iter_mut().zip(&lot.request) {
                *sum += amount as f64 * count;
            }
            for membership in model.classes[item.class]
                .memberships
                .iter()
                .filter(|m| m.owner)
            {
                if let Some(at) = self.rules.iter().position(|rule| *rule == membership.rule) {
                    row[model.problem.axes + at] += f64::from(membership.counted) * count;
                }
            }
        }
        demand
    }

    fn take_values(&mut self, model: &Model<'_>, duals: &Duals) {
        let axes = model.problem.axes;
        // Demand without a row (only limited supplies serve it) still has to be preferred over an empty node.
        let floor = 1e-6;
        let of_lot: Vec<f64> = model
            .lots
            .iter()
            .map(|lot| {
                let values = &duals.of(lot.set)[..axes];
                let worth: f64 = values
                    .iter()
                    .zip(&lot.request)
                    .map(|(value, amount)| value * *amount as f64)
                    .sum();
                worth.max(floor)
            })
            .collect();
        let of_class: Vec<f64> = model
            .classes
            .iter()
            .map(|class| {
                let values = &duals.of(class.set)[axes..];
                let owner = class.memberships.iter().filter(|m| m.owner);
                owner
                    .filter_map(|membership| {
                        let at = self
                            .rules
                            .iter()
                            .position(|rule| *rule == membership.rule)?;
                        Some(values[at] * f64::from(membership.counted))
                    })
                    .sum()
            })
            .collect();
        let most_of_class = of_class.iter().copied().fold(0.0, f64::max);
        self.values = Values {
            most_of_lot: of_lot.iter().map(|value| value + most_of_class).collect(),
            of_lot,
            of_class,
            of_item: None,
        };
    }
}

/// Kinds in even steps of price for each combination of sets, the cheapest and those of limited supply always among them.
fn thinned(kinds: &[Source]) -> Vec<Source> {
    let step = kinds.len().div_ceil(MANY_KINDS).max(1);
    let mut seen: BTreeMap<&[usize], usize> = BTreeMap::new();
    let mut chosen = Vec::new();
    for kind in kinds {
        let before = seen.entry(&kind.sets).or_default();
        if before.is_multiple_of(step) || kind.supply.is_some() {
            chosen.push(kind.clone());
        }
        *before += 1;
    }
    chosen
}
