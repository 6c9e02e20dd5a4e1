//! Volumes: which cannot be used, where the others pull their pods, and how many a node attaches.

use plimsoll_base::labels::{HOSTNAME, REGION};
use plimsoll_model::{BindingMode, NodeTerm, VolumeClaim, VolumeKind};
use plimsoll_oracles::fixture::*;
use plimsoll_scheduling_tests::{check, market};

const EBS: &str = "ebs.csi.aws.com";

fn web() -> PodFixture {
    pod("web").cpu(100).volume("data")
}

fn claim(class: Option<&str>, volume: Option<&str>) -> VolumeClaim {
    VolumeClaim {
        class: class.map(Into::into),
        volume: volume.map(Into::into),
        bound: volume.is_some(),
        ..VolumeClaim::default()
    }
}

/// A bound volume reachable in any one of several places.
fn volume_in(cluster: ClusterFixture, name: &str, places: &[&[&str]]) -> ClusterFixture {
    let term = |zones: &&[&str]| NodeTerm {
        requirements: [is_in(ZONE, zones)].into_iter().collect(),
    };
    let affinity = places.iter().map(term).collect();
    cluster
        .bound_volume(name, EBS, &[])
        .with_volumes(|volumes| {
            volumes
                .volumes
                .get_mut(&*format!("pv-{name}"))
                .expect("the volume was just made")
                .affinity = affinity;
        })
}

/// The pod's own volume, bound, after `change` was made to its claim.
fn bound_with(change: impl Fn(&mut VolumeClaim)) -> ClusterFixture {
    market()
        .bound_volume("data", EBS, &[])
        .with_volumes(|volumes| volumes.claims.values_mut().for_each(change))
}

#[test]
fn pod_goes_to_the_zone_of_its_bound_volume() {
    let outcome = check(market().bound_volume("data", EBS, &[ZONE_3]).pod(web()));
    assert_eq!(outcome.domains(ZONE, "web")[ZONE_3], 1);
}

#[test]
fn pod_goes_to_a_zone_that_its_storage_class_allows() {
    let outcome = check(
        market()
            .storage_class("fast", EBS, &[ZONE_3])
            .unbound_claim("data", "fast")
            .pod(web()),
    );
    assert_eq!(outcome.domains(ZONE, "web")[ZONE_3], 1);
}

#[test]
fn ephemeral_volumes_pull_as_named_ones_do() {
    let cluster = market()
        .bound_volume("web-scratch", EBS, &[ZONE_3])
        .pod(pod("web").cpu(100).ephemeral("scratch"));
    assert_eq!(check(cluster).domains(ZONE, "web")[ZONE_3], 1);
    let cluster = market()
        .storage_class("fast", EBS, &[ZONE_2])
        .unbound_claim("web-scratch", "fast")
        .pod(pod("web").cpu(100).ephemeral("scratch"));
    assert_eq!(check(cluster).domains(ZONE, "web")[ZONE_2], 1);
}

#[test]
fn zone_of_a_volume_against_the_pods_own_waits() {
    let cluster = market().bound_volume("data", EBS, &[ZONE_3]);
    assert_eq!(
        check(cluster.clone().pod(web().select(ZONE, ZONE_1))).unplaced(),
        1
    );
    let nowhere = market().bound_volume("data", EBS, &["nowhere"]).pod(web());
    assert_eq!(check(nowhere).unplaced(), 1);
}

#[test]
fn volumes_in_different_zones_keep_their_pod_waiting() {
    let outcome = check(
        market()
            .bound_volume("data", EBS, &[ZONE_1])
            .bound_volume("logs", EBS, &[ZONE_2])
            .pod(web().volume("logs"))
            .pod(pod("plain").cpu(100)),
    );
    assert_eq!(outcome.waiting(), ["web"]);
}

#[test]
fn alternatives_of_a_volume_let_pods_keep_apart() {
    let places: [&[&str]; 2] = [&[ZONE_1], &[ZONE_2]];
    let cluster = volume_in(market(), "data", &places);
    let outcome = check(cluster.pods(web().anti_affinity(ZONE).replicas(3)));
    assert_eq!(outcome.skew(ZONE, "web"), [1, 1]);
    let zones = outcome.agreed(|run| run.domains(ZONE, "web"));
    assert!(zones.contains_key(ZONE_1) && zones.contains_key(ZONE_2));
}

#[test]
fn pairs_of_alternatives_that_disagree_are_left_out() {
    let cluster = volume_in(market(), "data", &[&[ZONE_1], &[ZONE_2]]);
    let cluster = volume_in(cluster, "logs", &[&[ZONE_2], &[ZONE_3]]);
    let outcome = check(cluster.pod(web().volume("logs")));
    assert_eq!(outcome.domains(ZONE, "web")[ZONE_2], 1);
}

