//! Reasons why a ranking policy priced an option of a plan as it did: the questions of one decision are kept, and the module is asked for its
//! reasons afterwards.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use plimsoll_base::ids::PoolName;
use plimsoll_model::plan::{LaunchOption, PlannedClaim};
use plimsoll_model::snapshot::Snapshot;
use plimsoll_policy::records::{ExplainedRow, Question, Wanted, explain, first_of};
use plimsoll_policy::{AnyModule, Asked, Decision, Observer};

use crate::output::number;
use crate::policy::short_name;

/// Keeps the first price question of a decision, and who answered it: later ones are about the cluster as it would be.
#[derive(Debug, Default)]
pub(crate) struct Priced {
    kept: Mutex<Option<(AnyModule, Question)>>,
    /// NodePools that no policy ranks: a question has rows of all.
    unranked: OnceLock<BTreeSet<PoolName>>,
}

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
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says, once, which NodePools no policy ranks.
    pub(crate) fn leave_out(&self, unranked: BTreeSet<PoolName>) {
        self.unranked.get_or_init(|| unranked);
    }

    /// The policy's answers about a claim's first choice and its next best; `None` where no policy was asked.
    pub(crate) fn answers(&self, claim: &PlannedClaim) -> Option<PricedClaim> {
        self.answers_about(&claim.pool, claim.chosen()?, &claim.options)
    }

    /// The policy's answers about an offering of a pool and the next best of some launch options, which have the order of a launch;
    /// `None` where no policy was asked.
    pub(crate) fn answers_about(
        &self,
        pool: &PoolName,
        chosen: &LaunchOption,
        options: &[LaunchOption],
    ) -> Option<PricedClaim> {
        if self
            .unranked
            .get()
            .is_some_and(|names| names.contains(pool))
        {
            return None;
        }
        let kept = self.kept();
        let (module, question) = kept.as_ref()?;
        let rows = rows(question, pool, std::iter::once(chosen).chain(options));
        let row_of = |option: &LaunchOption| rows.get(&row_words(pool, option)).copied();
        let answer = |option: &LaunchOption| {
            let row = explained(module, question, row_of(option)?)?;
            Some((option.clone(), row))
        };
        let own = row_of(chosen);
        let others = options.iter().filter_map(row_of);
        let others: Vec<u32> = others.filter(|row| Some(*row) != own).collect();
        let next = first_of(module, question, &others);
        let next = next.and_then(|next| options.iter().find(|it| row_of(it) == Some(next)));
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
    /// The cheapest other option by the policy's prices, of equal ones the first to launch; `None` likewise, and where there is none.
    pub(crate) next: Option<(LaunchOption, ExplainedRow)>,
}

impl PricedClaim {
    /// The answers as lines of text about a claim that is planned.
    pub(crate) fn lines(&self, chosen: &LaunchOption) -> String {
        self.lines_after("priced by", chosen)
    }

    /// The answers as lines of text about what exists: it may have been bought at other prices.
    pub(crate) fn lines_now(&self, chosen: &LaunchOption) -> String {
        self.lines_after("now priced by", chosen)
    }

    fn lines_after(&self, priced_by: &str, chosen: &LaunchOption) -> String {
        let name = &self.policy;
        let mut text = String::new();
        if let Some((_, row)) = &self.chosen {
            text += &format!("  {priced_by} {name}: {}\n", words(row));
        } else if chosen.price != chosen.list_price {
            text += &format!("  {priced_by} {name}: {}\n", chosen.price);
        }
        if let Some((option, row)) = &self.next {
            let option = option_words(option);
            text += &format!("  cheapest other: {option}: {}\n", words(row));
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

/// A launch option in the words of its row in a question.
fn row_words(pool: &PoolName, option: &LaunchOption) -> String {
    let (name, zone) = (&option.instance_type, &option.zone);
    format!("{pool}, {name}, {zone}, {}", option.capacity_type)
}

/// Rows of a question by their words, those of some launch options of a pool.
fn rows<'o>(
    question: &Question,
    pool: &PoolName,
    options: impl Iterator<Item = &'o LaunchOption>,
) -> BTreeMap<String, u32> {
    let wanted: BTreeSet<String> = options.map(|option| row_words(pool, option)).collect();
    let mut rows = BTreeMap::new();
    for row in 0..question.len() {
        let words = question.row(row);
        if let Ok(row) = u32::try_from(row)
            && wanted.contains(&words)
        {
            rows.entry(words).or_insert(row);
        }
    }
    rows
}

/// The answer in one row, with its reasons.
fn explained(module: &AnyModule, question: &Question, row: u32) -> Option<ExplainedRow> {
    // A module that cannot say why has decided all the same.
    let explained = explain(module, question, &Wanted::Rows(vec![row]))?.ok()?;
    explained.explained.into_iter().next()
}

/// `$0.0412/h, "spot price" (list price 0.0395, interruptions 0.0017)`.
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
