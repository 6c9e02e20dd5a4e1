//! Attach slots of new nodes: the claims of pods planned on one instance against the volumes that its type can attach.
//!
//! A claim takes one slot however many pods of a node use it. Counting that is exact on a finished node.
//!
//! The scheduler never puts more on a node than its drivers attach, so a pod with more claims than any instance attaches is
//! unschedulable.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use plimsoll_base::ids::ObjectName;
use plimsoll_model::catalogue::{Catalogue, Catalogues};
use plimsoll_model::snapshot::{Guards, Snapshot};

use super::compile::{BatchPod, Compiled};
use crate::offers::axes::fits;
use crate::pods::volumes;

/// A claim under a driver that some type limits: positions in the lists of drivers and of claims.
pub(crate) type AttachSlot = (usize, usize);

/// Claims of a batch's pods, and what types attach.
#[derive(Clone, Debug, Default)]
pub(crate) struct AttachSlots {
    /// By position in the batch; pods without claims that count are not in it.
    of_pod: BTreeMap<usize, Vec<AttachSlot>>,
    /// By catalogue and type: the most volumes per driver.
    limits: Vec<Vec<Box<[i64]>>>,
    /// How many drivers there are.
    pub(crate) drivers: usize,
}

impl AttachSlots {
    /// Reads the claims of a batch, as far as some type limits their driver.
    pub(crate) fn of(snapshot: &Snapshot, pods: &[BatchPod]) -> Self {
        let mut drivers: BTreeMap<Arc<str>, usize> = BTreeMap::new();
        let mut claims: BTreeMap<ObjectName, usize> = BTreeMap::new();
        let mut of_pod = BTreeMap::new();
        let limited = OnceCell::new();
        for (at, pod) in pods.iter().enumerate() {
            let pod = &snapshot.pods[pod.row];
            if pod.spec.volumes.is_empty() {
                continue;
            }
            let limited = limited.get_or_init(|| limited_drivers(&snapshot.catalogues));
            let mut own = Vec::new();
            for (driver, names) in volumes::attached(pod, &snapshot.volumes) {
                if limited.contains(&driver) {
                    let next = drivers.len();
                    let driver = *drivers.entry(driver).or_insert(next);
                    for name in names {
                        let next = claims.len();
                        own.push((driver, *claims.entry(name).or_insert(next)));
                    }
                }
            }
            if !own.is_empty() {
                of_pod.insert(at, own);
            }
        }
        let counting = snapshot.catalogues.distinct().iter();
        let counting = counting.filter(|_| !drivers.is_empty());
        let limits = counting.map(|catalogue| limits(catalogue, &drivers));
        Self {
            of_pod,
            limits: limits.collect(),
            drivers: drivers.len(),
        }
    }

    /// The claims of a pod of the batch; empty where none counts.
    pub(crate) fn of_pod(&self, pod: usize) -> &[AttachSlot] {
        self.of_pod.get(&pod).map_or(&[], Vec::as_slice)
    }

    /// `true` if guards let new nodes have no more volumes than they attach.
    pub(crate) fn are_counted(guards: &Guards) -> bool {
        guards.enabled && guards.attach_slots
    }

    /// Slots that some pods of the batch take on one node, by driver.
    pub(crate) fn taken(&self, pods: impl Iterator<Item = usize>) -> Box<[i64]> {
        let mut result = vec![0; self.drivers];
        if self.drivers > 0 {
            for (driver, _) in self.claims(pods) {
                result[driver] += 1;
            }
        }
        result.into()
    }

    /// The claims of some pods of the batch, once each.
    pub(crate) fn claims(&self, pods: impl Iterator<Item = usize>) -> BTreeSet<AttachSlot> {
        let own = pods.filter_map(|pod| self.of_pod.get(&pod));
        own.flatten().copied().collect()
    }

    /// `true` if a node of a row has slots for so many volumes by driver, as far as the guard speaks of it.
    pub(crate) fn has(compiled: &Compiled<'_>, guards: &Guards, row: usize, taken: &[i64]) -> bool {
        let of_row = Self::limits_of(compiled, guards, row);
        of_row.is_none_or(|limits| fits(taken, limits))
    }

    /// The slots of a row by driver; `None` where nothing counts them.
    pub(crate) fn limits_of<'c>(
        compiled: &'c Compiled<'_>,
        guards: &Guards,
        row: usize,
    ) -> Option<&'c [i64]> {
        let row = &compiled.rows.rows[row];
        let template = &compiled.templates[row.template];
        let guarded = Self::are_counted(guards) && !template.is_compatible();
        let of_class = compiled.slots.limits.get(template.class)?;
        let limits = of_class.get(row.instance_type)?;
        guarded.then_some(limits)
    }
}

/// Drivers that some type limits.
fn limited_drivers(catalogues: &Catalogues) -> BTreeSet<Arc<str>> {
    let types = catalogues.distinct().iter();
    types
        .flat_map(|catalogue| catalogue.types())
        .flat_map(|sold| sold.attach_limits.keys().cloned())
        .collect()
}

/// By type, the most volumes of each driver.
fn limits(catalogue: &Catalogue, drivers: &BTreeMap<Arc<str>, usize>) -> Vec<Box<[i64]>> {
    let of_type = |limits: &BTreeMap<Arc<str>, u32>| {
        let mut result = vec![i64::MAX; drivers.len()];
        for (driver, number) in drivers {
            if let Some(limit) = limits.get(driver) {
                result[*number] = i64::from(*limit);
            }
        }
        result.into_boxed_slice()
    };
    let types = catalogue.types().iter();
    types.map(|sold| of_type(&sold.attach_limits)).collect()
}
