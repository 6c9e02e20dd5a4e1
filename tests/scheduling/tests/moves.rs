//! Consolidation moves of single nodes: when there is one, and what it says.

use plimsoll_base::labels::CAPACITY_TYPE;
use plimsoll_base::units::PricePerHour;
use plimsoll_disrupt::moves::{Move, MoveSettings, find};
use plimsoll_hooks::score::MoveKind;
use plimsoll_model::plan::Target;
use plimsoll_model::snapshot::Snapshot;
use plimsoll_model::{ClaimPhase, DoNotDisrupt, MoveCost, PackingMode};
use plimsoll_oracles::fixture::*;
use plimsoll_oracles::moves::findings;
use plimsoll_scheduling_tests::of_web;

/// A node of ours of a type of so many cores, on these terms.
fn ours(name: &str, of_type: &str, cores: i64, terms: &str) -> NodeFixture {
    node(name)
        .cpu(cores * 1000)
        .memory_mib(cores * 4096)
        .of_type(of_type)
        .zone(ZONE_1)
        .label(CAPACITY_TYPE, terms)
        .managed("general")
}

fn on_demand(name: &str, of_type: &str, cores: i64) -> NodeFixture {
    ours(name, of_type, cores, "on-demand")
}

/// A type of so many cores at ten cents a core.
fn sized(name: &str, cores: i64) -> TypeFixture {
    priced(
        name,
        cores,
        f64::from(i32::try_from(cores).unwrap_or(0)) / 10.0,
    )
}

/// A type of so many cores, on demand in one zone.
fn priced(name: &str, cores: i64, dollars: f64) -> TypeFixture {
    instance_type(name)
        .cpu(cores * 1000)
        .memory_mib(cores * 4096)
        .pods(110)
        .no_overhead()
        .price(dollars)
        .offered(ZONE_1, OnDemand)
}

/// Types of 2, 4 and 8 cores, and a pool.
fn market() -> ClusterFixture {
    cluster()
        .sells(sized("small", 2))
        .sells(sized("middle", 4))
        .sells(sized("large", 8))
        .pool(pool("general"))
}

/// Moves of all nodes; each stands before the checker.
fn moves(snapshot: &Snapshot, settings: &MoveSettings) -> Vec<Move> {
    let all: Vec<usize> = (0..snapshot.nodes.len()).collect();
    let found = find(snapshot, &all, settings);
    for one in &found {
        let findings = findings(snapshot, one);
        assert!(findings.is_empty(), "{one:?}: {}", findings[0]);
    }
    found
}

fn by_default(cluster: ClusterFixture) -> (Snapshot, Vec<Move>) {
    let snapshot = cluster.snapshot();
    let found = moves(&snapshot, &MoveSettings::default());
    (snapshot, found)
}

fn of<'a>(snapshot: &Snapshot, found: &'a [Move], node: &str) -> Option<&'a Move> {
    let row = node_row(snapshot, node);
    found.iter().find(|one| one.members == [row])
}

fn dollars(dollars: f64) -> PricePerHour {
    PricePerHour::from_dollars(dollars).expect("a price")
}

#[test]
fn node_without_pods_goes_for_its_whole_price() {
    let (snapshot, found) = by_default(market().node(on_demand("n1", "middle", 4)));
    let own = of(&snapshot, &found, "n1").expect("a move");
    assert_eq!((own.kind, own.saving), (MoveKind::Empty, dollars(0.4)));
    assert_eq!(own.disruption, MoveCost::ONE);
}

#[test]
fn node_whose_pods_fit_elsewhere_goes_without_replacement() {
    let (snapshot, found) = by_default(
        market()
            .node(on_demand("n1", "middle", 4))
            .node(on_demand("n2", "middle", 4))
            .pods(pod("web").cpu(1000).on("n1").replicas(2))
            .pod(pod("db").cpu(2000).on("n2")),
    );
    let own = of(&snapshot, &found, "n1").expect("a move");
    assert_eq!((own.kind, own.pods_moved()), (MoveKind::Delete, 2));
    assert_eq!(own.receivers(), [node_row(&snapshot, "n2")]);
    assert_eq!(own.saving, dollars(0.4));
}

