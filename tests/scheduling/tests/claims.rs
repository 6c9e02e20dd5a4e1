//! The claim of a new node.

use plimsoll_base::labels::{INITIALIZED, REGISTERED};
use plimsoll_base::resources::ResourceName;
use plimsoll_model::PackingMode;
use plimsoll_model::plan::PlannedClaim;
use plimsoll_oracles::fixture::*;
use plimsoll_scheduling_tests::{bare_market, check, market};

fn web() -> PodFixture {
    pod("web").cpu(100)
}

/// The only claim of a cluster, under one packing.
fn claim(cluster: ClusterFixture, packing: PackingMode) -> PlannedClaim {
    let outcome = check(cluster);
    let claims = &outcome.under(packing).plan().claims;
    assert_eq!(claims.len(), 1, "one node is bought");
    claims[0].clone()
}

fn both(cluster: &ClusterFixture) -> [PlannedClaim; 2] {
    [PackingMode::Price, PackingMode::Compatible].map(|packing| claim(cluster.clone(), packing))
}

#[test]
fn every_operator_of_a_pool_becomes_a_label_within_it() {
    let general = pool("general")
        .needs(is_in("k2", &["v"]))
        .needs(not_in("k3", &["x"]))
        .needs(below("k4", 4))
        .needs(above("k5", 5))
        .needs(exists("k6"))
        .needs(absent("k7"));
    for claim in both(&bare_market().pool(general).pod(web())) {
        let value = |key: &str| claim.labels.get(key).map(ToString::to_string);
        let number = |key: &str| value(key).and_then(|text| text.parse::<i64>().ok());
        assert_eq!(value("k2").as_deref(), Some("v"));
        assert!(value("k3").is_some_and(|value| value != "x"));
        assert!(number("k4").is_some_and(|number| (0..4).contains(&number)));
        assert!(number("k5").is_some_and(|number| number > 5));
        assert!(value("k6").is_some());
        assert_eq!(value("k7"), None);
    }
}

#[test]
fn known_labels_stay_requirements_and_are_not_copied_as_labels() {
    for claim in both(
        &bare_market()
            .pool(pool("general").zones(&[ZONE_1]))
            .pod(web()),
    ) {
        assert!(!claim.labels.contains_key(ZONE));
        assert!(claim.requirements.get(ZONE).is_some());
        assert!(!claim.labels.contains_key(ARCH));
    }
}

#[test]
fn pool_and_class_are_labels() {
    for claim in both(&market().pod(web())) {
        assert_eq!(
            claim.labels.get(NODEPOOL).map(AsRef::as_ref),
            Some("general")
        );
        assert_eq!(
            claim
                .labels
                .get(claim.class.label_key().as_str())
                .map(AsRef::as_ref),
            Some(claim.class.name.as_ref())
        );
    }
}

#[test]
fn stages_of_a_node_and_its_name_are_no_part_of_the_claim() {
    let daemon = pod("agent")
        .cpu(10)
        .select(INITIALIZED, "true")
        .select(REGISTERED, "true");
    for claim in both(&market().daemon(&daemon).pod(web().anti_affinity(HOSTNAME))) {
        for key in [REGISTERED, INITIALIZED, HOSTNAME] {
            assert!(claim.requirements.get(key).is_none(), "{key}");
            assert!(!claim.labels.contains_key(key), "{key}");
        }
        assert_eq!(
            claim.requests.get(&ResourceName::Cpu),
            110,
            "the daemon is counted"
        );
    }
}

#[test]
fn requirements_name_the_types_terms_and_zones_that_may_be_bought() {
    for claim in both(&market().pod(web().select(ZONE, ZONE_3))) {
        let listed = |key: &str| {
            let own = claim
                .requirements
                .get(key)
                .and_then(|own| own.listed().cloned());
            own.into_iter()
                .flatten()
                .map(|value| value.to_string())
                .collect::<Vec<_>>()
        };
        let mut types: Vec<String> = claim
            .options
            .iter()
            .map(|option| option.instance_type.to_string())
            .collect();
        types.sort_unstable();
        types.dedup();
        assert_eq!(listed(INSTANCE_TYPE), types);
        assert_eq!(
            listed(CAPACITY_TYPE),
            ["on-demand"],
            "the third zone has no spot"
        );
        assert_eq!(listed(ZONE), [ZONE_3]);
    }
}

