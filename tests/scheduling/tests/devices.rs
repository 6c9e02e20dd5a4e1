//! Extended resources that dynamic resource allocation meets: nothing is bought for them, and the pod is told so.

use plimsoll_core::plan::Refusal;
use plimsoll_core::resources::ResourceName;
use plimsoll_oracles::fixture::*;
use plimsoll_scheduling_tests::{Outcome, check, market};

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
