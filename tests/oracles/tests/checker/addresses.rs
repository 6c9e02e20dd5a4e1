//! Addresses that new nodes of a zone take together.

use plimsoll_base::resources::ResourceName;
use plimsoll_check::Rule;
use plimsoll_model::plan::{Note, Plan};
use plimsoll_model::snapshot::Snapshot;
use plimsoll_model::{ClaimPhase, PackingMode};
use plimsoll_oracles::fixture::*;

use crate::{breaks, passes};

/// Two pods, one of them on the network of its host, and a zone with so many addresses.
fn world(free: u32, packing: PackingMode) -> ClusterFixture {
    let on_host = pod("agent").with_spec(|spec| spec.host_network = true);
    cluster()
        .pool(pool("general").packing(packing))
        .sells(instance_type("one").zones(&[ZONE_1]))
        .addresses(ZONE_1, free)
        .pods([pod("web"), on_host])
}

/// A node for each pod.
fn apart(snapshot: &Snapshot) -> Plan {
    let way = [("one", ZONE_1, OnDemand)];
    let web = plan(snapshot).buy("general", &way).put("web");
    web.buy("general", &way).put("agent").build()
}

#[test]
fn nodes_and_pods_with_an_address_of_their_own_count() {
    let enough = world(3, PackingMode::Price).snapshot();
    passes(&enough, &apart(&enough));
    let short = world(2, PackingMode::Price).snapshot();
    breaks(&short, &apart(&short), &[Rule::FreeAddresses]);
    let mut said = apart(&short);
    said.notes.push(Note::of_pool(
        "general".into(),
        "guard on free subnet addresses yields for 1 address(es)".to_owned(),
    ));
    passes(&short, &said);
}

#[test]
fn lifted_guards_and_compatible_packing_count_nothing() {
    let compatible = world(0, PackingMode::Compatible).snapshot();
    passes(&compatible, &apart(&compatible));
    let lifted = world(0, PackingMode::Price);
    let lifted = lifted.settings(|settings| settings.guards.free_addresses = false);
    let lifted = lifted.snapshot();
    passes(&lifted, &apart(&lifted));
}

#[test]
fn machines_on_their_way_count_before_new_ones() {
    let coming = |phase: ClaimPhase| {
        let coming = node("coming")
            .of_type("one")
            .managed("general")
            .phase(phase);
        let coming = coming.zone(ZONE_1).taint("kept", "", NoSchedule);
        let world = world(7, PackingMode::Price).node(coming);
        let world = world.with_claims(|claim| claim.requests.set(ResourceName::Pods, 4));
        world.snapshot()
    };
    let there = coming(ClaimPhase::Registered);
    passes(&there, &apart(&there));
    let launched = coming(ClaimPhase::Launched);
    breaks(&launched, &apart(&launched), &[Rule::FreeAddresses]);
}

#[test]
fn daemons_count_unless_they_are_on_the_network_of_their_host() {
    let with = |on_host: bool| {
        let daemon = pod("logs").with_spec(|spec| spec.host_network = on_host);
        world(4, PackingMode::Price).daemon(&daemon).snapshot()
    };
    let planned = |snapshot: &Snapshot| {
        let way = [("one", ZONE_1, OnDemand)];
        let daemon = &snapshot.daemon_sets[0].pod.requests;
        let web = plan(snapshot)
            .buy("general", &way)
            .put("web")
            .daemons(daemon);
        web.buy("general", &way)
            .put("agent")
            .daemons(daemon)
            .build()
    };
    let on_host = with(true);
    passes(&on_host, &planned(&on_host));
    let own = with(false);
    breaks(&own, &planned(&own), &[Rule::FreeAddresses]);
}
