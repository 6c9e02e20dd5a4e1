//! Extended resources: instances that have them, and those that dynamic resource allocation meets, for which nothing is bought and the pod is
//! told so.

use plimsoll_base::resources::ResourceName;
use plimsoll_model::plan::Refusal;
use plimsoll_oracles::fixture::*;
use plimsoll_schedule::plan;
use plimsoll_scheduling_tests::{Outcome, check, market};

use crate::guards::{family, names, on_demand, shop};

const FPGA: &str = "example.com/fpga";

fn asking(resource: &str) -> PodFixture {
    pod("web").cpu(100).amount(ResourceName::from(resource), 1)
}

fn is_told_so(outcome: &Outcome) -> bool {
    outcome.agreed(|run| {
        let reasons: Vec<&Refusal> = run.plan().unplaced.iter().map(|own| &own.reason).collect();
        reasons == [&Refusal::DynamicResources]
    })
}

#[test]
fn resource_that_a_device_class_alone_offers_is_not_planned() {
    let cluster = || {
        market()
            .node(node("n1"))
            .device_class("fpga.example.com", FPGA)
    };
    let outcome = check(cluster().pod(asking(FPGA)).pod(pod("plain").cpu(100)));
    assert_eq!(
        (outcome.waiting(), outcome.bought()),
        (vec!["web".to_owned()], 0)
    );
    assert!(is_told_so(&outcome));
    let implicit = "deviceclass.resource.kubernetes.io/fpga.example.com";
    assert!(is_told_so(&check(cluster().pod(asking(implicit)))));
    assert!(!is_told_so(&check(
        cluster().pod(asking("example.com/other"))
    )));
}

#[test]
fn resource_that_a_type_or_a_node_has_is_planned_whatever_classes_offer() {
    let fpga = ResourceName::from(FPGA);
    let sold = instance_type("fpga-1")
        .amount(fpga.clone(), 1)
        .offered(ZONE_1, OnDemand);
    let cluster = || market().device_class("fpga.example.com", FPGA);
    assert_eq!(check(cluster().sells(sold).pod(asking(FPGA))).bought(), 1);
    let cluster = cluster().node(node("n1").amount(fpga, 1));
    let outcome = check(cluster.pod(asking(FPGA)));
    assert_eq!(outcome.place("web").as_deref(), Some("n1"));
}

#[test]
fn node_of_a_pod_whose_device_was_allocated_takes_others() {
    let cluster = market()
        .node(node("n1"))
        .device_class("fpga.example.com", FPGA);
    let outcome = check(
        cluster
            .pod(asking(FPGA).on("n1"))
            .pod(pod("plain").cpu(100)),
    );
    assert_eq!(outcome.place("plain").as_deref(), Some("n1"));
}

#[test]
fn bare_metal_is_bought_unasked_for_its_accelerators_alone() {
    const SIZE: &str = "karpenter.k8s.aws/instance-size";
    const GPU: &str = "nvidia.com/gpu";
    let accelerated = |name: &str, size: &str, dollars: f64| {
        let plain = family(name, 96, dollars).describes(is_in(SIZE, &[size]));
        plain.device(GPU, 8)
    };
    let metal = family("m7i.metal", 16, 0.6).describes(is_in(SIZE, &["metal"]));
    let world = || {
        let world = shop().sells(metal.clone());
        let world = world.sells(accelerated("g4dn.metal", "metal", 7.8));
        let world = world.sells(accelerated("g6.48xlarge", "48xlarge", 13.4));
        world.pool(on_demand())
    };
    let train = world().pods([pod("train").cpu(8000).device(GPU, 8)]);
    assert_eq!(names(&plan(&train.snapshot())), ["g4dn.metal"]);
    // Cores beside accelerators come cheapest on the large one, which no guard on sizes keeps back.
    let single = family("g4dn.4xlarge", 16, 1.2).device(GPU, 1);
    let many = pod("train").cpu(11_000).device(GPU, 1).replicas(8);
    let shared = world().sells(single).pods(many);
    assert_eq!(names(&plan(&shared.snapshot())), ["g4dn.metal"]);
    let large = world().pods([pod("web").cpu(16_000).memory_mib(4096)]);
    assert_eq!(names(&plan(&large.snapshot())), ["m7i.4xlarge"]);
}
