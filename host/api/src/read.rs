//! One object from a JSON value, of any kind that is read.

use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use plimsoll_model::VolumePart;
use serde::de::DeserializeOwned;
use serde_json::Value;
use thiserror::Error;

use crate::error::FieldError;
use crate::intern::Interner;
use crate::object::{Kind, Object, ObjectKey};
use crate::value::{from_value, text};

/// Why an object could not be read: `shop/api-5c: spec.replicas is "two"; expected a whole number`.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{}{field}", name.as_ref().map(|name| format!("{name}: ")).unwrap_or_default())]
pub struct ReadError {
    /// Namespace and name, when these could be read.
    pub name: Option<String>,
    /// The field at fault.
    pub field: FieldError,
}

/// Reads one object. Paths of fields that the kind does not have are passed to `unknown`.
pub fn read(
    kind: Kind,
    value: &Value,
    interner: &mut Interner,
    unknown: &mut dyn FnMut(&str),
) -> Result<(ObjectKey, Object), ReadError> {
    kind.convert(Reading {
        kind,
        value,
        interner,
        unknown,
    })
}

/// A conversion from an object as it is written.
type Convert<W, T> = fn(&W, &mut Interner) -> Result<T, FieldError>;

/// One object to be read.
pub(crate) struct Reading<'a> {
    kind: Kind,
    value: &'a Value,
    interner: &'a mut Interner,
    unknown: &'a mut dyn FnMut(&str),
}

impl Reading<'_> {
    /// An object that the state of a cluster takes as it is.
    pub(crate) fn whole<W: DeserializeOwned, T: Into<plimsoll_model::Object>>(
        self,
        convert: Convert<W, T>,
        metadata: fn(&W) -> &ObjectMeta,
    ) -> Result<(ObjectKey, Object), ReadError> {
        let (key, converted) = self.converted(convert, metadata)?;
        Ok((key, Object::Whole(converted.into())))
    }

    /// A part of what is known of volumes.
    pub(crate) fn part<W: DeserializeOwned>(
        self,
        convert: Convert<W, VolumePart>,
        metadata: fn(&W) -> &ObjectMeta,
    ) -> Result<(ObjectKey, Object), ReadError> {
        let (key, part) = self.converted(convert, metadata)?;
        Ok((key, Object::Part(part)))
    }

    /// Defaults that admission gives to pods.
    pub(crate) fn defaults<W: DeserializeOwned>(
        self,
        convert: Convert<W, Value>,
        metadata: fn(&W) -> &ObjectMeta,
    ) -> Result<(ObjectKey, Object), ReadError> {
        let (key, defaults) = self.converted(convert, metadata)?;
        Ok((key, Object::Defaults(Arc::new(defaults))))
    }

    fn converted<W: DeserializeOwned, T>(
        self,
        convert: Convert<W, T>,
        metadata: fn(&W) -> &ObjectMeta,
    ) -> Result<(ObjectKey, T), ReadError> {
        let Self {
            kind,
            value,
            interner,
            unknown,
        } = self;
        let written: W = from_value(value, unknown).map_err(|field| ReadError {
            name: name_of(value),
            field,
        })?;
        let key = key(kind, metadata(&written), interner);
        let converted = convert(&written, interner).map_err(|field| ReadError {
            name: Some(path(&key)).filter(|name| !name.is_empty()),
            field,
        })?;
        Ok((key, converted))
    }
}

fn key(kind: Kind, metadata: &ObjectMeta, interner: &mut Interner) -> ObjectKey {
    let namespace = match metadata.namespace.as_deref() {
        _ if !kind.is_namespaced() => "",
        Some(namespace) => namespace,
        None => "default",
    };
    ObjectKey {
        kind,
        namespace: interner.text(namespace),
        name: Arc::from(metadata.name.as_deref().unwrap_or_default()),
    }
}

fn path(key: &ObjectKey) -> String {
    if key.name.is_empty() {
        String::new()
    } else if key.namespace.is_empty() {
        key.name.to_string()
    } else {
        format!("{}/{}", key.namespace, key.name)
    }
}

/// Namespace and name of an object that could not be read as its kind.
fn name_of(value: &Value) -> Option<String> {
    let metadata = value.as_object()?.get("metadata")?.as_object()?;
    let name = text(metadata, "name")?;
    Some(match text(metadata, "namespace") {
        Some(namespace) => format!("{namespace}/{name}"),
        None => name.to_owned(),
    })
}
