//! The law of one knowledge: an engine that was told of objects one by one, in any order, and `plan` on a file of them decide
//! the same, byte for byte. Claims are on their way in every phase, with the places that they promise, reservations are drawn
//! on, overlays hold, and nodes are smaller than was computed.

use std::collections::BTreeMap;
use std::sync::Arc;

use plimsoll_base::ids::{NodeName, ProviderId, ReservationId, Uid};
use plimsoll_base::labels::{INITIALIZED, REGISTERED};
use plimsoll_base::resources::ResourceName;
use plimsoll_base::time::{Span, Timestamp};
use plimsoll_base::units::PricePerHour;
use plimsoll_engine::{Engine, Input};
use plimsoll_model::action::{Action, Request, SolveRequest, Write};
use plimsoll_model::catalogue::{CapacityType, Catalogues, InstanceType, Offering, Reservation};
use plimsoll_model::plan::{Plan, Target};
use plimsoll_model::provider::ProviderFacts;
use plimsoll_model::snapshot::{Objects, Settings, Snapshot};
use plimsoll_model::{
    ClaimPhase, Conditions, Node, NodeClaim, NodeConditions, Object, Pod, PodPhase, Readiness,
    Version,
};
use plimsoll_oracles::fixture::{
    HOSTNAME, INSTANCE_TYPE, NODEPOOL, RESERVATION_ID, is_in, overlay,
};
use plimsoll_oracles::generate::{Draw, Features, Shape, random_cluster, shapes};
use plimsoll_oracles::judge::cases;
use plimsoll_snapshot::write::json;
use plimsoll_snapshot::{Limits, Loaded, read};
use proptest::prelude::*;
use serde::Serialize;

/// When pods were planned first.
const FIRST: Timestamp = Timestamp::from_millis(1_000_000_000);
/// Longest batch, and a little more.
const PATIENCE: Span = Span::from_secs(15);
const MOST: Shape = Shape::of(0, [16, 3, 3, 4, 3], Features::ALL);

/// A cluster in the middle of its life.
struct World {
    objects: Objects,
    catalogues: Arc<Catalogues>,
    settings: Arc<Settings>,
    seed: u64,
    now: Timestamp,
}

impl World {
    fn engine(&self) -> Engine {
        let (settings, catalogues) = (Arc::clone(&self.settings), Arc::clone(&self.catalogues));
        Engine::new(settings, catalogues, self.seed)
    }

    /// The snapshot that a new engine asks to be planned; `None` where no pod waits.
    fn asked(&self, engine: &mut Engine, order: u64) -> Option<SolveRequest> {
        let mut objects: Vec<Object> = self.objects.iter().collect();
        let mut draw = Draw::new(order, "order", 0);
        for at in (1..objects.len()).rev() {
            objects.swap(at, draw.below(at + 1));
        }
        for object in objects {
            engine.handle(Input::Applied(object, Version(1)), self.now);
        }
        let mut now = self.now;
        let mut actions = engine.handle(Input::Synced, now);
        loop {
            let request = actions.into_iter().find_map(|action| match action {
                Action::Solve(request) => Some(request),
                _ => None,
            });
            if request.is_some() {
                return request;
            }
            now = engine.next_wake()?.max(now + Span::from_millis(1));
            if now > self.now + PATIENCE {
                return None;
            }
            actions = engine.handle(Input::Tick, now);
        }
    }

    /// The world as a file says it, at an instant.
    fn written(&self, now: Timestamp) -> Loaded {
        let (settings, catalogues) = (Arc::clone(&self.settings), Arc::clone(&self.catalogues));
        let snapshot = Snapshot::new(now, self.seed, settings, catalogues, self.objects.clone());
        let text = json(&snapshot).expect("memory takes it");
        read(&*text, &Limits::default()).expect("what is written can be read")
    }
}

/// The claims that are asked for once a plan is handed back.
fn bought(engine: &mut Engine, request: &SolveRequest, plan: &Plan) -> Vec<NodeClaim> {
    let solved = Input::Solved(request.id, Box::new(plan.clone()));
    let actions = engine.handle(solved, request.snapshot.now);
    let made = actions.into_iter().filter_map(|action| match action {
        Action::Do(order) => match order.request {
            Request::Write(Write::CreateClaim { claim, .. }) => Some(*claim),
            _ => None,
        },
        _ => None,
    });
    made.collect()
}

