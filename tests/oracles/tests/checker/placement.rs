//! One pod on one place: taints, labels, room, ports, volumes.

use plimsoll_base::resources::{ResourceName, Resources};
use plimsoll_check::Rule;
use plimsoll_model::plan::{Note, Refusal};
use plimsoll_model::snapshot::Snapshot;
use plimsoll_model::{ClaimPhase, OwnerKind, PackingMode};
use plimsoll_oracles::fixture::*;

use crate::{breaks, only_in_zone_1, passes};

/// Putting `web` onto `n1` breaks these rules.
#[track_caller]
fn on_n1(cluster: ClusterFixture, rules: &[Rule]) {
    let snapshot = cluster.snapshot();
    breaks(&snapshot, &plan(&snapshot).on("web", "n1").build(), rules);
}

#[test]
fn taints_are_tolerated() {
    let tainted = || cluster().node(node("n1").taint("dedicated", "db", NoSchedule));
    on_n1(tainted().pod(pod("web")), &[Rule::Taints]);
    on_n1(
        tainted().pod(pod("web").tolerates("dedicated", "db", NoSchedule)),
        &[],
    );
    on_n1(
        tainted().pod(pod("web").tolerates("dedicated", "web", NoSchedule)),
        &[Rule::Taints],
    );
    let soft = cluster().node(node("n1").taint("dedicated", "db", PreferNoSchedule));
    on_n1(soft.pod(pod("web")), &[]);
}

#[test]
fn taints_of_our_settling_node_are_hidden_until_it_has_initialised() {
    let settling = |phase| {
        cluster().pool(pool("general")).pod(pod("web")).node(
            node("n1")
                .managed("general")
                .of_type("x")
                .phase(phase)
                .taint("node.kubernetes.io/not-ready", "", NoExecute)
                .startup_taint("agent", "", NoSchedule),
        )
    };
    on_n1(settling(ClaimPhase::Registered), &[]);
    on_n1(settling(ClaimPhase::Initialized), &[Rule::Taints]);
}

#[test]
fn an_existing_node_has_the_labels_it_has() {
    let there = || cluster().node(node("n1").zone(ZONE_1));
    on_n1(there().pod(pod("web").select(ZONE, ZONE_1)), &[]);
    on_n1(
        there().pod(pod("web").select(ZONE, ZONE_2)),
        &[Rule::NodeLabels],
    );
    on_n1(
        there().pod(pod("web").needs(is_in(INSTANCE_TYPE, &["m"]))),
        &[Rule::NodeLabels],
    );
    on_n1(there().pod(pod("web").needs(not_in("team", &["a"]))), &[]);
    let either = pod("web")
        .needs(is_in(ZONE, &[ZONE_2]))
        .or_needs(is_in(ZONE, &[ZONE_1]));
    on_n1(there().pod(either), &[]);
}

#[test]
fn pods_and_daemons_to_come_fit_into_what_is_left() {
    let full = |cpu| {
        cluster()
            .node(node("n1").cpu(2000))
            .pod(pod("db").cpu(1000).on("n1"))
            .daemon(&pod("log").cpu(300))
            .pod(pod("web").cpu(cpu))
    };
    on_n1(full(700), &[]);
    on_n1(full(701), &[Rule::Room]);
    let there = |cpu| {
        full(cpu).pod(
            pod("log-1")
                .cpu(300)
                .on("n1")
                .owned_by(OwnerKind::DaemonSet, "log"),
        )
    };
    on_n1(there(700), &[]);
    on_n1(there(701), &[Rule::Room]);
}

#[test]
fn an_overcommitted_node_takes_nothing() {
    let over = cluster()
        .node(node("n1").memory_mib(100))
        .pod(pod("db").memory_mib(101).on("n1"))
        .pod(pod("web"));
    on_n1(over, &[Rule::Room]);
}

