//! The consolidation hook: which moves are worth it. `use plimsoll_sdk::consolidation::*` has it all.
//!
//! The host finds moves that are feasible and within every rule; a policy says what each is worth, net of what it charges
//! for the disturbance. [`Consolidation::score`] is all a first policy needs; a policy that needs all nodes at once, for shares of
//! the whole, writes [`Consolidation::scores`].

mod answer;
mod reads;
mod table;
mod view;

pub use answer::{LEAST_WORTH, Verdict, VerdictAnswer};
pub use reads::*;
pub use table::MoveTable;
pub use view::{Move, MoveKind, Node, Replacement};

pub use crate::columns::Capacity;
pub use crate::common::*;
pub use crate::export_consolidation;

/// A consolidation policy: a pure function of what it is shown. There is no clock, no randomness and no memory between calls.
pub trait Consolidation {
    /// The settings, as they appear in the Policy object; [`NoSettings`] for none.
    type Settings: Settings;

    /// Signals without which the policy cannot work; the host refuses it where they are not provided.
    const REQUIRED_SIGNALS: &'static [&'static str] = &[];

    /// Fuel for each row of a question that the policy asks for, where the host's 1,000 are too few; the host has a ceiling for a call.
    const FUEL_PER_ROW: Option<u32> = None;

    /// Signals the policy uses where there are any.
    const OPTIONAL_SIGNALS: &'static [&'static str] = &[];

    /// Value of a move, in dollars per hour after whatever is charged for the disturbance. The host does the dearest
    /// first, and never one that is worth nothing or less.
    fn score(&self, mv: &Move, settings: &Self::Settings) -> Verdict;

    /// All verdicts at once, for policies whose rows depend on one another. By default one [`score`](Self::score) per move.
    fn scores(
        &self,
        table: &MoveTable,
        settings: &Self::Settings,
    ) -> Result<VerdictAnswer, PolicyError> {
        Ok(table.map(|mv| self.score(mv, settings)))
    }

    /// Faults of settings beyond their types and limits; none by default.
    fn validate(&self, settings: &Self::Settings) -> Vec<Problem> {
        let _ = settings;
        Vec::new()
    }

    /// The parts of a value besides the saving, by name, for `explain`. By default none.
    fn terms(&self, mv: &Move, settings: &Self::Settings) -> Vec<(&'static str, f64)> {
        let _ = (mv, settings);
        Vec::new()
    }
}

/// Makes a policy a module: `export_consolidation!(MyPolicy)`, once per crate, where `MyPolicy` is a unit struct and
/// [`reasons!`](crate::reasons) has been called in the same module.
#[macro_export]
macro_rules! export_consolidation {
    ($policy:ident) => {
        $crate::export_module!($policy, consolidation::Consolidation, "consolidate", "dollars", false, false);
        #[cfg(target_arch = "wasm32")]
        $crate::bindings::consolidator::export_consolidator_interface!($policy with_types_in $crate::bindings::consolidator);
    };
}
