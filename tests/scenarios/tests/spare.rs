//! Room kept for pods that are yet to come: an evening's peak with none, with a share of what runs, and with room at set
//! hours; and what spare room must never do.

use plimsoll_base::ids::ObjectName;
use plimsoll_base::resources::ResourceName;
use plimsoll_base::time::{Span, Timestamp};
use plimsoll_model::Object;
use plimsoll_model::action::ObjectKey;
use plimsoll_model::snapshot::Snapshot;
use plimsoll_oracles::fixture::{
    Amounts, BufferFixture, ClusterFixture, OnDemand, PoolFixture, ZONE_1, buffer, cluster,
    instance_type, pod, pool,
};
use plimsoll_oracles::judge::cases;
use plimsoll_scenarios::stage;
use plimsoll_sim::{
    Behaviour, Change, Delay, Deployment, Planner, Recording, Run, ScoreCard, Shortfall,
    TimedChange,
};
use proptest::prelude::*;

const START: Timestamp = Timestamp::from_millis(0);
const MINUTE: Span = Span::from_secs(60);
const HOUR: Span = Span::from_secs(3600);

fn core_planner() -> impl Planner {
    |snapshot: &Snapshot| plimsoll_schedule::plan(snapshot)
}

fn behaviour(seed: u64) -> Behaviour {
    Behaviour {
        seed,
        boot: Delay::always(Span::from_secs(60)),
        interruptions: false,
        ..Behaviour::default()
    }
}

/// Instances of four cores at $0.20 an hour.
fn shop(general: PoolFixture) -> ClusterFixture {
    let four = instance_type("four").cpu(4000).memory_mib(16_384).pods(110);
    let four = four.no_overhead().price(0.2).offered(ZONE_1, OnDemand);
    cluster().sells(four).pool(general.with(|pool| {
        pool.disruption.consolidate_after = Some(Span::from_secs(60));
        pool.disruption.budgets.clear();
    }))
}

fn web(replicas: u32) -> Deployment {
    let template = pod("web").cpu(1000).memory_mib(1024);
    stage::deployment(&template, replicas)
}

fn at(after: Span, change: Change) -> TimedChange {
    TimedChange {
        at: START + after,
        change,
    }
}

fn scale(after: Span, replicas: u32) -> TimedChange {
    at(
        after,
        Change::Scale(ObjectName::new("default", "web"), replicas),
    )
}

fn recording(shop: ClusterFixture, end: Span, changes: Vec<TimedChange>) -> Recording {
    stage::recording(shop.parts(), START, Some(START + end), changes)
}

/// A day of 40 replicas that grow to 80 between 21 and 22 h, a step every five minutes, with a burst of six on top at
/// 21:30 and at 22:20; from 23 h on it is 40 again.
fn evening() -> Vec<TimedChange> {
    let minutes = |count: u32| Span::from_millis(i64::from(count) * MINUTE.millis());
    let nine = 21 * 60;
    let grows = (1..=12).map(|step| (nine + 5 * step, 40 + step * 40 / 12));
    let bursts = [
        (nine + 31, 66),
        (nine + 80, 86),
        (nine + 90, 80),
        (nine + 120, 40),
    ];
    let mut changes = vec![at(Span::ZERO, Change::Deploy(web(40)))];
    let sizes = grows.chain(bursts);
    changes.extend(sizes.map(|(minute, replicas)| scale(minutes(minute), replicas)));
    changes
}

/// Milliseconds that the pods of the evening waited together until they ran, and the day's score card.
fn play(spare: Option<BufferFixture>) -> (i64, ScoreCard) {
    let mut shop = shop(pool("general"));
    if let Some(spare) = spare {
        shop = shop.buffer(spare);
    }
    let day = recording(shop, Span::from_millis(24 * HOUR.millis()), evening());
    let mut run = Run::new(day, behaviour(1), core_planner());
    run.run_until(START + Span::from_millis(23 * HOUR.millis() - 1));
    let noon = START + Span::from_millis(12 * HOUR.millis());
    let late = run.pods().filter(|pod| pod.created > noon);
    let waits = late.map(|pod| {
        let until = pod.started.unwrap_or(run.now());
        until.millis() - pod.created.millis()
    });
    (waits.sum(), run.finish())
}

