//! Sets of rows, each kept once: what a node may still become. Intersections, cheapest prices and the largest instances of
//! a set are computed once and remembered.

use std::collections::BTreeMap;

use plimsoll_base::bits::Bits;

use super::compile::Compiled;
use super::memo::Memo;
use crate::offers::axes::fits;

/// Number of a set.
pub(crate) type SetId = usize;

/// Interned sets of rows.
#[derive(Default)]
pub(crate) struct Sets {
    known: Vec<Bits>,
    numbers: BTreeMap<Bits, SetId>,
    /// By the smaller number, then the larger; `None` where nothing is in both.
    joined: Vec<Memo<Option<u32>>>,
    /// Capacities of the largest instances, one after another.
    largest: Memo<Box<[i64]>>,
    cheapest: Memo<i64>,
}

impl Sets {
    /// The number of a set; `None` when it is empty.
    pub(crate) fn intern(&mut self, bits: Bits) -> Option<SetId> {
        if bits.is_empty() {
            return None;
        }
        if let Some(known) = self.numbers.get(&bits) {
            return Some(*known);
        }
        let number = self.known.len();
        self.known.push(bits.clone());
        self.joined.push(Memo::default());
        self.numbers.insert(bits, number);
        Some(number)
    }

    /// The rows of a set.
    pub(crate) fn bits(&self, set: SetId) -> &Bits {
        &self.known[set]
    }

    /// The set of rows that are in both; `None` when there is none.
    pub(crate) fn join(&mut self, left: SetId, right: SetId) -> Option<SetId> {
        if left == right {
            return Some(left);
        }
        let (low, high) = (left.min(right), left.max(right));
        if let Some(known) = self.joined[low].get(high) {
            return known.map(|set| set as SetId);
        }
        let both = self.known[left].and(&self.known[right]);
        let result = self.intern(both);
        let kept = result.map(|set| u32::try_from(set).expect("fewer sets than bins of a batch"));
        self.joined[low].set(high, kept);
        result
    }

    /// `true` if some row of a set has room for an amount.
    pub(crate) fn has_room(&mut self, compiled: &Compiled<'_>, set: SetId, amount: &[i64]) -> bool {
        self.largest(compiled, set)
            .chunks_exact(amount.len())
            .any(|capacity| fits(amount, capacity))
    }

    /// `true` if some row of a set has room for one amount beside another.
    pub(crate) fn has_room_beside(
        &mut self,
        compiled: &Compiled<'_>,
        set: SetId,
        used: &[i64],
        more: &[i64],
    ) -> bool {
        let holds_both = |capacity: &[i64]| {
            let amounts = used.iter().zip(more).zip(capacity);
            amounts
                .map(|((used, more), capacity)| used.saturating_add(*more) <= *capacity)
                .fold(true, |all, fits| all & fits)
        };
        self.largest(compiled, set)
            .chunks_exact(used.len())
            .any(holds_both)
    }

    fn largest(&mut self, compiled: &Compiled<'_>, set: SetId) -> &[i64] {
        if self.largest.get(set).is_none() {
            let found = largest(compiled, &self.known[set]);
            self.largest.set(set, found);
        }
        self.largest.get(set).expect("put in above")
    }

    /// The smallest price in a set.
    pub(crate) fn cheapest(&mut self, prices: &[i64], set: SetId) -> i64 {
        if let Some(known) = self.cheapest.get(set) {
            return *known;
        }
        let own = self.known[set].iter().map(|row| prices[row]);
        let price = own.min().unwrap_or(i64::MAX);
        self.cheapest.set(set, price);
        price
    }
}

/// Capacities of the rows of a set that no other row of it exceeds on every axis.
fn largest(compiled: &Compiled<'_>, bits: &Bits) -> Box<[i64]> {
    let mut result: Vec<i64> = Vec::new();
    for row in compiled.rows.by_size.among(bits) {
        let capacity = compiled.rows.capacity(row);
        let mut kept = result.chunks_exact(capacity.len());
        if !kept.any(|larger| fits(capacity, larger)) {
            result.extend_from_slice(capacity);
        }
    }
    result.into_boxed_slice()
}
