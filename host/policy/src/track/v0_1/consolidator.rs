//! `consolidator`: score, and why.

use plimsoll_core::score::{ScoreAnswer, ScoreQuestion};

use super::bindings::consolidation::ConsolidationPolicyPre;
use super::{Call, columns, declined, lend, raw_note};
use crate::note::RawNote;
use crate::outcome::Called;
use crate::sandbox::{self, State};

/// A linked consolidation module.
pub(crate) struct Consolidator {
    pre: ConsolidationPolicyPre<State>,
}

program!(Consolidator, ConsolidationPolicyPre);

impl Consolidator {
    pub(crate) fn score(&self, call: &Call<'_>, question: &ScoreQuestion) -> Called<ScoreAnswer> {
        let ScoreQuestion {
            context,
            symbols,
            nodes,
            moves,
        } = question;
        let texts = lend::texts(call.settings);
        let settings = lend::settings(call.settings, &texts);
        let zones = lend::zones(call.zones);
        let (of_nodes, of_moves) = (lend::columns(&nodes.ext), lend::columns(&moves.ext));
        sandbox::run(
            call.engine,
            call.budget,
            |store| self.pre.instantiate(store),
            |store, policy| {
                let answer = policy.plimsoll_policy_consolidator().call_score(
                    store,
                    lend::context(context, &zones),
                    &settings,
                    lend::symbols(symbols),
                    columns::score_nodes(nodes, &of_nodes),
                    columns::score_moves(moves, &of_moves),
                )?;
                let verdicts = answer.map_err(declined)?;
                Ok(ScoreAnswer {
                    value: verdicts.value,
                    reason: verdicts.reason,
                })
            },
        )
    }

    pub(crate) fn explain(
        &self,
        call: &Call<'_>,
        question: &ScoreQuestion,
        rows: &[u32],
    ) -> Called<Vec<RawNote>> {
        let ScoreQuestion {
            context,
            symbols,
            nodes,
            moves,
        } = question;
        let texts = lend::texts(call.settings);
        let settings = lend::settings(call.settings, &texts);
        let zones = lend::zones(call.zones);
        let (of_nodes, of_moves) = (lend::columns(&nodes.ext), lend::columns(&moves.ext));
        sandbox::run(
            call.engine,
            call.budget,
            |store| self.pre.instantiate(store),
            |store, policy| {
                let answer = policy.plimsoll_policy_consolidator().call_explain(
                    store,
                    lend::context(context, &zones),
                    &settings,
                    lend::symbols(symbols),
                    columns::score_nodes(nodes, &of_nodes),
                    columns::score_moves(moves, &of_moves),
                    rows,
                )?;
                let notes = answer.map_err(declined)?;
                Ok(notes.into_iter().map(raw_note).collect())
            },
        )
    }
}
