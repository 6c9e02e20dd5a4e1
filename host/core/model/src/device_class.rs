//! DeviceClasses of dynamic resource allocation, as far as pods ask for their devices by the name of an extended resource.

use std::sync::Arc;

use plimsoll_base::resources::ResourceName;
use serde::{Deserialize, Serialize};

/// Prefix of the extended resource that every class offers under its own name.
const IMPLICIT: &str = "deviceclass.resource.kubernetes.io/";

/// One class of devices.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceClass {
    /// Name of the DeviceClass, unique in the cluster.
    pub name: Arc<str>,
    /// The extended resource that stands for one of its devices, beside the one of its own name.
    pub extended_resource: Option<Arc<str>>,
}

impl DeviceClass {
    /// `true` if a request of this resource is met by a device of the class.
    pub fn offers(&self, resource: &ResourceName) -> bool {
        let name = resource.as_str();
        self.extended_resource.as_deref() == Some(name)
            || name.strip_prefix(IMPLICIT) == Some(&*self.name)
    }
}
