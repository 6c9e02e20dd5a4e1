//! A forecast: the first snapshot on which a controller decides, played on by the simulator, beside what then came to be.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::{Context, Result};
use plimsoll_base::labels;
use plimsoll_base::time::Span;
use plimsoll_controller::Planner;
use plimsoll_controller::record::Line;
use plimsoll_engine::Engine;
use plimsoll_model::NodeClaim;
use plimsoll_model::action::Action;
use plimsoll_model::catalogue::Catalogues;
use plimsoll_model::command::Settled;
use plimsoll_model::snapshot::Snapshot;
use plimsoll_sim::{Behaviour, Considered, Delay, Planned, Recording, Run};

use crate::Course;

/// How long a forecast looks ahead: every quiet time of these tests is seconds.
const AHEAD: Span = Span::from_secs(30 * 60);

/// State that a cluster came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Claims in the end, as pool, instance type, zone and capacity type, with their number.
    pub claims: BTreeMap<String, usize>,
    /// Disruption commands, as reason, number of nodes that went and of those that came in their place, and the saving per hour that was
    /// predicted; ascending as text, since commands that begin within one moment have no order in time.
    pub moves: Vec<String>,
}

impl Outcome {
    fn of<'a>(claims: impl Iterator<Item = &'a Arc<NodeClaim>>, settled: &[Settled]) -> Self {
        let mut counts = BTreeMap::new();
        for claim in claims {
            *counts.entry(words(claim)).or_default() += 1;
        }
        let ended = settled.iter();
        let ended = ended.filter(|command| command.watched == Span::ZERO);
        let moves = ended.map(|command| {
            format!(
                "{}: {} gone, {} came, {}",
                command.reason.facts().name,
                command.gone.len(),
                command.came.len(),
                command.predicted
            )
        });
        let mut moves: Vec<String> = moves.collect();
        moves.sort();
        Self {
            claims: counts,
            moves,
        }
    }

    /// Claims in the end.
    pub fn claim_count(&self) -> usize {
        self.claims.values().sum()
    }
}

fn words(claim: &NodeClaim) -> String {
    let label = |key: &str| claim.labels.get(key).map_or("?", AsRef::as_ref);
    [labels::INSTANCE_TYPE, labels::ZONE, labels::CAPACITY_TYPE]
        .iter()
        .fold(claim.pool.to_string(), |words, key| {
            format!("{words} {}", label(key))
        })
}

/// An engine that hears what a recorded one heard, line by line.
#[derive(Default)]
pub struct Listener {
    engine: Option<Engine>,
    settled: Vec<Settled>,
}

impl Listener {
    /// Takes a line; the snapshot of the first plan or decision on disruption that it leads to.
    pub fn hear(&mut self, line: Line) -> Option<Arc<Snapshot>> {
        match line {
            Line::Begin(beginning) => {
                let catalogues = Arc::new(Catalogues::default());
                self.engine = Some(Engine::new(beginning.settings, catalogues, beginning.seed));
                None
            }
            Line::Input(now, input) => {
                let actions = self.engine.as_mut()?.handle(*input, now);
                let mut first = None;
                for action in actions {
                    match action {
                        Action::Solve(request) => first = first.or(Some(request.snapshot)),
                        Action::Consider(request) => first = first.or(Some(request.snapshot)),
                        Action::Settle(settled) => self.settled.push(*settled),
                        Action::Do(_) | Action::Report(_) | Action::Begin(_) => {}
                    }
                }
                first
            }
            Line::Action(_) => None,
        }
    }
}

/// The outcome that came to be in a run.
pub fn lived(course: &Course) -> Result<Outcome> {
    let mut listener = Listener::default();
    for line in course.lines() {
        listener.hear(line?);
    }
    let engine = listener.engine.context("a recording has a first line")?;
    let claims = &engine.cluster().claims;
    Ok(Outcome::of(claims.unordered(), &listener.settled))
}

/// Plans as the controller does, and keeps what commands came to.
struct Observed<'a> {
    planner: &'a Planner,
    settled: Vec<Settled>,
}

impl plimsoll_sim::Planner for &mut Observed<'_> {
    fn plan(&mut self, snapshot: &Snapshot) -> Planned {
        self.planner.plan(snapshot).into()
    }

    fn consider(&mut self, request: &plimsoll_model::action::ConsiderRequest) -> Considered {
        let decision = self.planner.consider(&request.snapshot, &request.question);
        decision.into()
    }

    fn settled(&mut self, settled: &Settled) {
        self.settled.push(settled.clone());
    }
}

/// The outcome that the simulator foretells of a snapshot, in a cloud whose instances boot in a second and are never taken back.
pub fn simulated(snapshot: &Snapshot, planner: &Planner) -> Outcome {
    let behaviour = Behaviour {
        boot: Delay::always(Span::from_secs(1)),
        interruptions: false,
        ..Behaviour::default()
    };
    let mut observed = Observed {
        planner,
        settled: Vec::new(),
    };
    let recording = Recording::from_snapshot(snapshot, Vec::new());
    let mut run = Run::new(recording, behaviour, &mut observed);
    run.run_until(snapshot.now + AHEAD);
    let claims: Vec<Arc<NodeClaim>> = run.claims().map(Arc::clone).collect();
    drop(run);
    Outcome::of(claims.iter(), &observed.settled)
}
