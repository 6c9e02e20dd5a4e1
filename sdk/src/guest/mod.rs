//! The bridge from exported functions to a policy: reads settings, builds tables, answers. Used by the export macros.
//!
//! One file per interface; what they share is here. Nothing in this module is for authors.

mod budgeter;
mod consolidator;
mod ranker;

use crate::bindings::configure::exports::plimsoll::policy::configure;
use crate::bindings::configure::plimsoll::policy::types::{Note, PolicyError, Problem, Setting};
use crate::diag::report_panics;
use crate::manifest::Manifest;
use crate::settings::Settings;

/// Code of the error a module answers with when it is asked with settings it refuses.
const BAD_SETTINGS: u16 = 1;

/// A policy as a module, whatever its hook.
pub trait Module: Sized {
    /// The policy's settings.
    type Settings: Settings;
    /// The policy itself.
    const POLICY: Self;
    /// Manifest of the module.
    const MANIFEST: Manifest;

    /// Faults of settings beyond their types and limits.
    fn check(&self, settings: &Self::Settings) -> Vec<Problem>;
}

type Values = Vec<(String, Setting)>;

impl<P: Module> configure::Guest for P {
    fn validate_settings(values: Values) -> Result<(), Vec<Problem>> {
        report_panics();
        let problems = match P::Settings::from_values(&values) {
            Ok(settings) => P::POLICY.check(&settings),
            Err(problems) => problems,
        };
        if problems.is_empty() {
            Ok(())
        } else {
            Err(problems)
        }
    }
}

fn read_settings<S: Settings>(values: &[(String, Setting)]) -> Result<S, PolicyError> {
    S::from_values(values).map_err(|problems| {
        let sentences = problems
            .iter()
            .map(|problem| format!("setting {} {}", problem.path, problem.message));
        PolicyError {
            code: BAD_SETTINGS,
            message: sentences.collect::<Vec<_>>().join("; "),
        }
    })
}

/// A note with the text of its reason: what is known of every row, then the policy's own terms.
fn note<P: Module>(reason: u16, known: &[(&str, f64)], terms: Vec<(&'static str, f64)>) -> Note {
    let row = usize::from(reason).checked_sub(1);
    let text = row
        .and_then(|row| P::MANIFEST.reasons.get(row))
        .map_or("", |reason| reason.text);
    let terms = known.iter().copied().chain(terms);
    Note {
        reason,
        text: text.to_owned(),
        terms: terms
            .map(|(name, value)| (name.to_owned(), value))
            .collect(),
    }
}

/// Makes a policy a module of its hook: what it says of itself, and `configure`. The interface of the hook is exported beside
/// it, by the macro that authors call.
#[doc(hidden)]
#[macro_export]
macro_rules! export_module {
    ($policy:ident, $module:ident::$trait:ident, $hook:literal, $unit:literal, $orders:literal, $vetoes:literal) => {
        impl $crate::guest::Module for $policy {
            type Settings = <$policy as $crate::$module::$trait>::Settings;
            const POLICY: Self = $policy;
            const MANIFEST: $crate::manifest::Manifest = $crate::manifest::Manifest {
                name: env!("CARGO_PKG_NAME"),
                version: env!("CARGO_PKG_VERSION"),
                hook: $hook,
                unit: $unit,
                orders: $orders,
                vetoes: $vetoes,
                fuel_per_row: <$policy as $crate::$module::$trait>::FUEL_PER_ROW,
                required: <$policy as $crate::$module::$trait>::REQUIRED_SIGNALS,
                optional: <$policy as $crate::$module::$trait>::OPTIONAL_SIGNALS,
                settings: <<$policy as $crate::$module::$trait>::Settings as $crate::settings::Settings>::SCHEMA,
                reasons: REASONS,
            };

            fn check(&self, settings: &Self::Settings) -> ::std::vec::Vec<$crate::settings::Problem> {
                <$policy as $crate::$module::$trait>::validate(self, settings)
            }
        }
        #[cfg(target_arch = "wasm32")]
        $crate::bindings::configure::export_configure_interface!($policy with_types_in $crate::bindings::configure);
        #[cfg(target_arch = "wasm32")]
        const _: () = {
            const MANIFEST: $crate::manifest::Manifest = <$policy as $crate::guest::Module>::MANIFEST;
            #[used]
            #[unsafe(link_section = "plimsoll.policy.manifest")]
            static SECTION: [u8; MANIFEST.len()] = MANIFEST.bytes();
        };
    };
}
