//! Labels of pools, what types have and lack, and how pods of one batch share nodes.

use plimsoll_base::units::PricePerHour;
use plimsoll_ec2_facts::provider;
use plimsoll_model::PackingMode;
use plimsoll_model::catalogue::Offering;
use plimsoll_model::plan::Refusal;
use plimsoll_oracles::fixture::*;
use plimsoll_scheduling_tests::{Outcome, bare_market, check, market};

fn web() -> PodFixture {
    pod("web").cpu(100)
}

/// The type that the only new node is planned as.
fn chosen_type(outcome: &Outcome) -> String {
    outcome.agreed(|run| {
        let claims = &run.plan().claims;
        assert_eq!(claims.len(), 1, "one node is bought");
        let option = claims[0].chosen().expect("a claim names a way to buy it");
        option.instance_type.to_string()
    })
}

fn waits(pod: PodFixture) -> bool {
    check(market().pod(pod)).unplaced() == 1
}

#[test]
fn pod_without_wishes_lands_on_a_labelled_pool() {
    let outcome = check(
        bare_market()
            .pool(pool("general").label("team", "blue"))
            .pod(web()),
    );
    assert_eq!(outcome.domain_names("team", "web"), ["blue"]);
}

#[test]
fn pod_against_the_label_of_the_pool_waits() {
    let blue = || bare_market().pool(pool("general").label("team", "blue"));
    assert_eq!(check(blue().pod(web().select("team", "red"))).unplaced(), 1);
    let red = web().needs(is_in("team", &["red"]));
    assert_eq!(check(blue().pod(red)).unplaced(), 1);
}

#[test]
fn pod_that_selects_a_label_nobody_defines_waits() {
    assert!(waits(web().select("team", "blue")));
}

/// K18.
#[test]
fn pod_that_selects_a_label_of_a_template_gets_that_pool_only() {
    let outcome = check(
        bare_market()
            .pool(pool("apps").label("intent", "apps"))
            .pool(pool("batch").label("intent", "batch").weight(50))
            .pod(web().select("intent", "apps")),
    );
    assert_eq!(outcome.domain_names(NODEPOOL, "web"), ["apps"]);
}

#[test]
fn requirement_that_overlaps_the_label_of_the_pool_is_met() {
    let outcome = check(
        bare_market()
            .pool(pool("general").label("team", "blue"))
            .pod(web().needs(is_in("team", &["blue", "red"]))),
    );
    assert_eq!(outcome.unplaced(), 0);
}

#[test]
fn zone_of_the_pool_decides_the_zone_of_the_node() {
    let second = pool("general").zones(&[ZONE_2]);
    let outcome = check(bare_market().pool(second).pod(web()));
    assert_eq!(outcome.domain_names(ZONE, "web"), [ZONE_2]);
}

#[test]
fn pod_that_names_a_host_is_refused() {
    let outcome = check(market().pod(web().select(HOSTNAME, "some-host")));
    assert_eq!(outcome.unplaced(), 1);
}

#[test]
fn unknown_value_of_a_known_label_waits() {
    assert!(waits(web().select(ZONE, "nowhere")));
    assert!(waits(web().select(INSTANCE_TYPE, "no-such-type")));
}

#[test]
fn zone_outside_the_pool_waits() {
    let outcome = check(
        bare_market()
            .pool(pool("general").zones(&[ZONE_1, ZONE_2]))
            .pod(web().select(ZONE, ZONE_3)),
    );
    assert_eq!(outcome.unplaced(), 1);
}

#[test]
fn selector_requirement_and_preference_combine() {
    let outcome = check(
        market().pod(
            web()
                .select(ARCH, "amd64")
                .needs(is_in(ZONE, &[ZONE_2, ZONE_3]))
                .prefers(1, is_in(ZONE, &[ZONE_3])),
        ),
    );
    assert_eq!(outcome.domain_names(ZONE, "web"), [ZONE_3]);
}

