//! A consolidation policy that misbehaves in the way its setting says.

#[path = "../../hostile/src/lengths.rs"]
mod lengths;
#[path = "../../hostile/src/misbehave.rs"]
mod misbehave;

use plimsoll_sdk::consolidation::{
    Consolidation, Move, MoveTable, PolicyError, Settings, Verdict, VerdictAnswer,
    export_consolidation, reasons,
};

use crate::lengths::wrong_length;
use crate::misbehave::misbehave;

/// How to misbehave.
#[derive(Debug, Settings)]
pub struct Options {
    /// The behaviour; `honest` answers what is saved.
    #[setting(default = "honest")]
    pub behaviour: String,
}

reasons! { ANSWER = "as the setting says" }

/// Misbehaves as told.
#[derive(Debug)]
pub struct Hostile;

impl Consolidation for Hostile {
    type Settings = Options;

    fn score(&self, mv: &Move, options: &Options) -> Verdict {
        let value = match options.behaviour.as_str() {
            "nan" => f64::NAN,
            "infinite" => f64::INFINITY,
            "below" => f64::NEG_INFINITY,
            "beyond" => 1e9,
            "dearest" => 100_000.0,
            _ => mv.saving(),
        };
        Verdict::dollars(value, ANSWER)
    }

    fn scores(&self, table: &MoveTable, options: &Options) -> Result<VerdictAnswer, PolicyError> {
        misbehave(&options.behaviour, table.len())?;
        let Some(rows) = wrong_length(&options.behaviour, table.len()) else {
            return Ok(table.map(|mv| self.score(mv, options)));
        };
        let mut answer = VerdictAnswer::with_capacity(rows);
        (0..rows).for_each(|_| answer.push(Verdict::dollars(1.0, ANSWER)));
        Ok(answer)
    }
}

export_consolidation!(Hostile);
