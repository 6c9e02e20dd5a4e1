//! Values of a consolidation policy.

use plimsoll_hooks::score::{ScoreAnswer, ScoreQuestion};
use plimsoll_policy::ConsolidationModule;

use super::layout::Layout;
use super::shuffle::{Dressed, number, rename_symbols};
use super::{Held, Numbered, PLAIN, Question, columns, held};

/// Holds a module's values to every law on one question.
pub(super) fn hold(module: &ConsolidationModule, question: &ScoreQuestion) -> Held {
    let dresses = vec![
        ("the order of moves means nothing", moves_reversed(question)),
        (
            "the order of a move's nodes means nothing",
            members_reversed(question),
        ),
        ("numbers of nodes mean nothing", nodes_renumbered(question)),
        ("numbers of names mean nothing", names_renumbered(question)),
    ];
    held(PLAIN, module.manifest(), question, dresses, |question| {
        module.score(question)
    })
}

impl Question for ScoreQuestion {
    fn rows(&self) -> usize {
        self.moves.len()
    }
}

impl Numbered for ScoreAnswer {
    fn columns(&self) -> (&[f64], &[u16]) {
        (&self.value, &self.reason)
    }
}

/// The moves from last to first.
fn moves_reversed(question: &ScoreQuestion) -> Dressed<ScoreQuestion> {
    let mut question = question.clone();
    let moves = &mut question.moves;
    let members = Layout::reversed(&moves.member_ends);
    let bought = Layout::reversed(&moves.repl_ends);
    let origin = members.order;
    columns::reorder_score_move(moves, &origin);
    columns::reorder_score_member(moves, &members.origin);
    columns::reorder_score_replacement(moves, &bought.origin);
    (moves.member_ends, moves.repl_ends) = (members.ends, bought.ends);
    Dressed { question, origin }
}

/// The nodes of each move from last to first.
fn members_reversed(question: &ScoreQuestion) -> Dressed<ScoreQuestion> {
    Dressed::in_place(question, |question| {
        let members = Layout::reversed_within(&question.moves.member_ends);
        columns::reorder_score_member(&mut question.moves, &members.origin);
    })
}

/// Nodes under other row numbers; the moves stay where they are.
fn nodes_renumbered(question: &ScoreQuestion) -> Dressed<ScoreQuestion> {
    Dressed::in_place(question, |question| {
        let rows = question.nodes.name.len();
        let order: Vec<usize> = (0..rows).rev().collect();
        columns::reorder_score_node(&mut question.nodes, &order);
        for row in &mut question.moves.member {
            *row = number(rows - 1 - *row as usize);
        }
    })
}

/// Names under other numbers; the empty one keeps its own.
fn names_renumbered(question: &ScoreQuestion) -> Dressed<ScoreQuestion> {
    Dressed::in_place(question, |question| {
        let renamed = rename_symbols(&mut question.symbols);
        columns::rename_score_nodes(&mut question.nodes, &renamed);
        columns::rename_score_moves(&mut question.moves, &renamed);
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laws::shuffle::check_dresses;
    use crate::standard;

    /// names of the nodes in order of names, saving and evictions of every move.
    fn rows(question: &ScoreQuestion) -> Vec<String> {
        let row = |row: usize| {
            let members = question.moves.members(row).iter();
            let mut names: Vec<&str> = members.map(|&node| question.node_name(node)).collect();
            names.sort_unstable();
            let (kind, pods) = (question.moves.kind[row], question.moves.pods_moved[row]);
            let (names, saving) = (names.join(","), question.saving(row));
            format!("{kind} {names} {saving:.6} {pods}")
        };
        (0..question.moves.len()).map(row).collect()
    }

    #[test]
    fn every_dress_of_moves_is_the_same_question() {
        let question = standard::moves(60, 90);
        let dresses = [
            moves_reversed,
            members_reversed,
            nodes_renumbered,
            names_renumbered,
        ];
        check_dresses(&question, rows, &dresses);
    }
}
