//! Static pools: what a new node of one is, who goes first when there are too many, and how drifted ones are replaced.

use std::sync::Arc;

use plimsoll_base::labels;
use plimsoll_base::time::{Span, Timestamp};
use plimsoll_disrupt::consider;
use plimsoll_disrupt::outlook::outlook;
use plimsoll_disrupt::static_pool::{Member, Standing, leaving, planned, report};
use plimsoll_model::command::{Command, Decision, DisruptionQuestion, HeldAs};
use plimsoll_model::snapshot::{Settings, Snapshot};
use plimsoll_model::{
    Budget, BudgetNodes, ClaimPhase, Conditions, DisruptionReason, DoNotDisrupt, NodeClaim,
    NodePool, OwnerKind, PackingMode, Pod,
};
use plimsoll_oracles::fixture::*;

/// Small instances in two zones.
fn sold() -> ClusterFixture {
    let small = instance_type("small").cpu(2000).memory_mib(8192).pods(110);
    let small = small.no_overhead().price(0.1);
    cluster().sells(small.offered(ZONE_1, OnDemand).offered(ZONE_2, OnDemand))
}

/// A static pool that wants its nodes in the second zone, within no budget but its own.
pub(crate) fn second_zone(name: &str, replicas: u32) -> PoolFixture {
    let pool = pool(name).replicas(replicas).zones(&[ZONE_2]);
    pool.with(|pool| pool.disruption.budgets.clear())
}

/// So many nodes of a pool in the first zone, which is not what the pool wants.
pub(crate) fn drifted(world: ClusterFixture, pool: &str, count: usize) -> ClusterFixture {
    (1..=count).fold(world, |world, at| {
        world.node(node_of(pool, &format!("{pool}-{at}"), ZONE_1))
    })
}

fn node_of(pool: &str, name: &str, zone: &str) -> NodeFixture {
    let node = node(name).managed(pool).of_type("small").zone(zone);
    node.label(CAPACITY_TYPE, "on-demand").cpu(2000)
}

pub(crate) fn budget(nodes: BudgetNodes) -> impl FnOnce(&mut NodePool) {
    move |pool| {
        pool.disruption.budgets = vec![Budget::always(nodes)];
    }
}

pub(crate) fn pass(snapshot: &Snapshot) -> Decision {
    consider(snapshot, &DisruptionQuestion::Pass { consolidate: true })
}

/// Commands for drifted nodes of static pools: each of one node, with one successor.
fn replaced(world: ClusterFixture) -> usize {
    let decision = pass(&world.snapshot());
    for command in &decision.commands {
        assert_eq!(command.reason, DisruptionReason::Drifted);
        assert_eq!((command.members.len(), command.plan.claims.len()), (1, 1));
        assert!(command.plan.placements.is_empty(), "nothing is simulated");
    }
    decision.commands.len()
}

#[test]
fn drifted_nodes_go_as_far_as_the_budget_of_their_pool_allows() {
    let allowed = |nodes| {
        let pool = second_zone("base", 10).with(budget(nodes));
        replaced(drifted(sold().pool(pool), "base", 10))
    };
    assert_eq!(allowed(BudgetNodes::Count(3)), 3);
    assert_eq!(allowed(BudgetNodes::Count(0)), 0);
    assert_eq!(allowed(BudgetNodes::Percent(30)), 3);
    assert_eq!(allowed(BudgetNodes::Percent(100)), 10);
}

#[test]
fn every_pool_has_its_own_budget() {
    let one = second_zone("one", 4).with(budget(BudgetNodes::Count(1)));
    let two = second_zone("two", 4).with(budget(BudgetNodes::Count(2)));
    let world = sold().pool(one).pool(two);
    assert_eq!(replaced(drifted(drifted(world, "one", 4), "two", 4)), 3);
}

#[test]
fn nodes_that_go_already_use_up_the_budget() {
    let pool = second_zone("base", 4).with(budget(BudgetNodes::Count(2)));
    let world = drifted(sold().pool(pool), "base", 4);
    let deleting = node_of("base", "deleting", ZONE_2).deleting();
    assert_eq!(replaced(world.node(deleting)), 1);
}

