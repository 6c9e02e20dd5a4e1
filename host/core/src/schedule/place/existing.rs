//! Onto a node there is: the first, in the order of the snapshot's rows, with room, ports, attach slots and a fitting domain.
//!
//! Nodes only fill up while a decision goes on, so a node once found full for a group is never looked at again for it.

use super::super::axes::fits;
use super::super::compile::PodGroup;
use super::super::existing::Asked;
use super::super::topology::{Allowed, NO_DOMAIN};
use super::super::volumes::{self, ClaimsByDriver};
use super::{Placer, Where};
use crate::model::HostPort;

/// Existing nodes that may take a group, less those found full for good.
pub(super) struct Candidates {
    rows: Vec<usize>,
    next: Vec<usize>,
}

impl Candidates {
    fn new(rows: Vec<usize>) -> Self {
        let next = (0..=rows.len()).collect();
        Self { rows, next }
    }

    /// The first position from `at` on that is not full.
    fn live(&mut self, at: usize) -> Option<usize> {
        let mut root = at;
        while self.next[root] != root {
            root = self.next[root];
        }
        let mut walk = at;
        while self.next[walk] != root {
            walk = std::mem::replace(&mut self.next[walk], root);
        }
        (root < self.rows.len()).then_some(root)
    }

    fn fill(&mut self, at: usize) {
        self.next[at] = at + 1;
    }
}
impl Placer<'_, '_> {
    /// Puts the pod onto the first existing node that takes it.
    pub(super) fn existing_node(
        &mut self,
        pod: usize,
        group: &PodGroup,
        level: usize,
        allowed: &Allowed,
    ) -> Option<Where> {
        for alternative in 0..group.alternatives.len() {
            let key = (self.compiled.pods[pod].group, level, alternative);
            let mut candidates = self.candidates.remove(&key).unwrap_or_else(|| {
                let held = &group.levels[level];
                Candidates::new(self.compiled.existing.open_to(Asked {
                    requirements: &held.requirements,
                    volumes: &group.alternatives[alternative],
                    tolerations: &held.tolerations,
                }))
            });
            let found = self.first_existing(pod, group, level, allowed, &mut candidates);
            self.candidates.insert(key, candidates);
            if let Some(row) = found {
                self.take_existing(pod, group, row);
                return Some(Where::Existing(row));
            }
        }
        None
    }

    fn first_existing(
        &self,
        pod: usize,
        group: &PodGroup,
        level: usize,
        allowed: &Allowed,
        candidates: &mut Candidates,
    ) -> Option<usize> {
        let mut at = 0;
        while let Some(live) = candidates.live(at) {
            let row = candidates.rows[live];
            at = live + 1;
            if !self.has_room(group, row) {
                candidates.fill(live);
                continue;
            }
            // Equal pods may have different claims behind their volumes, so this refusal is not for all of them.
            if !self.can_attach(pod, group, row) {
                continue;
            }
            let owned_or_kept_out = |key: usize| self.must_know(group, level, key);
            let in_domain = allowed.iter().all(|(key, domains)| {
                let domain = self.compiled.model.keys[*key].of_node[row];
                domains.contains(domain) || (domain == NO_DOMAIN && !owned_or_kept_out(*key))
            });
            if in_domain
                && self
                    .counts
                    .host_allows(&self.compiled.model, group.view(level), row)
            {
                return Some(row);
            }
        }
        None
    }

    fn has_room(&self, group: &PodGroup, row: usize) -> bool {
        let roomy = self.free[row]
            .as_ref()
            .is_some_and(|free| fits(&group.request, free));
        let conflict = |port: &HostPort| {
            self.ports[row]
                .iter()
                .any(|taken| taken.conflicts_with(port))
        };
        roomy && !group.spec.host_ports.iter().any(conflict)
    }

    fn can_attach(&self, pod: usize, group: &PodGroup, row: usize) -> bool {
        let snapshot = self.compiled.snapshot;
        let Some(attached) = self.attached.get(&row) else {
            return true;
        };
        let node = snapshot.nodes[row].node.as_ref();
        let Some(limits) = node.and_then(|node| snapshot.volumes.nodes.get(&node.name)) else {
            return true;
        };
        let wanted = if group.spec.volumes.is_empty() {
            ClaimsByDriver::new()
        } else {
            volumes::attached(
                &snapshot.pods[self.compiled.pods[pod].row],
                &snapshot.volumes,
            )
        };
        limits.limits.iter().all(|(driver, limit)| {
            let have = attached.get(driver);
            let more = wanted.get(driver).into_iter().flatten();
            let more = more
                .filter(|claim| !have.is_some_and(|have| have.contains(*claim)))
                .count();
            have.map_or(0, std::collections::BTreeSet::len) + more <= *limit as usize
        })
    }

    fn take_existing(&mut self, pod: usize, group: &PodGroup, row: usize) {
        if let Some(free) = &mut self.free[row] {
            free.iter_mut()
                .zip(&group.request)
                .for_each(|(free, request)| *free -= request);
        }
        self.ports[row].extend(group.spec.host_ports.iter().cloned());
        if let Some(attached) = self
            .attached
            .get_mut(&row)
            .filter(|_| !group.spec.volumes.is_empty())
        {
            let snapshot = self.compiled.snapshot;
            let wanted = volumes::attached(
                &snapshot.pods[self.compiled.pods[pod].row],
                &snapshot.volumes,
            );
            for (driver, claims) in wanted {
                attached.entry(driver).or_default().extend(claims);
            }
        }
    }
}
