//! A cluster finds by index what a look at every object would find, whatever has happened to it.

use std::sync::Arc;

use plimsoll_base::ids::{ClaimName, NodeName, ObjectName, PoolName, Uid};
use plimsoll_base::time::Timestamp;
use plimsoll_cluster::{ClaimCounts, Cluster, GroupId};
use plimsoll_model::snapshot::Objects;
use plimsoll_model::{ClaimPhase, Node, NodeClaim, Object, OwnerKind, Pod, PodPhase, Version};
use plimsoll_oracles::fixture::{NodeFixture, cluster, node, pod};
use plimsoll_oracles::judge::cases;
use proptest::prelude::*;

/// Something that happens: its kind, two objects, and two answers to yes-or-no questions about it.
type Step = (u8, u8, u8, bool, bool);

fn fixture(number: u8, is_deleting: bool) -> NodeFixture {
    let fixture = node(&format!("n{number}"));
    if is_deleting {
        fixture.deleting()
    } else {
        fixture
    }
}

fn claimed(number: u8, pool: u8, is_deleting: bool, is_launched: bool) -> Objects {
    let phase = if is_launched {
        ClaimPhase::Initialized
    } else {
        ClaimPhase::Created
    };
    let fixture = fixture(number, is_deleting);
    let fixture = fixture.managed(&format!("pool-{}", pool % 2)).phase(phase);
    cluster().node(fixture).parts().0
}

fn bound(number: u8, to: u8, has_ended: bool, of_other: bool) -> Arc<Pod> {
    let owner = format!("app-{}", u8::from(of_other));
    let mut fixture = pod(&format!("p{number}")).owned_by(OwnerKind::ReplicaSet, &owner);
    if to < 4 {
        fixture = fixture.on(&format!("n{to}"));
    }
    let phase = if has_ended {
        PodPhase::Succeeded
    } else {
        PodPhase::Running
    };
    let fixture = fixture.with(|pod| pod.phase = phase);
    Arc::clone(&cluster().pod(fixture).parts().0.pods[0])
}

/// The uid of the first or the second object of a name.
fn reborn(again: bool) -> Uid {
    Uid::from(if again { "second" } else { "first" })
}

fn happen(world: &mut Cluster, version: Version, step: Step) {
    let (kind, one, other, first, second) = step;
    let claim = ClaimName::from(format!("claim-n{}", one % 4));
    match kind {
        0..3 => world.apply(Object::Pod(bound(one, other, first, second)), version),
        3 => {
            let gone = Object::Pod(bound(one, other, first, second));
            world.remove(&gone, version);
        }
        4 => {
            // Sometimes it is another of its name.
            let own = fixture(one % 4, first).with(|node| node.uid = reborn(second));
            let node = &cluster().node(own).parts().0.nodes[0];
            world.apply(Object::Node(Arc::clone(node)), version);
        }
        5 => {
            let own = fixture(one % 4, false).with(|node| node.uid = reborn(second));
            let node = &cluster().node(own).parts().0.nodes[0];
            world.remove(&Object::Node(Arc::clone(node)), version);
        }
        6 | 7 => {
            let mut objects = claimed(one % 4, other, first, second);
            Arc::make_mut(&mut objects.claims[0]).uid = reborn(other > 3);
            world.apply(Object::Claim(Arc::clone(&objects.claims[0])), version);
        }
        8 => {
            let mut objects = claimed(one % 4, other, first, second);
            Arc::make_mut(&mut objects.claims[0]).uid = reborn(other > 3);
            world.remove(&Object::Claim(Arc::clone(&objects.claims[0])), version);
        }
        _ if first => world.mark(&claim, Timestamp::from_millis(1)),
        _ => world.unmark(&claim),
    }
}

fn names<'p>(pods: impl Iterator<Item = &'p Arc<Pod>>) -> Vec<ObjectName> {
    pods.map(|pod| pod.name.clone()).collect()
}

fn of_group(world: &Cluster, group: GroupId) -> impl Iterator<Item = &Arc<Pod>> {
    let pods = world.pods.sorted().into_iter();
    pods.filter(move |pod| GroupId::of(pod) == group)
}

