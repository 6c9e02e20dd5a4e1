//! The whole question at once: every (pool, offering) to be priced, or every (claim, offering) to be ordered.

use std::rc::Rc;

use super::answer::{Price, PriceAnswer, Score, ScoreAnswer};
use super::columns::Tables;
use super::view::{Claim, Offering, Pool};
use crate::bindings::ranker::exports::plimsoll::policy::ranker::{Claims, Pools};
use crate::time::{LocalTime, TimeZone};

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

    /// Rows to be priced.
    pub fn len(&self) -> usize {
        self.pools.cand.len()
    }

    /// `true` if there is nothing to price.
    pub fn is_empty(&self) -> bool {
        self.pools.cand.is_empty()
    }

    /// Seconds since 1970 at the time of the snapshot.
    pub fn now_unix_s(&self) -> u64 {
        self.tables.context.now_unix_s
    }

    /// Randomness of the snapshot: the same snapshot, the same seed.
    pub fn seed(&self) -> u64 {
        self.tables.context.seed
    }

    /// Date and time of day in a time zone that is a setting of the policy.
    pub fn local(&self, zone: &TimeZone) -> LocalTime {
        LocalTime::of(&self.tables.context, zone)
    }

    /// Looks at every row, in order.
    pub fn each(&self, mut look: impl FnMut(&Offering, &Pool)) {
        let mut offering = Offering::new(&self.tables);
        let mut pool = Pool {
            tables: Rc::clone(&self.tables),
            pools: Rc::clone(&self.pools),
            row: 0,
        };
        let mut start = 0;
        for (row, &end) in self.pools.cand_ends.iter().enumerate() {
            pool.row = row;
            let end = end as usize;
            for (candidate, &offered) in (start..).zip(&self.pools.cand[start..end]) {
                offering.move_to(candidate, offered);
                look(&offering, &pool);
            }
            start = end;
        }
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
        let mut offering = Offering::new(&self.tables);
        offering.move_to(candidate, *self.pools.cand.get(candidate)?);
        let row = self
            .pools
            .cand_ends
            .partition_point(|&end| end as usize <= candidate);
        Some((
            offering,
            Pool {
                tables: Rc::clone(&self.tables),
                pools: Rc::clone(&self.pools),
                row,
            },
        ))
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

    /// Rows to be scored.
    pub fn len(&self) -> usize {
        self.claims.cand.len()
    }

    /// `true` if there is nothing to score.
    pub fn is_empty(&self) -> bool {
        self.claims.cand.is_empty()
    }

    /// Seconds since 1970 at the time of the snapshot.
    pub fn now_unix_s(&self) -> u64 {
        self.tables.context.now_unix_s
    }

    /// Randomness of the snapshot: the same snapshot, the same seed.
    pub fn seed(&self) -> u64 {
        self.tables.context.seed
    }

    /// Date and time of day in a time zone that is a setting of the policy.
    pub fn local(&self, zone: &TimeZone) -> LocalTime {
        LocalTime::of(&self.tables.context, zone)
    }

    /// Looks at every row, in order.
    pub fn each(&self, mut look: impl FnMut(&Offering, &Claim)) {
        let mut offering = Offering::new(&self.tables);
        let mut claim = Claim {
            tables: Rc::clone(&self.tables),
            claims: Rc::clone(&self.claims),
            row: 0,
        };
        let mut start = 0;
        for (row, &end) in self.claims.cand_ends.iter().enumerate() {
            claim.row = row;
            let end = end as usize;
            for (candidate, &offered) in (start..).zip(&self.claims.cand[start..end]) {
                offering.move_to(candidate, offered);
                look(&offering, &claim);
            }
            start = end;
        }
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
        let mut offering = Offering::new(&self.tables);
        offering.move_to(candidate, *self.claims.cand.get(candidate)?);
        let row = self
            .claims
            .cand_ends
            .partition_point(|&end| end as usize <= candidate);
        Some((
            offering,
            Claim {
                tables: Rc::clone(&self.tables),
                claims: Rc::clone(&self.claims),
                row,
            },
        ))
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
