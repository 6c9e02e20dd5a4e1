//! NodeOverlays: whose price and capacity holds for which offering of which pool, which overlays hold nowhere, and what
//! plans make of them.

use plimsoll_oracles::judge::cases;
use proptest::prelude::*;

use plimsoll_base::ids::PoolName;
use plimsoll_base::labels::NODEPOOL;
use plimsoll_base::requirement::Requirement;
use plimsoll_base::resources::ResourceName;
use plimsoll_model::catalogue::{Catalogue, InstanceType};
use plimsoll_model::plan::Plan;
use plimsoll_oracles::fixture::*;
use plimsoll_oracles::generate::{Features, Shape, random_cluster};
use plimsoll_schedule::plan;
use plimsoll_scheduling_tests::check;

/// Two types of one price in two zones, on both terms.
fn shop() -> Vec<InstanceType> {
    let one = |name: &str| {
        let mut fixture = instance_type(name).price(0.4);
        for zone in [ZONE_1, ZONE_2] {
            fixture = fixture.offered(zone, OnDemand).offered(zone, Spot);
        }
        fixture.build()
    };
    vec![one("left"), one("right")]
}

fn world() -> ClusterFixture {
    cluster()
        .types(shop())
        .pool(pool("general").label("team", "a"))
        .pool(pool("other"))
}

fn left() -> Requirement {
    is_in(INSTANCE_TYPE, &["left"])
}

fn in_zone(zone: &str) -> Requirement {
    is_in(ZONE, &[zone])
}

/// Names of overlays that hold nowhere, each with the condition's reason.
fn refused(cluster: ClusterFixture) -> Vec<(String, &'static str)> {
    let overlaid = cluster.snapshot().overlaid();
    let refused = overlaid.refused().iter();
    refused
        .map(|(name, why)| (name.to_string(), why.reason()))
        .collect()
}

/// Thousandths of a dollar for each offering of a type in a pool: by zone, on demand before spot.
fn prices(cluster: ClusterFixture, pool: &str, name: &str) -> Vec<i64> {
    let overlaid = cluster.snapshot().overlaid();
    let catalogue: &Catalogue = overlaid.of(&PoolName::from(pool));
    let sold = catalogue.get(name).expect("the type is sold");
    let mut offerings: Vec<_> = sold.offerings.iter().collect();
    offerings.sort_by_key(|o| (o.zone.clone(), std::cmp::Reverse(o.capacity_type)));
    offerings
        .iter()
        .map(|offering| offering.price.nanos() / 1_000_000)
        .collect()
}

fn amount(cluster: ClusterFixture, pool: &str, name: &str, resource: &str) -> i64 {
    let overlaid = cluster.snapshot().overlaid();
    let sold = overlaid.of(&PoolName::from(pool)).get(name).cloned();
    let capacity = &sold.expect("the type is sold").capacity;
    capacity.get(&ResourceName::from(resource))
}

#[test]
fn price_is_replaced_raised_or_lowered_but_not_below_nothing() {
    let cases = [
        (overlay("o").price(0.123), 123),
        (overlay("o").dearer_by(0.1), 500),
        (overlay("o").dearer_by(-0.1), 300),
        (overlay("o").dearer_by(-1.0), 0),
        (overlay("o").dearer_by_percent(50), 600),
        (overlay("o").dearer_by_percent(-25), 300),
        (overlay("o").dearer_by_percent(-100), 0),
        (overlay("o"), 400),
    ];
    for (overlay, expected) in cases {
        let cluster = world().overlay(overlay.clone());
        assert_eq!(
            prices(cluster, "general", "left"),
            [expected; 4],
            "{overlay:?}"
        );
    }
}

#[test]
fn price_changes_only_offerings_that_the_overlay_speaks_of() {
    let cases = [
        (in_zone(ZONE_1), [100, 100, 400, 400]),
        (is_in(CAPACITY_TYPE, &["spot"]), [400, 100, 400, 100]),
        (not_in(ZONE, &[ZONE_1]), [400, 400, 100, 100]),
        (left(), [100; 4]),
        (not_in(INSTANCE_TYPE, &["left"]), [400; 4]),
        (is_in("team", &["a"]), [100; 4]),
        (is_in("team", &["b"]), [400; 4]),
        (exists("unknown"), [400; 4]),
        (absent("unknown"), [100; 4]),
        (is_in(NODEPOOL, &["general"]), [100; 4]),
        (
            is_in("karpenter.k8s.aws/ec2nodeclass", &["default"]),
            [100; 4],
        ),
    ];
    for (asked, expected) in cases {
        let cluster = world().overlay(overlay("o").needs(asked.clone()).price(0.1));
        assert_eq!(prices(cluster, "general", "left"), expected, "{asked}");
    }
}

