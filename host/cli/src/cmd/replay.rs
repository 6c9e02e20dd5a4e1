//! `plimsoll replay`: recorded decisions made again, and whether they are equal to the byte.
//!
//! Answers of modules are compared without anything but the file. Plans follow from the input that was played: where it is given,
//! it is played again under the recorded policies, and every plan and decision about nodes is compared by its digest.

use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, Result, bail};
use plimsoll_base::time::Timestamp;
use plimsoll_model::snapshot::Snapshot;
use plimsoll_policy::records::{
    Difference, Heading, Made, RecordStore, ReplayError, Replayed, What, digest_of_decision,
    digest_of_plan, replay,
};
use plimsoll_policy::{Considered, Decision, Observer, Policies};
use schemars::JsonSchema;
use serde::Serialize;

use crate::failure::Environment;
use crate::flags;
use crate::load;
use crate::output::{counted, show, thousands};
use crate::player::{play, threads};
use crate::policy::engine;
use crate::records;
use crate::view::{Document, Instant, instant};

/// Output of `plimsoll replay`: recorded decisions, held against the same decisions now.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Replay {
    /// True if everything that was replayed is the same, byte for byte.
    equal: bool,
    /// Policy decisions that were replayed.
    decisions: u64,
    /// Policy decisions that were skipped, since their outcome depended on the machine, such as a deadline.
    skipped: u64,
    /// Modules, counted once for each of their settings.
    modules: usize,
    /// Plans and disruption decisions in the records.
    plans: usize,
    /// Those of them that were replayed and are the same; 0 without `--on`.
    replayed_plans: usize,
    /// The line at which the file is cut; absent where it is whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    cut_at_line: Option<usize>,
    /// The first policy decision that differs; absent where none does.
    #[serde(skip_serializing_if = "Option::is_none")]
    first_difference: Option<DecisionDifference>,
    /// The first plan or disruption decision that differs; absent where none does.
    #[serde(skip_serializing_if = "Option::is_none")]
    first_plan_difference: Option<PlanDifference>,
}

impl Document for Replay {}

/// A policy decision that differs.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct DecisionDifference {
    /// Its number, from 1.
    decision: u64,
    /// `price`, `order`, `score` or `allow`.
    call: &'static str,
    /// The policy.
    policy: String,
    /// `outcome`, `fault`, `fuel`, or a column of the answer.
    field: String,
    /// The first row that differs, where a column does.
    #[serde(skip_serializing_if = "Option::is_none")]
    row: Option<Row>,
    /// The recorded value.
    recorded: String,
    /// The present value.
    now: String,
}

/// A row of a question.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Row {
    /// Its number, from 0.
    number: usize,
    /// The row in words.
    description: String,
}

/// A plan or disruption decision that differs.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct PlanDifference {
    /// Its number, from 1.
    number: u64,
    /// `plan` or `disruption`.
    #[schemars(with = "String")]
    what: What,
    /// The simulated time of the decision.
    time: Instant,
    /// The recorded SHA-256.
    recorded: String,
    /// The present SHA-256.
    now: String,
}

impl DecisionDifference {
    fn of(difference: &Difference) -> Self {
        let row = difference.row.as_ref();
        Self {
            decision: difference.decision,
            call: difference.call,
            policy: difference.policy.clone(),
            field: difference.field.clone(),
            row: row.map(|row| Row {
                number: row.number,
                description: row.words.clone(),
            }),
            recorded: difference.recorded.clone(),
            now: difference.now.clone(),
        }
    }
}

pub(crate) fn run(flags: &flags::Replay) -> Result<()> {
    let name = load::name(&flags.records);
    let reader = records::open(&flags.records)?;
    let heading = reader.heading().clone();
    let store = records::store(engine()?, &flags.policy)?;
    let threads = threads(flags.threads);
    let (replayed, modules) = (replay(reader, &store, threads), store.served());
    if let Err(error @ ReplayError::Machine { .. }) = &replayed {
        bail!(Environment(format!("{name}: {error}")));
    }
    let replayed = replayed.with_context(|| name.clone())?;
    records::tell_cut(&flags.records, replayed.cut);
    let remade = match &flags.on {
        Some(_) if replayed.differs.is_none() => remade(flags, &heading, &store, &replayed)?,
        _ => Remade::default(),
    };
    if replayed.decisions == 0 && remade.count == 0 && remade.differs.is_none() {
        bail!("{name}: {}", nothing(&replayed));
    }
    let differs = replayed.differs;
    let shown = Replay {
        equal: differs.is_none() && remade.differs.is_none(),
        decisions: replayed.decisions,
        skipped: replayed.passed_over,
        modules,
        plans: replayed.made.len(),
        replayed_plans: remade.count,
        cut_at_line: replayed.cut,
        first_difference: differs.as_ref().map(DecisionDifference::of),
        first_plan_difference: remade.differs,
    };
    let people = || people(&name, &shown, differs.as_ref());
    show(flags.output, || &shown, people)?;
    if shown.equal {
        Ok(())
    } else {
        bail!("{name}: the decisions differ from the recorded ones")
    }
}