/// Some types with a reservation, at a price next to nothing.
fn reserve(seed: u64, sold: &mut InstanceType) {
    let number = sold.name.as_str().bytes().map(usize::from).sum();
    let mut draw = Draw::new(seed, "reservation", number);
    if !draw.percent(60) {
        return;
    }
    let Some(first) = sold.offerings.first() else {
        return;
    };
    let zone = Arc::clone(&first.zone);
    let price = PricePerHour::from_nanos(1000);
    let mut reserved = Offering::new(zone, CapacityType::Reserved, price);
    reserved.reservation = Some(Reservation {
        id: ReservationId::from(draw.one_of(&["r-1", "r-2"])),
        remaining: u32::try_from(draw.below(4)).unwrap_or(0),
    });
    sold.offerings.insert(0, reserved);
}

/// Facts about the provider as a file is read, which does not say whose it is.
fn provider_of_files() -> ProviderFacts {
    let text = r#"{"plimsoll": {"catalogue": {"instanceTypes": [
        {"name": "m", "capacity": {"cpu": 4, "memory": "16Gi"}, "offerings": [{"zone": "a", "price": 1}]}]}}}"#;
    let loaded = read(text.as_bytes(), &Limits::default()).expect("it is a snapshot");
    ProviderFacts::clone(loaded.snapshot.catalogues.provider())
}

/// A world: a random cluster, planned once, whose claims have come as far as they may.
fn world(shape: &Shape) -> World {
    let mut draw = Draw::new(shape.seed, "world", 0);
    let mut fixture = random_cluster(shape).provider(provider_of_files());
    if draw.percent(50) {
        let cheap = overlay("cheap").needs(is_in(INSTANCE_TYPE, &["type-1"]));
        fixture = fixture.overlay(cheap.price(0.01));
    }
    if draw.percent(30) {
        let wide = overlay("devices").needs(is_in(INSTANCE_TYPE, &["type-0", "type-2"]));
        fixture = fixture.overlay(wide.adds("example.com/device", 2));
    }
    if draw.percent(40) {
        let most = u32::try_from(1 + draw.below(4)).unwrap_or(1);
        fixture = fixture.settings(|settings| settings.runaway.nodes_in_flight = most);
    }
    let (mut objects, catalogues, settings) = fixture.parts();
    let catalogues = catalogues.with_types(|sold| reserve(shape.seed, sold));
    for claim in &mut objects.claims {
        // Keys that no API server takes.
        let requirements = &mut Arc::make_mut(claim).requirements;
        for key in [NODEPOOL, HOSTNAME, REGISTERED, INITIALIZED] {
            requirements.remove(key);
        }
    }
    // Half of the waiting pods come later.
    let waiting = |pod: &Arc<Pod>| pod.node.is_none();
    let (waits, others): (Vec<_>, Vec<_>) = objects.pods.drain(..).partition(waiting);
    let late = waits.iter().skip(1).step_by(2).cloned();
    let late: Vec<Arc<Pod>> = late.collect();
    objects.pods = others;
    objects.pods.extend(waits.into_iter().step_by(2));
    let mut world = World {
        objects,
        catalogues: Arc::new(catalogues),
        settings: Arc::new(settings),
        seed: shape.seed,
        now: FIRST,
    };
    let mut engine = world.engine();
    let later = FIRST + Span::from_secs(draw.one_of(&[40, 300]));
    if let Some(request) = world.asked(&mut engine, 0) {
        let plan = plimsoll_schedule::plan(&request.snapshot);
        let claims = bought(&mut engine, &request, &plan);
        world.now = later;
        let mut fates = Fates {
            world: &mut world,
            draw: &mut draw,
            snapshot: &request.snapshot,
        };
        fates.befall(&plan, claims);
    }
    world.objects.pods.extend(late);
    world.now = later;
    world
}

/// Claims on their way to become nodes.
struct Fates<'w> {
    world: &'w mut World,
    draw: &'w mut Draw,
    snapshot: &'w Snapshot,
}

