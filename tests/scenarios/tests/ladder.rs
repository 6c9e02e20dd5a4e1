//! The cost of a run step by step: it adds up, and each part stands where its cause is.

use std::sync::Arc;

use plimsoll_base::ids::ObjectName;
use plimsoll_base::labels::Labels;
use plimsoll_base::time::{Span, Timestamp};
use plimsoll_base::units::PricePerHour;
use plimsoll_disrupt::keep_reason::KeepReason;
use plimsoll_disrupt::outlook::outlook;
use plimsoll_model::catalogue::CapacityType;
use plimsoll_model::snapshot::{ChurnGuards, Guard, Snapshot};
use plimsoll_model::{
    Budget, BudgetNodes, BudgetReasons, ConsolidationPolicy, DisruptionLimit, DisruptionReason,
    DoNotDisrupt, LabelSelector, OwnerKind, PackingMode, PodDisruptionBudget, PoolDisruption,
};
use plimsoll_oracles::fixture::{Amounts, OnDemand, ZONE_1, cluster, instance_type, pod, pool};
use plimsoll_scenarios::stage;
use plimsoll_schedule::Session;
use plimsoll_sim::{
    Appraisal, Change, LadderStep, Losses, Planned, Planner, Recording, Run, ScoreCard, TimedChange,
};

const START: Timestamp = Timestamp::from_millis(0);
const HOUR: Span = Span::from_secs(3600);
const CENT: i64 = 10_000_000;

/// The core at list prices, which also says what the money is for.
struct Core;

impl Planner for Core {
    fn plan(&mut self, snapshot: &Snapshot) -> Planned {
        plimsoll_schedule::plan(snapshot).into()
    }

    fn appraise(&mut self, snapshot: &Snapshot, rows: &[usize]) -> Option<Appraisal> {
        let ask = |snapshot: &Snapshot, rows: &[usize]| {
            rows.iter().map(|row| outlook(snapshot, *row)).collect()
        };
        Some(Appraisal {
            fresh: plimsoll_schedule::fresh_fleet(snapshot, &Session::default()),
            kept: KeepReason::of_nodes(snapshot, rows, ask),
        })
    }

    fn bounds(&mut self, snapshot: &Snapshot, work: &[Vec<u32>]) -> Option<Vec<PricePerHour>> {
        Some(plimsoll_schedule::bounds_of_work(snapshot, work))
    }
}

/// A small type and one of twice the size for half as much again.
fn world(spot: bool, changes: Vec<TimedChange>) -> Recording {
    let general = pool("general").with(|pool| {
        pool.disruption.consolidate_after = Some(Span::from_secs(60));
        pool.expire_after = Some(Span::from_secs(720 * 3600));
    });
    let sizes = [("small", 2000, 0.10), ("large", 4000, 0.15)];
    let sold = sizes.into_iter().map(|(name, cpu, price)| {
        let listed = instance_type(name).cpu(cpu).memory_mib(16_384).pods(110);
        let listed = listed.no_overhead().price(price);
        let listed = listed.offered(ZONE_1, OnDemand);
        if spot {
            let listed = listed.price(price / 2.0);
            listed.offered(ZONE_1, CapacityType::Spot)
        } else {
            listed
        }
    });
    let fixture = sold.fold(cluster().pool(general), |cluster, listed| {
        cluster.sells(listed)
    });
    stage::recording(fixture.parts(), START, None, changes)
}

fn task(name: &str, cpu: i64, stays: DoNotDisrupt, runs: Span) -> TimedChange {
    let pod = pod(name).cpu(cpu).memory_mib(1024);
    let pod = pod.owned_by(OwnerKind::ReplicaSet, name);
    let pod = pod.with(|pod| {
        pod.unschedulable = false;
        pod.do_not_disrupt = stays;
    });
    let (objects, ..) = cluster().pod(pod).parts();
    TimedChange {
        at: START,
        change: Change::Arrive(Arc::clone(&objects.pods[0]), Some(runs)),
    }
}

fn play(recording: Recording) -> ScoreCard {
    Run::new(recording, stage::uninterrupted(), Core).finish()
}

fn cost_of(card: &ScoreCard, step: LadderStep) -> i64 {
    let entry = card.ladder.iter().find(|entry| entry.step == step);
    entry.expect("every step is told").cost
}

