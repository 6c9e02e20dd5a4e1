//! Shadows: asked beside the active policy, without a say, and counted right.

#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests may fail loudly, as tests may"
)]

use std::slice::from_ref;
use std::sync::{Arc, LazyLock};

use plimsoll_base::units::PricePerHour;
use plimsoll_guests::{HOSTILE, HOSTILE_BUDGET, HOSTILE_CONSOLIDATION};
use plimsoll_hooks::hook::{PolicySettings, Setting};
use plimsoll_model::command::DisruptionQuestion;
use plimsoll_model::snapshot::Snapshot;
use plimsoll_oracles::fixture::{
    Amounts, ClusterFixture, OnDemand, ZONE_1, cluster, machine, pod, pool,
};
use plimsoll_policy::{
    AnyModule, Engine, EngineSettings, Generation, Limits, Policies, Shadow, ShadowLog,
    ShadowSettings, WhenBehind,
};
use plimsoll_schedule::Session;

use crate::machines::underused;
use crate::modules::one_at_a_time;

static ENGINE: LazyLock<Engine> = LazyLock::new(|| Engine::new(EngineSettings::default()).unwrap());

const PASS: DisruptionQuestion = DisruptionQuestion::Pass { consolidate: true };

fn text(name: &str, value: &str) -> PolicySettings {
    PolicySettings::from([(name.to_owned(), Setting::Text(value.to_owned()))])
}

fn accepted(bytes: &[u8], settings: &PolicySettings) -> AnyModule {
    AnyModule::accept(&ENGINE, bytes, &|_| Ok(settings.clone())).unwrap()
}

fn ranking(name: &str, settings: &PolicySettings) -> AnyModule {
    accepted(plimsoll_policies::ranking(name).unwrap().bytes, settings)
}

fn consolidating(behaviour: &str) -> AnyModule {
    accepted(HOSTILE_CONSOLIDATION, &text("behaviour", behaviour))
}

fn capping(behaviour: &str) -> AnyModule {
    accepted(HOSTILE_BUDGET, &text("behaviour", behaviour))
}

/// Small instances at $0.10, larger ones at $0.35 and $0.40, and a pool that its own budgets do not hold back.
fn market() -> ClusterFixture {
    let sold =
        |name: &str, cores: i64, price: f64| machine(name, cores, price).offered(ZONE_1, OnDemand);
    let free = pool("general").with(|pool| pool.disruption.budgets.clear());
    let world = cluster().pool(free);
    world
        .sells(sold("small", 2, 0.1))
        .sells(sold("medium", 4, 0.35))
        .sells(sold("large", 8, 0.4))
}

/// A large instance with a small pod, and so many without any.
fn fleet(empty: usize) -> Snapshot {
    underused(market(), empty).snapshot()
}

/// So many pods, each as large as a small instance.
fn waiting(pods: usize) -> Snapshot {
    let pods = (0..pods).map(|at| pod(&format!("batch{at}")).cpu(1900).memory_mib(1024));
    pods.fold(market(), ClusterFixture::pod).snapshot()
}

/// The active policies with a shadow beside the first of them.
fn shadowed(active: &[AnyModule], candidate: AnyModule, every: u64) -> (Policies, Arc<Shadow>) {
    let mut policies = Policies::default();
    for module in active {
        module.clone().join(&mut policies);
    }
    let settings = ShadowSettings {
        every,
        when_behind: WhenBehind::Wait,
        ..ShadowSettings::default()
    };
    let shadow = Shadow::begin(candidate, active.first().cloned(), settings);
    let shadow = Arc::new(shadow.unwrap());
    policies.observers.push(shadow.clone());
    (policies, shadow)
}

/// The record of a shadow after one look at an instance that is too large; the pass must be as it is without one.
fn passed(active: &[AnyModule], candidate: AnyModule) -> ShadowLog {
    let (policies, shadow) = shadowed(active, candidate, 1);
    let alone = Policies {
        observers: Vec::new(),
        ..policies.clone()
    };
    let snapshot = fleet(0);
    let with = Generation::first(policies).consider(&snapshot, &PASS, &Session::default());
    let alone = Generation::first(alone).consider(&snapshot, &PASS, &Session::default());
    assert_eq!(with, alone);
    shadow.settle()
}

fn dollars(value: f64) -> PricePerHour {
    PricePerHour::from_dollars(value).unwrap()
}

