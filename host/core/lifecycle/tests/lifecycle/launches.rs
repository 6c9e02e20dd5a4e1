//! Launches of several claims: what they share, what is written before the call, and what a later process makes of it.

use std::sync::Arc;

use plimsoll_base::ids::ProviderId;
use plimsoll_base::labels::Labels;
use plimsoll_base::resources::Resources;
use plimsoll_base::time::Span;
use plimsoll_engine::Input;
use plimsoll_model::action::{
    Answer, ClaimLaunch, CloudCall, LAUNCH_BATCH_ANNOTATION, LaunchAnswer, LaunchBatch,
    LaunchRequest, LaunchedInstance, Order, Outcome, Purpose, Reason, Request, Write,
};
use plimsoll_model::catalogue::{LAUNCH_ORDER_ANNOTATION, LAUNCH_ORDER_BY_ANNOTATION};
use plimsoll_model::provider::{LaunchWindow, ProviderFacts};
use plimsoll_model::snapshot::Objects;
use plimsoll_model::{NodeClaim, Object, Version};
use plimsoll_oracles::fixture::{ClusterFixture, pool};

use super::identity::{World, purposes};
use super::naming::{asked, decided, made, sold, waiting};

/// Instances of a provider that gathers launches to so many.
fn gathering(size: usize) -> ClusterFixture {
    sold().provider(ProviderFacts {
        launch: LaunchWindow {
            idle: Span::from_millis(50),
            longest: Span::from_secs(1),
            size,
        },
        ..ProviderFacts::default()
    })
}

/// Claims that ask for the same, of these uids.
fn alike(uids: &[&str]) -> Vec<Arc<NodeClaim>> {
    let (_, orders) = decided(&waiting(&["a", "b"]), 100);
    let one = &asked(&orders)[0];
    let named = |uid: &&str| {
        let mut claim = made(one, uid);
        Arc::make_mut(&mut claim).name = format!("general-{uid}").into();
        claim
    };
    uids.iter().map(named).collect()
}

/// An engine that finds claims, on a provider that gathers launches to so many.
fn finding(claims: &[Arc<NodeClaim>], size: usize) -> (World, Vec<Order>) {
    let objects = Objects {
        claims: claims.to_vec(),
        pools: gathering(size).pool(pool("general")).parts().0.pools,
        ..Objects::default()
    };
    World::on(&objects, gathering(size), 100)
}

/// A claim as an order changes its annotations.
fn marked(claims: &[Arc<NodeClaim>], order: &Order) -> Arc<NodeClaim> {
    let (name, change) = match &order.request {
        Request::Write(Write::ChangeClaim(name, change)) => Some((name, change)),
        _ => None,
    }
    .expect("it changes a claim");
    let claim = claims.iter().find(|claim| claim.name == *name);
    let mut claim = Arc::clone(claim.expect("it is one of them"));
    let own = Arc::make_mut(&mut claim);
    own.annotations.extend(change.annotations.clone());
    claim
}

fn request(order: &Order) -> &LaunchRequest {
    match &order.request {
        Request::Cloud(CloudCall::Launch(request) | CloudCall::Find(request)) => Some(request),
        _ => None,
    }
    .expect("it is a launch")
}

fn uids(order: &Order) -> Vec<&str> {
    let claims = request(order).claims.iter();
    claims.map(|claim| claim.uid.as_str()).collect()
}

fn machine(id: &str) -> ClaimLaunch {
    ClaimLaunch::Instance(Box::new(LaunchedInstance {
        provider_id: ProviderId::from(id),
        labels: Labels::new(),
        annotations: Labels::new(),
        capacity: Resources::new(),
        allocatable: Resources::new(),
        image: None,
        launched: None,
    }))
}

fn became(claims: Vec<ClaimLaunch>) -> Answer {
    Answer::Launched(LaunchAnswer {
        claims,
        exhausted: Vec::new(),
    })
}