/// A bound volume that has no affinity, with these labels.
fn labelled(name: &str, labels: &[(&str, &[&str])]) -> ClusterFixture {
    let labels = labels.iter().map(|(key, values)| is_in(key, values));
    let labels = labels.collect();
    let pull = |volumes: &mut plimsoll_model::Volumes| {
        let volumes = volumes.volumes.values_mut();
        volumes.for_each(|volume| volume.zone_labels = Clone::clone(&labels));
    };
    market().bound_volume(name, EBS, &[]).with_volumes(pull)
}

#[test]
fn labels_of_a_volume_pull_its_pod_as_its_affinity_would() {
    let cluster = || labelled("data", &[(ZONE, &[ZONE_3])]);
    assert_eq!(check(cluster().pod(web())).domains(ZONE, "web")[ZONE_3], 1);
    let elsewhere = cluster().node(node("n1").zone(ZONE_1)).pod(web());
    assert_eq!(check(elsewhere).domains(ZONE, "web")[ZONE_3], 1);
    let nowhere = labelled("data", &[(ZONE, &["nowhere"])]).pod(web());
    assert_eq!(check(nowhere).unplaced(), 1);
}

#[test]
fn labels_of_a_volume_may_name_several_zones() {
    let cluster = labelled("data", &[(ZONE, &[ZONE_2, ZONE_3])]);
    let outcome = check(cluster.pods(web().anti_affinity(ZONE).replicas(3)));
    assert_eq!(outcome.skew(ZONE, "web"), [1, 1]);
}

#[test]
fn node_without_zone_and_region_takes_a_labelled_volume() {
    let cluster = labelled("data", &[(ZONE, &[ZONE_3]), (REGION, &["here"])]);
    let outcome = check(cluster.node(node("n1")).pod(web()));
    assert_eq!(outcome.place("web").as_deref(), Some("n1"));
}

#[test]
fn node_with_a_region_alone_takes_no_volume_of_a_zone() {
    let cluster = labelled("data", &[(ZONE, &[ZONE_3])]);
    let outcome = check(cluster.node(node("n1").label(REGION, "here")).pod(web()));
    assert_eq!((outcome.bought(), outcome.unplaced()), (1, 0));
    assert_eq!(outcome.domains(ZONE, "web")[ZONE_3], 1);
}

#[test]
fn labels_of_a_volume_made_for_one_pod_are_not_looked_at() {
    let cluster = labelled("web-scratch", &[(ZONE, &[ZONE_3])]).node(node("n1").zone(ZONE_1));
    let outcome = check(cluster.pod(pod("web").cpu(100).ephemeral("scratch")));
    assert_eq!(outcome.place("web").as_deref(), Some("n1"));
}

#[test]
fn storage_class_may_name_several_places() {
    let cluster = market()
        .storage_class("fast", EBS, &[])
        .with_volumes(|volumes| {
            let class = volumes.classes.get_mut("fast").unwrap();
            class.allowed_topologies = [ZONE_2, ZONE_3]
                .map(|zone| [is_in(ZONE, &[zone])].into_iter().collect())
                .to_vec();
        })
        .unbound_claim("data", "fast");
    let outcome = check(cluster.pods(web().anti_affinity(ZONE).replicas(3)));
    assert_eq!(outcome.skew(ZONE, "web"), [1, 1]);
}

#[test]
fn host_of_a_local_volume_is_not_followed() {
    let outcome = check(market().host_volume("data", "gone").pod(web()));
    assert_eq!((outcome.unplaced(), outcome.bought()), (0, 1));
    let ephemeral = pod("web").cpu(100).ephemeral("scratch");
    let outcome = check(market().host_volume("web-scratch", "gone").pod(ephemeral));
    assert_eq!(outcome.unplaced(), 0);
}

#[test]
fn host_of_a_local_volume_beside_a_zone_leaves_the_zone() {
    let outcome = check(
        market()
            .host_volume("data", "gone")
            .with_volumes(|volumes| {
                let term = &mut volumes.volumes.get_mut("pv-data").unwrap().affinity[0];
                term.requirements.add(is_in(ZONE, &[ZONE_2]));
            })
            .pod(web()),
    );
    assert_eq!(outcome.domains(ZONE, "web")[ZONE_2], 1);
}

#[test]
fn host_of_any_other_volume_is_followed() {
    let on_host = |host: &str| {
        market()
            .node(node("n1").zone(ZONE_1))
            .host_volume("data", host)
            .with_volumes(|volumes| {
                volumes.volumes.get_mut("pv-data").unwrap().kind = VolumeKind::Csi(EBS.into());
            })
            .pod(web())
    };
    assert_eq!(check(on_host("gone")).unplaced(), 1);
    assert_eq!(check(on_host("n1")).place("web").as_deref(), Some("n1"));
}

