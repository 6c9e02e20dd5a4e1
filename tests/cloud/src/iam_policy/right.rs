//! Rights that a call asks for: an action on a resource, and what is known of the request.

use std::collections::BTreeMap;
use std::fmt;

use crate::world::Tags;

/// A right that a call asks for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct AskedRight {
    /// The action, such as `ec2:CreateFleet`.
    pub action: String,
    /// ARN of the resource; `*` for actions that have none.
    pub resource: String,
    /// Values by the keys that conditions name.
    pub(super) context: BTreeMap<String, Vec<String>>,
}

impl AskedRight {
    /// An action on a resource, asked for in a region.
    pub(super) fn new(region: &str, action: &str, resource: impl Into<String>) -> Self {
        let own = Self {
            action: action.to_owned(),
            resource: resource.into(),
            context: BTreeMap::new(),
        };
        own.with("aws:RequestedRegion", region)
    }

    /// The same with a value for a key.
    pub(super) fn with(mut self, key: &str, value: &str) -> Self {
        let values = self.context.entry(key.to_owned()).or_default();
        values.push(value.to_owned());
        self
    }

    /// The same with tags that the call puts on the resource.
    pub(super) fn putting(self, tags: &Tags) -> Self {
        tags.iter().fold(self, |own, (key, value)| {
            own.with(&format!("aws:RequestTag/{key}"), value)
                .with("aws:TagKeys", key)
        })
    }

    /// The same with tags that the resource has.
    pub(super) fn on(self, tags: &Tags) -> Self {
        tags.iter().fold(self, |own, (key, value)| {
            own.with(&format!("aws:ResourceTag/{key}"), value)
        })
    }
}

impl fmt::Display for AskedRight {
    /// `ec2:TerminateInstances on resource: arn:aws:ec2:us-east-1:111122223333:instance/i-1`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.resource.as_str() {
            "*" => f.write_str(&self.action),
            resource => write!(f, "{} on resource: {resource}", self.action),
        }
    }
}
