//! What a unit of each demand is worth in a good fleet: the aggregate programme's duals at the prices that decide.

use super::aggregate::{Aggregate, Duals, Source};
use super::forced::forced_rules;
use super::model::Model;

/// Values of lots and classes, renewed as demand is used up.
#[derive(Clone)]
pub(super) struct Worth {
    programme: Aggregate,
    rules: Vec<usize>,
    /// Per lot: what one unit is worth for what it asks. Above zero.
    pub(super) of_lot: Vec<f64>,
    /// Per class: what one unit is worth for the rules that force it onto nodes of its own.
    pub(super) of_class: Vec<f64>,
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
        let sources = model.kinds.iter().map(|kind| {
            let capacity = kind.capacity.iter().map(|amount| *amount as f64);
            Source {
                capacity: capacity.chain(limits.iter().copied()).collect(),
                price: kind.price as f64,
                sets: kind.sets.iter().collect(),
                supply: problem.kinds[kind.row].supply,
            }
        });
        let mut worth = Self {
            programme: Aggregate {
                axes: problem.axes + rules.len(),
                demand: Vec::new(),
                sources: sources.collect(),
                supplies: problem.supplies.iter().map(|n| f64::from(*n)).collect(),
            },
            rules,
            of_lot: Vec::new(),
            of_class: Vec::new(),
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
        self.programme.make_feasible(&mut duals);
        self.price_ratio = self
            .programme
            .sources
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
        self.of_lot = model
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
        self.of_class = model
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
    }
}
