//! Ceilings on buying: nodes in flight, nodes per minute, dollars per hour. Pods wait and are told which ceiling holds them.

use std::sync::Arc;

use plimsoll_base::event_reason::EventReason;
use plimsoll_base::time::Timestamp;
use plimsoll_base::units::PricePerHour;
use plimsoll_model::action::ObjectKey;
use plimsoll_model::snapshot::RunawayGuards;
use plimsoll_model::{Ceilings, PackingMode};
use plimsoll_oracles::fixture::{
    Amounts, ClusterFixture, OnDemand, PodFixture, ZONE_1, cluster, instance_type, pod, pool,
};
use plimsoll_scenarios::stage;
use plimsoll_sim::{Change, Planner, Run, ScoreCard, TimedChange};

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_millis(seconds * 1000)
}

fn ceilings(change: impl Fn(&mut RunawayGuards)) -> RunawayGuards {
    let mut ceilings = RunawayGuards::default();
    change(&mut ceilings);
    ceilings
}

/// So many pods that each fill a node of $0.20 per hour, which is there 45 seconds after it is bought; for half an hour.
fn run(pods: u32, packing: PackingMode, ceilings: RunawayGuards) -> Run<impl Planner> {
    let full = instance_type("full").cpu(4000).memory_mib(16_384);
    let full = full.pods(110).no_overhead().price(0.2);
    let fixture = cluster()
        .pool(pool("general").packing(packing))
        .sells(full.offered(ZONE_1, OnDemand))
        .settings(move |settings| settings.runaway = ceilings);
    half_an_hour(fixture, vec![(filling("web"), pods)])
}

/// A pod that fills a node.
fn filling(name: &str) -> PodFixture {
    pod(name).cpu(3500).memory_mib(512)
}

/// Half an hour of deployments that are there from the start, each of so many pods like the one given.
fn half_an_hour(fixture: ClusterFixture, deployments: Vec<(PodFixture, u32)>) -> Run<impl Planner> {
    let deploy = |(template, replicas): (PodFixture, u32)| TimedChange {
        at: at(0),
        change: Change::Deploy(stage::deployment(&template, replicas)),
    };
    let changes = deployments.into_iter().map(deploy).collect();
    let recording = stage::recording(fixture.parts(), at(0), Some(at(1800)), changes);
    stage::run(recording, stage::uninterrupted())
}

/// Lets time pass to an instant; the most nodes in flight at once, and what pods were told.
fn watch<P: Planner>(run: &mut Run<P>, until: Timestamp) -> (usize, Vec<String>) {
    let mut most = 0;
    while run.next_at().is_some_and(|next| next <= until) {
        run.step();
        let in_flight = |claim: &&Arc<plimsoll_model::NodeClaim>| {
            claim.phase() < plimsoll_model::ClaimPhase::Initialized
        };
        most = most.max(run.claims().filter(in_flight).count());
    }
    run.run_until(until);
    let told = run.take_reports().into_iter();
    let of_pods = told.filter(|report| {
        matches!(report.object, ObjectKey::Pod(_)) && report.reason != EventReason::Nominated
    });
    (most, of_pods.map(|report| report.message).collect())
}

fn card(pods: u32, ceilings: RunawayGuards) -> ScoreCard {
    run(pods, PackingMode::Price, ceilings).finish()
}

#[test]
fn nodes_in_flight_stay_below_their_ceiling_until_all_pods_run() {
    let three = ceilings(|ceilings| ceilings.nodes_in_flight = 3);
    for packing in [PackingMode::Price, PackingMode::Compatible] {
        let mut run = run(8, packing, three);
        let (most, told) = watch(&mut run, at(20));
        assert_eq!((most, run.counts().launches), (3, 3), "{packing:?}");
        assert_eq!(
            told,
            ["ceiling on nodes in flight: 3 of 3 are on their way (setting runaway.nodesInFlight)";
                5],
            "{packing:?}: each pod once"
        );
        let (most, _) = watch(&mut run, at(1800));
        assert_eq!((most, run.counts().launches), (3, 8), "{packing:?}");
        assert!(run.pods().all(|pod| pod.node.is_some()), "{packing:?}");
    }
}

