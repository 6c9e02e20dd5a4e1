//! Instances smaller than computed: their type is planned right from then on, and an undersized launch is not repeated for ever.

use plimsoll_base::ids::ObjectName;
use plimsoll_base::time::Timestamp;
use plimsoll_model::PackingMode;
use plimsoll_model::action::ObjectKey;
use plimsoll_model::snapshot::Settings;
use plimsoll_oracles::fixture::{Amounts, OnDemand, ZONE_1, cluster, instance_type, pod, pool};
use plimsoll_oracles::judge::cases;
use plimsoll_scenarios::stage;
use plimsoll_sim::{Change, Planner, Run, TimedChange};
use proptest::prelude::*;

const PACKINGS: [PackingMode; 2] = [PackingMode::Price, PackingMode::Compatible];

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_millis(seconds * 1000)
}

/// At a second, a deployment of so many pods of so many mebibytes.
fn deploy(second: i64, name: &str, replicas: u32, memory_mib: i64) -> TimedChange {
    let template = pod(name).cpu(100).memory_mib(memory_mib);
    let deployment = stage::deployment(&template, replicas);
    TimedChange {
        at: at(second),
        change: Change::Deploy(deployment),
    }
}

fn scale(second: i64, name: &str, replicas: u32) -> TimedChange {
    TimedChange {
        at: at(second),
        change: Change::Scale(ObjectName::new("default", name), replicas),
    }
}

/// Types of 16 GiB for $0.20 and of 32 GiB for $0.50, whose nodes lack some thousandths of it, up after 45 seconds; two hours.
fn run(
    packing: PackingMode,
    lacking: u32,
    changes: Vec<TimedChange>,
    settings: impl Fn(&mut Settings),
) -> Run<impl Planner> {
    let sold = |name: &str, cpu: i64, memory: i64, price: f64| {
        let sold = instance_type(name).cpu(cpu).memory_mib(memory).pods(110);
        let sold = sold.no_overhead().price(price);
        sold.offered(ZONE_1, OnDemand)
    };
    let fixture = cluster()
        .pool(pool("general").packing(packing))
        .sells(sold("small", 4000, 16_384, 0.2))
        .sells(sold("large", 8000, 32_768, 0.5))
        .settings(|all| {
            all.guards.replicas_apart_from = u32::MAX;
            settings(all);
        });
    let recording = stage::recording(fixture.parts(), at(0), Some(at(7200)), changes);
    stage::run(recording, stage::lacking(lacking))
}

fn as_computed(settings: &mut Settings) {
    settings.guards.learned_reserve = false;
}

/// Launches until each of some seconds.
fn launches<P: Planner>(run: &mut Run<P>, seconds: &[i64]) -> Vec<u32> {
    let until = |second: &i64| {
        run.run_until(at(*second));
        run.counts().launches
    };
    seconds.iter().map(until).collect()
}

fn all_run<P: Planner>(run: &Run<P>) -> bool {
    run.pods().all(|pod| pod.node.is_some())
}

/// Four pods that fill a small node as computed, away from 600 s until 1,800 s.
fn four_twice() -> Vec<TimedChange> {
    vec![
        deploy(0, "web", 4, 4096),
        scale(600, "web", 0),
        scale(1800, "web", 4),
    ]
}

#[test]
fn the_last_pod_misses_the_first_node_of_a_type_and_no_later_one() {
    // By price two small nodes take the four pods next time; first fit takes the cheapest type that holds all of them.
    for (packing, bought) in PACKINGS.into_iter().zip([4, 3]) {
        let mut run = run(packing, 20, four_twice(), |_| {});
        assert_eq!(
            launches(&mut run, &[40, 300, 1799]),
            [1, 2, 2],
            "{packing:?}"
        );
        assert_eq!(run.claims().count(), 0, "{packing:?}: its nodes are gone");
        assert_eq!(
            launches(&mut run, &[1810, 2400]),
            [bought; 2],
            "{packing:?}"
        );
        assert!(all_run(&run), "{packing:?}");
    }
}

#[test]
fn without_learning_the_last_pod_misses_again() {
    for packing in PACKINGS {
        let mut run = run(packing, 20, four_twice(), as_computed);
        let seen = launches(&mut run, &[40, 300, 1799, 1810, 2400]);
        assert_eq!(seen, [1, 2, 2, 3, 4], "{packing:?}");
        assert!(all_run(&run), "{packing:?}");
    }
}

#[test]
fn another_engine_learns_from_the_nodes_it_finds_and_only_from_them() {
    for (crash, bought_at_once) in [(300, 4), (1700, 3)] {
        let mut run = run(PackingMode::Price, 20, four_twice(), |_| {});
        run.run_until(at(crash));
        run.crash();
        assert_eq!(launches(&mut run, &[1810]), [bought_at_once], "{crash}");
    }
}

#[test]
fn nodes_on_their_way_count_with_what_was_learned_meanwhile() {
    let changes = vec![
        deploy(0, "web", 4, 4096),
        deploy(30, "api", 3, 4096),
        deploy(60, "late", 1, 4096),
    ];
    // Beside the three pods on their way a fourth would fit the node as computed.
    let mut learned = run(PackingMode::Price, 20, changes.clone(), |_| {});
    assert_eq!(launches(&mut learned, &[29, 59, 66]), [1, 2, 3]);
    let mut computed = run(PackingMode::Price, 20, changes, as_computed);
    assert_eq!(launches(&mut computed, &[29, 59, 66]), [1, 2, 2]);
}

