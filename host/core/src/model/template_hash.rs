//! Hash of a pool's template: the incumbent's, bit by bit, so that neither side sees drift when one takes over from the other.
//!
//! Pools and claims bear it as an annotation beside the version of its rules. These are `NodePool.Hash` of `sigs.k8s.io/karpenter`
//! 1.14.1 over `hashstructure` 2.0.2, with FNV-1 over 64 bits as the hash of bytes:
//!
//! | value | hash |
//! |---|---|
//! | text | that of its bytes |
//! | duration | that of its nanoseconds, as 8 bytes, the lowest first |
//! | pair | that of both hashes, as 16 bytes |
//! | list | the exclusive or of its entries: order does not count, and two that are equal cancel out |
//! | map | the exclusive or of its pairs, hashed |
//! | structure | that of its name; with each field that is set, the exclusive or with the pair of name and value, hashed |
//!
//! Empty text is not set; a list or map that is written and empty is. Requirements and what is outside the template do not enter.

use std::sync::Arc;

use super::{ClassRef, NodePool, Taint, TemplateField};
use crate::labels::Labels;
use crate::time::{Span, Timestamp};

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
        .field("Spec", Some(spec.0));
    Arc::from(template.0.to_string())
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

/// A structure, of whose fields some are in its hash.
struct Structure(u64);

impl Structure {
    fn named(name: &str) -> Self {
        Self(of_text(name))
    }

    /// With a field, unless it is not set.
    fn field(self, name: &str, value: Option<u64>) -> Self {
        let Some(value) = value else {
            return self;
        };
        let with = self.0 ^ pair(of_text(name), value);
        Self(of_bytes(&with.to_le_bytes()))
    }

    fn text(self, name: &str, text: &str) -> Self {
        let value = (!text.is_empty()).then(|| of_text(text));
        self.field(name, value)
    }
}

/// FNV-1: multiplied first, then mixed with the byte.
fn of_bytes(bytes: &[u8]) -> u64 {
    let step = |hash: u64, byte: &u8| hash.wrapping_mul(0x0000_0100_0000_01b3) ^ u64::from(*byte);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
}

fn of_text(text: &str) -> u64 {
    of_bytes(text.as_bytes())
}

fn pair(first: u64, second: u64) -> u64 {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&first.to_le_bytes());
    bytes[8..].copy_from_slice(&second.to_le_bytes());
    of_bytes(&bytes)
}

fn metadata(pool: &NodePool) -> Option<u64> {
    let map = |entries: &Labels, field: TemplateField| {
        let is_set = !entries.is_empty() || pool.written.empty.contains(&field);
        is_set.then(|| {
            let pairs = entries.iter();
            let pairs = pairs.map(|(key, value)| pair(of_text(key), of_text(value)));
            of_bytes(&pairs.fold(0, |all, one| all ^ one).to_le_bytes())
        })
    };
    let labels = map(&pool.labels, TemplateField::Labels);
    let annotations = map(&pool.annotations, TemplateField::Annotations);
    let is_set = labels.is_some() || annotations.is_some();
    let all = Structure::named("ObjectMeta").field("Labels", labels);
    is_set.then(|| all.field("Annotations", annotations).0)
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
    is_set.then(|| each.fold(0, |all, one| all ^ one))
}

fn taint(taint: &Taint, added: Option<Timestamp>) -> u64 {
    let all = Structure::named("Taint")
        .text("Key", &taint.key)
        .text("Value", &taint.value)
        .text("Effect", &taint.effect.to_string());
    all.field("TimeAdded", added.map(instant)).0
}

fn class(class: &ClassRef) -> u64 {
    let all = Structure::named("NodeClassReference")
        .text("Kind", &class.kind)
        .text("Name", &class.name);
    all.text("Group", &class.group).0
}

fn nanoseconds(span: Span) -> u64 {
    of_bytes(&span.millis().saturating_mul(1_000_000).to_le_bytes())
}

/// A duration that may be absent: nothing is not set in it.
fn grace(span: Span) -> u64 {
    let set = (span != Span::ZERO).then(|| nanoseconds(span));
    Structure::named("Duration").field("Duration", set).0
}

/// A duration that may be `Never`: nothing is a value of it like others.
fn expiry(span: Span) -> u64 {
    let all = Structure::named("NillableDuration");
    all.field("Duration", Some(nanoseconds(span))).0
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
    Structure::named("Time").field("Time", time).0
}