#[test]
fn successors_need_room_within_the_limit_beside_the_nodes_there_are() {
    let with_limit = |nodes| {
        let pool = second_zone("base", 4).limit_nodes(nodes);
        drifted(sold().pool(pool), "base", 4)
    };
    assert_eq!(replaced(with_limit(4)), 0);
    assert_eq!(replaced(with_limit(6)), 2);
    assert_eq!(replaced(with_limit(20)), 4);
    let deleting = node_of("base", "deleting", ZONE_2).deleting();
    assert_eq!(
        replaced(with_limit(6).node(deleting)),
        1,
        "it takes room, too"
    );
}

#[test]
fn a_node_without_room_for_its_successor_is_told_why_it_stays() {
    let world = sold().pool(second_zone("base", 1).limit_nodes(1));
    let decision = pass(&drifted(world, "base", 1).snapshot());
    let held = &decision.held[0];
    assert_eq!(held.event, HeldAs::DisruptionBlocked);
    assert_eq!(
        held.words,
        "not disrupted now: limits.nodes of pool base leaves no room for its successor"
    );
}

#[test]
fn a_pool_with_more_nodes_than_it_keeps_waits_until_they_are_gone() {
    let keeps = |replicas| {
        replaced(drifted(
            sold().pool(second_zone("base", replicas)),
            "base",
            4,
        ))
    };
    assert_eq!(keeps(4), 4);
    assert_eq!(keeps(5), 4, "too few is no reason to wait");
    assert_eq!(keeps(3), 0);
    assert_eq!(keeps(0), 0);
}

#[test]
fn pools_that_cannot_buy_replace_nothing() {
    let not_ready = second_zone("base", 2).not_ready();
    assert_eq!(replaced(drifted(sold().pool(not_ready), "base", 2)), 0);
    let leaving = second_zone("base", 2).deleting();
    assert_eq!(replaced(drifted(sold().pool(leaving), "base", 2)), 0);
    let elsewhere = pool("base").replicas(2).zones(&["moon"]);
    assert_eq!(replaced(drifted(sold().pool(elsewhere), "base", 2)), 0);
}

#[test]
fn nodes_and_pods_that_ask_to_stay_keep_their_node_unless_its_drain_is_bounded() {
    let asks = |node: NodeFixture| {
        node.with(|node| {
            let key = Arc::from("karpenter.sh/do-not-disrupt");
            node.annotations.insert(key, "true".into());
        })
    };
    let world = || sold().pool(second_zone("base", 1));
    let node = || node_of("base", "n1", ZONE_1);
    assert_eq!(replaced(world().node(node())), 1);
    assert_eq!(replaced(world().node(asks(node()))), 0);
    let pod = pod("held").cpu(100).on("n1");
    let pod = pod.with(|pod| pod.do_not_disrupt = DoNotDisrupt::Always);
    let held = world().node(node()).pod(pod);
    assert_eq!(replaced(held.clone()), 0);
    let mut bounded = held.snapshot();
    let claim = bounded.nodes[0].claim.as_mut().expect("a node of ours");
    Arc::make_mut(claim).termination_grace = Some(Span::from_secs(60));
    assert_eq!(pass(&bounded).commands.len(), 1);
}

#[test]
fn a_command_holds_while_its_pool_does_not_shrink() {
    let world = |replicas| drifted(sold().pool(second_zone("base", replicas)), "base", 2);
    let command: Command = pass(&world(2).snapshot()).commands.remove(0);
    let confirm = |world: ClusterFixture| {
        let question = DisruptionQuestion::Confirm(Box::new(command.clone()));
        consider(&world.snapshot(), &question).commands.len()
    };
    assert_eq!(confirm(world(2)), 1);
    assert_eq!(confirm(world(1)), 0);
    let full = sold().pool(second_zone("base", 2).limit_nodes(2));
    assert_eq!(confirm(drifted(full, "base", 2)), 0);
}

#[test]
fn nodes_of_static_pools_are_neither_empty_nor_underutilised() {
    let pool = pool("base").replicas(1);
    let pool = pool.with(|pool| pool.disruption.budgets.clear());
    let world = sold().pool(pool).node(node_of("base", "n1", ZONE_1));
    let used = world.clone().pod(pod("web").cpu(100).on("n1"));
    for world in [world, used] {
        let snapshot = world.snapshot();
        assert!(pass(&snapshot).commands.is_empty());
        assert_eq!(
            outlook(&snapshot, 0).to_string(),
            "not consolidated now: its pool keeps a fixed number of nodes"
        );
    }
}

