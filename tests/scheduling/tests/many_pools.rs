//! Pools that share nothing: planned together they cost what each costs alone, and what they share after all is not overdrawn.

use plimsoll_base::units::PricePerHour;
use plimsoll_disrupt::moves::{Move, MoveSettings, carry_out, find};
use plimsoll_hooks::score::MoveKind;
use plimsoll_model::plan::{Plan, PlannedClaim};
use plimsoll_model::snapshot::Snapshot;
use plimsoll_model::{Effect, MoveCost};
use plimsoll_oracles::fixture::*;
use plimsoll_oracles::generate::Teams;
use plimsoll_schedule::plan;
use plimsoll_scheduling_tests::check as agreed;
use std::collections::BTreeMap;

/// More teams than one packing problem has the patience for.
const TEAMS: usize = 14;

fn teams(spread: bool) -> Teams {
    Teams {
        teams: TEAMS,
        pods: 30 * TEAMS,
        spread,
        seed: 3,
    }
}

/// A plan that the checker finds nothing in.
#[track_caller]
fn planned(cluster: ClusterFixture) -> (Snapshot, Plan) {
    let snapshot = cluster.snapshot();
    let plan = plan(&snapshot);
    assert_eq!(plimsoll_check::check(&snapshot, &plan), []);
    (snapshot, plan)
}

/// Claims by pool, each pool's in the order of the plan.
fn by_pool(claims: Vec<PlannedClaim>) -> BTreeMap<String, Vec<PlannedClaim>> {
    let mut result: BTreeMap<String, Vec<PlannedClaim>> = BTreeMap::new();
    for claim in claims {
        result
            .entry(claim.pool.to_string())
            .or_default()
            .push(claim);
    }
    result
}

#[test]
fn each_of_many_pools_gets_the_nodes_that_it_would_get_alone() {
    for spread in [false, true] {
        let sold = || cluster().types(ladder(60));
        let (_, all) = planned(teams(spread).all(sold()));
        let alone = (0..TEAMS).map(|team| planned(teams(spread).one(sold(), team)).1);
        let alone: Vec<Plan> = alone.collect();
        assert_eq!(all.unplaced, []);
        assert_eq!(all.cost.list, alone.iter().map(|plan| plan.cost.list).sum());
        assert_eq!(
            all.cost.first_fit,
            alone.iter().map(|plan| plan.cost.first_fit).sum()
        );
        let bounds: i64 = alone.iter().map(|plan| plan.cost.bound.nanos()).sum();
        let rounded = i64::try_from(TEAMS).expect("a few");
        assert!((bounds - rounded..=bounds).contains(&all.cost.bound.nanos()));
        let claims = alone.into_iter().flat_map(|plan| plan.claims).collect();
        assert_eq!(by_pool(all.claims), by_pool(claims), "spread: {spread}");
    }
}

/// A pool and pods of it alone, each with a node of its own.
fn team(cluster: ClusterFixture, name: &str, pods: usize) -> ClusterFixture {
    let own = pool(name)
        .label("team", name)
        .taint("team", name, NoSchedule);
    let one = pod(name).cpu(100).select("team", name);
    let one = one.tolerates("team", name, Effect::NoSchedule);
    cluster
        .pool(own)
        .pods(one.anti_affinity(HOSTNAME).replicas(pods))
}

#[test]
fn reservation_of_several_pools_gives_no_more_than_it_has() {
    for left in [2, 4, 7] {
        let sold = instance_type("m")
            .price(0.000_000_1)
            .reserved(ZONE_1, "r-1", left)
            .price(1.0)
            .offered(ZONE_1, OnDemand);
        let two = team(team(cluster().sells(sold), "a", 3), "b", 3);
        let outcome = agreed(two);
        assert_eq!(outcome.unplaced(), 0);
        let drawn = outcome.agreed(|run| {
            let claims = run.plan().claims.iter();
            let drawn = claims.filter(|claim| claim.options[0].reservation.is_some());
            u32::try_from(drawn.count()).expect("a few")
        });
        assert_eq!(drawn, left.min(6), "{left} in the reservation");
    }
}

