//! Reasons why a ranking policy priced an option of a plan as it did: the questions of one decision are kept, and the module is asked for its
//! reasons afterwards.

use std::sync::{Mutex, MutexGuard, PoisonError};

use plimsoll_core::ids::PoolName;
use plimsoll_core::plan::{LaunchOption, PlannedClaim};
use plimsoll_core::snapshot::Snapshot;
use plimsoll_policy::records::{ExplainedRow, Question, Wanted, explain};
use plimsoll_policy::{AnyModule, Asked, Decision, Observer};

use crate::output::number;
use crate::policy::short_name;

/// Keeps the first price question of a decision, and who answered it: later ones are about the cluster as it would be.
#[derive(Debug, Default)]
pub(crate) struct Priced(Mutex<Option<(AnyModule, Question)>>);

impl Observer for Priced {
    fn asked(&self, call: &Asked<'_>) {
        if let Asked::Price(ended) = call {
            let module = AnyModule::Rank(ended.module.clone());
            let question = Question::Price(ended.question.clone());
            self.kept().get_or_insert((module, question));
        }
    }

    fn planned(&self, _snapshot: &Snapshot, decision: &Decision) {
        // Where its prices were not followed they say nothing of the plan.
        if !decision.at_policy_prices {
            *self.kept() = None;
        }
    }
}

impl Priced {
    fn kept(&self) -> MutexGuard<'_, Option<(AnyModule, Question)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The policy's answers about a claim's first choice and its next instance type; `None` where no policy was asked.
    pub(crate) fn answers(&self, claim: &PlannedClaim) -> Option<PricedClaim> {
        let chosen = claim.chosen()?;
        let mut others = claim.options.iter();
        let next = others.find(|other| other.instance_type != chosen.instance_type);
        self.answers_about(&claim.pool, chosen, next)
    }

    /// The policy's answers about an offering of a pool and the next instance type; `None` where no policy was asked.
    pub(crate) fn answers_about(
        &self,
        pool: &PoolName,
        chosen: &LaunchOption,
        next: Option<&LaunchOption>,
    ) -> Option<PricedClaim> {
        let kept = self.kept();
        let (module, question) = kept.as_ref()?;
        let answer = |option: &LaunchOption| {
            let row = explained(module, question, pool.as_str(), option)?;
            Some((option.clone(), row))
        };
        Some(PricedClaim {
            policy: short_name(module.manifest()).to_owned(),
            chosen: answer(chosen),
            next: next.and_then(answer),
        })
    }
}

/// Answers of a ranking policy about one claim, each with its launch option.
pub(crate) struct PricedClaim {
    /// The policy.
    pub(crate) policy: String,
    /// The first choice; `None` where the policy was not asked about it, or cannot say why.
    pub(crate) chosen: Option<(LaunchOption, ExplainedRow)>,
    /// The best option of another instance type; `None` likewise, and where there is none.
    pub(crate) next: Option<(LaunchOption, ExplainedRow)>,
}

impl PricedClaim {
    /// The answers as lines of text.
    pub(crate) fn lines(&self, chosen: &LaunchOption) -> String {
        let name = &self.policy;
        let mut text = String::new();
        if let Some((_, row)) = &self.chosen {
            text += &format!("  priced by {name}: {}\n", words(row));
        } else if chosen.price != chosen.list_price {
            text += &format!("  priced by {name} at {}\n", chosen.price);
        }
        if let Some((option, row)) = &self.next {
            text += &format!("  next best {}: {}\n", option_words(option), words(row));
        }
        text
    }
}

/// Instance type, zone and capacity type of a launch option.
pub(crate) fn option_words(option: &LaunchOption) -> String {
    format!(
        "{} {} {}",
        option.instance_type, option.zone, option.capacity_type
    )
}

/// The answer for one option, with its reasons.
fn explained(
    module: &AnyModule,
    question: &Question,
    pool: &str,
    option: &LaunchOption,
) -> Option<ExplainedRow> {
    let (name, zone) = (option.instance_type.as_str(), option.zone.as_ref());
    let row = format!("{pool}, {name}, {zone}, {}", option.capacity_type);
    let mut rows = 0..question.len();
    let row = rows.find(|known| question.row(*known) == row)?;
    let wanted = Wanted::Rows(vec![u32::try_from(row).ok()?]);
    // A module that cannot say why has decided all the same.
    let explained = explain(module, question, &wanted)?.ok()?;
    explained.explained.into_iter().next()
}

/// `0.0412 $/h, "spot price" (list price 0.0395, interruptions 0.0017)`.
fn words(row: &ExplainedRow) -> String {
    let terms = row.terms.iter();
    let terms: Vec<String> = terms
        .map(|(name, value)| format!("{name} {}", number(*value)))
        .collect();
    let made_of = if terms.is_empty() {
        String::new()
    } else {
        format!(" ({})", terms.join(", "))
    };
    format!("{}, \"{}\"{made_of}", row.answer, row.reason)
}