impl Fates<'_> {
    /// Each claim comes as far as is drawn, and its pods with it.
    fn befall(&mut self, plan: &Plan, claims: Vec<NodeClaim>) {
        // Where a ceiling holds some back, it is not known here which claim is which row's.
        let rows = (claims.len() == plan.claims.len()).then_some(&plan.placements);
        for (row, claim) in claims.into_iter().enumerate() {
            let node = self.befalls(claim);
            let placed = rows.into_iter().flatten();
            let own = placed.filter(|placement| placement.target == Target::New(row));
            for placement in own {
                if let Some((node, is_complete)) = &node {
                    let name = &self.snapshot.pods[placement.pod].name;
                    let pods = &mut self.world.objects.pods;
                    let pod = pods.iter_mut().find(|pod| pod.name == *name);
                    let pod = Arc::make_mut(pod.expect("what is planned is there"));
                    if *is_complete && self.draw.percent(70) {
                        pod.node = Some(node.clone());
                        pod.phase = PodPhase::Running;
                        pod.unschedulable = false;
                    } else if self.draw.percent(50) {
                        pod.nominated = Some(node.clone());
                    }
                }
            }
        }
    }

    /// One claim; its node, as far as it has one, and whether pods can use it.
    fn befalls(&mut self, mut claim: NodeClaim) -> Option<(NodeName, bool)> {
        claim.uid = Uid::from(format!("uid-{}", claim.name));
        claim.created = FIRST;
        // Promises on a complete node hold for 20 seconds: these are over, or hold for the longest batch.
        let since = [FIRST, self.world.now - Span::from_secs(1)];
        let since = self.draw.one_of(&since);
        let phases = [
            ClaimPhase::Created,
            ClaimPhase::Launched,
            ClaimPhase::Registered,
            ClaimPhase::Initialized,
        ];
        let phase = self.draw.one_of(&phases);
        claim.conditions = Conditions::reached(phase, since);
        let objects = &mut self.world.objects;
        if phase == ClaimPhase::Created {
            objects.claims.push(Arc::new(claim));
            return None;
        }
        let catalogues = Arc::clone(&self.world.catalogues);
        let sold = catalogues
            .of(&claim.class)
            .planned(&claim)
            .expect("it is sold");
        claim.labels = sold.node_labels(&claim.labels, &claim.requirements);
        let resources = sold.resources();
        (claim.capacity, claim.allocatable) = (resources.capacity, resources.allocatable);
        let id = ProviderId::from(format!("fake:///{}", claim.name));
        claim.provider_id = Some(id.clone());
        if let Some(drawn_on) = claim.labels.get(RESERVATION_ID).cloned() {
            self.world.catalogues = Arc::new(catalogues.with_types(|sold| {
                let own = sold.offerings.iter_mut();
                for own in own.filter_map(|offering| offering.reservation.as_mut()) {
                    if own.id.as_str() == drawn_on.as_ref() {
                        own.remaining = own.remaining.saturating_sub(1);
                    }
                }
            }));
        }
        if phase == ClaimPhase::Launched {
            objects.claims.push(Arc::new(claim));
            return None;
        }
        let name = NodeName::from(format!("node-of-{}", claim.name));
        claim.node = Some(name.clone());
        let is_complete = phase == ClaimPhase::Initialized;
        let mut node = Node {
            name: name.clone(),
            uid: Uid::from(format!("node/{name}")),
            provider_id: Some(id),
            labels: claim.labels.clone(),
            annotations: claim.annotations.clone(),
            taints: claim.taints.clone(),
            capacity: claim.capacity.clone(),
            allocatable: claim.allocatable.clone(),
            features: Vec::new(),
            conditions: NodeConditions::of(Readiness::Ready, FIRST),
            created: FIRST,
            deleting: None,
            held: true,
        };
        node.labels
            .insert(HOSTNAME.into(), claim.name.as_str().into());
        node.labels.insert(REGISTERED.into(), "true".into());
        if is_complete {
            node.labels.insert(INITIALIZED.into(), "true".into());
            // Memory that hypervisor and firmware keep, or another kubelet than the class says.
            let lacking = i64::try_from(self.draw.below(5)).unwrap_or(0) * (100 << 20);
            let memory = ResourceName::Memory;
            node.allocatable
                .set(memory.clone(), node.allocatable.get(&memory) - lacking);
            if self.draw.percent(70) {
                node.capacity
                    .set(memory.clone(), node.capacity.get(&memory) - lacking);
            }
        }
        objects.claims.push(Arc::new(claim));
        objects.nodes.push(Arc::new(node));
        Some((name, is_complete))
    }
}