#[test]
fn volumes_that_cannot_be_used_keep_only_their_own_pod_waiting() {
    let cases: [(&str, ClusterFixture); 8] = [
        ("does not exist", market()),
        (
            "no storage class",
            market().volume_claim("data", claim(Some(""), None)),
        ),
        (
            "does not exist",
            market().volume_claim("data", claim(Some("gone"), None)),
        ),
        (
            "does not exist",
            market().volume_claim("data", claim(None, Some("gone"))),
        ),
        (
            "binds at once",
            market()
                .storage_class("fast", EBS, &[])
                .with_volumes(|volumes| {
                    volumes.classes.get_mut("fast").unwrap().binding = BindingMode::Immediate;
                })
                .unbound_claim("data", "fast"),
        ),
        ("being deleted", bound_with(|claim| claim.deleting = true)),
        (
            "being deleted",
            market()
                .bound_volume("data", EBS, &[])
                .with_volumes(|volumes| {
                    volumes
                        .volumes
                        .values_mut()
                        .for_each(|volume| volume.deleting = true);
                }),
        ),
        ("lost its volume", bound_with(|claim| claim.lost = true)),
    ];
    for (words, cluster) in cases {
        let outcome = check(cluster.pod(web()).pod(pod("plain").cpu(100)));
        assert_eq!(outcome.waiting(), ["web"]);
        let reason = outcome.reason("web");
        assert!(reason.contains(words), "{reason:?} says {words:?}");
    }
}

#[test]
fn claim_that_names_a_volume_must_be_bound_to_it() {
    let cluster = |bound: bool| bound_with(|claim| claim.bound = bound);
    assert_eq!(check(cluster(false).pod(web())).unplaced(), 1);
    assert_eq!(check(cluster(true).pod(web())).unplaced(), 0);
}

#[test]
fn class_of_a_bound_claim_need_not_exist() {
    for class in [None, Some(""), Some("gone")] {
        let cluster = bound_with(|claim| claim.class = class.map(Into::into));
        assert_eq!(check(cluster.pod(web())).unplaced(), 0);
    }
}

/// A node that attaches so many EBS volumes.
fn slots(count: u32) -> ClusterFixture {
    market().node(node("n1").zone(ZONE_1).attaches(EBS, count))
}

#[test]
fn node_takes_no_more_volumes_than_it_attaches() {
    let mut cluster = slots(10).storage_class("fast", EBS, &[]);
    for number in 0..6 {
        let (left, right) = (format!("left-{number}"), format!("right-{number}"));
        let name = format!("web-{number}");
        cluster = cluster
            .unbound_claim(&left, "fast")
            .unbound_claim(&right, "fast")
            .pod(pod(&name).cpu(10).volume(&left).volume(&right));
    }
    let outcome = check(cluster);
    let on_node = outcome.agreed(|run| {
        (0..6)
            .filter(|number| run.place(&format!("web-{number}")).as_deref() == Some("n1"))
            .count()
    });
    assert_eq!((on_node, outcome.unplaced(), outcome.bought()), (5, 0, 1));
}

#[test]
fn volume_shared_by_many_pods_takes_one_slot() {
    let outcome = check(
        slots(10)
            .bound_volume("data", EBS, &[])
            .pods(web().cpu(10).replicas(100)),
    );
    assert_eq!((outcome.unplaced(), outcome.bought()), (0, 0));
}

#[test]
fn volume_already_attached_takes_no_further_slot() {
    let full = slots(1);
    let outcome = check(
        full.bound_volume("data", EBS, &[])
            .bound_volume("logs", EBS, &[])
            .pod(pod("first").volume("data").on("n1"))
            .pod(pod("second").cpu(10).volume("data"))
            .pod(pod("third").cpu(10).volume("logs")),
    );
    assert_eq!(outcome.place("second").as_deref(), Some("n1"));
    assert_ne!(outcome.place("third").as_deref(), Some("n1"));
}

#[test]
fn node_above_its_slots_takes_pods_that_bring_no_volume() {
    let over = slots(0).bound_volume("data", EBS, &[]);
    let over = over.pod(pod("first").volume("data").on("n1"));
    let outcome = check(
        over.bound_volume("logs", EBS, &[])
            .pod(pod("plain").cpu(10))
            .pod(pod("shares").cpu(10).volume("data"))
            .pod(pod("brings").cpu(10).volume("logs")),
    );
    assert_eq!(outcome.place("plain").as_deref(), Some("n1"));
    assert_eq!(outcome.place("shares").as_deref(), Some("n1"));
    assert_ne!(outcome.place("brings").as_deref(), Some("n1"));
}

