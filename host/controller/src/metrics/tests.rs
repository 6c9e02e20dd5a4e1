//! Figures of a cluster by data: what is told of its objects, and what changes count for.

use std::sync::Arc;
use std::time::Duration;

use plimsoll_core::action::{ActionId, Answer, ObjectKey, Outcome, Purpose};
use plimsoll_core::engine::{Engine, Input};
use plimsoll_core::ids::Uid;
use plimsoll_core::model::{
    Condition, ConditionStatus, ConditionType, Node, NodeClaim, Object, OwnerKind, Pod, PodPhase,
    Version,
};
use plimsoll_core::snapshot::Objects;
use plimsoll_core::time::Timestamp;
use plimsoll_oracles::exposition::{self, ExposedFamily, Families};
use plimsoll_oracles::fixture::*;

use super::reconciles::{Controller, Ending};
use super::*;
use crate::fidelity::Fidelity;

/// An object of any kind, as inputs have it.
trait AsObject {
    fn object(self) -> Object;
}

impl AsObject for Object {
    fn object(self) -> Object {
        self
    }
}

impl AsObject for Arc<Pod> {
    fn object(self) -> Object {
        Object::Pod(self)
    }
}

impl AsObject for Arc<Node> {
    fn object(self) -> Object {
        Object::Node(self)
    }
}

impl AsObject for Arc<NodeClaim> {
    fn object(self) -> Object {
        Object::Claim(self)
    }
}

/// An engine and the figures of its loop, at a second of a clock that only grows.
struct World {
    engine: Engine,
    meters: Meters,
    version: u64,
    second: i64,
}

impl World {
    fn of(cluster: ClusterFixture) -> Self {
        let (objects, catalogues, settings) = cluster.parts();
        let mut world = Self {
            engine: Engine::new(Arc::new(settings), Arc::new(catalogues), 1),
            meters: Meters::default(),
            version: 0,
            second: 1000,
        };
        for object in objects.iter() {
            world.see(object);
        }
        world.feed(Input::Synced);
        world
    }

    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.second * 1000)
    }

    fn feed(&mut self, input: Input) {
        let now = self.now();
        let spoken_of = SpokenOf::by(&self.engine, &input);
        self.engine.handle(input, now);
        if let Some(spoken_of) = spoken_of {
            self.meters.observe(&self.engine, &spoken_of, now);
        }
    }

    fn see(&mut self, object: impl AsObject) {
        self.version += 1;
        let version = Version(self.version);
        self.feed(Input::Applied(object.object(), version));
    }

    fn miss(&mut self, object: impl AsObject) {
        self.version += 1;
        let version = Version(self.version);
        self.feed(Input::Deleted(object.object(), version));
    }

    fn cut(&self) -> Cut {
        let none = (Vec::new(), Vec::new());
        self.meters
            .cut(&self.engine, &Fidelity::default(), none, self.now())
    }

    fn text(&self, state: StateMetrics) -> String {
        let mut out = Exposition::default();
        self.cut().write(&mut out, state);
        out.into_text()
    }

    /// All that is told, read by the rules of the format.
    fn told(&self) -> Families {
        exposition::read(&self.text(StateMetrics::Served)).unwrap()
    }

    /// The sum of a family's samples with these labels; 0 where there is none.
    fn sum(&self, name: &str, labels: &[(&str, &str)]) -> f64 {
        let told = self.told();
        let family = told.get(name);
        family.and_then(|own| own.sum(labels)).unwrap_or_default()
    }

    fn sum_of(&self, name: &str, suffix: &str) -> f64 {
        let told = self.told();
        let sum = |own: &ExposedFamily| own.sum_of(suffix, &[]);
        told.get(name).and_then(sum).unwrap_or_default()
    }
}

fn sold() -> ClusterFixture {
    let small = instance_type("small").cpu(4000).memory_mib(8192).pods(110);
    let small = small.no_overhead().price(0.1);
    let limited = pool("general").limit_cpu(100_000);
    cluster()
        .sells(small.offered(ZONE_1, OnDemand).offered(ZONE_2, Spot))
        .pool(limited)
}