#[test]
fn zone_and_type_meet_in_the_one_way_that_has_both() {
    let outcome = check(
        cluster()
            .sells(instance_type("a").zones(&[ZONE_1]))
            .sells(instance_type("b").zones(&[ZONE_2]))
            .sells(instance_type("c").zones(&[ZONE_1, ZONE_2]))
            .pool(pool("general"))
            .pod(
                web()
                    .needs(not_in(INSTANCE_TYPE, &["a"]))
                    .needs(is_in(ZONE, &[ZONE_1])),
            ),
    );
    assert_eq!(chosen_type(&outcome), "c");
}

#[test]
fn restricted_labels_and_domains_are_refused_by_name() {
    for key in [
        "karpenter.sh/custom",
        "deep.karpenter.sh/custom",
        "karpenter.k8s.aws/custom",
    ] {
        let outcome = check(market().pod(web().needs(is_in(key, &["x"]))));
        let refused = outcome.agreed(|run| run.plan().unplaced[0].reason.clone());
        let Refusal::Invalid(text) = refused else {
            panic!("{key} makes a pod invalid, not {refused:?}");
        };
        assert!(text.contains(key), "{text}");
    }
}

#[test]
fn domains_of_kubernetes_may_be_used_by_pools() {
    for key in [
        "kubernetes.io/team",
        "deep.kubernetes.io/team",
        "k8s.io/team",
        "deep.k8s.io/team",
    ] {
        let outcome = check(
            bare_market()
                .pool(pool("general").needs(is_in(key, &["blue"])))
                .pod(web().select(key, "blue")),
        );
        assert_eq!(outcome.unplaced(), 0, "{key}");
    }
}

#[test]
fn every_well_known_label_may_be_asked_for() {
    for key in provider().well_known_keys() {
        let outcome = check(market().pod(web().needs(exists(key.as_str()))));
        let invalid = outcome.agreed(|run| {
            let mut waiting = run.plan().unplaced.iter();
            waiting.any(|unplaced| matches!(unplaced.reason, Refusal::Invalid(_)))
        });
        assert!(!invalid, "{key}");
    }
}

#[test]
fn capacity_types_that_do_not_exist_are_refused() {
    let outcome = check(market().pod(web().needs(is_in(CAPACITY_TYPE, &["borrowed"]))));
    let invalid =
        outcome.agreed(|run| matches!(run.plan().unplaced[0].reason, Refusal::Invalid(_)));
    assert!(invalid);
}

#[test]
fn request_larger_than_any_type_waits() {
    assert!(waits(pod("web").cpu(17_000)));
    assert!(waits(pod("web").memory_mib(129 * 1024)));
}

#[test]
fn pods_that_no_node_satisfies_both_get_nodes_of_their_own() {
    let pairs = [
        (
            web().select(ARCH, "amd64"),
            pod("db").cpu(100).select(ARCH, "arm64"),
        ),
        (
            web().select(OS, "linux"),
            pod("db").cpu(100).select(OS, "windows"),
        ),
        (
            web().select(ZONE, ZONE_1),
            pod("db").cpu(100).select(ZONE, ZONE_2),
        ),
        (
            web().select(INSTANCE_TYPE, "small-instance-type"),
            pod("db")
                .cpu(100)
                .select(INSTANCE_TYPE, "default-instance-type"),
        ),
        (
            web().device("fake.com/vendor-a", 1),
            pod("db").device("fake.com/vendor-b", 1),
        ),
    ];
    for (left, right) in pairs {
        let outcome = check(market().pod(left).pod(right));
        assert!(outcome.apart(&["web", "db"]));
    }
}

#[test]
fn two_devices_that_no_type_has_together_wait() {
    assert!(waits(
        web()
            .device("fake.com/vendor-a", 1)
            .device("fake.com/vendor-b", 1)
    ));
}

#[test]
fn architecture_of_the_pool_excludes_types() {
    let outcome = check(
        bare_market()
            .pool(pool("arm").needs(is_in(ARCH, &["arm64"])))
            .pod(web()),
    );
    assert_eq!(chosen_type(&outcome), "arm-instance-type");
}

