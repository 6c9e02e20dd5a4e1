//! Static pools, whatever goes wrong: never more nodes than the limit, never fewer ready ones than are kept because of drift
//! or of scaling down, and in the end exactly as many as the pool keeps. What holds a pool back is told once.

use std::sync::Arc;

use plimsoll_base::resources::{ResourceName, Resources};
use plimsoll_base::time::{Span, Timestamp};
use plimsoll_model::action::ObjectKey;
use plimsoll_model::{Budget, BudgetNodes, Ceilings, ClaimPhase, NodeClaim, NodePool, Object};
use plimsoll_oracles::fixture::{
    Amounts, OnDemand, PoolFixture, ZONE_1, ZONE_2, cluster, instance_type, pod, pool,
};
use plimsoll_oracles::judge::cases;
use plimsoll_scenarios::stage;
use plimsoll_sim::{Behaviour, Change, Faults, Planner, Run};
use proptest::prelude::*;

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_millis(seconds * 1000)
}

/// A cluster with this pool, and with another one for pods that find no room there.
fn run_of(own: PoolFixture, gate: bool, faults: Faults, seed: u64) -> Run<impl Planner> {
    let small = instance_type("small").cpu(2000).memory_mib(8192).pods(110);
    let small = small.no_overhead().price(0.1);
    let fixture = cluster()
        .sells(small.offered(ZONE_1, OnDemand).offered(ZONE_2, OnDemand))
        .pool(own)
        .pool(pool("general").with(|pool| pool.disruption.consolidate_after = None))
        .settings(move |settings| settings.static_capacity = gate);
    let recording = stage::recording(fixture.parts(), at(0), None, Vec::new());
    let behaviour = Behaviour {
        seed,
        faults,
        ..stage::uninterrupted()
    };
    stage::run(recording, behaviour)
}

fn calm(pool: PoolFixture) -> Run<impl Planner> {
    run_of(pool, true, Faults::default(), 1)
}

fn base(replicas: u32, budget: u32) -> PoolFixture {
    pool("base").replicas(replicas).with(|pool| {
        pool.disruption.budgets = vec![Budget::always(BudgetNodes::Count(budget))];
    })
}

fn apply<P: Planner>(run: &mut Run<P>, pool: &NodePool) {
    run.change(Change::Apply(Object::Pool(Arc::new(pool.clone()))));
}

fn is_ready(claim: &NodeClaim) -> bool {
    claim.phase() == ClaimPhase::Initialized && claim.deleting.is_none()
}

/// The claims of the static pool.
fn own<P: Planner>(run: &Run<P>) -> impl Iterator<Item = &Arc<NodeClaim>> {
    run.claims().filter(|claim| claim.pool.as_str() == "base")
}

fn ready<P: Planner>(run: &Run<P>) -> usize {
    own(run).filter(|claim| is_ready(claim)).count()
}

/// Pods that two of them fill a node.
fn web(replicas: u32) -> Change {
    let template = pod("web").cpu(900).memory_mib(512);
    Change::Deploy(stage::deployment(&template, replicas))
}

/// A deed of the pool's owner, or a fate of the engine.
#[derive(Clone, Copy, Debug)]
enum Deed {
    Keep(u32),
    Drift(u8),
    Crash,
}

fn deeds() -> impl Strategy<Value = Vec<(i64, Deed)>> {
    let deed = prop_oneof![
        3 => (0_u32..7).prop_map(Deed::Keep),
        2 => (0_u8..4).prop_map(Deed::Drift),
        1 => Just(Deed::Crash),
    ];
    proptest::collection::vec((1_i64..400, deed), 1..12)
}

/// How long after a pool was told to keep fewer nodes some may still be asked to go, though it keeps more again.
const LATELY: Span = Span::from_secs(300);

/// The least that a pool kept lately, by when it was told so.
fn least(kept: &[(Timestamp, u32)], now: Timestamp) -> usize {
    let later = kept.iter().skip(1).map(|(at, _)| *at).chain([now]);
    let lately = kept
        .iter()
        .zip(later)
        .filter(|(_, until)| *until + LATELY >= now);
    lately
        .map(|((_, kept), _)| *kept as usize)
        .min()
        .unwrap_or(0)
}

