//! Consolidation policies side by side: a move is worth the least that any policy of its nodes' pools says.

use std::collections::BTreeSet;

use plimsoll_hooks::score::{SavingsThreshold, ScoreQuestion, Verdict, Verdicts};

use super::Together;
use crate::named::Named;
use crate::outcome::Fault;
use crate::score::{BuiltIn, Consolidator};
use crate::slot::WithFallback;

/// Consequence for the pools of a policy that fails.
const NOTHING: &str = "none of their nodes is consolidated";

impl<M> Consolidator for Together<'_, M>
where
    for<'s> WithFallback<'s, M>: Consolidator,
{
    /// Nodes of pools that no policy serves are worth what they save.
    fn score(&self, question: &ScoreQuestion) -> Result<Verdicts, Fault> {
        let saved = BuiltIn(SavingsThreshold {
            least_dollars: 0.0,
            least_share: 0.0,
        });
        let saved = saved.score(question)?;
        let pools: Vec<BTreeSet<&str>> = (0..question.moves.len())
            .map(|row| pools_of(question, row))
            .collect();
        let mut rows: Vec<Option<Verdict>> = pools
            .iter()
            .zip(&saved.rows)
            .map(|(pools, saved)| {
                let is_served = |pool: &&str| self.parts.iter().any(|it| it.pools.contains(*pool));
                (!pools.iter().all(is_served)).then_some(*saved)
            })
            .collect();
        for part in self.parts {
            let is_own = |pools: &BTreeSet<&str>| pools.iter().any(|own| part.pools.contains(*own));
            if !pools.iter().any(is_own) {
                continue;
            }
            let answer = part.asked.score(question).unwrap_or_else(|fault| {
                self.failures.add(part.asked.name(), fault, NOTHING);
                Verdicts::none(rows.len())
            });
            let own = rows.iter_mut().zip(&pools).zip(answer.rows);
            for ((row, _), verdict) in own.filter(|((_, pools), _)| is_own(pools)) {
                let least = row.is_none_or(|there| verdict.value < there.value);
                if least {
                    *row = Some(verdict);
                }
            }
        }
        Ok(Verdicts::of(
            rows.into_iter().map(Option::unwrap_or_default).collect(),
        ))
    }
}

/// Pools of the nodes that a move takes away.
fn pools_of(question: &ScoreQuestion, row: usize) -> BTreeSet<&str> {
    let members = question.moves.members(row).iter();
    let name = |&node| question.symbols.of_row(&question.nodes.pool, node);
    members.map(name).collect()
}
