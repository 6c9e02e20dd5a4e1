//! A look at a ranking policy's prices: what stands and what would be bought are valued in one currency, and what the policy
//! vetoes is not bought.

use std::sync::Arc;

use plimsoll_base::units::PricePerHour;
use plimsoll_disrupt::pass::DisruptionPass;
use plimsoll_disrupt::{confirm, consider};
use plimsoll_hooks::rank::{PriceAnswer, PriceQuestion, Prices, check_prices, list_price};
use plimsoll_model::command::{Command, Decision, DisruptionQuestion};
use plimsoll_model::snapshot::Snapshot;
use plimsoll_model::{DisruptionReason, NodePool, OwnerKind, template_hash};
use plimsoll_oracles::fixture::*;

const PASS: DisruptionQuestion = DisruptionQuestion::Pass { consolidate: true };
const VETO: f64 = f64::INFINITY;

/// One candidate, as a policy sees it.
struct Candidate<'q> {
    type_name: &'q str,
    zone: &'q str,
    list: f64,
}

fn answer(question: &PriceQuestion, price: impl Fn(&Candidate<'_>) -> f64) -> PriceAnswer {
    let tables = &question.tables;
    let own = question.pools.cand.iter().map(|row| {
        price(&Candidate {
            type_name: tables.type_name(*row),
            zone: tables.zone(*row),
            list: tables.price(*row),
        })
    });
    let own: Vec<f64> = own.collect();
    PriceAnswer {
        first: own.clone(),
        then: own,
        ..list_price(question)
    }
}

fn checked(question: &PriceQuestion, answer: &PriceAnswer) -> Prices {
    check_prices(question, answer).expect("the answer is well formed")
}

fn priced(snapshot: &Snapshot, price: impl Fn(&Candidate<'_>) -> f64) -> DisruptionPass<'_> {
    let mut pass = DisruptionPass::at(snapshot, true);
    let question = pass.price_question(&PASS).expect("something is sold");
    pass.price(checked(&question, &answer(&question, price)));
    pass
}

fn decided(snapshot: &Snapshot, price: impl Fn(&Candidate<'_>) -> f64) -> Decision {
    priced(snapshot, price).propose().decide(None)
}

/// Small instances at $0.10 and large ones at $0.40, each in two zones on demand.
fn market() -> ClusterFixture {
    let sold = |name: &str, cores: i64, price: f64| {
        let listed = machine(name, cores, price);
        listed.offered(ZONE_1, OnDemand).offered(ZONE_2, OnDemand)
    };
    let free = |pool: &mut NodePool| pool.disruption.budgets.clear();
    cluster()
        .sells(sold("small", 2, 0.1))
        .sells(sold("large", 8, 0.4))
        .pool(pool("general").with(free))
}

fn ours(name: &str, of: &str, cpu: i64) -> NodeFixture {
    let node = node(name).managed("general").of_type(of).zone(ZONE_1);
    let node = node.label(CAPACITY_TYPE, "on-demand").cpu(cpu);
    node.memory_mib(cpu * 4)
}

fn web(name: &str, cpu: i64, node: &str) -> PodFixture {
    let pod = pod(name).cpu(cpu).memory_mib(256);
    pod.owned_by(OwnerKind::ReplicaSet, name).on(node)
}

/// A large instance that one small pod runs on: a small one would do.
fn oversized() -> Snapshot {
    let world = market().node(ours("n1", "large", 8000));
    world.pod(web("web", 500, "n1")).snapshot()
}

/// An instance that is used as well as it can be.
fn full() -> Snapshot {
    let world = market().node(ours("n1", "large", 8000));
    world.pod(web("web", 7500, "n1")).snapshot()
}

fn dollars(price: f64) -> PricePerHour {
    PricePerHour::from_dollars(price).expect("a price")
}

fn bought(command: &Command) -> Vec<(String, String)> {
    let chosen = command
        .plan
        .claims
        .iter()
        .filter_map(|claim| claim.chosen());
    let words = chosen.map(|one| (one.instance_type.to_string(), one.zone.to_string()));
    words.collect()
}

#[test]
fn list_prices_answered_by_a_policy_change_nothing() {
    for snapshot in [oversized(), full()] {
        let native = consider(&snapshot, &PASS);
        assert_eq!(decided(&snapshot, |own| own.list), native);
    }
}

#[test]
fn what_is_vetoed_is_not_bought() {
    let snapshot = oversized();
    let no_small = |own: &Candidate<'_>| match own.type_name {
        "small" => VETO,
        _ => own.list,
    };
    assert_eq!(decided(&snapshot, no_small).commands, []);
    let not_here = |own: &Candidate<'_>| match own.zone {
        ZONE_1 => VETO,
        _ => own.list,
    };
    let decision = decided(&snapshot, not_here);
    let command = &decision.commands[0];
    assert_eq!(bought(command), [("small".into(), ZONE_2.into())]);
    let options = command.plan.claims[0].options.iter();
    assert!(options.clone().all(|option| option.zone.as_ref() == ZONE_2));
}

#[test]
fn what_is_vetoed_and_stands_is_worth_its_list_price() {
    let no_large = |own: &Candidate<'_>| match own.type_name {
        "large" => VETO,
        _ => own.list * 2.0,
    };
    let snapshot = oversized();
    let command = &decided(&snapshot, no_large).commands[0];
    assert_eq!(command.saving, dollars(0.4 - 0.2));
    assert_eq!(command.list_saving, dollars(0.4 - 0.1));
    assert_eq!(command.prices, [dollars(0.4)]);
}

#[test]
fn a_policy_moves_what_list_prices_would_leave() {
    let snapshot = full();
    assert_eq!(consider(&snapshot, &PASS).commands, []);
    let risky = |own: &Candidate<'_>| match own.zone {
        ZONE_1 => own.list * 1.5,
        _ => own.list,
    };
    let command = &decided(&snapshot, risky).commands[0];
    assert_eq!(bought(command), [("large".into(), ZONE_2.into())]);
    assert_eq!(command.saving, dollars(0.6 - 0.4));
    assert_eq!(command.list_saving, PricePerHour::ZERO);
}

