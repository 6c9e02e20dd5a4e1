//! Fuel that standard questions cost a policy, held against its baseline.
//!
//! Fuel of a call is the same number on every machine, so that a rise is one of the policy, its SDK, its compiler or the engine, and a
//! gate on it has no noise. How long calls take depends on the machine; to measure it, ask a question again and again.

use std::collections::BTreeMap;

use plimsoll_policy::{AnyModule, Called, Fault, Unit};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::standard;
use crate::yaml;

/// Fuel, memory and time of one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Used {
    /// Fuel, instantiation apart.
    pub fuel: u64,
    /// Most linear memory, bytes.
    pub memory: usize,
}

/// A standard question, ready to be put to a policy as often as wanted.
pub struct Asked<'p> {
    /// Name of the question with its size, as baselines list it.
    pub name: &'static str,
    /// Rows of the answer.
    pub rows: usize,
    ask: Box<dyn Fn() -> Result<Used, Fault> + 'p>,
}

impl Asked<'_> {
    /// Asks once.
    pub fn ask(&self) -> Result<Used, Fault> {
        (self.ask)()
    }
}

/// The questions that a host would put to this policy, of the sizes that bars are about.
pub fn questions(policy: &AnyModule) -> Vec<Asked<'_>> {
    match policy {
        AnyModule::Rank(module) => {
            let mut asked = Vec::new();
            if module.manifest().unit == Unit::Dollars {
                let question = standard::prices(3, 800, 3);
                asked.push(Asked {
                    name: "price 2,400 offerings in 3 pools",
                    rows: question.pools.cand.len(),
                    ask: Box::new(move || used(module.price(&question))),
                });
            }
            if module.manifest().orders {
                let question = standard::claims(1_000, 60);
                asked.push(Asked {
                    name: "order 60 offerings for 1,000 claims",
                    rows: question.claims.cand.len(),
                    ask: Box::new(move || used(module.order(&question))),
                });
            }
            asked
        }
        AnyModule::Consolidate(module) => {
            let question = standard::moves(5_000, 2_000);
            vec![Asked {
                name: "score 2,000 moves of 5,000 nodes",
                rows: question.moves.len(),
                ask: Box::new(move || used(module.score(&question))),
            }]
        }
        AnyModule::Budget(module) => {
            let question = standard::pools(20);
            vec![Asked {
                name: "allow 3 reasons in 20 pools",
                rows: question.pools.len(),
                ask: Box::new(move || used(module.allow(&question))),
            }]
        }
    }
}

fn used<T>(called: Called<T>) -> Result<Used, Fault> {
    let Called {
        result,
        fuel,
        memory_peak,
        ..
    } = called;
    result.map(|_| Used {
        fuel,
        memory: memory_peak,
    })
}

/// Fuel as recorded, by question.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Baseline {
    /// Fuel of each question.
    pub fuel: BTreeMap<String, u64>,
}

/// A file that holds no baseline.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{file} holds no baseline: {problem}; --update writes it anew")]
pub struct BaselineError {
    /// The file.
    pub file: String,
    /// The fault in words, with its line.
    pub problem: String,
}

impl Baseline {
    /// Reads a file that [`yaml`](Self::yaml) wrote.
    pub fn read(file: &str, text: &str) -> Result<Self, BaselineError> {
        yaml::read(text).map_err(|problem| BaselineError {
            file: file.to_owned(),
            problem,
        })
    }

    /// The file, for the policy of that name.
    pub fn yaml(&self, policy: &str) -> Result<String, serde_saphyr::ser::Error> {
        let fuel = serde_saphyr::to_string(self)?;
        Ok(format!(
            "# Fuel that standard questions cost {policy}; `plimsoll policy bench --update` writes it anew.\n{fuel}"
        ))
    }

    /// Most fuel that a question may take now; nothing where no fuel was recorded for it.
    pub fn most(&self, question: &str, tolerance_percent: u32) -> Option<u64> {
        let recorded = *self.fuel.get(question)?;
        let more = u128::from(recorded) * u128::from(tolerance_percent) / 100;
        Some(recorded.saturating_add(u64::try_from(more).unwrap_or(u64::MAX)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_baseline_is_read_as_it_was_written_and_allows_its_tolerance() {
        let baseline = Baseline {
            fuel: BTreeMap::from([("price: all".to_owned(), 1_000)]),
        };
        let text = baseline.yaml("rank-test").unwrap();
        assert_eq!(Baseline::read("fuel.yaml", &text), Ok(baseline.clone()));
        assert_eq!(baseline.most("price: all", 5), Some(1_050));
        assert_eq!(baseline.most("price: all", 0), Some(1_000));
        assert_eq!(baseline.most("order", 5), None);
    }

    #[test]
    fn what_is_no_baseline_names_the_file() {
        for text in ["fuel: much", "fool: {}", "fuel: {a: -1}", "["] {
            let error = Baseline::read("x/fuel.yaml", text).unwrap_err().to_string();
            assert!(
                error.starts_with("x/fuel.yaml holds no baseline: "),
                "{error}"
            );
        }
    }
}