/// Nodes of a static pool and of another one, both drifted, and whatever else there is.
fn all_sorts(
    more: impl FnOnce(ClusterFixture) -> ClusterFixture,
) -> (DisruptionReason, Vec<String>) {
    let open = |name| {
        pool(name).with(|pool| {
            pool.disruption.budgets.clear();
            pool.disruption.consolidate_after = Some(Span::ZERO);
        })
    };
    let world = sold()
        .pool(open("open"))
        .pool(open("moved").zones(&[ZONE_2]));
    let world = world
        .node(node_of("open", "used", ZONE_1))
        .pod(web("a", "used"));
    let world = world
        .node(node_of("open", "roomy", ZONE_1))
        .pod(web("b", "roomy"));
    let decision = pass(&more(world).snapshot());
    let commands = decision.commands.iter();
    let members = commands.flat_map(|command| &command.members);
    let names = members.map(ToString::to_string).collect();
    (decision.commands[0].reason, names)
}

#[test]
fn methods_come_in_order_and_one_at_a_time() {
    let savings = |world| world;
    let drift = |world: ClusterFixture| {
        let world = world.node(node_of("moved", "old", ZONE_1));
        world.pod(web("c", "old"))
    };
    let fixed =
        |world: ClusterFixture| drifted(drift(world).pool(second_zone("base", 2)), "base", 2);
    let empty = |world: ClusterFixture| fixed(world).node(node_of("open", "empty", ZONE_1));
    assert_eq!(all_sorts(savings).0, DisruptionReason::Underutilized);
    let of = |reason, names: &[&str]| (reason, names.iter().map(|&it| it.to_owned()).collect());
    assert_eq!(
        all_sorts(drift),
        of(DisruptionReason::Drifted, &["claim-old"])
    );
    let both = ["claim-base-1", "claim-base-2"];
    assert_eq!(all_sorts(fixed), of(DisruptionReason::Drifted, &both));
    assert_eq!(
        all_sorts(empty),
        of(DisruptionReason::Empty, &["claim-empty"])
    );
}

#[test]
fn pods_use_the_nodes_of_static_pools_and_never_buy_from_them() {
    let world = sold().pool(pool("base").replicas(1));
    let there = world.clone().node(node_of("base", "n1", ZONE_1));
    let plan = plimsoll_schedule::plan(&there.pod(pod("web").cpu(100)).snapshot());
    assert_eq!((plan.placements.len(), plan.claims.len()), (1, 0));
    let none = plimsoll_schedule::plan(&world.pod(pod("web").cpu(100)).snapshot());
    assert_eq!((none.placements.len(), none.claims.len()), (0, 0));
}

/// A claim as a pool's template makes it.
fn of_template(
    pool: PoolFixture,
    world: ClusterFixture,
    settings: impl FnOnce(&mut Settings),
) -> plimsoll_model::plan::PlannedClaim {
    let snapshot = world.pool(pool).settings(settings).snapshot();
    planned(
        &snapshot.pools[0],
        snapshot.catalogues.of_others(),
        &snapshot.settings,
    )
}

#[test]
fn a_new_node_is_what_the_template_says_and_nothing_more() {
    let template = pool("base").replicas(1).label("team", "shop");
    let template = template.needs(is_in("rack", &["r1"]));
    let template = template
        .taint("a", "1", NoSchedule)
        .startup_taint("b", "2", NoSchedule);
    let template = template.with(|pool| {
        pool.annotations.insert("note".into(), "kept".into());
        pool.expire_after = Some(Span::from_secs(9));
        pool.termination_grace = Some(Span::from_secs(8));
    });
    let claim = of_template(template, sold(), |_| {});
    let label = |key: &str| claim.labels.get(key).map(AsRef::as_ref);
    assert_eq!(label("team"), Some("shop"));
    assert_eq!(label("rack"), Some("r1"), "a key with one value");
    assert_eq!(label(labels::NODEPOOL), Some("base"));
    assert_eq!(label("karpenter.k8s.aws/ec2nodeclass"), Some("default"));
    assert_eq!(label(labels::REGISTERED), None);
    assert_eq!(
        claim.annotations.get("note").map(AsRef::as_ref),
        Some("kept")
    );
    assert_eq!((claim.taints.len(), claim.startup_taints.len()), (1, 1));
    assert_eq!(claim.expire_after, Some(Span::from_secs(9)));
    assert_eq!(claim.termination_grace, Some(Span::from_secs(8)));
    for key in [INSTANCE_TYPE, CAPACITY_TYPE, ZONE] {
        assert!(
            claim.requirements.get(key).is_none(),
            "{key} is not narrowed"
        );
    }
    assert!(claim.requests.is_empty());
}

