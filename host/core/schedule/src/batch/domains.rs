//! Domains that a decision brings about, which spread constraints compare with those that are there.
//!
//! The kube-scheduler sees the nodes that exist when it binds a pod, in whatever order nodes come up and pods are tried. The plan
//! must hold in every such order, so its smallest count is taken over all domains that can exist by then: those of nodes that are
//! there ([`crate::topology`] knows them), those where a pod of the constraint can be given a node, with room for it
//! and within limits, and those of nodes that the plan buys for other pods. A smallest count over more domains is never larger:
//! a pod that it admits is admitted while some of the nodes are still missing.
//!
//! Whatever else pools name is no domain: nothing will be there to compare with, and a pod held back for its sake would wait for
//! good. Once a plan is whole, pods that it leaves out are tried among the nodes of that plan alone ([`keep_to`]): a domain that could
//! be had, and is not, holds no pod back. `minDomains` counts the same domains: where the smallest count is above 0 each of them has a
//! pod, and so a node.

use plimsoll_base::bits::Bits;

use super::compile::Compiled;
use super::pod_group::PodGroup;
use crate::offers::axes::fits;
use crate::offers::rows::Rows;
use crate::topology::TopologyModel;

/// Makes known to every spread where pods that own it can be given a node.
pub(super) fn learn(model: &mut TopologyModel, groups: &[PodGroup], rows: &Rows) {
    for group in groups {
        for level in &group.levels {
            for owned in &level.owned {
                if model.is_spread(*owned) && !model.is_by_host(*owned) {
                    let open = level.rows.iter();
                    open.for_each(|open| learn_of(model, *owned, &group.request, open, rows));
                }
            }
        }
    }
}

/// Makes known to a spread the domains in which one of some rows that it sees has room for a pod.
fn learn_of(model: &mut TopologyModel, number: usize, request: &[i64], open: &Bits, rows: &Rows) {
    let group = &mut model.groups[number];
    let domains = &model.keys[group.identity.key].rows;
    for (domain, there) in domains.iter().enumerate() {
        if group.known.contains(domain) || !there.meets(open) {
            continue;
        }
        let is_seen = |row: usize| group.rows.as_ref().is_none_or(|seen| seen.contains(row));
        let here = open.and(there);
        let mut largest_first = rows.by_size.among(&here).filter(|row| is_seen(*row));
        if largest_first.any(|row| fits(request, rows.capacity(row))) {
            group.known.insert(domain);
        }
    }
}

/// Keeps every spread to the nodes that it will see once those of a plan are there, which follow the `existing` ones in number.
pub(super) fn keep_to(model: &mut TopologyModel, existing: usize, new: &[&Bits]) {
    for group in &mut model.groups {
        let key = &model.keys[group.identity.key];
        let seen = |rows: &Bits| match &group.rows {
            Some(seen) => rows.and(seen),
            None => rows.clone(),
        };
        let mut there = group.there.clone();
        for (number, rows) in new.iter().enumerate() {
            let rows = seen(rows);
            if key.is_host && !rows.is_empty() {
                there.insert(existing + number);
            }
            let domains = key.rows.iter().enumerate();
            let own = domains.filter(|(_, domain)| domain.meets(&rows));
            own.for_each(|(domain, _)| there.insert(domain));
        }
        if key.is_host {
            group.hosts = Some(there);
        } else {
            group.known = there;
        }
    }
}

/// Domains of nodes that may become some rows which some spread sees and does not know of: by group and domain.
pub(crate) fn unknown(compiled: &Compiled<'_>, rows: &Bits) -> Vec<(usize, usize)> {
    let model = &compiled.model;
    let mut result = Vec::new();
    for (number, group) in model.groups.iter().enumerate() {
        if !model.is_spread(number) || model.is_by_host(number) {
            continue;
        }
        let key = &model.keys[group.identity.key];
        for (domain, there) in key.rows.iter().enumerate() {
            let is_seen = || match &group.rows {
                Some(seen) => there.and(seen).meets(rows),
                None => there.meets(rows),
            };
            if !group.known.contains(domain) && is_seen() {
                result.push((number, domain));
            }
        }
    }
    result
}
