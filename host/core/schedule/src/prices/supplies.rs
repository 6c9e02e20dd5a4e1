//! The rest of reservations and of first prices while nodes are bought and closed, one after another.
//!
//! A reservation is a supply of so many nodes; so is the cheaper price that a ranking policy gives for the first few. The
//! least remaining count of all offerings that share a reservation holds, whatever their pools or types.

use std::collections::BTreeMap;

use super::RowPrices;

/// Supplies, counted down.
pub(crate) struct Supplies<'p> {
    prices: &'p RowPrices,
    left: Vec<u32>,
    /// Supply of each row that has one, and the price there; `None` where it may not be bought.
    of_row: BTreeMap<usize, Option<(usize, i64)>>,
}

impl<'p> Supplies<'p> {
    /// Nothing taken yet.
    pub(crate) fn new(prices: &'p RowPrices) -> Self {
        let mut of_row = BTreeMap::new();
        for (row, price, supply) in &prices.first {
            of_row.insert(*row, Some((*supply, *price)));
        }
        for (row, supply) in &prices.reserved {
            let price = prices.planned[*row];
            let sold = prices.allowed.contains(*row).then_some((*supply, price));
            of_row.insert(*row, sold);
        }
        Self {
            prices,
            left: prices.supplies.clone(),
            of_row,
        }
    }

    /// Nodes left in each supply.
    pub(crate) fn left(&self) -> &[u32] {
        &self.left
    }

    /// Price of one more node of a row now, in nano-dollars per hour; `None` when it cannot be had.
    pub(crate) fn price(&self, row: usize) -> Option<i64> {
        match self.of_row(row) {
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
    pub(crate) fn take(&mut self, row: usize, price: i64) {
        if let Some(supply) = self.drawn_on(row, price) {
            self.left[supply] = self.left[supply].saturating_sub(1);
        }
    }

    /// The supply that one node of a row at this price comes out of, where it does.
    pub(crate) fn drawn_on(&self, row: usize, price: i64) -> Option<usize> {
        let own = self.of_row(row).filter(|(_, own)| *own == price);
        own.map(|(supply, _)| supply)
    }

    fn of_row(&self, row: usize) -> Option<(usize, i64)> {
        self.of_row.get(&row).copied().flatten()
    }

    /// `true` if a row draws on a reservation.
    pub(crate) fn is_reserved(&self, row: usize) -> bool {
        self.prices.reserved.contains_key(&row)
    }
}
