//! Classes of instances on EC2, as pools name them.

use std::sync::Arc;

use plimsoll_ec2_facts::provider::{CLASS, DOMAIN};
use plimsoll_model::ClassRef;

/// A class of instances on EC2, by name.
pub(super) fn class_on_ec2(name: &str) -> ClassRef {
    ClassRef {
        group: Arc::from(DOMAIN),
        kind: Arc::from(CLASS),
        name: Arc::from(name),
    }
}
