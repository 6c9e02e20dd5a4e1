//! One disruption pass: who goes first, what budgets and policies hold back.

use std::sync::Arc;

use plimsoll_base::ids::ClaimName;
use plimsoll_base::time::{Span, Timestamp};
use plimsoll_base::units::PricePerHour;
use plimsoll_disrupt::consider;
use plimsoll_disrupt::outlook::{Outlook, outlook};
use plimsoll_disrupt::pass::DisruptionPass;
use plimsoll_model::command::{Command, Decision, DisruptionQuestion};
use plimsoll_model::snapshot::{PastMove, Snapshot};
use plimsoll_model::{
    Budget, BudgetNodes, ConsolidationPolicy, DisruptionReason, DoNotDisrupt, NodeClaim, NodePool,
    OwnerKind, PackingMode,
};
use plimsoll_oracles::fixture::*;

/// Small instances at $0.10 and large ones at $0.40, both on demand.
pub(crate) fn sold(pool: PoolFixture) -> ClusterFixture {
    let small = instance_type("small").cpu(2000).memory_mib(8192).pods(110);
    let large = instance_type("large")
        .cpu(8000)
        .memory_mib(32_768)
        .pods(110);
    cluster()
        .sells(small.no_overhead().price(0.1).offered(ZONE_1, OnDemand))
        .sells(large.no_overhead().price(0.4).offered(ZONE_1, OnDemand))
        .pool(pool)
}

pub(crate) fn general(change: impl FnOnce(&mut NodePool)) -> PoolFixture {
    pool("general").with(|pool| {
        pool.disruption.budgets.clear();
        change(pool);
    })
}

pub(crate) fn ours(name: &str, of: &str, cpu: i64) -> NodeFixture {
    let node = node(name).managed("general").of_type(of).zone(ZONE_1);
    let node = node.label(CAPACITY_TYPE, "on-demand").cpu(cpu);
    node.memory_mib(cpu * 4)
}

pub(crate) fn web(name: &str, node: &str) -> PodFixture {
    let pod = pod(name).cpu(500).memory_mib(256);
    pod.owned_by(OwnerKind::ReplicaSet, "web").on(node)
}

pub(crate) fn pass(snapshot: &Snapshot) -> Decision {
    consider(snapshot, &DisruptionQuestion::Pass { consolidate: true })
}

fn gone(snapshot: &Snapshot, command: &Command) -> Vec<String> {
    let rows = snapshot.nodes.iter();
    let of = |claim: &NodeClaim| command.members.contains(&claim.name);
    let members = rows.filter(|node| node.claim.as_deref().is_some_and(of));
    members.map(|node| node.name().to_owned()).collect()
}

fn only(snapshot: &Snapshot) -> (DisruptionReason, Vec<String>) {
    let decision = pass(snapshot);
    assert_eq!(decision.commands.len(), 1, "{decision:?}");
    let command = &decision.commands[0];
    (command.reason, gone(snapshot, command))
}

fn change_claim(snapshot: &mut Snapshot, name: &str, change: impl FnOnce(&mut NodeClaim)) {
    let row = node_row(snapshot, name);
    let claim = snapshot.nodes[row].claim.as_mut().expect("a node of ours");
    change(Arc::make_mut(claim));
}

fn claim_name(snapshot: &Snapshot, name: &str) -> ClaimName {
    let claim = snapshot.nodes[node_row(snapshot, name)].claim.as_ref();
    claim.expect("a node of ours").name.clone()
}

/// A cluster in which nodes are replaced from an age of five minutes on.
fn grown_up(world: ClusterFixture) -> ClusterFixture {
    world.settings(|settings| settings.churn.node_age = Span::from_secs(300))
}

/// A large instance that one small pod runs on: a small one would do.
fn oversized(change: impl FnOnce(&mut NodePool)) -> ClusterFixture {
    let world = sold(general(change)).node(ours("n1", "large", 8000));
    world.pod(web("web", "n1"))
}

