//! What is left of reservations and of first prices while nodes are bought and closed, one after another.
//!
//! A reservation is a supply of so many nodes; so is the cheaper price that a ranking policy gives for the first few. The
//! least remaining count of all offerings that share a reservation holds, whatever their pools or types.

use super::prices::RowPrices;

/// Supplies, counted down.
pub(super) struct Supplies<'p> {
    prices: &'p RowPrices,
    left: Vec<u32>,
}

impl<'p> Supplies<'p> {
    /// Nothing taken yet.
    pub(super) fn new(prices: &'p RowPrices) -> Self {
        let left = prices.supplies.clone();
        Self { prices, left }
    }

    /// Nodes left in each supply.
    pub(super) fn left(&self) -> &[u32] {
        &self.left
    }

    /// What one more node of a row costs now, in nano-dollars per hour; `None` when it cannot be had.
    pub(super) fn price(&self, row: usize) -> Option<i64> {
        match self.supply(row) {
            Some((supply, price)) if self.left[supply] > 0 => Some(price),
            Some(_) if self.is_reserved(row) => None,
            _ => self
                .prices
                .allowed
                .contains(row)
                .then(|| self.prices.planned[row]),
        }
    }

    /// Takes one node of a row at a price that [`Supplies::price`] or the packing has given.
    pub(super) fn take(&mut self, row: usize, price: i64) {
        if let Some((supply, _)) = self.supply(row).filter(|(_, own)| *own == price) {
            self.left[supply] = self.left[supply].saturating_sub(1);
        }
    }

    /// Whether a row draws on a reservation.
    pub(super) fn is_reserved(&self, row: usize) -> bool {
        self.prices.reserved.contains_key(&row)
    }

    /// The supply that a row draws on, and the price there.
    fn supply(&self, row: usize) -> Option<(usize, i64)> {
        if let Some(supply) = self.prices.reserved.get(&row) {
            return Some((*supply, self.prices.planned[row]));
        }
        let first = self.prices.first.iter().find(|(of, _, _)| *of == row)?;
        Some((first.2, first.1))
    }
}
