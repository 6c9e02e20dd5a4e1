//! Whole runs: the same bytes for the same seed, sums that add up, baselines, a long recording.

use std::sync::Arc;

use plimsoll_base::time::{Span, Timestamp};
use plimsoll_model::snapshot::Snapshot;
use plimsoll_model::{OwnerKind, Pod};
use plimsoll_oracles::fixture::{Amounts, Spot, ZONE_1, ZONE_2, cluster, instance_type, pod, pool};
use plimsoll_scenarios::stage;
use plimsoll_sim::{
    Behaviour, Change, FixedGroup, Planner, Random, Recording, Run, ScoreCard, TimedChange,
};

/// Tasks that arrive over some days and run for a while.
fn tasks(count: u32, over: Span) -> Recording {
    let small = instance_type("small").cpu(2000).memory_mib(8192).pods(110);
    let small = small.offered(ZONE_1, Spot).offered(ZONE_2, Spot);
    let large = instance_type("large").cpu(8000).memory_mib(32768).pods(110);
    let pool = pool("general").with(|pool| {
        pool.disruption.consolidate_after = Some(Span::from_secs(30));
    });
    let random = Random::new(3);
    let draw = |what, at, end: i64| {
        let end = u64::try_from(end).expect("a positive bound");
        i64::try_from(random.below(what, at, end)).expect("below a signed bound")
    };
    let task = |at: u32| {
        pod(&format!("task{at:05}"))
            .cpu(200 + 100 * draw("cpu", at, 16))
            .memory_mib(256 + 256 * draw("memory", at, 12))
            .owned_by(OwnerKind::Job, &format!("job{at}"))
            .with(|pod| pod.unschedulable = false)
    };
    let fixture = cluster().sells(small).sells(large).pool(pool);
    let (mut objects, catalogues, settings) = fixture.pods((0..count).map(task)).parts();
    let pods = std::mem::take(&mut objects.pods);
    let change = |(at, pod): (u32, Arc<Pod>)| TimedChange {
        at: Timestamp::from_millis(draw("arrival", at, over.millis())),
        change: Change::Arrive(pod, Some(Span::from_secs(30 + draw("life", at, 7200)))),
    };
    stage::recording(
        (objects, catalogues, settings),
        Timestamp::from_millis(0),
        None,
        (0..count).zip(pods).map(change).collect(),
    )
}

fn core_planner() -> impl Planner {
    |snapshot: &Snapshot| plimsoll_schedule::plan(snapshot)
}

fn card(planner: impl Planner, seed: u64) -> ScoreCard {
    let behaviour = Behaviour {
        seed,
        ..Behaviour::default()
    };
    let day = Span::from_secs(86_400);
    Run::new(tasks(200, day), behaviour, planner).finish()
}

#[test]
fn the_same_seed_gives_the_same_bytes() {
    let json = |seed| serde_json::to_string(&card(core_planner(), seed)).expect("a card is JSON");
    assert_eq!(json(5), json(5));
    assert_ne!(json(5), json(6));
}

#[test]
fn pods_that_do_not_say_since_when_they_wait_wait_from_the_start() {
    let start = Timestamp::from_millis(1_750_000_000_000);
    let waits = |created: Timestamp| {
        let waiting = pod("waiting").cpu(500).with(|pod| pod.created = created);
        let small = instance_type("small").cpu(2000).memory_mib(8192).pods(110);
        let (objects, catalogues, settings) = cluster()
            .sells(small)
            .pool(pool("general"))
            .pods([waiting])
            .parts();
        let recording = stage::recording((objects, catalogues, settings), start, None, Vec::new());
        let card = Run::new(recording, Behaviour::default(), core_planner()).finish();
        card.waiting.max
    };
    let hour = Span::from_secs(3600);
    let unsaid = waits(Timestamp::default());
    assert!(unsaid < hour, "{unsaid:?}");
    assert_eq!(waits(start), unsaid);
    assert_eq!(
        waits(Timestamp::from_millis(start.millis() - hour.millis())),
        unsaid + hour
    );
}

#[test]
fn every_task_runs_and_every_machine_ends() {
    let card = card(core_planner(), 1);
    assert_eq!(card.completed, 200);
    assert_eq!(card.unplaced_count, 0);
    assert_eq!(card.pods, 200 + card.evictions);
    let last = card
        .series
        .means
        .nodes
        .values()
        .filter_map(|column| column.last());
    assert!(last.sum::<i64>() < 2000, "instances are left at the end");
    assert!(card.launches > 0 && card.cost > 0);
    assert!(card.waiting.max < Span::from_secs(180));
}

#[test]
fn cost_is_the_sum_over_types() {
    let card = card(core_planner(), 1);
    let parts: i64 = card.node_hours.iter().map(|row| row.cost).sum();
    assert!((card.cost - parts).abs() <= i64::try_from(card.node_hours.len()).unwrap());
}

#[test]
fn a_fixed_group_buys_nothing_but_its_type() {
    let card = card(FixedGroup::new("large"), 1);
    assert_eq!(card.completed, 200);
    assert!(
        card.node_hours
            .iter()
            .all(|row| row.instance_type.as_str() == "large")
    );
}

#[test]
fn a_hundred_and_fifty_days_are_played_to_the_end() {
    let behaviour = Behaviour::default();
    let days = Span::from_secs(150 * 86_400);
    let card = Run::new(tasks(8152, days), behaviour, core_planner()).finish();
    assert_eq!(card.completed, 8152);
    assert!(card.series.means.cost.len() <= 1440);
    let bound = card.pending_pods;
    assert!(bound.as_planned * 100 >= bound.bound * 95, "{bound:?}");
}

/// One task of two hours on nodes that live for an hour and a half, for ten hours.
fn outlives_its_node(owner: OwnerKind) -> ScoreCard {
    let mut recording = tasks(1, Span::from_secs(1));
    recording.objects.pools = recording
        .objects
        .pools
        .iter()
        .map(|pool| {
            let mut pool = pool.as_ref().clone();
            pool.expire_after = Some(Span::from_secs(5400));
            Arc::new(pool)
        })
        .collect();
    for change in &mut recording.changes {
        if let Change::Arrive(pod, runs_for) = &mut change.change {
            let mut own = pod.as_ref().clone();
            own.owner.iter_mut().for_each(|it| it.kind = owner);
            (*pod, *runs_for) = (Arc::new(own), Some(Span::from_secs(7200)));
        }
    }
    recording.end = Some(Timestamp::from_millis(36_000_000));
    Run::new(recording, Behaviour::default(), core_planner()).finish()
}

#[test]
fn a_service_serves_for_the_rest_of_its_time_and_a_job_begins_anew() {
    let service = outlives_its_node(OwnerKind::ReplicaSet);
    assert_eq!((service.completed, service.evictions), (1, 1));
    let job = outlives_its_node(OwnerKind::Job);
    assert_eq!(job.completed, 0, "no node lives long enough");
    assert!(job.evictions > 4);
}
