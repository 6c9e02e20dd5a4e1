//! A budget policy that misbehaves in the way its setting says.

#[path = "../../hostile/src/lengths.rs"]
mod lengths;
#[path = "../../hostile/src/misbehave.rs"]
mod misbehave;

use std::time::Duration;

use plimsoll_sdk::budget::{
    Allowance, AllowanceAnswer, Budget, PolicyError, Pool, PoolTable, Settings, export_budget,
    reasons,
};

use crate::lengths::wrong_length;
use crate::misbehave::misbehave;

/// How to misbehave.
#[derive(Debug, Settings)]
pub struct Options {
    /// The behaviour; `honest` allows one node at a time.
    #[setting(default = "honest")]
    pub behaviour: String,
}

reasons! { ANSWER = "as the setting says" }

/// Misbehaves as told.
#[derive(Debug)]
pub struct Hostile;

impl Budget for Hostile {
    type Settings = Options;

    fn allow(&self, _pool: &Pool, options: &Options) -> Allowance {
        match options.behaviour.as_str() {
            "widen" => Allowance::as_declared(ANSWER),
            "restless" => Allowance::nodes(1, ANSWER).until(Duration::ZERO),
            _ => Allowance::nodes(1, ANSWER),
        }
    }

    fn allowances(
        &self,
        table: &PoolTable,
        options: &Options,
    ) -> Result<AllowanceAnswer, PolicyError> {
        misbehave(&options.behaviour, table.len())?;
        let Some(rows) = wrong_length(&options.behaviour, table.len()) else {
            return Ok(table.map(|pool| self.allow(pool, options)));
        };
        let mut answer = AllowanceAnswer::with_capacity(rows);
        (0..rows).for_each(|_| answer.push(Allowance::nodes(1, ANSWER)));
        Ok(answer)
    }
}

export_budget!(Hostile);
