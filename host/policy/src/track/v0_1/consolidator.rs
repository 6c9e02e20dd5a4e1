//! `consolidator`: score, and why.

use plimsoll_hooks::score::{ScoreAnswer, ScoreQuestion};
use wasmtime::Store;

use super::bindings::consolidation::exports::plimsoll::policy::consolidator::{
    Moves, Nodes, Verdicts,
};
use super::bindings::consolidation::{ConsolidationPolicy, ConsolidationPolicyPre};
use super::lend::Lent;
use super::{Answered, Call, asked, columns, lend, raw_notes};
use crate::note::RawNote;
use crate::outcome::Called;
use crate::sandbox::State;

/// A linked consolidation module.
pub(crate) struct Consolidator {
    pre: ConsolidationPolicyPre<State>,
}

program!(Consolidator, ConsolidationPolicyPre);

impl Consolidator {
    pub(crate) fn score(&self, call: &Call<'_>, question: &ScoreQuestion) -> Called<ScoreAnswer> {
        self.scored(
            call,
            question,
            |store, policy, lent, nodes, moves| {
                let consolidator = policy.plimsoll_policy_consolidator();
                let (context, symbols) = (lent.context, lent.symbols);
                consolidator.call_score(store, context, lent.settings, symbols, nodes, moves)
            },
            |Verdicts { value, reason }| ScoreAnswer { value, reason },
        )
    }

    pub(crate) fn explain(
        &self,
        call: &Call<'_>,
        question: &ScoreQuestion,
        rows: &[u32],
    ) -> Called<Vec<RawNote>> {
        self.scored(
            call,
            question,
            |store, policy, lent, nodes, moves| {
                let consolidator = policy.plimsoll_policy_consolidator();
                let (context, symbols) = (lent.context, lent.symbols);
                consolidator.call_explain(
                    store,
                    context,
                    lent.settings,
                    symbols,
                    nodes,
                    moves,
                    rows,
                )
            },
            raw_notes,
        )
    }

    /// Lends a question to `ask`.
    fn scored<A, T>(
        &self,
        call: &Call<'_>,
        question: &ScoreQuestion,
        ask: impl FnOnce(
            &mut Store<State>,
            &ConsolidationPolicy,
            Lent<'_>,
            Nodes<'_>,
            Moves<'_>,
        ) -> Answered<A>,
        answer: impl FnOnce(A) -> T,
    ) -> Called<T> {
        let (nodes, moves) = (&question.nodes, &question.moves);
        let (of_nodes, of_moves) = (lend::columns(&nodes.ext), lend::columns(&moves.ext));
        asked(
            call,
            (&question.context, &question.symbols),
            |store| self.pre.instantiate(store),
            |store, policy, lent| {
                let nodes = columns::score_nodes(nodes, &of_nodes);
                let moves = columns::score_moves(moves, &of_moves);
                ask(store, policy, lent, nodes, moves)
            },
            answer,
        )
    }
}