/// The claims with the token of one launch on each.
fn launching(uids: &[&str]) -> Vec<Arc<NodeClaim>> {
    let claims = alike(uids);
    let batch = LaunchBatch::new(claims.iter().map(|claim| &claim.uid), 7, 0);
    let bearing = claims.into_iter().map(|mut claim| {
        let own = Arc::make_mut(&mut claim);
        own.annotations.extend(batch.to_annotations());
        claim
    });
    bearing.collect()
}

#[test]
fn claims_that_ask_for_the_same_are_called_for_once_all_bear_the_token() {
    let claims = alike(&["a", "b", "c"]);
    let (mut world, orders) = finding(&claims, 50);
    assert_eq!(purposes(&orders), [], "others may come");
    let orders = world.wait(1);
    assert_eq!(purposes(&orders), [Purpose::MarkLaunching; 3]);
    let bearing: Vec<_> = orders.iter().map(|order| marked(&claims, order)).collect();
    let sizes = bearing
        .iter()
        .map(|claim| &*claim.annotations[LAUNCH_BATCH_ANNOTATION]);
    assert_eq!(sizes.collect::<Vec<_>>(), ["3"; 3]);
    assert_eq!(
        purposes(&world.see(Object::Claim(Arc::clone(&bearing[0])))),
        []
    );
    assert_eq!(
        purposes(&world.see(Object::Claim(Arc::clone(&bearing[1])))),
        []
    );
    let call = world.see(Object::Claim(Arc::clone(&bearing[2])));
    assert_eq!(purposes(&call), [Purpose::Launch]);
    assert_eq!(uids(&call[0]), ["a", "b", "c"]);
    let orders = world.answer(
        &call[0],
        became(vec![machine("x"), machine("y"), machine("z")]),
    );
    assert_eq!(purposes(&orders), [Purpose::MarkLaunched; 3]);
}

#[test]
fn claims_wait_for_those_of_their_kind_that_are_being_created_but_no_longer_than_the_longest() {
    let objects = waiting(&["a", "b", "c", "d"]);
    let created = |world: &mut World, order: &Order, uid: &str| {
        let claim = made(&asked(std::slice::from_ref(order))[0], uid);
        world.version += 1;
        let answer = Answer::Object(Object::Claim(claim), Version(world.version));
        world.answer(order, answer)
    };
    let begin = || {
        let (mut world, mut orders) = World::on(&objects, gathering(50), 100);
        orders.extend(world.wait(15));
        assert_eq!(purposes(&orders), [Purpose::Create; 2]);
        let first = created(&mut world, &orders[0], "a");
        assert_eq!(purposes(&first), [], "the other is being created");
        (world, orders)
    };
    let (mut world, orders) = begin();
    // Longer than none may come, shorter than the first waits.
    let before = world.now + Span::from_millis(500);
    assert!(world.engine.next_wake().is_some_and(|wake| wake > before));
    world.now = before;
    assert_eq!(purposes(&world.hear(Input::Tick)), []);
    let mut both = created(&mut world, &orders[1], "b");
    both.extend(world.wait(1));
    assert_eq!(purposes(&both), [Purpose::MarkLaunching; 2]);

    let (mut world, orders) = begin();
    assert_eq!(purposes(&world.wait(2)), [Purpose::MarkLaunching]);
    created(&mut world, &orders[1], "b");
    assert_eq!(purposes(&world.wait(2)), [Purpose::MarkLaunching]);
}

#[test]
fn no_call_is_larger_than_the_setting_and_none_waits_for_a_full_one() {
    let (_, orders) = finding(&alike(&["a", "b", "c"]), 1);
    assert_eq!(purposes(&orders), [Purpose::MarkLaunching; 3]);
    let (mut world, orders) = finding(&alike(&["a", "b", "c"]), 2);
    assert_eq!(
        purposes(&orders),
        [Purpose::MarkLaunching; 3],
        "a window is over once it has two"
    );
    assert_eq!(purposes(&world.wait(1)), []);
}