#[test]
fn the_pod_that_is_one_too_many_is_named() {
    let snapshot = cluster()
        .node(node("n1").pods(2))
        .pods(pod("web").replicas(3))
        .snapshot();
    let plan = plan(&snapshot)
        .on("web-0", "n1")
        .on("web-2", "n1")
        .on("web-1", "n1")
        .build();
    let findings = plimsoll_check::check(&snapshot, &plan);
    let shown: Vec<String> = findings.iter().map(ToString::to_string).collect();
    assert_eq!(
        shown,
        [
            "pod default/web-1 on node n1: room: 3 of pods asked, 2 there after daemons; expected room for everything planned"
        ]
    );
}

#[test]
fn host_ports_are_taken_once() {
    let both = |a: PodFixture, b: PodFixture| {
        let snapshot = cluster().node(node("n1")).pod(a.on("n1")).pod(b).snapshot();
        let plan = plan(&snapshot).on("b", "n1").build();
        (snapshot, plan)
    };
    let (snapshot, plan) = both(pod("a").port(80), pod("b").port(80));
    breaks(&snapshot, &plan, &[Rule::HostPorts]);
    let (snapshot, plan) = both(pod("a").port(80), pod("b").port(81));
    passes(&snapshot, &plan);
}

#[test]
fn daemons_take_ports_of_new_nodes() {
    let snapshot = cluster()
        .types(ladder(1))
        .pool(pool("general"))
        .daemon(&pod("log").port(80))
        .pod(pod("web").port(80))
        .snapshot();
    let one_pod = Resources::new().with(ResourceName::Pods, 1);
    let plan = plan(&snapshot).buy("general", &[("fake-it-0", ZONE_1, OnDemand)]);
    let plan = plan.daemons(&one_pod).put("web").build();
    breaks(&snapshot, &plan, &[Rule::HostPorts]);
}

fn with_volumes(count: usize, shared: bool) -> Snapshot {
    let mut world = cluster().node(node("n1").attaches("ebs", 2));
    for at in 0..count {
        let claim = if shared {
            "data".to_owned()
        } else {
            format!("data-{at}")
        };
        world = world.bound_volume(&claim, "ebs", &[]);
        world = world.pod(pod(&format!("web-{at}")).volume(&claim));
    }
    world.snapshot()
}

#[test]
fn a_driver_attaches_so_many_volumes_and_shared_ones_count_once() {
    let on_n1 = |snapshot: &Snapshot| {
        plan(snapshot)
            .on("web-0", "n1")
            .on("web-1", "n1")
            .on("web-2", "n1")
            .build()
    };
    let own = with_volumes(3, false);
    breaks(&own, &on_n1(&own), &[Rule::VolumeLimit]);
    let shared = with_volumes(3, true);
    passes(&shared, &on_n1(&shared));
}

#[test]
fn a_claim_for_one_pod_has_one() {
    let world = || {
        let world = cluster().node(node("n1")).bound_volume("data", "ebs", &[]);
        world.with_volumes(|volumes| {
            let claims = volumes.claims.values_mut();
            claims.for_each(|claim| claim.single_pod = true);
        })
    };
    let waiting = world()
        .pod(pod("a").volume("data"))
        .pod(pod("b").volume("data"));
    let waiting = waiting.snapshot();
    let both = plan(&waiting).on("a", "n1").on("b", "n1").build();
    breaks(&waiting, &both, &[Rule::OnePodVolume]);
    let told = Refusal::Invalid("a comes first".into());
    passes(
        &waiting,
        &plan(&waiting).on("a", "n1").waits("b", told).build(),
    );
    let used = world().pod(pod("a").volume("data").on("n1"));
    let used = used.pod(pod("b").volume("data")).snapshot();
    breaks(&used, &plan(&used).on("b", "n1").build(), &[Rule::Entry]);
}