#[test]
fn empty_nodes_go_before_anything_else_and_within_their_budget() {
    let two = |pool: &mut NodePool| {
        pool.disruption.budgets = vec![Budget::always(BudgetNodes::Count(2))];
    };
    let world = oversized(two)
        .node(ours("n2", "small", 2000))
        .node(ours("n3", "large", 8000))
        .node(ours("n4", "small", 2000));
    let (reason, gone) = only(&world.snapshot());
    assert_eq!(reason, DisruptionReason::Empty);
    assert_eq!(gone, ["n2", "n3"], "the dearest first, then by name");
}

#[test]
fn empty_nodes_and_moves_share_a_pass_and_a_budget() {
    let begun = |budget: u32| {
        let count = |pool: &mut NodePool| {
            pool.disruption.budgets = vec![Budget::always(BudgetNodes::Count(budget))];
        };
        let world = oversized(count).node(ours("n2", "small", 2000));
        let decision = pass(&world.snapshot());
        let command = |it: &Command| (it.reason, it.plan.claims.len());
        decision.commands.iter().map(command).collect::<Vec<_>>()
    };
    let empty = (DisruptionReason::Empty, 0);
    assert_eq!(
        begun(2),
        [empty, (DisruptionReason::Underutilized, 1)],
        "nothing moves to what goes"
    );
    assert_eq!(begun(1), [empty]);
}

#[test]
fn nodes_go_together_within_the_budgets_of_their_own_pools() {
    let most = |own: u32| {
        let budget = |pool: &mut NodePool, nodes: u32| {
            pool.disruption.budgets = vec![Budget::always(BudgetNodes::Count(nodes))];
        };
        let other = pool("other").with(|pool| {
            budget(pool, 1);
            pool.disruption.consolidate_after = None;
        });
        let mut world = sold(general(|pool| budget(pool, own))).pool(other);
        let names = ["n1", "n2", "n3", "n4"];
        for node in names {
            world = world.node(ours(node, "large", 8000));
            world = world.pod(web(&format!("web-{node}"), node));
        }
        let mut young = grown_up(world).snapshot();
        let created = young.now - Span::from_secs(60);
        for node in names {
            change_claim(&mut young, node, |claim| claim.created = created);
        }
        let commands = pass(&young).commands;
        commands.iter().map(|command| command.members.len()).max()
    };
    assert_eq!(most(4), Some(2), "the other pool's budget holds nobody");
    assert_eq!(most(1), Some(1));
}

/// Four nodes at $0.30 whose pods one node at $0.80 could hold, in a pool that lets so many go at once.
fn four_for_one(budget: u32, packing: PackingMode) -> Snapshot {
    let change = |pool: &mut NodePool| {
        pool.disruption.budgets = vec![Budget::always(BudgetNodes::Count(budget))];
        pool.packing = packing;
    };
    let sizes = [("middle", 4000, 0.3), ("big", 16_000, 0.8)];
    let world = sizes
        .into_iter()
        .fold(cluster(), |world, (name, cpu, price)| {
            let listed = instance_type(name).cpu(cpu).memory_mib(cpu * 4).pods(110);
            world.sells(listed.no_overhead().price(price).offered(ZONE_1, OnDemand))
        });
    let mut world = world.pool(general(change));
    for at in 1..=4 {
        let name = format!("n{at}");
        world = world.node(ours(&name, "middle", 4000));
        let pod = pod(&format!("web-{at}")).cpu(3500).memory_mib(256);
        world = world.pod(pod.owned_by(OwnerKind::ReplicaSet, "web").on(&name));
    }
    world.snapshot()
}

#[test]
fn several_nodes_are_replaced_by_one_in_as_many_stages_as_their_budget_makes() {
    let made = |budget: u32, packing: PackingMode| {
        let commands = pass(&four_for_one(budget, packing)).commands;
        assert!(commands.len() < 2);
        let first = commands.first();
        first.map(|command| (command.members.len(), command.later.len()))
    };
    assert_eq!(made(4, PackingMode::Price), Some((4, 0)));
    assert_eq!(made(3, PackingMode::Price), Some((3, 1)));
    assert_eq!(made(1, PackingMode::Price), Some((1, 3)));
    assert_eq!(made(0, PackingMode::Price), None);
    assert_eq!(made(4, PackingMode::Compatible), Some((4, 0)));
    let rules = "Karpenter's rules make it at once or not at all";
    assert_eq!(made(3, PackingMode::Compatible), None, "{rules}");
}

