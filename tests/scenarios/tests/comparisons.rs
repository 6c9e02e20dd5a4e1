//! Score cards of different ways of buying beside one another, and what the bound says of each.

use std::sync::Arc;

use plimsoll_base::ids::ObjectName;
use plimsoll_base::time::{Span, Timestamp};
use plimsoll_base::units::PricePerHour;
use plimsoll_model::snapshot::Snapshot;
use plimsoll_model::{ConsolidationPolicy, DisruptionReason, OwnerKind};
use plimsoll_oracles::fixture::{Amounts, OnDemand, ZONE_1, cluster, instance_type, pod, pool};
use plimsoll_scenarios::stage;
use plimsoll_sim::{
    Change, FixedGroup, Planned, Planner, Recording, Run, ScoreCard, TimedChange, Which,
};

const START: Timestamp = Timestamp::from_millis(0);
const HOUR: Span = Span::from_secs(3600);

/// The core at list prices, with its bound.
struct Core;

impl Planner for Core {
    fn plan(&mut self, snapshot: &Snapshot) -> Planned {
        plimsoll_schedule::plan(snapshot).into()
    }

    fn bounds(&mut self, snapshot: &Snapshot, work: &[Vec<u32>]) -> Option<Vec<PricePerHour>> {
        Some(plimsoll_schedule::bounds_of_work(snapshot, work))
    }
}

/// Types by name, milli-cores, mebibytes and dollars per hour; a pool whose claims reach an age of thirty days.
fn world(types: &[(&str, i64, i64, f64)], changes: Vec<TimedChange>) -> Recording {
    let general = pool("general").with(|pool| {
        pool.disruption.consolidate_after = Some(Span::from_secs(60));
        pool.expire_after = Some(Span::from_secs(720 * 3600));
    });
    let sold = types.iter().map(|(name, cpu, memory, price)| {
        let listed = instance_type(name).cpu(*cpu).memory_mib(*memory);
        let listed = listed.pods(110).no_overhead().price(*price);
        listed.offered(ZONE_1, OnDemand)
    });
    let fixture = sold.fold(cluster().pool(general), |cluster, listed| {
        cluster.sells(listed)
    });
    stage::recording(fixture.parts(), START, None, changes)
}

fn task(name: &str, cpu: i64, memory: i64, at: Timestamp, runs: Span) -> TimedChange {
    let pod = pod(name).cpu(cpu).memory_mib(memory);
    let pod = pod.owned_by(OwnerKind::Job, name);
    let pod = pod.with(|pod| pod.unschedulable = false);
    let (objects, ..) = cluster().pod(pod).parts();
    let pod = Arc::clone(&objects.pods[0]);
    TimedChange {
        at,
        change: Change::Arrive(pod, Some(runs)),
    }
}

fn play(recording: Recording, planner: impl Planner) -> ScoreCard {
    let behaviour = stage::uninterrupted();
    Run::new(recording, behaviour, planner).finish()
}

/// Shapes of which some want cpu and some memory.
fn mixed_tasks() -> Vec<TimedChange> {
    let shapes = [
        (3500, 4096),
        (1800, 14_000),
        (700, 1500),
        (7000, 8000),
        (400, 6000),
    ];
    let task = |at: usize| {
        let (cpu, memory) = shapes[at % shapes.len()];
        let minutes = i64::try_from(at % 40).expect("a small number");
        let begin = Timestamp::from_millis(minutes * 60_000);
        task(&format!("task{at:03}"), cpu, memory, begin, HOUR)
    };
    (0..100).map(task).collect()
}

const TEN_FAMILIES: [(&str, i64, i64, f64); 10] = [
    ("m5.2xlarge", 8000, 32_768, 0.384),
    ("m6a.xlarge", 4000, 16_384, 0.173),
    ("m7i.4xlarge", 16_000, 65_536, 0.806),
    ("c5.2xlarge", 8000, 16_384, 0.34),
    ("c6a.4xlarge", 16_000, 32_768, 0.612),
    ("c7a.xlarge", 4000, 8192, 0.205),
    ("r5.xlarge", 4000, 32_768, 0.252),
    ("r6a.2xlarge", 8000, 65_536, 0.454),
    ("r7i.large", 2000, 16_384, 0.132),
    ("x2.large", 2000, 32_768, 0.21),
];

/// K32: both per hour, as the score card says.
#[test]
fn a_fixed_group_costs_more_per_hour_than_types_chosen_by_fit() {
    let chosen = play(world(&TEN_FAMILIES, mixed_tasks()), Core);
    let fixed = play(
        world(&TEN_FAMILIES, mixed_tasks()),
        FixedGroup::new("m5.2xlarge"),
    );
    assert_eq!((chosen.completed, fixed.completed), (100, 100));
    assert_eq!(fixed.node_hours.len(), 1, "a node group has one type");
    assert!(
        chosen.node_hours.len() >= 3,
        "shapes want different types: {:?}",
        chosen.node_hours
    );
    assert!(
        chosen.cost * 110 < fixed.cost * 100,
        "{} against {}",
        chosen.cost,
        fixed.cost
    );
    // The line of dollars per hour is there for both, and adds up to the cost.
    for card in [&chosen, &fixed] {
        let series = &card.series;
        let sum: i128 = series.means.cost.iter().map(|rate| i128::from(*rate)).sum();
        let sum = sum * i128::from(series.width.millis()) / 3_600_000;
        let apart = (sum - i128::from(card.cost)).abs();
        assert!(apart * 50 < i128::from(card.cost), "{sum} {}", card.cost);
    }
}

