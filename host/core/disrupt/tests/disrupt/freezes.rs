//! A snapshot that is brought up to date is the same as one made of all objects anew, whatever has happened since the last.

use std::sync::Arc;

use plimsoll_base::ids::{ClaimName, NodeName, ObjectName, PoolName, ProviderId};
use plimsoll_base::labels::{INSTANCE_TYPE, NODEPOOL};
use plimsoll_base::resources::{ResourceName, Resources};
use plimsoll_base::time::{Span, Timestamp};
use plimsoll_cluster::{
    Assignment, Cluster, Expected, Frozen, GroupId, PromisedTarget, Promises, World, assignments,
};
use plimsoll_model::catalogue::{Catalogues, Market};
use plimsoll_model::snapshot::{Objects, Settings, Snapshot};
use plimsoll_model::{
    ClaimPhase, Node, NodeClaim, NodeConditions, Object, OwnerKind, Pod, Readiness, Version,
};
use plimsoll_oracles::fixture::{
    Amounts, OnDemand, buffer, cluster, instance_type, node, pod, pool,
};
use plimsoll_oracles::judge::cases;
use proptest::prelude::*;

/// Something that happens: its kind, two objects, and two answers to yes-or-no questions about it.
type Step = (u8, u8, u8, bool, bool);

const PHASES: [ClaimPhase; 4] = [
    ClaimPhase::Created,
    ClaimPhase::Launched,
    ClaimPhase::Registered,
    ClaimPhase::Initialized,
];

/// The state as an engine keeps it, without deciding anything.
struct Kept {
    cluster: Cluster,
    expected: Expected,
    promises: Promises,
    market: Market,
    settings: Arc<Settings>,
    frozen: Frozen,
    now: Timestamp,
}

fn sold(memory: i64) -> Arc<Catalogues> {
    let small = instance_type("small")
        .memory_mib(memory)
        .offered("a", OnDemand);
    Arc::new(cluster().sells(small).parts().1)
}

impl Kept {
    fn new() -> Self {
        let settings = cluster()
            .settings(|it| it.capacity_buffers = true)
            .parts()
            .2;
        let mut kept = Self {
            cluster: Cluster::default(),
            expected: Expected::default(),
            promises: Promises::default(),
            market: Market::new(sold(8192)),
            settings: Arc::new(settings),
            frozen: Frozen::default(),
            now: Timestamp::from_millis(1),
        };
        let parts = cluster()
            .pool(pool("pool-0"))
            .template(&pod("shape"))
            .parts();
        for object in parts.0.iter() {
            kept.cluster.apply(object, Version(1));
        }
        kept
    }

    fn happen(&mut self, step: Step, version: Version) {
        let (kind, one, other, first, second) = step;
        self.now = self.now + Span::from_secs(1);
        match kind {
            0..3 => {
                let bound = bound(one, other, first, second);
                self.cluster.apply(Object::Pod(bound), version);
            }
            3 => {
                let gone = Object::Pod(bound(one, other, first, second));
                self.cluster.remove(&gone, version);
            }
            4 | 5 => {
                let object = Object::Node(a_node(one, other, first, second));
                self.cluster.apply(object, version);
            }
            6 => {
                let gone = Object::Node(a_node(one, other, first, second));
                self.cluster.remove(&gone, version);
            }
            7 | 8 => {
                let object = Object::Claim(a_claim(one, other, first));
                self.expected.settle(&claim_name(one));
                self.cluster.apply(object, version);
            }
            9 => {
                let gone = Object::Claim(a_claim(one, other, first));
                self.cluster.remove(&gone, version);
            }
            10 => self.mark(one, first),
            11 | 12 => self.promise(one, other, first),
            13 if first => self.expected.ask(a_claim(one, 0, false)),
            13 => {
                self.expected.settle(&claim_name(one));
            }
            14 => {
                let listed = sold(if first { 8192 } else { 4096 });
                self.market.relist(listed, []);
            }
            _ => self.buffer(one, other, first, version),
        }
    }

    fn mark(&mut self, number: u8, is_marked: bool) {
        if is_marked {
            self.cluster.mark(&claim_name(number), self.now);
        } else {
            self.cluster.unmark(&claim_name(number));
        }
    }

    fn promise(&mut self, to: u8, of: u8, is_made: bool) {
        let target = if to < 4 {
            PromisedTarget::Claim(claim_name(to))
        } else {
            PromisedTarget::Node(NodeName::from(format!("n{}", to - 4)))
        };
        if is_made {
            let group = GroupId::of(&bound(of, 9, false, false));
            self.promises.make(&target, group, 2, 0, self.now);
        } else {
            self.promises.drop_target(&target);
        }
    }

    fn buffer(&mut self, number: u8, units: u8, stays: bool, version: Version) {
        let asked = buffer(&format!("spare-{}", number % 2)).of_template("shape");
        let objects = cluster().buffer(asked.replicas(u32::from(units))).parts().0;
        for buffer in &objects.buffers {
            let object = Object::Buffer(Arc::clone(buffer));
            if stays {
                self.cluster.apply(object, version);
            } else {
                self.cluster.remove(&object, version);
            }
        }
    }