/// Goes on until an instant and checks at every step what must always hold.
fn watch<P: Planner>(
    run: &mut Run<P>,
    pool: &NodePool,
    kept: &[(Timestamp, u32)],
    until: Timestamp,
) -> Result<(), String> {
    let limits = pool.limits.as_ref();
    let limit = limits.map_or(i64::MAX, |limits| limits.get(&ResourceName::Nodes));
    while run.next_at().is_some_and(|next| next <= until) {
        let before = ready(run);
        run.step();
        let claims = own(run).count();
        if i64::try_from(claims).is_ok_and(|claims| claims > limit) {
            return Err(format!("{claims} claims where {limit} are allowed"));
        }
        let (after, kept) = (ready(run), least(kept, run.now()));
        if after < before.min(kept) {
            return Err(format!(
                "{after} ready nodes after {before}, {kept} are kept"
            ));
        }
    }
    run.run_until(until);
    Ok(())
}

proptest! {
    #![proptest_config(cases(24))]

    #[test]
    fn a_static_pool_stays_within_its_limit_and_settles_on_its_number(
        (seed, pods) in (0_u64..1000, 0_u32..8),
        (limit, budget) in (proptest::option::of(0_i64..8), 0_u32..4),
        launch in 0_u64..400_000,
        lost in 0_u64..200_000,
        conflict in 0_u64..200_000,
        deeds in deeds(),
    ) {
        let faults = Faults {
            launch,
            lost_after: lost,
            lost_before: lost / 2,
            conflict,
            repeated: 100_000,
        };
        let mut pool = (*base(2, budget).build()).clone();
        pool.limits = limit.map(|limit| Resources::new().with(ResourceName::Nodes, limit));
        let fixture = pool.clone();
        let mut run = run_of(base(2, budget).with(|pool| *pool = fixture), true, faults, seed);
        run.change(web(pods));
        let mut now = at(0);
        let mut kept = vec![(now, 2)];
        for (seconds, deed) in deeds {
            now = now + Span::from_secs(seconds);
            prop_assert_eq!(watch(&mut run, &pool, &kept, now), Ok(()));
            match deed {
                Deed::Keep(replicas) => {
                    kept.push((now, replicas));
                    pool.replicas = Some(replicas);
                }
                Deed::Drift(team) => {
                    pool.labels.insert("team".into(), format!("t{team}").into());
                }
                Deed::Crash => run.crash(),
            }
            apply(&mut run, &pool);
        }
        prop_assert_eq!(watch(&mut run, &pool, &kept, now + Span::from_secs(3 * 3600)), Ok(()));
        let keeps = i64::from(pool.replicas.unwrap_or(0));
        let expected = limit.map_or(keeps, |limit| limit.min(keeps));
        let claims: Vec<_> = own(&run).collect();
        prop_assert_eq!(i64::try_from(claims.len()), Ok(expected));
        prop_assert!(claims.iter().all(|claim| is_ready(claim)));
        prop_assert_eq!(run.instance_count(), run.claims().count());
        prop_assert_eq!(run.nodes().count(), run.claims().count());
        prop_assert!(run.pods().all(|pod| pod.node.is_some()), "every pod runs");
        if budget > 0 && limit.is_none_or(|limit| limit > keeps) {
            let team = pool.labels.get("team");
            let fresh = claims.iter().all(|claim| claim.labels.get("team") == team);
            prop_assert!(fresh, "drift came to its end");
        }
    }
}

/// Messages about the pool.
fn told<P: Planner>(run: &mut Run<P>) -> Vec<String> {
    let reports = run.take_reports().into_iter();
    let of_pool = reports.filter(|report| matches!(report.object, ObjectKey::Pool(_)));
    of_pool.map(|report| report.message).collect()
}

