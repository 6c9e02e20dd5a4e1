//! Pools: which are used, in which order, and who tolerates them.

use plimsoll_model::PackingMode;
use plimsoll_model::TolerationOperator;
use plimsoll_model::plan::Refusal;
use plimsoll_oracles::fixture::*;
use plimsoll_scheduling_tests::{Outcome, bare_market, check, market};

fn web() -> PodFixture {
    pod("web").cpu(100)
}

fn pool_of_web(outcome: &Outcome) -> String {
    let pools = outcome.domains(NODEPOOL, "web");
    assert_eq!(pools.len(), 1, "web is in one pool");
    pools.into_keys().next().expect("there is one")
}

#[test]
fn pools_that_are_not_ready_static_or_leaving_are_not_used() {
    for unusable in [
        pool("general").not_ready(),
        pool("general").replicas(3),
        pool("general").deleting(),
    ] {
        let outcome = check(bare_market().pool(unusable).pod(web()));
        let reason = outcome.agreed(|run| run.plan().unplaced[0].reason.clone());
        assert_eq!(reason, Refusal::NoPool);
    }
}

#[test]
fn a_pod_that_names_a_pool_which_buys_nothing_is_told_why_first() {
    for (unusable, why) in [
        (pool("mine").not_ready(), "not ready: see its conditions"),
        (
            pool("mine").replicas(3),
            "it keeps 3 nodes and launches none for pods",
        ),
        (pool("mine").deleting(), "it is deleting"),
        (
            of_others(pool("mine")),
            "left to another controller: its nodeClassRef is karpenter.k8s.aws/OtherNodeClass; provider ec2 serves karpenter.k8s.aws/EC2NodeClass",
        ),
    ] {
        let cluster = bare_market().pool(unusable).pool(pool("general"));
        let outcome = check(cluster.pod(web().select(NODEPOOL, "mine")));
        let reason = outcome.agreed(|run| run.plan().unplaced[0].reason.to_string());
        let first = format!(
            "is unschedulable: no offering of its NodePools can hold it; pool mine: {why}; pool general: "
        );
        assert!(reason.starts_with(&first), "{reason}");
    }
}

/// Of a class that another provider serves.
fn of_others(pool: PoolFixture) -> PoolFixture {
    pool.with(|pool| pool.class.kind = "OtherNodeClass".into())
}

#[test]
fn pool_of_others_sells_nothing_and_says_so() {
    let outcome = check(bare_market().pool(of_others(pool("theirs"))).pod(web()));
    let reason = outcome.agreed(|run| run.plan().unplaced[0].reason.clone());
    assert_eq!(reason, Refusal::NoPool);
    let words = "NodePool theirs is left alone: its nodeClassRef is karpenter.k8s.aws/OtherNodeClass; provider ec2 serves karpenter.k8s.aws/EC2NodeClass";
    let notes = outcome.agreed(|run| run.plan().notes.clone());
    assert!(notes.iter().any(|note| note.text == words), "{notes:?}");
    let both = bare_market().pool(of_others(pool("theirs").weight(100)));
    assert_eq!(
        pool_of_web(&check(both.pool(pool("ours")).pod(web()))),
        "ours"
    );
}

#[test]
fn nodes_of_pools_of_others_take_pods() {
    let theirs = node("n1").label(NODEPOOL, "theirs").cpu(4000);
    let market = bare_market().pool(of_others(pool("theirs"))).node(theirs);
    let outcome = check(market.pod(web()));
    assert!(outcome.agreed(|run| run.plan().unplaced.is_empty()));
    assert!(outcome.agreed(|run| run.plan().claims.is_empty()));
}

#[test]
fn usable_pool_is_used_beside_unusable_ones() {
    let market = bare_market()
        .pool(pool("a").replicas(3))
        .pool(pool("b").weight(50).not_ready())
        .pool(pool("c"));
    assert_eq!(pool_of_web(&check(market.pod(web()))), "c");
}

#[test]
fn heaviest_pool_is_used_even_when_dearer() {
    let dear_first = || {
        bare_market()
            .pool(pool("cheap").weight(10))
            .pool(pool("dear").weight(50).only_types(&["arm-instance-type"]))
    };
    assert_eq!(pool_of_web(&check(dear_first().pod(web()))), "dear");
    let outcome = check(dear_first().pods(web().replicas(12)));
    assert_eq!(pool_of_web(&outcome), "dear");
}

#[test]
fn pool_asked_for_by_name_beats_weight() {
    let outcome = check(
        bare_market()
            .pool(pool("light"))
            .pool(pool("heavy").weight(100))
            .pod(web().select(NODEPOOL, "light")),
    );
    assert_eq!(pool_of_web(&outcome), "light");
}

#[test]
fn pool_may_be_chosen_by_its_label() {
    let outcome = check(
        bare_market()
            .pool(pool("light").label("team", "blue"))
            .pool(pool("heavy").weight(100).label("team", "red"))
            .pod(web().select("team", "blue")),
    );
    assert_eq!(pool_of_web(&outcome), "light");
}

