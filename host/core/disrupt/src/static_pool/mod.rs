//! Pools that keep a number of nodes (`spec.replicas`), whatever pods there are: the rules, as functions of values.
//!
//! [`Standing`] counts claims, [`planned`] makes one more from the pool's template, [`leaving`] says who goes first when there
//! are too many. The engine keeps the number by them; drift of such pools is a method of [`crate`]. Pods play no
//! part in how many nodes there are; for the scheduler they are nodes like any other.
//!
//! Rules are Karpenter's. Where Karpenter tells claims that are about to be moved from claims that are deleting, we need not: a
//! command asks for a successor and sets its node apart in one step, so that a node is counted either as staying or as deleting.

mod standing;
mod surplus;
mod template;

pub use standing::Standing;
pub use surplus::{Member, leaving};
pub use template::{drop_exhausted, planned, spread, zones};

use std::sync::Arc;

use plimsoll_base::words::shortened;
use plimsoll_model::NodePool;
use plimsoll_model::snapshot::{Settings, Snapshot};

/// Number of nodes that a pool keeps now; `None` unless it is static and not being deleted.
pub fn keeps_number(pool: &NodePool) -> Option<u32> {
    pool.replicas.filter(|_| pool.deleting.is_none())
}

/// Why the static pools of a snapshot are left as they are, in words; `None` where they are not, or there are none.
pub fn left_alone(pools: &[Arc<NodePool>], settings: &Settings) -> Option<String> {
    let fixed = pools.iter().filter(|pool| pool.replicas.is_some());
    let names: Vec<&str> = fixed.map(|pool| pool.name.as_str()).collect();
    let idle = !settings.static_capacity && !names.is_empty();
    idle.then(|| {
        let names = shortened(names);
        format!("NodePool {names} is not reconciled: setting staticCapacity is off")
    })
}

/// How each static pool of a snapshot stands, in words, by pool.
pub fn report(snapshot: &Snapshot) -> Vec<(Arc<NodePool>, String)> {
    let pools = snapshot.pools.iter();
    let ours = pools.filter(|pool| snapshot.catalogues.serves(&pool.class));
    ours.filter_map(|pool| Some((Arc::clone(pool), words(snapshot, pool, keeps_number(pool)?))))
        .collect()
}

fn words(snapshot: &Snapshot, pool: &NodePool, replicas: u32) -> String {
    let standing = Standing::of(snapshot, &pool.name);
    let kept = format!("{replicas} replicas, {} nodes", standing.staying);
    let (missing, excess) = (standing.missing(replicas), standing.excess(replicas));
    if missing + excess == 0 {
        return kept;
    }
    if !snapshot.settings.static_capacity {
        return format!("{kept}; not reconciled: setting staticCapacity is off");
    }
    if excess > 0 {
        return format!("{kept}; {excess} to terminate");
    }
    if !pool.ready {
        return format!("{kept}; it is not ready");
    }
    let come = missing.min(standing.headroom(pool));
    match missing - come {
        0 => format!("{kept}; {come} to launch"),
        held => format!("{kept}; {come} to launch, {held} exceed limits.nodes"),
    }
}