/// The first lines in which two values differ when they are written, each after the lines before it.
fn difference(left: &impl Serialize, right: &impl Serialize) -> Option<String> {
    let left = serde_json::to_string_pretty(left).expect("it can be written");
    let right = serde_json::to_string_pretty(right).expect("it can be written");
    let mut lines = left.lines().zip(right.lines());
    let at = lines.position(|(left, right)| left != right);
    let at = at.or_else(|| (left != right).then(|| left.lines().count()))?;
    let part = |text: &str| -> Vec<String> {
        let lines = text.lines().skip(at.saturating_sub(12)).take(16);
        lines.map(str::to_owned).collect()
    };
    Some(format!("{:#?}\n{:#?}", part(&left), part(&right)))
}

/// Differences between what an engine plans, which hears of objects in some order, and what is planned from a file of them.
fn differences(shape: &Shape, order: u64) -> Result<(), TestCaseError> {
    let world = world(shape);
    let mut engine = world.engine();
    let request = world.asked(&mut engine, order);
    let now = request
        .as_ref()
        .map_or(world.now, |request| request.snapshot.now);
    let loaded = world.written(now);
    let snapshot = &loaded.snapshot;
    let (catalogues, settings) = (&snapshot.catalogues, &snapshot.settings);
    let (catalogues, settings) = (Arc::clone(catalogues), Arc::clone(settings));
    let mut found = Engine::finding(&loaded.objects, catalogues, settings, snapshot.seed, now);
    let snapshot = found.snapshot(now);
    let plan = plimsoll_schedule::plan(&snapshot);
    let Some(request) = request else {
        // No pod asks for a node; what would be decided on is the same all the same.
        let told = difference(&engine.snapshot(now), &snapshot);
        prop_assert!(told.is_none(), "{}", told.unwrap_or_default());
        return Ok(());
    };
    let live = plimsoll_schedule::plan(&request.snapshot);
    for told in [
        difference(&*request.snapshot, &snapshot),
        difference(&live, &plan),
    ] {
        prop_assert!(told.is_none(), "{}", told.unwrap_or_default());
    }
    let held = found.held_by_ceilings(&snapshot, &plan, now);
    let claims = bought(&mut engine, &request, &live);
    let mut pools: BTreeMap<&str, i64> = BTreeMap::new();
    for (row, planned) in plan.claims.iter().enumerate() {
        *pools.entry(planned.pool.as_str()).or_default() += i64::from(!held.contains_key(&row));
    }
    for claim in &claims {
        *pools.entry(claim.pool.as_str()).or_default() -= 1;
    }
    prop_assert!(pools.values().all(|left| *left == 0), "{pools:?}: {held:?}");
    Ok(())
}

proptest! {
    #![proptest_config(cases(256))]

    #[test]
    fn an_engine_and_a_file_of_the_same_objects_give_the_same_plan(shape in shapes(MOST), order in any::<u64>()) {
        differences(&shape, order)?;
    }
}

/// Clusters in which something follows from objects that a plain reading of them leaves out, so that the law speaks of it.
#[test]
fn the_law_speaks_of_promises_learned_sizes_reservations_and_ceilings() {
    let mut seen = [false; 4];
    for seed in 0..200 {
        let shape = Shape { seed, ..MOST };
        let world = world(&shape);
        let (settings, catalogues) = (Arc::clone(&world.settings), Arc::clone(&world.catalogues));
        let mut engine = Engine::finding(&world.objects, catalogues, settings, seed, world.now);
        let snapshot = engine.snapshot(world.now);
        let plan = plimsoll_schedule::plan(&snapshot);
        let drawn = |claim: &Arc<NodeClaim>| claim.labels.contains_key(RESERVATION_ID);
        seen[0] |= !engine.promised_pods(world.now).is_empty();
        seen[1] |= *snapshot.catalogues != *world.catalogues;
        seen[2] |= world.objects.claims.iter().any(drawn);
        seen[3] |= !engine
            .held_by_ceilings(&snapshot, &plan, world.now)
            .is_empty();
    }
    assert_eq!(seen, [true; 4]);
}