#[test]
fn a_policy_leaves_what_list_prices_would_move() {
    let by_node = |own: &Candidate<'_>| own.list + 10.0;
    assert_eq!(decided(&oversized(), by_node).commands, []);
}

#[test]
fn the_least_saving_is_held_against_the_policys_prices() {
    let cheaper_there = |share: f64| {
        let snapshot = full();
        let price = move |own: &Candidate<'_>| match own.zone {
            ZONE_1 => own.list * 10.0,
            _ => own.list * 10.0 * share,
        };
        decided(&snapshot, price).commands.len()
    };
    // A twentieth of $4.00.
    assert_eq!((cheaper_there(0.96), cheaper_there(0.94)), (0, 1));
}

#[test]
fn a_policy_that_values_moves_sees_the_prices_of_the_one_that_ranks() {
    let snapshot = oversized();
    let pass = priced(&snapshot, |own| own.list * 3.0);
    let proposal = pass.propose();
    let question = proposal.score_question().expect("the rows are in range");
    assert_eq!(question.nodes.price, [1.2]);
    assert_eq!(question.moves.replacement_prices(0), [0.3]);
}

#[test]
fn moves_of_one_look_share_what_the_first_nodes_cost_less() {
    let world = (0..4).fold(market(), |world, at| {
        let name = format!("n{at}");
        let anti = on_its_own(web(&format!("web{at}"), 1500, &name));
        world.node(ours(&name, "large", 8000)).pod(anti)
    });
    let snapshot = world.snapshot();
    let few = |count: u32| {
        let mut pass = DisruptionPass::at(&snapshot, true);
        let question = pass.price_question(&PASS).expect("something is sold");
        let mut answer = answer(&question, |_| VETO);
        for (row, candidate) in question.pools.cand.iter().enumerate() {
            if question.tables.type_name(*candidate) == "small" {
                answer.first[row] = 0.1;
                answer.first_count[row] = count;
                answer.first_group[row] = 1;
            }
        }
        pass.price(checked(&question, &answer));
        let commands = pass.propose().decide(None).commands;
        let claims = commands.iter().map(|command| command.plan.claims.len());
        claims.sum::<usize>()
    };
    assert_eq!((few(1), few(3), few(9)), (1, 3, 4));
}

