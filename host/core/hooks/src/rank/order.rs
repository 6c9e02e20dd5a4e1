//! Reads a policy's order: one launch list per claim, best first. Nothing of it is trusted before.
//!
//! Candidates stand by score, and those of equal score as the host named them: the planned one first, then by price. That is
//! total, so that the list is the same on every machine. Whatever the scores, a claim keeps at least one candidate: a policy may shorten a list, not empty it.

use super::answer::OrderAnswer;
use super::check::{CandidateName, RankingError, describe, owner_of};
use super::question::OrderQuestion;
use crate::hook::check_lengths;

/// Checked order of the candidates of every claim, in the order of claims.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LaunchLists {
    /// One per claim of the question.
    pub claims: Vec<LaunchList>,
}

/// The candidates of one claim, as positions in the claim's part of the question.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LaunchList {
    /// Those to try, best first.
    pub kept: Vec<usize>,
    /// Those the policy takes off, as the host named them: the host puts some back where its own rules want more to choose from.
    pub removed: Vec<usize>,
}

/// Checks scores against their question and sorts by them. Any finite score is allowed, and +inf, which takes the
/// candidate off; -inf and NaN are not.
pub fn check_ordering(
    question: &OrderQuestion,
    answer: &OrderAnswer,
) -> Result<LaunchLists, RankingError> {
    check_lengths(answer.lengths(), question.claims.cand.len(), "candidates")?;
    for (row, &value) in answer.score.iter().enumerate() {
        let column = "score";
        let slot = || Box::new(order_slot(question, row));
        if value.is_nan() {
            return Err(RankingError::NotANumber {
                slot: slot(),
                column,
            });
        }
        if value == f64::NEG_INFINITY {
            return Err(RankingError::OutOfRange {
                slot: slot(),
                column,
                value,
            });
        }
    }
    let list = |range: std::ops::Range<usize>| launch_list(&answer.score[range]);
    Ok(LaunchLists {
        claims: question.claims.ranges().map(list).collect(),
    })
}

/// Scores are checked: none is NaN.
fn launch_list(scores: &[f64]) -> LaunchList {
    let mut all: Vec<usize> = (0..scores.len()).collect();
    // Minus zero is zero: adding zero makes it so.
    let score = |position: usize| scores[position] + 0.0;
    all.sort_by(|&left, &right| score(left).total_cmp(&score(right)));
    let kept = all.partition_point(|&position| scores[position].is_finite());
    if kept == 0 {
        return LaunchList {
            kept: all,
            removed: Vec::new(),
        };
    }
    let removed = all.split_off(kept);
    LaunchList { kept: all, removed }
}

fn order_slot(question: &OrderQuestion, row: usize) -> CandidateName {
    let claim = owner_of(&question.claims.cand_ends, row);
    describe(
        &question.tables,
        &question.claims.cand,
        row,
        format!("claim {claim}"),
    )
}