#[test]
fn type_excluded_by_the_pod_is_not_bought() {
    let outcome = check(market().pod(web().needs(not_in(INSTANCE_TYPE, &["small-instance-type"]))));
    assert_ne!(chosen_type(&outcome), "small-instance-type");
}

#[test]
fn labels_of_the_provider_choose_the_type() {
    let outcome = check(market().pod(web().select("size", "large")));
    assert_eq!(chosen_type(&outcome), "arm-instance-type");
    let outcome = check(market().pod(web().needs(exists("special"))));
    assert_eq!(chosen_type(&outcome), "arm-instance-type");
    let outcome = check(market().pod(web().needs(absent("special"))));
    assert_ne!(chosen_type(&outcome), "arm-instance-type");
    assert!(waits(
        web()
            .select("size", "large")
            .select(INSTANCE_TYPE, "small-instance-type")
    ));
}

#[test]
fn small_pod_gets_the_smallest_type() {
    assert_eq!(
        chosen_type(&check(market().pod(web()))),
        "small-instance-type"
    );
}

#[test]
fn small_pods_share_the_smallest_type() {
    let outcome = check(market().pods(web().replicas(5)));
    assert_eq!(chosen_type(&outcome), "small-instance-type");
}

#[test]
fn pods_beyond_what_one_node_holds_open_nodes() {
    let outcome = check(market().pods(pod("web").cpu(10).replicas(11)));
    assert_eq!((outcome.placed("web"), outcome.bought()), (11, 3));
}

#[test]
fn forty_pods_of_half_a_node_are_all_placed() {
    let outcome = check(
        market().pods(
            pod("web")
                .memory_mib(1800)
                .select(ARCH, "amd64")
                .replicas(40),
        ),
    );
    assert_eq!(outcome.placed("web"), 40);
    assert_eq!(
        outcome.under(PackingMode::Compatible).plan().claims.len(),
        20
    );
}

#[test]
fn small_pods_fill_the_gaps_that_large_ones_leave() {
    let outcome = check(
        bare_market()
            .pool(pool("general").only_types(&["default-instance-type"]))
            .pods(pod("large").cpu(3000).replicas(3))
            .pods(pod("small").cpu(300).replicas(6)),
    );
    assert_eq!((outcome.unplaced(), outcome.bought()), (0, 3));
}

#[test]
fn nothing_of_an_unknown_resource_fits_everywhere() {
    assert!(!waits(web().device("foo.com/weird", 0)));
    assert!(waits(web().device("foo.com/weird", 1)));
}

#[test]
fn node_once_full_is_followed_by_another() {
    let first = check(market().pod(pod("web").cpu(1500)));
    let outcome = first.then([pod("db").cpu(3000)]);
    assert_eq!((outcome.bought(), outcome.unplaced()), (1, 0));
}

#[test]
fn later_pod_joins_where_selectors_meet_and_not_where_they_differ() {
    let first = || check(market().pod(pod("web").cpu(10).needs(is_in(ZONE, &[ZONE_1]))));
    let same = first().then([pod("db").cpu(10).needs(is_in(ZONE, &[ZONE_1, ZONE_2]))]);
    assert_eq!(same.bought(), 0);
    let other = first().then([pod("db").cpu(10).needs(is_in(ZONE, &[ZONE_2]))]);
    assert_eq!(other.bought(), 1);
}

#[test]
fn pod_is_not_planned_for_a_second_time_once_it_runs() {
    let outcome = check(market().pods(web().replicas(3))).then([]);
    assert_eq!((outcome.bought(), outcome.placed("web")), (0, 0));
}

#[test]
fn pods_that_ask_for_devices_by_claim_are_refused_and_others_are_not() {
    let outcome = check(
        market()
            .pod(web().dynamic_resources())
            .pod(pod("db").cpu(100)),
    );
    assert_eq!(outcome.waiting(), ["web"]);
    let reason = outcome.agreed(|run| run.plan().unplaced[0].reason.clone());
    assert_eq!(reason, Refusal::DynamicResources);
}

