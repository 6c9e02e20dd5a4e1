//! `consolidator`: score, and why.

use plimsoll_core::score::{self, ScoreAnswer, ScoreQuestion};

use super::bindings::consolidation::ConsolidationPolicyPre;
use super::bindings::consolidation::exports::plimsoll::policy::consolidator::{Moves, Nodes};
use super::bindings::plimsoll::policy::types::ExtColumn;
use super::{Call, declined, lend, raw_note};
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
                    lend_nodes(nodes, &of_nodes),
                    lend_moves(moves, &of_moves),
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
                    lend_nodes(nodes, &of_nodes),
                    lend_moves(moves, &of_moves),
                    rows,
                )?;
                let notes = answer.map_err(declined)?;
                Ok(notes.into_iter().map(raw_note).collect())
            },
        )
    }
}

fn lend_nodes<'a>(nodes: &'a score::Nodes, ext: &'a [ExtColumn<'a>]) -> Nodes<'a> {
    Nodes {
        name: &nodes.name,
        pool: &nodes.pool,
        type_name: &nodes.type_name,
        zone: &nodes.zone,
        capacity: &nodes.capacity,
        price: &nodes.price,
        age_s: &nodes.age_s,
        since_move_s: &nodes.since_move_s,
        cpu_used: &nodes.cpu_used,
        mem_used: &nodes.mem_used,
        pods: &nodes.pods,
        pods_daemon: &nodes.pods_daemon,
        pods_no_evict: &nodes.pods_no_evict,
        pods_last_replica: &nodes.pods_last_replica,
        youngest_pod_s: &nodes.youngest_pod_s,
        evictions_day: &nodes.evictions_day,
        eviction_cost: &nodes.eviction_cost,
        ext,
    }
}

fn lend_moves<'a>(moves: &'a score::Moves, ext: &'a [ExtColumn<'a>]) -> Moves<'a> {
    Moves {
        kind: &moves.kind,
        member_ends: &moves.member_ends,
        member: &moves.member,
        repl_ends: &moves.repl_ends,
        repl_type: &moves.repl_type,
        repl_zone: &moves.repl_zone,
        repl_capacity: &moves.repl_capacity,
        repl_price: &moves.repl_price,
        pods_moved: &moves.pods_moved,
        ext,
    }
}