#[test]
fn the_next_process_repeats_the_call_under_its_token() {
    let claims = launching(&["a", "b"]);
    let (mut world, orders) = finding(&claims, 50);
    assert_eq!(purposes(&orders), [Purpose::Launch]);
    assert_eq!(uids(&orders[0]), ["a", "b"]);
    let token = LaunchBatch::of(&claims[0]).map(|own| own.token);
    assert_eq!(Some(&request(&orders[0]).batch.token), token.as_ref());
    // Its outcome is unknown: the same call again.
    let again = world.hear(Input::Outcome(orders[0].id, Outcome::Unknown));
    let again = if again.is_empty() {
        world.wait(10)
    } else {
        again
    };
    assert_eq!(purposes(&again[..1]), [Purpose::Launch]);
    assert_eq!(request(&again[0]), request(&orders[0]));
}

#[test]
fn machines_that_others_of_the_launch_have_are_named() {
    let mut claims = launching(&["a", "b"]);
    Arc::make_mut(&mut claims[0]).provider_id = Some(ProviderId::from("x"));
    let (_, orders) = finding(&claims, 50);
    let call = orders.iter().find(|order| order.purpose == Purpose::Launch);
    let call = call.expect("the other has none");
    assert_eq!(uids(call), ["b"]);
    assert!(request(call).taken.contains("x"));
    assert_eq!(request(call).batch.size, 2);
}

#[test]
fn a_launch_that_is_not_whole_is_read_back_and_what_it_gave_is_taken() {
    let claims = launching(&["a", "b", "c"]);
    let (mut world, orders) = finding(&claims[..2], 50);
    assert_eq!(purposes(&orders), [], "the third may be about to be seen");
    let orders = world.wait(6);
    assert_eq!(purposes(&orders), [Purpose::Find]);
    assert_eq!(uids(&orders[0]), ["a", "b"]);
    let orders = world.answer(&orders[0], became(vec![machine("x"), ClaimLaunch::Absent]));
    assert_eq!(purposes(&orders), [Purpose::MarkLaunched]);
    // The one that got nothing is launched under another token.
    let orders = world.wait(1);
    assert_eq!(purposes(&orders), [Purpose::MarkLaunching]);
    let before = LaunchBatch::of(&claims[1]).expect("it was written");
    let after = LaunchBatch::of(&marked(&claims, &orders[0])).expect("it is written");
    assert_ne!(after.token, before.token);
    assert_eq!((after.size, after.attempt()), (1, 1));
}

#[test]
fn a_token_that_somebody_else_has_written_is_not_overwritten() {
    let claims = alike(&["a"]);
    let (mut world, orders) = finding(&claims, 1);
    assert_eq!(purposes(&orders), [Purpose::MarkLaunching]);
    let theirs = launching(&["a"]);
    let orders = world.see(Object::Claim(Arc::clone(&theirs[0])));
    assert_eq!(purposes(&orders), [Purpose::Launch]);
    let token = LaunchBatch::of(&theirs[0]).map(|own| own.token);
    assert_eq!(Some(&request(&orders[0]).batch.token), token.as_ref());
}

#[test]
fn of_a_launch_in_part_those_without_a_machine_say_why_and_try_again_later() {
    let claims = launching(&["a", "b"]);
    let (mut world, orders) = finding(&claims, 50);
    let failed = ClaimLaunch::Refused(Reason::Other("no more today".to_owned()));
    let orders = world.answer(&orders[0], became(vec![machine("x"), failed]));
    assert_eq!(
        purposes(&orders),
        [Purpose::MarkLaunched, Purpose::MarkWaiting]
    );
    let orders = world.wait(2);
    assert_eq!(purposes(&orders), [Purpose::MarkLaunching]);
}

