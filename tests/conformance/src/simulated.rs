//! A live run and a simulation of it, held side by side: from the first snapshot that was planned for, with what came from outside since.
//!
//! From outside come pods, their deletions by their owners, and every change of an object that is neither node nor claim. A pod that comes
//! in the place of an evicted one does not: the simulator makes that by itself. Both are told by the same count over what their engines
//! were handed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use plimsoll_controller::record::{Beginning, Line};
use plimsoll_core::action::{Action, Request, Write};
use plimsoll_core::catalogue::Catalogues;
use plimsoll_core::engine::{Begun, Engine, Input};
use plimsoll_core::ids::Uid;
use plimsoll_core::labels::INSTANCE_TYPE;
use plimsoll_core::model::{DisruptionReason, NodeClaim, Object, Pod, PodPhase};
use plimsoll_core::schedule;
use plimsoll_core::time::{Span, Timestamp};
use plimsoll_sim::{Behaviour, Change, Delay, Recording, Run, TimedChange};

/// A run in the lab, and the same in the simulator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compared {
    /// In the lab.
    pub live: Bought,
    /// In the simulator.
    pub simulated: Bought,
}

/// Purchases and moves of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bought {
    /// Claims that were launched, by instance type.
    pub types: BTreeMap<String, usize>,
    /// Commands that were begun, by reason.
    pub moves: BTreeMap<&'static str, u32>,
}

/// Inputs of a live engine, and what came from outside since its first snapshot.
struct Outside {
    recording: Recording,
    live: Bought,
    /// The last input.
    end: Timestamp,
}

/// Simulates what a controller wrote down; `boot` is how long machines take to come up. Fails where nothing was planned for.
pub fn compare(recording: &[u8], boot: Span) -> Result<Compared> {
    let (beginning, inputs) = read(recording)?;
    let outside = outside(&beginning, &inputs)?;
    let behaviour = Behaviour {
        boot: Delay::always(boot),
        ready: Span::from_millis(500),
        call: Span::from_millis(50),
        ending: Span::ZERO,
        interruptions: false,
        ..Behaviour::default()
    };
    let mut run = Run::with_inputs_kept(outside.recording, behaviour, schedule::plan);
    run.run_until(outside.end);
    let inputs = run.take_inputs();
    let handed = inputs.iter().map(|(_, input)| input);
    let simulated = bought(handed, run.finish().begun);
    Ok(Compared {
        live: outside.live,
        simulated,
    })
}

fn read(recording: &[u8]) -> Result<(Beginning, Vec<(Timestamp, Input)>)> {
    let (mut beginning, mut inputs) = (None, Vec::new());
    for line in recording
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
    {
        match serde_json::from_slice(line)? {
            Line::Begin(begin) => beginning = Some(begin),
            Line::Input(at, input) => inputs.push((at, *input)),
            Line::Action(_) => {}
        }
    }
    Ok((beginning.context("a recording has a beginning")?, inputs))
}

/// Plays the inputs as they were, and gathers what was not the engine's doing.
fn outside(beginning: &Beginning, inputs: &[(Timestamp, Input)]) -> Result<Outside> {
    let catalogues = Arc::new(Catalogues::default());
    let mut engine = Engine::new(Arc::clone(&beginning.settings), catalogues, beginning.seed);
    let (mut first, mut changes) = (None, Vec::new());
    let mut pods = Pods::default();
    for (at, input) in inputs {
        let change = pods.take(input);
        if first.is_some() {
            changes.extend(change.map(|change| TimedChange { at: *at, change }));
        }
        for action in engine.handle(input.clone(), *at) {
            match action {
                Action::Solve(request) => {
                    first.get_or_insert(request.snapshot);
                }
                Action::Do(order) => pods.note(&order.request),
                _ => {}
            }
        }
    }
    let (Some(first), Some((end, _))) = (first, inputs.last()) else {
        bail!("nothing was planned for");
    };
    let mut recording = Recording::from_snapshot(&first, changes);
    recording.end = Some(*end);
    let handed = inputs.iter().map(|(_, input)| input);
    Ok(Outside {
        recording,
        live: bought(handed, engine.disruptions().0),
        end: *end,
    })
}

/// Pods so far, and which of them the engine had evicted.
#[derive(Default)]
struct Pods {
    known: BTreeSet<Uid>,
    asked: BTreeSet<Uid>,
    /// Evicted pods whose successors are still to come, by the uid of their owner.
    owed: BTreeMap<Uid, usize>,
}

impl Pods {
    /// The change of the world that an input tells of, if that came from outside.
    fn take(&mut self, input: &Input) -> Option<Change> {
        match input {
            Input::Applied(Object::Pod(pod), _) => self.arrival(pod),
            Input::Deleted(Object::Pod(pod), _) => self.deletion(pod),
            Input::Applied(Object::Node(_) | Object::Claim(_), _) => None,
            Input::Applied(object, _) => Some(Change::Apply(object.clone())),
            _ => None,
        }
    }

    fn arrival(&mut self, pod: &Pod) -> Option<Change> {
        if !self.known.insert(pod.uid.clone()) {
            return None;
        }
        let owner = pod.owner.as_ref().map(|owner| &owner.uid);
        if let Some(owed) = owner.and_then(|owner| self.owed.get_mut(owner))
            && *owed > 0
        {
            *owed -= 1;
            return None;
        }
        let mut pod = pod.clone();
        pod.node = None;
        pod.nominated = None;
        pod.phase = PodPhase::Pending;
        pod.unschedulable = false;
        Some(Change::Arrive(Arc::new(pod), None))
    }

    fn deletion(&mut self, pod: &Pod) -> Option<Change> {
        if !self.asked.contains(&pod.uid) {
            return Some(Change::DeletePod(pod.name.clone()));
        }
        if let Some(owner) = &pod.owner {
            *self.owed.entry(owner.uid.clone()).or_default() += 1;
        }
        None
    }

    /// Notes whom an order asks to go.
    fn note(&mut self, request: &Request) {
        if let Request::Write(Write::Evict { uid, .. }) = request {
            self.asked.insert(uid.clone());
        }
    }
}

/// Counts claims by the type that they were launched as, and commands by reason.
fn bought<'i>(inputs: impl Iterator<Item = &'i Input>, begun: Begun) -> Bought {
    let mut launched: BTreeMap<&Uid, &str> = BTreeMap::new();
    for input in inputs {
        if let Input::Applied(Object::Claim(claim), _) = input
            && let Some(name) = instance_type(claim)
        {
            launched.insert(&claim.uid, name);
        }
    }
    let mut types = BTreeMap::new();
    for name in launched.into_values() {
        *types.entry(name.to_owned()).or_default() += 1;
    }
    let reasons = DisruptionReason::ALL.into_iter();
    let moves = reasons.map(|reason| (reason.as_str(), begun.of(reason)));
    Bought {
        types,
        moves: moves.filter(|(_, count)| *count > 0).collect(),
    }
}

fn instance_type(claim: &NodeClaim) -> Option<&str> {
    claim.provider_id.as_ref()?;
    claim.labels.get(INSTANCE_TYPE).map(|name| &**name)
}
