//! Pods that may be placed, how often, and what may be said of those that are not.

use plimsoll_base::ids::ObjectName;
use plimsoll_base::time::Timestamp;
use plimsoll_check::Rule;
use plimsoll_model::plan::{Placement, Refusal, Target};
use plimsoll_model::snapshot::Snapshot;
use plimsoll_model::{
    DisruptionLimit, LabelSelector, OwnerKind, Pod, PodDisruptionBudget, PodPhase,
};
use plimsoll_oracles::fixture::*;

use crate::{breaks, passes, remarks};

fn nowhere() -> Refusal {
    Refusal::Unschedulable(Vec::new())
}

#[test]
fn only_pods_that_wait_are_placed() {
    let snapshot = cluster()
        .node(node("n1"))
        .pod(pod("waits"))
        .pod(pod("runs").on("n1"))
        .pod(pod("fresh").with(|pod| pod.unschedulable = false))
        .pod(pod("daemon").owned_by(OwnerKind::DaemonSet, "d"))
        .pod(pod("mirror").owned_by(OwnerKind::Node, "n1"))
        .pod(pod("promised").nominated("n1"))
        .snapshot();
    passes(&snapshot, &plan(&snapshot).on("waits", "n1").build());
    for name in ["runs", "fresh", "daemon", "mirror", "promised"] {
        let plan = plan(&snapshot).on("waits", "n1").on(name, "n1").build();
        breaks(&snapshot, &plan, &[Rule::Entry]);
    }
}

#[test]
fn a_promise_of_a_node_that_is_gone_or_going_does_not_hold() {
    let snapshot = cluster()
        .node(node("n1"))
        .node(node("old").deleting())
        .pod(pod("a").nominated("gone"))
        .pod(pod("b").nominated("old"))
        .snapshot();
    passes(
        &snapshot,
        &plan(&snapshot).on("a", "n1").on("b", "n1").build(),
    );
}

#[test]
fn a_pod_is_mentioned_once_and_none_is_forgotten() {
    let snapshot = cluster().node(node("n1")).pod(pod("web")).snapshot();
    breaks(&snapshot, &plan(&snapshot).build(), &[Rule::Complete]);
    let twice = plan(&snapshot).on("web", "n1").on("web", "n1").build();
    breaks(&snapshot, &twice, &[Rule::Once]);
}

#[test]
fn rows_that_do_not_exist_are_said_and_nothing_panics() {
    let snapshot = cluster().node(node("n1")).pod(pod("web")).snapshot();
    for (pod, target) in [
        (7, Target::Existing(0)),
        (0, Target::Existing(9)),
        (0, Target::New(0)),
        (0, Target::New(usize::MAX)),
    ] {
        let mut plan = plan(&snapshot).build();
        plan.placements.push(Placement {
            pod,
            target,
            relaxed: 0,
        });
        breaks(&snapshot, &plan, &[Rule::Rows, Rule::Complete]);
    }
}

#[test]
fn pods_leave_nodes_that_go_unless_something_holds_them() {
    let world = || {
        cluster()
            .node(node("old").deleting())
            .node(node("n1"))
            .pod(pod("web").on("old"))
    };
    let snapshot = world().snapshot();
    passes(&snapshot, &plan(&snapshot).on("web", "n1").build());
    breaks(&snapshot, &plan(&snapshot).build(), &[Rule::Complete]);

    let budget = PodDisruptionBudget {
        name: ObjectName::new("default", "web"),
        selector: LabelSelector::match_labels(&labels(&[("app", "web")])),
        limit: DisruptionLimit::MaxUnavailable(0),
        always_allow_unhealthy: false,
        disruptions_allowed: 0,
        is_met: false,
    };
    let held = world().disruption_budget(budget).snapshot();
    passes(&held, &plan(&held).build());
    breaks(&held, &plan(&held).on("web", "n1").build(), &[Rule::Entry]);
}

#[test]
fn a_budget_holds_no_pod_that_has_not_begun_to_run_nor_an_unready_one_while_it_is_met() {
    let world = |change: fn(&mut Pod), is_met| {
        let budget = PodDisruptionBudget {
            name: ObjectName::new("default", "web"),
            selector: LabelSelector::match_labels(&labels(&[("app", "web")])),
            limit: DisruptionLimit::Unset,
            always_allow_unhealthy: false,
            disruptions_allowed: 0,
            is_met,
        };
        let pods = cluster()
            .node(node("old").deleting())
            .node(node("n1"))
            .pod(pod("web").on("old").with(change));
        pods.disruption_budget(budget).snapshot()
    };
    let goes = |snapshot: Snapshot| {
        passes(&snapshot, &plan(&snapshot).on("web", "n1").build());
        breaks(&snapshot, &plan(&snapshot).build(), &[Rule::Complete]);
    };
    goes(world(|pod| pod.phase = PodPhase::Pending, false));
    goes(world(|pod| pod.ready = Some(false), true));
    for held in [
        world(|pod| pod.ready = Some(false), false),
        world(|_| {}, true),
    ] {
        passes(&held, &plan(&held).build());
        breaks(&held, &plan(&held).on("web", "n1").build(), &[Rule::Entry]);
    }
}

#[test]
fn a_terminating_pod_leaves_only_for_a_stateful_set() {
    let going = |kind| {
        cluster()
            .node(node("old").deleting())
            .node(node("n1"))
            .pod(
                pod("web")
                    .on("old")
                    .owned_by(kind, "web")
                    .with(|pod| pod.deleting = Some(Timestamp::from_millis(5))),
            )
            .snapshot()
    };
    let stateful = going(OwnerKind::StatefulSet);
    passes(&stateful, &plan(&stateful).on("web", "n1").build());
    let replica = going(OwnerKind::ReplicaSet);
    passes(&replica, &plan(&replica).build());
}

