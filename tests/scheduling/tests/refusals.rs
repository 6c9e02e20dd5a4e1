//! Why a pod is left waiting, in words (T06, T08).

use plimsoll_model::snapshot::MinValuesPolicy;
use plimsoll_oracles::fixture::*;
use plimsoll_scheduling_tests::{bare_market, check, market};

fn web() -> PodFixture {
    pod("web").cpu(100)
}

/// Checks that the reason for `web` has all these words.
fn says(cluster: ClusterFixture, words: &[&str]) {
    let reason = check(cluster).reason("web");
    for word in words {
        assert!(reason.contains(word), "`{word}` is missing from: {reason}");
    }
}

/// T08.
#[test]
fn too_little_of_a_resource_names_what_is_asked_and_the_most_there_is() {
    says(
        market().pod(web().cpu(17_000)),
        &[
            "too little cpu",
            "requests cpu 17;",
            "most: cpu 15.9 on arm-instance-type",
        ],
    );
    says(
        market().pod(web().memory_mib(200_000)),
        &[
            "too little memory",
            "requests memory 200000Mi",
            "memory 131062Mi",
            "arm-instance-type",
        ],
    );
}

/// Checks the rules that the only pool is said to refuse `web` by, with the offerings of each.
#[track_caller]
fn counts(cluster: ClusterFixture, rules: &str) {
    let reason = check(cluster).reason("web");
    assert_eq!(reason.split("; nearest: ").next(), Some(rules));
}

/// Three sizes, of which the system keeps 100m, in two zones, on demand and on spot.
fn sizes() -> ClusterFixture {
    let sold = |cores: i64| {
        let sold = instance_type(&format!("c-{cores}x")).cpu(cores * 1000);
        let sold = sold.memory_mib(cores * 4096).pods(110);
        let ways = [
            (ZONE_1, OnDemand),
            (ZONE_1, Spot),
            (ZONE_2, OnDemand),
            (ZONE_2, Spot),
        ];
        ways.into_iter()
            .fold(sold, |sold, (zone, kind)| sold.offered(zone, kind))
    };
    [1, 2, 16]
        .into_iter()
        .map(sold)
        .fold(cluster(), ClusterFixture::sells)
}

/// A pod in a zone that nothing is sold in, or with a device that nothing has, is not said to be too large for the small types.
#[test]
fn rule_that_refuses_every_offering_is_the_only_reason() {
    let general = || sizes().pool(pool("general"));
    let large = || web().cpu(1000);
    counts(
        general().pod(large().select(ZONE, ZONE_3)),
        "12 offerings: 12 not in zone test-zone-3",
    );
    counts(
        general().pod(large().select(ZONE, ZONE_1).device("nvidia.com/gpu", 1)),
        "12 offerings: 12 without nvidia.com/gpu (requests nvidia.com/gpu 1; no allowed instance type has nvidia.com/gpu)",
    );
    // The first of several, whichever the pod asks for.
    counts(
        general().pod(large().cpu(20_000).select(ZONE, ZONE_3)),
        "12 offerings: 12 not in zone test-zone-3",
    );
    counts(
        general().pod(large().memory_mib(100_000).cpu(20_000)),
        "12 offerings: 12 too little cpu (requests cpu 20; most: cpu 15.9 on c-16x)",
    );
}

/// What is too small would be taken if it were larger, and the most there is is that of the type that is asked for.
#[test]
fn requirements_are_counted_before_resources() {
    let asks = |cpu: i64| {
        let web = web().cpu(cpu).select(CAPACITY_TYPE, "on-demand");
        sizes()
            .pool(pool("general"))
            .pod(web.select(INSTANCE_TYPE, "c-2x"))
    };
    counts(
        asks(2000),
        "12 offerings: 6 not on-demand; 4 not c-2x; 2 too little cpu (requests cpu 2; most: cpu 1900m on c-2x)",
    );
    assert_eq!(check(asks(1900)).unplaced(), 0);
}

/// A limit that keeps the pod from the types that would hold it is the first reason, before a rule that refuses all that it leaves.
#[test]
fn limit_stands_in_front_of_the_rule_that_refuses_all_it_leaves() {
    let small = instance_type("small").cpu(2000).zones(&[ZONE_1]);
    let large = instance_type("large").cpu(8000).zones(&[ZONE_1, ZONE_2]);
    let limited = |asked: PodFixture| {
        let general = pool("general").limit_cpu(4000);
        cluster()
            .sells(small.clone())
            .sells(large.clone())
            .pool(general)
            .pod(asked)
    };
    counts(
        limited(web().select(ZONE, ZONE_2)),
        "2 offerings: 1 would hold it, but the NodePool's limits leave cpu 4 (the cheapest is large); 1 not in zone test-zone-2",
    );
    counts(
        limited(web().cpu(3000)),
        "3 offerings: 2 would hold it, but the NodePool's limits leave cpu 4 (the cheapest is large); 1 too little cpu (requests cpu 3; most: cpu 1900m on small)",
    );
    counts(
        limited(web().cpu(9000).select(ZONE, ZONE_2)),
        "1 offerings: 1 not in zone test-zone-2",
    );
}

/// T08.
#[test]
fn too_few_pods_is_told() {
    let daemons = (0..5).fold(market(), |cluster, at| {
        cluster.daemon(&pod(&format!("agent-{at}")))
    });
    says(daemons.pod(web()), &["too few pods", "requests pods 1"]);
}

