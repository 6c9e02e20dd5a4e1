//! Laws that hold whatever goes wrong between the engine and the world: outcomes lost before or after the thing was done,
//! conflicts, repeated watch events, crashes at any moment.

use std::sync::Arc;

use plimsoll_base::ids::ObjectName;
use plimsoll_base::time::{Span, Timestamp};
use plimsoll_oracles::fixture::{Amounts, cluster, instance_type, pod, pool};
use plimsoll_oracles::judge::cases;
use plimsoll_scenarios::stage;
use plimsoll_sim::{Behaviour, Change, Deployment, Faults, Planner, Recording, Run, TimedChange};
use proptest::prelude::*;

const START: Timestamp = Timestamp::from_millis(0);

fn deployment(name: &str, replicas: u32, cpu: i64) -> Deployment {
    let template = pod(name).cpu(cpu).memory_mib(512);
    stage::deployment(&template, replicas)
}

fn recording(sizes: &[(u32, i64)]) -> Recording {
    let small = instance_type("small").cpu(2000).memory_mib(8192).pods(110);
    let large = instance_type("large").cpu(8000).memory_mib(32768).pods(110);
    let pool = pool("general").with(|pool| pool.disruption.consolidate_after = None);
    let changes = sizes
        .iter()
        .enumerate()
        .map(|(at, (replicas, cpu))| TimedChange {
            at: START,
            change: Change::Deploy(deployment(&format!("web{at}"), *replicas, *cpu)),
        });
    stage::recording(
        cluster().sells(small).sells(large).pool(pool).parts(),
        START,
        None,
        changes.collect(),
    )
}

fn behaviour(seed: u64, faults: Faults) -> Behaviour {
    Behaviour {
        seed,
        faults,
        ..stage::uninterrupted()
    }
}

/// How a run stands after an hour with crashes at the given milliseconds.
#[derive(Debug, PartialEq, Eq)]
struct Stand {
    waiting: usize,
    launches: u32,
    instances: usize,
    claims: usize,
    nodes: usize,
    /// Pods that were bound elsewhere than planned.
    elsewhere: u32,
}

impl Stand {
    /// Pods and nodes there are, and nodes bought for them.
    fn bought(&self) -> [usize; 4] {
        [
            self.launches as usize,
            self.instances,
            self.claims,
            self.nodes,
        ]
    }
}

fn after_an_hour(sizes: &[(u32, i64)], behaviour: Behaviour, crashes: &[i64]) -> Stand {
    let mut run = stage::run(recording(sizes), behaviour);
    let mut crashes = crashes.to_vec();
    crashes.sort_unstable();
    for crash in crashes {
        run.run_until(Timestamp::from_millis(crash));
        run.crash();
    }
    run.run_until(Timestamp::from_millis(3_600_000));
    stand(&run)
}

fn stand<P: Planner>(run: &Run<P>) -> Stand {
    Stand {
        waiting: run.pods().filter(|pod| pod.node.is_none()).count(),
        launches: run.counts().launches,
        instances: run.instance_count(),
        claims: run.claims().count(),
        nodes: run.nodes().count(),
        elsewhere: {
            let pods = [run.counts().pending_pods, run.counts().evicted_pods];
            pods.map(|of| of.bound - of.as_planned).iter().sum()
        },
    }
}

fn sizes() -> impl Strategy<Value = Vec<(u32, i64)>> {
    proptest::collection::vec((1_u32..12, 200_i64..1800), 1..4)
}

fn rough_world(lost: u64, conflict: u64, repeated: u64) -> Faults {
    Faults {
        lost_after: lost,
        lost_before: lost / 2,
        conflict,
        repeated,
        ..Faults::default()
    }
}

/// Answers that are lost, conflicts and repeated events, each up to a share of all.
fn rough_worlds() -> impl Strategy<Value = Faults> {
    let shares = (0_u64..200_000, 0_u64..200_000, 0_u64..300_000);
    shares.prop_map(|(lost, conflict, repeated)| rough_world(lost, conflict, repeated))
}

