//! Pools that ask by name for a policy which does not serve: the host holds their voluntary disruption, and they are told.

use std::collections::BTreeSet;
use std::sync::Arc;

use plimsoll_api::Kind;
use plimsoll_base::event_reason::EventReason;
use plimsoll_base::ids::PoolName;
use plimsoll_kube::event::Notice;
use plimsoll_model::{NamedPolicies, NodePool};
use plimsoll_policy::{Generation, Hook};
use tokio::time::sleep;

use super::share::Pools;
use super::{Common, PAUSE};

/// A pool, with the annotation and the policy that it names.
pub(super) type Held = (PoolName, &'static str, Arc<str>);

/// Tells each such pool once, until it is held no more.
pub(super) async fn tell(common: Arc<Common>) {
    let mut pools = common.given.pools.clone();
    let mut told = BTreeSet::new();
    loop {
        let generation = common.given.generations.current();
        let held = held(&pools.borrow_and_update(), &generation);
        for new in held.difference(&told) {
            common.given.notices.publish(notice(new));
        }
        told = held;
        tokio::select! {
            changed = pools.changed() => if changed.is_err() {
                return;
            },
            () = sleep(PAUSE) => {}
        }
    }
}

fn held(pools: &Pools, generation: &Generation) -> BTreeSet<Held> {
    let pools = pools.values();
    pools.filter_map(|pool| of(generation, pool)).collect()
}

/// The policy that a pool names and that does not serve; `None` where all do.
pub(super) fn of(generation: &Generation, pool: &Arc<NodePool>) -> Option<Held> {
    let (hook, policy) = generation.missing(pool)?;
    let annotation = match hook {
        Hook::Rank => NamedPolicies::RANK,
        Hook::Consolidate => NamedPolicies::CONSOLIDATE,
        Hook::Budget => NamedPolicies::BUDGET,
    };
    Some((pool.name.clone(), annotation, Arc::clone(policy)))
}

/// A remark on the pool.
pub(super) fn words((_, annotation, policy): &Held) -> String {
    let meanwhile = match *annotation {
        NamedPolicies::RANK => "purchases are ranked by list price, and ",
        _ => "",
    };
    format!(
        "annotation {annotation} names policy {policy}, which does not serve; until it does or the annotation is removed, {meanwhile}no node of the NodePool is disrupted for consolidation, emptiness or drift"
    )
}

fn notice(held: &Held) -> Notice {
    let (pool, message) = (&held.0, words(held));
    tracing::warn!(pool = pool.as_str(), "{message}");
    Notice::new(
        Kind::NodePool,
        ("", pool.as_str()),
        EventReason::PolicyMissing,
        message,
    )
}
