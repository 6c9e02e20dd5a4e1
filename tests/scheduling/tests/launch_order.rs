//! The order of launch lists is a ranking policy's; what stands on them is the planner's.

use plimsoll_check::{PriceRule, review};
use plimsoll_hooks::rank::{OrderAnswer, OrderQuestion, check_ordering, list_order};
use plimsoll_model::plan::Plan;
use plimsoll_model::snapshot::Snapshot;
use plimsoll_oracles::fixture::*;
use plimsoll_oracles::generate::{Shape, random_cluster, shapes};
use plimsoll_oracles::judge::faults;
use plimsoll_schedule::{Reach, launch, pack, plan, prepare};
use plimsoll_scheduling_tests::market;
use proptest::prelude::*;

/// Plans at list prices, with launch lists as `score` says of (claim, type, zone, capacity, price).
fn ordered(
    snapshot: &Snapshot,
    reach: Reach,
    score: impl Fn(&OrderQuestion, usize, u32) -> f64,
) -> Plan {
    let prepared = prepare(snapshot);
    let packed = pack(&prepared, None, reach);
    let Some(question) = packed.question() else {
        return launch(&packed, None);
    };
    let mut answer = OrderAnswer::default();
    for (claim, range) in question.claims.ranges().enumerate() {
        for &row in &question.claims.cand[range] {
            answer.score.push(score(&question, claim, row));
            answer.reason.push(0);
        }
    }
    let lists = check_ordering(&question, &answer).expect("scores are finite or +inf");
    launch(&packed, Some(&lists))
}

fn names(plan: &Plan, claim: usize) -> Vec<String> {
    let options = plan.claims[claim].options.iter();
    let name = |option: &plimsoll_model::plan::LaunchOption| {
        format!("{} {}", option.instance_type, option.zone)
    };
    options.map(name).collect()
}

/// Types of one size, each at its price in dollars an hour, and a pod that needs one of them.
fn sold(prices: &[(&str, f64)]) -> ClusterFixture {
    let shop = cluster().pod(pod("web").cpu(3_000));
    prices.iter().fold(shop, |shop, &(name, price)| {
        let sized = instance_type(name).cpu(4_000).memory_mib(16_384);
        shop.sells(sized.price(price).offered(ZONE_1, OnDemand))
    })
}

/// Three types that differ in price by less than the window.
const NEAR: [(&str, f64); 3] = [("a.large", 0.100), ("b.large", 0.105), ("c.large", 0.110)];

/// Those, and one that costs twice as much.
fn shop() -> Snapshot {
    let all = [&NEAR[..], &[("d.large", 0.200)]].concat();
    sold(&all).pool(pool("general")).snapshot()
}

/// Scores that take every type but one off the list.
fn only(name: &str) -> impl Fn(&OrderQuestion, usize, u32) -> f64 + use<'_> {
    move |question, _, row| {
        if question.tables.type_name(row) == name {
            1.0
        } else {
            f64::INFINITY
        }
    }
}

#[test]
fn the_best_score_is_what_the_plan_counts_on() {
    let snapshot = shop();
    let dearest_first = |question: &OrderQuestion, _: usize, row: u32| -question.tables.price(row);
    let plan = ordered(&snapshot, Reach::Near, dearest_first);
    let zone = |name: &str| format!("{name} {ZONE_1}");
    assert_eq!(names(&plan, 0), ["c.large", "b.large", "a.large"].map(zone));
    assert_eq!(plan.cost.list, plan.claims[0].options[0].list_price);
    assert!(review(&snapshot, &plan, PriceRule::List).is_empty());
}

#[test]
fn a_policy_that_only_orders_reaches_further() {
    let snapshot = shop();
    let dearest_first = |question: &OrderQuestion, _: usize, row: u32| -question.tables.price(row);
    let plan = ordered(&snapshot, Reach::Far, dearest_first);
    assert_eq!(plan.claims[0].options.len(), 4);
    assert_eq!(plan.claims[0].options[0].instance_type.as_str(), "d.large");
}

#[test]
fn without_an_answer_lists_are_near_and_by_price() {
    let snapshot = shop();
    let prepared = prepare(&snapshot);
    let packed = pack(&prepared, None, Reach::Far);
    assert_eq!(launch(&packed, None), plan(&snapshot));
}

#[test]
fn the_order_of_list_prices_is_the_order_without_a_policy() {
    let unguarded = market().settings(|settings| settings.guards.enabled = false);
    let snapshot = unguarded.pods(pod("web").cpu(900).replicas(40)).snapshot();
    let prepared = prepare(&snapshot);
    let packed = pack(&prepared, None, Reach::Near);
    let question = packed.question().unwrap();
    let lists = check_ordering(&question, &list_order(&question)).unwrap();
    assert_eq!(launch(&packed, Some(&lists)), plan(&snapshot));
}

#[test]
fn what_a_policy_takes_off_is_not_named() {
    let snapshot = shop();
    let plan = ordered(&snapshot, Reach::Near, only("b.large"));
    assert_eq!(names(&plan, 0), [format!("b.large {ZONE_1}")]);
    assert!(review(&snapshot, &plan, PriceRule::List).is_empty());
}

#[test]
fn minimum_values_bring_back_what_a_policy_takes_off() {
    let two = pool("general").min_values(INSTANCE_TYPE, 2);
    let snapshot = sold(&NEAR).pool(two).snapshot();
    let plan = ordered(&snapshot, Reach::Near, only("c.large"));
    let zone = |name: &str| format!("{name} {ZONE_1}");
    assert_eq!(names(&plan, 0), ["c.large", "a.large"].map(zone));
    assert!(review(&snapshot, &plan, PriceRule::List).is_empty());
}

#[test]
fn guarded_types_are_not_named_beside_the_planned_one() {
    let sold = |name: &str, family: &str, price: f64| {
        instance_type(name)
            .cpu(4_000)
            .memory_mib(16_384)
            .describes(is_in("karpenter.k8s.aws/instance-family", &[family]))
            .price(price)
            .offered(ZONE_1, OnDemand)
    };
    let snapshot = cluster()
        .sells(sold("m5.large", "m5", 0.100))
        .sells(sold("t3.large", "t3", 0.101))
        .pool(pool("general"))
        .pod(pod("web").cpu(3_000))
        .settings(|settings| settings.guards.enabled = true)
        .snapshot();
    let plan = ordered(&snapshot, Reach::Far, |_, _, _| 0.0);
    assert_eq!(names(&plan, 0), [format!("m5.large {ZONE_1}")]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn whatever_the_scores_the_plan_stands(
        shape in shapes(Shape::tiny(0)),
        scores in prop::collection::vec(prop_oneof![3 => -2.0..2.0_f64, 1 => Just(f64::INFINITY)], 17),
        far in any::<bool>(),
    ) {
        let snapshot = random_cluster(&shape).snapshot();
        let reach = if far { Reach::Far } else { Reach::Near };
        let plan = ordered(&snapshot, reach, |_, claim, row| {
            scores[(claim * 7 + row as usize) % scores.len()]
        });
        let faults = faults(&snapshot, &plan, PriceRule::List);
        prop_assert!(faults.is_empty(), "{}", faults[0]);
    }
}
