//! Decisions that are being made, each on a thread of its own. A planner that panics has failed to decide, and that is all.
//!
//! What it was asked about is kept in a file, so that the failure can be looked into, and the engine asks again later.

use std::any::Any;
use std::collections::BTreeMap;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use plimsoll_base::event_reason::EventReason;
use plimsoll_base::ids::Uid;
use plimsoll_engine::Input;
use plimsoll_model::action::{ConsiderRequest, SolveRequest};
use plimsoll_model::command::Settled;
use plimsoll_model::plan::Plan;
use plimsoll_model::snapshot::Snapshot;
use tokio::task::{Id, JoinSet};

use crate::bounds::BoundMeter;
use crate::metrics::disruption;
use crate::metrics::reconciles::Controller;
use crate::metrics::scheduler::OpenDecision;
use crate::planner::Planner;
use crate::record::digest;

/// The most snapshots of failed decisions that a process keeps.
const KEPT: usize = 10;
/// Longest text of a failure that is told, in characters.
const WORDS: usize = 300;

/// Keeps a snapshot under a name; where it is afterwards.
pub type Keep = Arc<dyn Fn(&Snapshot, &str) -> io::Result<PathBuf> + Send + Sync>;

/// The decision that was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    /// Where waiting pods go.
    Plan,
    /// Which nodes are disrupted.
    Disruption,
}

impl Asked {
    /// Karpenter's controller that would decide.
    const fn controller(self) -> Controller {
        match self {
            Self::Plan => Controller::Provisioner,
            Self::Disruption => Controller::Disruption,
        }
    }
}

/// A decision that could not be made.
#[derive(Debug)]
pub(crate) struct Failed {
    pub(crate) asked: Asked,
    /// Says so to the engine.
    pub(crate) input: Input,
    /// Words of the panic.
    pub(crate) cause: String,
    /// Digest of the snapshot, as recordings have it.
    pub(crate) digest: String,
    /// Where the snapshot is kept; else why it is not.
    pub(crate) file: Result<PathBuf, String>,
}

/// A decision that was made.
#[derive(Debug)]
pub(crate) struct Made {
    pub(crate) asked: Asked,
    /// Says so to the engine.
    pub(crate) input: Input,
    pub(crate) took: Duration,
    /// Reason and consolidation type that a decision on disruption counts for; `None` of a plan.
    pub(crate) evaluated: Option<[&'static str; 2]>,
    /// Waiting pods that a plan speaks of, and whether it has a place for each.
    pub(crate) pods: Vec<(Uid, bool)>,
}

impl Made {
    pub(crate) const fn controller(&self) -> Controller {
        self.asked.controller()
    }
}

/// A decision, or its failure.
pub(crate) type Decided = Result<Box<Made>, Box<Failed>>;

/// A decision that is being made.
#[derive(Debug)]
struct Open {
    asked: Asked,
    id: u64,
    since: Instant,
    /// Waiting pods that it is about.
    pods: Arc<AtomicUsize>,
}

/// Decisions being made.
pub(crate) struct Decisions {
    planner: Arc<Planner>,
    bounds: BoundMeter,
    keep: Keep,
    kept: usize,
    under_way: JoinSet<Decided>,
    open: BTreeMap<Id, Open>,
}

impl Decisions {
    pub(crate) fn new(planner: Planner, bounds: BoundMeter, keep: Keep) -> Self {
        Self {
            planner: Arc::new(planner),
            bounds,
            keep,
            kept: 0,
            under_way: JoinSet::new(),
            open: BTreeMap::new(),
        }
    }