#[test]
fn pool_that_cannot_serve_gives_way_to_a_lighter_one() {
    let outcome = check(
        bare_market()
            .pool(pool("heavy").weight(100).zones(&[ZONE_1]))
            .pool(pool("light"))
            .pod(web().select(ZONE, ZONE_2)),
    );
    assert_eq!(pool_of_web(&outcome), "light");
}

#[test]
fn alternative_of_a_pod_is_given_up_only_after_every_pool_has_refused_it() {
    let either = web()
        .needs(is_in(ZONE, &[ZONE_2]))
        .or_needs(is_in(ZONE, &[ZONE_1]));
    let outcome = check(
        bare_market()
            .pool(pool("heavy").weight(100).zones(&[ZONE_1]))
            .pool(pool("light"))
            .pod(either),
    );
    assert_eq!(pool_of_web(&outcome), "light");
}

#[test]
fn pods_of_two_pools_do_not_share_a_node() {
    let outcome = check(
        bare_market()
            .pool(pool("a"))
            .pool(pool("b"))
            .pod(web().select(NODEPOOL, "a"))
            .pod(pod("db").cpu(100).select(NODEPOOL, "b")),
    );
    assert!(outcome.apart(&["web", "db"]));
}

/// K21.
#[test]
fn tainted_pool_is_skipped_and_then_the_heavier_wins() {
    let outcome = check(
        bare_market()
            .pool(
                pool("tainted")
                    .weight(100)
                    .taint("team", "blue", NoSchedule),
            )
            .pool(pool("fifty").weight(50))
            .pool(pool("ten").weight(10))
            .pod(web())
            .pod(pod("db").cpu(100).tolerates("team", "blue", NoSchedule)),
    );
    assert_eq!(pool_of_web(&outcome), "fifty");
    assert_eq!(
        outcome
            .domains(NODEPOOL, "db")
            .into_keys()
            .next()
            .as_deref(),
        Some("tainted")
    );
}

/// K02.
#[test]
fn every_form_of_toleration_is_accepted() {
    let forms = [
        (TolerationOperator::Equal, "team", "blue", Some(NoSchedule)),
        (TolerationOperator::Exists, "team", "", Some(NoSchedule)),
        (TolerationOperator::Exists, "team", "", None),
        (TolerationOperator::Exists, "", "", None),
    ];
    for (operator, key, value, effect) in forms {
        let tainted = bare_market().pool(pool("general").taint("team", "blue", NoSchedule));
        let outcome = check(tainted.pod(web().toleration(key, operator, value, effect)));
        assert_eq!(outcome.unplaced(), 0, "{operator:?} {key} {effect:?}");
    }
}

#[test]
fn toleration_of_another_value_or_effect_does_not_help() {
    for (value, effect) in [("red", NoSchedule), ("blue", NoExecute)] {
        let tainted = bare_market().pool(pool("general").taint("team", "blue", NoSchedule));
        let outcome = check(tainted.pod(web().tolerates("team", value, effect)));
        assert_eq!(outcome.unplaced(), 1);
        assert!(
            outcome.reason("web").contains("team=blue:NoSchedule"),
            "{}",
            outcome.reason("web")
        );
    }
}

#[test]
fn startup_taints_of_a_pool_need_no_toleration() {
    let outcome = check(
        bare_market()
            .pool(pool("general").startup_taint("warming", "up", NoSchedule))
            .pod(web()),
    );
    assert_eq!(outcome.unplaced(), 0);
}

#[test]
fn pool_whose_requirements_nothing_meets_says_so() {
    for impossible in [
        is_in(INSTANCE_TYPE, &["no-such-type"]),
        is_in(ARCH, &["riscv64"]),
        is_in(ZONE, &["nowhere"]),
    ] {
        let outcome = check(
            bare_market()
                .pool(pool("general").needs(impossible))
                .pods(web().replicas(2)),
        );
        assert_eq!(outcome.unplaced(), 2);
    }
    let contradictory = pool("general")
        .needs(is_in(ARCH, &["arm64"]))
        .only_types(&["small-instance-type"]);
    assert_eq!(
        check(bare_market().pool(contradictory).pod(web())).unplaced(),
        1
    );
}

#[test]
fn pool_that_sells_nothing_does_not_keep_pods_from_another() {
    let empty = pool("empty").weight(100).only_types(&["no-such-type"]);
    let market = bare_market().pool(empty).pool(pool("general"));
    assert_eq!(pool_of_web(&check(market.pod(web()))), "general");
}