fn is_about(cost: i64, wanted: i64) -> bool {
    (cost - wanted).abs() * 20 <= wanted.abs()
}

/// Ten hours of half a node, and an hour of the other half of a large one.
fn both_tasks(stays: DoNotDisrupt) -> Vec<TimedChange> {
    let hours = |hours: i64| Span::from_secs(hours * 3600);
    vec![
        task("long", 1000, stays, hours(10)),
        task("short", 3000, DoNotDisrupt::No, hours(1)),
    ]
}

fn two_tasks(stays: DoNotDisrupt) -> ScoreCard {
    play(world(false, both_tasks(stays)))
}

#[test]
fn the_steps_add_up_to_the_cost() {
    let card = two_tasks(DoNotDisrupt::No);
    let all: Vec<LadderStep> = card.ladder.iter().map(|entry| entry.step).collect();
    assert_eq!(all, LadderStep::all().collect::<Vec<_>>());
    let sum: i64 = card.ladder.iter().map(|entry| entry.cost).sum();
    assert_eq!(sum, card.cost);
    assert_eq!(Some(cost_of(&card, LadderStep::Bound)), card.bound);
    assert_eq!(cost_of(&card, LadderStep::Idle), card.cost_idle);
    let starting = [LadderStep::WaitingPods, LadderStep::Starting];
    let starting: i64 = starting.iter().map(|step| cost_of(&card, *step)).sum();
    assert_eq!(starting, card.cost_starting);
    let between = cost_of(&card, LadderStep::BetweenSamples);
    assert!(between.abs() * 50 < card.cost, "{between} of {}", card.cost);
}

/// A node twice as large as the pod needs stands for nine hours, since the pod may not be disrupted; half of the smaller one is the
/// price of whole nodes.
#[test]
fn a_node_that_is_too_large_is_charged_to_what_keeps_it() {
    let kept = LadderStep::Kept(KeepReason::DoNotDisrupt);
    let card = two_tasks(DoNotDisrupt::Always);
    assert!(
        is_about(cost_of(&card, kept), 9 * 5 * CENT),
        "{:?}",
        card.ladder
    );
    let whole = cost_of(&card, LadderStep::FreshPlan);
    assert!(
        is_about(whole, 9 * 10 * CENT - 9 * 15 * CENT / 4),
        "{whole}"
    );
    assert_eq!(cost_of(&two_tasks(DoNotDisrupt::No), kept), 0);
}

/// A rule that alone keeps a node.
type Rule = (KeepReason, fn(&mut Recording));

fn disruption(recording: &mut Recording, change: impl Fn(&mut PoolDisruption)) {
    for pool in &mut recording.objects.pools {
        change(&mut Arc::make_mut(pool).disruption);
    }
}

fn churn(recording: &mut Recording, change: impl Fn(&mut ChurnGuards)) {
    change(&mut Arc::make_mut(&mut recording.settings).churn);
}

/// Nothing but the rule is in the way of the move that [`two_tasks`] makes after an hour.
const RULES: &[Rule] = &[
    (KeepReason::PodDisruptionBudget, |recording| {
        let budget = PodDisruptionBudget {
            name: ObjectName::new("default", "none"),
            selector: LabelSelector::match_labels(&Labels::new()),
            limit: DisruptionLimit::MaxUnavailable(0),
            always_allow_unhealthy: false,
            disruptions_allowed: 0,
            is_met: false,
        };
        recording.objects.disruption_budgets.push(Arc::new(budget));
    }),
    (KeepReason::ConsolidationPolicy, |recording| {
        disruption(recording, |own| own.policy = ConsolidationPolicy::WhenEmpty);
    }),
    (KeepReason::ConsolidateAfter, |recording| {
        disruption(recording, |own| {
            own.consolidate_after = Some(Span::from_secs(20 * 3600));
        });
    }),
    (KeepReason::JobPods, |recording| {
        churn(recording, |own| own.spare_jobs = true);
        for timed in &mut recording.changes {
            if let Change::Arrive(pod, _) = &mut timed.change
                && let Some(owner) = &mut Arc::make_mut(pod).owner
            {
                owner.kind = OwnerKind::Job;
            }
        }
    }),
    (KeepReason::LeastAge, |recording| {
        churn(recording, |own| own.node_age = Span::from_secs(20 * 3600));
    }),
    (KeepReason::Budgets, |recording| {
        disruption(recording, |own| {
            own.budgets = vec![Budget {
                reasons: BudgetReasons::only(DisruptionReason::Underutilized),
                ..Budget::always(BudgetNodes::Count(0))
            }];
        });
    }),
    (KeepReason::LeastSaving, |recording| {
        churn(recording, |own| own.saving_percent = 50);
    }),
];

