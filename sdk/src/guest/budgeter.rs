//! `budgeter`: how many nodes may be down at once.

use super::{Module, Values, note, read_settings};
use crate::bindings::budgeter::exports::plimsoll::policy::budgeter::{Allowances, Guest, Pools};
use crate::bindings::configure::plimsoll::policy::types::{Context, Note, PolicyError, Symbols};
use crate::budget::{AllowanceAnswer, Budget, PoolTable};
use crate::diag::report_panics;

impl<P: Module + Budget> Guest for P {
    fn allow(
        context: Context,
        values: Values,
        symbols: Symbols,
        pools: Pools,
    ) -> Result<Allowances, PolicyError> {
        report_panics();
        let settings = read_settings(&values)?;
        let table = PoolTable::new(context, symbols, pools);
        P::POLICY
            .allowances(&table, &settings)
            .map(AllowanceAnswer::into_columns)
    }

    fn explain(
        context: Context,
        values: Values,
        symbols: Symbols,
        pools: Pools,
        rows: Vec<u32>,
    ) -> Result<Vec<Note>, PolicyError> {
        report_panics();
        let settings = read_settings(&values)?;
        let table = PoolTable::new(context, symbols, pools);
        let answer = P::POLICY.allowances(&table, &settings)?;
        let notes = rows.iter().filter_map(|&row| {
            let allowance = answer.get(row as usize)?;
            let pool = table.row(row as usize)?;
            let known = [
                ("declared", f64::from(pool.declared())),
                ("allowed", f64::from(allowance.count())),
            ];
            Some(note::<P>(allowance.reason().0, &known, Vec::new()))
        });
        Ok(notes.collect())
    }
}