#[test]
fn a_claim_that_goes_is_let_go_once_its_launch_says_that_it_has_no_machine() {
    let mut claims = launching(&["a"]);
    Arc::make_mut(&mut claims[0]).deleting = Some(super::second(99));
    let (mut world, orders) = finding(&claims, 1);
    assert_eq!(purposes(&orders), [Purpose::Find]);
    let orders = world.answer(&orders[0], became(vec![ClaimLaunch::Absent]));
    assert_eq!(purposes(&orders), [Purpose::ReleaseClaim]);
    assert!(
        orders[0].version.is_some(),
        "a token may have been written since"
    );
}

/// A refusal of the call itself.
fn refused() -> Outcome {
    Outcome::Refused(Reason::Other("internal error".to_owned()))
}

#[test]
fn a_refusal_says_nothing_of_a_call_before_it_whose_answer_was_lost() {
    let claims = launching(&["a"]);
    let (mut world, orders) = finding(&claims, 1);
    assert_eq!(
        purposes(&orders),
        [Purpose::Launch],
        "somebody may have called before"
    );
    let orders = world.hear(Input::Outcome(orders[0].id, refused()));
    assert_eq!(purposes(&orders), [Purpose::Find]);
    let told = world.answer(&orders[0], became(vec![ClaimLaunch::Absent]));
    assert_eq!(
        purposes(&told),
        [Purpose::MarkWaiting],
        "now it is known to have failed"
    );
    assert_eq!(purposes(&world.wait(2)), [Purpose::MarkLaunching]);
}

#[test]
fn a_call_that_nobody_made_before_has_failed_when_it_is_refused() {
    let claims = alike(&["a"]);
    let (mut world, orders) = finding(&claims, 1);
    let call = world.see(Object::Claim(marked(&claims, &orders[0])));
    assert_eq!(purposes(&call), [Purpose::Launch]);
    let orders = world.hear(Input::Outcome(call[0].id, refused()));
    assert_eq!(purposes(&orders), [Purpose::MarkWaiting]);
}

/// The condition `Launched` that a claim's change says, as `reason: message`.
fn said(order: &Order) -> String {
    let said = match &order.request {
        Request::Write(Write::ChangeClaim(_, change)) => change.conditions.first(),
        _ => None,
    };
    let said = said.expect("it says why");
    format!("{}: {}", said.reason, said.message)
}

#[test]
fn the_reason_that_the_cloud_gives_stands_on_the_claim() {
    let claims = alike(&["a"]);
    let failed = |reason: Reason| {
        let (mut world, orders) = finding(&claims, 1);
        let call = world.see(Object::Claim(marked(&claims, &orders[0])));
        let orders = world.hear(Input::Outcome(call[0].id, Outcome::Refused(reason)));
        said(&orders[0])
    };
    let words = || "no such image".to_owned();
    let known = Reason::LaunchFailed {
        reason: "AMINotFound".into(),
        words: words(),
    };
    assert_eq!(failed(known), "AMINotFound: no such image");
    assert_eq!(
        failed(Reason::Other(words())),
        "LaunchFailed: no such image"
    );
}

#[test]
fn a_claim_says_what_its_order_is_by() {
    let by = |claim: &NodeClaim| claim.annotations.get(LAUNCH_ORDER_BY_ANNOTATION).cloned();
    let claims = alike(&["a"]);
    assert_eq!(by(&claims[0]).as_deref(), Some("price"));
    // A claim of others' says nothing; one of before keeps its order and says nothing of it.
    let annotations = |is_without: bool| {
        let mut claim = alike(&["a"]).remove(0);
        let own = Arc::make_mut(&mut claim);
        own.annotations.remove(LAUNCH_ORDER_BY_ANNOTATION);
        if is_without {
            own.annotations.remove(LAUNCH_ORDER_ANNOTATION);
        }
        let (_, orders) = finding(std::slice::from_ref(&claim), 1);
        by(&marked(&[claim], &orders[0]))
    };
    assert_eq!(annotations(true).as_deref(), Some("price"));
    assert_eq!(annotations(false), None);
}
