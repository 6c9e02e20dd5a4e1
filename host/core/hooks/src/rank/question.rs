//! The question to a ranking policy: context, tables, and the rows the question is about.
//!
//! `price` is asked once per decision round, before packing, for every (pool, offering) that pool may buy. `order` is
//! asked once after it, for every (claim, offering) that can hold the claim, and once for each command about nodes that buys something,
//! when it is confirmed. Candidates are CSR: one list of offering rows,
//! and the end of each pool's or claim's part. Settings are not in here: they belong to the module, which was accepted
//! with them, so that a shadow can be asked the very same question under other settings.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::catalogue::Tables;
use super::columns::{ClaimRow, Claims, PoolRow, Pools};
use crate::hook::Context;

impl Pools {
    /// Adds a pool with the offering rows it may buy.
    pub fn push(&mut self, pool: PoolRow, candidates: &[u32]) {
        self.push_pool(&pool);
        push_candidates(&mut self.cand_ends, &mut self.cand, candidates);
    }
}

impl Claims {
    /// Adds a claim with the offering rows that can hold it.
    pub fn push(&mut self, claim: ClaimRow, candidates: &[u32]) {
        self.push_claim(&claim);
        push_candidates(&mut self.cand_ends, &mut self.cand, candidates);
    }

    /// The part of `cand` that belongs to each claim, in the order of claims.
    pub fn ranges(&self) -> impl Iterator<Item = std::ops::Range<usize>> + '_ {
        let starts = std::iter::once(0).chain(self.cand_ends.iter().copied());
        starts
            .zip(&self.cand_ends)
            .map(|(start, &end)| start as usize..end as usize)
    }
}

/// Question for the price of one more node of each candidate offering.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PriceQuestion {
    /// Time and seed.
    pub context: Context,
    /// Names and catalogue, shared with other questions of the same snapshot.
    pub tables: Arc<Tables>,
    /// Who may buy what.
    pub pools: Pools,
}

/// In which order should the offerings of each planned claim be tried?
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OrderQuestion {
    /// Time and seed.
    pub context: Context,
    /// Names and catalogue, shared with other questions of the same snapshot.
    pub tables: Arc<Tables>,
    /// Planned claims, each with the offerings to put in order.
    pub claims: Claims,
}

fn push_candidates(ends: &mut Vec<u32>, all: &mut Vec<u32>, candidates: &[u32]) {
    all.extend_from_slice(candidates);
    ends.push(u32::try_from(all.len()).expect("a question has fewer than 2^32 rows"));
}
