//! Addresses of a zone's subnets that new nodes and their pods take: a guard of pools packed by price.

use plimsoll_base::labels::CAPACITY_TYPE;
use plimsoll_base::resources::ResourceName;
use plimsoll_disrupt::moves::{Move, MoveSettings, find};
use plimsoll_model::plan::{Plan, Target};
use plimsoll_model::snapshot::{Guard, Snapshot};
use plimsoll_model::{ClaimPhase, PackingMode};
use plimsoll_oracles::fixture::*;
use plimsoll_oracles::generate::{Draw, Features, Shape, random_cluster};
use plimsoll_schedule::{finish, guard_costs, plan as decide, prepare};
use std::collections::BTreeMap;

/// An instance of four cores, on demand in these zones, at 20 cents.
fn four_cores(zones: &[&str]) -> TypeFixture {
    priced("four", 0.2, zones)
}

fn priced(name: &str, dollars: f64, zones: &[&str]) -> TypeFixture {
    instance_type(name)
        .cpu(4000)
        .memory_mib(16384)
        .pods(110)
        .no_overhead()
        .price(dollars)
        .zones(zones)
}

/// A pool that buys instances of four cores in the first two zones.
fn shop() -> ClusterFixture {
    cluster()
        .pool(pool("general"))
        .sells(four_cores(&ZONES[..2]))
}

/// The plan by price, which stands before the checker.
fn planned(cluster: ClusterFixture) -> (Snapshot, Plan) {
    let snapshot = cluster
        .settings(|settings| settings.packing = Some(PackingMode::Price))
        .snapshot();
    let plan = decide(&snapshot);
    let findings = plimsoll_check::check(&snapshot, &plan);
    assert!(findings.is_empty(), "{findings:#?}");
    (snapshot, plan)
}

/// Addresses that new nodes of each zone take with their pods; there are no daemons.
fn taken(snapshot: &Snapshot, plan: &Plan) -> BTreeMap<String, usize> {
    let mut result = BTreeMap::new();
    let zone = |claim: usize| plan.claims[claim].options[0].zone.to_string();
    for claim in 0..plan.claims.len() {
        *result.entry(zone(claim)).or_default() += 1;
    }
    for placement in &plan.placements {
        let on_host = snapshot.pods[placement.pod].spec.host_network;
        if let Target::New(claim) = placement.target {
            *result.entry(zone(claim)).or_default() += usize::from(!on_host);
        }
    }
    result
}

fn in_zone((snapshot, plan): &(Snapshot, Plan), zone: &str) -> usize {
    taken(snapshot, plan).get(zone).copied().unwrap_or(0)
}

fn texts(plan: &Plan) -> Vec<&str> {
    plan.notes.iter().map(|note| note.text.as_str()).collect()
}

/// Forty pods of one core, four to an instance: fifty addresses in all.
fn web() -> impl Iterator<Item = PodFixture> {
    pod("web").cpu(1000).replicas(40)
}

#[test]
fn new_nodes_take_no_more_of_a_zone_than_it_has_left() {
    let free = shop().pods(web());
    let (snapshot, plan) = planned(free.clone());
    assert_eq!(taken(&snapshot, &plan), [(ZONE_1.to_owned(), 50)].into());
    let short = planned(free.addresses(ZONE_1, 12).addresses(ZONE_2, 400));
    assert_eq!(in_zone(&short, ZONE_1), 10, "two nodes of five addresses");
    assert_eq!(in_zone(&short, ZONE_2), 40);
    assert_eq!(short.1.cost.list, plan.cost.list);
    assert_eq!(
        texts(&short.1),
        [
            "guard on free subnet addresses holds in zone test-zone-1: 12 left for new nodes and their pods, 50 would have been taken"
        ]
    );
}

#[test]
fn zone_has_what_its_subnets_have_together() {
    let two = shop().addresses(ZONE_1, 20).addresses(ZONE_1, 30);
    let (_, plan) = planned(two.pods(web()));
    assert_eq!(texts(&plan), [""; 0], "fifty are enough");
}

#[test]
fn zone_of_which_nothing_is_known_is_not_counted() {
    let found = planned(shop().addresses(ZONE_1, 3).pods(web()));
    assert_eq!((in_zone(&found, ZONE_1), in_zone(&found, ZONE_2)), (0, 50));
}

#[test]
fn claims_of_other_zones_do_not_name_the_short_one() {
    let (_, plan) = planned(shop().addresses(ZONE_1, 12).pods(web()));
    for claim in &plan.claims {
        let zones: Vec<&str> = claim.options.iter().map(|way| way.zone.as_ref()).collect();
        assert!(zones == [ZONE_2] || zones[0] == ZONE_1, "{zones:?}");
    }
}