fn ours(name: &str) -> NodeFixture {
    let node = node(name).managed("general").of_type("small").zone(ZONE_1);
    node.label(CAPACITY_TYPE, "on-demand")
        .with(|node| node.held = true)
}

/// A node of ours with a pod and a daemon, and one of others.
fn busy() -> ClusterFixture {
    let web = pod("web").cpu(1500).memory_mib(512).on("n1");
    let web = web.owned_by(OwnerKind::ReplicaSet, "web");
    let agent = pod("agent").cpu(250).memory_mib(64).on("n1");
    let agent = agent.owned_by(OwnerKind::DaemonSet, "agent");
    let reserve = |node: &mut Node| node.allocatable.set(ResourceName::Cpu, 3900);
    sold()
        .node(ours("n1").with(reserve))
        .node(node("theirs"))
        .pod(web.with(|pod| pod.ready = Some(true)))
        .pod(agent)
}

fn objects(cluster: ClusterFixture) -> Objects {
    cluster.parts().0
}

fn changed<T: Clone>(object: &Arc<T>, change: impl FnOnce(&mut T)) -> Arc<T> {
    let mut own = T::clone(object);
    change(&mut own);
    Arc::new(own)
}

#[test]
fn every_family_is_of_the_table_with_its_type_and_labels() {
    let mut world = World::of(busy());
    let waits = objects(cluster().pod(pod("waits"))).pods;
    world.see(Arc::clone(&waits[0]));
    let mut seen = 0;
    for (name, told) in world.told() {
        let mut all = families::ALL.iter();
        let family = all.find(|family| family.name == name).expect("a row");
        assert_eq!(told.kind, family.kind.word(), "{name}");
        for sample in &told.samples {
            let of_nodes = family.labels.contains(&"node_name");
            for label in family.labels {
                assert!(sample.labels.contains_key(*label), "{label} of {name}");
            }
            let own = |label: &str| {
                let of_type = ["le", "quantile"].contains(&label);
                of_type || of_nodes || family.labels.contains(&label)
            };
            assert!(sample.labels.keys().all(|label| own(label)), "{sample:?}");
        }
        seen += 1;
    }
    assert!(seen > 25, "{seen} families");
}

#[test]
fn a_node_is_told_with_its_well_known_labels_room_and_requests() {
    let world = World::of(busy());
    let of = |name: &str, node: &str, resource: &str| {
        let labels = [("node_name", node), ("resource_type", resource)];
        world.sum(name, &labels)
    };
    assert_eq!(of("karpenter_nodes_allocatable", "n1", "cpu"), 3.9);
    let memory = of("karpenter_nodes_allocatable", "n1", "memory");
    assert_eq!(memory, 8.0 * 1024.0 * 1024.0 * 1024.0);
    assert!((of("karpenter_nodes_system_overhead", "n1", "cpu") - 0.1).abs() < 1e-9);
    assert_eq!(of("karpenter_nodes_total_pod_requests", "n1", "cpu"), 1.75);
    assert_eq!(of("karpenter_nodes_total_pod_requests", "n1", "pods"), 2.0);
    assert_eq!(
        of("karpenter_nodes_total_daemon_requests", "n1", "cpu"),
        0.25
    );
    assert_eq!(
        of("karpenter_nodes_total_pod_requests", "theirs", "cpu"),
        0.0
    );
    let labels = [
        ("node_name", "n1"),
        ("nodepool", "general"),
        ("zone", ZONE_1),
        ("arch", "amd64"),
        ("capacity_type", "on-demand"),
        ("instance_type", "small"),
        ("managed", "true"),
    ];
    let age = "karpenter_nodes_current_lifetime_seconds";
    assert_eq!(world.sum(age, &labels), 1000.0);
    let others = [
        ("node_name", "theirs"),
        ("managed", "false"),
        ("nodepool", ""),
    ];
    assert_eq!(world.sum(age, &others), 1000.0);
    let share = "karpenter_cluster_utilization_percent";
    let share = world.sum(share, &[("resource_type", "cpu")]);
    assert!((share - 100.0 * 1.75 / 7.9).abs() < 1e-9, "{share}");
}

