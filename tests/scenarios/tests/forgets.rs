//! The engine forgets what is gone: Jobs that come and go through a cluster of constant size leave its memory as it was.

use plimsoll_base::time::{Span, Timestamp};
use plimsoll_model::OwnerKind;
use plimsoll_oracles::fixture::{Amounts, OnDemand, ZONE_1, cluster, machine, pod, pool};
use plimsoll_scenarios::stage;
use plimsoll_sim::{Change, Planner, Run, TimedChange};

/// Jobs in all.
const COUNT: u32 = 100_000;

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_millis(seconds * 1000)
}

/// Every ten seconds one more Job of its own name and needs, which runs for a minute.
fn jobs(count: u32) -> Run<impl Planner> {
    let pool = pool("general").with(|pool| {
        pool.disruption.consolidate_after = Some(Span::from_secs(30));
    });
    let listed = machine("middle", 4, 0.19)
        .pods(58)
        .offered(ZONE_1, OnDemand);
    let fixture = cluster().sells(listed).pool(pool);
    let job = |number: u32| {
        let name = format!("job{number:06}");
        let job = pod(&name).cpu(500 + i64::from(number % 700)).memory_mib(64);
        job.owned_by(OwnerKind::Job, &name)
    };
    let (mut objects, catalogues, settings) = fixture.pods((0..count).map(job)).parts();
    let arriving = std::mem::take(&mut objects.pods);
    let arrive = |(number, pod)| TimedChange {
        at: at(i64::from(number) * 10),
        change: Change::Arrive(pod, Some(Span::from_secs(60))),
    };
    let changes = (0..count).zip(arriving).map(arrive).collect();
    let recording = stage::recording((objects, catalogues, settings), at(0), None, changes);
    stage::run(recording, stage::uninterrupted())
}

/// The most that the engine holds from when so many Jobs have come until ten thousand more have: the length of all of it, written
/// down.
fn most_held<P: Planner>(run: &mut Run<P>, jobs: i64) -> usize {
    let lengths = (0..40).map(|part| {
        run.run_until(at((jobs + part * 250) * 10));
        run.written_engine().len()
    });
    lengths.max().unwrap_or(0)
}

#[test]
fn jobs_that_are_gone_leave_nothing() {
    let mut run = jobs(COUNT);
    // Deletions are remembered against events that come late, up to some thousands of each kind: both spans are past that.
    let early = most_held(&mut run, 40_000);
    let late = most_held(&mut run, 89_000);
    assert!(run.pods().count() < 20, "the cluster is as small as it was");
    assert!(late <= early + early / 20, "{early} then {late}");
}
