//! Offers of pools may be kept from one decision to the next; that changes no decision, and what no longer holds is read again.

use std::sync::Arc;

use plimsoll_model::plan::Plan;
use plimsoll_model::snapshot::Snapshot;
use plimsoll_oracles::fixture::{Amounts, NODEPOOL, pod, pool};
use plimsoll_oracles::generate::diverse_pods;
use plimsoll_schedule::Session;
use plimsoll_scheduling_tests::market;

fn snapshot() -> Snapshot {
    let daemon = pod("logs").cpu(100).memory_mib(64);
    market()
        .daemon(&daemon)
        .pods(diverse_pods(40, 1))
        .snapshot()
}

/// The same market with other pods.
fn later(first: &Snapshot) -> Snapshot {
    let pods = market().pods(diverse_pods(60, 2)).snapshot().pods;
    Snapshot {
        pods,
        ..first.clone()
    }
}

/// A session that has decided about a snapshot.
fn session(snapshot: &Snapshot) -> Session {
    let session = Session::default();
    session.prepare(snapshot);
    session
}

fn plan_within(session: &Session, snapshot: &Snapshot) -> Plan {
    plimsoll_schedule::finish(&session.prepare(snapshot), None)
}

#[test]
fn offers_serve_again_while_the_market_is_the_same() {
    let first = snapshot();
    let session = session(&first);
    let kept = session.offers(&first);
    let later = later(&first);
    assert!(Arc::ptr_eq(&kept, &session.offers(&later)));
    assert_eq!(
        plan_within(&session, &later),
        plimsoll_schedule::plan(&later)
    );
}

#[test]
fn a_question_is_the_same_with_kept_offers() {
    let first = snapshot();
    let session = session(&first);
    let later = later(&first);
    let again = session.prepare(&later);
    assert_eq!(
        again.question(),
        plimsoll_schedule::prepare(&later).question()
    );
}

#[test]
fn a_sold_out_offering_is_not_bought_from_kept_offers() {
    let first = snapshot();
    let session = session(&first);
    let bought = plimsoll_schedule::plan(&first).claims[0].options[0]
        .instance_type
        .clone();
    let without = first.catalogues.with_types(|sold| {
        for offering in &mut sold.offerings {
            offering.available &= sold.name != bought;
        }
    });
    let mut later = first.clone();
    later.catalogues = Arc::new(without);
    let plan = plan_within(&session, &later);
    let options = plan.claims.iter().flat_map(|claim| &claim.options);
    assert!(!plan.claims.is_empty());
    assert!(options.clone().all(|option| option.instance_type != bought));
}

#[test]
fn a_new_pool_is_used_beside_kept_offers() {
    let first = market()
        .pods([pod("waits").select(NODEPOOL, "late")])
        .snapshot();
    let session = session(&first);
    assert!(plan_within(&session, &first).claims.is_empty());
    let mut later = first.clone();
    later.pools = market().pool(pool("late")).snapshot().pools;
    assert_eq!(plan_within(&session, &later).claims.len(), 1);
}