#[test]
fn what_is_not_valid_is_listed_as_such() {
    let snapshot = cluster()
        .node(node("n1"))
        .pod(pod("restricted").select(HOSTNAME, "n1"))
        .snapshot();
    let listed = plan(&snapshot).waits("restricted", Refusal::Invalid("hostname".into()));
    passes(&snapshot, &listed.build());
    let placed = plan(&snapshot).on("restricted", "n1").build();
    breaks(&snapshot, &placed, &[Rule::Entry]);
    let lied = plan(&snapshot).waits("restricted", nowhere()).build();
    breaks(&snapshot, &lied, &[Rule::Reason]);
}

#[test]
fn devices_by_allocation_are_refused_by_that_name() {
    let snapshot = cluster()
        .node(node("n1"))
        .pod(pod("gpu").dynamic_resources())
        .snapshot();
    let listed = plan(&snapshot)
        .waits("gpu", Refusal::DynamicResources)
        .build();
    passes(&snapshot, &listed);
    breaks(
        &snapshot,
        &plan(&snapshot).on("gpu", "n1").build(),
        &[Rule::Entry],
    );
    breaks(
        &snapshot,
        &plan(&snapshot).waits("gpu", nowhere()).build(),
        &[Rule::Reason],
    );
}

#[test]
fn a_pod_does_not_wait_beside_a_node_with_room() {
    let snapshot = cluster()
        .node(node("n1").cpu(1000))
        .pods(pod("web").cpu(600).replicas(2))
        .snapshot();
    let good = plan(&snapshot)
        .on("web-0", "n1")
        .waits("web-1", nowhere())
        .build();
    passes(&snapshot, &good);
    let lazy = plan(&snapshot)
        .waits("web-0", nowhere())
        .waits("web-1", nowhere())
        .build();
    breaks(&snapshot, &lazy, &[Rule::RoomLeft, Rule::RoomLeft]);
}

#[test]
fn a_pod_may_wait_for_a_zone_in_which_something_is_sold() {
    let there = |sold: TypeFixture| {
        let snapshot = cluster()
            .sells(sold)
            .pool(pool("zonal").zones(&[ZONE_2]))
            .node(node("n1").zone(ZONE_1))
            .pods(pod("web").spread(ZONE, 1).replicas(2))
            .snapshot();
        let first = plan(&snapshot).on("web-0", "n1");
        let plan = first.waits("web-1", nowhere()).build();
        (snapshot, plan)
    };
    let (snapshot, plan) = there(instance_type("m").offered(ZONE_2, OnDemand));
    passes(&snapshot, &plan);
    let (snapshot, plan) = there(instance_type("m").sold_out(ZONE_2, OnDemand));
    breaks(&snapshot, &plan, &[Rule::RoomLeft]);
}

#[test]
fn a_pod_may_not_wait_while_any_alternative_has_room_whatever_it_prefers() {
    let waits = |disks: [&str; 2], change: fn(PodFixture) -> PodFixture| {
        let db = |name: &str| pod(name).only_labels(&[("app", "db")]);
        let [first, second] = disks.map(|disk| is_in("disk", &[disk]));
        let web = pod("web").needs(first).or_needs(second);
        let snapshot = cluster()
            .node(node("n1").zone(ZONE_1).label("disk", "ssd"))
            .node(node("n2").zone(ZONE_2).label("disk", "hdd").pods(2))
            .node(node("n3").zone(ZONE_2).label("disk", "ssd").pods(0))
            .pods(db("near").on("n1").replicas(2))
            .pods(db("far").on("n2").replicas(2))
            .pod(change(web).spread(ZONE, 1).to("db"))
            .snapshot();
        let plan = plan(&snapshot).waits("web", nowhere()).build();
        (snapshot, plan)
    };
    let (snapshot, lazy) = waits(["ssd", "hdd"], |web| web);
    breaks(&snapshot, &lazy, &[Rule::RoomLeft]);
    let (snapshot, lazy) = waits(["hdd", "ssd"], |web| web);
    breaks(&snapshot, &lazy, &[Rule::RoomLeft]);
    let (snapshot, lazy) = waits(["ssd", "hdd"], |web| {
        web.prefers(1, is_in("disk", &["tape"]))
    });
    breaks(&snapshot, &lazy, &[Rule::RoomLeft]);
}

#[test]
fn a_pod_that_could_be_bought_for_is_remarked() {
    let snapshot = cluster()
        .types(ladder(2))
        .pool(pool("general"))
        .pod(pod("small").cpu(500))
        .pod(pod("huge").cpu(50_000))
        .snapshot();
    let plan = plan(&snapshot)
        .waits("small", nowhere())
        .waits("huge", nowhere())
        .build();
    remarks(&snapshot, &plan, &[Rule::CouldBuy]);
}

#[test]
fn no_pool_is_said_only_where_there_is_none() {
    let without = cluster().pod(pod("web")).snapshot();
    passes(
        &without,
        &plan(&without).waits("web", Refusal::NoPool).build(),
    );
    let with = cluster()
        .types(ladder(1))
        .pool(pool("general"))
        .pod(pod("web"))
        .snapshot();
    breaks(
        &with,
        &plan(&with).waits("web", Refusal::NoPool).build(),
        &[Rule::Reason],
    );
}
