//! Another cloud than EC2: a provider with other facts is served by the same decisions, and facts of EC2 mean nothing there.

use std::collections::BTreeSet;

use plimsoll_base::labels::LabelKey;
use plimsoll_base::resources::ResourceName;
use plimsoll_model::catalogue::OverlayRefusal;
use plimsoll_model::plan::Refusal;
use plimsoll_model::provider::{MarkedValues, ProviderFacts, TypeMark};
use plimsoll_oracles::fixture::*;
use plimsoll_schedule::{plan, prepare};
use plimsoll_scheduling_tests::check;

const FAMILY: &str = "karpenter.example.cloud/machine-family";
const CPU: &str = "karpenter.example.cloud/machine-cpu";
const RESERVATION: &str = "karpenter.example.cloud/reservation";
const CLASS: &str = "karpenter.example.cloud/machineclass";
const TPU: &str = "example.cloud/tpu";
/// Labels of EC2's instances.
const EC2_RESERVATION: &str = "karpenter.k8s.aws/capacity-reservation-id";
const EC2_FAMILY: &str = "karpenter.k8s.aws/instance-family";

/// A cloud whose burstable instances are those of family `e2`.
fn facts() -> ProviderFacts {
    let keys = |keys: &[&str]| -> BTreeSet<LabelKey> {
        keys.iter().map(|key| LabelKey::from(*key)).collect()
    };
    let resources = || BTreeSet::from([ResourceName::from(TPU)]);
    ProviderFacts {
        name: "example".into(),
        domains: vec!["karpenter.example.cloud".into()],
        well_known: keys(&[FAMILY, CPU, RESERVATION]),
        of_offerings: BTreeSet::new(),
        classes: BTreeSet::new(),
        of_classes: keys(&[CLASS]),
        reservation_id: Some(LabelKey::from(RESERVATION)),
        family: Some(LabelKey::from(FAMILY)),
        naming: keys(&[FAMILY]),
        exotic: vec![TypeMark {
            key: LabelKey::from(FAMILY),
            values: MarkedValues::OneOf(BTreeSet::from(["e2".into()])),
            but_accelerated: false,
        }],
        reported: resources(),
        accelerators: resources(),
        ..ProviderFacts::default()
    }
}

/// A type of a family, with 2 cores; on demand in one zone.
fn machine(name: &str, key: &str, family: &str, dollars: f64) -> TypeFixture {
    instance_type(name)
        .cpu(2000)
        .describes(is_in(key, &[family]))
        .price(dollars)
        .offered(ZONE_1, OnDemand)
}

/// A burstable instance, an instance that is called and labelled as a burstable one of EC2, and one that is neither, by rising price.
fn shop() -> ClusterFixture {
    cluster()
        .provider(facts())
        .sells(machine("e2-standard-2", FAMILY, "e2", 0.05))
        .sells(machine("t3.large", EC2_FAMILY, "t3", 0.06))
        .sells(machine("n4-standard-2", FAMILY, "n4", 0.07))
        .pool(pool("general").capacity_types(&[OnDemand]))
}

fn web() -> PodFixture {
    pod("web").cpu(1000)
}

fn bought(cluster: ClusterFixture) -> Vec<String> {
    let claims = plan(&cluster.snapshot()).claims;
    let chosen = claims.iter().filter_map(|claim| claim.chosen());
    chosen
        .map(|option| option.instance_type.to_string())
        .collect()
}

#[test]
fn burstable_machines_are_those_that_the_provider_marks() {
    assert_eq!(bought(shop().pod(web())), ["t3.large"]);
    let named = web().needs(is_in(FAMILY, &["e2"]));
    assert_eq!(bought(shop().pod(named)), ["e2-standard-2"]);
}

#[test]
fn labels_are_well_known_or_reserved_as_the_provider_says() {
    let invalid = |key: &str| {
        let outcome = check(shop().pod(web().needs(is_in(key, &["x"]))));
        outcome.agreed(|run| {
            let mut waiting = run.plan().unplaced.iter();
            waiting.any(|waiting| matches!(waiting.reason, Refusal::Invalid(_)))
        })
    };
    assert!(!invalid(CPU));
    assert!(invalid("karpenter.example.cloud/mine"));
    assert!(!invalid("karpenter.k8s.aws/mine"));
}

#[test]
fn claim_of_a_reservation_names_it_by_the_label_of_the_provider() {
    let reserved = machine("n4-standard-4", FAMILY, "n4", 0.01).reserved(ZONE_1, "r-1", 1);
    let cluster = cluster().provider(facts()).sells(reserved);
    let outcome = check(cluster.pool(pool("general")).pod(web()));
    let requirement = outcome.agreed(|run| {
        let requirements = &run.plan().claims[0].requirements;
        let single = requirements.get(RESERVATION)?.single()?;
        let of_ec2 = requirements.get(EC2_RESERVATION).is_some();
        Some((single.to_string(), of_ec2))
    });
    assert_eq!(requirement, Some(("r-1".to_owned(), false)));
}

#[test]
fn overlays_may_ask_for_classes_and_add_what_the_provider_does_not_report() {
    let refused = |overlay: OverlayFixture| {
        let overlaid = shop().overlay(overlay).snapshot().overlaid();
        let first = overlaid.refused().first();
        first.map(|(_, refusal)| match refusal {
            OverlayRefusal::Invalid(words) => words.clone(),
            OverlayRefusal::Conflict { .. } => "conflict".to_owned(),
        })
    };
    let asks = |key: &str| overlay("one").needs(is_in(key, &["default"])).price(1.0);
    let adds = |name: &str| overlay("one").adds(name, 1);
    assert_eq!(refused(asks(CLASS)), None);
    assert_eq!(refused(adds("aws.amazon.com/neuron")), None);
    let words = refused(asks("karpenter.example.cloud/otherclass"));
    assert!(words.is_some_and(|words| words.contains("reserved domain karpenter.example.cloud")));
    let words = refused(adds(TPU));
    assert!(words.is_some_and(|words| words.contains("reported by the provider")));
}

#[test]
fn policies_are_told_the_families_and_accelerators_of_the_provider() {
    let with_tpu = machine("n4-tpu-2", FAMILY, "n4", 0.09).amount(ResourceName::from(TPU), 4);
    let snapshot = shop().sells(with_tpu).pod(web()).snapshot();
    let prepared = prepare(&snapshot);
    let question = prepared.question().expect("there is something to price");
    let tables = &question.tables.catalogue;
    let families: BTreeSet<&str> = tables
        .t_family
        .iter()
        .filter_map(|family| question.tables.symbols.get(*family))
        .collect();
    assert_eq!(families, BTreeSet::from(["e2", "n4", "t3"]));
    assert_eq!(tables.t_gpus.iter().sum::<u32>(), 4);
}