#[test]
fn a_pod_is_told_with_its_node_and_owner_until_it_is_gone() {
    let mut world = World::of(busy());
    let labels = [
        ("name", "web"),
        ("namespace", "default"),
        ("owner", "/apis/apps/v1/namespaces/default/replicasets/web"),
        ("node", "n1"),
        ("scheduled", "true"),
        ("nodepool", "general"),
        ("zone", ZONE_1),
        ("arch", "amd64"),
        ("capacity_type", "on-demand"),
        ("instance_type", "small"),
        ("phase", "Running"),
        ("ready", "true"),
        ("managed", "true"),
    ];
    assert_eq!(world.sum("karpenter_pods_state", &labels), 1.0);
    let pods = objects(busy()).pods;
    for pod in pods {
        world.miss(pod);
    }
    assert!(!world.told().contains_key("karpenter_pods_state"));
}

#[test]
fn a_pool_is_told_with_limits_usage_cost_and_budgets() {
    let world = World::of(busy().node(ours("n2").deleting()));
    let cpu = [("nodepool", "general"), ("resource_type", "cpu")];
    assert_eq!(world.sum("karpenter_nodepools_limit", &cpu), 100.0);
    assert_eq!(world.sum("karpenter_nodepools_usage", &cpu), 4.0);
    let nodes = [("nodepool", "general"), ("resource_type", "nodes")];
    assert_eq!(world.sum("karpenter_nodepools_usage", &nodes), 1.0);
    let cost = world.sum("karpenter_nodepools_cost_total", &[("nodepool", "general")]);
    assert!((cost - 0.2).abs() < 1e-9, "both still cost: {cost}");
    let drifted = [("nodepool", "general"), ("reason", "Drifted")];
    let of = |name: &str| world.sum(name, &drifted);
    assert_eq!(of("karpenter_nodepools_allowed_disruptions"), 1.0);
    assert_eq!(of("karpenter_nodepools_nodes_consuming_budgets"), 1.0);
}

#[test]
fn gauges_of_objects_are_left_out_where_they_are_not_wanted() {
    let world = World::of(busy());
    let text = world.text(StateMetrics::Disabled);
    let told = exposition::read(&text).unwrap();
    for name in [
        "karpenter_pods_state",
        "karpenter_nodes_allocatable",
        "karpenter_nodepools_usage",
        "karpenter_cluster_utilization_percent",
    ] {
        assert!(!told.contains_key(name), "{name}");
        assert!(world.told().contains_key(name), "{name}");
    }
    assert!(told.contains_key("karpenter_nodepools_allowed_disruptions"));
    assert!(told.contains_key("karpenter_pods_startup_duration_seconds"));
}

fn says(kind: ConditionType, since: Timestamp) -> impl Fn(&mut NodeClaim) {
    move |claim: &mut NodeClaim| {
        let condition = Condition {
            status: ConditionStatus::True,
            reason: "Said".into(),
            message: Arc::from(""),
            since,
            generation: None,
        };
        let own = claim.conditions.iter();
        let own = own.map(|(kind, condition)| (kind, condition.clone()));
        claim.conditions = own.chain([(kind, condition)]).collect();
    }
}