/// Why there was nothing to compare, which is not the same as to be equal.
fn nothing(replayed: &Replayed) -> String {
    match (replayed.passed_over, replayed.made.len()) {
        (0, 0) => "the file has no decision to replay".to_owned(),
        (0, made) => format!(
            "no module took part in its {made} plans and disruption decisions; --on INPUT replays those"
        ),
        (passed, _) => format!(
            "the outcome of all its {passed} decisions depended on the machine, so that none can be replayed"
        ),
    }
}

/// Plays the recorded input again and compares what is made of the answers.
fn remade(
    flags: &flags::Replay,
    heading: &Heading,
    store: &RecordStore,
    then: &Replayed,
) -> Result<Remade> {
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
        let module = store.policy(line)?;
        module.as_ref().clone().join(&mut policies);
    }
    policies.observers.push(checker.clone());
    play(input.recording, run.seed, policies)?;
    let remade = checker
        .remade
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    let mut remade = remade.clone();
    if remade.differs.is_none() && remade.count < then.made.len() {
        let missing = &then.made[remade.count];
        remade.differs = Some(PlanDifference {
            number: missing.number,
            what: missing.what,
            time: instant(remade.last),
            recorded: missing.sha256.clone(),
            now: "none".to_owned(),
        });
    }
    Ok(remade)
}

#[derive(Clone, Debug, Default)]
struct Remade {
    count: usize,
    last: Timestamp,
    differs: Option<PlanDifference>,
}

/// Holds what is made now against what was made then, one after the other.
#[derive(Debug)]
struct Checker {
    recorded: Vec<Made>,
    /// `true` if the records end where the run did.
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
        let now = now();
        remade.last = snapshot.now;
        match then {
            Some(then) if then.what == what && then.sha256 == now => remade.count += 1,
            _ => {
                let recorded = then.map(|then| (then.number, then.sha256.clone()));
                let next = self.recorded.len() as u64 + 1;
                let (number, recorded) = recorded.unwrap_or((next, "none".to_owned()));
                remade.differs = Some(PlanDifference {
                    number,
                    what,
                    time: instant(snapshot.now),
                    recorded,
                    now,
                });
            }
        }
    }
}

impl Observer for Checker {
    fn planned(&self, snapshot: &Snapshot, decision: &Decision) {
        self.check(What::Plan, snapshot, || digest_of_plan(&decision.plan));
    }

    fn considered(&self, snapshot: &Snapshot, considered: &Considered) {
        let now = || digest_of_decision(&considered.decision);
        self.check(What::Disruption, snapshot, now);
    }
}

fn people(name: &str, shown: &Replay, differs: Option<&Difference>) -> String {
    let count = |number: usize| thousands(number as u64);
    let decisions = thousands(shown.decisions);
    let mut text = match differs {
        None => format!(
            "{name}: {decisions} policy decisions of {} are the same, byte for byte\n",
            counted(shown.modules, "module")
        ),
        Some(difference) => format!("{name}: {difference}\n"),
    };
    if shown.skipped > 0 {
        let passed = thousands(shown.skipped);
        text += &format!("  {passed} skipped: their outcome depended on the machine\n");
    }
    text += &match &shown.first_plan_difference {
        Some(other) => format!(
            "  {} {} differs: {} was recorded, now it is {}\n",
            words(other.what),
            other.number,
            other.recorded,
            other.now
        ),
        None if shown.replayed_plans > 0 => format!(
            "  {} plans and disruption decisions are the same, byte for byte\n",
            count(shown.replayed_plans)
        ),
        None if differs.is_some() => String::new(),
        None => format!(
            "  {} plans and disruption decisions were not replayed; --on INPUT replays them\n",
            count(shown.plans)
        ),
    };
    text
}

fn words(what: What) -> &'static str {
    match what {
        What::Plan => "plan",
        What::Disruption => "disruption decision",
    }
}