#[test]
fn resources_of_an_offering_make_its_type_the_one_that_can_serve() {
    let plain = Offering::new(ZONE_1, OnDemand, dollars(1.0));
    let mut rich = Offering::new(ZONE_2, OnDemand, dollars(2.0));
    rich.capacity_override.set("fake.com/accelerator".into(), 1);
    let sold = cluster()
        .sells(instance_type("plain").offering(plain.clone()))
        .sells(instance_type("rich").offering(plain).offering(rich.clone()))
        .pool(pool("general"));
    let outcome = check(sold.pod(web().device("fake.com/accelerator", 1)));
    assert_eq!(chosen_type(&outcome), "rich");
    assert_eq!(outcome.domain_names(ZONE, "web"), [ZONE_2]);
    rich.available = false;
    let gone = cluster()
        .sells(instance_type("rich").offering(rich))
        .pool(pool("general"));
    assert_eq!(
        check(gone.pod(web().device("fake.com/accelerator", 1))).unplaced(),
        1
    );
}

/// B03.
#[test]
fn two_zone_pool_uses_only_these_and_spreads_evenly() {
    let outcome = check(
        bare_market()
            .pool(pool("general").zones(&[ZONE_1, ZONE_2]))
            .pods(web().spread(ZONE, 1).replicas(10)),
    );
    let zones = outcome.domains(ZONE, "web");
    assert_eq!(
        zones.into_iter().collect::<Vec<_>>(),
        [(ZONE_1.to_owned(), 5), (ZONE_2.to_owned(), 5)]
    );
}

/// B04.
#[test]
fn pod_without_an_architecture_gets_the_cheaper_one() {
    for (amd, arm, cheaper) in [(2.0, 1.0, "graviton"), (1.0, 2.0, "intel")] {
        let sold = || {
            cluster()
                .sells(instance_type("intel").price(amd).zones(&[ZONE_1]))
                .sells(
                    instance_type("graviton")
                        .arch("arm64")
                        .price(arm)
                        .zones(&[ZONE_1]),
                )
                .pool(pool("general").needs(is_in(ARCH, &["amd64", "arm64"])))
        };
        assert_eq!(chosen_type(&check(sold().pod(web()))), cheaper);
        for own in ["amd64", "arm64"] {
            let outcome = check(sold().pod(web().select(ARCH, own)));
            assert_eq!(outcome.domain_names(ARCH, "web"), [own]);
        }
    }
}

/// C10: ten pods, one node of two cores with room for four less its daemons; the rest fit one purchase.
#[test]
fn six_of_ten_pods_are_bought_for_in_one_batch() {
    let outcome = check(
        cluster()
            .types(ladder(8))
            .pool(pool("general"))
            .node(node("old").cpu(2000))
            .pods(pod("nginx").cpu(500).memory_mib(512).replicas(10)),
    );
    assert_eq!(outcome.placed("nginx"), 10);
    for run in outcome.runs() {
        assert!(run.plan().claims.len() <= 4);
        let four_small = price_of(&ladder(2)[1].capacity).nanos() * 4;
        assert!(run.plan().cost.list.nanos() <= four_small);
    }
}

/// C17: with ten families the type follows the shape of the pods.
#[test]
fn types_vary_with_the_shape_of_pods() {
    let families = (1..=10).map(|ratio| {
        instance_type(&format!("f{ratio}.large"))
            .cpu(4000)
            .memory_mib(4 * 1024 * ratio)
            .pods(58)
            .price(0.1 + 0.01 * ratio as f64)
            .zones(&[ZONE_1])
            .build()
    });
    let sold = cluster().types(families).pool(pool("general"));
    let shape = |gib: i64| {
        let outcome = check(
            sold.clone()
                .pod(pod("web").cpu(3500).memory_mib(gib * 1024)),
        );
        chosen_type(&outcome)
    };
    assert_eq!(
        [shape(3), shape(15), shape(39)],
        ["f1.large", "f4.large", "f10.large"]
    );
}

fn dollars(amount: f64) -> PricePerHour {
    PricePerHour::from_dollars(amount).expect("a test's price is a number")
}
