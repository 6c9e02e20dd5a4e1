//! `resource.k8s.io/v1 DeviceClass`.

use k8s_openapi::api::resource::v1 as resource;
use plimsoll_base::time::Timestamp;
use plimsoll_model::DeviceClass;
use serde_json::{Map, Value, json};

use super::metadata;
use crate::error::FieldError;
use crate::intern::Interner;
use crate::object::Kind;
use crate::write;

/// A class of devices.
pub(crate) fn device_class(
    written: &resource::DeviceClass,
    interner: &mut Interner,
) -> Result<DeviceClass, FieldError> {
    let extended = written.spec.extended_resource_name.as_deref();
    Ok(DeviceClass {
        name: interner.text(metadata::name(&written.metadata)?),
        extended_resource: extended.map(|name| interner.text(name)),
    })
}

/// A class of devices as it is written.
pub(crate) fn to_value(class: &DeviceClass) -> Value {
    let meta = write::metadata(&class.name, None, Timestamp::default());
    let mut spec = Map::new();
    if let Some(name) = &class.extended_resource {
        spec.insert("extendedResourceName".to_owned(), json!(name));
    }
    write::framed(
        Kind::DeviceClass,
        Value::Object(meta),
        json!({"spec": spec}),
    )
}
