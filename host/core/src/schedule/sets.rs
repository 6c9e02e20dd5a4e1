//! Sets of rows, each kept once: what a node may still become. Intersections, cheapest prices and the largest machines of
//! a set are computed once and remembered.

use std::collections::BTreeMap;

use super::axes::fits;
use super::compile::Compiled;
use crate::bits::Bits;

/// Number of a set.
pub(super) type SetId = usize;

/// Interned sets of rows.
#[derive(Default)]
pub(super) struct Sets {
    known: Vec<Bits>,
    numbers: BTreeMap<Bits, SetId>,
    joined: BTreeMap<(SetId, SetId), Option<SetId>>,
    largest: BTreeMap<SetId, Vec<usize>>,
    cheapest: BTreeMap<SetId, i64>,
}

impl Sets {
    /// The number of a set; `None` when it is empty.
    pub(super) fn intern(&mut self, bits: Bits) -> Option<SetId> {
        if bits.is_empty() {
            return None;
        }
        if let Some(known) = self.numbers.get(&bits) {
            return Some(*known);
        }
        let number = self.known.len();
        self.known.push(bits.clone());
        self.numbers.insert(bits, number);
        Some(number)
    }

    /// The rows of a set.
    pub(super) fn bits(&self, set: SetId) -> &Bits {
        &self.known[set]
    }

    /// What is in both; `None` when nothing is.
    pub(super) fn join(&mut self, left: SetId, right: SetId) -> Option<SetId> {
        if left == right {
            return Some(left);
        }
        let pair = (left.min(right), left.max(right));
        if let Some(known) = self.joined.get(&pair) {
            return *known;
        }
        let both = self.known[left].and(&self.known[right]);
        let result = self.intern(both);
        self.joined.insert(pair, result);
        result
    }

    /// Whether some row of a set has room for an amount.
    pub(super) fn has_room(&mut self, compiled: &Compiled<'_>, set: SetId, amount: &[i64]) -> bool {
        let largest = self
            .largest
            .entry(set)
            .or_insert_with(|| largest(compiled, &self.known[set]));
        largest
            .iter()
            .any(|row| fits(amount, compiled.rows.capacity(*row)))
    }

    /// The smallest price in a set.
    pub(super) fn cheapest(&mut self, prices: &[i64], set: SetId) -> i64 {
        let lowest = || {
            self.known[set]
                .iter()
                .map(|row| prices[row])
                .min()
                .unwrap_or(i64::MAX)
        };
        if let Some(known) = self.cheapest.get(&set) {
            return *known;
        }
        let price = lowest();
        self.cheapest.insert(set, price);
        price
    }
}

/// Rows of a set that no other row of it exceeds on every axis.
fn largest(compiled: &Compiled<'_>, bits: &Bits) -> Vec<usize> {
    let mut rows: Vec<usize> = bits.iter().collect();
    let total = |row: &usize| -> i128 {
        compiled
            .rows
            .capacity(*row)
            .iter()
            .map(|amount| i128::from(*amount))
            .sum()
    };
    rows.sort_by_cached_key(|row| (std::cmp::Reverse(total(row)), *row));
    let mut result: Vec<usize> = Vec::new();
    for row in rows {
        let capacity = compiled.rows.capacity(row);
        if !result
            .iter()
            .any(|larger| fits(capacity, compiled.rows.capacity(*larger)))
        {
            result.push(row);
        }
    }
    result
}