#[test]
fn a_move_is_made_in_stages_only_where_it_soon_pays() {
    let begins = |change: &dyn Fn(&mut NodePool)| {
        let mut snapshot = four_for_one(1, PackingMode::Price);
        change(Arc::make_mut(&mut snapshot.pools[0]));
        !pass(&snapshot).commands.is_empty()
    };
    let quiet = |minutes: i64| {
        move |pool: &mut NodePool| {
            pool.disruption.consolidate_after = Some(Span::from_secs(minutes * 60));
        }
    };
    // The new node, at $0.80, is paid beside others for three times as long as a stage takes, and the saving is $0.40 an hour.
    assert!(begins(&quiet(7)));
    assert!(!begins(&quiet(9)));
}

#[test]
fn a_move_in_stages_counts_and_is_confirmed_as_a_whole() {
    let snapshot = four_for_one(1, PackingMode::Price);
    let command = pass(&snapshot).commands.remove(0);
    let cents = |price: PricePerHour| price.nanos() / 10_000_000;
    assert_eq!(cents(command.saving), 40);
    assert_eq!(cents(command.whole_list_saving()), 40);
    assert_eq!(cents(command.list_saving), -50, "of the first node alone");
    assert_eq!(command.plan.placements.len(), 1, "others stay for now");
    let claim = &command.plan.claims[0];
    assert_eq!(claim.chosen().unwrap().instance_type.as_str(), "big");
    assert!(
        claim
            .options
            .iter()
            .all(|it| it.instance_type.as_str() == "big")
    );

    let confirm = |after: &Snapshot| {
        let question = DisruptionQuestion::Confirm(Box::new(command.clone()));
        consider(after, &question).commands
    };
    assert_eq!(confirm(&snapshot), std::slice::from_ref(&command));
    let row = |name: &ClaimName| {
        let mut nodes = snapshot.nodes.iter();
        let is_it = |own: &NodeClaim| own.name == *name;
        nodes
            .position(|node| node.claim.as_deref().is_some_and(is_it))
            .unwrap()
    };
    let now = outlook(&snapshot, row(&command.members[0]));
    assert!(matches!(now, Outlook::Goes(goes) if *goes == command));
    let waits = outlook(&snapshot, row(&command.later[0].claim)).to_string();
    assert!(
        waits.ends_with("with other nodes, which budgets let go first"),
        "{waits}"
    );

    let stays = |name: &ClaimName| {
        let mut after = snapshot.clone();
        let node = after.nodes[row(name)].node.as_ref().unwrap().name.clone();
        for pod in &mut after.pods {
            if pod.node.as_ref() == Some(&node) {
                Arc::make_mut(pod).do_not_disrupt = DoNotDisrupt::Always;
            }
        }
        after
    };
    assert_eq!(confirm(&stays(&command.members[0])), []);
    let later = stays(&command.later[0].claim);
    assert_eq!(confirm(&later), [], "three are not worth the large node");
}

#[test]
fn a_node_too_large_for_its_pods_is_replaced_for_less() {
    let snapshot = oversized(|_| {}).snapshot();
    let decision = pass(&snapshot);
    let command = &decision.commands[0];
    assert_eq!(command.reason, DisruptionReason::Underutilized);
    assert_eq!(command.plan.claims.len(), 1);
    let planned = &command.plan.claims[0];
    assert!(
        planned
            .options
            .iter()
            .all(|option| option.list_price.dollars() < 0.4)
    );
    assert_eq!(command.saving, PricePerHour::from_dollars(0.3).unwrap());
    let confirmed = consider(
        &snapshot,
        &DisruptionQuestion::Confirm(Box::new(command.clone())),
    );
    assert_eq!(confirmed.commands.len(), 1, "nothing has changed: it holds");
}

