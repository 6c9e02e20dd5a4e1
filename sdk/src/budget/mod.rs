//! The budget hook: how many nodes may be down at once. `use plimsoll_sdk::budget::*` has it all.
//!
//! A NodePool declares its own budgets; the host grants the least of those and of what every budget policy allows, so a
//! policy can only tighten. [`Budget::allow`] is all a first policy needs; a policy that needs all pools at once writes
//! [`Budget::allowances`].

mod answer;
mod reads;
mod table;
mod view;

pub use answer::{Allowance, AllowanceAnswer};
pub use table::PoolTable;
pub use view::{Disruption, Pool};

pub use crate::common::*;
pub use crate::export_budget;

/// A budget policy: a pure function of what it is shown. There is no clock, no randomness and no memory between calls; the
/// time is that of the snapshot, cut to the minute.
pub trait Budget {
    /// The settings, as they appear in the Policy object; [`NoSettings`] for none.
    type Settings: Settings;

    /// Signals without which the policy cannot work; the host refuses it where they are not provided.
    const REQUIRED_SIGNALS: &'static [&'static str] = &[];

    /// Fuel for each row of a question that the policy asks for, where the host's 1,000 are too few; the host has a ceiling for a call.
    const FUEL_PER_ROW: Option<u32> = None;

    /// Signals the policy uses where there are any.
    const OPTIONAL_SIGNALS: &'static [&'static str] = &[];

    /// How many nodes of this pool may be down at once for this disruption.
    fn allow(&self, pool: &Pool, settings: &Self::Settings) -> Allowance;

    /// All allowances at once, for policies whose rows depend on one another. By default one [`allow`](Self::allow) per row.
    fn allowances(
        &self,
        table: &PoolTable,
        settings: &Self::Settings,
    ) -> Result<AllowanceAnswer, PolicyError> {
        Ok(table.map(|pool| self.allow(pool, settings)))
    }

    /// Faults of settings beyond their types and limits; none by default.
    fn validate(&self, settings: &Self::Settings) -> Vec<Problem> {
        let _ = settings;
        Vec::new()
    }
}

/// Makes a policy a module: `export_budget!(MyPolicy)`, once per crate, where `MyPolicy` is a unit struct and
/// [`reasons!`](crate::reasons) has been called in the same module.
#[macro_export]
macro_rules! export_budget {
    ($policy:ident) => {
        $crate::export_module!($policy, budget::Budget, "budget", "dollars", false, false);
        #[cfg(target_arch = "wasm32")]
        $crate::bindings::budgeter::export_budgeter_interface!($policy with_types_in $crate::bindings::budgeter);
    };
}