/// K31: what spare room gains and what it costs.
#[test]
fn spare_room_shortens_the_waits_of_an_evening_peak_and_costs_what_it_keeps() {
    let tenth = || {
        let room = buffer("room").of_workload("Deployment", "web");
        room.percentage(10)
    };
    let hours = Span::from_millis(135 * MINUTE.millis());
    let reactive = play(None);
    let always = play(Some(tenth()));
    let planned = play(Some(tenth().during("45 20 * * *", hours)));
    let cents = |card: &ScoreCard| card.cost / 10_000_000;
    let seen = [&reactive, &always, &planned].map(|(waits, card)| (waits / 1000, cents(card)));
    let [(none, cheapest), (least, dearest), (timed, between)] = seen;
    assert!(
        least * 2 < none,
        "a tenth of room halves the waiting: {seen:?}"
    );
    assert!(timed * 2 < none, "and so does room at set hours: {seen:?}");
    assert!(cheapest < between && between < dearest, "{seen:?}");
    // Pods that were never made are no part of any figure.
    let made = |card: &ScoreCard| (card.unplaced_count, card.pods - card.evictions);
    assert_eq!(made(&reactive.1), made(&always.1));
    assert_eq!(made(&reactive.1), made(&planned.1));
}

/// A run of a few hours with one deployment of four replicas.
fn steady(general: PoolFixture, spare: BufferFixture) -> Run<impl Planner> {
    let changes = vec![at(Span::ZERO, Change::Deploy(web(4)))];
    let shop = shop(general).buffer(spare);
    let hours = recording(shop, Span::from_millis(6 * HOUR.millis()), changes);
    Run::new(hours, behaviour(1), core_planner())
}

fn room() -> BufferFixture {
    buffer("room").of_workload("Deployment", "web")
}

fn told(run: &mut Run<impl Planner>) -> Vec<String> {
    let reports = run.take_reports().into_iter();
    let of_buffers = reports.filter(|report| matches!(report.object, ObjectKey::Buffer(_)));
    of_buffers.map(|report| report.reason.to_string()).collect()
}

#[test]
fn room_is_bought_kept_while_empty_and_given_back_when_its_window_closes() {
    let window = room().replicas(3).during("0 1 * * *", HOUR);
    let mut run = steady(pool("general"), window);
    run.run_until(START + Span::from_secs(3599));
    assert_eq!(run.nodes().count(), 1);
    run.run_until(START + Span::from_secs(3600 + 180));
    assert_eq!(run.nodes().count(), 2, "the window has opened");
    run.run_until(START + Span::from_secs(7199));
    assert_eq!(run.nodes().count(), 2, "the empty node holds the room");
    run.run_until(START + Span::from_secs(7200 + 300));
    assert_eq!(run.nodes().count(), 1, "the window has closed");
    let told = told(&mut run);
    let expected = [
        "BufferEmpty",
        "RequiresNewCapacity",
        "FitsExistingCapacity",
        "BufferEmpty",
    ];
    let mut short = told.clone();
    short.dedup();
    assert_eq!(short, expected, "{told:?}");
}

/// The scheduler lets pods into spare room without anybody waiting; the room is made again.
#[test]
fn room_that_pods_took_is_made_again() {
    let mut run = steady(pool("general"), room().replicas(4));
    run.run_until(START + Span::from_secs(600));
    assert_eq!(run.nodes().count(), 2);
    run.change(Change::Scale(ObjectName::new("default", "web"), 8));
    run.run_until(START + Span::from_secs(601));
    assert!(run.pods().all(|pod| pod.node.is_some()), "nobody waits");
    run.run_until(START + Span::from_secs(800));
    assert_eq!(run.nodes().count(), 3);
}

#[test]
fn room_that_nobody_sells_is_asked_for_once_and_not_again_and_again() {
    let limited = pool("general").limit(ResourceName::Nodes, 1);
    let mut run = steady(limited, room().replicas(4));
    run.run_until(START + Span::from_secs(600));
    let decisions = run.counts().decisions;
    run.run_until(START + Span::from_secs(6 * 3600 - 1));
    assert_eq!(run.counts().decisions, decisions);
    assert_eq!(run.nodes().count(), 1);
}