#[test]
fn a_machine_to_buy_attaches_what_its_type_does_in_every_way_it_names() {
    let world = |packing: PackingMode, held: bool| {
        let mut world = cluster()
            .pool(pool("general").packing(packing))
            .sells(instance_type("one").attaches("ebs", 1))
            .sells(instance_type("two").attaches("ebs", 2))
            .settings(move |settings| settings.guards.attach_slots = held);
        for at in 0..2 {
            let claim = format!("data-{at}");
            world = world.bound_volume(&claim, "ebs", &[]);
            world = world.pod(pod(&format!("web-{at}")).volume(&claim));
        }
        world.snapshot()
    };
    let both_on = |snapshot: &Snapshot, types: &[&str]| {
        let options: Vec<_> = types.iter().map(|name| (*name, ZONE_1, OnDemand)).collect();
        let plan = plan(snapshot).buy("general", &options);
        plan.put("web-0").put("web-1").build()
    };
    let priced = world(PackingMode::Price, true);
    passes(&priced, &both_on(&priced, &["two"]));
    breaks(
        &priced,
        &both_on(&priced, &["two", "one"]),
        &[Rule::AttachSlots],
    );
    let mut said = both_on(&priced, &["one"]);
    said.notes.push(Note::of_pool(
        "general".into(),
        "guard on volumes per node yields for 1 volume(s)".to_owned(),
    ));
    breaks(&priced, &said, &[Rule::AttachSlots]);
    for lenient in [
        world(PackingMode::Price, false),
        world(PackingMode::Compatible, true),
    ] {
        passes(&lenient, &both_on(&lenient, &["one"]));
    }
}

#[test]
fn volumes_can_be_reached_from_where_their_pod_goes() {
    let zonal = |zone| {
        cluster()
            .node(node("n1").zone(zone))
            .bound_volume("data", "ebs", &[ZONE_1])
            .pod(pod("web").volume("data"))
    };
    on_n1(zonal(ZONE_1), &[]);
    on_n1(zonal(ZONE_2), &[Rule::VolumeTopology]);
}

#[test]
fn a_claim_that_names_two_zones_cannot_serve_a_volume_of_one() {
    let snapshot = cluster()
        .types(ladder(1))
        .pool(pool("general"))
        .storage_class("fast", "ebs", &[ZONE_1])
        .unbound_claim("data", "fast")
        .pod(pod("web").volume("data"))
        .snapshot();
    only_in_zone_1(&snapshot, "fake-it-0", Rule::VolumeTopology);
}

#[test]
fn a_claim_on_its_way_counts_as_the_least_that_it_names() {
    let coming = |cpu| {
        let general = pool("general").only_types(&["fake-it-1", "fake-it-3"]);
        let claim = node("n1").managed("general").phase(ClaimPhase::Created);
        let snapshot = cluster()
            .types(ladder(4))
            .pool(general.clone())
            .node(claim)
            .pod(pod("web").cpu(cpu))
            .snapshot();
        let narrowed = general.build();
        let mut snapshot = snapshot;
        for node in &mut snapshot.nodes {
            if let Some(claim) = &node.claim {
                let mut claim = claim.as_ref().clone();
                claim.requirements = narrowed.requirements.iter().cloned().collect();
                node.claim = Some(std::sync::Arc::new(claim));
            }
        }
        snapshot
    };
    let small = coming(1900);
    passes(&small, &plan(&small).on("web", "n1").build());
    let large = coming(1901);
    breaks(&large, &plan(&large).on("web", "n1").build(), &[Rule::Room]);
}

#[test]
fn a_node_that_goes_takes_nothing() {
    on_n1(
        cluster().node(node("n1").deleting()).pod(pod("web")),
        &[Rule::NodeGoing],
    );
    let snapshot = cluster()
        .node(node("n1").deleting())
        .pod(pod("web"))
        .snapshot();
    let nowhere = Refusal::Unschedulable(Vec::new());
    passes(&snapshot, &plan(&snapshot).waits("web", nowhere).build());
}