#[test]
fn overlay_of_one_pool_leaves_others_alone() {
    let cluster = || world().overlay(overlay("o").needs(is_in(NODEPOOL, &["general"])).price(0.1));
    assert_eq!(prices(cluster(), "general", "left"), [100; 4]);
    assert_eq!(prices(cluster(), "other", "left"), [400; 4]);
}

#[test]
fn requirements_of_a_pool_that_are_no_labels_do_not_count() {
    let chosen = pool("chosen").needs(is_in("team", &["a", "b"]));
    let cluster = cluster().types(shop()).pool(chosen);
    let cluster = cluster.overlay(overlay("o").needs(is_in("team", &["a"])).price(0.1));
    assert_eq!(prices(cluster, "chosen", "left"), [400; 4]);
}

#[test]
fn heaviest_overlay_decides_a_price_and_lighter_ones_the_rest() {
    let cluster = || {
        world()
            .overlay(overlay("a").weight(1).price(0.1))
            .overlay(overlay("b").weight(5).needs(left()).dearer_by_percent(100))
            .overlay(overlay("c").weight(3).needs(in_zone(ZONE_1)).price(0.2))
    };
    assert_eq!(prices(cluster(), "general", "left"), [800; 4]);
    assert_eq!(prices(cluster(), "general", "right"), [200, 200, 100, 100]);
    assert_eq!(refused(cluster()), []);
}

#[test]
fn equal_weights_on_one_price_conflict_even_when_they_say_the_same() {
    let cluster = || {
        world()
            .overlay(overlay("a").weight(5).needs(left()).price(0.1))
            .overlay(overlay("b").weight(5).needs(in_zone(ZONE_2)).price(0.1))
    };
    assert_eq!(refused(cluster()), [("a".to_owned(), "Conflict")]);
    assert_eq!(
        prices(cluster(), "general", "left"),
        [400, 400, 100, 100],
        "the earlier name holds nowhere, not even where it is alone"
    );
    let words = cluster().snapshot().overlaid().refused()[0].1.to_string();
    assert_eq!(
        words,
        "overlay b of the same weight sets the price of left in test-zone-2, spot, in pool general"
    );
}

#[test]
fn conflict_in_one_pool_takes_an_overlay_out_of_all() {
    let cluster = || {
        world()
            .overlay(overlay("a").price(0.1))
            .overlay(overlay("b").needs(is_in(NODEPOOL, &["other"])).price(0.2))
    };
    assert_eq!(refused(cluster()), [("a".to_owned(), "Conflict")]);
    assert_eq!(prices(cluster(), "general", "left"), [400; 4]);
    assert_eq!(prices(cluster(), "other", "left"), [200; 4]);
}

#[test]
fn refused_overlay_conflicts_with_nobody() {
    let cluster = || {
        world()
            .overlay(overlay("a").needs(left()).price(0.1))
            .overlay(overlay("b").price(0.2))
            .overlay(
                overlay("c")
                    .needs(not_in(INSTANCE_TYPE, &["left"]))
                    .price(0.3),
            )
    };
    assert_eq!(refused(cluster()), [("b".to_owned(), "Conflict")]);
    assert_eq!(prices(cluster(), "general", "left"), [100; 4]);
    assert_eq!(prices(cluster(), "general", "right"), [300; 4]);
}

#[test]
fn overlays_that_nowhere_meet_do_not_conflict() {
    let pairs = [
        (left(), is_in(INSTANCE_TYPE, &["right"])),
        (in_zone(ZONE_1), in_zone(ZONE_2)),
        (
            is_in(CAPACITY_TYPE, &["spot"]),
            is_in(CAPACITY_TYPE, &["on-demand"]),
        ),
        (is_in(NODEPOOL, &["general"]), is_in(NODEPOOL, &["other"])),
    ];
    for (one, other) in pairs {
        let cluster = world()
            .overlay(overlay("a").needs(one.clone()).price(0.1))
            .overlay(overlay("b").needs(other.clone()).price(0.2));
        assert_eq!(refused(cluster), [], "{one} and {other}");
    }
}

#[test]
fn capacity_holds_for_the_whole_type_and_merges_by_resource() {
    let cluster = || {
        world()
            .overlay(
                overlay("a")
                    .needs(left())
                    .needs(in_zone(ZONE_1))
                    .adds("example.com/slot", 2),
            )
            .overlay(overlay("b").needs(left()).adds("example.com/fuse", 4))
            .overlay(overlay("c").weight(9).adds("example.com/fuse", 8))
    };
    let of = |resource| amount(cluster(), "general", "left", resource);
    assert_eq!((of("example.com/slot"), of("example.com/fuse")), (2, 8));
    assert_eq!(amount(cluster(), "general", "right", "example.com/slot"), 0);
    assert_eq!(refused(cluster()), []);
}

