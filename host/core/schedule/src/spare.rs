//! A plan's outcome for each buffer, in the words of its condition `Provisioning`.
//!
//! A buffer is well when all of its room is on nodes that are there. What found no place anywhere needs new capacity as much
//! as what is being bought; the message tells them apart.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use plimsoll_base::event_reason::EventReason;
use plimsoll_base::ids::ObjectName;
use plimsoll_model::Pod;
use plimsoll_model::buffers::resolve;
use plimsoll_model::plan::{Plan, Refusal, Target};
use plimsoll_model::snapshot::Snapshot;

/// Reasons of the condition `Provisioning` of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum State {
    /// All of its room is on nodes that are there.
    FitsExistingCapacity,
    /// Some of its room is not there yet.
    RequiresNewCapacity,
    /// It asks for nothing now.
    BufferEmpty,
    /// Its request cannot be worked out.
    NotReadyForProvisioning,
}

impl State {
    /// The reason of the event, as that of the condition.
    pub const fn event(self) -> EventReason {
        match self {
            Self::FitsExistingCapacity => EventReason::FitsExistingCapacity,
            Self::RequiresNewCapacity => EventReason::RequiresNewCapacity,
            Self::BufferEmpty => EventReason::BufferEmpty,
            Self::NotReadyForProvisioning => EventReason::NotReadyForProvisioning,
        }
    }
}

impl fmt::Display for State {
    /// As the condition's reason is written.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.event().fmt(f)
    }
}

/// How one buffer stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BufferVerdict {
    /// The buffer.
    pub buffer: ObjectName,
    /// Its state.
    pub state: State,
    /// In words, with counts.
    pub message: String,
}

/// Where the units of one buffer are.
#[derive(Default)]
struct BufferTally<'p> {
    here: usize,
    bought: usize,
    nodes: BTreeSet<usize>,
    nowhere: usize,
    refusal: Option<&'p Refusal>,
}

/// How every buffer of a snapshot stands under a plan, by namespace and name; nothing where buffers are not in use.
pub fn verdicts(snapshot: &Snapshot, plan: &Plan) -> Vec<BufferVerdict> {
    if !snapshot.settings.capacity_buffers {
        return Vec::new();
    }
    let tallies = tallies(snapshot, plan);
    let verdict = |buffer: &Arc<plimsoll_model::CapacityBuffer>| {
        let room = resolve(
            buffer,
            &snapshot.templates,
            &snapshot.workloads,
            snapshot.now,
        );
        let (state, message) = match room {
            Err(unready) => (State::NotReadyForProvisioning, unready.to_string()),
            Ok(room) => tallies
                .get(&(&buffer.name.namespace, &buffer.name.name))
                .map_or_else(|| empty(buffer), |tally| tally.words(room.units)),
        };
        BufferVerdict {
            buffer: buffer.name.clone(),
            state,
            message,
        }
    };
    snapshot.buffers.iter().map(verdict).collect()
}

fn empty(buffer: &plimsoll_model::CapacityBuffer) -> (State, String) {
    let message = match &buffer.window {
        Some(window) => format!("asks for nothing outside its window {:?}", window.schedule),
        None => "asks for nothing".to_owned(),
    };
    (State::BufferEmpty, message)
}

/// Namespace and name of a buffer.
type BufferKey<'s> = (&'s Arc<str>, &'s Arc<str>);

fn tallies<'s>(snapshot: &'s Snapshot, plan: &'s Plan) -> BTreeMap<BufferKey<'s>, BufferTally<'s>> {
    let mut tallies: BTreeMap<BufferKey<'s>, BufferTally<'s>> = BTreeMap::new();
    let key = |row: usize| -> Option<BufferKey<'s>> {
        let pod: &Pod = snapshot.pods.get(row).filter(|pod| pod.is_spare())?;
        Some((&pod.name.namespace, &pod.owner.as_ref()?.name))
    };
    for placement in &plan.placements {
        let Some(key) = key(placement.pod) else {
            continue;
        };
        let tally = tallies.entry(key).or_default();
        match placement.target {
            Target::Existing(_) => tally.here += 1,
            Target::New(row) => {
                tally.bought += 1;
                tally.nodes.insert(row);
            }
        }
    }
    for unplaced in &plan.unplaced {
        if let Some(key) = key(unplaced.pod) {
            let tally = tallies.entry(key).or_default();
            tally.nowhere += 1;
            tally.refusal.get_or_insert(&unplaced.reason);
        }
    }
    tallies
}

impl BufferTally<'_> {
    /// `3 of 5 units fit nodes that are there; 2 need 1 new node`
    fn words(&self, units: u32) -> (State, String) {
        let here = format!("{} of {units} units fit nodes that are there", self.here);
        let bought = (self.bought > 0).then(|| {
            let nodes = self.nodes.len();
            let plural = if nodes == 1 { "" } else { "s" };
            format!("{} need {nodes} new node{plural}", self.bought)
        });
        let nowhere = self.refusal;
        let nowhere = nowhere.map(|refusal| format!("{} have no place: {refusal}", self.nowhere));
        let parts: Vec<String> = std::iter::once(here).chain(bought).chain(nowhere).collect();
        let state = if self.bought + self.nowhere == 0 {
            State::FitsExistingCapacity
        } else {
            State::RequiresNewCapacity
        };
        (state, parts.join("; "))
    }
}
