//! Figures of a cluster by data: what is told of its objects, and what changes count for.

mod changes;
mod objects;

use std::sync::Arc;
use std::time::Duration;

use plimsoll_base::time::Timestamp;
use plimsoll_engine::{Engine, Input};
use plimsoll_model::action::Outcome;
use plimsoll_model::snapshot::Objects;
use plimsoll_model::{Node, NodeClaim, Object, OwnerKind, Pod, Version};
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