#[test]
fn a_move_that_has_lost_its_reason_is_not_confirmed() {
    let before = oversized(|_| {}).snapshot();
    let command = pass(&before).commands.remove(0);
    let confirm = |after: Snapshot| {
        consider(
            &after,
            &DisruptionQuestion::Confirm(Box::new(command.clone())),
        )
        .commands
        .len()
    };
    let more = (0..14).map(|at| web(&format!("web{at}"), "n1"));
    assert_eq!(confirm(oversized(|_| {}).pods(more).snapshot()), 0);
    let never = |pool: &mut NodePool| pool.disruption.consolidate_after = None;
    assert_eq!(confirm(oversized(never).snapshot()), 0);
    let held = oversized(|_| {}).pod(pod("late").nominated("n1"));
    assert_eq!(confirm(held.snapshot()), 0);
}

#[test]
fn policies_of_pools_decide_what_is_looked_at() {
    let with = |policy| {
        let world = oversized(|pool| pool.disruption.policy = policy);
        pass(&world.snapshot()).commands.len()
    };
    assert_eq!(with(ConsolidationPolicy::WhenEmptyOrUnderutilized), 1);
    assert_eq!(
        with(ConsolidationPolicy::Balanced),
        1,
        "saves three quarters of all"
    );
    assert_eq!(with(ConsolidationPolicy::WhenEmpty), 0);
    let waits = oversized(|pool| {
        pool.disruption.consolidate_after = Some(Span::from_secs(3_000_000));
    });
    let decision = pass(&waits.snapshot());
    assert!(decision.commands.is_empty());
    assert!(decision.wake.is_some(), "its time will come");
}

#[test]
fn young_nodes_are_not_replaced_where_pods_are_packed_by_price() {
    let mut young = grown_up(oversized(|_| {})).snapshot();
    let now = young.now;
    change_claim(&mut young, "n1", |claim| {
        claim.created = now - Span::from_secs(60);
    });
    let decision = pass(&young);
    assert!(decision.commands.is_empty());
    assert_eq!(decision.wake, Some(now + Span::from_secs(240)));
    Arc::make_mut(&mut young.settings).churn.node_age = Span::ZERO;
    assert_eq!(pass(&young).commands.len(), 1, "at any age unless asked");
    let with_room = oversized(|_| {}).node(ours("n2", "large", 8000));
    let mut with_room = grown_up(with_room.pod(web("other", "n2"))).snapshot();
    for name in ["n1", "n2"] {
        change_claim(&mut with_room, name, |claim| {
            claim.created = now - Span::from_secs(60);
        });
    }
    let moves = pass(&with_room).commands;
    let [delete] = &moves[..] else {
        panic!("one of two goes, not {moves:?}");
    };
    assert!(
        delete.plan.claims.is_empty(),
        "what buys nothing need not wait"
    );
}

#[test]
fn the_way_back_from_a_move_is_barred_for_a_while() {
    let mut snapshot = oversized(|_| {}).snapshot();
    let past = |at: Timestamp| PastMove {
        at,
        pools: ["general".into()].into(),
        from: ["small".into()].into(),
        to: ["large".into()].into(),
    };
    snapshot.activity.moves = vec![past(snapshot.now - Span::from_secs(3500))];
    let decision = pass(&snapshot);
    assert!(decision.commands.is_empty());
    assert_eq!(decision.refused.by_guard, 1);
    assert_eq!(decision.wake, Some(snapshot.now + Span::from_secs(100)));
    snapshot.activity.moves = vec![past(snapshot.now - Span::from_secs(3601))];
    assert_eq!(pass(&snapshot).commands.len(), 1);
}

#[test]
fn a_policy_lowers_budgets_and_values_moves_but_never_widens_anything() {
    let snapshot = oversized(|_| {}).snapshot();
    let decide = |cap: Option<u32>, value: f64| {
        let mut pass = DisruptionPass::at(&snapshot, true);
        let caps = vec![cap; pass.allowances.len()];
        pass.cap(&caps);
        let proposal = pass.propose();
        let value = PricePerHour::from_dollars(value).expect("a price");
        let values = vec![value; proposal.moves.len()];
        proposal.decide(Some(&values))
    };
    assert_eq!(decide(None, 1.0).commands.len(), 1);
    assert_eq!(decide(Some(0), 1.0).refused.by_budget, 1);
    assert_eq!(decide(None, 0.0).refused.by_policy, 1);
    let none = |pool: &mut NodePool| {
        pool.disruption.budgets = vec![Budget::always(BudgetNodes::Count(0))];
    };
    let closed = oversized(none).snapshot();
    let mut pass = DisruptionPass::at(&closed, true);
    pass.cap(&vec![Some(99); pass.allowances.len()]);
    assert!(pass.propose().decide(None).commands.is_empty());
}

