//! NodePools that a pod asks for by name and that buy nothing: what its owner looks for first.

use std::collections::BTreeSet;

use plimsoll_base::labels;
use plimsoll_base::requirement::Requirement;
use plimsoll_model::NodePool;
use plimsoll_model::plan::PoolRefusal;

use crate::batch::compile::Compiled;
use crate::batch::pod_group::PodGroup;

/// Refusals of the NodePools that pods of a group name in a label, and that take no part in plans.
pub(super) fn named(compiled: &Compiled<'_>, group: &PodGroup) -> Vec<PoolRefusal> {
    let levels = group.last_levels().iter();
    let asked = levels.filter_map(|level| level.requirements.get(labels::NODEPOOL));
    let named = asked.filter_map(Requirement::listed).flatten();
    let named: BTreeSet<&str> = named.map(|name| &**name).collect();
    if named.is_empty() {
        return Vec::new();
    }
    let usable = |pool: &NodePool| {
        let mut templates = compiled.templates.iter();
        templates.any(|template| template.pool.name == pool.name)
    };
    let pools = compiled.snapshot.pools.iter();
    let pools = pools.filter(|pool| named.contains(pool.name.as_str()));
    pools
        .filter(|pool| !usable(pool))
        .map(|pool| PoolRefusal::whole(pool.name.clone(), why(compiled, pool)))
        .collect()
}

/// Why a NodePool buys nothing for pods, in words.
fn why(compiled: &Compiled<'_>, pool: &NodePool) -> String {
    if let Some(problem) = &pool.unread.problem {
        return format!("not ready: {problem}");
    }
    if let Some(other) = compiled.snapshot.catalogues.not_served(&pool.class) {
        return format!("left to another controller: its {other}");
    }
    if pool.deleting.is_some() {
        return "it is deleting".to_owned();
    }
    match pool.replicas {
        Some(replicas) => format!("it keeps {replicas} nodes and launches none for pods"),
        None => "not ready: see its conditions".to_owned(),
    }
}