/// The scheduler binds evicted pods where it likes: small ones may take the room that the plan kept for a large one.
#[test]
fn node_stays_whose_pods_fit_elsewhere_in_the_right_order_only() {
    let tight = |packing, room: i64| {
        let (_, found) = by_default(
            cluster()
                .sells(sized("small", 2))
                .pool(pool("general").packing(packing))
                .node(on_demand("n1", "small", 2))
                .node(on_demand("n2", "small", 2))
                .node(on_demand("n3", "small", 2))
                .pods(pod("web").cpu(200).on("n1").replicas(3))
                .pod(pod("db").cpu(700).on("n1"))
                .pod(pod("cache").cpu(2000 - room).on("n2"))
                .pod(pod("queue").cpu(1400).on("n3")),
        );
        let own = found.iter().find(|one| one.members == [0]);
        own.map(|own| own.kind)
    };
    assert_eq!(tight(PackingMode::Price, 1200), None);
    assert_eq!(tight(PackingMode::Price, 1300), Some(MoveKind::Delete));
    let karpenter = tight(PackingMode::Compatible, 1200);
    assert_eq!(karpenter, Some(MoveKind::Delete), "Karpenter does not ask");
}

/// A pod that waits may be long in coming: until then the zone that it is planned for has one less than the plan says.
#[test]
fn spread_of_moved_pods_does_not_count_on_pods_that_are_yet_to_come() {
    let web = |name: &str| of_web(name, |pod| pod.spread(ZONE, 1)).cpu(1000);
    let in_both = |name: &str, cores: i64| sized(name, cores).offered(ZONE_2, OnDemand);
    let fleet = cluster()
        .sells(in_both("tiny", 1))
        .sells(in_both("small", 2))
        .pool(pool("general"))
        .node(on_demand("n1", "small", 2))
        .node(on_demand("n2", "tiny", 1).zone(ZONE_2))
        .node(on_demand("n3", "small", 2).zone(ZONE_2))
        .pod(web("one").on("n1"))
        .pod(web("two").on("n2"))
        .pod(pod("other").cpu(1000).on("n3"));
    let (snapshot, found) = by_default(fleet.clone());
    let own = of(&snapshot, &found, "n2").expect("there is room in its zone");
    assert_eq!(own.receivers(), [node_row(&snapshot, "n3")]);
    let late = web("late").select(ZONE, ZONE_2);
    let (snapshot, found) = by_default(fleet.pod(late));
    assert!(
        of(&snapshot, &found, "n2").is_none(),
        "the other zone would be two ahead until the pod has come"
    );
}

#[test]
fn node_larger_than_its_pods_is_replaced_by_the_cheapest_that_holds_them() {
    let (snapshot, found) = by_default(
        market()
            .node(on_demand("n1", "large", 8))
            .pods(pod("web").cpu(1500).on("n1").replicas(2)),
    );
    let own = of(&snapshot, &found, "n1").expect("a move");
    assert_eq!((own.kind, own.saving), (MoveKind::Replace, dollars(0.4)));
    assert_eq!(own.claims[0].options[0].instance_type.as_str(), "middle");
    assert!(
        own.placements
            .iter()
            .all(|placement| placement.target == Target::New(0))
    );
}

/// Instances of 64 and of 128 cores are larger than any pod should need.
fn with_large_types() -> ClusterFixture {
    market().sells(sized("huge", 64)).sells(sized("vast", 128))
}