#[test]
fn volume_that_is_still_attached_takes_a_slot() {
    let full = slots(1).bound_volume("old", EBS, &[]);
    let full = full
        .attached("old", EBS, "n1")
        .bound_volume("data", EBS, &[]);
    let outcome = check(full.clone().pod(web()));
    assert_eq!((outcome.unplaced(), outcome.bought()), (0, 1));
    // Its own volume takes a second slot for as long as no pod uses it.
    let own = full.clone().pod(pod("web").cpu(100).volume("old"));
    assert_ne!(check(own).place("web").as_deref(), Some("n1"));
    let used = full.pod(pod("first").volume("old").on("n1"));
    let outcome = check(used.pod(pod("second").cpu(10).volume("old")));
    assert_eq!(outcome.place("second").as_deref(), Some("n1"));
}

#[test]
fn attachments_of_another_node_or_driver_take_no_slot() {
    for (driver, node) in [(EBS, "n2"), ("other.csi", "n1")] {
        let cluster = slots(1).bound_volume("old", EBS, &[]);
        let cluster = cluster.attached("old", driver, node);
        let outcome = check(cluster.bound_volume("data", EBS, &[]).pod(web()));
        assert_eq!(outcome.place("web").as_deref(), Some("n1"));
    }
}

#[test]
fn pod_without_a_free_slot_does_not_close_the_node_to_its_equals() {
    let full = slots(1);
    let outcome = check(
        full.storage_class("fast", EBS, &[])
            .unbound_claim("web-0-scratch", "fast")
            .bound_volume("web-1-scratch", EBS, &[])
            .bound_volume("old", EBS, &[])
            .pod(pod("first").volume("old").on("n1"))
            .with_volumes(|volumes| {
                let shared = volumes.volumes.get_mut("pv-web-1-scratch").unwrap();
                shared.kind = VolumeKind::Other;
            })
            .pods(pod("web").cpu(10).ephemeral("scratch").replicas(2)),
    );
    assert_ne!(outcome.place("web-0").as_deref(), Some("n1"));
    assert_eq!(outcome.place("web-1").as_deref(), Some("n1"));
}

#[test]
fn volumes_without_a_driver_take_no_slot() {
    let mut cluster = slots(10);
    for number in 0..20 {
        let name = format!("nfs-{number}");
        cluster = cluster
            .bound_volume(&name, "", &[])
            .with_volumes(|volumes| {
                volumes
                    .volumes
                    .values_mut()
                    .for_each(|volume| volume.kind = VolumeKind::Other);
            })
            .pod(pod(&name).cpu(10).volume(&name));
    }
    let outcome = check(cluster);
    assert_eq!((outcome.unplaced(), outcome.bought()), (0, 0));
}

#[test]
fn ephemeral_volumes_count_under_the_newest_default_class() {
    let default = |since: Option<i64>| {
        move |volumes: &mut plimsoll_model::Volumes| {
            let class = volumes.classes.get_mut("new").unwrap();
            class.default_since = since;
        }
    };
    let cluster = |slots: &str| {
        market()
            .node(node("n1").zone(ZONE_1).attaches(slots, 0))
            .storage_class("old", "other.csi", &[])
            .storage_class("new", EBS, &[])
            .with_volumes(|volumes| volumes.classes.get_mut("old").unwrap().default_since = Some(1))
            .with_volumes(default(Some(2)))
            .volume_claim("web-scratch", claim(None, None))
            .pod(pod("web").cpu(10).ephemeral("scratch"))
    };
    assert_eq!(check(cluster(EBS)).bought(), 1);
    assert_eq!(check(cluster("other.csi")).bought(), 0);
}

#[test]
fn missing_default_class_keeps_an_unbound_claim_waiting() {
    let cluster = market()
        .storage_class("fast", EBS, &[])
        .volume_claim("web-scratch", claim(None, None))
        .pod(pod("web").cpu(10).ephemeral("scratch"));
    assert_eq!(check(cluster).waiting(), ["web"]);
}

#[test]
fn new_nodes_are_not_held_to_attach_limits_of_others() {
    let mut cluster = slots(10).storage_class("fast", EBS, &[]);
    for number in 0..5 {
        let name = format!("data-{number}");
        cluster = cluster
            .unbound_claim(&name, "fast")
            .pod(pod(&name).cpu(500).volume(&name).select(ZONE, ZONE_2));
    }
    assert_eq!(check(cluster).unplaced(), 0);
}

#[test]
fn host_name_of_a_node_is_a_place_for_a_volume() {
    let term = NodeTerm {
        requirements: [is_in(HOSTNAME, &["n2"])].into_iter().collect(),
    };
    let outcome = check(
        market()
            .node(node("n1").zone(ZONE_1))
            .node(node("n2").zone(ZONE_1))
            .bound_volume("data", EBS, &[])
            .with_volumes(|volumes| {
                volumes.volumes.get_mut("pv-data").unwrap().affinity = vec![term];
            })
            .pod(web()),
    );
    assert_eq!(outcome.place("web").as_deref(), Some("n2"));
}
