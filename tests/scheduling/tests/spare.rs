//! Spare room: what capacity buffers ask for, that it is planned after all pods that exist, and what a plan says of it.

use plimsoll_base::resources::ResourceName;
use plimsoll_base::time::Span;
use plimsoll_check::{Rule, check};
use plimsoll_model::buffers::MOST_UNITS;
use plimsoll_model::plan::{Placement, Plan, Target};
use plimsoll_model::snapshot::Snapshot;
use plimsoll_oracles::fixture::*;
use plimsoll_oracles::generate::{Features, Kind, Shape, random_cluster, shapes};
use plimsoll_oracles::judge::cases;
use plimsoll_schedule::plan;
use plimsoll_schedule::spare::{BufferVerdict, State, verdicts};
use proptest::prelude::*;

/// One type of four cores, and a pool that buys it.
fn shop() -> ClusterFixture {
    let four = instance_type("four").cpu(4000).memory_mib(16384).pods(110);
    cluster().sells(four).pool(pool("general"))
}

/// Units that a buffer has in a snapshot.
fn units(snapshot: &Snapshot) -> usize {
    snapshot.pods.iter().filter(|pod| pod.is_spare()).count()
}

fn of(buffer: BufferFixture, replicas: u32) -> usize {
    let web = pod("web").cpu(1000).memory_mib(1024);
    units(
        &shop()
            .template(&web)
            .deployment(&web, replicas)
            .buffer(buffer)
            .snapshot(),
    )
}

fn by_template() -> BufferFixture {
    buffer("room").of_template("web")
}

fn by_workload() -> BufferFixture {
    buffer("room").of_workload("Deployment", "web")
}

fn only(snapshot: &Snapshot) -> BufferVerdict {
    verdicts(snapshot, &plan(snapshot)).remove(0)
}

#[test]
fn the_larger_of_replicas_and_percentage_counts_within_limits() {
    assert_eq!(of(by_template().replicas(5), 10), 5);
    assert_eq!(of(by_workload().percentage(20), 10), 2);
    assert_eq!(of(by_workload().percentage(25), 10), 3, "rounded up");
    assert_eq!(
        of(by_workload().percentage(1), 10),
        1,
        "never less than one"
    );
    assert_eq!(of(by_workload().percentage(20), 0), 0, "of nothing nothing");
    assert_eq!(of(by_workload().percentage(80).replicas(5), 10), 8);
    assert_eq!(
        of(by_workload().percentage(80).replicas(5).cpu_limit(4500), 10),
        4
    );
    assert_eq!(of(by_template().cpu_limit(7900), 10), 7, "limits alone");
    assert_eq!(of(by_template().replicas(3).cpu_limit(7900), 10), 3);
    assert_eq!(
        of(by_template().replicas(3).percentage(900), 10),
        3,
        "a template has no size"
    );
}

#[test]
fn a_buffer_that_cannot_be_understood_asks_for_nothing_and_says_why() {
    let cases = [
        (buffer("b").replicas(1), "names neither"),
        (
            buffer("b").of_template("gone").replicas(1),
            "PodTemplate default/gone, which does not exist",
        ),
        (
            buffer("b").of_workload("StatefulSet", "web").replicas(1),
            "StatefulSet default/web, which does not exist",
        ),
        (
            buffer("b").of_workload("CronJob", "web").replicas(1),
            "expected an apps/Deployment",
        ),
        (by_template(), "expected one that does"),
        (
            by_template().replicas(MOST_UNITS + 1),
            "expected at most 5000",
        ),
        (
            by_template()
                .replicas(1)
                .during("61 * * * *", Span::from_secs(60)),
            "expected 0 to 59",
        ),
        (
            by_template()
                .replicas(1)
                .with(|buffer| buffer.strategy = Some("lazy".into())),
            "provisioningStrategy is \"lazy\"",
        ),
    ];
    for (asked, words) in cases {
        let web = pod("web").cpu(1000);
        let snapshot = shop()
            .template(&web)
            .deployment(&web, 3)
            .buffer(asked)
            .snapshot();
        assert_eq!(units(&snapshot), 0, "{words}");
        let said = only(&snapshot);
        assert_eq!(said.state, State::NotReadyForProvisioning);
        assert!(said.message.contains(words), "{}: {words}", said.message);
        assert!(
            plan(&snapshot)
                .notes
                .iter()
                .any(|note| note.text.contains(words))
        );
    }
}

