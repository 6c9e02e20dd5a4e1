//! Hash of a pool's template: Karpenter's, bit by bit, so that neither side sees drift when one takes over from the other.
//!
//! Pools and claims bear it as an annotation beside the version of its rules. These are `NodePool.Hash` of `sigs.k8s.io/karpenter` 1.14.1 over
//! [`structure_hash`](plimsoll_base::structure_hash). Requirements and what is outside the template do not enter.

use std::sync::Arc;

use plimsoll_base::labels::Labels;
use plimsoll_base::structure_hash::{Structure, of_bytes, of_i64, of_list, of_map};
use plimsoll_base::time::{Span, Timestamp};

use super::{ClassRef, NodePool, Taint, TemplateField};

/// Annotation of pools and claims: hash of the template, in decimal digits.
pub const HASH_ANNOTATION: &str = "karpenter.sh/nodepool-hash";
/// Annotation of pools and claims: version of the rules of that hash.
pub const HASH_VERSION_ANNOTATION: &str = "karpenter.sh/nodepool-hash-version";
/// Version of the rules that [`hash`] follows; hashes of other versions say nothing about drift.
pub const HASH_VERSION: &str = "v3";

/// Hash of a pool's template, in decimal digits.
pub fn hash(pool: &NodePool) -> Arc<str> {
    let metadata = metadata(pool);
    let spec = Structure::named("NodeClaimTemplateSpec")
        .field("Taints", taints(pool, TemplateField::Taints))
        .field("StartupTaints", taints(pool, TemplateField::StartupTaints))
        .field("NodeClassRef", Some(class(&pool.class)))
        .field("TerminationGracePeriod", pool.termination_grace.map(grace))
        .field("ExpireAfter", pool.expire_after.map(expiry));
    let template = Structure::named("NodeClaimTemplate")
        .field("ObjectMeta", metadata)
        .field("Spec", Some(spec.hash()));
    Arc::from(template.hash().to_string())
}

/// Annotations of a pool, and of the claims that are made from it: the hash and its version.
pub fn annotations(pool: &NodePool) -> [(Arc<str>, Arc<str>); 2] {
    [
        (Arc::from(HASH_ANNOTATION), hash(pool)),
        (Arc::from(HASH_VERSION_ANNOTATION), Arc::from(HASH_VERSION)),
    ]
}

/// `true` if annotations bear a hash by the rules that [`hash`] follows.
pub fn is_current(annotations: &Labels) -> bool {
    let version = annotations.get(HASH_VERSION_ANNOTATION);
    version.is_some_and(|version| version.as_ref() == HASH_VERSION)
}

fn metadata(pool: &NodePool) -> Option<u64> {
    let map = |entries: &Labels, field: TemplateField| {
        let is_set = !entries.is_empty() || pool.written.empty.contains(&field);
        is_set.then(|| of_map(entries.iter().map(|(key, value)| (&**key, &**value))))
    };
    let labels = map(&pool.labels, TemplateField::Labels);
    let annotations = map(&pool.annotations, TemplateField::Annotations);
    let is_set = labels.is_some() || annotations.is_some();
    let all = Structure::named("ObjectMeta").field("Labels", labels);
    is_set.then(|| all.field("Annotations", annotations).hash())
}

fn taints(pool: &NodePool, field: TemplateField) -> Option<u64> {
    let all = match field {
        TemplateField::StartupTaints => &pool.startup_taints,
        _ => &pool.taints,
    };
    let added = |place: usize| {
        let mut known = pool.written.added.iter();
        known.find_map(|(of, at, when)| (*of == field && *at == place).then_some(*when))
    };
    let each = all.iter().enumerate();
    let each = each.map(|(place, one)| taint(one, added(place)));
    let is_set = !all.is_empty() || pool.written.empty.contains(&field);
    is_set.then(|| of_list(each))
}

fn taint(taint: &Taint, added: Option<Timestamp>) -> u64 {
    let all = Structure::named("Taint")
        .text("Key", &taint.key)
        .text("Value", &taint.value)
        .text("Effect", &taint.effect.to_string());
    all.field("TimeAdded", added.map(instant)).hash()
}

fn class(class: &ClassRef) -> u64 {
    let all = Structure::named("NodeClassReference")
        .text("Kind", &class.kind)
        .text("Name", &class.name);
    all.text("Group", &class.group).hash()
}

fn nanoseconds(span: Span) -> u64 {
    of_i64(span.millis().saturating_mul(1_000_000))
}

/// A duration that may be absent: nothing is not set in it.
fn grace(span: Span) -> u64 {
    let set = (span != Span::ZERO).then(|| nanoseconds(span));
    Structure::named("Duration").field("Duration", set).hash()
}

/// A duration that may be `Never`: nothing is a value of it like others.
fn expiry(span: Span) -> u64 {
    let all = Structure::named("NillableDuration");
    all.field("Duration", Some(nanoseconds(span))).hash()
}

/// An instant in Go's binary form, as of a process whose local time is UTC: a version, seconds since the year 1 and
/// nanoseconds with the highest byte first, and an offset of no minutes.
fn instant(at: Timestamp) -> u64 {
    const TO_UNIX_EPOCH: i64 = 62_135_596_800;
    let seconds = at.millis().div_euclid(1000) + TO_UNIX_EPOCH;
    let nanoseconds = at.millis().rem_euclid(1000) * 1_000_000;
    let mut bytes = [0; 15];
    bytes[0] = 1;
    bytes[1..9].copy_from_slice(&seconds.to_be_bytes());
    bytes[9..13].copy_from_slice(&nanoseconds.to_be_bytes()[4..]);
    let time = Some(of_bytes(&bytes));
    Structure::named("Time").field("Time", time).hash()
}
