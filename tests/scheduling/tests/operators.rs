//! Operators on labels, known and custom: which offerings they leave, and which pods may share a node.

use std::collections::BTreeSet;

use plimsoll_base::requirement::Requirement;
use plimsoll_oracles::fixture::*;
use plimsoll_scheduling_tests::{bare_market, check, market};

fn web() -> PodFixture {
    pod("web").cpu(100)
}

/// Types on which a pod could run, found by asking for each by name as well.
fn types_left(requirement: &Requirement) -> BTreeSet<String> {
    let names = fake_types().into_iter().map(|sold| sold.name.to_string());
    names
        .filter(|name| {
            let pod = web().select(INSTANCE_TYPE, name).needs(requirement.clone());
            check(market().pod(pod)).unplaced() == 0
        })
        .collect()
}

fn set(names: &[&str]) -> BTreeSet<String> {
    names
        .iter()
        .map(|name| format!("{name}-instance-type"))
        .collect()
}

/// K17: on the cores of six types (4, 2, 4, 4, 16, 4).
#[test]
fn every_operator_leaves_the_types_it_says() {
    let four = set(&["default", "gpu-vendor", "gpu-vendor-b", "single-pod"]);
    let all = set(&[
        "default",
        "gpu-vendor",
        "gpu-vendor-b",
        "single-pod",
        "small",
        "arm",
    ]);
    let without = |names: &[&str]| {
        all.difference(&set(names))
            .cloned()
            .collect::<BTreeSet<_>>()
    };
    assert_eq!(types_left(&is_in("integer", &["4"])), four);
    assert_eq!(
        types_left(&not_in("integer", &["4"])),
        set(&["small", "arm"])
    );
    assert_eq!(types_left(&above("integer", 4)), set(&["arm"]));
    assert_eq!(types_left(&at_least("integer", 4)), without(&["small"]));
    assert_eq!(types_left(&below("integer", 4)), set(&["small"]));
    assert_eq!(types_left(&at_most("integer", 4)), without(&["arm"]));
    assert_eq!(types_left(&exists("special")), set(&["arm"]));
    assert_eq!(types_left(&absent("special")), without(&["arm"]));
}

/// K17: zones and terms, counted over the offerings of the claim.
#[test]
fn every_operator_leaves_the_offerings_it_says() {
    let ways = |requirement: Requirement| {
        let outcome = check(
            cluster()
                .sells(instance_type("only"))
                .pool(pool("general").capacity_types(&[OnDemand, Spot]))
                .pod(web().needs(requirement)),
        );
        outcome.agreed(|run| run.plan().claims[0].options.len())
    };
    assert_eq!(ways(exists(ZONE)), 5);
    assert_eq!(ways(is_in(ZONE, &[ZONE_1])), 2);
    assert_eq!(ways(not_in(ZONE, &[ZONE_1])), 3);
    assert_eq!(ways(is_in(ZONE, &[ZONE_3])), 1);
    assert_eq!(ways(is_in(CAPACITY_TYPE, &["spot"])), 2);
    assert_eq!(ways(not_in(CAPACITY_TYPE, &["spot"])), 3);
}

#[test]
fn requirement_that_excludes_everything_waits() {
    for nothing in [
        is_in(ZONE, &["nowhere"]),
        not_in(ZONE, &[ZONE_1, ZONE_2, ZONE_3]),
        above("integer", 16),
        below("integer", 2),
        absent(ZONE),
    ] {
        let outcome = check(market().pod(web().needs(nothing.clone())));
        assert_eq!(outcome.unplaced(), 1, "{nothing}");
    }
}

#[test]
fn custom_key_that_no_pool_defines_is_only_absent() {
    for (requirement, waits) in [
        (is_in("team", &["blue"]), 1),
        (exists("team"), 1),
        (not_in("team", &["blue"]), 0),
        (absent("team"), 0),
    ] {
        let outcome = check(market().pod(web().needs(requirement.clone())));
        assert_eq!(outcome.unplaced(), waits, "{requirement}");
    }
}