    fn assigned(&self) -> Assignment {
        assignments(&self.promises, &self.cluster, self.now)
    }

    /// The snapshot, brought up to date.
    fn frozen(&mut self) -> Arc<Snapshot> {
        let (assigned, changed) = (self.assigned(), self.cluster.take_changed());
        let world = World {
            cluster: &self.cluster,
            expected: &self.expected,
            market: &self.market,
            settings: &self.settings,
            seed: 1,
        };
        let snapshot = self.frozen.freeze(changed, &world, &assigned, self.now);
        Arc::clone(snapshot)
    }

    /// The snapshot, made of all objects.
    fn made_anew(&self) -> Snapshot {
        let assigned = self.assigned();
        let pods = self.cluster.pods.sorted().into_iter();
        let pods = pods.map(|pod| self.shown(pod, &assigned));
        let objects = Objects {
            pools: self.cluster.pools.objects(),
            buffers: self.cluster.buffers.objects(),
            templates: self.cluster.templates.objects(),
            nodes: self.cluster.nodes.objects(),
            claims: self.expected.overlay(&self.cluster),
            pods: pods.collect(),
            ..Objects::default()
        };
        let catalogues = Arc::clone(self.market.catalogues());
        let settings = Arc::clone(&self.settings);
        let mut snapshot = Snapshot::new(self.now, 1, settings, catalogues, objects);
        snapshot.revision = self.cluster.revision();
        for row in &mut snapshot.nodes {
            let Some(claim) = row.claim.clone().filter(|_| row.node.is_none()) else {
                continue;
            };
            let target = PromisedTarget::Claim(claim.name.clone());
            if assigned.values().any(|wanted| *wanted == target) {
                row.node = Some(Arc::new(self.placeholder(&claim, &target)));
            }
        }
        snapshot
    }

    fn shown(&self, pod: &Arc<Pod>, assigned: &Assignment) -> Arc<Pod> {
        let mut shown = Pod::clone(pod);
        if let Some(target) = assigned.get(&pod.name) {
            shown.node = Some(self.name_of(target));
            shown.nominated = None;
        }
        let is_good = |name: &NodeName| {
            let node = self.cluster.nodes.get(name);
            let claim = self.cluster.claim_on(name);
            node.is_some_and(|node| node.deleting.is_none())
                && claim.is_none_or(|claim| claim.deleting.is_none())
        };
        shown.nominated = shown.nominated.filter(is_good);
        Arc::new(shown)
    }

    /// What the pool's nodes have, counted over all claims.
    fn capacity(&self) -> Resources {
        use ResourceName::{Cpu, EphemeralStorage, Memory, Nodes, Pods};
        let told = [Cpu, EphemeralStorage, Memory, Nodes, Pods];
        let mut sum: Resources = told.into_iter().map(|name| (name, 0)).collect();
        for claim in self.cluster.claims.objects() {
            let goes = claim.deleting.is_some() || self.cluster.marked(&claim.name).is_some();
            if goes || claim.provider_id.is_none() {
                continue;
            }
            let is_complete = claim.phase() == ClaimPhase::Initialized;
            let nodes = self.cluster.nodes_of(&claim);
            match nodes.first().filter(|_| is_complete) {
                Some(node) => sum.add(&node.capacity),
                None => sum.add(&claim.capacity),
            }
            sum.add(&Resources::new().with(Nodes, 1));
        }
        sum
    }

    fn name_of(&self, target: &PromisedTarget) -> NodeName {
        match target {
            PromisedTarget::Node(name) => name.clone(),
            PromisedTarget::Claim(name) => {
                let claim = self.cluster.claims.get(name);
                let nodes = claim.map(|claim| self.cluster.nodes_of(claim));
                let node = nodes.and_then(|nodes| Some(nodes.first()?.name.clone()));
                node.unwrap_or_else(|| NodeName::from(name.as_str()))
            }
        }
    }

    fn placeholder(&self, claim: &NodeClaim, target: &PromisedTarget) -> Node {
        let like = a_node(0, 0, false, false);
        Node {
            name: self.name_of(target),
            uid: plimsoll_base::ids::Uid::default(),
            held: false,
            provider_id: claim.provider_id.clone(),
            labels: plimsoll_oracles::fixture::labels(&[(
                plimsoll_base::labels::HOSTNAME,
                claim.name.as_str(),
            )]),
            taints: Vec::new(),
            capacity: Resources::new(),
            allocatable: Resources::new(),
            conditions: NodeConditions::of(Readiness::Unknown, claim.created),
            created: claim.created,
            deleting: None,
            ..Node::clone(&like)
        }
    }
}

fn claim_name(number: u8) -> ClaimName {
    ClaimName::from(format!("claim-n{}", number % 4))
}

