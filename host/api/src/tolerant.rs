//! Objects that a newer version of the API wrote: what is understood of a pool, claim or class counts, and what is not is told.
//!
//! A field that is not known is ignored. A value that makes no sense is taken out of the object, or exchanged for the one that does
//! least where its absence would do more, and told as the problem of what is left: then nothing is launched for it and no node
//! disrupted. An object without which nothing is known of its class, or of a claim's instance, cannot be read; what was known of it
//! before stays, with the problem. Files are not read so: their authors are told what is wrong.

use std::sync::Arc;

use plimsoll_core::model::{self, Unread};
use plimsoll_core::time::Timestamp;
use serde_json::Value;

use crate::error::FieldError;
use crate::intern::Interner;
use crate::keys;
use crate::kinds::Ec2NodeClass;
use crate::object::{Kind, Object, ObjectKey};
use crate::read::{ReadError, read};
use crate::schema::TABLES;
use crate::value::from_value;

/// The kind of classes on EC2.
const CLASS: &str = "EC2NodeClass";
/// Values taken out of one object at most.
const MAX_REMOVED: usize = 64;
/// Durations that are `Never` where they cannot be read: without them a default would hold, and nodes might go for it.
const DURATIONS: [&str; 2] = ["expireAfter", "consolidateAfter"];
/// Never, as the API writes it.
const NEVER: &str = "Never";

/// Reads one object that an API server has accepted. Of pools and claims whatever can be read is; objects of other kinds are read
/// whole or not at all.
pub fn read_tolerant(
    kind: Kind,
    value: &Value,
    interner: &mut Interner,
) -> Result<(ObjectKey, Object), ReadError> {
    let mut attempt =
        |value: &Value, unknown: &mut dyn FnMut(&str)| read(kind, value, interner, unknown);
    let kept = match kind {
        Kind::NodePool => Status::MayBeLost,
        Kind::NodeClaim => Status::IsNeeded,
        _ => return attempt(value, &mut |_| {}),
    };
    let (read, unread) = understood(value, kept, |error| &error.field, &mut attempt)?;
    let (key, object) = read;
    Ok((key, object.with_unread(&unread)))
}

/// Reads a class of EC2 that an API server has accepted, as far as it is understood.
pub fn read_class(value: &Value) -> Result<Ec2NodeClass, FieldError> {
    let mut attempt = |value: &Value, unknown: &mut dyn FnMut(&str)| from_value(value, unknown);
    let (mut class, unread): (Ec2NodeClass, _) =
        understood(value, Status::MayBeLost, |error| error, &mut attempt)?;
    class.unread = unread;
    // Fields that are kept as they are written are not all known.
    let kept = class.spec.rest.keys();
    let unknown = kept.filter(|field| !is_field_of_classes(field));
    let unknown = unknown.map(|field| ignored(&format!("spec.{field}")));
    class.unread.ignored.extend(unknown);
    Ok(class)
}

/// `true` for a field of the specification of EC2NodeClasses.
fn is_field_of_classes(field: &str) -> bool {
    let mut tables = TABLES.iter();
    let table = tables.find(|table| table.kind == CLASS);
    table.is_some_and(|table| table.root.fields["spec"].fields.contains_key(field))
}

/// A remark on a field that is not known.
fn ignored(path: &str) -> Arc<str> {
    format!("{path} is not known to this version and is ignored").into()
}

/// A reading of a value that names the paths it does not know.
type Attempt<'a, T, E> = dyn FnMut(&Value, &mut dyn FnMut(&str)) -> Result<T, E> + 'a;

/// Use of what an object's status says.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Status {
    /// It is written again as it is to be.
    MayBeLost,
    /// It says what stands for the object.
    IsNeeded,
}

/// What an attempt reads of a value, once all that it cannot read is out of it.
fn understood<T, E>(
    value: &Value,
    status: Status,
    field: impl Fn(&E) -> &FieldError,
    attempt: &mut Attempt<'_, T, E>,
) -> Result<(T, Unread), E> {
    let mut whole = |value: &Value| {
        let mut ignored: Vec<Arc<str>> = Vec::new();
        let read = attempt(value, &mut |path| {
            if path.starts_with("spec.") {
                ignored.push(self::ignored(path));
            }
        });
        read.map(|read| (read, ignored))
    };
    let first = match whole(value) {
        Ok((read, ignored)) => {
            let problem = None;
            return Ok((read, Unread { problem, ignored }));
        }
        Err(error) => error,
    };
    let mut rest = value.clone();
    let mut problem: Option<Arc<str>> = None;
    let mut next = field(&first).clone();
    for _ in 0..MAX_REMOVED {
        let is_of_status = next.path.starts_with("status");
        let is_needed = is_of_status && status == Status::IsNeeded;
        if is_needed || !take_out(&mut rest, &next.path) {
            return Err(first);
        }
        if !is_of_status {
            problem.get_or_insert_with(|| next.to_string().into());
        }
        match whole(&rest) {
            Ok((read, ignored)) => return Ok((read, Unread { problem, ignored })),
            Err(error) => next = field(&error).clone(),
        }
    }
    Err(first)
}

