//! `plimsoll replay`: recorded decisions made again, and whether they are equal to the byte.
//!
//! Answers of modules are compared without anything but the file. Plans follow from the input that was played: where it is given,
//! it is played again under the recorded policies, and every plan and decision about nodes is compared by its digest.

use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, Result, bail};
use plimsoll_core::snapshot::Snapshot;
use plimsoll_policy::records::{
    Difference, Heading, Made, ReplayError, Replayed, Shelf, What, digest_of_decision,
    digest_of_plan, replay,
};
use plimsoll_policy::{Considered, Decision, Generation, Onlooker, Policies};
use plimsoll_sim::{Behaviour, Run};
use serde::Serialize;

use crate::failure::Environment;
use crate::flags::Replay;
use crate::load;
use crate::output::{show, thousands};
use crate::player::Player;
use crate::policy::engine;
use crate::records;

/// What `-o json` prints.
#[derive(Serialize)]
struct Shown {
    equal: bool,
    decisions: u64,
    passed_over: u64,
    modules: usize,
    made: usize,
    made_again: usize,
    /// The line that ends in the middle.
    cut: Option<usize>,
    differs: Option<Difference>,
    made_differs: Option<MadeDifference>,
}

/// A plan or a decision about nodes that is another one now.
#[derive(Clone, Debug, Serialize)]
struct MadeDifference {
    number: u64,
    what: What,
    /// Seconds since the epoch, of the world that was played.
    unix_s: i64,
    recorded: String,
    now: String,
}

pub(crate) fn run(flags: &Replay) -> Result<()> {
    let name = load::name(&flags.records);
    let reader = records::open(&flags.records)?;
    let heading = reader.heading().clone();
    let shelf = records::shelf(engine()?, &flags.policy)?;
    let threads = flags.threads.map_or_else(processors, usize::from);
    let (replayed, modules) = (replay(reader, &shelf, threads), shelf.served());
    if let Err(error @ ReplayError::Machine { .. }) = &replayed {
        bail!(Environment(format!("{name}: {error}")));
    }
    let replayed = replayed.with_context(|| name.clone())?;
    records::tell_cut(&flags.records, replayed.cut);
    let remade = match &flags.on {
        Some(_) if replayed.differs.is_none() => remade(flags, &heading, &shelf, &replayed)?,
        _ => Remade::default(),
    };
    if replayed.decisions == 0 && remade.count == 0 && remade.differs.is_none() {
        bail!("{name}: {}", nothing(&replayed));
    }
    let shown = Shown {
        equal: replayed.differs.is_none() && remade.differs.is_none(),
        decisions: replayed.decisions,
        passed_over: replayed.passed_over,
        modules,
        made: replayed.made.len(),
        made_again: remade.count,
        cut: replayed.cut,
        differs: replayed.differs,
        made_differs: remade.differs,
    };
    show(flags.output, &shown, || people(&name, &shown))?;
    if shown.equal {
        Ok(())
    } else {
        bail!("{name}: what was decided then is not what is decided now")
    }
}

/// Why there was nothing to compare, which is not the same as to be equal.
fn nothing(replayed: &Replayed) -> String {
    match (replayed.passed_over, replayed.made.len()) {
        (0, 0) => "there is no decision in it, so that nothing could be made again".to_owned(),
        (0, made) => format!(
            "no module was asked for its {made} plans and decisions about nodes; --on INPUT makes those again"
        ),
        (passed, _) => format!(
            "all of its {passed} decisions hung on the machine then, so that none could be made again"
        ),
    }
}

fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Plays the recorded input again and compares what is made of the answers.
fn remade(flags: &Replay, heading: &Heading, shelf: &Shelf, then: &Replayed) -> Result<Remade> {
    let (Some(path), Some(run)) = (&flags.on, &heading.run) else {
        bail!(
            "the records are of a cluster that was served; expected those of a simulation with --on"
        );
    };
    let input = load::input(path, &records::deciding(run)?)?;
    if input.digest != run.input_sha256 {
        bail!(
            "{} has SHA-256 {}; the records are of an input with {}",
            load::name(path),
            input.digest,
            run.input_sha256
        );
    }
    let checker = Arc::new(Checker {
        recorded: then.made.clone(),
        whole: then.cut.is_none(),
        remade: Mutex::default(),
    });
    let mut policies = Policies::default();
    for line in &run.policies {
        let module = shelf.policy(line)?;
        module.as_ref().clone().join(&mut policies);
    }
    policies.onlookers.push(checker.clone());
    let behaviour = Behaviour {
        seed: run.seed,
        ..Behaviour::default()
    };
    let player = Player::core(Generation::first(policies));
    let halted = player.halted();
    Run::new(input.recording, behaviour, player).finish();
    halted.check()?;
    let remade = checker
        .remade
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    let mut remade = remade.clone();
    if remade.differs.is_none() && remade.count < then.made.len() {
        let missing = &then.made[remade.count];
        remade.differs = Some(MadeDifference {
            number: missing.number,
            what: missing.what,
            unix_s: remade.last_unix_s,
            recorded: missing.sha256.clone(),
            now: "not made".to_owned(),
        });
    }
    Ok(remade)
}

#[derive(Clone, Debug, Default)]
struct Remade {
    count: usize,
    last_unix_s: i64,
    differs: Option<MadeDifference>,
}

/// Holds what is made now against what was made then, one after the other.
#[derive(Debug)]
struct Checker {
    recorded: Vec<Made>,
    /// Whether the records end where the run did.
    whole: bool,
    remade: Mutex<Remade>,
}

impl Checker {
    fn check(&self, what: What, snapshot: &Snapshot, now: impl FnOnce() -> String) {
        let mut remade = self.remade.lock().unwrap_or_else(PoisonError::into_inner);
        let then = self.recorded.get(remade.count);
        if remade.differs.is_some() || (then.is_none() && !self.whole) {
            return;
        }
        let (now, unix_s) = (now(), snapshot.now.millis() / 1000);
        remade.last_unix_s = unix_s;
        match then {
            Some(then) if then.what == what && then.sha256 == now => remade.count += 1,
            _ => {
                let recorded = then.map(|then| (then.number, then.sha256.clone()));
                let next = self.recorded.len() as u64 + 1;
                let (number, recorded) = recorded.unwrap_or((next, "not made".to_owned()));
                remade.differs = Some(MadeDifference {
                    number,
                    what,
                    unix_s,
                    recorded,
                    now,
                });
            }
        }
    }
}

impl Onlooker for Checker {
    fn planned(&self, snapshot: &Snapshot, decision: &Decision) {
        self.check(What::Plan, snapshot, || digest_of_plan(&decision.plan));
    }

    fn considered(&self, snapshot: &Snapshot, considered: &Considered) {
        let now = || digest_of_decision(&considered.decision);
        self.check(What::Disruption, snapshot, now);
    }
}

fn people(name: &str, shown: &Shown) -> String {
    let count = |number: usize| thousands(number as u64);
    let decisions = thousands(shown.decisions);
    let mut text = match &shown.differs {
        None => format!(
            "{name}: {decisions} decisions of {} modules are equal to the byte\n",
            shown.modules
        ),
        Some(difference) => format!("{name}: {difference}\n"),
    };
    if shown.passed_over > 0 {
        let passed = thousands(shown.passed_over);
        text += &format!("  {passed} hung on the machine then and were not made again\n");
    }
    text += &match &shown.made_differs {
        Some(other) => format!(
            "  {} {} is another one now: {} was recorded, {} is made\n",
            words(other.what),
            other.number,
            other.recorded,
            other.now
        ),
        None if shown.made_again > 0 => format!(
            "  {} plans and decisions about nodes, made again, are equal to the byte\n",
            count(shown.made_again)
        ),
        None if shown.differs.is_some() => String::new(),
        None => format!(
            "  {} plans and decisions about nodes were not made again; --on INPUT does\n",
            count(shown.made)
        ),
    };
    text
}

fn words(what: What) -> &'static str {
    match what {
        What::Plan => "plan",
        What::Disruption => "decision about nodes",
    }
}