/// Nodes that are asked to go, or whose claim is, ends, or is set apart.
fn deleting(world: &Cluster) -> Vec<&NodeName> {
    let leaves = |claim: &NodeClaim| {
        let is_set_apart = world.marked(&claim.name).is_some();
        is_set_apart || claim.deleting.is_some() || claim.is_instance_terminating()
    };
    let own = |node: &Node| behind(world, node).is_some_and(|claim| leaves(claim));
    let nodes = world.nodes.sorted().into_iter();
    let nodes = nodes.filter(|node| node.deleting.is_some() || own(node));
    nodes.map(|node| &node.name).collect()
}

/// The last by name of the claims that name the instance of a node.
fn behind<'w>(world: &'w Cluster, node: &Node) -> Option<&'w Arc<NodeClaim>> {
    let mut claims = world.claims.sorted().into_iter();
    let id = node.provider_id.as_ref()?;
    claims.rfind(|claim| claim.provider_id.as_ref() == Some(id))
}

fn counted(world: &Cluster, pool: &PoolName) -> ClaimCounts {
    let mut counts = ClaimCounts::default();
    let claims = world.claims.unordered();
    for claim in claims.filter(|claim| claim.pool == *pool) {
        let is_set_apart = world.marked(&claim.name).is_some();
        if is_set_apart || claim.deleting.is_some() || claim.is_instance_terminating() {
            counts.deleting += 1;
        } else {
            counts.staying += 1;
            counts.unlaunched += u32::from(claim.provider_id.is_none());
        }
    }
    counts
}

proptest! {
    #![proptest_config(cases(256))]

    #[test]
    fn an_index_finds_what_a_look_at_all_objects_finds(
        steps in proptest::collection::vec((0..10_u8, 0..6_u8, 0..6_u8, any::<bool>(), any::<bool>()), 1..60),
    ) {
        let mut world = Cluster::default();
        for (at, step) in steps.into_iter().enumerate() {
            happen(&mut world, Version(at as u64 + 1), step);
            let groups: std::collections::BTreeSet<GroupId> =
                world.pods.unordered().map(|pod| GroupId::of(pod)).collect();
            for group in groups {
                let unbound = of_group(&world, group).filter(|pod| pod.node.is_none());
                prop_assert_eq!(names(world.unbound_of(group)), names(unbound));
                let displaced = deleting(&world).into_iter().flat_map(|node| {
                    let on = move |pod: &&Arc<Pod>| pod.node.as_ref() == Some(node);
                    of_group(&world, group).filter(on)
                });
                prop_assert_eq!(names(world.displaced_of(group)), names(displaced));
                for node in (0..4).map(|number| NodeName::from(format!("n{number}"))) {
                    let on = |pod: &&Arc<Pod>| pod.node.as_ref() == Some(&node);
                    let own = of_group(&world, group).filter(on);
                    prop_assert_eq!(names(world.pods_of_on(group, &node)), names(own));
                }
            }
            for node in (0..4).map(|number| NodeName::from(format!("n{number}"))) {
                let all = world.pods.sorted().into_iter();
                let on = all.filter(|pod| pod.node.as_ref() == Some(&node));
                let (found, looked) = (world.pods_on(&node).collect::<Vec<_>>(), on.collect::<Vec<_>>());
                prop_assert_eq!(found, looked);
            }
            for node in world.nodes.unordered() {
                prop_assert_eq!(world.claim_on(&node.name), behind(&world, node));
            }
            for claim in world.claims.unordered().filter(|claim| claim.provider_id.is_some()) {
                let nodes = world.nodes.sorted().into_iter();
                let own = nodes.filter(|node| node.provider_id == claim.provider_id);
                let (found, looked) = (world.nodes_of(claim), own.cloned().collect::<Vec<_>>());
                prop_assert_eq!(found, looked);
            }
            prop_assert_eq!(world.deleting().collect::<Vec<_>>(), deleting(&world));
            for pool in ["pool-0", "pool-1"].map(PoolName::from) {
                prop_assert_eq!(world.claim_counts(&pool), counted(&world, &pool));
            }
        }
    }
}
