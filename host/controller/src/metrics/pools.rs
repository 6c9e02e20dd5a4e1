//! NodePools: limits and what is used of them, what their nodes cost, and how many of these may be down.

use std::collections::BTreeMap;
use std::sync::Arc;

use plimsoll_base::ids::PoolName;
use plimsoll_base::resources::Resources;
use plimsoll_base::units::PricePerHour;
use plimsoll_disrupt::budget::PoolAllowance;
use plimsoll_model::catalogue::Catalogues;
use plimsoll_model::{NodeClaim, NodePool};

use super::exposition::Exposition;
use super::families;
use super::{amount, resource_type};

/// One pool, and the capacity of its nodes.
pub(crate) type UsedPool = (Arc<NodePool>, Resources);

/// Limits, usage and cost of pools.
pub(crate) fn write(
    out: &mut Exposition,
    pools: &[UsedPool],
    claims: &[Arc<NodeClaim>],
    catalogues: &Catalogues,
) {
    let mut limits = out.family(&families::POOL_LIMIT);
    for (pool, _) in pools {
        for (name, limit) in pool.limits.iter().flat_map(Resources::iter) {
            let kind = resource_type(name);
            limits.sample(&[&kind, pool.name.as_str()], amount(name, limit));
        }
    }
    let mut usage = out.family(&families::POOL_USAGE);
    for (pool, used) in pools {
        for (name, used) in used.iter() {
            let kind = resource_type(name);
            usage.sample(&[&kind, pool.name.as_str()], amount(name, used));
        }
    }
    let mut costs: BTreeMap<&PoolName, PricePerHour> = BTreeMap::new();
    for claim in claims.iter().filter(|claim| claim.provider_id.is_some()) {
        let price = catalogues.of(&claim.class).price_of(claim);
        *costs.entry(&claim.pool).or_default() += price;
    }
    let mut samples = out.family(&families::POOL_COST);
    for (pool, _) in pools {
        let cost = costs.get(&pool.name).copied().unwrap_or_default();
        samples.sample(&[pool.name.as_str()], cost.dollars());
    }
}

/// Budgets of pools, by the reasons as budgets name them.
pub(crate) fn write_allowances(out: &mut Exposition, allowances: &[PoolAllowance]) {
    // Karpenter's number where nothing limits them.
    let most = i32::MAX.unsigned_abs();
    let mut samples = out.family(&families::POOL_ALLOWED);
    for own in allowances {
        let values = [own.pool.as_str(), own.reason.as_str()];
        samples.sample(&values, f64::from(own.declared.nodes.min(most)));
    }
    let mut samples = out.family(&families::POOL_CONSUMING);
    for own in allowances {
        let values = [own.pool.as_str(), own.reason.as_str()];
        samples.sample(&values, f64::from(own.nodes.down));
    }
}
