//! Values of a consolidation policy.

use plimsoll_core::score::{Moves, Nodes, ScoreAnswer, ScoreQuestion};
use plimsoll_policy::ConsolidationModule;

use super::layout::Layout;
use super::shuffle::{Dressed, number, pick, pick_signals, rename_signals, rename_symbols};
use super::{Held, Kind, Names, PLAIN, held, raw, same_rows};

struct Scores<'m>(&'m ConsolidationModule);

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
    let asked = (question, question.moves.len());
    held(&Scores(module), module.manifest(), asked, dresses)
}

impl Kind for Scores<'_> {
    type Question = ScoreQuestion;
    type Answer = ScoreAnswer;

    const NAMES: Names = PLAIN;

    fn ask(&self, question: &ScoreQuestion) -> (Result<ScoreAnswer, String>, u64) {
        raw(self.0.score(question))
    }

    fn reasons(answer: &ScoreAnswer) -> Vec<u16> {
        answer.reason.clone()
    }

    fn alike(plain: &ScoreAnswer, other: &ScoreAnswer, origin: &[usize]) -> Result<(), String> {
        let (was, is) = (
            (&*plain.value, &*plain.reason),
            (&*other.value, &*other.reason),
        );
        same_rows(was, is, origin)
    }
}

/// The moves from last to first.
fn moves_reversed(question: &ScoreQuestion) -> Dressed<ScoreQuestion> {
    let old = &question.moves;
    let members = Layout::reversed(&old.member_ends);
    let bought = Layout::reversed(&old.repl_ends);
    let (origin, repl) = (members.order, bought.origin);
    let moves = Moves {
        kind: pick(&old.kind, &origin),
        member_ends: members.ends,
        member: pick(&old.member, &members.origin),
        repl_ends: bought.ends,
        repl_type: pick(&old.repl_type, &repl),
        repl_zone: pick(&old.repl_zone, &repl),
        repl_capacity: pick(&old.repl_capacity, &repl),
        repl_price: pick(&old.repl_price, &repl),
        pods_moved: pick(&old.pods_moved, &origin),
        ext: pick_signals(&old.ext, &origin),
    };
    let question = ScoreQuestion {
        moves,
        ..question.clone()
    };
    Dressed { question, origin }
}

/// The nodes of each move from last to first.
fn members_reversed(question: &ScoreQuestion) -> Dressed<ScoreQuestion> {
    let mut question = question.clone();
    let members = Layout::reversed_within(&question.moves.member_ends);
    question.moves.member = pick(&question.moves.member, &members.origin);
    as_it_stands(question)
}

/// Nodes under other row numbers; the moves stay where they are.
fn nodes_renumbered(question: &ScoreQuestion) -> Dressed<ScoreQuestion> {
    let mut question = question.clone();
    let rows = question.nodes.name.len();
    let order: Vec<usize> = (0..rows).rev().collect();
    let old = &question.nodes;
    question.nodes = Nodes {
        name: pick(&old.name, &order),
        pool: pick(&old.pool, &order),
        type_name: pick(&old.type_name, &order),
        zone: pick(&old.zone, &order),
        capacity: pick(&old.capacity, &order),
        price: pick(&old.price, &order),
        age_s: pick(&old.age_s, &order),
        since_move_s: pick(&old.since_move_s, &order),
        cpu_used: pick(&old.cpu_used, &order),
        mem_used: pick(&old.mem_used, &order),
        pods: pick(&old.pods, &order),
        pods_daemon: pick(&old.pods_daemon, &order),
        pods_no_evict: pick(&old.pods_no_evict, &order),
        pods_last_replica: pick(&old.pods_last_replica, &order),
        youngest_pod_s: pick(&old.youngest_pod_s, &order),
        evictions_day: pick(&old.evictions_day, &order),
        eviction_cost: pick(&old.eviction_cost, &order),
        ext: pick_signals(&old.ext, &order),
    };
    for row in &mut question.moves.member {
        *row = number(rows - 1 - *row as usize);
    }
    as_it_stands(question)
}

/// Names under other numbers; the empty one keeps its own.
fn names_renumbered(question: &ScoreQuestion) -> Dressed<ScoreQuestion> {
    let mut question = question.clone();
    let renamed = rename_symbols(&mut question.symbols);
    let (nodes, moves) = (&mut question.nodes, &mut question.moves);
    let columns = [
        &mut nodes.name,
        &mut nodes.pool,
        &mut nodes.type_name,
        &mut nodes.zone,
        &mut moves.repl_type,
        &mut moves.repl_zone,
    ];
    for symbol in columns.into_iter().flatten() {
        *symbol = renamed(*symbol);
    }
    rename_signals(&mut nodes.ext, &renamed);
    rename_signals(&mut moves.ext, &renamed);
    as_it_stands(question)
}

fn as_it_stands(question: ScoreQuestion) -> Dressed<ScoreQuestion> {
    let rows = question.moves.len();
    Dressed::in_place(question, rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laws::shuffle::check_dresses;
    use crate::standard;

    /// Kind, names of the nodes in order of names, saving and evictions of every move.
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
