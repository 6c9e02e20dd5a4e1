//! Large instances with little on them, where small ones would do.

use plimsoll_model::OwnerKind;
use plimsoll_oracles::fixture::{
    Amounts, CAPACITY_TYPE, ClusterFixture, NodeFixture, OnDemand, PodFixture, PoolFixture,
    TypeFixture, ZONE_1, machine, node, pod, pool,
};

/// A pool whose budgets hold nothing back.
pub(crate) fn unbudgeted() -> PoolFixture {
    pool("general").with(|pool| pool.disruption.budgets.clear())
}

/// A type of so many cores at so many dollars per hour, on demand.
pub(crate) fn sold(name: &str, cores: i64, price: f64) -> TypeFixture {
    machine(name, cores, price).offered(ZONE_1, OnDemand)
}

/// A node of the type `large`: 8 cores and 32 GiB.
pub(crate) fn large(name: &str) -> NodeFixture {
    let node = node(name).managed("general").of_type("large").zone(ZONE_1);
    let node = node.label(CAPACITY_TYPE, "on-demand").cpu(8000);
    node.memory_mib(32_768)
}

/// A pod of `web` that half a core and 256 MiB hold.
pub(crate) fn little(name: &str, on: &str) -> PodFixture {
    let web = pod(name).cpu(500).memory_mib(256);
    web.owned_by(OwnerKind::ReplicaSet, "web").on(on)
}

/// A large node with one little pod, and so many without any.
pub(crate) fn underused(market: ClusterFixture, empty: usize) -> ClusterFixture {
    let used = market.node(large("used")).pod(little("web", "used"));
    let names = (0..empty).map(|at| large(&format!("empty{at}")));
    names.fold(used, ClusterFixture::node)
}
