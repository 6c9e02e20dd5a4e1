//! `v1 LimitRange`: defaults that the API server gives to containers of a namespace.

use k8s_openapi::api::core::v1 as core_v1;
use plimsoll_base::time::Timestamp;
use serde_json::{Value, json};

use super::metadata;
use crate::error::FieldError;
use crate::intern::Interner;
use crate::object::Kind;
use crate::write;

/// A limit range as it is written, trimmed to its name and limits.
pub(crate) fn limit_range(
    written: &core_v1::LimitRange,
    interner: &mut Interner,
) -> Result<Value, FieldError> {
    let name = metadata::object_name(&written.metadata, interner)?;
    let meta = write::namespaced(&name, None, Timestamp::default());
    let limits = written.spec.as_ref().map(|spec| &spec.limits);
    let fields = json!({"spec": {"limits": limits}});
    Ok(write::framed(Kind::LimitRange, Value::Object(meta), fields))
}