#[test]
fn addresses_of_a_zone_are_not_overdrawn_by_several_pools() {
    let sold = |name: &str, dollars: f64, zone: &str| {
        let sized = instance_type(name)
            .cpu(4000)
            .memory_mib(16 * 1024)
            .pods(110);
        sized.no_overhead().price(dollars).offered(zone, OnDemand)
    };
    let shop = cluster()
        .sells(sold("cheap", 0.2, ZONE_1))
        .sells(sold("dear", 0.3, ZONE_2))
        .addresses(ZONE_1, 10)
        .addresses(ZONE_2, 100);
    // A node with its pod takes two addresses, so that either pool alone has enough.
    let (_, plan) = planned(team(team(shop, "a", 4), "b", 4));
    assert_eq!(plan.unplaced, []);
    let zones = plan.claims.iter().filter_map(PlannedClaim::chosen);
    let cheap = zones
        .filter(|option| option.zone.as_ref() == ZONE_1)
        .count();
    assert_eq!(cheap, 5, "ten addresses are for five nodes");
}

#[test]
fn pods_of_different_pools_that_must_be_near_one_another_are_planned_together() {
    let tolerant = |name: &str, team: &str| {
        let one = pod(name).cpu(100).select("team", team);
        one.tolerates("team", team, Effect::NoSchedule)
    };
    let pools = team(team(cluster().types(fake_types()), "a", 0), "b", 0);
    let followed = tolerant("db", "a").select(ZONE, ZONE_2);
    let follower = tolerant("web", "b").affinity(ZONE).to("db");
    let outcome = agreed(pools.pod(follower).pod(followed));
    assert_eq!(outcome.unplaced(), 0);
    assert_eq!(outcome.domain_names(ZONE, "web"), [ZONE_2]);
}

#[test]
fn free_room_of_one_pool_lowers_the_bound_of_its_own_pods_alone() {
    let sold = || cluster().types(ladder(20));
    let own = |name: &str| {
        let one = pod(name).cpu(1500).select("team", name);
        one.tolerates("team", name, Effect::NoSchedule).replicas(6)
    };
    let teams = |cluster: ClusterFixture, names: &[&str]| {
        names.iter().fold(cluster, |cluster, name| {
            team(cluster, name, 0).pods(own(name))
        })
    };
    let free = node("free").cpu(4000).memory_mib(16 * 1024);
    let free = free.label("team", "a").taint("team", "a", NoSchedule);
    let bound = |cluster: ClusterFixture| planned(cluster).1.cost.bound;
    let both = bound(teams(sold().node(free.clone()), &["a", "b"]));
    let with_room = bound(teams(sold().node(free), &["a"]));
    let without = bound(teams(sold(), &["b"]));
    assert!(with_room < without, "the same pods");
    let rounded = both.nanos() - (with_room + without).nanos();
    assert!((-1..=0).contains(&rounded));
}

/// A fleet that was bought for pods of which two fifths are left.
fn fleet_gone_to_waste(cluster: ClusterFixture) -> Snapshot {
    let (snapshot, plan) = planned(cluster);
    let purchase = Move {
        kind: MoveKind::Replace,
        members: Vec::new(),
        claims: plan.claims,
        placements: plan.placements,
        saving: PricePerHour::ZERO,
        list_saving: PricePerHour::ZERO,
        draws: Vec::new(),
        disruption: MoveCost::ZERO,
    };
    let mut fleet = carry_out(&snapshot, &[purchase]);
    fleet.pods.retain(|pod| {
        let number = pod.name.name.rsplit('-').next();
        let number = number.and_then(|number| number.parse::<usize>().ok());
        number.is_some_and(|number| (number / TEAMS) % 5 < 2)
    });
    fleet
}

/// Savings of the moves that buy something, ascending.
fn savings(fleet: &Snapshot) -> Vec<PricePerHour> {
    let all: Vec<usize> = (0..fleet.nodes.len()).collect();
    let moves = find(fleet, &all, &MoveSettings::default());
    let replaces = moves.iter().filter(|one| one.kind == MoveKind::Replace);
    let mut savings: Vec<PricePerHour> = replaces.map(|one| one.saving).collect();
    savings.sort_unstable();
    savings
}

#[test]
fn each_of_many_pools_is_consolidated_as_it_would_be_alone() {
    let sold = || cluster().types(ladder(60));
    let together = savings(&fleet_gone_to_waste(teams(false).all(sold())));
    let alone = (0..TEAMS).flat_map(|team| {
        let cluster = teams(false).one(sold(), team);
        savings(&fleet_gone_to_waste(cluster))
    });
    let mut alone: Vec<PricePerHour> = alone.collect();
    alone.sort_unstable();
    assert!(!alone.is_empty());
    assert_eq!(together, alone);
}