/// T06: the catalogue of those days lacked the resource; with it, the pod is served.
#[test]
fn resource_that_no_type_offers_is_told_in_one_sentence() {
    let c7i = |name: &str, cores: i64| {
        instance_type(name)
            .cpu(cores * 1000)
            .memory_mib(cores * 2048)
            .pods(58)
            .zones(&[ZONE_1, ZONE_2])
    };
    let daemons = pod("daemons").cpu(310).memory_mib(272);
    let asks = || {
        web()
            .device("vpc.amazonaws.com/pod-eni", 1)
            .select(ARCH, "amd64")
    };
    let old = cluster()
        .sells(c7i("c7i.2xlarge", 8))
        .sells(c7i("c7i.4xlarge", 16));
    says(
        old.pool(pool("general").zones(&[ZONE_1, ZONE_2]))
            .daemon(&daemons)
            .pod(asks()),
        &["no allowed instance type has vpc.amazonaws.com/pod-eni"],
    );
    let eni = "vpc.amazonaws.com/pod-eni";
    let new = cluster()
        .sells(c7i("c7i.2xlarge", 8).device(eni, 38))
        .sells(c7i("c7i.4xlarge", 16).device(eni, 54));
    let outcome = check(new.pool(pool("general")).daemon(&daemons).pod(asks()));
    assert_eq!(outcome.unplaced(), 0);
}

/// T08.
#[test]
fn label_zone_and_capacity_type_are_told() {
    says(
        market().pod(web().select("team", "blue")),
        &["team In [blue]"],
    );
    let one_zone = || bare_market().pool(pool("general").zones(&[ZONE_1]));
    says(
        one_zone().pod(web().select(ZONE, ZONE_2)),
        &["topology.kubernetes.io/zone", ZONE_2, "nearest"],
    );
    says(
        market().pod(web().select(ZONE, ZONE_3).select(CAPACITY_TYPE, "spot")),
        &["not in zone test-zone-3", "not spot"],
    );
    let on_demand = bare_market().pool(pool("general").capacity_types(&[OnDemand]));
    says(
        on_demand.pod(web().select(CAPACITY_TYPE, "spot")),
        &["karpenter.sh/capacity-type", "spot"],
    );
}

/// T08.
#[test]
fn taint_is_told() {
    let tainted = bare_market().pool(pool("gpu").taint("nvidia.com/gpu", "true", NoSchedule));
    says(
        tainted.pod(web()),
        &["tainted nvidia.com/gpu=true:NoSchedule, not tolerated"],
    );
}

/// T08.
#[test]
fn limit_is_told_with_what_it_leaves() {
    says(
        bare_market()
            .pool(pool("general").limit_cpu(1000))
            .pod(web()),
        &[
            "limits leave no room",
            "cpu 1 left",
            "small-instance-type",
            "cpu 2",
        ],
    );
    says(
        bare_market()
            .pool(pool("general").limit_cpu(2000))
            .pod(web().cpu(3000)),
        &[
            "would hold it, but the NodePool's limits leave cpu 2 (the cheapest is ",
            "too little cpu",
            "nearest",
            "the pool's limits leave cpu 2",
        ],
    );
}

/// T08.
#[test]
fn minimum_of_values_is_told() {
    let few = bare_market().pool(pool("general").min_values(INSTANCE_TYPE, 40));
    says(
        few.pod(web()),
        &[
            "too few to choose from",
            "at least 40 values of node.kubernetes.io/instance-type",
        ],
    );
    let lowered = bare_market()
        .pool(pool("general").min_values(INSTANCE_TYPE, 40))
        .settings(|settings| settings.min_values = MinValuesPolicy::BestEffort);
    assert_eq!(check(lowered.pod(web())).unplaced(), 0);
}

/// T08.
#[test]
fn zone_of_a_volume_is_told_with_its_name() {
    let elsewhere = bare_market()
        .pool(pool("general").zones(&[ZONE_1]))
        .bound_volume("data-web", "ebs.csi.aws.com", &[ZONE_2])
        .pod(web().volume("data-web"));
    says(
        elsewhere,
        &[
            "not in zone test-zone-2 (volume data-web lives there)",
            "nearest",
        ],
    );
}

#[test]
fn what_is_sold_out_is_told() {
    let gone = cluster()
        .sells(instance_type("m").sold_out(ZONE_1, OnDemand))
        .pool(pool("general"));
    says(gone.pod(web()), &["sold out"]);
}

#[test]
fn pool_that_no_type_meets_is_told() {
    says(
        bare_market()
            .pool(pool("general").only_types(&["no-such-type"]))
            .pod(web()),
        &[
            "no available instance type meets its requirements",
            "nearest",
            "the NodePool requires node.kubernetes.io/instance-type",
        ],
    );
}

#[test]
fn spread_or_affinity_is_told_when_all_else_would_do() {
    let alone = || web().anti_affinity(ZONE);
    let cluster = bare_market()
        .pool(pool("general").zones(&[ZONE_1]))
        .node(node("old").managed("general").zone(ZONE_1).cpu(150))
        .pod(pod("first").cpu(100).on("old").label("app", "web"));
    says(
        cluster.pod(alone()),
        &["no zone or host is left that its spread or affinity allows"],
    );
}

#[test]
fn nearest_names_the_cheapest_that_breaks_the_fewest_rules() {
    says(
        bare_market()
            .pool(pool("general").only_types(&["small-instance-type"]))
            .pod(web().cpu(3000)),
        &[
            "nearest: default-instance-type",
            "the NodePool requires node.kubernetes.io/instance-type In [small-instance-type]",
        ],
    );
}

#[test]
fn every_pool_has_its_own_reason() {
    let outcome = check(
        bare_market()
            .pool(pool("general").zones(&[ZONE_1]))
            .pool(pool("gpu").taint("gpu", "", NoSchedule))
            .pod(web().select(ZONE, ZONE_2)),
    );
    let reason = outcome.reason("web");
    assert!(
        reason.contains("zone") && reason.contains("tainted gpu"),
        "{reason}"
    );
}