/// `true` for an object that we wrote after reading a part of it only.
pub fn is_partly_read(value: &Value) -> bool {
    let annotations = value.pointer("/metadata/annotations");
    let has = |key: &str| annotations.is_some_and(|own| own.get(key).is_some());
    has(keys::IGNORED) || has(keys::PROBLEM)
}

impl Object {
    /// The part of it that could not be read; `None` for kinds that are read whole or not at all.
    pub fn unread(&self) -> Option<&Unread> {
        match self {
            Self::Whole(model::Object::Pool(pool)) => Some(&pool.unread),
            Self::Whole(model::Object::Claim(claim)) => Some(&claim.unread),
            _ => None,
        }
    }

    /// The same object as far as it is known from before, once it cannot be read any more; `None` for kinds of which what was known
    /// stays as it is.
    #[must_use]
    pub fn as_known(&self, problem: &ReadError, deleting: Option<Timestamp>) -> Option<Self> {
        let mut known = self.clone();
        match &mut known {
            Self::Whole(model::Object::Pool(pool)) => Arc::make_mut(pool).deleting = deleting,
            Self::Whole(model::Object::Claim(claim)) => Arc::make_mut(claim).deleting = deleting,
            _ => return None,
        }
        Some(known.with_unread(&Unread {
            problem: Some(problem.field.to_string().into()),
            ignored: Vec::new(),
        }))
    }

    fn with_unread(mut self, more: &Unread) -> Self {
        if more.is_empty() {
            return self;
        }
        let unread = match &mut self {
            Self::Whole(model::Object::Pool(pool)) => {
                let pool = Arc::make_mut(pool);
                pool.ready &= more.problem.is_none();
                &mut pool.unread
            }
            Self::Whole(model::Object::Claim(claim)) => &mut Arc::make_mut(claim).unread,
            _ => return self,
        };
        if more.problem.is_some() {
            unread.problem.clone_from(&more.problem);
        }
        for part in &more.ignored {
            if !unread.ignored.contains(part) {
                unread.ignored.push(Arc::clone(part));
            }
        }
        self
    }
}

/// Takes the value at a path out, or what holds it where it is absent; `false` where the object would be nothing without it.
fn take_out(object: &mut Value, path: &str) -> bool {
    let steps = steps(object, path);
    let is_vital = |step: &Step| matches!(step, Step::Key(key) if key == "nodeClassRef");
    if steps.len() < 2 || steps.iter().any(is_vital) {
        return false;
    }
    let (last, holders) = steps.split_last().expect("two steps at least");
    let mut holder = object;
    for step in holders {
        let inner = match step {
            Step::Key(key) => holder.get_mut(key),
            Step::Index(index) => holder.get_mut(index),
        };
        let Some(inner) = inner else { return false };
        holder = inner;
    }
    match (last, holder) {
        (Step::Key(key), Value::Object(fields)) => {
            let is_duration = DURATIONS.contains(&key.as_str());
            if is_duration && fields.get(key).is_some_and(|value| value != NEVER) {
                fields.insert(key.clone(), NEVER.into());
                return true;
            }
            fields.remove(key).is_some()
        }
        (Step::Index(index), Value::Array(items)) if *index < items.len() => {
            items.remove(*index);
            true
        }
        _ => false,
    }
}

/// One step into a value.
enum Step {
    Key(String),
    Index(usize),
}

/// Steps from an object to the value at a path, as far as they lead to something. Keys may have dots themselves, so the longest that is
/// there counts.
fn steps(object: &Value, path: &str) -> Vec<Step> {
    let (mut value, mut rest) = (object, path);
    let mut steps = Vec::new();
    while !rest.is_empty() {
        let found = match value {
            Value::Object(fields) => {
                let mut keys: Vec<&String> = fields.keys().collect();
                keys.sort_unstable_by_key(|key| std::cmp::Reverse(key.len()));
                keys.into_iter().find_map(|key| {
                    let after = after_key(rest, key)?;
                    Some((Step::Key(key.clone()), &fields[key], after))
                })
            }
            Value::Array(items) => rest.strip_prefix('[').and_then(|rest| {
                let (index, after) = rest.split_once(']')?;
                let index: usize = index.parse().ok()?;
                Some((Step::Index(index), items.get(index)?, after))
            }),
            _ => None,
        };
        let Some((step, inner, after)) = found else {
            break;
        };
        steps.push(step);
        value = inner;
        rest = after.strip_prefix('.').unwrap_or(after);
    }
    steps
}