#[test]
fn spot_and_exotic_machines_are_bought_where_the_template_names_them_or_packing_is_compatible() {
    let exotic = || {
        let burstable = instance_type("t3.small")
            .price(0.02)
            .offered(ZONE_1, OnDemand);
        let burstable = burstable.describes(is_in("karpenter.k8s.aws/instance-family", &["t3"]));
        let small = instance_type("small").price(0.1).offered(ZONE_1, OnDemand);
        cluster()
            .sells(burstable)
            .sells(small.offered(ZONE_1, Spot))
    };
    let first = |pool: PoolFixture| {
        let claim = of_template(pool, exotic(), |_| {});
        let chosen = claim.chosen().expect("something is sold");
        (chosen.instance_type.to_string(), chosen.capacity_type)
    };
    let base = || pool("base").replicas(1);
    assert_eq!(first(base()), ("small".to_owned(), OnDemand));
    assert_eq!(
        first(base().capacity_types(&[Spot])),
        ("small".to_owned(), Spot)
    );
    let named = base().only_types(&["t3.small"]);
    assert_eq!(first(named), ("t3.small".to_owned(), OnDemand));
    let compatible = base().packing(PackingMode::Compatible);
    assert_eq!(first(compatible).0, "t3.small");
}

#[test]
fn a_guard_does_not_yield_because_the_rest_is_sold_out() {
    let small = instance_type("small").price(0.1).sold_out(ZONE_1, OnDemand);
    let world = cluster().sells(small.offered(ZONE_1, Spot));
    let claim = of_template(pool("base").replicas(1), world, |_| {});
    assert!(claim.options.is_empty(), "{:?}", claim.options);
}

#[test]
fn a_guard_yields_where_the_template_leaves_nothing_else() {
    let small = instance_type("small").price(0.1).offered(ZONE_1, Spot);
    let claim = of_template(pool("base").replicas(1), cluster().sells(small), |_| {});
    assert_eq!(claim.options.len(), 1);
}

/// Claims and pods of a pool, for who goes first; the claims are two hours old.
struct Surplus {
    snapshot: Snapshot,
    drifted: Vec<&'static str>,
}

impl Surplus {
    fn of(world: ClusterFixture) -> Self {
        Self {
            snapshot: world.now(7200).snapshot(),
            drifted: Vec::new(),
        }
    }

    fn change(mut self, name: &str, change: impl FnOnce(&mut NodeClaim)) -> Self {
        let row = node_row(&self.snapshot, name);
        let claim = self.snapshot.nodes[row]
            .claim
            .as_mut()
            .expect("a node of ours");
        change(Arc::make_mut(claim));
        self
    }

    fn goes(&self, excess: u32) -> Vec<String> {
        let rows = self.snapshot.nodes.iter().zip(self.snapshot.pods_by_node());
        let members = rows.map(|(node, pods)| {
            let claim = node.claim.as_deref().expect("a node of ours");
            let pods = pods.into_iter().map(|row| &*self.snapshot.pods[row]);
            Member {
                claim,
                pods: pods.collect::<Vec<&Pod>>(),
                drifted: self
                    .drifted
                    .iter()
                    .any(|name| claim.name.as_str().ends_with(name)),
            }
        });
        let names = leaving(members.collect(), excess, self.snapshot.now);
        let short = |name: String| name.trim_start_matches("claim-").to_owned();
        names
            .into_iter()
            .map(|name| short(name.to_string()))
            .collect()
    }
}