#[test]
fn drifted_nodes_go_empty_ones_first_then_the_oldest() {
    let world = || {
        let drifting = |pool: &mut NodePool| {
            pool.disruption.consolidate_after = None;
            pool.requirements
                .push(is_in(CAPACITY_TYPE, &["spot", "on-demand"]));
            pool.requirements.push(not_in(INSTANCE_TYPE, &["large"]));
        };
        sold(general(drifting))
            .node(ours("n1", "large", 8000))
            .node(ours("n2", "large", 8000))
            .node(ours("n3", "small", 2000))
            .pod(web("web1", "n1"))
            .pod(web("web2", "n2"))
    };
    let labelled = |name: &str, snapshot: &mut Snapshot, created: i64| {
        let own = snapshot.nodes[node_row(snapshot, name)].labels().clone();
        change_claim(snapshot, name, |claim| {
            claim.labels = own;
            claim.created = Timestamp::from_millis(created);
        });
    };
    let mut snapshot = world().snapshot();
    for (name, created) in [("n1", 9), ("n2", 5), ("n3", 1)] {
        labelled(name, &mut snapshot, created);
    }
    let (reason, gone) = only(&snapshot);
    assert_eq!(reason, DisruptionReason::Drifted);
    assert_eq!(gone, ["n2"], "n3 is as its pool says, n2 is older than n1");
    let mut snapshot = world().node(ours("n4", "large", 8000)).snapshot();
    for (name, created) in [("n1", 9), ("n2", 5), ("n3", 1), ("n4", 99)] {
        labelled(name, &mut snapshot, created);
    }
    assert_eq!(only(&snapshot).1, ["n4"]);
}

#[test]
fn a_look_says_why_nodes_stay() {
    let kept = web("kept", "n1").with(|pod| {
        pod.do_not_disrupt = plimsoll_model::DoNotDisrupt::Always;
    });
    let snapshot = oversized(|_| {}).pod(kept).snapshot();
    let decision = pass(&snapshot);
    let held = &decision.held[0];
    assert_eq!(held.claim, claim_name(&snapshot, "n1"));
    assert_eq!(
        format!("{}: {}", held.event, held.words),
        "DisruptionBlocked: not disrupted now: pod default/kept is annotated karpenter.sh/do-not-disrupt"
    );
    assert_eq!(decision.refused.by_pods, 1);
    let row = node_row(&snapshot, "n1");
    assert_eq!(outlook(&snapshot, row).to_string(), held.words);
}

#[test]
fn an_explanation_names_the_first_thing_in_the_way() {
    let said = |snapshot: Snapshot| outlook(&snapshot, node_row(&snapshot, "n1")).to_string();
    let goes = oversized(|_| {}).snapshot();
    assert!(matches!(
        outlook(&goes, node_row(&goes, "n1")),
        Outlook::Goes(command) if command.reason == DisruptionReason::Underutilized
    ));
    assert_eq!(said(goes), "disrupted now: its pods run elsewhere for less");
    let never = oversized(|pool| pool.disruption.consolidate_after = None);
    assert_eq!(
        said(never.snapshot()),
        "not consolidated now: its pool has consolidateAfter: Never"
    );
    let mut young = grown_up(oversized(|_| {})).snapshot();
    let created = young.now - Span::from_secs(60);
    change_claim(&mut young, "n1", |claim| claim.created = created);
    assert_eq!(
        said(young),
        "not disrupted now: its pods do not fit on other nodes, and it is younger than any node that is replaced to save money"
    );
    let others = sold(general(|_| {})).node(node("n1"));
    assert_eq!(
        said(others.snapshot()),
        "not disrupted now: it is not managed: no NodeClaim stands behind it"
    );
}