/// The rest of a path after a key, which stands plain or in brackets.
fn after_key<'p>(path: &'p str, key: &str) -> Option<&'p str> {
    let bracketed = path.strip_prefix('[').and_then(|path| {
        let after = path.strip_prefix(key)?;
        after.strip_prefix(']')
    });
    bracketed.or_else(|| {
        let after = path.strip_prefix(key)?;
        (after.is_empty() || after.starts_with(['.', '['])).then_some(after)
    })
}

#[cfg(test)]
mod tests {
    use plimsoll_core::model::{BudgetReasons, NodeClaim, NodePool};
    use serde_json::json;

    use super::*;

    fn pool_value() -> Value {
        json!({
            "apiVersion": "karpenter.sh/v1", "kind": "NodePool",
            "metadata": {"name": "general", "uid": "u1"},
            "spec": {
                "limits": {"cpu": "100", "example.com/gpu": "4"},
                "disruption": {"consolidateAfter": "0s", "budgets": [{"nodes": "1"}]},
                "template": {"spec": {
                    "nodeClassRef": {"group": "karpenter.kwok.sh", "kind": "KWOKNodeClass", "name": "default"},
                    "requirements": [
                        {"key": "a", "operator": "In", "values": ["1"]},
                        {"key": "b", "operator": "Exists"},
                    ],
                }},
            },
        })
    }

    fn read_as(kind: Kind, value: &Value) -> Result<Object, ReadError> {
        read_tolerant(kind, value, &mut Interner::new()).map(|(_, object)| object)
    }

    fn pool(value: &Value) -> Arc<NodePool> {
        match read_as(Kind::NodePool, value) {
            Ok(Object::Whole(model::Object::Pool(pool))) => pool,
            other => unreachable!("a pool: {other:?}"),
        }
    }

    /// The pool with one value changed.
    fn changed(pointer: &str, to: Value) -> Arc<NodePool> {
        let mut value = pool_value();
        *value.pointer_mut(pointer).expect("a place") = to;
        pool(&value)
    }

    #[test]
    fn a_pool_that_is_understood_has_nothing_unread() {
        let whole = pool(&pool_value());
        assert!(whole.unread.is_empty() && whole.ready);
    }

    #[test]
    fn a_value_that_makes_no_sense_is_told_and_the_rest_of_the_pool_is_read() {
        for (pointer, to, problem) in [
            (
                "/spec/template/spec/requirements/1/operator",
                json!("Near"),
                "spec.template.spec.requirements[1].operator is \"Near\"; expected In, NotIn, Exists, DoesNotExist, Gt, Lt, Gte or Lte",
            ),
            (
                "/spec/limits/example.com~1gpu",
                json!("many"),
                "spec.limits.example.com/gpu ",
            ),
            (
                "/spec/disruption/budgets/0/nodes",
                json!("half"),
                "spec.disruption.budgets[0].nodes is \"half\"; ",
            ),
            (
                "/spec/template/spec/requirements",
                json!("any"),
                "spec.template.spec.requirements is \"any\"; ",
            ),
            (
                "/spec/disruption/consolidateAfter",
                json!({"seconds": 3}),
                "spec.disruption.consolidateAfter is an object; ",
            ),
        ] {
            let pool = changed(pointer, to);
            let told = pool.unread.problem.as_deref().unwrap_or_default();
            assert!(told.starts_with(problem), "{told}");
            assert!(!pool.ready, "{problem}");
            assert_eq!(pool.uid.as_str(), "u1");
            assert_eq!(pool.class.name.as_ref(), "default");
        }
    }

    #[test]
    fn several_values_that_make_no_sense_are_all_left_out_and_the_first_is_told() {
        let mut value = pool_value();
        value["spec"]["template"]["spec"]["requirements"] = json!([
            {"key": "a", "operator": "Near"}, {"key": "b", "operator": "Far"}, {"key": "c", "operator": "Exists"},
        ]);
        value["metadata"]["annotations"] = json!({"plimsoll.dev/packing": "tight"});
        let pool = pool(&value);
        let told = pool.unread.problem.as_deref().unwrap_or_default();
        assert!(told.contains("requirements[0]"), "{told}");
        assert_eq!(pool.requirements.len(), 1);
    }

    #[test]
    fn durations_that_make_no_sense_never_come() {
        let pool = changed("/spec/disruption/consolidateAfter", json!("soon"));
        assert_eq!(pool.disruption.consolidate_after, None);
        let mut value = pool_value();
        value["spec"]["template"]["spec"]["expireAfter"] = json!("a year");
        assert_eq!(self::pool(&value).expire_after, None);
    }

