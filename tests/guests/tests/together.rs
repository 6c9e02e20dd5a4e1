//! Policies of one hook for several pools: each is heard for those that it serves, and what goes wrong with one touches no other's.

#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests may fail loudly, as tests may"
)]

use std::sync::LazyLock;

use plimsoll_base::ids::ClaimName;
use plimsoll_base::time::Timestamp;
use plimsoll_guests::{HOSTILE_BUDGET, HOSTILE_CONSOLIDATION};
use plimsoll_model::command::DisruptionQuestion;
use plimsoll_model::plan::Plan;
use plimsoll_model::snapshot::Snapshot;
use plimsoll_model::{LabelExpression, LabelSelector, NamedPolicies, OwnerKind, SelectorOperator};
use plimsoll_oracles::fixture::{
    Amounts, CAPACITY_TYPE, NODEPOOL, OnDemand, PoolFixture, ZONE_1, cluster, instance_type, node,
    pod, pool,
};
use plimsoll_oracles::generate::{Shape, random_cluster, shapes};
use plimsoll_oracles::judge;
use plimsoll_policy::{
    Binding, Engine, EngineSettings, Generations, Hook, Module, Policies, Successor,
};
use plimsoll_schedule::Session;
use proptest::prelude::*;

use crate::machines::sold;
use crate::modules::{behaving, hostile, shipped};

static ENGINE: LazyLock<Engine> = LazyLock::new(|| Engine::new(EngineSettings::default()).unwrap());

const PASS: DisruptionQuestion = DisruptionQuestion::Pass { consolidate: true };

/// A policy for the pools of a team.
fn for_team(name: &str, team: &str) -> Binding {
    let own = LabelExpression {
        key: "team".into(),
        operator: SelectorOperator::In,
        values: vec![team.into()],
    };
    Binding {
        created: None,
        serves: LabelSelector::all(vec![own]),
        ..Binding::of_all(name)
    }
}

fn pool_of(name: &str) -> PoolFixture {
    let own = pool(name).own_label("team", name);
    own.with(|pool| pool.disruption.budgets.clear())
}

/// A pod for each of the pools `a` and `b`, and three instances that can hold it: the cheaper, the more is left over.
fn shop(a: PoolFixture) -> Snapshot {
    let sold = |name: &str, memory_mib: i64, price: f64| {
        let sold = instance_type(name).cpu(4_000).memory_mib(memory_mib);
        sold.price(price).offered(ZONE_1, OnDemand)
    };
    let web = |pool: &str| {
        let pod = pod(&format!("web-{pool}")).cpu(3_000).memory_mib(6_000);
        pod.select(NODEPOOL, pool)
    };
    cluster()
        .sells(sold("roomy", 32_768, 0.100))
        .sells(sold("plain", 16_384, 0.105))
        .sells(sold("tight", 8_192, 0.110))
        .pool(a)
        .pool(pool_of("b"))
        .pod(web("a"))
        .pod(web("b"))
        .snapshot()
}

/// Instances that are tried first for the pools `a` and `b`.
fn bought(plan: &Plan) -> [Option<&str>; 2] {
    ["a", "b"].map(|pool| {
        let claim = plan.claims.iter().find(|claim| claim.pool.as_str() == pool);
        claim.map(|claim| claim.options[0].instance_type.as_str())
    })
}

fn ranking(policies: impl IntoIterator<Item = (Binding, Module)>) -> Generations {
    let generations = Generations::new(Policies::default());
    for (binding, module) in policies {
        generations.publish(&binding, Successor::Rank(module));
    }
    generations
}

fn plan(generations: &Generations, snapshot: &Snapshot) -> Plan {
    let decision = generations.current().plan(snapshot, &Session::default());
    decision.plan
}

const ROOMY: Option<&str> = Some("roomy");
const TIGHT: Option<&str> = Some("tight");

#[test]
fn a_ranking_policy_is_heard_for_its_pools_alone_and_the_one_that_served_first_goes_on() {
    let (snapshot, waste) = (shop(pool_of("a")), || shipped(&ENGINE, "least-waste"));
    let generations = ranking([(for_team("waste", "a"), waste())]);
    assert_eq!(bought(&plan(&generations, &snapshot)), [TIGHT, ROOMY]);

    let list_price = Successor::Rank(shipped(&ENGINE, "list-price"));
    generations.publish(&Binding::of_all("list"), list_price);
    assert_eq!(bought(&plan(&generations, &snapshot)), [TIGHT, ROOMY]);
    let answering = |pool: usize| {
        let generation = generations.current();
        let answering = generation.answering(Hook::Rank, &snapshot.pools[pool]);
        answering.join(" ")
    };
    assert_eq!([answering(0), answering(1)], ["waste", "list"]);

    generations.select(Hook::Rank, &for_team("waste", "b"));
    assert_eq!(bought(&plan(&generations, &snapshot)), [ROOMY, TIGHT]);
    generations.withdraw(Hook::Rank, "waste");
    assert_eq!(bought(&plan(&generations, &snapshot)), [ROOMY, ROOMY]);
}

