//! Pods of Jobs lose their work when they move: a move must save enough to make up for it.

use std::sync::Arc;

use plimsoll_base::time::{Span, Timestamp};
use plimsoll_disrupt::outlook::outlook;
use plimsoll_model::snapshot::{ChurnGuards, Snapshot};
use plimsoll_model::{OwnerKind, PackingMode};
use plimsoll_oracles::fixture::*;

use crate::pass::{general, ours, pass, sold};

/// Seconds at which the clusters are looked at.
const NOW: i64 = 1_000_000;

/// A pod of a Job on the large instance, and for how many minutes it has run.
fn task(name: &str, cpu: i64, minutes: i64) -> PodFixture {
    let task = pod(name).cpu(cpu).memory_mib(256).on("n1");
    let task = task.owned_by(OwnerKind::Job, name);
    let started = Timestamp::from_millis(NOW * 1000) - Span::from_secs(60 * minutes);
    task.with(move |pod| pod.started = Some(started))
}

fn with(world: ClusterFixture, change: impl FnOnce(&mut ChurnGuards)) -> Snapshot {
    let mut snapshot = world.snapshot();
    change(&mut Arc::make_mut(&mut snapshot.settings).churn);
    snapshot
}

/// Tasks on a large instance at $0.40 an hour, beside one of others with so many milli-cores free; nodes that are removed.
fn moved(tasks: &[(i64, i64)], free: i64, change: impl FnOnce(&mut ChurnGuards)) -> usize {
    let mut world = sold(general(|_| {}))
        .now(NOW)
        .node(ours("n1", "large", 8000));
    if free > 0 {
        let full = pod("full").cpu(8000 - free).memory_mib(256).on("n2");
        let full = full.owned_by(OwnerKind::ReplicaSet, "full");
        let other = node("n2").zone(ZONE_1).cpu(8000).memory_mib(32_768);
        world = world.node(other).pod(full);
    }
    for (at, (cpu, minutes)) in tasks.iter().enumerate() {
        world = world.pod(task(&format!("task-{at}"), *cpu, *minutes));
    }
    let snapshot = with(world, change);
    let commands = pass(&snapshot).commands;
    commands.iter().map(|command| command.members.len()).sum()
}

#[test]
fn a_move_must_save_more_than_twice_what_the_work_of_jobs_costs() {
    // A small instance saves $0.30 an hour. The task has a sixteenth of the large one, $0.025; its age does not matter.
    for minutes in [0, 1, 6_000] {
        assert_eq!(moved(&[(500, minutes)], 0, |_| {}), 1, "{minutes}");
    }
    // Going without a new instance saves $0.40. Half of the instance is worth as much, twice; a little less is worth less.
    assert_eq!(moved(&[(4000, 60)], 4000, |_| {}), 0);
    assert_eq!(moved(&[(3900, 60)], 4000, |_| {}), 1);
    let once = |guards: &mut ChurnGuards| guards.lost_work_percent = 100;
    assert_eq!(moved(&[(4000, 60)], 4000, once), 1);
}

#[test]
fn what_has_just_begun_loses_little_beside_what_has_run_for_long() {
    let old = |count: usize| {
        let (old, young) = ((1000, 600), (1000, 1));
        let tasks = (0..6).map(|at| if at < count { old } else { young });
        tasks.collect::<Vec<_>>()
    };
    // Each old one loses $0.05 an hour, twice; together they may lose less than $0.40.
    assert_eq!(moved(&old(3), 6000, |_| {}), 1);
    assert_eq!(moved(&old(4), 6000, |_| {}), 0);
}

#[test]
fn nodes_of_jobs_are_left_alone_where_that_is_asked_for_and_go_as_any_where_the_rules_are_karpenters()
 {
    let spared = |guards: &mut ChurnGuards| guards.spare_jobs = true;
    assert_eq!(moved(&[(500, 60)], 0, spared), 0);
    let ignored = |guards: &mut ChurnGuards| guards.lost_work_percent = 0;
    assert_eq!(moved(&[(8000, 60)], 8000, ignored), 1);

    let compatible = general(|pool| pool.packing = PackingMode::Compatible);
    let world = sold(compatible).now(NOW).node(ours("n1", "large", 8000));
    let world = world.node(ours("n2", "large", 8000));
    let world = world.pod(task("task", 7000, 60));
    let snapshot = world.pod(pod("web").cpu(500).on("n2")).snapshot();
    assert_eq!(pass(&snapshot).commands.len(), 1);
}

#[test]
fn people_are_told_what_the_lost_work_would_cost() {
    let world = sold(general(|_| {}))
        .now(NOW)
        .node(ours("n1", "large", 8000));
    let snapshot = with(world.pod(task("task", 1000, 60)), |guards| {
        guards.lost_work_percent = 700;
    });
    let row = node_row(&snapshot, "n1");
    let told = outlook(&snapshot, row).to_string();
    let words = "less than the $0.35";
    assert!(told.contains(words), "{told}");
}
