//! Parts of a pool or claim that could not be read, in annotations of the objects that we write into files: an API server's object says it
//! by what stands in the fields themselves.

use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use plimsoll_base::labels::Labels;
use plimsoll_model::Unread;
use serde_json::{Map, Value};

use super::metadata;
use crate::keys;

/// Parts that an earlier reader could not read. Text of others in the annotation for ignored parts counts as one part.
pub(super) fn of(metadata: &ObjectMeta) -> Unread {
    let ignored = metadata::annotation(metadata, keys::IGNORED);
    let ignored = ignored.map(|text| {
        let parts: Result<Vec<Arc<str>>, _> = serde_json::from_str(text);
        parts.unwrap_or_else(|_| vec![Arc::from(text)])
    });
    Unread {
        problem: metadata::annotation(metadata, keys::PROBLEM).map(Arc::from),
        ignored: ignored.unwrap_or_default(),
    }
}

/// The annotations but those for parts that could not be read.
pub(super) fn without(mut annotations: Labels) -> Labels {
    for key in [keys::PROBLEM, keys::IGNORED] {
        annotations.remove(key);
    }
    annotations
}

/// Adds the annotations for parts that could not be read; none where all was.
pub(super) fn write(unread: &Unread, annotations: &mut Map<String, Value>) {
    if let Some(problem) = &unread.problem {
        annotations.insert(keys::PROBLEM.to_owned(), problem.as_ref().into());
    }
    if !unread.ignored.is_empty() {
        let parts: Vec<&str> = unread.ignored.iter().map(AsRef::as_ref).collect();
        let text = Value::from(parts).to_string();
        annotations.insert(keys::IGNORED.to_owned(), text.into());
    }
}