#[test]
fn equal_weights_on_one_resource_of_a_type_conflict() {
    let cluster = || {
        world()
            .overlay(
                overlay("a")
                    .needs(in_zone(ZONE_1))
                    .adds("example.com/slot", 2)
                    .adds("example.com/fuse", 2),
            )
            .overlay(
                overlay("b")
                    .needs(in_zone(ZONE_2))
                    .adds("example.com/slot", 3),
            )
    };
    assert_eq!(refused(cluster()), [("a".to_owned(), "Conflict")]);
    let of = |resource| amount(cluster(), "general", "left", resource);
    assert_eq!((of("example.com/slot"), of("example.com/fuse")), (3, 0));
}

#[test]
fn price_and_capacity_come_from_overlays_of_one_weight() {
    let cluster = world()
        .overlay(overlay("a").price(0.1))
        .overlay(overlay("b").adds("example.com/slot", 1));
    assert_eq!(refused(cluster), []);
}

#[test]
fn what_no_overlay_may_ask_for_is_refused_and_named() {
    let cases = [
        (overlay("o").adds("cpu", 1), "capacity cpu is reported"),
        (
            overlay("o").adds("vpc.amazonaws.com/efa", 1),
            "capacity vpc.amazonaws.com/efa is reported",
        ),
        (
            overlay("o").needs(exists(HOSTNAME)).price(0.1),
            "label kubernetes.io/hostname",
        ),
        (
            overlay("o").needs(exists("karpenter.sh/mine")).price(0.1),
            "label karpenter.sh/mine",
        ),
    ];
    for (overlay, words) in cases {
        let cluster = || world().overlay(overlay.clone());
        assert_eq!(refused(cluster()), [("o".to_owned(), "RuntimeValidation")]);
        assert_eq!(prices(cluster(), "general", "left"), [400; 4]);
        let plan = plan(&cluster().pod(pod("web")).snapshot());
        let note = &plan.notes[0].text;
        assert!(
            note.starts_with(&format!("overlay o not applied: {words}")),
            "{note}"
        );
    }
}

#[test]
fn types_that_no_overlay_touches_are_shared() {
    let snapshot = world()
        .overlay(overlay("o").needs(left()).price(0.1))
        .snapshot();
    let overlaid = snapshot.overlaid();
    let shared = |name: &str| {
        let own = overlaid.of(&PoolName::from("general")).get(name);
        let own = own.expect("the type is sold");
        let listed = snapshot.catalogues.of_others().get(name);
        std::sync::Arc::ptr_eq(own, listed.expect("it is listed"))
    };
    assert_eq!((shared("left"), shared("right")), (false, true));
}

#[test]
fn plan_buys_what_overlays_make_cheapest_and_says_so_on_the_claim() {
    let mark = "karpenter.sh/price-overlay-applied";
    let cluster = |overlay: OverlayFixture| world().pod(pod("web")).overlay(overlay);
    let outcome = check(cluster(overlay("o").needs(left()).dearer_by_percent(30)));
    let claim = |plan: &Plan| plan.claims[0].clone();
    let bought = outcome.agreed(|run| claim(run.plan()).options[0].instance_type.to_string());
    assert_eq!(bought, "right");
    let outcome = check(cluster(
        overlay("o")
            .needs(left())
            .needs(in_zone(ZONE_2))
            .price(0.05),
    ));
    outcome.agreed(|run| {
        let claim = claim(run.plan());
        let chosen = &claim.options[0];
        assert_eq!(
            (chosen.instance_type.as_str(), chosen.zone.as_ref()),
            ("left", ZONE_2)
        );
        assert_eq!(chosen.list_price.nanos(), 50_000_000);
        assert_eq!(claim.annotations.get(mark).map(AsRef::as_ref), Some("true"));
        assert!(
            !claim
                .annotations
                .contains_key("karpenter.sh/capacity-overlay-applied")
        );
    });
}

#[test]
fn claim_without_an_overlaid_type_carries_no_mark() {
    let left_only = overlay("o").needs(left()).price(9.0);
    let wants_right = pod("web").select(INSTANCE_TYPE, "right");
    let outcome = check(world().pod(wants_right).overlay(left_only));
    outcome.agreed(|run| {
        let annotations = &run.plan().claims[0].annotations;
        assert!(annotations.keys().all(|key| !key.contains("overlay")));
    });
}