fn three(world: ClusterFixture) -> ClusterFixture {
    ["n1", "n2", "n3"].into_iter().fold(world, |world, name| {
        world.node(node_of("base", name, ZONE_1))
    })
}

fn web(name: &str, node: &str) -> PodFixture {
    let pod = pod(name).cpu(100).owned_by(OwnerKind::ReplicaSet, "web");
    pod.on(node)
}

#[test]
fn claims_without_a_machine_go_first_then_empty_nodes_then_the_least_used() {
    let world = three(sold()).node(node_of("base", "n0", ZONE_1).phase(ClaimPhase::Created));
    let daemon = pod("agent")
        .owned_by(OwnerKind::DaemonSet, "agent")
        .on("n2");
    let world = world.pod(web("a", "n1")).pod(daemon);
    let world = world.pod(web("b", "n3")).pod(web("c", "n3"));
    let surplus = Surplus::of(world).change("n0", |claim| claim.provider_id = None);
    assert_eq!(surplus.goes(3), ["n0", "n2", "n1"]);
    assert_eq!(surplus.goes(9).len(), 4);
    assert!(surplus.goes(0).is_empty());
}

#[test]
fn a_pod_that_asks_to_be_left_alone_makes_its_node_the_last() {
    let held = |name, node| web(name, node).with(|pod| pod.do_not_disrupt = DoNotDisrupt::Always);
    let world = three(sold()).pod(held("a", "n1")).pod(web("b", "n2"));
    let world = world.pod(web("c", "n3")).pod(web("d", "n3"));
    assert_eq!(Surplus::of(world).goes(3), ["n2", "n3", "n1"]);
    let daemon = pod("agent")
        .owned_by(OwnerKind::DaemonSet, "agent")
        .on("n1");
    let daemon = daemon.with(|pod| pod.do_not_disrupt = DoNotDisrupt::Always);
    let world = three(sold()).pod(daemon).pod(web("b", "n2"));
    assert_eq!(
        Surplus::of(world).goes(3),
        ["n3", "n2", "n1"],
        "a daemon's, too"
    );
}

#[test]
fn cost_counts_with_what_is_left_of_a_nodes_life() {
    let world = three(sold()).pod(web("a", "n1")).pod(web("b", "n2"));
    let world = world.pod(web("c", "n2")).pod(web("d", "n3"));
    let near_its_end = |claim: &mut NodeClaim| {
        claim.created = Timestamp::from_millis(0);
        claim.expire_after = Some(Span::from_secs(8000));
    };
    // Two pods and a tenth of its life are less than one pod and all of it.
    let surplus = Surplus::of(world).change("n2", near_its_end);
    assert_eq!(surplus.goes(1), ["n2"]);
}

#[test]
fn among_empty_nodes_those_that_are_not_ready_go_first_and_then_the_drifted() {
    let mut surplus = Surplus::of(three(sold())).change("n2", |claim| {
        claim.conditions = Conditions::reached(ClaimPhase::Registered, claim.created);
    });
    surplus.drifted = vec!["n3"];
    assert_eq!(surplus.goes(3), ["n2", "n3", "n1"]);
}

#[test]
fn a_report_says_what_will_be_done_about_a_pools_number() {
    let said = |pool: PoolFixture, gate: bool| {
        let world = three(sold().pool(pool)).settings(move |it| it.static_capacity = gate);
        let snapshot = world.snapshot();
        let standing = Standing::of(&snapshot, &"base".into());
        assert_eq!((standing.staying, standing.deleting), (3, 0));
        report(&snapshot).remove(0).1
    };
    let base = |replicas| pool("base").replicas(replicas);
    assert_eq!(said(base(3), true), "3 replicas, 3 nodes");
    assert_eq!(said(base(5), true), "5 replicas, 3 nodes; 2 to launch");
    assert_eq!(
        said(base(5).limit_nodes(4), true),
        "5 replicas, 3 nodes; 1 to launch, 1 exceed limits.nodes"
    );
    assert_eq!(said(base(1), true), "1 replicas, 3 nodes; 2 to terminate");
    assert_eq!(
        said(base(5), false),
        "5 replicas, 3 nodes; not reconciled: setting staticCapacity is off"
    );
}