#[test]
fn absent_label_is_not_written_on_the_claim() {
    let outcome = check(market().pod(web().needs(absent("team"))));
    let labelled = outcome.agreed(|run| run.plan().claims[0].labels.contains_key("team"));
    assert!(!labelled);
}

#[test]
fn custom_key_that_the_pool_defines_is_compared() {
    for (requirement, waits) in [
        (is_in("team", &["blue"]), 0),
        (is_in("team", &["red"]), 1),
        (not_in("team", &["blue"]), 1),
        (not_in("team", &["red"]), 0),
        (exists("team"), 0),
        (absent("team"), 1),
    ] {
        let blue = bare_market().pool(pool("general").needs(is_in("team", &["blue"])));
        let outcome = check(blue.pod(web().needs(requirement.clone())));
        assert_eq!(outcome.unplaced(), waits, "{requirement}");
    }
}

#[test]
fn pods_whose_choices_meet_share_a_node_and_its_label() {
    let outcome = check(
        bare_market()
            .pool(pool("general").needs(is_in("team", &["blue", "green", "red"])))
            .pod(pod("web").cpu(10).needs(is_in("team", &["blue", "green"])))
            .pod(pod("db").cpu(10).needs(is_in("team", &["green", "red"]))),
    );
    assert!(outcome.together(&["web", "db"]));
    assert_eq!(outcome.domain_names("team", "web"), ["green"]);
}

#[test]
fn pods_whose_choices_do_not_meet_get_two_nodes() {
    let outcome = check(
        bare_market()
            .pool(pool("general").needs(is_in("team", &["blue", "red"])))
            .pod(pod("web").cpu(10).select("team", "blue"))
            .pod(pod("db").cpu(10).select("team", "red")),
    );
    assert!(outcome.apart(&["web", "db"]));
}

#[test]
fn any_value_does_not_widen_a_list_on_the_same_key() {
    let outcome = check(
        bare_market()
            .pool(pool("general").needs(is_in("team", &["blue", "red"])))
            .pod(
                pod("web")
                    .cpu(10)
                    .needs(is_in("team", &["red"]))
                    .needs(exists("team")),
            )
            .pod(pod("db").cpu(10).needs(exists("team"))),
    );
    assert!(outcome.together(&["web", "db"]));
    assert_eq!(outcome.domain_names("team", "db"), ["red"]);
}

#[test]
fn preference_narrows_where_it_can_and_goes_where_it_cannot() {
    for (preferred, zone) in [
        (is_in(ZONE, &[ZONE_2]), Some(ZONE_2)),
        (not_in(ZONE, &[ZONE_1, ZONE_3]), Some(ZONE_2)),
        (is_in(ZONE, &["nowhere"]), None),
    ] {
        let outcome = check(market().pod(web().prefers(1, preferred)));
        assert_eq!(outcome.unplaced(), 0);
        if let Some(zone) = zone {
            assert_eq!(outcome.domain_names(ZONE, "web"), [zone]);
        }
    }
}

#[test]
fn old_names_of_labels_mean_the_new_ones() {
    for (old, value) in [
        ("failure-domain.beta.kubernetes.io/zone", ZONE_2),
        ("beta.kubernetes.io/arch", "amd64"),
        ("beta.kubernetes.io/os", "linux"),
        ("beta.kubernetes.io/instance-type", "small-instance-type"),
    ] {
        let outcome = check(market().pod(web().needs(is_in(old, &[value]))));
        assert_eq!(outcome.unplaced(), 0, "{old}");
        let outcome = check(market().pod(web().needs(is_in(old, &["nothing"]))));
        assert_eq!(outcome.unplaced(), 1, "{old}");
    }
}

#[test]
fn bounds_of_pool_and_pod_meet() {
    let ladder_pool = || {
        cluster()
            .types(ladder(8))
            .pool(pool("general").needs(above("integer", 2)))
    };
    let outcome = check(ladder_pool().pod(web().needs(below("integer", 4))));
    let chosen = outcome.agreed(|run| run.plan().claims[0].options[0].instance_type.to_string());
    assert_eq!(chosen, "fake-it-2");
    assert_eq!(
        check(ladder_pool().pod(web().needs(below("integer", 3)))).unplaced(),
        1
    );
}
