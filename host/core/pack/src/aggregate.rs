//! The aggregate linear programme: how much of each source of capacity to buy when pods are a liquid.
//!
//! Rows are (class set, axis): the pods of one set need so much of one axis. A source (a kind of node, or the room on
//! nodes there are) gives its capacity per axis to the sets that may use it, in any shares. Its dual values say what a unit
//! of each axis is worth to each set, such that no source holds more value than it costs. Columns are generated: a column is a
//! source with each axis given whole to the set that pays best, so finding the best column is exact and needs no search.
//! Floats are fine here: what leaves the solver as a bound is checked again in integers.

use super::basis::{Basis, LpColumn, NO_TAG};

/// Something that can be bought, or is there already.
#[derive(Clone, Debug)]
pub(super) struct Source {
    /// Capacity of one unit, per axis.
    pub(super) capacity: Vec<f64>,
    /// Price of one unit.
    pub(super) price: f64,
    /// The class sets that may use it, ascending.
    pub(super) sets: Vec<usize>,
    /// The supply it draws on.
    pub(super) supply: Option<usize>,
}

/// The programme.
#[derive(Clone, Debug, Default)]
pub(super) struct Aggregate {
    /// Number of axes.
    pub(super) axes: usize,
    /// Need of each set on each axis, set by set.
    pub(super) demand: Vec<f64>,
    /// Where capacity comes from.
    pub(super) sources: Vec<Source>,
    /// How many may be had of each supply.
    pub(super) supplies: Vec<f64>,
}

/// Value of a unit of each axis to each set, set by set. Never negative; zero where there is no row.
#[derive(Clone, Debug, Default)]
pub(super) struct Duals {
    axes: usize,
    value: Vec<f64>,
}

impl Duals {
    /// The values of one set, per axis.
    pub(super) fn of(&self, set: usize) -> &[f64] {
        &self.value[set * self.axes..][..self.axes]
    }

    /// All values, set by set.
    pub(super) fn all(&self) -> impl Iterator<Item = f64> {
        self.value.iter().copied()
    }

    /// Half of these and half of those.
    pub(super) fn average(&mut self, others: &Self) {
        for (value, other) in self.value.iter_mut().zip(&others.value) {
            *value = 0.5 * (*value + other);
        }
    }

    /// All values times `factor`.
    pub(super) fn scale(&mut self, factor: f64) {
        for value in &mut self.value {
            *value *= factor;
        }
    }
}

impl Aggregate {
    /// The optimal duals; when work runs out before the optimum, duals of the last basis, which may overvalue sources.
    ///
    /// Sets that only sources of limited supply can serve have no row: they could make the programme infeasible.
    pub(super) fn solve(&self) -> Duals {
        Simplex::new(self).run()
    }

    /// Value of the capacity of `source` when every axis goes to the set that pays best.
    pub(super) fn worth(&self, source: &Source, duals: &Duals) -> f64 {
        let best = |axis: usize| {
            source
                .sets
                .iter()
                .map(|&set| duals.value[set * self.axes + axis])
                .fold(0.0, f64::max)
        };
        (0..self.axes)
            .map(|axis| source.capacity[axis] * best(axis))
            .sum()
    }

    /// Scales `duals` down until none of `sources` that has unlimited supply is worth more than its price.
    pub(super) fn make_feasible(&self, duals: &mut Duals, sources: &[Source]) {
        let factor = sources
            .iter()
            .filter(|source| source.supply.is_none())
            .map(|source| (source.price, self.worth(source, duals)))
            .filter(|(price, worth)| worth > price)
            .map(|(price, worth)| price / worth)
            .fold(1.0, f64::min);
        if factor < 1.0 {
            duals.scale(factor);
        }
    }
}

/// The programme's rows. They are scaled so that every right-hand side is 1.
struct Simplex<'a> {
    programme: &'a Aggregate,
    /// Per (set, axis): the row.
    row_of: Vec<Option<usize>>,
    /// Rows of demand come first; then one row per supply.
    demand_rows: usize,
    /// Per row: what the right-hand side was before scaling.
    scale: Vec<f64>,
    /// Per supply: its row.
    supply_row: Vec<Option<usize>>,
    /// Per row: its first basic column.
    first: Vec<LpColumn>,
}

/// Relative size below which a reduced cost counts as none.
const TOLERANCE: f64 = 1e-9;

impl<'a> Simplex<'a> {
    fn new(programme: &'a Aggregate) -> Self {
        let mut simplex = Self {
            programme,
            row_of: vec![None; programme.demand.len()],
            demand_rows: 0,
            scale: Vec::new(),
            supply_row: vec![None; programme.supplies.len()],
            first: Vec::new(),
        };
        simplex.open_demand_rows();
        simplex.demand_rows = simplex.scale.len();
        for (supply, &amount) in programme.supplies.iter().enumerate() {
            if amount > 0.0 {
                simplex.supply_row[supply] = Some(simplex.scale.len());
                simplex.scale.push(amount);
                let row = simplex.scale.len() - 1;
                simplex.first.push(LpColumn {
                    cost: 0.0,
                    entries: vec![(row, 1.0)],
                    tag: NO_TAG,
                });
            }
        }
        simplex
    }