#[test]
fn dearer_types_are_bought_where_only_they_are_sold_in_another_zone() {
    let cluster = cluster()
        .pool(pool("general"))
        .sells(priced("cheap", 0.2, &[ZONE_1]))
        .sells(priced("dear", 0.3, &[ZONE_2]))
        .addresses(ZONE_1, 25)
        .pods(web());
    let found = planned(cluster);
    assert_eq!((in_zone(&found, ZONE_1), in_zone(&found, ZONE_2)), (25, 25));
    let prepared = prepare(&found.0);
    let costs = guard_costs(&prepared, None, &finish(&prepared, None));
    let own = costs
        .iter()
        .find(|cost| cost.guard == Some(Guard::FreeAddresses));
    assert_eq!(own.unwrap().cost.nanos(), 500_000_000, "ten cents a node");
}

#[test]
fn other_guards_hold_where_addresses_are_short() {
    let huge = instance_type("huge").cpu(96_000).memory_mib(393_216);
    let huge = huge.pods(250).no_overhead().price(1.0).zones(&ZONES[..2]);
    let spread: Vec<PodFixture> = web().map(|pod| pod.prefers_spread(ZONE, 1)).collect();
    for free in [0, 3, 20] {
        let short = shop().sells(huge.clone()).addresses(ZONE_1, free);
        let short = short.addresses(ZONE_2, free).pods(spread.clone());
        let (_, plan) = planned(short);
        assert!(plan.unplaced.is_empty());
        let mut ways = plan.claims.iter().flat_map(|claim| &claim.options);
        assert!(
            ways.all(|way| way.instance_type.as_str() == "four"),
            "{free}"
        );
    }
}

#[test]
fn pods_that_no_other_zone_takes_make_the_guard_yield_and_the_plan_says_so() {
    let pinned = pod("db").cpu(1000).select(ZONE, ZONE_1).replicas(8);
    let (_, plan) = planned(shop().addresses(ZONE_1, 6).pods(pinned));
    assert_eq!((plan.unplaced.len(), plan.claims.len()), (0, 2));
    assert_eq!(
        texts(&plan),
        [
            "guard on free subnet addresses yields for 4 address(es): nothing else would hold their pods"
        ]
    );
}

#[test]
fn pods_free_to_go_leave_a_short_zone_to_those_that_are_not() {
    let pinned = pod("db").cpu(1000).select(ZONE, ZONE_1).replicas(6);
    let found = planned(shop().addresses(ZONE_1, 8).pods(pinned).pods(web()));
    assert_eq!(in_zone(&found, ZONE_1), 8, "six pods on two nodes");
    assert!(texts(&found.1)[0].contains(" holds in zone test-zone-1"));
}

#[test]
fn preference_to_spread_is_given_up_before_the_guard() {
    let spread = pod("web").cpu(1000).prefers_spread(ZONE, 1).replicas(24);
    let found = planned(shop().addresses(ZONE_1, 7).pods(spread));
    assert!(in_zone(&found, ZONE_1) <= 7);
    assert_eq!(found.1.unplaced.len(), 0);
    assert!(!texts(&found.1)[0].contains("yields"));
}

#[test]
fn hard_spread_outweighs_the_guard() {
    let spread = pod("web").cpu(1000).spread(ZONE, 1).replicas(24);
    let found = planned(shop().addresses(ZONE_1, 7).pods(spread));
    assert_eq!(found.1.unplaced.len(), 0);
    assert_eq!(in_zone(&found, ZONE_1), 15, "twelve pods on three nodes");
    assert!(texts(&found.1)[0].contains("yields for 8 address(es)"));
}

#[test]
fn pods_that_stay_together_gather_where_there_are_addresses_for_all() {
    let cheaper = cluster()
        .pool(pool("general"))
        .sells(priced("cheap", 0.2, &[ZONE_1]))
        .sells(priced("dear", 0.3, &[ZONE_2]));
    let together = pod("web").cpu(1000).affinity(ZONE).replicas(16);
    let found = planned(cheaper.addresses(ZONE_1, 10).pods(together));
    assert_eq!((in_zone(&found, ZONE_1), in_zone(&found, ZONE_2)), (0, 20));
}

#[test]
fn pods_on_the_network_of_their_host_take_no_address() {
    let on_host = pod("agent")
        .cpu(1000)
        .with_spec(|spec| spec.host_network = true);
    let found = planned(shop().addresses(ZONE_1, 10).pods(on_host.replicas(40)));
    assert_eq!(in_zone(&found, ZONE_1), 10, "the nodes alone");
    assert_eq!(texts(&found.1), [""; 0]);
}

#[test]
fn daemons_take_addresses_of_every_new_node() {
    let daemon = pod("logs").cpu(1);
    let small = || pod("web").cpu(900).replicas(40);
    let enough = shop().daemon(&daemon).addresses(ZONE_1, 60);
    assert_eq!(texts(&planned(enough.pods(small())).1), [""; 0]);
    let short = shop().daemon(&daemon).addresses(ZONE_1, 59);
    let (_, plan) = planned(short.pods(small()));
    assert!(texts(&plan)[0].contains("59 left"), "{:?}", plan.notes);
}

