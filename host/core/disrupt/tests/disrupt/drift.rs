//! Changes that count as drift, and those that do not.

use std::sync::Arc;

use plimsoll_base::time::{Span, Timestamp};
use plimsoll_disrupt::drift::{self, Drift};
use plimsoll_model::snapshot::Snapshot;
use plimsoll_model::{ConditionType, DesiredCondition, NodeClaim, NodePool, Stamp, template_hash};
use plimsoll_oracles::fixture::*;

/// A node of pool `general` as it was made, and its pool.
fn world() -> (Snapshot, NodePool, NodeClaim) {
    let small = instance_type("small").price(0.1).offered(ZONE_1, OnDemand);
    let general = pool("general").with(|pool| {
        pool.taints = vec![taint("a", "1", NoSchedule), taint("b", "2", NoExecute)];
    });
    let node = node("n1").managed("general").of_type("small").zone(ZONE_1);
    let node = node.label(CAPACITY_TYPE, "on-demand");
    let snapshot = cluster().sells(small).pool(general).node(node).snapshot();
    let pool = NodePool::clone(&snapshot.pools[0]);
    let row = &snapshot.nodes[0];
    let mut claim = NodeClaim::clone(row.claim.as_ref().expect("a node of ours"));
    claim.labels = row.labels().clone();
    claim.annotations.extend(template_hash::annotations(&pool));
    (snapshot, pool, claim)
}

fn drift_after(change: impl FnOnce(&mut NodePool, &mut NodeClaim)) -> Option<Drift> {
    let (snapshot, mut pool, mut claim) = world();
    change(&mut pool, &mut claim);
    drift::drift(
        &pool,
        &claim,
        snapshot.catalogues.of(&pool.class),
        claim.created,
    )
}

#[test]
fn a_node_as_it_was_made_has_not_drifted() {
    assert_eq!(drift_after(|_, _| {}), None);
}

#[test]
fn every_hashed_field_of_the_template_drifts() {
    let label = |pool: &mut NodePool, _: &mut NodeClaim| {
        pool.labels.insert("team".into(), "shop".into());
    };
    assert_eq!(drift_after(label), Some(Drift::Template));
    let annotation = |pool: &mut NodePool, _: &mut NodeClaim| {
        pool.annotations.insert("a".into(), "b".into());
    };
    assert_eq!(drift_after(annotation), Some(Drift::Template));
    let taints = |pool: &mut NodePool, _: &mut NodeClaim| {
        pool.taints.pop();
    };
    assert_eq!(drift_after(taints), Some(Drift::Template));
    let expiry = |pool: &mut NodePool, _: &mut NodeClaim| {
        pool.expire_after = Some(Span::from_secs(1));
    };
    assert_eq!(drift_after(expiry), Some(Drift::Template));
    let grace = |pool: &mut NodePool, _: &mut NodeClaim| {
        pool.termination_grace = Some(Span::from_secs(1));
    };
    assert_eq!(drift_after(grace), Some(Drift::Template));
}

#[test]
fn order_and_what_is_outside_the_template_do_not_drift() {
    let reversed = |pool: &mut NodePool, _: &mut NodeClaim| pool.taints.reverse();
    assert_eq!(drift_after(reversed), None);
    let weight = |pool: &mut NodePool, _: &mut NodeClaim| {
        pool.weight = 7;
        pool.disruption.consolidate_after = None;
    };
    assert_eq!(drift_after(weight), None);
}

#[test]
fn hashes_of_another_version_or_none_are_not_compared() {
    let other = |pool: &mut NodePool, claim: &mut NodeClaim| {
        pool.labels.insert("team".into(), "shop".into());
        let version = Arc::from(template_hash::HASH_VERSION_ANNOTATION);
        claim.annotations.insert(version, "v2".into());
    };
    assert_eq!(drift_after(other), None);
    let none = |pool: &mut NodePool, claim: &mut NodeClaim| {
        pool.labels.insert("team".into(), "shop".into());
        claim.annotations.clear();
    };
    assert_eq!(drift_after(none), None);
}

#[test]
fn requirements_drift_when_the_label_is_shut_out_and_not_when_they_widen() {
    let add = |requirement| {
        move |pool: &mut NodePool, _: &mut NodeClaim| pool.requirements.push(requirement)
    };
    assert_eq!(drift_after(add(is_in(ZONE, &[ZONE_1, ZONE_2]))), None);
    assert_eq!(drift_after(add(exists(ZONE))), None);
    assert_eq!(drift_after(add(absent("team"))), None);
    let drifted = Some(Drift::Requirements);
    assert_eq!(drift_after(add(is_in(ZONE, &[ZONE_2]))), drifted);
    assert_eq!(drift_after(add(absent(ZONE))), drifted);
    assert_eq!(
        drift_after(add(is_in("team", &["shop"]))),
        drifted,
        "an absent label"
    );
    assert_eq!(drift_after(add(above("team", 3))), drifted);
}

#[test]
fn a_type_that_is_no_longer_sold_drifts_once_the_claim_is_an_hour_old() {
    let (snapshot, pool, mut claim) = world();
    claim.labels.insert(INSTANCE_TYPE.into(), "old".into());
    let at = |seconds: i64| {
        let now: Timestamp = claim.created + Span::from_secs(seconds);
        drift::drift(&pool, &claim, snapshot.catalogues.of(&pool.class), now)
    };
    assert_eq!(at(3599), None);
    assert_eq!(at(3600), Some(Drift::InstanceType));
}

#[test]
fn a_claim_made_under_a_requirement_need_not_carry_its_label() {
    let asked = |pool: &mut NodePool, claim: &mut NodeClaim| {
        pool.requirements.push(is_in("family", &["c", "m"]));
        claim.requirements.add(is_in("family", &["m", "r"]));
    };
    assert_eq!(drift_after(asked), None);
    let shut_out = |pool: &mut NodePool, claim: &mut NodeClaim| {
        pool.requirements.push(is_in("family", &["c"]));
        claim.requirements.add(is_in("family", &["m", "r"]));
    };
    assert_eq!(drift_after(shut_out), Some(Drift::Requirements));
}

/// Says on a claim that it has drifted.
fn said(claim: &mut NodeClaim, reason: &str) {
    let kind = ConditionType::Drifted;
    let said = DesiredCondition::holds_since(kind, reason, reason);
    let stamp = Stamp {
        created: claim.created,
        now: claim.created,
        generation: 1,
        deleting: false,
    };
    claim
        .conditions
        .say(&[said], ConditionType::OF_CLAIMS, &stamp);
}

#[test]
fn what_is_written_of_the_instance_counts_after_what_the_pool_says() {
    let image = |_: &mut NodePool, claim: &mut NodeClaim| said(claim, "AMIDrift");
    let reason = Arc::from("AMIDrift");
    assert_eq!(drift_after(image), Some(Drift::Instance(reason)));
    let both = |pool: &mut NodePool, claim: &mut NodeClaim| {
        said(claim, "AMIDrift");
        pool.taints.pop();
    };
    assert_eq!(drift_after(both), Some(Drift::Template));
    let over = |_: &mut NodePool, claim: &mut NodeClaim| said(claim, "NodePoolDrifted");
    assert_eq!(drift_after(over), None, "the pool says otherwise by now");
}
