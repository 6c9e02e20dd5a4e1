//! Onto a node there is: the first, in the order of the snapshot's rows, with room, ports, attach slots and a fitting domain.
//!
//! Nodes only fill up while a decision goes on, so a node once found full for a fit is never looked at again for it.

use std::collections::BTreeMap;

use plimsoll_model::HostPort;

use super::super::topology::{Allowed, NO_DOMAIN};
use super::hosts::{HostSet, within};
use super::{Placer, Seeker, Where};
use crate::batch::alike::Like;
use crate::batch::compile::Compiled;
use crate::batch::existing::NodeRequest;
use crate::batch::pod_group::PodGroup;
use crate::offers::axes::fits;
use crate::pods::attached::AttachedVolumes;
use crate::pods::volumes::{self, ClaimsByDriver};

/// The nodes there are, as far as placing has filled them.
pub(super) struct ExistingNodes {
    free: Vec<Option<Box<[i64]>>>,
    ports: Vec<Vec<HostPort>>,
    attached: BTreeMap<usize, AttachedVolumes>,
    /// By fit and alternative of its volumes: nodes open to its pods and not full for them.
    open: Vec<Vec<Option<HostSet>>>,
    /// By host rules: nodes that they keep their pods off for good.
    barred: Vec<HostSet>,
    /// By key and domain: the nodes there; those without a domain come last.
    by_domain: Vec<Vec<HostSet>>,
    /// Changes since a simulation began; `None` outside one.
    log: Option<Log>,
}

/// Changes of a simulation to nodes, to be undone at its end.
#[derive(Default)]
struct Log {
    /// Nodes before they took a pod or were closed.
    former: Vec<Former>,
    /// Fit, alternative and node: nodes found full.
    full: Vec<(usize, usize, usize)>,
    /// Host rules and node: nodes found barred.
    barred: Vec<(usize, usize)>,
}

/// A node as it was.
struct Former {
    row: usize,
    free: Option<Box<[i64]>>,
    ports: usize,
    attached: Option<AttachedVolumes>,
}

impl ExistingNodes {
    /// The nodes of a compiled snapshot, with nothing placed yet.
    pub(super) fn new(compiled: &Compiled<'_>) -> Self {
        let existing = &compiled.existing;
        let by_domain = compiled.model.keys.iter().map(|key| {
            let last = key.values.len();
            let mut result = vec![HostSet::default(); last + 1];
            for (row, domain) in key.of_node.iter().enumerate().filter(|_| !key.is_host) {
                let at = if *domain == NO_DOMAIN { last } else { *domain };
                result[at].insert(row);
            }
            result
        });
        Self {
            free: existing.free.clone(),
            ports: existing.ports.clone(),
            attached: existing.attached.clone(),
            open: vec![Vec::new(); compiled.alike.fits()],
            barred: vec![HostSet::default(); compiled.alike.host_rules()],
            by_domain: by_domain.collect(),
            log: None,
        }
    }

    /// Remembers changes from now on.
    pub(super) fn begin(&mut self) {
        self.log = Some(Log::default());
    }

    /// Forgets what was remembered: the changes stay.
    pub(super) fn keep(&mut self) {
        self.log = None;
    }

    /// Takes back every change since [`ExistingNodes::begin`].
    pub(super) fn undo(&mut self) {
        let Some(log) = self.log.take() else { return };
        let mut touched = HostSet::default();
        for former in log.former.into_iter().rev() {
            touched.insert(former.row);
            self.free[former.row] = former.free;
            self.ports[former.row].truncate(former.ports);
            if let Some(attached) = former.attached {
                self.attached.insert(former.row, attached);
            }
        }
        // What was found of a node that stays as it was holds on.
        for (fit, alternative, row) in log.full.into_iter().filter(|(.., row)| touched.has(*row)) {
            if let Some(open) = &mut self.open[fit][alternative] {
                open.insert(row);
            }
        }
        for (rules, row) in log.barred.into_iter().filter(|(_, row)| touched.has(*row)) {
            self.barred[rules].remove(row);
        }
    }

    /// Lets no pod onto a node any more.
    pub(super) fn close(&mut self, row: usize) {
        self.remember(row);
        self.free[row] = None;
    }

    /// Free room of a node; `None` where nothing can be put.
    pub(super) fn free_of(&self, row: usize) -> Option<&[i64]> {
        self.free[row].as_deref()
    }

    fn remember(&mut self, row: usize) {
        if let Some(log) = &mut self.log {
            log.former.push(Former {
                row,
                free: self.free[row].clone(),
                ports: self.ports[row].len(),
                attached: self.attached.get(&row).cloned(),
            });
        }
    }

    /// The next node after `after` that is not full, not barred, and in a domain that is allowed; `backwards` from the last
    /// one on.
    fn next(
        &self,
        like: Like,
        open: &HostSet,
        allowed: &[Allowed],
        after: Option<usize>,
        backwards: bool,
    ) -> Option<usize> {
        let barred = &self.barred[like.host_rules];
        let passes = |at: usize| {
            let in_domain = |allowed: &Allowed| within(allowed, &self.by_domain[allowed.key], at);
            let free = !barred.word(at);
            allowed
                .iter()
                .fold(free, |word, allowed| word & in_domain(allowed))
        };
        if backwards {
            open.last(after.unwrap_or(usize::MAX), passes)
        } else {
            open.first(after.map_or(0, |row| row + 1), passes)
        }
    }
}