#[test]
fn a_shadow_like_the_active_policy_agrees_and_costs_nothing() {
    let log = passed(&[consolidating("honest")], consolidating("honest"));
    assert_eq!((log.decisions, log.differ), (1, 0));
    assert_eq!(log.agreement(), Some(1000));
    assert_eq!(log.regret, PricePerHour::ZERO);
    assert_eq!(log.fuel, log.active_fuel);

    let list = ranking("list-price", &PolicySettings::new());
    let (policies, shadow) = shadowed(from_ref(&list), list.clone(), 1);
    Generation::first(policies).plan(&waiting(3), &Session::default());
    let log = shadow.settle();
    assert_eq!((log.decisions, log.differ, log.compared), (1, 0, 3));
    assert_eq!(log.agreement(), Some(1000));
    assert_eq!(log.fuel, log.active_fuel);
}

#[test]
fn moves_that_a_shadow_would_leave_are_counted_and_cost_what_they_save() {
    let settings = PolicySettings::from([("least_dollars".to_owned(), Setting::Number(1.0))]);
    let shipped = plimsoll_policies::consolidation("savings-threshold").unwrap();
    let reluctant = accepted(shipped.bytes, &settings);
    let eager = consolidating("honest");
    let log = passed(from_ref(&eager), reluctant.clone());
    assert_eq!((log.missing_moves, log.extra_moves), (1, 0));
    // The large instance goes and a small one comes.
    assert_eq!(log.regret, dollars(0.3));
    let differing = log.differing.front().unwrap();
    assert_eq!(differing.active, "replace used");
    assert_eq!(differing.shadow, "no other move");

    let log = passed(&[reluctant], eager);
    assert_eq!((log.missing_moves, log.extra_moves), (0, 1));
    assert_eq!(log.regret, dollars(-0.3));
}

#[test]
fn a_shadow_that_fails_is_a_fault_of_its_own_and_does_nothing() {
    let log = passed(&[consolidating("honest")], consolidating("nan"));
    assert_eq!((log.faults, log.missing_moves), (1, 1));
    assert!(log.last_fault.unwrap().contains("NaN"));
}

#[test]
fn budgets_wider_and_narrower_are_told_apart() {
    let narrower = passed(&[capping("widen")], capping("honest"));
    assert!(narrower.narrower > 0, "{narrower:?}");
    assert_eq!(narrower.wider, 0);
    let wider = passed(&[capping("honest")], capping("widen"));
    assert_eq!((wider.wider, wider.narrower), (narrower.narrower, 0));
    let differing = wider.differing.front().unwrap();
    assert!(
        differing.active.starts_with("general, emptiness: 1, "),
        "{differing:?}"
    );
    assert!(
        differing.shadow.starts_with("general, emptiness: no limit"),
        "{differing:?}"
    );
}

#[test]
fn of_several_budgets_a_shadow_is_held_against_its_own() {
    let log = passed(&[capping("honest"), capping("widen")], capping("honest"));
    assert_eq!((log.decisions, log.differ), (1, 0));
}

#[test]
fn a_ranking_shadow_that_buys_otherwise_costs_the_difference_at_list_prices() {
    let settings = PolicySettings::from([("charge".to_owned(), Setting::Number(10.0))]);
    let few = ranking("fewest-nodes", &settings);
    let list = ranking("list-price", &PolicySettings::new());
    // Two small instances at $0.10, or a larger one at $0.35.
    let snapshot = waiting(2);
    let (policies, shadow) = shadowed(&[list], few, 1);
    let decision = Generation::first(policies).plan(&snapshot, &Session::default());
    assert_eq!(decision.plan.claims.len(), 2);
    let log = shadow.settle();
    assert_eq!((log.decisions, log.differ, log.agree), (1, 1, 0));
    assert_eq!(log.regret, dollars(0.15));
    let differing = log.differing.front().unwrap();
    assert_eq!(differing.active, format!("2 small on-demand {ZONE_1}"));
    assert_eq!(differing.shadow, format!("1 medium on-demand {ZONE_1}"));
}

#[test]
fn a_shadow_is_asked_about_every_so_many_decisions_and_not_about_nothing() {
    let list = ranking("list-price", &PolicySettings::new());
    let (policies, shadow) = shadowed(from_ref(&list), list.clone(), 3);
    let generation = Generation::first(policies);
    for _ in 0..7 {
        generation.plan(&waiting(1), &Session::default());
        generation.plan(&fleet(1), &Session::default());
    }
    assert_eq!(shadow.settle().decisions, 3);
}