    #[test]
    fn a_reason_or_field_of_a_newer_version_is_told_and_the_pool_serves() {
        let mut value = pool_value();
        value["spec"]["disruption"]["budgets"] =
            json!([{"nodes": "1", "reasons": ["Drifted", "Unhealthy", "Repacked"]}]);
        value["spec"]["disruption"]["pace"] = json!("slow");
        let pool = pool(&value);
        assert!(pool.ready && pool.unread.problem.is_none());
        let told = pool.unread.ignored.join("; ");
        assert_eq!(
            told,
            "spec.disruption.budgets[0].reasons[2] is \"Repacked\", which is not known to this version; \
             spec.disruption.pace is not known to this version and is ignored"
        );
        let BudgetReasons::Listed(reasons) = &pool.disruption.budgets[0].reasons else {
            unreachable!("a list");
        };
        assert_eq!(reasons.len(), 3);
    }

    #[test]
    fn a_status_of_a_newer_version_is_no_problem_of_a_pool() {
        let mut value = pool_value();
        value["status"] = json!({"nodes": "three"});
        let pool = pool(&value);
        assert!(pool.unread.is_empty() && pool.ready);
    }

    fn claim_value() -> Value {
        json!({
            "apiVersion": "karpenter.sh/v1", "kind": "NodeClaim",
            "metadata": {
                "name": "general-a", "uid": "u2", "labels": {"karpenter.sh/nodepool": "general"},
                "deletionTimestamp": "2026-01-01T00:00:00Z",
            },
            "spec": {
                "nodeClassRef": {"group": "g", "kind": "k", "name": "n"}, "expireAfter": "1 month",
                "requirements": [], "taints": [{"key": "a", "effect": "Shun"}],
            },
            "status": {"providerID": "kwok://a"},
        })
    }

    #[test]
    fn a_claim_that_is_not_understood_keeps_its_instance_its_pool_and_its_end() {
        let claim: Arc<NodeClaim> = match read_as(Kind::NodeClaim, &claim_value()) {
            Ok(Object::Whole(model::Object::Claim(claim))) => claim,
            other => unreachable!("a claim: {other:?}"),
        };
        assert!(claim.unread.problem.is_some());
        assert!(claim.provider_id.is_some() && claim.deleting.is_some());
        assert_eq!(claim.pool.as_str(), "general");
        assert_eq!(claim.expire_after, None, "720h would end it");
    }

    #[test]
    fn without_its_class_or_instance_an_object_is_known_from_before_alone() {
        let mut value = claim_value();
        value["status"]["providerID"] = json!(["kwok://a"]);
        assert!(read_as(Kind::NodeClaim, &value).is_err());
        let mut value = pool_value();
        let before = read_as(Kind::NodePool, &value).expect("a pool");
        value["spec"]["template"]["spec"]["nodeClassRef"] = json!({"uid": "x"});
        let error = read_as(Kind::NodePool, &value).expect_err("no class");
        let known = before.as_known(&error, Some(Timestamp::default()));
        let Some(Object::Whole(model::Object::Pool(pool))) = known else {
            unreachable!("a pool");
        };
        assert!(!pool.ready && pool.deleting.is_some());
        let told = pool.unread.problem.as_deref().unwrap_or_default();
        assert!(told.contains("nodeClassRef"), "{told}");
    }

    #[test]
    fn a_class_that_is_not_understood_is_read_without_what_is_not() {
        let class = json!({
            "apiVersion": "karpenter.k8s.aws/v1", "kind": "EC2NodeClass", "metadata": {"name": "default"},
            "spec": {"role": "nodes", "detailedMonitoring": "sometimes", "pace": 1},
            "status": {"subnets": "all"},
        });
        let class = read_class(&class).expect("a class");
        assert_eq!(class.spec.role.as_deref(), Some("nodes"));
        let told = class.unread.problem.as_deref().unwrap_or_default();
        assert!(
            told.starts_with("spec.detailedMonitoring is \"sometimes\"; "),
            "{told}"
        );
        let ignored = "spec.pace is not known to this version and is ignored";
        assert_eq!(class.unread.ignored, [Arc::from(ignored)]);
    }

    #[test]
    fn what_could_not_be_read_is_still_told_of_an_object_that_was_written_into_a_file() {
        let mut value = pool_value();
        value["spec"]["template"]["spec"]["requirements"][0]["operator"] = json!("Near");
        value["spec"]["pace"] = json!(1);
        let before = read_as(Kind::NodePool, &value).expect("a pool");
        let after = read_as(Kind::NodePool, &before.to_value()).expect("the same");
        assert_eq!(after.unread(), before.unread());
        let before = read_as(Kind::NodeClaim, &claim_value()).expect("a claim");
        let after = read_as(Kind::NodeClaim, &before.to_value()).expect("the same");
        assert_eq!(after, before);
    }
}