#[test]
fn a_pool_that_its_limit_holds_back_is_told_once() {
    let mut run = calm(base(5, 1).limit_nodes(3));
    run.run_until(at(3600));
    assert_eq!(run.claims().count(), 3);
    assert_eq!(
        told(&mut run),
        ["has 3 of 5 nodes: limits.nodes allows no more, deleting nodes among them"]
    );
}

#[test]
fn ceilings_on_buying_hold_for_static_pools_too() {
    let mut run = calm(base(3, 1).with(|pool| {
        pool.ceilings = Ceilings {
            nodes_in_flight: Some(1),
            ..Ceilings::default()
        };
    }));
    run.run_until(at(20));
    assert_eq!(run.claims().count(), 1);
    let words = told(&mut run);
    assert!(
        words[0].starts_with("has 1 of 3 nodes: ceiling on nodes in flight of pool base"),
        "{words:?}"
    );
    run.run_until(at(600));
    assert_eq!(ready(&run), 3);
}

#[test]
fn pools_that_are_not_ready_or_on_their_way_out_make_no_claims() {
    for pool in [base(3, 1).not_ready(), base(3, 1).deleting()] {
        let mut run = calm(pool);
        run.run_until(at(600));
        assert_eq!(run.claims().count(), 0);
    }
}

#[test]
fn a_pool_that_becomes_ready_is_filled() {
    let mut run = calm(base(3, 1).not_ready());
    run.run_until(at(600));
    apply(&mut run, &base(3, 1).build());
    run.run_until(at(700));
    assert_eq!(ready(&run), 3);
}

#[test]
fn with_the_gate_shut_numbers_are_not_kept() {
    let mut run = run_of(base(3, 1), false, Faults::default(), 1);
    run.run_until(at(3600));
    assert_eq!(run.claims().count(), 0);
}

#[test]
fn nodes_that_reach_their_age_are_followed_by_others() {
    let aged = base(2, 0).with(|pool| pool.expire_after = Some(Span::from_secs(1800)));
    let mut run = calm(aged);
    run.run_until(at(1700));
    let old: Vec<_> = run.claims().map(|claim| claim.name.clone()).collect();
    run.run_until(at(2400));
    assert_eq!(ready(&run), 2);
    assert!(run.claims().all(|claim| !old.contains(&claim.name)));
}

#[test]
fn claims_that_never_get_an_instance_are_asked_for_ever_less_often() {
    let faults = Faults {
        launch: 1_000_000,
        ..Faults::default()
    };
    let mut run = run_of(base(2, 1), true, faults, 1);
    let mut names = std::collections::BTreeSet::new();
    while run.next_at().is_some_and(|next| next <= at(3600)) {
        run.step();
        names.extend(run.claims().map(|claim| claim.name.clone()));
    }
    assert_eq!(run.instance_count(), 0);
    assert!((4..=26).contains(&names.len()), "{}", names.len());
}

#[test]
fn nodes_of_equal_price_are_spread_over_zones() {
    let mut run = calm(base(6, 1));
    run.run_until(at(600));
    let first = run.nodes().filter(|node| {
        let zone = node.label(plimsoll_base::labels::ZONE);
        zone.is_some_and(|zone| **zone == *ZONE_1)
    });
    assert_eq!(first.count(), 3);
}

/// A node of the pool bears the name of one that was replaced and has gone: its successor does not replace it, too.
#[test]
fn a_node_that_bears_the_name_of_one_that_was_replaced_stays_after_a_restart() {
    let mut pool = (*base(2, 1).build()).clone();
    pool.limits = Some(Resources::new().with(ResourceName::Nodes, 3));
    let fixture = pool.clone();
    let mut run = run_of(
        base(2, 1).with(|pool| *pool = fixture),
        true,
        Faults::default(),
        0,
    );
    run.run_until(at(37));
    pool.labels.insert("team".into(), "t0".into());
    apply(&mut run, &pool);
    run.run_until(at(47));
    pool.replicas = Some(3);
    apply(&mut run, &pool);
    run.run_until(at(347));
    assert_eq!(ready(&run), 3);
    run.crash();
    assert_eq!(watch(&mut run, &pool, &[(at(0), 3)], at(3 * 3600)), Ok(()));
}
