//! Input of a budget policy's case: pools, each asked about for every reason to take nodes away.
//!
//! Fields are the columns of the interface by name; what is absent is as in the SDK's `testing::Pools`: all nodes ready, nothing
//! happening, a tenth declared.

use plimsoll_hooks::allow::{AllowQuestion, AllowQuestionBuilder, BudgetRow};
use plimsoll_hooks::hook::Context;
use plimsoll_model::DisruptionReason;

use super::answer::Names;
use super::columns;
use super::field::{Fields, Problem};

/// A budget policy's question of a case.
#[derive(Debug, Clone)]
pub(super) struct Declared {
    pub(super) allow: AllowQuestion,
    /// Names of the rows: pool and reason.
    pub(super) rows: Names,
}

impl Declared {
    /// Fields that an input has besides the context.
    pub(super) const FIELDS: [&'static str; 1] = ["pools"];

    pub(super) fn read(fields: &Fields<'_>, context: Context) -> Result<Self, Problem> {
        let mut builder = AllowQuestionBuilder::new(context);
        let mut names = Names::default();
        let choices = DisruptionReason::ALL.map(|reason| (reason.facts().label, reason));
        let field = fields.need("pools", "pools by name, each with its nodes")?;
        for (name, field) in field.named()? {
            let fields = field.object(&[&["reasons"], &columns::ALLOW_POOL[..]].concat())?;
            let given = columns::allow_pool(&fields, name, DisruptionReason::Empty)?;
            let asked = match fields.get("reasons") {
                None => DisruptionReason::ALL.to_vec(),
                Some(field) => {
                    let reasons = field.list()?;
                    let reasons = reasons.iter().map(|field| field.choice(&choices));
                    reasons.collect::<Result<_, _>>()?
                }
            };
            for (label, reason) in choices
                .into_iter()
                .filter(|(_, reason)| asked.contains(reason))
            {
                builder.pool(&BudgetRow { reason, ..given });
                names.0.push((name.to_owned(), label.to_owned()));
            }
        }
        Ok(Self {
            allow: builder.finish(),
            rows: names,
        })
    }
}