impl Placer<'_, '_> {
    /// Puts the pod onto the first existing node that takes it.
    pub(super) fn existing_node(&mut self, seeker: &Seeker<'_>) -> Option<Where> {
        if self.nodes.free.is_empty() || self.search.skips_existing {
            return None;
        }
        for alternative in 0..seeker.group.alternatives.len() {
            let mut open = self.take_open(seeker, alternative);
            let found = self.first_existing(seeker, alternative, &mut open);
            self.nodes.open[seeker.like.fit][alternative] = Some(open);
            if let Some(row) = found {
                self.take_existing(seeker.pod, seeker.group, row);
                return Some(Where::Existing(row));
            }
        }
        None
    }

    /// Nodes open to the pods of a fit, to be given back.
    fn take_open(&mut self, seeker: &Seeker<'_>, alternative: usize) -> HostSet {
        let known = &mut self.nodes.open[seeker.like.fit];
        known.resize(seeker.group.alternatives.len(), None);
        known[alternative].take().unwrap_or_else(|| {
            let held = &seeker.group.levels[seeker.level];
            let asked = NodeRequest {
                requirements: &held.requirements,
                volumes: &seeker.group.alternatives[alternative],
                tolerations: &held.tolerations,
                needs: &seeker.group.needs,
            };
            let existing = &self.compiled.existing;
            let rows = existing.open_to(self.compiled.snapshot, asked);
            rows.into_iter().collect()
        })
    }

    fn first_existing(
        &mut self,
        seeker: &Seeker<'_>,
        alternative: usize,
        open: &mut HostSet,
    ) -> Option<usize> {
        let (like, allowed) = (seeker.like, seeker.allowed);
        let backwards = self.search.backwards;
        let mut after = None;
        while let Some(row) = self.nodes.next(like, open, allowed, after, backwards) {
            after = Some(row);
            if self.takes(seeker, alternative, row, open) {
                return Some(row);
            }
        }
        None
    }

    /// The first nodes that can take a pod, at most so many, by row.
    pub(super) fn takers(&mut self, seeker: &Seeker<'_>, most: usize) -> Vec<usize> {
        let mut result = Vec::new();
        for alternative in 0..seeker.group.alternatives.len() {
            let mut open = self.take_open(seeker, alternative);
            let (like, allowed) = (seeker.like, seeker.allowed);
            let mut after = None;
            while result.len() < most
                && let Some(row) = self.nodes.next(like, &open, allowed, after, false)
            {
                after = Some(row);
                if self.takes(seeker, alternative, row, &mut open) {
                    result.push(row);
                }
            }
            self.nodes.open[seeker.like.fit][alternative] = Some(open);
        }
        result
    }

    /// `true` if a node takes a pod. One that is full for its fit leaves the open ones.
    fn takes(
        &mut self,
        seeker: &Seeker<'_>,
        alternative: usize,
        row: usize,
        open: &mut HostSet,
    ) -> bool {
        if !self.has_room(seeker.group, row) {
            open.remove(row);
            if let Some(log) = &mut self.nodes.log {
                log.full.push((seeker.like.fit, alternative, row));
            }
            return false;
        }
        if !self.has_room_for_followers(seeker, row) {
            return false;
        }
        let view = seeker.group.view(seeker.level);
        if !self.counts.host_allows(&self.compiled.model, view, row) {
            if seeker.like.lasting {
                self.nodes.barred[seeker.like.host_rules].insert(row);
                if let Some(log) = &mut self.nodes.log {
                    log.barred.push((seeker.like.host_rules, row));
                }
            }
            return false;
        }
        // Equal pods may have different claims behind their volumes, so this refusal is not for all of them.
        self.can_attach(seeker.pod, seeker.group, row)
    }

    fn has_room(&self, group: &PodGroup, row: usize) -> bool {
        let roomy = self.nodes.free[row]
            .as_ref()
            .is_some_and(|free| fits(&group.request, free));
        let conflict = |port: &HostPort| {
            self.nodes.ports[row]
                .iter()
                .any(|taken| taken.conflicts_with(port))
        };
        roomy && !group.spec.host_ports.iter().any(conflict)
    }

    /// `true` if those that follow the pod can come too.
    fn has_room_for_followers(&self, seeker: &Seeker<'_>, row: usize) -> bool {
        let dependents = self.dependents;
        if !dependents.is_followed(seeker.number) {
            return true;
        }
        let asked = dependents.with_follower(seeker.number, &seeker.group.request);
        let free = self.nodes.free[row].as_ref();
        dependents.admits(seeker.number, row) && free.is_some_and(|free| fits(&asked, free))
    }

    fn can_attach(&self, pod: usize, group: &PodGroup, row: usize) -> bool {
        let attached = self.nodes.attached.get(&row);
        group.spec.volumes.is_empty()
            || attached.is_none_or(|attached| attached.admits(&self.claims_of(pod)))
    }

    /// Claims of a pod of the batch, by driver.
    fn claims_of(&self, pod: usize) -> ClaimsByDriver {
        let snapshot = self.compiled.snapshot;
        let pod = &snapshot.pods[self.compiled.pods[pod].row];
        volumes::attached(pod, &snapshot.volumes)
    }

    pub(super) fn take_existing(&mut self, pod: usize, group: &PodGroup, row: usize) {
        self.nodes.remember(row);
        if let Some(free) = &mut self.nodes.free[row] {
            free.iter_mut()
                .zip(&group.request)
                .for_each(|(free, request)| *free -= request);
        }
        self.nodes.ports[row].extend(group.spec.host_ports.iter().cloned());
        if !group.spec.volumes.is_empty() && self.nodes.attached.contains_key(&row) {
            let claims = self.claims_of(pod);
            if let Some(attached) = self.nodes.attached.get_mut(&row) {
                attached.take(claims);
            }
        }
    }
}