#[test]
fn guard_on_large_types_yields_to_the_move_of_a_pod_that_nothing_else_holds() {
    let (snapshot, found) = by_default(
        with_large_types()
            .node(on_demand("n1", "vast", 128))
            .pod(pod("model").cpu(60_000).on("n1"))
            .pod(pod("web").cpu(3000).on("n1")),
    );
    let own = of(&snapshot, &found, "n1").expect("a move");
    assert_eq!((own.kind, own.saving), (MoveKind::Replace, dollars(6.4)));
    let named = own.claims[0].options.iter();
    let named: Vec<&str> = named.map(|option| option.instance_type.as_str()).collect();
    assert_eq!(named, ["huge"]);
}

#[test]
fn guard_on_large_types_holds_in_moves_of_pods_that_others_would_hold() {
    let snapshot = with_large_types()
        .node(on_demand("n1", "vast", 128))
        .node(on_demand("n2", "vast", 128))
        .pods(pod("web").cpu(6000).on("n1").replicas(10))
        .pod(pod("model").cpu(60_000).on("n2"))
        .snapshot();
    let apart = MoveSettings {
        excluded: vec![node_row(&snapshot, "n1"), node_row(&snapshot, "n2")],
        ..MoveSettings::default()
    };
    let found = moves(&snapshot, &apart);
    let of_web = of(&snapshot, &found, "n1").expect("a move");
    assert_eq!(of_web.claims.len(), 10, "one each");
    let named = of_web.claims.iter().flat_map(|claim| &claim.options);
    let mut named = named.map(|option| option.instance_type.as_str());
    assert!(named.all(|named| named == "large"));
    let of_model = of(&snapshot, &found, "n2").expect("a move");
    assert_eq!(of_model.saving, dollars(6.4));
}

#[test]
fn what_saves_too_little_is_not_proposed() {
    let near = priced("near", 8, 0.79);
    let cluster = |types: ClusterFixture| {
        types
            .pool(pool("general"))
            .node(on_demand("n1", "large", 8))
            .pods(pod("web").cpu(2500).on("n1").replicas(3))
            .snapshot()
    };
    let snapshot = cluster(cluster_of(near));
    assert!(
        moves(&snapshot, &MoveSettings::default()).is_empty(),
        "one cent of 80"
    );
    let any = MoveSettings {
        least_saving: PricePerHour::ZERO,
        least_saving_percent: 0,
        ..MoveSettings::default()
    };
    assert_eq!(moves(&snapshot, &any).len(), 1, "with nothing asked for");
    let equal = cluster(plimsoll_oracles::fixture::cluster().sells(sized("large", 8)));
    assert!(
        moves(&equal, &any).is_empty(),
        "the same price is no saving"
    );
}

/// A node of eight cores that a pod of 100m runs on.
fn oversized() -> ClusterFixture {
    let large = market().node(on_demand("n1", "large", 8));
    large.pod(pod("web").cpu(100).on("n1"))
}

fn cluster_of(near: TypeFixture) -> ClusterFixture {
    cluster().sells(sized("large", 8)).sells(near)
}

#[test]
fn pod_that_may_not_be_evicted_holds_its_node() {
    let job = pod("job").cpu(100).on("n1");
    let job = job.with(|pod| pod.do_not_disrupt = DoNotDisrupt::Always);
    let (_, found) = by_default(oversized().pod(job));
    assert!(found.is_empty());
}

#[test]
fn node_on_which_a_waiting_pod_counts_stays() {
    let (snapshot, found) = by_default(oversized().pod(pod("big").cpu(7000)));
    assert!(of(&snapshot, &found, "n1").is_none());
}

#[test]
fn nodes_that_are_shut_take_no_pods() {
    let snapshot = market()
        .node(on_demand("n1", "small", 2))
        .node(on_demand("n2", "middle", 4))
        .pod(pod("web").cpu(1000).on("n1"))
        .pod(pod("db").cpu(2000).on("n2"))
        .snapshot();
    let open = moves(&snapshot, &MoveSettings::default());
    assert!(of(&snapshot, &open, "n1").is_some());
    let excluded = MoveSettings {
        excluded: vec![node_row(&snapshot, "n2")],
        ..MoveSettings::default()
    };
    assert!(of(&snapshot, &moves(&snapshot, &excluded), "n1").is_none());
}

