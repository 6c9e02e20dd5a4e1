//! Allowances of a budget policy.

use plimsoll_hooks::allow::{AllowAnswer, AllowQuestion};
use plimsoll_policy::BudgetModule;

use super::shuffle::{Dressed, rename_symbols};
use super::{Answer, Held, PLAIN, Question, columns, held, same_rows};

/// Holds a module's allowances to every law on one question.
pub(super) fn hold(module: &BudgetModule, question: &AllowQuestion) -> Held {
    let dresses = vec![
        ("the order of pools means nothing", rows_reversed(question)),
        ("numbers of names mean nothing", names_renumbered(question)),
    ];
    held(PLAIN, module.manifest(), question, dresses, |question| {
        module.allow(question)
    })
}

impl Question for AllowQuestion {
    fn rows(&self) -> usize {
        self.pools.len()
    }
}

impl Answer for AllowAnswer {
    fn reasons(&self) -> Vec<u16> {
        self.reason.clone()
    }

    fn alike(&self, other: &Self, origin: &[usize]) -> Result<(), String> {
        let counts = |nodes: &[u32]| -> Vec<f64> { nodes.iter().copied().map(f64::from).collect() };
        let (was, is) = (counts(&self.allowed), counts(&other.allowed));
        same_rows((&was, &self.reason), (&is, &other.reason), origin)?;
        let (was, is) = (self.recheck_after_s, other.recheck_after_s);
        if was == is {
            return Ok(());
        }
        Err(format!("to ask again after {was} s became {is} s"))
    }
}

/// The rows from last to first.
fn rows_reversed(question: &AllowQuestion) -> Dressed<AllowQuestion> {
    let mut question = question.clone();
    let origin: Vec<usize> = (0..question.pools.len()).rev().collect();
    columns::reorder_allow_pool(&mut question.pools, &origin);
    Dressed { question, origin }
}

/// Names under other numbers; the empty one keeps its own.
fn names_renumbered(question: &AllowQuestion) -> Dressed<AllowQuestion> {
    Dressed::in_place(question, |question| {
        let renamed = rename_symbols(&mut question.symbols);
        columns::rename_allow_pools(&mut question.pools, &renamed);
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laws::shuffle::check_dresses;
    use crate::standard;

    #[test]
    fn every_dress_of_pools_is_the_same_question() {
        let question = standard::pools(7);
        let rows = |question: &AllowQuestion| {
            let pools = &question.pools;
            let row = |row: usize| {
                let name = question.symbols.get(pools.name[row]).unwrap().to_owned();
                (
                    name,
                    pools.reason[row],
                    pools.not_ready[row],
                    pools.pending_pods[row],
                )
            };
            (0..pools.len()).map(row).collect::<Vec<_>>()
        };
        check_dresses(&question, rows, &[rows_reversed, names_renumbered]);
    }
}
