//! Rows at one set of prices, with what is asked of them again and again, for all decisions at the same prices.
//!
//! List prices are such a set; a ranking policy whose answer says the same again and again is another, and one whose answer
//! is list prices shares theirs. Answers are told apart by all that they say, not by who gave them or when.

use std::ops::Deref;

use plimsoll_base::bits::Bits;
use plimsoll_model::snapshot::Guards;

use super::RowPrices;
use crate::offers::best::Best;
use crate::offers::lru::Lru;

/// Settings of guards for which kinds are kept: those that hold, and none.
const MOST_GUARDS: usize = 2;

/// Ways to buy that cost and hold the same.
#[derive(Clone, Debug)]
pub struct NewKind {
    /// Room for pods, per resource.
    pub capacity: Box<[i64]>,
    /// In nano-dollars per hour.
    pub price: i64,
    /// The ways.
    pub rows: Bits,
}

/// Rows at one set of prices.
pub(crate) struct Priced {
    pub rows: RowPrices,
    /// Least price of one more node of each row, in nano-dollars per hour: that of first nodes where there are some.
    pub(crate) least: Vec<i64>,
    /// Rows that no policy vetoes.
    pub(crate) allowed: Bits,
    /// The best of the rows at their least prices, with all of their room.
    pub(crate) best: Best,
    /// Kinds for sale, by guards and rows.
    pub(crate) kinds: Lru<(Guards, Bits), [NewKind]>,
}

impl Deref for Priced {
    type Target = RowPrices;

    fn deref(&self) -> &RowPrices {
        &self.rows
    }
}

impl Priced {
    pub(crate) fn of(rows: RowPrices) -> Self {
        let mut least = rows.planned.clone();
        let mut allowed = rows.allowed.clone();
        for (row, price, supply) in &rows.first {
            if rows.supplies[*supply] > 0 {
                least[*row] = *price;
                allowed.insert(*row);
            }
        }
        Self {
            rows,
            least,
            allowed,
            best: Best::default(),
            kinds: Lru::new(MOST_GUARDS),
        }
    }

    /// `true` if one more node of a row may be bought, be it at the price of the first nodes.
    pub(crate) fn sells(&self, row: usize) -> bool {
        let left = self.rows.reserved.get(&row);
        self.allowed.contains(row) && left.is_none_or(|supply| self.rows.supplies[*supply] > 0)
    }
}