#[test]
fn node_that_has_not_initialised_takes_no_pods() {
    let (snapshot, found) = by_default(
        market()
            .node(on_demand("n1", "small", 2))
            .node(on_demand("n2", "middle", 4).phase(ClaimPhase::Registered))
            .pod(pod("web").cpu(1000).on("n1")),
    );
    assert!(of(&snapshot, &found, "n1").is_none());
}

#[test]
fn spread_and_anti_affinity_keep_pods_apart() {
    let pair = |web: PodFixture| {
        let cluster = market()
            .node(on_demand("n1", "small", 2))
            .node(on_demand("n2", "small", 2))
            .pod(web.clone().on("n1"))
            .pod(pod("other").label("app", "web").cpu(100).on("n2"));
        by_default(cluster).1.len()
    };
    assert_eq!(pair(pod("web").cpu(100)), 2, "either may join the other");
    assert_eq!(pair(pod("web").cpu(100).anti_affinity(HOSTNAME)), 0);
    assert_eq!(
        pair(pod("web").cpu(100).spread(HOSTNAME, 1)),
        1,
        "only the other has no rule"
    );
}

/// A pool that may buy on either terms: spot is bought only where it is named.
fn either_terms() -> PoolFixture {
    pool("general").capacity_types(&[OnDemand, Spot])
}

#[test]
fn on_demand_moves_to_spot_and_never_back_by_its_claim() {
    let both = priced("both", 4, 0.3).price(0.1).offered(ZONE_1, Spot);
    let (snapshot, found) = by_default(
        cluster()
            .sells(both)
            .sells(sized("large", 8))
            .pool(either_terms())
            .node(on_demand("n1", "large", 8))
            .pod(pod("web").cpu(3000).on("n1")),
    );
    let claim = &of(&snapshot, &found, "n1").expect("a move").claims[0];
    let terms = claim.requirements.get(CAPACITY_TYPE).expect("terms");
    assert_eq!(terms.single().map(AsRef::as_ref), Some("spot"));
}

#[test]
fn paid_capacity_of_the_same_type_takes_an_on_demand_node() {
    let reserved = instance_type("large")
        .cpu(8000)
        .memory_mib(32 << 10)
        .pods(110)
        .no_overhead()
        .price(0.000_000_1)
        .reserved(ZONE_1, "r-1", 1)
        .price(0.8)
        .offered(ZONE_1, OnDemand);
    let (snapshot, found) = by_default(
        cluster()
            .sells(reserved)
            .pool(pool("general"))
            .node(on_demand("n1", "large", 8))
            .pod(pod("web").cpu(7000).on("n1")),
    );
    let own = of(&snapshot, &found, "n1").expect("a move");
    assert!(own.claims[0].options[0].reservation.is_some());
}

/// A spot node of 8 cores and so many cheaper types that would hold its pod, on spot.
fn spot_market(cheaper: usize) -> Snapshot {
    let mut cluster = cluster()
        .sells(sized("large", 8).price(0.8).offered(ZONE_1, Spot))
        .pool(either_terms())
        .node(ours("n1", "large", 8, "spot"))
        .pod(pod("web").cpu(1000).on("n1"));
    for at in 0..cheaper {
        let dollars = 0.2 + f64::from(u32::try_from(at).unwrap_or(0)) / 100.0;
        let sold = instance_type(&format!("cheap-{at:02}"))
            .cpu(2000)
            .memory_mib(8192);
        cluster = cluster.sells(sold.price(dollars).offered(ZONE_1, Spot));
    }
    cluster.snapshot()
}

#[test]
fn spot_for_spot_needs_its_gate_and_fifteen_cheaper_types() {
    let open = MoveSettings {
        spot_to_spot: true,
        ..MoveSettings::default()
    };
    let excluded = MoveSettings::default();
    let count = |cheaper, settings| moves(&spot_market(cheaper), settings).len();
    assert_eq!(count(20, &excluded), 0, "the gate is excluded");
    assert_eq!(count(14, &open), 0, "fourteen types");
    assert_eq!(count(15, &open), 1, "fifteen types");
}