#[test]
fn pod_that_asks_for_an_added_resource_is_served_where_it_is_added() {
    let slots = |count| pod("web").cpu(100).device("example.com/slot", count);
    let with_slots = || world().overlay(overlay("o").needs(left()).adds("example.com/slot", 2));
    let outcome = check(with_slots().pods(slots(1).replicas(3)));
    assert_eq!((outcome.unplaced(), outcome.bought()), (0, 2));
    outcome.agreed(|run| {
        let claim = &run.plan().claims[0];
        let mark = claim
            .annotations
            .get("karpenter.sh/capacity-overlay-applied");
        assert_eq!(mark.map(AsRef::as_ref), Some("true"));
    });
    assert_eq!(check(with_slots().pod(slots(3))).unplaced(), 1);
    assert_eq!(check(world().pod(slots(1))).unplaced(), 1);
}

#[test]
fn overlays_are_not_applied_while_the_gate_is_shut_and_the_plan_says_so() {
    let snapshot = world()
        .pod(pod("web"))
        .overlay(overlay("o").price(0.1))
        .settings(|settings| settings.node_overlays = false)
        .snapshot();
    let plan = plan(&snapshot);
    assert_eq!(plan.claims[0].options[0].list_price.nanos(), 400_000_000);
    assert_eq!(
        plan.notes[0].text,
        "NodeOverlays: 1 not applied; setting nodeOverlays is off"
    );
}

fn random(seed: u64) -> ClusterFixture {
    let features = Features::from_bits(u16::try_from(seed % 1024).unwrap_or(0));
    random_cluster(&Shape::of(seed, [8, 2, 2, 4, 2], features))
}

/// An overlay on one of a few sets of offerings.
fn overlays() -> impl Strategy<Value = OverlayFixture> {
    let asked = prop_oneof![
        Just(None),
        Just(Some(is_in(INSTANCE_TYPE, &["type-0", "type-2"]))),
        Just(Some(in_zone(ZONE_1))),
        Just(Some(is_in(CAPACITY_TYPE, &["spot"]))),
        Just(Some(is_in(NODEPOOL, &["pool-0"]))),
        Just(Some(is_in("team", &["red"]))),
    ];
    let change = prop_oneof![
        (1..60_i32).prop_map(|cents| overlay("o").price(f64::from(cents) / 100.0)),
        (-20..20_i32).prop_map(|cents| overlay("o").dearer_by(f64::from(cents) / 100.0)),
        (-100..200_i64).prop_map(|percent| overlay("o").dearer_by_percent(percent)),
        (1..4_i64).prop_map(|slots| overlay("o").adds("example.com/slot", slots)),
    ];
    (asked, change, 0..3_u32).prop_map(|(asked, change, weight)| {
        let change = change.weight(weight);
        match asked {
            Some(asked) => change.needs(asked),
            None => change,
        }
    })
}

proptest! {
    #![proptest_config(cases(60))]

    #[test]
    fn overlay_that_adds_nothing_changes_nothing(seed in any::<u64>()) {
        let plain = plan(&random(seed).settings(|settings| settings.node_overlays = true).snapshot());
        let still = overlay("still").dearer_by(0.0);
        prop_assert_eq!(plan(&random(seed).overlay(still).snapshot()), plain);
    }

    #[test]
    fn plans_under_overlays_break_no_rule(seed in any::<u64>(), overlays in prop::collection::vec(overlays(), 1..5)) {
        let mut cluster = random(seed);
        for (at, overlay) in overlays.into_iter().enumerate() {
            cluster = cluster.overlay(overlay.named(&format!("o-{at}")));
        }
        let _ = check(cluster);
    }

    #[test]
    fn heavier_overlay_decides_whatever_comes_first_and_whatever_it_is_called(
        seed in any::<u64>(), light in overlays(), heavy in overlays(), swap in any::<bool>(),
    ) {
        let names = if swap { ["a", "b"] } else { ["b", "a"] };
        let heavy = heavy.named(names[0]).weight(7);
        let light = light.named(names[1]).weight(2);
        let one = random(seed).overlay(light.clone()).overlay(heavy.clone()).snapshot();
        let other = random(seed).overlay(heavy.clone()).overlay(light).snapshot();
        prop_assert!(one.overlaid().refused().is_empty());
        let alone = random(seed).overlay(heavy).snapshot().overlaid();
        for (at, pool) in one.pools.iter().enumerate() {
            let (left, right) = (one.overlaid(), other.overlaid());
            prop_assert_eq!(left.of(&pool.name), right.of(&pool.name));
            // Where the heavy one alone changes a price, it decides.
            let listed = one.catalogues.of(&pool.class).types().iter();
            for ((listed, both), alone) in listed.zip(left.of(&pool.name).types()).zip(alone.of(&other.pools[at].name).types()) {
                for ((listed, both), alone) in listed.offerings.iter().zip(&both.offerings).zip(&alone.offerings) {
                    prop_assert!(alone.price == listed.price || both.price == alone.price);
                }
            }
        }
    }
}