#[test]
fn pods_narrow_the_claim_by_architecture_system_and_resources() {
    let arm = claim(
        market().pod(web().select(ARCH, "arm64")),
        PackingMode::Compatible,
    );
    assert_eq!(
        arm.requirements
            .get(ARCH)
            .and_then(|own| own.single())
            .map(AsRef::as_ref),
        Some("arm64")
    );
    let windows = claim(
        market().pod(web().select(OS, "windows")),
        PackingMode::Compatible,
    );
    assert_eq!(
        windows
            .requirements
            .get(OS)
            .and_then(|own| own.single())
            .map(AsRef::as_ref),
        Some("windows")
    );
    let device = claim(
        market().pod(web().device("fake.com/vendor-a", 1)),
        PackingMode::Compatible,
    );
    let types = device
        .requirements
        .get(INSTANCE_TYPE)
        .and_then(|own| own.single());
    assert_eq!(types.map(AsRef::as_ref), Some("gpu-vendor-instance-type"));
}

#[test]
fn first_fit_names_every_type_that_holds_the_pods() {
    let claim = claim(
        market().pod(web().select(ARCH, "amd64")),
        PackingMode::Compatible,
    );
    let names: std::collections::BTreeSet<_> = claim
        .options
        .iter()
        .map(|option| option.instance_type.to_string())
        .collect();
    assert_eq!(names.len(), 5);
}

#[test]
fn price_packing_names_types_near_the_planned_price() {
    let unguarded = market().settings(|settings| settings.guards.enabled = false);
    let claim = claim(
        unguarded.pod(web().select(ARCH, "amd64")),
        PackingMode::Price,
    );
    let planned = claim.options[0].price.nanos();
    assert!(
        claim
            .options
            .iter()
            .all(|option| option.price.nanos() * 100 <= planned * 115)
    );
}

#[test]
fn requests_are_those_of_pods_and_count_them() {
    for claim in both(&market().pods(pod("web").cpu(100).memory_mib(50).replicas(3))) {
        assert_eq!(claim.requests.get(&ResourceName::Cpu), 300);
        assert_eq!(claim.requests.get(&ResourceName::Memory), 150 * MEBIBYTE);
        assert_eq!(claim.requests.get(&ResourceName::Pods), 3);
    }
}

#[test]
fn ends_of_life_come_from_the_pool() {
    use plimsoll_base::time::Span;
    let general = pool("general").with(|pool| {
        pool.expire_after = Some(Span::from_secs(3600));
        pool.termination_grace = Some(Span::from_secs(60));
    });
    for claim in both(&bare_market().pool(general).pod(web())) {
        assert_eq!(claim.expire_after, Some(Span::from_secs(3600)));
        assert_eq!(claim.termination_grace, Some(Span::from_secs(60)));
    }
    for claim in both(&market().pod(web())) {
        assert_eq!((claim.expire_after, claim.termination_grace), (None, None));
    }
}

#[test]
fn custom_requirement_of_a_pod_becomes_a_label_of_its_node() {
    let general = pool("general").needs(is_in("team", &["blue", "red"]));
    for claim in both(
        &bare_market()
            .pool(general)
            .pod(web().needs(not_in("team", &["blue"]))),
    ) {
        assert_eq!(claim.labels.get("team").map(AsRef::as_ref), Some("red"));
    }
}

#[test]
fn annotation_that_minimum_values_were_lowered_says_no() {
    for claim in both(&market().pod(web())) {
        let mark = claim
            .annotations
            .get("karpenter.sh/nodeclaim-min-values-relaxed");
        assert_eq!(mark.map(AsRef::as_ref), Some("false"));
    }
}

/// K02: whatever a pod asks of its node, the claim allows nothing else.
#[test]
fn claim_is_no_wider_than_what_its_pods_ask() {
    let asked = [
        is_in(ZONE, &[ZONE_1, ZONE_2]),
        not_in(ZONE, &[ZONE_3]),
        is_in(CAPACITY_TYPE, &["on-demand"]),
        is_in(ARCH, &["amd64"]),
        is_in(OS, &["linux"]),
        above("integer", 3),
    ];
    for requirement in asked {
        for claim in both(&market().pod(web().needs(requirement.clone()))) {
            let own = claim
                .requirements
                .get(requirement.key().as_str())
                .expect("the key is narrowed");
            assert_eq!(
                &own.intersect(&requirement).with_min_values(None),
                own,
                "{requirement}"
            );
        }
    }
}