#[test]
fn a_nodes_life_is_counted_step_by_step_and_each_step_once() {
    let launched = ours("n1").phase(plimsoll_core::model::ClaimPhase::Launched);
    let mut world = World::of(sold().node(launched));
    let place = [("nodepool", "general"), ("zone", ZONE_1)];
    assert_eq!(world.sum("karpenter_nodes_created_total", &place), 0.0);
    let joined = objects(sold().node(ours("n1")));
    let (node, claim) = (Arc::clone(&joined.nodes[0]), Arc::clone(&joined.claims[0]));
    world.see(Arc::clone(&node));
    // An answer that nobody waits for any more, and then the watch, twice.
    let order = ActionId::of(&ObjectKey::Cloud, None, Purpose::MarkRegistered, 0);
    let answer = Answer::Object(Arc::clone(&claim).object(), Version(world.version + 1));
    world.feed(Input::Outcome(order, Outcome::Done(answer)));
    assert_eq!(world.sum("karpenter_nodes_created_total", &place), 0.0);
    world.see(Arc::clone(&claim));
    world.see(Arc::clone(&claim));
    assert_eq!(world.sum("karpenter_nodes_created_total", &place), 1.0);

    world.second = 1100;
    let asked = world.now();
    let claim = changed(&claim, |claim| claim.deleting = Some(asked));
    let node = changed(&node, |node| node.deleting = Some(asked));
    world.see(Arc::clone(&claim));
    world.see(Arc::clone(&node));
    let claim = changed(&claim, says(ConditionType::Drained, asked));
    world.see(Arc::clone(&claim));
    world.see(Arc::clone(&claim));
    let pool = [("nodepool", "general")];
    assert_eq!(world.sum("karpenter_nodes_drained_total", &pool), 1.0);
    let claim = changed(&claim, says(ConditionType::InstanceTerminating, asked));
    world.see(Arc::clone(&claim));

    world.second = 1130;
    assert_eq!(world.sum("karpenter_nodes_terminated_total", &place), 0.0);
    world.see(changed(&node, |node| node.held = false));
    world.miss(changed(&node, |node| node.held = false));
    world.miss(Arc::clone(&claim));
    world.miss(claim);
    assert_eq!(world.sum("karpenter_nodes_terminated_total", &place), 1.0);
    let took = "karpenter_nodes_termination_duration_seconds";
    let median = [("nodepool", "general"), ("quantile", "0.5")];
    assert_eq!(world.sum(took, &median), 30.0);
    let lifetime = "karpenter_nodes_lifetime_duration_seconds";
    assert_eq!(world.sum_of(lifetime, "_sum"), 1130.0);
    let claims = [
        ("nodepool", "general"),
        ("capacity_type", "on-demand"),
        ("zone", ZONE_1),
    ];
    let gone = "karpenter_nodeclaims_terminated_total";
    assert_eq!(world.sum(gone, &claims), 1.0);
    for name in [
        "karpenter_nodeclaims_termination_duration_seconds",
        "karpenter_nodeclaims_instance_termination_duration_seconds",
    ] {
        assert_eq!(world.sum_of(name, "_sum"), 30.0, "{name}");
        assert_eq!(world.sum_of(name, "_count"), 1.0, "{name}");
    }
    assert!(!world.told().contains_key("karpenter_nodes_allocatable"));
}

fn web(change: impl FnOnce(&mut Pod)) -> Arc<Pod> {
    let fixture = pod("web").created(1000).with(change);
    Arc::clone(&objects(cluster().pod(fixture)).pods[0])
}

#[test]
fn a_pods_way_is_timed_from_its_creation_and_from_the_first_plan() {
    let mut world = World::of(sold().node(ours("n1")));
    let own = [("name", "web"), ("namespace", "default")];
    world.second = 1001;
    world.see(web(|_| {}));
    world.second = 1003;
    let undecided = "karpenter_pods_provisioning_scheduling_undecided_time_seconds";
    assert_eq!(world.sum(undecided, &own), 2.0);
    assert_eq!(world.sum("karpenter_pods_unbound_time_seconds", &own), 3.0);
    let uid = web(|_| {}).uid.clone();
    let plan = |world: &mut World, is_placed: bool| {
        let now = world.now();
        world.meters.pods.decided(&[(uid.clone(), is_placed)], now);
    };
    plan(&mut world, false);
    world.second = 1004;
    plan(&mut world, true);
    world.second = 1006;
    plan(&mut world, true);
    assert!(!world.told().contains_key(undecided));
    let planned = "karpenter_pods_provisioning_unbound_time_seconds";
    assert_eq!(world.sum(planned, &own), 2.0);

    world.second = 1010;
    let bind = |pod: &mut Pod| pod.node = Some("n1".into());
    world.see(web(bind));
    world.see(web(bind));
    assert_eq!(
        world.sum("karpenter_pods_unstarted_time_seconds", &own),
        10.0
    );
    assert!(
        !world
            .told()
            .contains_key("karpenter_pods_unbound_time_seconds")
    );
    world.second = 1014;
    let run = |ready: bool| {
        move |pod: &mut Pod| {
            pod.node = Some("n1".into());
            pod.phase = PodPhase::Running;
            pod.ready = Some(ready);
        }
    };
    world.see(web(run(false)));
    world.second = 1015;
    world.see(web(run(true)));
    world.see(web(run(false)));
    world.second = 1020;
    world.see(web(run(true)));
    assert!(
        !world
            .told()
            .contains_key("karpenter_pods_unstarted_time_seconds")
    );
    for (name, seconds) in [
        ("karpenter_pods_scheduling_decision_duration_seconds", 2.0),
        ("karpenter_pods_bound_duration_seconds", 10.0),
        ("karpenter_pods_provisioning_bound_duration_seconds", 6.0),
        ("karpenter_pods_startup_duration_seconds", 15.0),
        ("karpenter_pods_provisioning_startup_duration_seconds", 11.0),
    ] {
        assert_eq!(world.sum_of(name, "_sum"), seconds, "{name}");
        assert_eq!(world.sum_of(name, "_count"), 1.0, "{name}");
    }
}