/// A unit needs nearly all the memory of an instance, and instances lack a fiftieth of what was computed. An instance is judged when it
/// is ready; that it is too small is seen when it registers, so that one more is on its way by then.
#[test]
fn room_that_no_machine_turns_out_to_have_is_bought_a_few_times_and_then_seldom() {
    let unit = pod("unit").cpu(100).memory_mib(16_200);
    let shop = shop(pool("general")).template(&unit);
    let shop = shop.buffer(buffer("room").of_template("unit").replicas(1));
    let shop = shop.settings(|all| all.guards.learned_reserve = false);
    let small = Behaviour {
        shortfall: Shortfall::always(20),
        ..behaviour(1)
    };
    let hours = Span::from_millis(3 * HOUR.millis());
    let mut run = Run::new(recording(shop, hours, Vec::new()), small, core_planner());
    let mut launches = |seconds: i64| {
        run.run_until(START + Span::from_secs(seconds));
        run.counts().launches
    };
    assert_eq!([3600, 7200, 10_000].map(&mut launches), [4, 6, 8]);
    let reports = run.take_reports();
    let held = reports
        .iter()
        .find(|report| report.message.contains("not bought"));
    let held = held.expect("the buffer is told");
    assert!(
        held.message.contains("four was launched 3 times"),
        "{held:?}"
    );
}

/// Five nodes are empty after a scale-down; the room of four units needs one of them.
#[test]
fn as_many_empty_nodes_go_as_leave_the_room_its_place() {
    let changes = vec![
        at(Span::ZERO, Change::Deploy(web(24))),
        scale(Span::from_secs(600), 4),
    ];
    let shop = shop(pool("general")).buffer(room().replicas(4));
    let hours = recording(shop, HOUR, changes);
    let mut run = Run::new(hours, behaviour(1), core_planner());
    run.run_until(START + Span::from_secs(590));
    assert_eq!(run.nodes().count(), 7);
    run.run_until(START + Span::from_secs(3500));
    assert_eq!(run.nodes().count(), 2);
}

#[test]
fn a_buffer_that_goes_takes_its_room_with_it() {
    let mut run = steady(pool("general"), room().replicas(4));
    run.run_until(START + Span::from_secs(600));
    assert_eq!(run.nodes().count(), 2);
    let none = room().replicas(0).build();
    run.change(Change::Apply(Object::Buffer(none)));
    run.run_until(START + Span::from_secs(1200));
    assert_eq!(run.nodes().count(), 1);
    assert_eq!(
        told(&mut run).last().map(String::as_str),
        Some("BufferEmpty")
    );
}

proptest! {
    #![proptest_config(cases(24))]

    /// Whatever is kept and whatever comes, a run ends, every plan holds before the checker, and no pod waits longer than
    /// without spare room for want of a place.
    #[test]
    fn worlds_with_spare_room_come_to_rest(
        seed in any::<u64>(),
        units in 0_u32..8,
        share in prop::option::of(0_u32..150),
        sizes in prop::collection::vec(1_u32..20, 1..5),
        nodes in prop::option::of(1_i64..8),
    ) {
        let mut changes = vec![at(Span::ZERO, Change::Deploy(web(2)))];
        changes.extend(sizes.iter().zip(1..).map(|(size, step)| scale(Span::from_secs(step * 700), *size)));
        let limited = match nodes {
            Some(nodes) => pool("general").limit(ResourceName::Nodes, nodes),
            None => pool("general"),
        };
        let spare = room().replicas(units).with(|buffer| buffer.percentage = share);
        let card = |shop: ClusterFixture| {
            let checked = |snapshot: &Snapshot| {
                let plan = plimsoll_schedule::plan(snapshot);
                assert_eq!(plimsoll_check::check(snapshot, &plan), []);
                plan
            };
            let hours = recording(shop, Span::from_millis(3 * HOUR.millis()), changes.clone());
            Run::new(hours, behaviour(seed), checked).finish()
        };
        let with = card(shop(limited.clone()).buffer(spare));
        let without = card(shop(limited));
        prop_assert!(with.unplaced_count <= without.unplaced_count);
        prop_assert!(with.decisions < 400, "{} decisions", with.decisions);
    }
}