#[test]
fn a_buffer_asks_only_while_its_window_is_open() {
    let at = |seconds: i64| {
        let web = pod("web").cpu(1000);
        let hour = Span::from_secs(3600);
        let evening = by_template().replicas(2).during("0 20 * * *", hour);
        shop()
            .template(&web)
            .buffer(evening)
            .now(seconds)
            .snapshot()
    };
    let eight = 20 * 3600;
    assert_eq!(units(&at(eight - 1)), 0);
    assert_eq!(units(&at(eight)), 2);
    assert_eq!(units(&at(eight + 3599)), 2);
    assert_eq!(units(&at(eight + 3600)), 0);
    let closed = only(&at(eight + 3600));
    assert_eq!(closed.state, State::BufferEmpty);
    assert!(closed.message.contains("0 20 * * *"), "{}", closed.message);
}

#[test]
fn buffers_do_nothing_until_their_setting_is_on() {
    let web = pod("web").cpu(1000);
    let off = shop().template(&web).buffer(by_template().replicas(2));
    let snapshot = off
        .settings(|settings| settings.capacity_buffers = false)
        .snapshot();
    let plan = plan(&snapshot);
    assert!(plan.claims.is_empty());
    let words = "CapacityBuffers: 1 not applied; setting capacityBuffers is off";
    assert!(plan.notes.iter().any(|note| note.text == words));
    assert!(verdicts(&snapshot, &plan).is_empty());
}

#[test]
fn spare_room_is_found_on_nodes_that_are_there_before_any_is_bought() {
    let web = pod("web").cpu(1000).memory_mib(64);
    let snapshot = shop()
        .node(node("n1").cpu(4000))
        .pod(pod("other").cpu(1500).on("n1"))
        .template(&web)
        .buffer(by_template().replicas(2))
        .snapshot();
    let plan = plan(&snapshot);
    assert!(plan.claims.is_empty() && plan.unplaced.is_empty());
    assert_eq!(only(&snapshot).state, State::FitsExistingCapacity);
    assert_eq!(check(&snapshot, &plan), []);
}

#[test]
fn spare_room_drives_buying_like_pods_and_shares_their_nodes() {
    let web = pod("web").cpu(1000).memory_mib(64);
    let snapshot = shop()
        .pods(web.clone().replicas(2))
        .template(&web)
        .buffer(by_template().replicas(1))
        .snapshot();
    let plan = plan(&snapshot);
    assert_eq!(
        plan.claims.len(),
        1,
        "three units of one core share four cores"
    );
    let said = only(&snapshot);
    assert_eq!(said.state, State::RequiresNewCapacity);
    assert!(
        said.message.contains("1 need 1 new node"),
        "{}",
        said.message
    );
    assert_eq!(check(&snapshot, &plan), []);
}

/// Where a pod is planned, if it is.
fn place(snapshot: &Snapshot, plan: &Plan, name: &str) -> Option<Target> {
    let pod = pod_row(snapshot, name);
    let mut placements = plan.placements.iter();
    placements.find(|it| it.pod == pod).map(|it| it.target)
}

/// The node there is has room for one of two that ask alike: the pod that exists gets it, though the other is larger.
#[test]
fn a_pod_that_exists_comes_before_room_for_one_that_does_not() {
    let snapshot = shop()
        .node(node("n1").cpu(3000))
        .pod(pod("real").cpu(1500).memory_mib(64))
        .template(&pod("web").cpu(2500).memory_mib(64))
        .buffer(by_template().replicas(1))
        .snapshot();
    let plan = plan(&snapshot);
    assert!(matches!(
        place(&snapshot, &plan, "real"),
        Some(Target::Existing(_))
    ));
    assert_eq!(plan.claims.len(), 1);
}

/// The pool may buy one node. Shared out by price the larger unit would be served and the pod would wait.
#[test]
fn no_pod_waits_for_the_sake_of_spare_room() {
    let four = instance_type("four").cpu(4000).memory_mib(16384).pods(110);
    let one_node = pool("general").limit(ResourceName::Nodes, 1);
    let snapshot = cluster().sells(four).pool(one_node);
    let snapshot = snapshot
        .pod(pod("real").cpu(1000).memory_mib(64))
        .template(&pod("web").cpu(3500).memory_mib(64))
        .buffer(by_template().replicas(3))
        .snapshot();
    let plan = plan(&snapshot);
    assert!(place(&snapshot, &plan, "real").is_some());
    assert_eq!(only(&snapshot).state, State::RequiresNewCapacity);
}

