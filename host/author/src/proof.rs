//! A policy proven: every case of its suite, every row against the goldens, every law; one value that commands show and tests judge.

use plimsoll_hooks::hook::PolicySettings;
use plimsoll_policy::{AnyModule, Engine, Given, Refusal};

use crate::golden::{Difference, Goldens};
use crate::laws::{self, Held};
use crate::suite::{Suite, Tried};

/// Name of the suite in the folder of a policy.
pub const SUITE: &str = "suite.yaml";
/// Name of the goldens in the folder of a policy.
pub const GOLDENS: &str = "goldens.yaml";
/// Name of the fuel baseline in the folder of a policy.
pub const FUEL: &str = "fuel.yaml";

/// Results of a policy under its suite, its goldens and the laws.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proof {
    /// Every case.
    pub cases: Vec<Tried>,
    /// Answers to the cases, to be held against what was recorded, or to be recorded.
    pub found: Goldens,
    /// Rows that are not as recorded; nothing where nothing was.
    pub differences: Vec<Difference>,
    /// The laws.
    pub held: Held,
}

/// Takes a module in for being proven: under the settings that its suite begins with, and over them those given.
pub fn accept(
    engine: &Engine,
    stored: &[u8],
    suite: Option<&Suite>,
    given: Given<'_>,
) -> Result<AnyModule, Refusal> {
    AnyModule::accept(engine, stored, &|schema| {
        let begun = suite.map(|suite| suite.settings.clone());
        let mut settings: PolicySettings = begun.unwrap_or_default();
        settings.extend(given(schema)?);
        Ok(settings)
    })
}

/// Proves a policy: the cases of the suite under their own settings, the laws under those that it was accepted with.
pub fn prove(policy: &AnyModule, suite: Option<&Suite>, goldens: Option<&Goldens>) -> Proof {
    let cases = suite.map(|suite| suite.run(policy)).unwrap_or_default();
    let found = Goldens::of(&cases);
    let differences = goldens.map(|recorded| recorded.differences(&found));
    Proof {
        cases,
        found,
        differences: differences.unwrap_or_default(),
        held: laws::hold(policy),
    }
}

impl Proof {
    /// Cases that failed.
    pub fn failed(&self) -> usize {
        let failed = self.cases.iter().filter(|tried| !tried.failures.is_empty());
        failed.count()
    }

    /// Laws that are broken.
    pub fn broken(&self) -> usize {
        self.held
            .laws
            .iter()
            .filter(|law| law.breach.is_some())
            .count()
    }

    /// `true` if nothing is wrong.
    pub fn is_sound(&self) -> bool {
        self.failed() == 0 && self.broken() == 0 && self.differences.is_empty()
    }
}
