//! Instances without claims, claims without instances, and names of instances.

use std::collections::BTreeSet;
use std::sync::Arc;

use plimsoll_base::ids::ProviderId;
use plimsoll_engine::Input;
use plimsoll_model::action::{
    Answer, CloudCall, ListedInstance, ObjectKey, Order, Outcome, Purpose, Request,
};
use plimsoll_model::provider::ProviderFacts;
use plimsoll_model::snapshot::Objects;
use plimsoll_model::{ClaimPhase, NodeClaim, NodeConditions, Object, Readiness};
use plimsoll_oracles::fixture::{NodeFixture, cluster, node};

use super::identity::{World, purposes};

fn listed(id: &str) -> ListedInstance {
    ListedInstance {
        instance: ProviderId::from(id),
        token: None,
        ending: None,
        drift: None,
    }
}

/// Answers the list that was asked for last.
fn list(world: &mut World, ids: &[&str]) -> Vec<Order> {
    let asked = world.lists.pop().expect("a list was asked for");
    let machines = ids.iter().map(|id| listed(id)).collect();
    world.answer(&asked, Answer::Listed(machines))
}

fn registered() -> NodeFixture {
    node("n1").managed("general").phase(ClaimPhase::Initialized)
}

/// A claim with its node, and the id of its instance.
fn standing(fixture: NodeFixture) -> (Objects, String) {
    let (objects, ..) = cluster().node(fixture).parts();
    let id = objects.claims[0].provider_id.clone().expect("it has one");
    (objects, id.as_str().to_owned())
}

#[test]
fn a_machine_that_no_claim_stands_for_ends_once_it_was_alone_for_a_minute() {
    let (objects, id) = standing(registered());
    let (mut world, _) = World::finding(&objects);
    assert_eq!(purposes(&list(&mut world, &[&id, "alone"])), []);
    world.wait(62);
    let orders = list(&mut world, &[&id, "alone"]);
    assert_eq!(purposes(&orders), [Purpose::Terminate]);
    assert_eq!(orders[0].object, ObjectKey::Instance("alone".into()));
    world.answer(&orders[0], Answer::Ending);
    world.wait(62);
    assert_eq!(purposes(&list(&mut world, &[&id])), []);
}

#[test]
fn a_machine_whose_claim_is_seen_meanwhile_stays() {
    let (objects, id) = standing(registered());
    let (mut world, _) = World::finding(&Objects::default());
    assert_eq!(purposes(&list(&mut world, &[&id])), []);
    world.see(Object::Claim(Arc::clone(&objects.claims[0])));
    world.wait(62);
    assert_eq!(purposes(&list(&mut world, &[&id])), []);
}

#[test]
fn nothing_is_collected_on_the_word_of_a_stale_view() {
    let (mut world, _) = World::finding(&Objects::default());
    list(&mut world, &["alone"]);
    world.hear(Input::Stale(vec!["nodeclaims".into()]));
    assert_eq!(purposes(&world.wait(200)), []);
    assert!(world.lists.is_empty(), "nobody would believe it");
    world.hear(Input::Fresh);
    let orders = list(&mut world, &["alone"]);
    assert_eq!(purposes(&orders), [Purpose::Terminate]);
}

#[test]
fn a_node_that_pods_may_be_on_is_drained_before_its_machine_ends() {
    let (mut objects, id) = standing(registered().with(|node| node.held = true));
    objects.claims.clear();
    let (mut world, _) = World::finding(&objects);
    list(&mut world, &[&id]);
    world.wait(62);
    let orders = list(&mut world, &[&id]);
    assert_eq!(purposes(&orders), [Purpose::DeleteNode]);
}

/// Orders for a claim whose instance is not listed, with its node in this state.
fn vanished(ready: Readiness) -> Vec<Purpose> {
    let (objects, _) = standing(
        registered().with(|node| node.conditions = NodeConditions::of(ready, node.created)),
    );
    let (mut world, _) = World::finding(&objects);
    purposes(&list(&mut world, &[]))
}

#[test]
fn a_claim_whose_machine_is_gone_goes_unless_its_node_reports() {
    assert_eq!(vanished(Readiness::Ready), []);
    assert_eq!(vanished(Readiness::Unknown), [Purpose::DeleteClaim]);
}

#[test]
fn a_list_that_cannot_be_had_is_asked_for_again() {
    let (objects, _) = standing(registered());
    let (mut world, _) = World::finding(&objects);
    let asked = world.lists.pop().expect("a list was asked for");
    world.hear(Input::Outcome(asked.id, Outcome::Unknown));
    world.wait(5);
    assert_eq!(world.lists.len(), 1);
}

#[test]
fn a_machine_is_named_once_its_node_has_joined_and_its_claim_says_so() {
    let key: Arc<str> = "cloud.example/tagged".into();
    let names = ProviderFacts {
        tagged: BTreeSet::from([Arc::clone(&key)]),
        ..ProviderFacts::default()
    };
    let (objects, id) = standing(registered());
    let (mut world, orders) = World::on(&objects, cluster().provider(names), 100);
    assert_eq!(purposes(&orders), [Purpose::Tag]);
    let Request::Cloud(CloudCall::Tag { instance, .. }) = &orders[0].request else {
        panic!("{orders:?}");
    };
    assert_eq!(instance.as_str(), id);
    let orders = world.answer(&orders[0], Answer::Nothing);
    assert_eq!(purposes(&orders), [Purpose::MarkTagged]);
    let mut said = NodeClaim::clone(&objects.claims[0]);
    said.annotations.insert(key, "true".into());
    assert_eq!(purposes(&world.see(Object::Claim(Arc::new(said)))), []);
    assert_eq!(purposes(&world.wait(600)), []);
}
