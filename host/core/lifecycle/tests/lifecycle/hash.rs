//! Hashes of templates on pools and claims: written, and taken over from a controller whose rules are of another version.

use std::sync::Arc;

use plimsoll_base::labels::Labels;
use plimsoll_lifecycle::{DisruptionFacts, DriftFinding};
use plimsoll_model::action::{Answer, ClaimChange, Order, Purpose, Request, Write};
use plimsoll_model::snapshot::Objects;
use plimsoll_model::{
    ConditionType, DesiredCondition, NodeClaim, NodePool, Object, Stamp, Version,
    template_hash::{self, HASH_ANNOTATION, HASH_VERSION_ANNOTATION},
};
use plimsoll_oracles::fixture::{cluster, node, pool};

use super::identity::World;
use super::{Scene, second};

/// Annotations of a hash; the version of ours is `v3`.
fn hashed(hash: &str, version: &str) -> Labels {
    let entries = [(HASH_ANNOTATION, hash), (HASH_VERSION_ANNOTATION, version)];
    let own = entries.map(|(key, value)| (Arc::from(key), Arc::from(value)));
    own.into_iter().collect()
}

fn drifted(claim: &mut NodeClaim) {
    let said = DesiredCondition::holds_since(ConditionType::Drifted, "NodePoolDrifted", "");
    let stamp = Stamp {
        created: second(0),
        now: second(1),
        generation: 1,
        deleting: false,
    };
    let dependents = ConditionType::OF_CLAIMS;
    claim.conditions.say(&[said], dependents, &stamp);
}

/// Changes of a claim whose pool has hash `7` and does not bear it by our rules yet.
fn changes(change: impl FnOnce(&mut NodeClaim)) -> Vec<ClaimChange> {
    let mut scene = Scene::of(node("n1").managed("general"), []).claim(|claim| {
        claim.annotations = hashed("1", "v2");
        change(claim);
    });
    scene.migrated_hash = Some("7".into());
    // Looked at by itself, no claim has drifted.
    scene.disruption = Some(DisruptionFacts {
        drift: DriftFinding::Same,
        consolidatable_from: None,
        reason: None,
    });
    scene.changes()
}

fn written(changes: &[ClaimChange]) -> Vec<Labels> {
    let all = changes.iter().map(|change| change.annotations.clone());
    all.collect()
}

#[test]
fn a_claim_takes_the_hash_of_its_pool_with_a_new_version() {
    assert_eq!(written(&changes(|_| {})), [hashed("7", "v3")]);
    let bare = changes(|claim| claim.annotations.clear());
    assert_eq!(written(&bare), [hashed("7", "v3")]);
}

#[test]
fn a_claim_that_has_drifted_keeps_its_hash_and_what_is_said_of_it() {
    let changes = changes(drifted);
    let version = (HASH_VERSION_ANNOTATION.into(), "v3".into());
    assert_eq!(written(&changes), [Labels::from([version])]);
    assert_eq!(changes[0].cleared, []);
}

#[test]
fn a_claim_of_our_version_or_one_that_goes_is_left_as_it_is() {
    let ours = |claim: &mut NodeClaim| claim.annotations = hashed("1", "v3");
    assert_eq!(changes(ours), []);
    let goes = changes(|claim| claim.deleting = Some(second(1)));
    assert!(written(&goes).iter().all(Labels::is_empty));
}

/// A pool that bears these annotations, and two claims of it that bear those.
fn world(of_pool: Labels, of_claims: &Labels) -> (World, Arc<NodePool>) {
    let own = cluster().pool(pool("general").label("team", "shop"));
    let own = own.node(node("n1").managed("general"));
    let own = own.node(node("n2").managed("general"));
    let (mut objects, ..) = own.parts();
    for claim in &mut objects.claims {
        Arc::make_mut(claim).annotations.clone_from(of_claims);
    }
    let general = Arc::clone(&objects.pools[0]);
    Arc::make_mut(&mut objects.pools[0]).status.memory = of_pool;
    (found(&objects), general)
}

fn found(objects: &Objects) -> World {
    World::finding(objects).0
}

/// Orders to write hashes on claims that were given and not looked at yet.
fn of_claims(world: &mut World) -> Vec<Order> {
    let is_of_claim = |order: &mut Order| order.purpose == Purpose::MarkHash;
    world.written.extract_if(.., is_of_claim).collect()
}

/// Carries out what is to be written on the pool within two seconds; its annotations that are written.
fn of_pool(world: &mut World) -> Labels {
    // What was written a moment ago is not written again.
    world.wait(2);
    let mut written = Labels::new();
    let is_of_pool = |order: &Order| order.purpose == Purpose::MarkStatus;
    while let Some(at) = world.written.iter().position(is_of_pool) {
        let order = world.written.remove(at);
        let change = match &order.request {
            Request::Write(Write::ChangeStatus(_, change)) => Some(change),
            _ => None,
        };
        let change = change.expect("a status is written");
        let mut pool = world.engine.cluster().pools.objects().remove(0);
        let seen = world
            .engine
            .cluster()
            .status(&order.object)
            .expect("it is there");
        let own = Arc::make_mut(&mut pool);
        own.status = seen.status.clone();
        own.status.memory.extend(change.memory.clone());
        own.status.resources = change.resources.clone().unwrap_or_default();
        written.extend(change.memory.clone());
        world.version += 1;
        let answer = Answer::Object(Object::Pool(pool), Version(world.version));
        world.answer(&order, answer);
    }
    written
}

/// Carries out an order to change a claim's annotations.
fn carry_out(world: &mut World, order: &Order) {
    let changed = match &order.request {
        Request::Write(Write::ChangeClaim(name, change)) => Some((name, change)),
        _ => None,
    };
    let (name, change) = changed.expect("a claim is changed");
    let claim = world.engine.cluster().claims.get(name).cloned();
    let mut claim = claim.expect("it is there");
    let own = Arc::make_mut(&mut claim);
    own.annotations.extend(change.annotations.clone());
    world.version += 1;
    let version = Version(world.version);
    world.answer(order, Answer::Object(Object::Claim(claim), version));
}

#[test]
fn a_pool_bears_its_hash_once_every_claim_of_it_does() {
    let (mut world, general) = world(hashed("1", "v2"), &hashed("1", "v2"));
    let orders = of_claims(&mut world);
    assert_eq!(orders.len(), 2);
    carry_out(&mut world, &orders[0]);
    assert_eq!(of_pool(&mut world), Labels::new());
    carry_out(&mut world, &orders[1]);
    let ours: Labels = template_hash::annotations(&general).into();
    assert_eq!(of_pool(&mut world), ours);
    assert_eq!(of_claims(&mut world), []);
}

#[test]
fn claims_without_a_hash_of_our_version_are_left_alone_once_their_pool_has_one() {
    let (mut world, general) = world(hashed("1", "v3"), &hashed("1", "v2"));
    assert_eq!(of_claims(&mut world), []);
    // A hash of our version that is another's follows the template.
    let hash = (HASH_ANNOTATION.into(), template_hash::hash(&general));
    assert_eq!(of_pool(&mut world), Labels::from([hash]));
}

#[test]
fn claims_of_a_pool_whose_annotations_were_taken_off_are_looked_at_again() {
    let ours = hashed("1", "v3");
    let (mut world, general) = world(ours.clone(), &hashed("1", "v2"));
    assert_eq!(of_claims(&mut world), []);
    world.see(NodePool::clone(&general));
    world.wait(1);
    assert_eq!(of_claims(&mut world).len(), 2);
}
