//! Reads a policy's allowances: lengths, and the least of each and of what is declared. Nothing of them is trusted before.
//!
//! Every count is a possible answer, so lengths are all that can be wrong: a policy that allows more than its pool declares
//! has simply nothing against what the pool declares.

use plimsoll_base::time::Span;
use plimsoll_model::DisruptionReason;

use super::answer::{AllowAnswer, Allowance, Allowances};
use super::question::AllowQuestion;
use crate::hook::{WrongLength, check_lengths};

/// Checks allowances against their question and cuts them to what is declared.
pub fn check_allowances(
    question: &AllowQuestion,
    answer: &AllowAnswer,
) -> Result<Allowances, WrongLength> {
    check_lengths(answer.lengths(), question.pools.len(), "rows")?;
    let rows = answer.allowed.iter().zip(&question.pools.ceiling);
    let rows = rows.zip(&answer.reason);
    let seconds = answer.recheck_after_s;
    Ok(Allowances {
        rows: rows
            .map(|((&allowed, &ceiling), &reason)| Allowance {
                nodes: allowed.min(ceiling),
                reason,
            })
            .collect(),
        recheck_after: (seconds > 0).then(|| Span::from_secs(seconds.into())),
    })
}

/// Allowances of a policy that failed: the declared budget for reasons that outlast policies, no nodes for others.
pub fn withheld(question: &AllowQuestion) -> Allowances {
    let outlasts = |code| {
        let reason = DisruptionReason::of_code(code);
        reason.is_some_and(|reason| reason.facts().outlasts_policies)
    };
    let rows = question.pools.reason.iter().zip(&question.pools.ceiling);
    Allowances {
        rows: rows
            .map(|(&reason, &ceiling)| Allowance {
                nodes: if outlasts(reason) { ceiling } else { 0 },
                reason: 0,
            })
            .collect(),
        recheck_after: None,
    }
}