    /// A row per demand that a source of unlimited supply can serve, with the cheapest such source, giving nothing else, as
    /// its first basic column.
    fn open_demand_rows(&mut self) {
        let programme = self.programme;
        let mut cheapest: Vec<Option<(f64, f64)>> = vec![None; programme.demand.len()];
        for source in programme.sources.iter().filter(|s| s.supply.is_none()) {
            for &set in &source.sets {
                for axis in 0..programme.axes {
                    let capacity = source.capacity[axis];
                    let at = &mut cheapest[set * programme.axes + axis];
                    if capacity > 0.0
                        && at.is_none_or(|(price, best)| source.price * best < price * capacity)
                    {
                        *at = Some((source.price, capacity));
                    }
                }
            }
        }
        for (at, &demand) in programme.demand.iter().enumerate() {
            if let (true, Some((price, capacity))) = (demand > 0.0, cheapest[at]) {
                let row = self.scale.len();
                self.row_of[at] = Some(row);
                self.scale.push(demand);
                self.first.push(LpColumn {
                    cost: price,
                    entries: vec![(row, capacity / demand)],
                    tag: NO_TAG,
                });
            }
        }
    }

    fn run(mut self) -> Duals {
        let rows = self.scale.len();
        let most_pivots = 50 + 20 * rows;
        let mut basis = Basis::diagonal(std::mem::take(&mut self.first));
        let mut row_values = basis.row_values();
        for _ in 0..most_pivots {
            let Some(column) = self.entering(&row_values) else {
                break;
            };
            if !basis.pivot(column) {
                break;
            }
            row_values = basis.row_values();
        }
        let mut value = vec![0.0; self.programme.demand.len()];
        for (at, row) in self.row_of.iter().enumerate() {
            if let Some(row) = *row {
                value[at] = row_values[row].max(0.0) / self.scale[row];
            }
        }
        Duals {
            axes: self.programme.axes,
            value,
        }
    }

    /// The column whose cost undercuts its worth by the largest share, if any does.
    fn entering(&self, values: &[f64]) -> Option<LpColumn> {
        let programme = self.programme;
        let mut unit_value = vec![0.0; programme.demand.len()];
        for (at, row) in self.row_of.iter().enumerate() {
            if let Some(row) = *row {
                unit_value[at] = values[row] / self.scale[row];
            }
        }
        let mut best: Option<(f64, &Source)> = None;
        for source in &programme.sources {
            let rent = match source.supply {
                None => 0.0,
                Some(supply) => match self.supply_row[supply] {
                    None => continue,
                    Some(row) => values[row] / self.scale[row],
                },
            };
            let mut worth = rent;
            for axis in 0..programme.axes {
                let mut paid: f64 = 0.0;
                for &set in &source.sets {
                    paid = paid.max(unit_value[set * programme.axes + axis]);
                }
                worth += paid * source.capacity[axis];
            }
            let size = source.price + worth.abs() + rent.abs() + f64::MIN_POSITIVE;
            let gain = (worth - source.price) / size;
            if gain > TOLERANCE && best.is_none_or(|(most, _)| gain > most) {
                best = Some((gain, source));
            }
        }
        let surplus = self.entering_surplus(values);
        match (best, surplus) {
            (Some((_, source)), _) => Some(self.column(source, &unit_value)),
            (None, surplus) => surplus,
        }
    }

    /// A demand row that pays for being overfilled, or a supply row that pays for being used up.
    fn entering_surplus(&self, values: &[f64]) -> Option<LpColumn> {
        let largest = values.iter().fold(0.0, |most: f64, v| most.max(v.abs()));
        let wrong = |row: usize| {
            if row < self.demand_rows {
                -values[row]
            } else {
                values[row]
            }
        };
        let row = (0..values.len())
            .max_by(|&a, &b| wrong(a).total_cmp(&wrong(b)).then(b.cmp(&a)))
            .filter(|&row| wrong(row) > TOLERANCE * largest)?;
        let sign = if row < self.demand_rows { -1.0 } else { 1.0 };
        Some(LpColumn {
            cost: 0.0,
            entries: vec![(row, sign)],
            tag: NO_TAG,
        })
    }

    /// A source with each axis given to the set that pays best.
    fn column(&self, source: &Source, unit_value: &[f64]) -> LpColumn {
        let axes = self.programme.axes;
        let mut entries = Vec::with_capacity(axes + 1);
        for axis in 0..axes {
            let pays = |set: usize| unit_value[set * axes + axis];
            let best = source
                .sets
                .iter()
                .copied()
                .filter(|set| self.row_of[set * axes + axis].is_some())
                .max_by(|&a, &b| pays(a).total_cmp(&pays(b)).then(b.cmp(&a)))
                .filter(|&set| pays(set) > 0.0);
            if let Some(row) = best.and_then(|set| self.row_of[set * axes + axis]) {
                entries.push((row, source.capacity[axis] / self.scale[row]));
            }
        }
        if let Some(row) = source.supply.and_then(|supply| self.supply_row[supply]) {
            entries.push((row, 1.0 / self.scale[row]));
        }
        LpColumn {
            cost: source.price,
            entries,
            tag: NO_TAG,
        }
    }
}