#[test]
fn of_several_the_oldest_serves_and_of_those_made_at_once_the_first_by_name() {
    let snapshot = shop(pool_of("a"));
    let made = |name: &str, second: i64| Binding {
        created: Some(Timestamp::from_millis(second * 1000)),
        ..Binding::of_all(name)
    };
    let list_price = || shipped(&ENGINE, "list-price");
    // In the order in which their modules pass the gates.
    let policies = [("young", 9), ("b", 5), ("a", 5)];
    let policies = policies.map(|(name, second)| (made(name, second), list_price()));
    let generations = ranking(policies);
    let answering = || {
        let generation = generations.current();
        let answering = generation.answering(Hook::Rank, &snapshot.pools[0]);
        answering.join(" ")
    };
    assert_eq!(generations.current().names(Hook::Rank), ["a", "b", "young"]);
    let publish = |name: &str, second: i64| {
        generations.publish(&made(name, second), Successor::Rank(list_price()));
    };
    assert_eq!(answering(), "a");
    publish("old", 1);
    assert_eq!(answering(), "old");
    generations.withdraw(Hook::Rank, "old");
    assert_eq!(answering(), "a");
    // Another module of the same object keeps its place; another object of the same name has its own.
    publish("a", 5);
    assert_eq!(answering(), "a");
    publish("a", 12);
    assert_eq!(generations.current().names(Hook::Rank), ["b", "young", "a"]);
}

#[test]
fn a_pool_that_names_a_policy_has_that_one() {
    let named = |policy: &str| NamedPolicies {
        rank: Some(policy.into()),
        ..NamedPolicies::default()
    };
    let generations = ranking([
        (for_team("waste", "b"), shipped(&ENGINE, "least-waste")),
        (Binding::of_all("list"), shipped(&ENGINE, "list-price")),
    ]);
    let snapshot = shop(pool_of("a").policies(named("waste")));
    assert_eq!(bought(&plan(&generations, &snapshot)), [TIGHT, TIGHT]);
    let snapshot = shop(pool_of("a").policies(named("nobody")));
    assert_eq!(bought(&plan(&generations, &snapshot)), [ROOMY, TIGHT]);
}

#[test]
fn a_ranking_policy_that_fails_leaves_the_pools_of_others_as_they_are() {
    let snapshot = shop(pool_of("a"));
    let generations = ranking([
        (for_team("failing", "b"), hostile(&ENGINE, "nan")),
        (for_team("waste", "a"), shipped(&ENGINE, "least-waste")),
    ]);
    let plan = plan(&generations, &snapshot);
    assert_eq!(bought(&plan), [TIGHT, ROOMY]);
    let told = &plan.notes.last().unwrap().text;
    assert!(
        told.starts_with("policy failing failed for its pools: ")
            && told.ends_with("list prices were taken for them"),
        "{told}"
    );
}

#[test]
fn a_policy_that_fails_to_order_and_holds_is_named_and_holds_its_pools_alone() {
    let snapshot = shop(pool_of("a"));
    let fails = hostile(&ENGINE, "order-panic").holding();
    for others in [hostile(&ENGINE, "dearest"), shipped(&ENGINE, "list-price")] {
        let generations = ranking([
            (for_team("failing", "b"), fails.clone()),
            (for_team("others", "a"), others),
        ]);
        let plan = plan(&generations, &snapshot);
        let [a, b] = bought(&plan);
        assert!(a.is_some() && b.is_none(), "{plan:?}");
        let told = plan.unplaced[0].reason.to_string();
        assert!(told.contains("policy failing failed (trap: "), "{told}");
        let told = &plan.notes.last().unwrap().text;
        assert!(
            told.starts_with("policy failing failed for its pools: ")
                && told.ends_with("nothing is bought for them without its answer"),
            "{told}"
        );
    }
}

