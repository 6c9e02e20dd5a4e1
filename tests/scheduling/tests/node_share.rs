//! The largest new node: a share of what its pool's pods request.

use plimsoll_check::{PriceRule as Whose, review};
use plimsoll_model::OwnerKind;
use plimsoll_oracles::fixture::*;
use plimsoll_schedule::plan;

use crate::guards::{family, names, on_demand, texts};

/// Small instances, and large ones at a tenth of their price.
fn cheap_large() -> ClusterFixture {
    cluster()
        .sells(family("m7i.large", 2, 0.2))
        .sells(family("m7i.24xlarge", 96, 1.0))
        .pool(on_demand())
}

/// Pods of the shape of every instance.
fn even(name: &str) -> PodFixture {
    pod(name).cpu(1000).memory_mib(4096)
}

#[test]
fn large_types_are_bought_only_for_pods_that_need_them() {
    let small = plan(&cheap_large().pods(even("web").replicas(96)).snapshot());
    assert_eq!(names(&small), ["m7i.large"]);
    let db = pod("db").cpu(60_000).memory_mib(60 * 1024);
    let large = plan(&cheap_large().pod(db).snapshot());
    assert_eq!(names(&large), ["m7i.24xlarge"]);
    assert_eq!(
        texts(&large),
        [
            "guard on node share yields on 1 new node(s): nothing else would hold their pods; the largest has 96 vCPU and 384 GiB, 640 %; the pool allows a new node 48 vCPU or 5 % of what its pods request, which is 3 vCPU and 3 GiB"
        ]
    );
}

#[test]
fn a_new_node_has_a_twentieth_of_its_pool_at_most() {
    let bought = |cluster: ClusterFixture| {
        let snapshot = cluster.snapshot();
        let plan = plan(&snapshot);
        assert_eq!((plan.unplaced.len(), texts(&plan)), (0, vec![]));
        assert_eq!(review(&snapshot, &plan, Whose::List), []);
        names(&plan)
    };
    let of = |pods: usize| bought(cheap_large().pods(even("web").replicas(pods)));
    assert_eq!(of(20 * 96), ["m7i.24xlarge"]);
    assert_eq!(of(20 * 96 - 1), ["m7i.large"]);
    // The larger share counts: these ask for twenty times the cores of a large instance and too little memory.
    let lean = pod("web").cpu(1000).memory_mib(4095).replicas(20 * 96);
    assert_eq!(bought(cheap_large().pods(lean)), ["m7i.large"]);
    // There is no share of a resource that no pod requests.
    let without_memory = |pods| bought(cheap_large().pods(pod("web").cpu(1000).replicas(pods)));
    assert_eq!(without_memory(20 * 96), ["m7i.24xlarge"]);
    assert_eq!(without_memory(20 * 96 - 1), ["m7i.large"]);
    let with = |percent: u32, pods: usize| {
        let cluster = cheap_large().pods(even("web").replicas(pods));
        bought(cluster.settings(|all| all.guards.node_share_percent = percent))
    };
    assert_eq!(with(100, 96), ["m7i.24xlarge"]);
    assert_eq!(with(0, 20 * 96), ["m7i.large"]);
}

#[test]
fn pods_that_run_on_its_nodes_count_for_a_pool_and_no_others() {
    let running = |pod: PodFixture, node: NodeFixture| {
        let node = node.cpu(2000).taint("full", "", NoSchedule);
        let running = pod.replicas(19 * 96).map(|pod| pod.on("n1"));
        let waiting = even("web").replicas(96);
        let cluster = cheap_large().node(node).pods(running).pods(waiting);
        names(&plan(&cluster.snapshot()))
    };
    let own = || node("n1").managed("general");
    assert_eq!(running(even("old"), own()), ["m7i.24xlarge"]);
    assert_eq!(running(even("old"), node("n1")), ["m7i.large"]);
    let daemon = even("old").owned_by(OwnerKind::DaemonSet, "agent");
    assert_eq!(running(daemon, own()), ["m7i.large"]);
}
