//! The resources that matter to a batch, as positions in a vector of amounts.

use std::collections::BTreeSet;

use plimsoll_base::resources::{ResourceName, Resources};

/// Names of the axes: cpu, memory and pods always, and whatever else a pod of the batch asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Axes {
    names: Vec<ResourceName>,
}

impl Axes {
    pub(crate) fn of<'a>(requests: impl Iterator<Item = &'a Resources>) -> Self {
        let mut names: BTreeSet<ResourceName> =
            [ResourceName::Cpu, ResourceName::Memory, ResourceName::Pods]
                .into_iter()
                .collect();
        for resources in requests {
            for (name, _) in resources.iter().filter(|(_, amount)| *amount > 0) {
                if !names.contains(name) {
                    names.insert(name.clone());
                }
            }
        }
        Self {
            names: names.into_iter().collect(),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.names.len()
    }

    pub(crate) fn name(&self, axis: usize) -> &ResourceName {
        &self.names[axis]
    }

    /// Position of a resource; `None` where no pod of the batch asks for it.
    pub(crate) fn position(&self, name: &ResourceName) -> Option<usize> {
        self.names.binary_search(name).ok()
    }

    pub(crate) fn vector(&self, resources: &Resources) -> Box<[i64]> {
        self.amounts(resources).collect()
    }

    /// Amounts by axis.
    pub(crate) fn amounts<'a>(&'a self, resources: &'a Resources) -> impl Iterator<Item = i64> {
        self.names.iter().map(|name| resources.get(name))
    }
}

/// `true` if `request` fits into `room`, axis by axis.
pub(crate) fn fits(request: &[i64], room: &[i64]) -> bool {
    request
        .iter()
        .zip(room)
        .all(|(request, room)| request <= room)
}
