//! Moves of pools that have reached their limits: a node that is removed frees its share for the one that replaces it.

use plimsoll_base::resources::ResourceName;
use plimsoll_model::PackingMode;
use plimsoll_oracles::fixture::PoolFixture;

use crate::pass::{general, ours, pass, sold, web};

/// Instance types that replace large nodes with a small pod each, in a pool with these limits.
fn replaced_by(nodes: usize, limit: impl Fn(PoolFixture) -> PoolFixture) -> Vec<String> {
    let replaced = [PackingMode::Price, PackingMode::Compatible].map(|packing| {
        let pool = limit(general(|pool| pool.packing = packing));
        let world = (0..nodes).fold(sold(pool), |world, at| {
            let name = format!("n{at}");
            let pod = web(&format!("web-{at}"), &name);
            world.node(ours(&name, "large", 8000)).pod(pod)
        });
        let commands = pass(&world.snapshot()).commands;
        let claims = commands.iter().flat_map(|command| &command.plan.claims);
        let chosen = claims.filter_map(|claim| Some(claim.chosen()?.instance_type.to_string()));
        chosen.collect::<Vec<String>>()
    });
    assert_eq!(replaced[0], replaced[1], "as with Karpenter's rules");
    replaced[0].clone()
}

#[test]
fn what_leaves_frees_its_share_of_the_limits_of_its_pool() {
    let none: [&str; 0] = [];
    assert_eq!(replaced_by(1, |pool| pool), ["small"]);
    assert_eq!(replaced_by(1, |pool| pool.limit_cpu(8000)), ["small"]);
    assert_eq!(replaced_by(1, |pool| pool.limit_nodes(1)), ["small"]);
    assert_eq!(replaced_by(1, |pool| pool.limit_cpu(1999)), none);
    assert_eq!(replaced_by(1, |pool| pool.limit_nodes(0)), none);
    let gpus = ResourceName::from("example.com/gpu");
    assert_eq!(
        replaced_by(1, |pool| pool.limit(gpus.clone(), 0)),
        ["small"]
    );
    // Both go for one, whose share is less than theirs.
    assert_eq!(replaced_by(2, |pool| pool.limit_cpu(16_000)), ["small"]);
    assert_eq!(replaced_by(2, |pool| pool.limit_cpu(2000)), ["small"]);
    assert_eq!(replaced_by(2, |pool| pool.limit_cpu(1000)), none);
}