#[test]
fn a_pod_that_misses_every_node_of_a_type_gets_a_larger_one() {
    for packing in PACKINGS {
        let mut run = run(packing, 20, vec![deploy(0, "big", 1, 16_200)], |_| {});
        assert_eq!(
            launches(&mut run, &[40, 300, 3600]),
            [1, 2, 2],
            "{packing:?}"
        );
        assert!(all_run(&run), "{packing:?}");
    }
}

/// Messages to pods that equal undersized launches keep waiting.
fn told<P: Planner>(run: &mut Run<P>) -> Vec<String> {
    let of_pods = run.take_reports().into_iter().filter(|report| {
        matches!(report.object, ObjectKey::Pod(_))
            && report.message.contains("too small for its pods")
    });
    of_pods.map(|report| report.message).collect()
}

#[test]
fn after_two_equal_relaunches_the_pod_waits_and_is_told_by_how_much_it_misses() {
    for packing in PACKINGS {
        let mut run = run(packing, 20, vec![deploy(0, "big", 1, 16_200)], as_computed);
        assert_eq!(launches(&mut run, &[900, 3500]), [3, 3], "{packing:?}");
        assert!(!all_run(&run), "{packing:?}");
        assert_eq!(
            told(&mut run),
            [
                "small was launched 3 times and was too small for its pods each time: memory of its node is 16056.4Mi where 16Gi was computed, and it misses by \
              143.7Mi (setting runaway.equalRelaunches)"
            ],
            "{packing:?}: once"
        );
        assert_eq!(
            launches(&mut run, &[7000]),
            [4],
            "{packing:?}: once an hour"
        );
        let card = run.finish();
        let reason = &card.unplaced.first().expect("it waits to the end").reason;
        assert!(reason.contains("launched 3 times"), "{reason}");
    }
}

#[test]
fn another_process_does_not_begin_to_count_anew() {
    for restarts in [[100, 200], [900, 901]] {
        let changes = vec![deploy(0, "big", 1, 16_200)];
        let mut run = run(PackingMode::Price, 20, changes, as_computed);
        for restart in restarts {
            run.run_until(at(restart));
            run.crash();
        }
        assert_eq!(launches(&mut run, &[3500, 7000]), [3, 4], "{restarts:?}");
        let words = told(&mut run);
        assert!(
            words[0].contains(
                "memory of its node is 16056.4Mi where 16Gi was computed, and it misses by 143.7Mi"
            ),
            "{words:?}"
        );
    }
}

#[test]
fn a_loss_too_large_to_be_believed_is_not_learned_and_not_bought_for_ever() {
    let mut run = run(
        PackingMode::Price,
        300,
        vec![deploy(0, "big", 1, 16_200)],
        |_| {},
    );
    assert_eq!(launches(&mut run, &[900, 3500]), [3, 3]);
    assert_eq!(told(&mut run).len(), 1);
}

#[test]
fn how_often_a_launch_is_repeated_in_vain_is_a_setting() {
    for (most, bought) in [(0, 1), (4, 5)] {
        let changes = vec![deploy(0, "big", 1, 16_200)];
        let mut run = run(PackingMode::Price, 20, changes, |settings| {
            as_computed(settings);
            settings.runaway.equal_relaunches = most;
        });
        assert_eq!(launches(&mut run, &[3500]), [bought]);
    }
}

#[test]
fn a_launch_in_vain_holds_no_pod_for_which_it_is_good() {
    let changes = vec![deploy(0, "big", 1, 16_200), deploy(1200, "web", 3, 4096)];
    let mut run = run(PackingMode::Price, 20, changes, as_computed);
    assert_eq!(launches(&mut run, &[1100, 1800]), [3, 4]);
    let waiting: Vec<String> = run
        .pods()
        .filter(|pod| pod.node.is_none())
        .map(|pod| pod.name.to_string())
        .collect();
    assert!(
        waiting.len() == 1 && waiting[0].contains("big"),
        "{waiting:?}"
    );
}

proptest! {
    #![proptest_config(cases(24))]

    /// However much is lacking, as long as it is believed: every pod runs, and nothing is bought after four hours; a move that takes
    /// another back waits for one of them. Of pools packed as Karpenter packs that cannot be said: its moves are made whatever order
    /// the scheduler binds their pods in.
    #[test]
    fn all_pods_run_and_buying_ends_whatever_machines_lack(
        sizes in proptest::collection::vec((1_u32..8, 500_i64..24_000), 1..4),
        lacking in 0_u32..250,
        crash in 0_i64..300,
    ) {
        let deployments = sizes.iter().enumerate();
        let changes = deployments.map(|(at, (replicas, memory))| {
            deploy(0, &format!("web{at}"), *replicas, *memory)
        });
        let mut run = run(PackingMode::Price, lacking, changes.collect(), |_| {});
        run.run_until(at(crash));
        run.crash();
        let bought = launches(&mut run, &[14_400, 43_200]);
        prop_assert!(all_run(&run), "{bought:?}");
        prop_assert_eq!(bought[0], bought[1]);
    }
}