/// K19.
#[test]
fn pool_that_names_no_capacity_type_buys_on_demand_unless_the_pod_asks() {
    let sold = || {
        let sold = instance_type("m").price(1.0).offered(ZONE_1, OnDemand);
        cluster()
            .settings(|settings| settings.guards.enabled = true)
            .sells(sold.price(0.3).offered(ZONE_1, Spot))
            .pool(pool("general"))
    };
    let bought = |pod: PodFixture| {
        let plan = plimsoll_schedule::plan(&sold().pod(pod).snapshot());
        assert!(plan.notes.is_empty(), "{:?}", plan.notes);
        let terms = plan.claims[0].options.iter();
        terms.map(|option| option.capacity_type).collect::<Vec<_>>()
    };
    assert_eq!(bought(web()), [OnDemand]);
    assert_eq!(bought(web().select(CAPACITY_TYPE, "spot")), [Spot]);
}

#[test]
fn spot_that_nobody_asked_for_is_bought_where_nothing_else_holds_the_pod_and_the_plan_says_so() {
    let only_spot = cluster()
        .settings(|settings| settings.guards.enabled = true)
        .sells(instance_type("m").offered(ZONE_1, Spot))
        .pool(pool("general"));
    let plan = plimsoll_schedule::plan(&only_spot.pod(web()).snapshot());
    assert_eq!(plan.claims[0].options[0].capacity_type, Spot);
    let notes: Vec<&str> = plan.notes.iter().map(|note| note.text.as_str()).collect();
    assert_eq!(
        notes,
        [
            "guard on unrequested spot capacity yields on 1 new node(s): nothing else would hold their pods"
        ]
    );
}

#[test]
fn pool_limited_to_on_demand_buys_on_demand_only() {
    let on_demand = pool("general").capacity_types(&[OnDemand]);
    let outcome = check(bare_market().pool(on_demand).pod(web()));
    assert_eq!(outcome.domain_names(CAPACITY_TYPE, "web"), ["on-demand"]);
}

/// K20.
#[test]
fn spot_is_bought_when_cheaper_and_on_demand_when_spot_is_gone() {
    let cheap = instance_type("m")
        .price(1.0)
        .offered(ZONE_1, OnDemand)
        .price(0.3);
    let both = cluster()
        .sells(cheap.clone().offered(ZONE_1, Spot))
        .pool(pool("general").capacity_types(&[OnDemand, Spot]));
    let outcome = check(both.pod(web()));
    let chosen =
        |outcome: &Outcome| outcome.agreed(|run| run.plan().claims[0].options[0].capacity_type);
    assert_eq!(chosen(&outcome), Spot);
    let gone = cluster()
        .sells(cheap.sold_out(ZONE_1, Spot))
        .pool(pool("general").capacity_types(&[OnDemand, Spot]));
    let outcome = check(gone.pod(web()));
    assert_eq!(chosen(&outcome), OnDemand);
}

#[test]
fn template_of_the_pool_reaches_the_claim() {
    let outcome = check(
        bare_market()
            .pool(
                pool("general")
                    .label("team", "blue")
                    .taint("team", "blue", NoSchedule)
                    .startup_taint("warming", "up", NoExecute)
                    .with(|pool| {
                        pool.annotations.insert("owner".into(), "someone".into());
                    }),
            )
            .pod(web().tolerates_all()),
    );
    let claim = outcome.agreed(|run| {
        let claim = run.plan().claims[0].clone();
        (
            claim.labels,
            claim.annotations,
            claim.taints,
            claim.startup_taints,
        )
    });
    let (labels, annotations, taints, startup) = claim;
    assert_eq!(labels.get("team").map(AsRef::as_ref), Some("blue"));
    assert_eq!(annotations.get("owner").map(AsRef::as_ref), Some("someone"));
    // That of karpenter 1.14.1 for this template.
    assert_eq!(
        annotations
            .get("karpenter.sh/nodepool-hash")
            .map(AsRef::as_ref),
        Some("12502687033180798749")
    );
    assert_eq!(
        annotations
            .get("karpenter.sh/nodepool-hash-version")
            .map(AsRef::as_ref),
        Some("v3")
    );
    assert_eq!((taints.len(), startup.len()), (1, 1));
}

#[test]
fn room_on_a_node_there_is_goes_before_any_pool() {
    let outcome = check(market().node(node("old")).pod(web()));
    assert_eq!(outcome.place("web").as_deref(), Some("old"));
}

#[test]
fn pools_of_equal_weight_share_one_purchase() {
    let sells = |name: &str, price| instance_type(name).price(price).offered(ZONE_1, OnDemand);
    let outcome = check(
        cluster()
            .sells(sells("cheap", 1.0))
            .sells(sells("dear", 2.0))
            .pool(pool("z").only_types(&["dear"]))
            .pool(pool("a").only_types(&["cheap"]))
            .pod(web()),
    );
    let chosen = |packing| outcome.under(packing).plan().claims[0].pool.to_string();
    assert_eq!(chosen(PackingMode::Price), "a", "the cheaper of equals");
    assert_eq!(chosen(PackingMode::Compatible), "z", "the later name");
}