#[test]
fn a_pod_that_is_deleted_or_made_anew_waits_no_longer() {
    let mut world = World::of(sold());
    let unbound = "karpenter_pods_unbound_time_seconds";
    world.see(web(|_| {}));
    world.see(web(|pod| pod.uid = Uid::from("another")));
    let waiting = world.told().remove(unbound).unwrap();
    assert_eq!(waiting.samples.len(), 1);
    world.miss(web(|pod| pod.uid = Uid::from("another")));
    assert!(!world.told().contains_key(unbound));
}

#[test]
fn offerings_and_types_are_told() {
    let world = World::of(sold());
    let spot = [
        ("instance_type", "small"),
        ("capacity_type", "spot"),
        ("zone", ZONE_2),
    ];
    let prefix = "karpenter_cloudprovider_instance_type_";
    let of = |name: &str, labels: &[(&str, &str)]| world.sum(&format!("{prefix}{name}"), labels);
    assert_eq!(of("offering_available", &spot), 1.0);
    assert_eq!(of("offering_price_estimate", &spot), 0.1);
    let small = [("instance_type", "small")];
    assert_eq!(of("cpu_cores", &small), 4.0);
    assert_eq!(of("memory_bytes", &small), 8.0 * 1024.0 * 1024.0 * 1024.0);
}

#[test]
fn what_is_done_is_counted_by_controller_and_end() {
    let mut world = World::of(sold());
    let mut meters = std::mem::take(&mut world.meters);
    let two = Duration::from_secs(2);
    meters.handled(Some(Controller::StatePod), two);
    meters.handled(None, two);
    meters.undecided(Controller::Disruption);
    world.meters = meters;
    let of = |controller: &str, result: &str| {
        let labels = [("controller", controller), ("result", result)];
        world.sum("controller_runtime_reconcile_total", &labels)
    };
    assert_eq!(of("state.pod", "success"), 1.0);
    assert_eq!(of("disruption", "error"), 1.0);
    assert_eq!(of("provisioner", "success"), 0.0);
    let time = "controller_runtime_reconcile_time_seconds";
    assert_eq!(world.sum_of(time, "_sum"), 2.0);
    assert_eq!(Ending::of(&Outcome::Unknown), Ending::Error);
    assert_eq!(Ending::of(&Outcome::Conflict), Ending::Requeue);
}

/// What the loop does for a scrape does not grow with what there is to tell of an object.
#[test]
fn a_cut_holds_the_engines_objects_and_no_copies() {
    let pods = pod("web").on("n1").replicas(200);
    let world = World::of(sold().node(ours("n1")).pods(pods));
    let cut = world.cut();
    assert_eq!(cut.pods.len(), 200);
    let cluster = world.engine.cluster();
    let is_same = |pod: &Arc<Pod>| {
        let own = cluster.pods.get(&pod.name);
        own.is_some_and(|own| Arc::ptr_eq(own, pod))
    };
    assert!(cut.pods.iter().all(is_same));
}