#[test]
fn a_rule_that_alone_keeps_a_node_is_charged_with_all_that_it_costs() {
    for (reason, change) in RULES {
        let mut recording = world(false, both_tasks(DoNotDisrupt::No));
        change(&mut recording);
        let card = play(recording);
        let kept = cost_of(&card, LadderStep::Kept(*reason));
        assert!(
            is_about(kept, 9 * 5 * CENT),
            "{reason:?}: {:?}",
            card.ladder
        );
        for other in KeepReason::ALL {
            let cost = cost_of(&card, LadderStep::Kept(other));
            assert!(
                other == *reason || cost.abs() < 2 * CENT,
                "{reason:?}, {other:?}: {cost}"
            );
        }
    }
}

#[test]
fn a_guard_is_charged_with_what_it_makes_dearer() {
    let tasks = vec![task(
        "one",
        2000,
        DoNotDisrupt::No,
        Span::from_secs(10 * 3600),
    )];
    let card = play(world(true, tasks));
    let spot = cost_of(&card, LadderStep::Guard(Guard::UnrequestedSpot));
    assert!(is_about(spot, 10 * 5 * CENT), "{:?}", card.ladder);
    let others = Guard::ALL
        .into_iter()
        .filter(|guard| *guard != Guard::UnrequestedSpot);
    let others = others.map(|guard| cost_of(&card, LadderStep::Guard(guard)));
    assert_eq!(others.collect::<Vec<_>>(), vec![0; Guard::ALL.len() - 1]);
}

/// Pods of two nodes would fit on one that costs less; by the pool's budget, a tenth, only one node may go at once.
fn two_for_one(packing: PackingMode) -> ScoreCard {
    let mut tasks =
        ["one", "two"].map(|name| task(name, 1900, DoNotDisrupt::No, Span::from_secs(10 * 3600)));
    tasks[1].at = START + Span::from_secs(600);
    let mut recording = world(false, tasks.to_vec());
    Arc::make_mut(&mut recording.settings).packing = Some(packing);
    play(recording)
}

#[test]
fn nodes_that_could_only_go_together_are_charged_to_the_budget() {
    let card = two_for_one(PackingMode::Compatible);
    let kept = cost_of(&card, LadderStep::Kept(KeepReason::Budgets));
    assert!(is_about(kept, 10 * 5 * CENT), "{:?}", card.ladder);
}

#[test]
fn nodes_of_a_pool_packed_by_price_go_one_after_the_other() {
    let card = two_for_one(PackingMode::Price);
    assert_eq!(cost_of(&card, LadderStep::Kept(KeepReason::Budgets)), 0);
    assert!(is_about(card.cost, 10 * 15 * CENT), "{:?}", card.ladder);
    let moves = "each pod moves once, and the one that runs on alone moves to a small node";
    assert_eq!(card.evictions, 3, "{moves}");
}

/// A look changes nothing of what it looks at.
#[test]
fn a_run_that_is_looked_at_goes_as_one_that_is_not() {
    let tasks = || {
        vec![
            task("one", 1000, DoNotDisrupt::No, HOUR),
            task("two", 3000, DoNotDisrupt::No, HOUR),
        ]
    };
    let looked_at = play(world(false, tasks()));
    let plain = |snapshot: &Snapshot| plimsoll_schedule::plan(snapshot);
    let alone = Run::new(world(false, tasks()), stage::uninterrupted(), plain).finish();
    assert!(alone.ladder.is_empty());
    let without = |card: ScoreCard| ScoreCard {
        ladder: Vec::new(),
        fresh: Vec::new(),
        losses: Losses::default(),
        bound: None,
        series: plimsoll_sim::Series::default(),
        ..card
    };
    assert_eq!(without(looked_at), without(alone));
}
