//! Reasons why a ranking policy priced an option of a plan as it did: the questions of one decision are kept, and the module is asked for its
//! reasons afterwards.

use std::sync::{Mutex, MutexGuard, PoisonError};

use plimsoll_core::plan::{LaunchOption, PlannedClaim};
use plimsoll_core::snapshot::Snapshot;
use plimsoll_policy::records::{ExplainedRow, Question, Wanted, explain};
use plimsoll_policy::{AnyModule, Asked, Decision, Observer};

use crate::output::number;
use crate::policy::short_name;

/// Keeps the price question of the last decision, and who answered it.
#[derive(Debug, Default)]
pub(crate) struct Priced(Mutex<Option<(AnyModule, Question)>>);

impl Observer for Priced {
    fn asked(&self, call: &Asked<'_>) {
        if let Asked::Price(ended) = call {
            let module = AnyModule::Rank(ended.module.clone());
            let kept = Some((module, Question::Price(ended.question.clone())));
            *self.kept() = kept;
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

    /// Why a claim's first choice has its price and the next type another one: a line each; nothing where no policy was asked.
    pub(crate) fn lines(&self, claim: &PlannedClaim) -> String {
        let kept = self.kept();
        let Some((module, question)) = kept.as_ref() else {
            return String::new();
        };
        let Some(chosen) = claim.chosen() else {
            return String::new();
        };
        let others = claim.options.iter();
        let other = others
            .clone()
            .find(|other| other.instance_type != chosen.instance_type);
        let pool = claim.pool.as_str();
        let mut text = String::new();
        if let Some(row) = explained(module, question, pool, chosen) {
            let name = short_name(module.manifest());
            text += &format!("  priced by {name}: {}\n", words(&row));
        } else if chosen.price != chosen.list_price {
            let name = short_name(module.manifest());
            text += &format!("  priced by {name} at {}\n", chosen.price);
        }
        let next = other.and_then(|other| Some((other, explained(module, question, pool, other)?)));
        if let Some((other, row)) = next {
            let (name, zone, capacity_type) =
                (&other.instance_type, &other.zone, other.capacity_type);
            text += &format!(
                "  next best {name} {zone} {capacity_type}: {}\n",
                words(&row)
            );
        }
        text
    }
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