proptest! {
    #![proptest_config(cases(256))]

    /// Pods of one deployment are one another's equals: whatever is lost on the way, just what was planned is bought.
    #[test]
    fn lost_answers_and_conflicts_buy_nothing_twice(
        size in (1_u32..40, 200_i64..1800),
        seed in 0_u64..1000,
        faults in rough_worlds(),
    ) {
        let calm = after_an_hour(&[size], behaviour(seed, Faults::default()), &[]);
        let rough = after_an_hour(&[size], behaviour(seed, faults), &[]);
        prop_assert_eq!(rough.waiting, 0);
        prop_assert_eq!(rough.bought(), calm.bought());
    }

    /// Whenever the engine crashes, the next goes on from the objects without buying anything again.
    #[test]
    fn crashes_lose_no_pod_and_buy_nothing_twice(
        size in (1_u32..40, 200_i64..1800),
        seed in 0_u64..1000,
        crashes in proptest::collection::vec(1_100_i64..70_000, 1..5),
    ) {
        let calm = after_an_hour(&[size], behaviour(seed, Faults::default()), &[]);
        let rough = after_an_hour(&[size], behaviour(seed, Faults::default()), &crashes);
        prop_assert_eq!(rough.waiting, 0);
        prop_assert_eq!(rough.bought(), calm.bought());
    }

    /// Of several deployments, a pod that takes another's place costs one more node at most; while all land where they were
    /// planned, just what was planned is bought.
    #[test]
    fn of_a_mix_only_pods_that_land_elsewhere_cost_another_node(
        sizes in sizes(),
        seed in 0_u64..1000,
        faults in rough_worlds(),
    ) {
        let calm = after_an_hour(&sizes, behaviour(seed, Faults::default()), &[]);
        let rough = after_an_hour(&sizes, behaviour(seed, faults), &[]);
        prop_assert_eq!(rough.waiting, 0);
        let more = rough.launches.saturating_sub(calm.launches);
        prop_assert!(more <= rough.elsewhere, "{:?} {:?}", rough, calm);
    }

    /// Answers that are lost and crashes together: no pod is lost, and every instance has its claim.
    #[test]
    fn trouble_loses_no_pod_and_leaks_no_instance(
        sizes in sizes(),
        seed in 0_u64..1000,
        launch in 0_u64..400_000,
        lost in 0_u64..200_000,
        conflict in 0_u64..200_000,
        crashes in proptest::collection::vec(0_i64..120_000, 0..4),
    ) {
        let mut faults = rough_world(lost, conflict, 100_000);
        faults.launch = launch;
        let stand = after_an_hour(&sizes, behaviour(seed, faults), &crashes);
        prop_assert_eq!(stand.waiting, 0);
        prop_assert_eq!(stand.instances, stand.claims);
        prop_assert_eq!(stand.instances, stand.nodes);
    }
}

/// Deployments that grow and shrink in a pool that consolidates, for two hours; how the run stands an hour after that.
fn after_moves(sizes: &[(u32, i64)], behaviour: Behaviour, crashes: &[i64]) -> Stand {
    stand(&moved(sizes, behaviour, crashes))
}

/// The run itself.
fn moved(sizes: &[(u32, i64)], behaviour: Behaviour, crashes: &[i64]) -> Run<impl Planner> {
    let mut recording = recording(sizes);
    for pool in &mut recording.objects.pools {
        Arc::make_mut(pool).disruption.consolidate_after = Some(Span::from_secs(30));
    }
    for (hour, share) in [(1_800_000, 3), (3_600_000, 1), (5_400_000, 2)] {
        for (at, (replicas, _)) in sizes.iter().enumerate() {
            let name = ObjectName::new("default", format!("web{at}"));
            let wanted = (replicas * share).div_ceil(3);
            recording.changes.push(TimedChange {
                at: Timestamp::from_millis(hour),
                change: Change::Scale(name, wanted),
            });
        }
    }
    let mut run = stage::run(recording, behaviour);
    for crash in crashes {
        run.run_until(Timestamp::from_millis(*crash));
        run.crash();
    }
    run.run_until(Timestamp::from_millis(3 * 3_600_000));
    run
}

