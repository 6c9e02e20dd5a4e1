//! Objects that a newer version of the API wrote: what is understood of a pool, claim or class counts, and what is not is told.
//!
//! A field that is not known is ignored. A value that makes no sense is taken out of the object, or exchanged for the one that does
//! least where its absence would do more, and told as the problem of what is left: then nothing is launched for it and no node
//! disrupted. A pool whose class cannot be read is one of a class that no provider serves. A claim of which class or instance cannot be
//! read is not read at all; what was known of it before stays, with the problem. Files are not read so: their authors are told what
//! is wrong.

use std::sync::Arc;

use plimsoll_base::time::Timestamp;
use plimsoll_model::{ClassRef, Unread};
use serde_json::{Map, Value};

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
/// Field of what a controller has written.
const STATUS: &str = "status";
/// Where a pool names its class.
const CLASS_OF_POOL: [&str; 4] = ["spec", "template", "spec", "nodeClassRef"];
/// Stands for each part of a class's name that cannot be read: no provider serves such a class.
pub const UNREADABLE: &str = "unreadable";

/// Reads one object that an API server has accepted. Of pools and claims whatever can be read is; objects of other kinds are read
/// whole or not at all.
pub fn read_tolerant(
    kind: Kind,
    value: &Value,
    interner: &mut Interner,
) -> Result<(ObjectKey, Object), ReadError> {
    let mut attempt =
        |value: &Value, unknown: &mut dyn FnMut(&str)| read(kind, value, interner, unknown);
    let mend: fn(&mut Value, &str) -> bool = match kind {
        Kind::NodePool => |pool, path| complete_class(pool) || take_out(pool, path),
        // The status of a claim says what stands for it.
        Kind::NodeClaim => |claim, path| !path.starts_with(STATUS) && take_out(claim, path),
        _ => return attempt(value, &mut |_| {}),
    };
    let (read, unread) = understood(value, mend, |error| &error.field, &mut attempt)?;
    let (key, object) = read;
    Ok((key, object.with_unread(&unread)))
}

/// Reads a class of EC2 that an API server has accepted, as far as it is understood.
pub fn read_class(value: &Value) -> Result<Ec2NodeClass, FieldError> {
    let mut attempt = |value: &Value, unknown: &mut dyn FnMut(&str)| from_value(value, unknown);
    let (mut class, unread): (Ec2NodeClass, _) =
        understood(value, take_out, |error| error, &mut attempt)?;
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
pub(crate) fn ignored(path: &str) -> Arc<str> {
    format!("{path} is not known to this version and is ignored").into()
}

/// A reading of a value that names the paths it does not know.
type Attempt<'a, T, E> = dyn FnMut(&Value, &mut dyn FnMut(&str)) -> Result<T, E> + 'a;

/// The reading of a value, once all that it cannot read is out of it: `mend` takes out what stands at a path, and says whether
/// it could.
fn understood<T, E>(
    value: &Value,
    mend: fn(&mut Value, &str) -> bool,
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
        if !mend(&mut rest, &next.path) {
            return Err(first);
        }
        if !next.path.starts_with(STATUS) {
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
            Self::Whole(plimsoll_model::Object::Pool(pool)) => Some(&pool.unread),
            Self::Whole(plimsoll_model::Object::Claim(claim)) => Some(&claim.unread),
            _ => None,
        }
    }

    /// The same object as far as it is known from before, once it cannot be read any more; `None` for kinds of which what was known
    /// stays as it is.
    #[must_use]
    pub fn as_known(&self, problem: &ReadError, deleting: Option<Timestamp>) -> Option<Self> {
        let mut known = self.clone();
        match &mut known {
            Self::Whole(plimsoll_model::Object::Pool(pool)) => {
                Arc::make_mut(pool).deleting = deleting;
            }
            Self::Whole(plimsoll_model::Object::Claim(claim)) => {
                Arc::make_mut(claim).deleting = deleting;
            }
            _ => return None,
        }
        Some(known.with_unread(&Unread {
            problem: Some(problem.field.to_string().into()),
            ignored: Vec::new(),
        }))
    }

    /// The same object, of the class that it had before where its own cannot be read: its group and kind never change, and nothing is
    /// launched until it can be read.
    #[must_use]
    pub fn of_class_before(mut self, before: &Self) -> Self {
        if let (
            Self::Whole(plimsoll_model::Object::Pool(pool)),
            Self::Whole(plimsoll_model::Object::Pool(before)),
        ) = (&mut self, before)
            && is_unreadable(&pool.class)
        {
            Arc::make_mut(pool).class = before.class.clone();
        }
        self
    }

    fn with_unread(mut self, more: &Unread) -> Self {
        if more.is_empty() {
            return self;
        }
        let unread = match &mut self {
            Self::Whole(plimsoll_model::Object::Pool(pool)) => {
                let pool = Arc::make_mut(pool);
                pool.ready &= more.problem.is_none();
                &mut pool.unread
            }
            Self::Whole(plimsoll_model::Object::Claim(claim)) => &mut Arc::make_mut(claim).unread,
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

/// `true` if a part of the name of a class could not be read.
fn is_unreadable(class: &ClassRef) -> bool {
    [&class.group, &class.kind, &class.name]
        .into_iter()
        .any(|part| **part == *UNREADABLE)
}

/// Completes the name of a pool's class where a part of it cannot be read, so that all else of the pool can be; `false` where nothing is
/// missing.
fn complete_class(pool: &mut Value) -> bool {
    let mut place = pool;
    for step in CLASS_OF_POOL {
        if !place.is_object() {
            *place = Value::Object(Map::new());
        }
        place = &mut place[step];
    }
    let of = |part: &str| place.get(part).and_then(Value::as_str);
    let parts = ["group", "kind", "name"].map(|part| (part, of(part).filter(|it| !it.is_empty())));
    if parts.iter().all(|(_, text)| text.is_some()) {
        return false;
    }
    let named = parts.map(|(part, text)| (part.to_owned(), text.unwrap_or(UNREADABLE).into()));
    *place = Value::Object(named.into_iter().collect());
    true
}

/// Takes the value at a path out, or what holds it where it is absent; `false` where the object would be nothing without it.
fn take_out(object: &mut Value, path: &str) -> bool {
    let steps = steps(object, path);
    let is_vital = |step: &Step| matches!(step, Step::Key(key) if key == "nodeClassRef");
    let is_metadata = |step: &Step| matches!(step, Step::Key(key) if key == "metadata");
    let is_named_by = steps.len() < 2 && steps.first().is_none_or(is_metadata);
    if is_named_by || steps.iter().any(is_vital) {
        return false;
    }
    let Some((last, holders)) = steps.split_last() else {
        return false;
    };
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
mod tests;
