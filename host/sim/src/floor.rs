//! The least that the work that ran must have cost, whatever planner bought the instances: the bound, integrated over the run.
//!
//! Per stretch of time the work is a mean number of pods of each kind, and its bound what a fleet made of fractions of
//! instances would cost that is bought anew, at list price, for exactly that work. Nothing is in it for instances that
//! start, stand idle or are left half empty when pods end, so that no run comes down to it.

use std::sync::Arc;

use plimsoll_base::ids::{ObjectName, Uid};
use plimsoll_base::time::Timestamp;
use plimsoll_model::Pod;
use plimsoll_model::catalogue::{Catalogues, InstanceType};
use plimsoll_model::snapshot::{Objects, Snapshot};

use crate::input::Recording;
use crate::planner::Planner;
use crate::work::Work;

/// Parts of a pod in which its mean number is counted.
const PARTS: i128 = 100_000;

/// Catalogues, each with the instant from which it held.
pub(crate) type Listed = Vec<(Timestamp, Arc<Catalogues>)>;

/// A least cost per hour from one instant to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Floor {
    pub(crate) from: Timestamp,
    pub(crate) to: Timestamp,
    /// Nano-dollars per hour.
    pub(crate) rate: i64,
}

/// The bound by stretch, in order; `None` where the planner knows of none.
pub(crate) fn floors<P: Planner>(
    work: &Work,
    listed: &Listed,
    recording: &Recording,
    planner: &mut P,
    end: Timestamp,
) -> Option<Vec<Floor>> {
    let mut floors = Vec::new();
    let mut stretches = (0..work.stretches().len()).peekable();
    while let Some(first) = stretches.next() {
        let market = in_force(work, listed, first, end);
        let mut alike = vec![first];
        while let [only] = market.as_slice()
            && let Some(next) = stretches.next_if(|next| {
                matches!(in_force(work, listed, *next, end).as_slice(), [same] if Arc::ptr_eq(same, only))
            })
        {
            alike.push(next);
        }
        let copies: Vec<Vec<u32>> = alike.iter().map(|row| mean_pods(work, *row, end)).collect();
        let snapshot = one_of_each(work, recording, cheapest(&market));
        let bounds = planner.bounds(&snapshot, &copies)?;
        floors.extend(alike.iter().zip(bounds).map(|(row, bound)| Floor {
            from: work.begin_of(*row),
            to: work.begin_of(row + 1).min(end),
            rate: i64::try_from(i128::from(bound.nanos()) / PARTS).unwrap_or(i64::MAX),
        }));
    }
    Some(floors)
}

/// Mean numbers of pods by kind, in parts.
fn mean_pods(work: &Work, row: usize, end: Timestamp) -> Vec<u32> {
    let lasted = work.begin_of(row + 1).min(end).since(work.begin_of(row));
    let lasted = i128::from(lasted.millis()).max(1);
    let of_kind = |kind: usize| work.stretches()[row].get(&kind).copied().unwrap_or(0);
    order(work)
        .into_iter()
        .map(|kind| u32::try_from(i128::from(of_kind(kind)) * PARTS / lasted).unwrap_or(u32::MAX))
        .collect()
}

/// The catalogues that were in force at some moment of a stretch.
fn in_force(work: &Work, listed: &Listed, row: usize, end: Timestamp) -> Vec<Arc<Catalogues>> {
    let (from, to) = (work.begin_of(row), work.begin_of(row + 1).min(end));
    let first = listed
        .partition_point(|(at, _)| *at <= from)
        .saturating_sub(1);
    let during = listed[first..]
        .iter()
        .take_while(|(at, _)| *at <= from || *at < to);
    during.map(|(_, catalogue)| Arc::clone(catalogue)).collect()
}

/// Each offering at the lowest price that it had, so that the bound holds whatever the moment of buying.
fn cheapest(market: &[Arc<Catalogues>]) -> Arc<Catalogues> {
    let Some((first, others)) = market.split_first() else {
        return Arc::default();
    };
    if others.is_empty() {
        return Arc::clone(first);
    }
    // Prices change, classes and what they sell do not.
    Arc::new(first.revised(|number, catalogue| {
        let types = catalogue.types().iter().map(|listed| {
            let mut shown = InstanceType::clone(listed);
            let others = others
                .iter()
                .filter_map(|other| other.distinct().get(number));
            let later = others.filter_map(|other| other.get(listed.name.as_str()));
            for (at, offering) in later.flat_map(|other| other.offerings.iter().enumerate()) {
                if let Some(have) = shown.offerings.get_mut(at) {
                    have.price = have.price.min(offering.price);
                }
            }
            shown
        });
        Arc::new(catalogue.with_types(types))
    }))
}

/// Kinds in the order that their pods have in a snapshot.
fn order(work: &Work) -> Vec<usize> {
    let mut kinds: Vec<usize> = (0..work.examples().len()).collect();
    kinds.sort_by_key(|kind| (&work.examples()[*kind].name.namespace, *kind));
    kinds
}

/// A snapshot with a pod of each kind.
fn one_of_each(work: &Work, recording: &Recording, catalogues: Arc<Catalogues>) -> Snapshot {
    let pod = |kind: usize| {
        let mut pod = Pod::clone(&work.examples()[kind]);
        let namespace = Arc::clone(&pod.name.namespace);
        pod.name = ObjectName::new(namespace, format!("kind-{kind:08}"));
        pod.uid = Uid::from(format!("kind-{kind:08}"));
        pod.deleting = None;
        Arc::new(pod)
    };
    let objects = Objects {
        pools: recording.objects.pools.clone(),
        daemon_sets: recording.objects.daemon_sets.clone(),
        namespaces: recording.objects.namespaces.clone(),
        pods: order(work).into_iter().map(pod).collect(),
        ..Objects::default()
    };
    let settings = Arc::clone(&recording.settings);
    Snapshot::new(recording.start, 0, settings, catalogues, objects)
}