/// A pod that shares a node with none of its kind.
fn on_its_own(pod: PodFixture) -> PodFixture {
    pod.label("app", "web").anti_affinity(HOSTNAME).to("web")
}

#[test]
fn nothing_is_bought_beyond_three_times_what_its_pods_are_worth() {
    let upside_down = |own: &Candidate<'_>| match own.type_name {
        "small" => 50.0,
        _ => 0.001,
    };
    let here = market().node(ours("n1", "small", 2000));
    let used = here.pod(web("web", 100, "n1")).snapshot();
    assert_eq!(decided(&used, upside_down).commands, []);
    let here = market().node(ours("n1", "small", 2000));
    let full = here.pod(web("web", 1900, "n1")).snapshot();
    let cheap_large = |own: &Candidate<'_>| match own.type_name {
        "small" => 50.0,
        _ => 20.0,
    };
    // Nineteen hundred milli-cores are worth $0.095 at list prices; a large instance costs more than three times that.
    assert_eq!(decided(&full, cheap_large).commands, []);
}

#[test]
fn drifted_nodes_are_replaced_by_what_the_policy_allows() {
    let mut snapshot = full();
    let pool = Arc::make_mut(&mut snapshot.pools[0]);
    let made_from = template_hash::annotations(pool);
    pool.labels.insert("team".into(), "shop".into());
    let row = node_row(&snapshot, "n1");
    let claim = snapshot.nodes[row].claim.as_mut();
    let claim = Arc::make_mut(claim.expect("a node of ours"));
    claim.annotations.extend(made_from);
    let not_here = |own: &Candidate<'_>| match own.zone {
        ZONE_1 => VETO,
        _ => own.list,
    };
    let decision = decided(&snapshot, not_here);
    let command = &decision.commands[0];
    assert_eq!(command.reason, DisruptionReason::Drifted);
    assert_eq!(bought(command), [("large".into(), ZONE_2.into())]);
    assert_eq!(decided(&snapshot, |_| VETO).commands, []);
}

#[test]
fn a_command_is_confirmed_at_the_prices_of_that_moment() {
    let snapshot = oversized();
    let command = consider(&snapshot, &PASS).commands.remove(0);
    let question = DisruptionQuestion::Confirm(Box::new(command.clone()));
    let confirmed = |price: &dyn Fn(&Candidate<'_>) -> f64| {
        let mut pass = DisruptionPass::at(&snapshot, false);
        let asked = pass.price_question(&question).expect("something is sold");
        pass.price(checked(&asked, &answer(&asked, price)));
        confirm::confirm(&pass, &command).commands.len()
    };
    assert_eq!(confirmed(&|own| own.list), 1);
    assert_eq!(
        confirmed(&|own| if own.type_name == "small" {
            VETO
        } else {
            own.list
        }),
        0
    );
}

#[test]
fn nobody_is_asked_where_nothing_would_be_bought() {
    let idle = market().node(ours("n1", "large", 8000)).snapshot();
    assert!(
        DisruptionPass::at(&idle, true)
            .price_question(&PASS)
            .is_none()
    );
    let quick = DisruptionQuestion::Pass { consolidate: false };
    assert!(
        DisruptionPass::at(&full(), false)
            .price_question(&quick)
            .is_none()
    );
}