/// Three instances that hold the same at like prices.
fn alike(pods: usize) -> Snapshot {
    let sold = |name: &str, price: f64| machine(name, 2, price).offered(ZONE_1, OnDemand);
    let world = cluster().pool(pool("general"));
    let world = world.sells(sold("a", 0.1)).sells(sold("b", 0.105));
    let world = world.sells(sold("c", 0.11));
    let pods = (0..pods).map(|at| pod(&format!("batch{at}")).cpu(1900).memory_mib(1024));
    pods.fold(world, ClusterFixture::pod).snapshot()
}

fn hostile(behaviour: &str, mark: f64) -> AnyModule {
    let mut settings = text("behaviour", behaviour);
    settings.insert("mark".to_owned(), Setting::Number(mark));
    accepted(HOSTILE, &settings)
}

#[test]
fn launch_lists_are_compared_on_the_claims_that_were_planned() {
    let list = ranking("list-price", &PolicySettings::new());
    let planned = |candidate: AnyModule| {
        let (policies, shadow) = shadowed(from_ref(&list), candidate, 1);
        Generation::first(policies).plan(&alike(2), &Session::default());
        shadow.settle()
    };
    // It orders the dearest first, and buys otherwise than it packs.
    let reversed = planned(hostile("marks", 1.0)).lists;
    assert_eq!((reversed.claims, reversed.same_first), (2, 0));
    assert_eq!(
        (reversed.first_choice(), reversed.order()),
        (Some(0), Some(-1000))
    );
    let same = planned(list.clone()).lists;
    assert_eq!((same.claims, same.lists), (2, 2));
    assert_eq!(
        (same.first_choice(), same.order()),
        (Some(1000), Some(1000))
    );
    // One that does not order has its list in order of its prices.
    let charged = planned(ranking("fewest-nodes", &PolicySettings::new())).lists;
    assert_eq!((charged.claims, charged.order()), (2, Some(1000)));
}

#[test]
fn a_shadow_that_orders_badly_has_a_fault_and_no_lists() {
    let list = ranking("list-price", &PolicySettings::new());
    let (policies, shadow) = shadowed(from_ref(&list), hostile("order-nan", 0.0), 1);
    Generation::first(policies).plan(&alike(1), &Session::default());
    let log = shadow.settle();
    assert_eq!((log.decisions, log.faults, log.lists.claims), (1, 1, 0));
}

#[test]
fn beside_a_cluster_a_shadow_has_half_the_fuel_of_a_module_that_decides_and_all_of_it_where_decisions_wait()
 {
    let endless = hostile("loop", 0.0);
    let limit = Limits::default().fuel(3, None);
    for (when_behind, less) in [(WhenBehind::PassOver, limit / 2), (WhenBehind::Wait, 0)] {
        let settings = ShadowSettings {
            when_behind,
            ..ShadowSettings::default()
        };
        let shadow = Shadow::begin(endless.clone(), Some(endless.clone()), settings);
        let shadow = Arc::new(shadow.unwrap());
        let mut policies = Policies::default();
        endless.clone().join(&mut policies);
        policies.observers.push(shadow.clone());
        Generation::first(policies).plan(&alike(1), &Session::default());
        let log = shadow.settle();
        let own = log.active_fuel - log.fuel;
        assert!(own.abs_diff(less) < 10_000, "{log:?}");
    }
}

/// Decisions find their place at once although a shadow is asked without end, on an engine with one place for which no call waits.
#[test]
fn a_shadow_takes_no_place_of_a_module_that_decides_and_is_passed_over_or_asked() {
    let engine = one_at_a_time(None);
    let accepted = |bytes: &[u8], settings: &PolicySettings| {
        AnyModule::accept(&engine, bytes, &|_| Ok(settings.clone())).unwrap()
    };
    let list = plimsoll_policies::ranking("list-price").unwrap().bytes;
    let list = accepted(list, &PolicySettings::new());
    let endless = accepted(HOSTILE, &text("behaviour", "loop"));
    let settings = ShadowSettings::default();
    let shadow = Arc::new(Shadow::begin(endless, Some(list.clone()), settings).unwrap());
    let mut policies = Policies::default();
    list.join(&mut policies);
    policies.observers.push(shadow.clone());
    let generation = Generation::first(policies);
    let snapshot = alike(1);
    for _ in 0..50 {
        let decision = generation.plan(&snapshot, &Session::default());
        assert_eq!(decision.faults, []);
        assert_eq!(decision.plan.claims.len(), 1);
    }
    let log = shadow.settle();
    assert_eq!(log.decisions + log.hung + log.passed_over, 50);
    assert!(log.faults > 0, "{log:?}");
}