/// A pod: waiting or bound, nominated or not, some of them of a buffer by mistake.
fn bound(number: u8, to: u8, is_nominated: bool, of_other: bool) -> Arc<Pod> {
    let owner = format!("app-{}", u8::from(of_other));
    let kind = if number == 7 && of_other {
        OwnerKind::CapacityBuffer
    } else {
        OwnerKind::ReplicaSet
    };
    let mut fixture = pod(&format!("p{number}")).owned_by(kind, &owner);
    if is_nominated {
        fixture = fixture.nominated(&format!("n{}", to % 4));
    } else if to < 4 {
        fixture = fixture.on(&format!("n{to}"));
    }
    Arc::clone(&cluster().pod(fixture).parts().0.pods[0])
}

/// A node: ours or of others, complete or not, maybe of an instance that another node names, too.
fn a_node(number: u8, kind: u8, is_deleting: bool, is_complete: bool) -> Arc<Node> {
    let mut fixture = node(&format!("n{}", number % 4));
    if is_deleting {
        fixture = fixture.deleting();
    }
    if is_complete {
        fixture = fixture.label(INSTANCE_TYPE, "small");
        fixture = fixture.label("karpenter.sh/registered", "true");
    }
    let fixture = fixture.with(|node| match kind {
        0 | 1 => node.provider_id = None,
        2 => node.provider_id = Some(ProviderId::from("fake:///n1")),
        3 => drop(node.labels.insert(NODEPOOL.into(), "pool-0".into())),
        _ => {
            let initialized = "karpenter.sh/initialized".into();
            node.labels.insert(initialized, "true".into());
        }
    });
    Arc::clone(&cluster().node(fixture).parts().0.nodes[0])
}

/// A claim in any phase, maybe of an instance that another claim names, too.
fn a_claim(number: u8, kind: u8, is_deleting: bool) -> Arc<NodeClaim> {
    let phase = PHASES[usize::from(kind % 4)];
    let mut fixture = node(&format!("n{}", number % 4))
        .managed("pool-0")
        .phase(phase);
    if is_deleting {
        fixture = fixture.deleting();
    }
    let fixture = fixture.label(INSTANCE_TYPE, "small");
    let fixture = fixture.with(|node| {
        if kind >= 6 {
            node.provider_id = Some(ProviderId::from("fake:///n1"));
        }
    });
    Arc::clone(&cluster().node(fixture).parts().0.claims[0])
}

fn is_same(brought: &Snapshot, made: &Snapshot) -> Result<(), TestCaseError> {
    let names = |snapshot: &Snapshot| -> Vec<ObjectName> {
        let pods = snapshot.pods.iter();
        pods.map(|pod| pod.name.clone()).collect()
    };
    prop_assert_eq!(names(brought), names(made));
    prop_assert_eq!(&brought.nodes, &made.nodes);
    prop_assert_eq!(format!("{brought:?}"), format!("{made:?}"));
    Ok(())
}

proptest! {
    #![proptest_config(cases(256))]

    #[test]
    fn a_snapshot_brought_up_to_date_is_one_made_anew(
        steps in proptest::collection::vec((0..16_u8, 0..8_u8, 0..8_u8, any::<bool>(), any::<bool>()), 1..80),
        pauses in proptest::collection::vec(1..6_usize, 80),
    ) {
        let mut kept = Kept::new();
        let mut pauses = pauses.into_iter();
        let mut until_next = 1;
        let mut read = Vec::new();
        for (at, step) in steps.into_iter().enumerate() {
            kept.happen(step, Version(at as u64 + 2));
            until_next -= 1;
            if until_next > 0 {
                continue;
            }
            until_next = pauses.next().unwrap_or(1);
            let (brought, made) = (kept.frozen(), kept.made_anew());
            is_same(&brought, &made)?;
            let counted = kept.cluster.capacity(&PoolName::from("pool-0"));
            prop_assert_eq!(counted, kept.capacity());
            // Some decisions are still under way when the next begins.
            if step.3 {
                read.push((brought, made));
            }
        }
        for (brought, made) in read {
            is_same(&brought, &made)?;
        }
    }
}

#[test]
fn conditions_of_a_node_are_seen_and_count_for_decisions_by_readiness_alone() {
    let ready = a_node(0, 9, false, true);
    let with = |conditions: NodeConditions| {
        Arc::new(Node {
            conditions,
            ..Node::clone(&ready)
        })
    };
    let full = NodeConditions::of(Readiness::Unknown, ready.created);
    let full = full.get("Ready").cloned().expect("it is said");
    let own = ready.conditions.iter();
    let own = own.map(|(kind, own)| (Arc::clone(kind), own.clone()));
    let more: NodeConditions = own.chain([("DiskPressure".into(), full)]).collect();
    let silent = NodeConditions::of(Readiness::Unknown, ready.created);

    let mut cluster = Cluster::default();
    let mut revisions = Vec::new();
    let seen = [
        Arc::clone(&ready),
        with(more.clone()),
        with(silent),
        with(more),
    ];
    for (version, node) in seen.into_iter().enumerate() {
        let object = Object::Node(Arc::clone(&node));
        cluster.apply(object, Version(version as u64 + 1));
        assert_eq!(cluster.nodes.get(&node.name), Some(&node));
        revisions.push(cluster.revision());
    }
    assert_eq!(revisions, [1, 1, 2, 3]);
}