    /// Begins to plan.
    pub(crate) fn solve(&mut self, request: SolveRequest) {
        let (planner, bounds) = (Arc::clone(&self.planner), self.bounds.clone());
        let keep = self.keeper();
        tracing::debug!(request = request.id, "planning");
        let (open, since) = (Arc::new(AtomicUsize::new(0)), Instant::now());
        let (id, waiting) = (request.id, Arc::clone(&open));
        let handle = self.under_way.spawn_blocking(move || {
            let SolveRequest { id, snapshot } = request;
            let question = (Asked::Plan, Input::Unsolved(id), &*snapshot);
            guarded(question, keep, || {
                waiting.store(unbound(&snapshot), Ordering::Relaxed);
                let plan = planner.plan(&snapshot);
                bounds.measure(&snapshot, &plan);
                tracing::debug!(
                    request = id,
                    placed = plan.placements.len(),
                    claims = plan.claims.len(),
                    unplaced = plan.unplaced.len(),
                    "planned"
                );
                Made {
                    asked: Asked::Plan,
                    took: since.elapsed(),
                    evaluated: None,
                    pods: spoken_of(&snapshot, &plan),
                    input: Input::Solved(id, Box::new(plan)),
                }
            })
        });
        let open = Open {
            asked: Asked::Plan,
            id,
            since,
            pods: open,
        };
        self.open.insert(handle.id(), open);
    }

    /// Begins to look for nodes to be disrupted.
    pub(crate) fn consider(&mut self, request: ConsiderRequest) {
        let planner = Arc::clone(&self.planner);
        let keep = self.keeper();
        tracing::debug!(request = request.id, "considering");
        let (id, since) = (request.id, Instant::now());
        let handle = self.under_way.spawn_blocking(move || {
            let question = (
                Asked::Disruption,
                Input::Unconsidered(id),
                &*request.snapshot,
            );
            guarded(question, keep, || {
                let decision = planner.consider(&request.snapshot, &request.question);
                let commands = decision.commands.len();
                tracing::debug!(request = id, commands, "considered");
                Made {
                    asked: Asked::Disruption,
                    took: since.elapsed(),
                    evaluated: Some(disruption::labels_of(&request.question)),
                    pods: Vec::new(),
                    input: Input::Considered(id, Box::new(decision)),
                }
            })
        });
        let open = Open {
            asked: Asked::Disruption,
            id,
            since,
            pods: Arc::default(),
        };
        self.open.insert(handle.id(), open);
    }

    /// Decisions that are being made.
    pub(crate) fn open(&self) -> Vec<OpenDecision> {
        let open = self.open.values().map(|open| OpenDecision {
            controller: open.asked.controller().name(),
            id: open.id,
            age: open.since.elapsed(),
            pods: match open.asked {
                Asked::Plan => Some(open.pods.load(Ordering::Relaxed)),
                Asked::Disruption => None,
            },
        });
        open.collect()
    }

    /// Tells those who look on of a command that came to its end, or to the end of the hour after it.
    pub(crate) fn settled(&self, settled: &Settled) {
        self.planner.settled(settled);
    }

    /// The next that has been made, or could not be; `None` while none is under way. Nothing is lost if the wait is given up.
    pub(crate) async fn next(&mut self) -> Option<Decided> {
        loop {
            match self.under_way.join_next_with_id().await? {
                Ok((id, decided)) => {
                    self.open.remove(&id);
                    if matches!(&decided, Err(failed) if failed.file.is_ok()) {
                        self.kept += 1;
                    }
                    return Some(decided);
                }
                Err(error) => {
                    self.open.remove(&error.id());
                    tracing::error!(%error, "a decision was given up");
                }
            }
        }
    }

