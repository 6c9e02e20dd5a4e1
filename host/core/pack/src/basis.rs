//! The basis of a revised simplex: dense inverse, right-hand sides of 1, and the pivot.

use std::cmp::Ordering;

/// A column: what one unit of an activity costs and brings to each row.
#[derive(Clone, Debug)]
pub(super) struct LpColumn {
    /// Cost of a unit.
    pub(super) cost: f64,
    /// Rows with what a unit brings, in units of the row's right-hand side.
    pub(super) entries: Vec<(usize, f64)>,
    /// Who made it; for the caller.
    pub(super) tag: usize,
}

/// A tag for columns that stand for nothing.
pub(super) const NO_TAG: usize = usize::MAX;

/// As many columns as rows, and how much of each.
pub(super) struct Basis {
    columns: Vec<LpColumn>,
    inverse: Vec<f64>,
    amounts: Vec<f64>,
}

impl Basis {
    /// From one column per row, each with an entry in its own row only.
    pub(super) fn diagonal(columns: Vec<LpColumn>) -> Self {
        let rows = columns.len();
        let mut inverse = vec![0.0; rows * rows];
        let mut amounts = Vec::with_capacity(rows);
        for (row, column) in columns.iter().enumerate() {
            let share = column.entries.first().map_or(1.0, |entry| 1.0 / entry.1);
            inverse[row * rows + row] = share;
            amounts.push(share);
        }
        Self {
            columns,
            inverse,
            amounts,
        }
    }

    /// Basic columns with how much of each.
    pub(super) fn amounts(&self) -> impl Iterator<Item = (&LpColumn, f64)> {
        self.columns.iter().zip(self.amounts.iter().copied())
    }

    /// Value of a unit of each row: the dual prices.
    pub(super) fn row_values(&self) -> Vec<f64> {
        let rows = self.columns.len();
        let mut values = vec![0.0; rows];
        for (at, column) in self.columns.iter().enumerate() {
            if column.cost != 0.0 {
                for (value, entry) in values.iter_mut().zip(&self.inverse[at * rows..][..rows]) {
                    *value += column.cost * entry;
                }
            }
        }
        values
    }

    /// Brings a column into the basis; false when nothing limits it, which rounding alone can cause.
    pub(super) fn pivot(&mut self, column: LpColumn) -> bool {
        let rows = self.columns.len();
        let mut direction = vec![0.0; rows];
        for (at, out) in direction.iter_mut().enumerate() {
            let line = &self.inverse[at * rows..][..rows];
            *out = column.entries.iter().map(|&(row, v)| line[row] * v).sum();
        }
        let Some((leaving, amount)) = self.leaving(&direction) else {
            return false;
        };
        let pivot = direction[leaving];
        for entry in &mut self.inverse[leaving * rows..][..rows] {
            *entry /= pivot;
        }
        let pivot_line = self.inverse[leaving * rows..][..rows].to_vec();
        for (at, &factor) in direction.iter().enumerate() {
            if at != leaving && factor != 0.0 {
                let line = &mut self.inverse[at * rows..][..rows];
                for (entry, by) in line.iter_mut().zip(&pivot_line) {
                    *entry -= factor * by;
                }
                self.amounts[at] -= factor * amount;
            }
        }
        self.amounts[leaving] = amount;
        self.columns[leaving] = column;
        true
    }

    /// The basic column that is used up first, and how much may enter.
    fn leaving(&self, direction: &[f64]) -> Option<(usize, f64)> {
        let largest = direction.iter().fold(0.0, |most: f64, d| most.max(d.abs()));
        let step = |at: usize| self.amounts[at].max(0.0) / direction[at];
        (0..direction.len())
            .filter(|&at| direction[at] > 1e-9 * largest)
            .min_by(|&a, &b| {
                let larger_pivot = direction[b].total_cmp(&direction[a]);
                match step(a).total_cmp(&step(b)) {
                    Ordering::Equal => larger_pivot.then(a.cmp(&b)),
                    other => other,
                }
            })
            .map(|at| (at, step(at)))
    }
}
