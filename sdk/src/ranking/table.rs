//! The whole question at once: every (pool, offering) to be priced, or every (claim, offering) to be ordered.

use std::rc::Rc;

use super::answer::{Price, PriceAnswer, Score, ScoreAnswer};
use super::columns::Tables;
use super::view::{Claim, Offering, Pool};
use crate::bindings::ranker::exports::plimsoll::policy::ranker::{Claims, Pools};
use crate::columns::rows_and_time;

/// Every offering that every pool may buy. Rows are in the host's canonical order: by pool, then by offering.
#[derive(Debug)]
pub struct PriceTable {
    tables: Rc<Tables>,
    pools: Rc<Pools>,
}

impl PriceTable {
    pub(crate) fn new(mut tables: Tables, mut pools: Pools) -> Self {
        tables.candidate_signals = std::mem::take(&mut pools.cand_ext);
        Self {
            tables: Rc::new(tables),
            pools: Rc::new(pools),
        }
    }

    rows_and_time!(pools.cand, tables.context);

    /// Randomness of the snapshot: the same snapshot, the same seed.
    pub fn seed(&self) -> u64 {
        self.tables.context.seed
    }

    /// Looks at every row, in order.
    pub fn each(&self, mut look: impl FnMut(&Offering, &Pool)) {
        let mut pool = self.pool(0);
        self.candidates().each(|offering, row| {
            pool.row = row;
            look(offering, &pool);
        });
    }

    /// Looks at every offering once, however many pools may buy it.
    pub fn each_offering(&self, mut look: impl FnMut(&Offering)) {
        let mut seen = vec![false; self.tables.catalog.o_type.len()];
        self.each(|offering, _pool| {
            if !std::mem::replace(&mut seen[offering.row()], true) {
                look(offering);
            }
        });
    }

    /// Prices every row, in order.
    pub fn map(&self, mut price: impl FnMut(&Offering, &Pool) -> Price) -> PriceAnswer {
        let mut answer = PriceAnswer::blank(self.len());
        let mut slots = answer.slots();
        self.each(|offering, pool| {
            if let Some(slot) = slots.next() {
                slot.write(price(offering, pool));
            }
        });
        let written = self.len() - slots.len();
        drop(slots);
        answer.keep(written);
        answer
    }

    /// The views of one row; `None` where there is no such row.
    pub fn row(&self, candidate: usize) -> Option<(Offering, Pool)> {
        let (offering, row) = self.candidates().get(candidate)?;
        Some((offering, self.pool(row)))
    }

    fn candidates(&self) -> Candidates<'_> {
        Candidates::of(&self.tables, &self.pools.cand, &self.pools.cand_ends)
    }

    fn pool(&self, row: usize) -> Pool {
        let (tables, pools) = (Rc::clone(&self.tables), Rc::clone(&self.pools));
        Pool { tables, pools, row }
    }
}

/// Every offering that can hold every planned claim. Rows are in the host's canonical order: by claim, then by offering.
#[derive(Debug)]
pub struct OrderTable {
    tables: Rc<Tables>,
    claims: Rc<Claims>,
}

impl OrderTable {
    pub(crate) fn new(tables: Tables, claims: Claims) -> Self {
        Self {
            tables: Rc::new(tables),
            claims: Rc::new(claims),
        }
    }

    rows_and_time!(claims.cand, tables.context);

    /// Randomness of the snapshot: the same snapshot, the same seed.
    pub fn seed(&self) -> u64 {
        self.tables.context.seed
    }

    /// Looks at every row, in order.
    pub fn each(&self, mut look: impl FnMut(&Offering, &Claim)) {
        let mut claim = self.claim(0);
        self.candidates().each(|offering, row| {
            claim.row = row;
            look(offering, &claim);
        });
    }

    /// Scores every row, in order.
    pub fn map(&self, mut score: impl FnMut(&Offering, &Claim) -> Score) -> ScoreAnswer {
        let mut answer = ScoreAnswer::blank(self.len());
        let mut slots = answer.slots();
        self.each(|offering, claim| {
            if let Some(slot) = slots.next() {
                slot.write(score(offering, claim));
            }
        });
        let written = self.len() - slots.len();
        drop(slots);
        answer.keep(written);
        answer
    }

    /// The views of one row; `None` where there is no such row.
    pub fn row(&self, candidate: usize) -> Option<(Offering, Claim)> {
        let (offering, row) = self.candidates().get(candidate)?;
        Some((offering, self.claim(row)))
    }

    fn candidates(&self) -> Candidates<'_> {
        Candidates::of(&self.tables, &self.claims.cand, &self.claims.cand_ends)
    }

    fn claim(&self, row: usize) -> Claim {
        let (tables, claims) = (Rc::clone(&self.tables), Rc::clone(&self.claims));
        Claim {
            tables,
            claims,
            row,
        }
    }
}

/// Offerings owner by owner: those that each pool may buy, or that can hold each claim.
struct Candidates<'t> {
    tables: &'t Rc<Tables>,
    offerings: &'t [u32],
    /// Where those of each owner end.
    ends: &'t [u32],
}

impl<'t> Candidates<'t> {
    fn of(tables: &'t Rc<Tables>, offerings: &'t [u32], ends: &'t [u32]) -> Self {
        Self {
            tables,
            offerings,
            ends,
        }
    }

    /// Looks at every one, with the row of its owner.
    fn each(&self, mut look: impl FnMut(&Offering, usize)) {
        let mut offering = Offering::new(self.tables);
        let mut start = 0;
        for (row, &end) in self.ends.iter().enumerate() {
            let end = end as usize;
            for (candidate, &offered) in (start..).zip(&self.offerings[start..end]) {
                offering.move_to(candidate, offered);
                look(&offering, row);
            }
            start = end;
        }
    }

    /// One of them, with the row of its owner; `None` where there are not so many.
    fn get(&self, candidate: usize) -> Option<(Offering, usize)> {
        let mut offering = Offering::new(self.tables);
        offering.move_to(candidate, *self.offerings.get(candidate)?);
        let row = self.ends.partition_point(|&end| end as usize <= candidate);
        Some((offering, row))
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Market;

    #[test]
    fn an_offering_that_two_pools_may_buy_is_looked_at_once() {
        let market = Market::new()
            .pool("batch")
            .offering("m5.large", "a", 0.096)
            .offering("m5.large", "b", 0.096);
        let table = market.price_table();
        let mut rows = Vec::new();
        table.each_offering(|offering| rows.push(offering.row()));
        assert_eq!((table.len(), rows), (4, vec![0, 1]));
    }
}