#[test]
fn spot_for_spot_names_the_fifteen_cheapest() {
    let open = MoveSettings {
        spot_to_spot: true,
        ..MoveSettings::default()
    };
    let found = moves(&spot_market(20), &open);
    let options = found[0].claims[0].options.iter();
    let names: Vec<&str> = options
        .map(|option| option.instance_type.as_str())
        .collect();
    let expected: Vec<String> = (0..15).map(|at| format!("cheap-{at:02}")).collect();
    assert_eq!(names, expected);
}

#[test]
fn limits_are_reckoned_as_if_the_old_node_were_gone() {
    let limited = |cpu| {
        let cluster = cluster()
            .sells(sized("middle", 4))
            .sells(sized("large", 8))
            .pool(pool("general").limit_cpu(cpu))
            .node(on_demand("n1", "large", 8))
            .pod(pod("web").cpu(3000).on("n1"));
        by_default(cluster).1.len()
    };
    assert_eq!((limited(3_999), limited(4_000)), (0, 1));
}

#[test]
fn several_nodes_go_for_one_that_their_pods_fill() {
    let (snapshot, found) = by_default(
        cluster()
            .sells(sized("large", 8))
            .sells(priced("middle", 4, 0.45))
            .pool(pool("general"))
            .node(on_demand("n1", "middle", 4))
            .node(on_demand("n2", "middle", 4))
            .node(on_demand("n3", "middle", 4))
            .pod(pod("web").cpu(2600).on("n1"))
            .pod(pod("web-b").cpu(2600).on("n2"))
            .pod(pod("web-c").cpu(2600).on("n3")),
    );
    let all: Vec<usize> = (0..snapshot.nodes.len()).collect();
    let own = found.iter().find(|one| one.members == all).expect("a move");
    assert_eq!((own.kind, own.claims.len()), (MoveKind::Replace, 1));
    assert_eq!(own.saving, dollars(3.0 * 0.45 - 0.8));
}

/// One node of 8 cores with pods of these sizes, where two of 4 cores cost less than it, and nothing else does.
fn splitting(sizes: &[i64]) -> Vec<Move> {
    let mut cluster = cluster()
        .sells(priced("middle", 4, 0.3))
        .sells(sized("large", 8))
        .pool(pool("general"))
        .node(on_demand("n1", "large", 8));
    for (at, cpu) in sizes.iter().enumerate() {
        cluster = cluster.pod(pod(&format!("web-{at}")).cpu(*cpu).on("n1"));
    }
    by_default(cluster).1
}

#[test]
fn one_node_goes_for_several_cheaper_ones() {
    let found = splitting(&[3000, 3000]);
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].claims.len(), found[0].saving), (2, dollars(0.2)));
}

#[test]
fn several_nodes_come_only_if_pods_may_be_bound_in_any_order() {
    assert_eq!(
        splitting(&[3000, 3000, 500]).len(),
        1,
        "any order leaves room"
    );
    let found = splitting(&[2000, 2000, 2000, 1000, 1000]);
    assert!(
        found.is_empty(),
        "both small ones first leave a large one out: {found:?}"
    );
}

#[test]
fn several_nodes_for_one_must_cost_less_than_the_cheapest_of_its_own_type() {
    let (_, found) = by_default(
        cluster()
            .sells(sized("large", 8))
            .sells(sized("middle", 4))
            .pool(pool("general"))
            .node(on_demand("n1", "large", 8))
            .node(on_demand("n2", "middle", 4))
            .pod(pod("web").cpu(4500).on("n1"))
            .pod(pod("db").cpu(3500).on("n2")),
    );
    assert!(
        found.iter().all(|one| one.claims.is_empty()),
        "keeping n1 does the same: {found:?}"
    );
}
