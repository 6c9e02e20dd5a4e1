//! `consolidator`: what moves are worth.

use super::{Module, Values, note, read_settings};
use crate::bindings::configure::plimsoll::policy::types::{Context, Note, PolicyError, Symbols};
use crate::bindings::consolidator::exports::plimsoll::policy::consolidator::{
    Guest, Moves, Nodes, Verdicts,
};
use crate::consolidation::{Consolidation, MoveTable, VerdictAnswer};
use crate::diag::report_panics;

impl<P: Module + Consolidation> Guest for P {
    fn score(
        context: Context,
        values: Values,
        symbols: Symbols,
        nodes: Nodes,
        moves: Moves,
    ) -> Result<Verdicts, PolicyError> {
        report_panics();
        let settings = read_settings(&values)?;
        let table = MoveTable::new(context, symbols, nodes, moves);
        P::POLICY
            .scores(&table, &settings)
            .map(VerdictAnswer::into_columns)
    }

    fn explain(
        context: Context,
        values: Values,
        symbols: Symbols,
        nodes: Nodes,
        moves: Moves,
        rows: Vec<u32>,
    ) -> Result<Vec<Note>, PolicyError> {
        report_panics();
        let settings = read_settings(&values)?;
        let table = MoveTable::new(context, symbols, nodes, moves);
        let answer = P::POLICY.scores(&table, &settings)?;
        let notes = rows.iter().filter_map(|&row| {
            let verdict = answer.get(row as usize)?;
            let mv = table.row(row as usize)?;
            let terms = P::POLICY.terms(&mv, &settings);
            let known = [("saving", mv.saving()), ("value", verdict.value())];
            Some(note::<P>(verdict.reason().0, &known, terms))
        });
        Ok(notes.collect())
    }
}