/// A pod that is pending until its node comes is nominated by then, and bound where it was planned or sooner.
#[test]
fn pending_pods_are_bound_as_planned_or_sooner() {
    let sizes = [(9, 1209), (4, 225), (8, 727)];
    let run = moved(&sizes, behaviour(3, Faults::default()), &[]);
    let pending = run.counts().pending_pods;
    assert!(pending.bound >= 21, "all of the first pods: {pending:?}");
    assert_eq!(pending.elsewhere(), 0, "{pending:?}");
}

proptest! {
    #![proptest_config(cases(16))]

    /// Whatever goes wrong while nodes are moved, every pod runs in the end and every instance has its claim.
    #[test]
    fn moves_in_a_rough_world_lose_no_pod_and_leak_no_instance(
        sizes in sizes(),
        seed in 0_u64..1000,
        launch in 0_u64..300_000,
        lost in 0_u64..100_000,
        crash in 1_800_000_i64..5_600_000,
    ) {
        let mut faults = rough_world(lost, lost, 100_000);
        faults.launch = launch;
        let stand = after_moves(&sizes, behaviour(seed, faults), &[crash]);
        prop_assert_eq!(stand.waiting, 0);
        prop_assert_eq!(stand.instances, stand.claims);
        prop_assert_eq!(stand.instances, stand.nodes);
    }
}

#[test]
fn a_pod_that_takes_a_place_too_many_of_its_group_is_said_to_be_elsewhere() {
    let sizes = [(9, 1260), (11, 1109), (10, 1506)];
    let crowded = |seed: &u64| {
        let calm = after_an_hour(&sizes, behaviour(*seed, Faults::default()), &[]);
        let faults = rough_world(300_000, 600_000, 0);
        let rough = after_an_hour(&sizes, behaviour(*seed, faults), &[]);
        rough.launches == calm.launches + 1 && rough.elsewhere > 0
    };
    assert!(
        (0..2000).any(|seed| crowded(&seed)),
        "one more was bought, and nobody said why"
    );
}

/// Pods once bound so that one of them had no place, for whom the node just saved was bought again, every few minutes.
#[test]
fn a_node_that_is_saved_is_not_bought_again_for_ever() {
    let sizes = [(9, 1209), (4, 225), (8, 727)];
    let mut faults = rough_world(0, 0, 100_000);
    faults.launch = 20_978;
    let stand = after_moves(&sizes, behaviour(744, faults), &[1_800_000]);
    assert_eq!(stand.waiting, 0, "{stand:?}");
    assert!(stand.launches < 25, "{stand:?}");
}

#[test]
fn launches_that_fail_do_not_strand_a_pod() {
    let sizes = [(7, 775), (5, 1687), (6, 1557)];
    let mut faults = rough_world(96_682, 87_886, 100_000);
    faults.launch = 333_081;
    let stand = after_an_hour(&sizes, behaviour(758, faults), &[]);
    assert_eq!(stand.waiting, 0, "{stand:?}");
}

#[test]
fn a_pod_whose_promise_lapsed_is_planned_again() {
    let sizes = [(7, 541), (8, 725), (4, 1297)];
    let faults = rough_world(127_266, 18_295, 100_000);
    let stand = after_an_hour(&sizes, behaviour(517, faults), &[]);
    assert_eq!(stand.waiting, 0, "{stand:?}");
}

/// Every answer about one claim is lost until it is given up; the next claim of the same name gives the same orders again.
#[test]
fn orders_that_are_given_anew_need_not_fail_again() {
    let faults = rough_world(129_562, 25_749, 0);
    let stand = after_an_hour(&[(10, 951)], behaviour(723, faults), &[]);
    assert_eq!(stand.waiting, 0, "{stand:?}");
}