#[test]
fn volumes_and_priority_of_the_template_are_left_out() {
    let disk = pod("web").cpu(1000).with_spec(|spec| {
        spec.volumes = vec![plimsoll_model::PodVolume::Claim("gone".into())];
        spec.priority = 1_000_000;
    });
    let snapshot = shop()
        .template(&disk)
        .buffer(by_template().replicas(1))
        .snapshot();
    assert!(plan(&snapshot).unplaced.is_empty());
    let spare = snapshot.pods.iter().find(|pod| pod.is_spare()).unwrap();
    assert_eq!(spare.spec.priority, i32::MIN);
    assert_eq!(spare.name.name.as_ref(), "capacity-buffer-room-0");
}

/// Host anti-affinity of the template holds among units too: each stands for a pod that would keep off the others.
#[test]
fn units_keep_apart_as_their_pods_would() {
    let lone = pod("web").cpu(500).memory_mib(64).anti_affinity(HOSTNAME);
    let snapshot = shop()
        .template(&lone)
        .buffer(by_template().replicas(3))
        .snapshot();
    let plan = plan(&snapshot);
    assert_eq!(plan.claims.len(), 3);
    assert_eq!(check(&snapshot, &plan), []);
}

fn waiting(snapshot: &Snapshot, plan: &Plan) -> usize {
    let exists = |row: usize| !snapshot.pods[row].is_spare();
    plan.unplaced
        .iter()
        .filter(|unplaced| exists(unplaced.pod))
        .count()
}

const MOST: Shape = Shape::of(0, [12, 3, 3, 5, 3], Features::ALL);

/// Spare room breaks no rule and leaves no more pods waiting than there would be without it.
#[track_caller]
fn keeps_room(shape: &Shape, replicas: u32, cpu: i64) {
    let without = random_cluster(shape).snapshot();
    let web = pod("web").cpu(cpu).memory_mib(512).spread(ZONE, 1);
    let with = random_cluster(shape)
        .template(&web)
        .buffer(by_template().replicas(replicas));
    let with = with.snapshot();
    let (bare, kept) = (plan(&without), plan(&with));
    let mut findings = check(&with, &kept);
    let is_kept = |placed: &Placement| with.pods[placed.pod].is_spare();
    if !kept.placements.iter().any(is_kept) {
        // Where pods would wait for it, no room is kept at all until they have their places.
        findings.retain(|finding| finding.rule != Rule::RoomLeft);
    }
    assert_eq!(findings, []);
    assert!(waiting(&with, &kept) <= waiting(&without, &bare));
    assert_eq!(kept, plan(&with));
}

#[test]
fn followers_find_their_places_beside_spare_room() {
    let features = Features::of(&[
        Kind::Taints,
        Kind::Affinity,
        Kind::Volumes,
        Kind::MinimumValues,
    ]);
    let shape = Shape::of(13_131_246_582_216_354_148, [10, 1, 1, 1, 1], features);
    keeps_room(&shape, 1, 100);
}

/// A pod of others would be counted by the spread of the template, and would then be kept to one zone and share no node.
#[test]
fn rules_of_spare_room_do_not_bind_pods_that_would_wait_for_them() {
    let shape = Shape::of(
        8_150_342_477_471_248_193,
        [7, 2, 1, 1, 3],
        Features::from_bits(2813),
    );
    keeps_room(&shape, 1, 100);
}

/// A pod that only the last look at a plan finds a place for.
#[test]
fn spare_room_costs_no_pod_the_last_look() {
    let shape = Shape::of(
        4_000_322_361_318_973_107,
        [5, 0, 1, 1, 2],
        Features::from_bits(3387),
    );
    keeps_room(&shape, 1, 100);
}

proptest! {
    #![proptest_config(cases(96))]

    #[test]
    fn spare_room_breaks_no_rule_and_costs_no_pod_its_place(
        shape in shapes(MOST), replicas in 1_u32..12, cpu in 100_i64..6000,
    ) {
        keeps_room(&shape, replicas, cpu);
    }
}