#[test]
fn the_bound_is_the_price_of_the_share_that_ran() {
    let half = [("node", 2000, 8192, 0.10)];
    let tasks = vec![task("one", 1000, 1024, START, HOUR)];
    let card = play(world(&half, tasks), Core);
    let bound = card.bound.expect("the core knows a bound");
    let exact = 50_000_000;
    assert!(
        (bound - exact).abs() * 1000 < exact,
        "half a node for an hour costs {exact}, not {bound}"
    );
    // The node starts for 47.5 seconds, carries the task for an hour, and idles for its quiet time and its end.
    let parts = card.cost_starting + card.cost_idle;
    assert!(card.cost_starting > 1_200_000 && card.cost_starting < 1_400_000);
    assert!((card.cost - parts - 2 * exact).abs() * 1000 < 2 * exact);
}

#[test]
fn deployments_that_fill_their_nodes_cost_little_more_than_the_bound() {
    let template = pod("web").cpu(1000).memory_mib(4096);
    let web = stage::deployment(&template, 32);
    let deploy = TimedChange {
        at: START,
        change: Change::Deploy(web),
    };
    let mut recording = world(&[("node", 8000, 32_768, 0.40)], vec![deploy]);
    recording.end = Some(START + Span::from_secs(10 * 3600));
    let card = play(recording, Core);
    let bound = card.bound.expect("the core knows a bound");
    assert!(card.cost >= bound);
    assert!(card.cost * 100 < bound * 102, "{} {bound}", card.cost);
}

#[test]
fn a_price_that_falls_lowers_the_bound_from_then_on() {
    let tasks = || vec![task("one", 2000, 1024, START, HOUR)];
    let node = [("node", 2000, 8192, 0.10)];
    let steady = play(world(&node, tasks()), Core);
    let mut changes = tasks();
    changes.push(TimedChange {
        at: START + Span::from_secs(1800),
        change: Change::Price(
            Which {
                instance_type: "node".into(),
                zone: None,
                capacity_type: plimsoll_model::catalogue::CapacityType::OnDemand,
            },
            PricePerHour::from_nanos(50_000_000),
        ),
    });
    let fallen = play(world(&node, changes), Core);
    let (steady, fallen) = (steady.bound.unwrap(), fallen.bound.unwrap());
    let share = fallen * 1000 / steady;
    assert!((730..=760).contains(&share), "{share}");
}

#[test]
fn a_run_ends_when_nothing_is_left_whatever_was_to_come_for_nodes_that_are_gone() {
    let tasks = vec![task("one", 1000, 1024, START, HOUR)];
    let card = play(world(&[("node", 2000, 8192, 0.10)], tasks), Core);
    assert_eq!(card.completed, 1);
    assert!(card.lasted < Span::from_secs(3900), "{}", card.lasted);
}

#[test]
fn a_cluster_that_goes_on_is_followed_for_an_hour_after_its_recording() {
    let stays = pod("stays").cpu(500).with(|pod| pod.unschedulable = false);
    let (objects, ..) = cluster().pod(stays).parts();
    let arrival = TimedChange {
        at: START + HOUR,
        change: Change::Arrive(Arc::clone(&objects.pods[0]), None),
    };
    let card = play(world(&[("node", 2000, 8192, 0.10)], vec![arrival]), Core);
    assert_eq!(card.lasted, Span::from_secs(7200));
}

/// Deployments whose replicas rise and fall over two days.
fn tides() -> Vec<TimedChange> {
    let name = |at: usize| ObjectName::new("default", format!("app{at}"));
    let mut changes = Vec::new();
    for at in 0..12 {
        let cpu = [300, 700, 1100, 1900][at % 4];
        let template = pod(&format!("app{at}")).cpu(cpu).memory_mib(1024);
        changes.push(TimedChange {
            at: START,
            change: Change::Deploy(stage::deployment(&template, 3)),
        });
        for hour in 1..48_usize {
            let tide = [3, 5, 9, 12, 9, 6, 4, 3][(hour / 3 + at) % 8];
            let minute = i64::try_from(hour * 60 + at * 4).expect("two days in minutes");
            changes.push(TimedChange {
                at: Timestamp::from_millis(minute * 60_000),
                change: Change::Scale(name(at), tide),
            });
        }
    }
    changes
}

#[test]
fn moving_pods_together_costs_less_than_waiting_for_nodes_to_empty() {
    let moves = |card: &ScoreCard| card.begun.of(DisruptionReason::Underutilized);
    let tides_of = |policy| {
        let mut recording = world(&TEN_FAMILIES, tides());
        recording.end = Some(START + Span::from_secs(48 * 3600));
        for pool in &mut recording.objects.pools {
            Arc::make_mut(pool).disruption.policy = policy;
        }
        play(recording, Core)
    };
    let moved = tides_of(ConsolidationPolicy::WhenEmptyOrUnderutilized);
    let left = tides_of(ConsolidationPolicy::WhenEmpty);
    assert_eq!((moved.unplaced_count, left.unplaced_count), (0, 0));
    assert_eq!((moves(&left), left.evictions), (0, 0));
    assert!(moves(&moved) > 0 && moved.evictions > 0);
    assert_eq!(left.disrupted, Span::ZERO);
    let (predicted, realised) = moved.saved();
    assert!(realised > PricePerHour::ZERO && realised <= predicted);
    assert_eq!((left.ledger.len(), left.saved().0), (0, PricePerHour::ZERO));
    assert!(
        moved.cost * 100 < left.cost * 92,
        "{} against {}, of at least {:?}; {} evictions, {:?} {:?}",
        moved.cost,
        left.cost,
        moved.bound,
        moved.evictions,
        moved.begun,
        moved.refused
    );
}
