//! Domains that are there: those of nodes that exist or are planned, without those that might still be had.
//!
//! A spread plans for all zones that its pods can be given a node in. The scheduler knows those alone in which there is a node, so a
//! pod that has no place by the first reading may have one by the second, as long as no other domain comes to be.

use super::{TopologyModel, TopologyRule};
use crate::bits::Bits;

/// By group, the domains of nodes that it sees.
#[derive(Clone, Debug)]
pub(crate) struct PresentDomains(Vec<Bits>);

impl PresentDomains {
    /// The domains of existing nodes and of nodes planned as these rows.
    pub(crate) fn of(model: &TopologyModel, planned: &[usize]) -> Self {
        let of_group = |number: usize| {
            let group = &model.groups[number];
            let mut present = group.existing.clone();
            let domains = model.keys[group.identity.key].rows.iter().enumerate();
            for (domain, rows) in domains {
                let is_seen = |row: &usize| {
                    let seen = group.rows.as_ref();
                    rows.contains(*row) && seen.is_none_or(|seen| seen.contains(*row))
                };
                if planned.iter().any(is_seen) {
                    present.insert(domain);
                }
            }
            present
        };
        Self((0..model.groups.len()).map(of_group).collect())
    }

    /// `true` if a group sees a node in a domain.
    pub(super) fn has(&self, group: usize, domain: usize) -> bool {
        self.0[group].contains(domain)
    }

    /// Rows, out of so many, that would bring a spread a domain which it has not.
    pub(crate) fn more(&self, model: &TopologyModel, of: usize) -> Bits {
        let mut result = Bits::none(of);
        for (number, group) in model.groups.iter().enumerate() {
            let is_spread = matches!(group.identity.rule, TopologyRule::Spread { .. });
            if !is_spread || model.is_by_host(number) {
                continue;
            }
            let domains = model.keys[group.identity.key].rows.iter().enumerate();
            for (_, rows) in domains.filter(|(domain, _)| !self.has(number, *domain)) {
                match &group.rows {
                    Some(seen) => result.join(&rows.and(seen)),
                    None => result.join(rows),
                }
            }
        }
        result
    }
}
