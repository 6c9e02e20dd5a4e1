//! What a ranking policy is asked: context, tables, and the rows the question is about.
//!
//! `price` is asked once per decision round, before packing, for every (pool, offering) that pool may buy. `order` is
//! asked once after it, for every (claim, offering) that can hold the claim, and once for each command about nodes that buys something,
//! when it is confirmed. Candidates are CSR: one list of offering rows,
//! and the end of each pool's or claim's part. Settings are not in here: they belong to the module, which was accepted
//! with them, so that a shadow can be asked the very same question under other settings.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::catalogue::Tables;
use crate::hook::{Context, ExtColumn, Sym};

/// One pool, as it enters a question.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PoolRow {
    /// Name of the NodePool.
    pub name: Sym,
    /// Weight of the NodePool, 0 to 100: higher is tried first, by the host, whatever the prices.
    pub weight: u32,
    /// Nodes the pool has.
    pub nodes: u32,
    /// What those nodes cost, dollars per hour at list price.
    pub cost: f64,
}

/// Pools and the offerings each may buy.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Pools {
    /// Names.
    pub name: Vec<Sym>,
    /// Weights.
    pub weight: Vec<u32>,
    /// Nodes now.
    pub nodes: Vec<u32>,
    /// Cost now, dollars per hour.
    pub cost: Vec<f64>,
    /// End of each pool's part of `cand`.
    pub cand_ends: Vec<u32>,
    /// Offering rows.
    pub cand: Vec<u32>,
    /// Optional signals per pool.
    pub p_ext: Vec<ExtColumn>,
    /// Optional signals per candidate.
    pub cand_ext: Vec<ExtColumn>,
}

impl Pools {
    /// Adds a pool with the offering rows it may buy.
    pub fn push(&mut self, pool: PoolRow, candidates: &[u32]) {
        self.name.push(pool.name);
        self.weight.push(pool.weight);
        self.nodes.push(pool.nodes);
        self.cost.push(pool.cost);
        push_candidates(&mut self.cand_ends, &mut self.cand, candidates);
    }
}

/// One planned claim, as it enters a question. Requests are the claim's totals, daemons included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClaimRow {
    /// Name of its NodePool.
    pub pool: Sym,
    /// Requested processor time, milli-CPU.
    pub cpu_milli: u32,
    /// Requested memory, MiB, rounded up.
    pub mem_mib: u32,
    /// Pods.
    pub pods: u32,
    /// Accelerators.
    pub gpus: u32,
}

/// Planned claims and the offerings that can hold each.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Claims {
    /// Names of the NodePools.
    pub pool: Vec<Sym>,
    /// Requested milli-CPU.
    pub cpu_milli: Vec<u32>,
    /// Requested MiB.
    pub mem_mib: Vec<u32>,
    /// Pods.
    pub pods: Vec<u32>,
    /// Accelerators.
    pub gpus: Vec<u32>,
    /// End of each claim's part of `cand`.
    pub cand_ends: Vec<u32>,
    /// Offering rows.
    pub cand: Vec<u32>,
    /// Optional signals per claim.
    pub ext: Vec<ExtColumn>,
}

impl Claims {
    /// Adds a claim with the offering rows that can hold it.
    pub fn push(&mut self, claim: ClaimRow, candidates: &[u32]) {
        self.pool.push(claim.pool);
        self.cpu_milli.push(claim.cpu_milli);
        self.mem_mib.push(claim.mem_mib);
        self.pods.push(claim.pods);
        self.gpus.push(claim.gpus);
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

/// What does one more node of each candidate offering cost?
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PriceQuestion {
    /// Time, seed, generation.
    pub context: Context,
    /// Names and catalogue, shared with other questions of the same snapshot.
    pub tables: Arc<Tables>,
    /// Who may buy what.
    pub pools: Pools,
}

/// In which order should the offerings of each planned claim be tried?
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OrderQuestion {
    /// Time, seed, generation.
    pub context: Context,
    /// Names and catalogue, shared with other questions of the same snapshot.
    pub tables: Arc<Tables>,
    /// What was planned.
    pub claims: Claims,
}

fn push_candidates(ends: &mut Vec<u32>, all: &mut Vec<u32>, candidates: &[u32]) {
    all.extend_from_slice(candidates);
    ends.push(u32::try_from(all.len()).expect("a question has fewer than 2^32 rows"));
}