/// Two large nodes in each of the pools `a` and `b`; with a little pod on each, or without any.
fn fleet(a: PoolFixture, is_used: bool) -> Snapshot {
    let mut world = cluster()
        .pool(a)
        .pool(pool_of("b"))
        .sells(sold("small", 2, 0.1))
        .sells(sold("large", 8, 0.4));
    for (pool, number) in [("a", 1), ("a", 2), ("b", 1), ("b", 2)] {
        let name = format!("{pool}{number}");
        let large = node(&name).managed(pool).of_type("large").zone(ZONE_1);
        let large = large.label(CAPACITY_TYPE, "on-demand").cpu(8_000);
        world = world.node(large.memory_mib(32_768));
        if is_used {
            let web = pod(&format!("web-{name}")).cpu(500).memory_mib(256);
            let web = web.owned_by(OwnerKind::ReplicaSet, "web");
            world = world.pod(web.select(NODEPOOL, pool).on(&name));
        }
    }
    world.snapshot()
}

/// Nodes that are removed.
fn going(generations: &Generations, snapshot: &Snapshot) -> (Vec<String>, Vec<String>) {
    let generation = generations.current();
    let considered = generation.consider(snapshot, &PASS, &Session::default());
    let commands = considered.decision.commands.iter();
    let members = commands.flat_map(|command| &command.members);
    let node = |claim: &ClaimName| claim.as_str().replace("claim-", "");
    let mut going: Vec<String> = members.map(node).collect();
    going.sort();
    (going, considered.notes)
}

#[test]
fn a_budget_policy_caps_its_pools_and_no_others() {
    let snapshot = fleet(pool_of("a"), false);
    let generations = Generations::new(Policies::default());
    assert_eq!(going(&generations, &snapshot).0, ["a1", "a2", "b1", "b2"]);
    let put = |team: &str, behaviour: &str| {
        let module = ENGINE.accept_as(HOSTILE_BUDGET, &behaving(behaviour));
        generations.publish(&for_team(team, team), Successor::Budget(module.unwrap()));
    };
    put("a", "one-node");
    assert_eq!(going(&generations, &snapshot).0.len(), 3);
    put("b", "short");
    let (gone, notes) = going(&generations, &snapshot);
    assert_eq!(gone.len(), 1);
    assert!(gone[0].starts_with('a'), "{gone:?}");
    assert!(
        notes[0].starts_with("policy b failed to allow"),
        "{notes:?}"
    );
}

#[test]
fn a_consolidation_policy_that_fails_holds_its_pools_alone() {
    let snapshot = fleet(pool_of("a"), true);
    let generations = Generations::new(Policies::default());
    let free = going(&generations, &snapshot).0;
    assert!(free.iter().any(|node| node.starts_with('a')), "{free:?}");
    let failing = ENGINE.accept_as(HOSTILE_CONSOLIDATION, &behaving("nan"));
    let failing = Successor::Consolidate(failing.unwrap());
    generations.publish(&for_team("failing", "a"), failing);
    let (gone, notes) = going(&generations, &snapshot);
    assert!(
        !gone.is_empty() && gone.iter().all(|node| node.starts_with('b')),
        "{gone:?}"
    );
    let told = notes.join("\n");
    assert!(
        told.contains("none of their nodes is consolidated"),
        "{told}"
    );
}

#[test]
fn a_pool_that_names_a_policy_which_is_not_there_is_held_and_says_so() {
    let named = NamedPolicies {
        consolidate: Some("gentle".into()),
        ..NamedPolicies::default()
    };
    let snapshot = fleet(pool_of("a").policies(named), false);
    let (gone, notes) = going(&Generations::new(Policies::default()), &snapshot);
    assert_eq!(gone, ["b1", "b2"]);
    assert!(
        notes[0].starts_with("pool a asks for policy gentle, which does not serve"),
        "{notes:?}"
    );
}

proptest! {
    #![proptest_config(judge::cases(24))]

    /// The first pool has one binding and all others another.
    #[test]
    fn a_module_that_serves_under_two_names_plans_as_under_one(shape in shapes(Shape::tiny(0))) {
        let mut snapshot = random_cluster(&shape).snapshot();
        let alone = ranking([(Binding::of_all("one"), shipped(&ENGINE, "list-price"))]);
        let expected = plan(&alone, &snapshot);
        for (number, pool) in snapshot.pools.iter_mut().enumerate() {
            let team = if number == 0 { "a" } else { "b" };
            std::sync::Arc::make_mut(pool).own_labels.insert("team".into(), team.into());
        }
        let two = ["a", "b"].map(|team| (for_team(team, team), shipped(&ENGINE, "list-price")));
        let planned = plan(&ranking(two), &snapshot);
        prop_assert_eq!(planned.claims, expected.claims);
        prop_assert_eq!(planned.placements, expected.placements);
    }
}