#[test]
fn machines_on_their_way_take_theirs_first() {
    let coming = |zone: &str| {
        node("coming")
            .managed("general")
            .phase(ClaimPhase::Launched)
            .zone(zone)
            .taint("kept", "", NoSchedule)
    };
    let cluster = |zone: &str| {
        let mut cluster = shop().addresses(ZONE_1, 50).node(coming(zone)).pods(web());
        cluster = cluster.with_claims(|claim| claim.requests.set(ResourceName::Pods, 9));
        planned(cluster)
    };
    assert_eq!(in_zone(&cluster(ZONE_2), ZONE_1), 50);
    let found = cluster(ZONE_1);
    assert_eq!(in_zone(&found, ZONE_1), 40);
    assert!(texts(&found.1)[0].contains("40 left"));
}

#[test]
fn compatible_packing_and_a_lifted_guard_count_nothing() {
    let short = || shop().addresses(ZONE_1, 12).pods(web());
    let compatible = short().settings(|settings| settings.packing = Some(PackingMode::Compatible));
    let plan = decide(&compatible.snapshot());
    assert_eq!((plan.claims.len(), texts(&plan)), (10, vec![]));
    let lifted = short().settings(|settings| settings.guards.free_addresses = false);
    assert_eq!(in_zone(&planned(lifted), ZONE_1), 50);
}

#[test]
fn move_goes_to_a_zone_with_addresses_or_is_not_made() {
    let large = node("n1")
        .cpu(16_000)
        .memory_mib(65_536)
        .of_type("large")
        .zone(ZONE_1)
        .label(CAPACITY_TYPE, "on-demand")
        .managed("general");
    let moves = |first: u32, second: u32| -> (Snapshot, Vec<Move>) {
        let sold = instance_type("large").cpu(16_000).memory_mib(65_536);
        let snapshot = shop()
            .sells(sold.pods(110).no_overhead().price(0.8).zones(&ZONES[..2]))
            .addresses(ZONE_1, first)
            .addresses(ZONE_2, second)
            .node(large.clone())
            .pods(pod("web").cpu(1000).on("n1").replicas(3))
            .snapshot();
        let found = find(&snapshot, &[0], &MoveSettings::default());
        (snapshot, found)
    };
    for (first, second, zone) in [(4, 0, ZONE_1), (3, 4, ZONE_2)] {
        let (_, found) = moves(first, second);
        let chosen = found[0].claims[0].chosen().unwrap();
        assert_eq!((chosen.zone.as_ref(), found[0].claims.len()), (zone, 1));
    }
    let (_, none) = moves(3, 3);
    assert!(none.iter().all(|one| one.claims.is_empty()), "{none:?}");
}

/// A cluster of every kind of constraint, with so many addresses in each of three zones.
fn random(seed: u64, addresses: [u32; 3]) -> ClusterFixture {
    let features = Features::from_bits(u16::try_from(seed % 4096).unwrap_or(0));
    let shape = Shape::of(seed, [16, 2, 2, 4, 3], features);
    let zones = ZONES.iter().zip(addresses);
    zones.fold(random_cluster(&shape), |cluster, (zone, free)| {
        cluster.addresses(zone, free)
    })
}

fn waiting(snapshot: &Snapshot, plan: &Plan) -> usize {
    let mut unplaced = plan.unplaced.iter();
    unplaced
        .by_ref()
        .filter(|unplaced| !snapshot.pods[unplaced.pod].is_spare())
        .count()
}

#[test]
fn scarce_addresses_break_no_rule_and_leave_nobody_waiting() {
    let mut held = 0;
    for seed in 0..40 {
        let mut draw = Draw::new(seed, "addresses", 0);
        let mut free = || u32::try_from(draw.below(14)).unwrap_or(0);
        let addresses = [free(), free(), free()];
        let (snapshot, plan) = planned(random(seed * 977, addresses));
        let lifted = random(seed * 977, addresses);
        let lifted = planned(lifted.settings(|settings| settings.guards.free_addresses = false));
        let (with, without) = (waiting(&snapshot, &plan), waiting(&lifted.0, &lifted.1));
        assert!(
            with <= without,
            "seed {seed}: {with} wait, {without} without"
        );
        held += usize::from(
            texts(&plan)
                .iter()
                .any(|text| text.contains("holds in zone")),
        );
    }
    assert!(held > 5, "the guard has held in {held} of 40 clusters");
}

#[test]
fn enough_addresses_change_no_plan() {
    for seed in 0..25 {
        let (_, plan) = planned(random(seed * 977, [1000; 3]));
        let lifted = random(seed * 977, [1000; 3]);
        let lifted = planned(lifted.settings(|settings| settings.guards.free_addresses = false));
        assert_eq!(plan, lifted.1, "seed {seed}");
    }
}