#[test]
fn nodes_of_a_minute_stay_below_their_ceiling_and_the_next_minute_goes_on() {
    let two = ceilings(|ceilings| ceilings.nodes_per_minute = 2);
    let mut run = run(6, PackingMode::Price, two);
    for (minute, bought) in [(0, 2), (1, 4), (2, 6)] {
        watch(&mut run, at(minute * 60 + minute * 2 + 50));
        assert_eq!(run.counts().launches, bought, "minute {minute}");
    }
}

#[test]
fn another_engine_counts_what_was_asked_for_before_it() {
    let two = ceilings(|ceilings| ceilings.nodes_per_minute = 2);
    let mut run = run(6, PackingMode::Price, two);
    watch(&mut run, at(20));
    run.crash();
    watch(&mut run, at(50));
    assert_eq!(run.counts().launches, 2);
    watch(&mut run, at(80));
    assert_eq!(run.counts().launches, 4);
}

#[test]
fn nothing_is_bought_beyond_the_ceiling_on_cost_and_the_card_names_it() {
    let dollar = PricePerHour::from_nanos(1_000_000_000);
    let card = card(7, ceilings(|ceilings| ceilings.dollars_per_hour = dollar));
    assert_eq!((card.launches, card.unplaced_count), (5, 2));
    for unplaced in &card.unplaced {
        assert_eq!(
            unplaced.reason,
            "ceiling on cost: $1.2000/h with one more node is above $1.0000/h (setting runaway.dollarsPerHour)"
        );
    }
}

#[test]
fn default_ceilings_hold_nobody() {
    let card = card(40, RunawayGuards::default());
    assert_eq!((card.launches, card.unplaced_count), (40, 0));
}

/// Two pools of the same instances, the first with ceilings of its own, and four pods for each at the start.
fn two_pools(ceilings: impl FnOnce(&mut Ceilings)) -> Run<impl Planner> {
    let full = instance_type("full").cpu(4000).memory_mib(16_384);
    let full = full.pods(110).no_overhead().price(0.2);
    let bounded = pool("bounded").label("team", "bounded");
    let fixture = cluster()
        .pool(bounded.with(|pool| ceilings(&mut pool.ceilings)))
        .pool(pool("open").label("team", "open"))
        .sells(full.offered(ZONE_1, OnDemand));
    let teams = ["bounded", "open"].map(|name| (filling(name).select("team", name), 4));
    half_an_hour(fixture, teams.into())
}

/// Claims of the pool with ceilings, and of the other.
fn bought<P: Planner>(run: &Run<P>) -> (usize, usize) {
    let of = |name: &str| {
        let own = run.claims().filter(|claim| claim.pool.as_str() == name);
        own.count()
    };
    (of("bounded"), of("open"))
}

#[test]
fn a_pool_has_a_ceiling_of_its_own_on_nodes_in_flight_that_others_do_not_feel() {
    let mut run = two_pools(|own| own.nodes_in_flight = Some(1));
    let (_, told) = watch(&mut run, at(20));
    assert_eq!(bought(&run), (1, 4));
    assert_eq!(
        told,
        ["ceiling on nodes in flight of pool bounded: 1 of 1 are on their way (annotation plimsoll.dev/nodes-in-flight)";
            3]
    );
    watch(&mut run, at(1000));
    assert_eq!(bought(&run), (4, 4));
}

#[test]
fn a_pool_has_a_ceiling_of_its_own_on_nodes_per_minute_also_after_a_crash() {
    let mut run = two_pools(|own| own.nodes_per_minute = Some(2));
    let (_, told) = watch(&mut run, at(20));
    assert_eq!(bought(&run), (2, 4));
    assert!(
        told[0].starts_with("ceiling on nodes per minute of pool bounded: 2 of 2 were asked for"),
        "{told:?}"
    );
    run.crash();
    watch(&mut run, at(50));
    assert_eq!(bought(&run), (2, 4));
    watch(&mut run, at(80));
    assert_eq!(bought(&run), (4, 4));
}

#[test]
fn a_pool_has_a_ceiling_of_its_own_on_cost() {
    let mut run =
        two_pools(|own| own.dollars_per_hour = Some(PricePerHour::from_nanos(700_000_000)));
    let (_, told) = watch(&mut run, at(1000));
    assert_eq!(bought(&run), (3, 4));
    assert_eq!(
        told,
        [
            "ceiling on cost of pool bounded: $0.8000/h with one more node is above $0.7000/h (annotation \
          plimsoll.dev/dollars-per-hour)"
        ]
    );
}