    fn keeper(&self) -> Option<Keep> {
        (self.kept < KEPT).then(|| Arc::clone(&self.keep))
    }
}

/// Decides; a panic is a failure. What is asked goes with the input that tells the engine of a failure, and the snapshot.
fn guarded(
    (asked, input, snapshot): (Asked, Input, &Snapshot),
    keep: Option<Keep>,
    decide: impl FnOnce() -> Made,
) -> Decided {
    // What a panic leaves behind is the planner's cache of offers, which is replaced as a whole or not at all.
    catch_unwind(AssertUnwindSafe(decide))
        .map(Box::new)
        .map_err(|panic| {
            let digest = digest(snapshot).unwrap_or_else(|error| error.to_string());
            let file = match keep {
                None => Err(format!("{KEPT} others are kept already")),
                Some(keep) => {
                    let kept = keep(snapshot, &format!("snapshot-{digest}.json"));
                    kept.map_err(|error| error.to_string())
                }
            };
            Box::new(Failed {
                asked,
                input,
                cause: words(&*panic).chars().take(WORDS).collect(),
                digest,
                file,
            })
        })
}

/// Pods of a snapshot that wait for a node.
fn unbound(snapshot: &Snapshot) -> usize {
    let pods = snapshot.pods.iter();
    pods.filter(|pod| pod.node.is_none() && pod.is_active())
        .count()
}

/// Waiting pods that a plan speaks of, and whether it has a place for each.
fn spoken_of(snapshot: &Snapshot, plan: &Plan) -> Vec<(Uid, bool)> {
    let placed = plan.placements.iter().map(|placed| (placed.pod, true));
    let unplaced = plan.unplaced.iter().map(|unplaced| (unplaced.pod, false));
    let of = |(row, is_placed): (usize, bool)| {
        let pod = snapshot.pods.get(row)?;
        (pod.node.is_none() && !pod.is_spare()).then(|| (pod.uid.clone(), is_placed))
    };
    placed.chain(unplaced).filter_map(of).collect()
}

fn words(panic: &(dyn Any + Send)) -> &str {
    let owned = panic.downcast_ref::<String>().map(String::as_str);
    let text = owned.or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("a panic without words")
}

impl Failed {
    /// A sentence for people: what happened, and where to look.
    pub(crate) fn sentence(&self) -> String {
        let what = match self.asked {
            Asked::Plan => "waiting pods were not planned for",
            Asked::Disruption => "no decision on disruption was made",
        };
        let (cause, digest) = (&self.cause, &self.digest);
        let kept = match &self.file {
            Ok(file) => format!("kept in {}", file.display()),
            Err(why) => format!("not kept: {why}"),
        };
        format!(
            "{what}: the planner failed ({cause}) on snapshot {digest}, {kept}; tried again after a pause"
        )
    }

    /// The reason of an event about it.
    pub(crate) fn reason(&self) -> EventReason {
        match self.asked {
            Asked::Plan => EventReason::FailedScheduling,
            Asked::Disruption => EventReason::DisruptionBlocked,
        }
    }

    /// Karpenter's controller that would have decided.
    pub(crate) const fn controller(&self) -> Controller {
        self.asked.controller()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_base::time::Timestamp;
    use plimsoll_model::snapshot::{Objects, Settings};

    fn snapshot() -> Snapshot {
        let settings = Arc::new(Settings::default());
        Snapshot::new(
            Timestamp::default(),
            1,
            settings,
            Arc::default(),
            Objects::default(),
        )
    }

    #[test]
    fn a_panic_is_a_failure_that_names_the_snapshot_and_where_it_is() {
        let snapshot = snapshot();
        let keep: Keep = Arc::new(|_, name| Ok(PathBuf::from("/kept").join(name)));
        let ask = |keep: Option<Keep>, decide: fn() -> Input| {
            guarded((Asked::Plan, Input::Unsolved(7), &snapshot), keep, || {
                Made {
                    asked: Asked::Plan,
                    input: decide(),
                    took: Duration::ZERO,
                    evaluated: None,
                    pods: Vec::new(),
                }
            })
        };
        let made = ask(Some(Arc::clone(&keep)), || Input::Tick);
        assert_eq!(made.unwrap().input, Input::Tick);
        let failed = ask(Some(keep), || panic!("row {} of 3", 4)).unwrap_err();
        let digest = digest(&snapshot).unwrap();
        assert_eq!(failed.input, Input::Unsolved(7));
        assert_eq!(
            failed.sentence(),
            format!(
                "waiting pods were not planned for: the planner failed (row 4 of 3) on snapshot {digest}, kept in /kept/snapshot-{digest}.json; tried again after a pause"
            )
        );
        let full: Keep = Arc::new(|_, _| Err(io::ErrorKind::StorageFull.into()));
        let unkept = ask(Some(full), || panic!("no")).unwrap_err();
        assert!(unkept.sentence().contains("(no)") && unkept.sentence().contains("not kept: "));
        let more = ask(None, || panic!("no")).unwrap_err();
        assert!(more.sentence().contains("10 others are kept already"));
    }
}
