//! The planner of a simulation: the core with policies, or a node group; a fault that another machine might not have seen
//! ends the run, since its answer could not be repeated.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::{Result, bail};
use plimsoll_base::units::PricePerHour;
use plimsoll_check::PriceRule;
use plimsoll_disrupt::keep_reason::KeepReason;
use plimsoll_model::action::ConsiderRequest;
use plimsoll_model::command::Settled;
use plimsoll_model::plan::Plan;
use plimsoll_model::snapshot::Snapshot;
use plimsoll_policy::{Decision, Fault, Generation, Policies};
use plimsoll_schedule::Session;
use plimsoll_sim::{
    Appraisal, Behaviour, Considered, FixedGroup, Planned, Planner, Recording, Run,
};

use crate::failure::Environment;

/// Threads to use: the given number, or one per processor.
pub(crate) fn threads(given: Option<u16>) -> usize {
    let processors = || std::thread::available_parallelism().map_or(1, usize::from);
    given.map_or_else(processors, usize::from)
}

/// A plan, whose prices its options carry, and what went wrong with the policy.
pub(crate) struct Decided {
    pub(crate) plan: Plan,
    pub(crate) prices: PriceRule,
    pub(crate) faults: Vec<String>,
}

/// Plans with policies. A fault that depends on the machine decides nothing.
pub(crate) fn planned(
    generation: &Generation,
    snapshot: &Snapshot,
    session: &Session,
) -> Result<Decided> {
    let Decision {
        plan,
        faults,
        at_policy_prices,
    } = generation.plan(snapshot, session);
    hold_for_machine(faults.iter().map(|(name, fault)| (name.as_str(), fault)))?;
    let sentence = |(name, fault): &(String, Fault)| format!("policy {name}: {fault}");
    Ok(Decided {
        plan,
        prices: if at_policy_prices {
            PriceRule::Policy
        } else {
            PriceRule::List
        },
        faults: faults.iter().map(sentence).collect(),
    })
}

/// Refuses a fault that another machine might not have seen.
fn hold_for_machine<'f>(faults: impl IntoIterator<Item = (&'f str, &'f Fault)>) -> Result<()> {
    let mut faults = faults.into_iter();
    match faults.find(|(_, fault)| fault.outcome.depends_on_machine()) {
        Some((name, fault)) => bail!(Environment(format!(
            "policy {name}: {fault}; that depends on the machine, so nothing was decided"
        ))),
        None => Ok(()),
    }
}

/// The planner of a run, with the core's bound.
pub(crate) struct Player {
    who: Who,
    halted: Halted,
}

/// Who decides in a run.
enum Who {
    /// The core decides with policies, which are watched as a live cluster's are, and keeps what pools sell from one decision to the
    /// next. The second generation is asked why nodes are kept, so that what it is asked changes nothing.
    Core(Generation, Session, Box<Generation>),
    /// A node group grows.
    Fixed(FixedGroup),
}

/// Why a run came to nothing: a policy was held up by the machine, and what is played after that means nothing.
#[derive(Clone, Default)]
pub(crate) struct Halted(Arc<Mutex<Option<anyhow::Error>>>);

impl Halted {
    /// Fails where the run came to nothing.
    pub(crate) fn check(&self) -> Result<()> {
        self.error().take().map_or(Ok(()), Err)
    }

    fn error(&self) -> MutexGuard<'_, Option<anyhow::Error>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The decision made; on an error the default, and the first such error is kept to end the run.
    fn or_nothing<T: Default>(&self, decided: Result<T>) -> T {
        decided.unwrap_or_else(|error| {
            self.error().get_or_insert(error);
            T::default()
        })
    }
}

/// Plays a recording with policies, for their observers; fails where the run came to nothing.
pub(crate) fn play(recording: Recording, seed: u64, policies: Policies) -> Result<()> {
    let behaviour = Behaviour {
        seed,
        ..Behaviour::default()
    };
    let player = Player::core(policies);
    let halted = player.halted();
    Run::new(recording, behaviour, player).finish();
    halted.check()
}

impl Player {
    /// Policies play.
    pub(crate) fn core(policies: Policies) -> Self {
        let mut asked = policies.clone();
        asked.observers.clear();
        let (plays, asked) = (Generation::first(policies), Generation::first(asked));
        Self {
            who: Who::Core(plays, Session::default(), Box::new(asked)),
            halted: Halted::default(),
        }
    }

    /// A node group plays.
    pub(crate) fn fixed(group: FixedGroup) -> Self {
        Self {
            who: Who::Fixed(group),
            halted: Halted::default(),
        }
    }

    /// To be asked when the run is over.
    pub(crate) fn halted(&self) -> Halted {
        self.halted.clone()
    }
}

impl Planner for Player {
    fn plan(&mut self, snapshot: &Snapshot) -> Planned {
        if self.halted.error().is_some() {
            return Planned::default();
        }
        match &mut self.who {
            Who::Core(generation, session, _) => {
                let decided = planned(generation, snapshot, session);
                self.halted.or_nothing(decided.map(|decided| Planned {
                    faults: decided.faults,
                    plan: decided.plan,
                }))
            }
            Who::Fixed(group) => group.plan(snapshot),
        }
    }

    fn consider(&mut self, request: &ConsiderRequest) -> Considered {
        if self.halted.error().is_some() {
            return Considered::default();
        }
        match &mut self.who {
            Who::Core(generation, session, _) => {
                let (snapshot, question) = (&request.snapshot, &request.question);
                let considered = generation.consider(snapshot, question, session);
                let faults = considered.faults.iter();
                let held = hold_for_machine(faults.map(|(name, fault)| (name.as_str(), fault)));
                self.halted.or_nothing(held.map(|()| Considered {
                    faults: considered.notes,
                    decision: considered.decision,
                }))
            }
            Who::Fixed(group) => group.consider(request),
        }
    }

    fn settled(&mut self, settled: &Settled) {
        if let Who::Core(generation, ..) = &self.who {
            generation.settled(settled);
        }
    }

    fn appraise(&mut self, snapshot: &Snapshot, rows: &[usize]) -> Option<Appraisal> {
        Some(match &self.who {
            Who::Core(_, session, asked) => {
                let ask =
                    |snapshot: &Snapshot, rows: &[usize]| asked.outlooks(snapshot, rows, session).0;
                Appraisal {
                    fresh: plimsoll_schedule::fresh_fleet(snapshot, session),
                    kept: KeepReason::of_nodes(snapshot, rows, ask),
                }
            }
            // A node group takes away empty nodes alone.
            Who::Fixed(_) => Appraisal {
                fresh: plimsoll_schedule::fresh_fleet(snapshot, &Session::default()),
                kept: vec![KeepReason::ConsolidationPolicy; rows.len()],
            },
        })
    }

    fn bounds(&mut self, snapshot: &Snapshot, work: &[Vec<u32>]) -> Option<Vec<PricePerHour>> {
        Some(plimsoll_schedule::bounds_of_work(snapshot, work))
    }
}
