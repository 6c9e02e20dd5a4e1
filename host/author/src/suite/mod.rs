//! Suites: what a policy promises, in cases that people read, and what becomes of them.
//!
//! A suite is a YAML file beside the policy. A case puts one question, small and written out, to the policy under some settings and
//! says what is expected of the answer; the words for rows are the columns of the interface. What is wrong with a suite is an error
//! with file, case, field, value and expectation. What is wrong with the policy is the outcome of a case.
//! Before: a module is accepted. After: the rows of each case are held against those recorded, see [`crate::golden`].

mod answer;
mod ask;
mod columns;
mod expect;
mod field;
mod fleet;
mod market;
mod pools;
mod signal;

use std::collections::BTreeMap;
use std::str::FromStr as _;

use plimsoll_hooks::hook::{Context, PolicySettings};
use plimsoll_policy::{AnyModule, Hook, Manifest, Observer};
use serde_json::Value;
use thiserror::Error;

pub use self::field::Problem;

use self::answer::{Answer, Wanted};
use self::field::{Field, Fields, stranger};
use self::fleet::Fleet;
use self::market::Market;
use self::pools::Declared;
use crate::yaml;

/// 2027-01-15 08:00 in UTC, a Friday: when cases play that do not say.
const NOW: u64 = 1_800_000_000;

/// A suite that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SuiteError {
    /// Not YAML.
    #[error("{file} is no YAML: {problem}")]
    Yaml {
        /// The file.
        file: String,
        /// The parser's words, with the line.
        problem: String,
    },
    /// Something outside of all cases.
    #[error("{file}: {problem}")]
    File {
        /// The file.
        file: String,
        /// The fault of the field.
        problem: Problem,
    },
    /// Something in a case.
    #[error("{file}: case \"{case}\": {problem}")]
    Case {
        /// The file.
        file: String,
        /// The case by its name, or by its place where it has none.
        case: String,
        /// The fault of the field.
        problem: Problem,
    },
}

/// A suite for one policy.
#[derive(Debug)]
pub struct Suite {
    /// Settings that all cases begin with, laws and benches too.
    pub settings: PolicySettings,
    cases: Vec<Case>,
}

/// One case.
#[derive(Debug)]
struct Case {
    name: String,
    settings: PolicySettings,
    input: Input,
    wanted: Vec<Wanted>,
    /// Words that the refusal of the settings has in it, where they are to be refused.
    refused: Option<String>,
}

/// A question of the policy's hook, with names for its rows.
#[derive(Debug)]
enum Input {
    Rank(Box<Market>),
    Consolidate(Box<Fleet>),
    Budget(Box<Declared>),
}

/// A case that was tried: the answer and the expectations it broke.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tried {
    /// Name of the case, unique in its suite.
    pub case: String,
    /// Everything that is not as expected.
    pub failures: Vec<String>,
    /// The answer in words, row by row; nothing where settings were to be refused.
    pub rows: BTreeMap<String, String>,
}

/// NoObserver looks on.
#[derive(Debug)]
struct NoObserver;

impl Observer for NoObserver {}

impl Suite {
    /// Reads a suite for the policy of that manifest.
    pub fn read(file: &str, text: &str, manifest: &Manifest) -> Result<Self, SuiteError> {
        let whole: Value = yaml::read(text).map_err(|problem| SuiteError::Yaml {
            file: file.to_owned(),
            problem,
        })?;
        let of_file = |problem| SuiteError::File {
            file: file.to_owned(),
            problem,
        };
        let root = Field::new("", &whole);
        let fields = root
            .object(&["settings", "inputs", "cases"])
            .map_err(of_file)?;
        let settings = fields
            .or("settings", PolicySettings::new(), Field::settings)
            .map_err(of_file)?;
        let inputs = fields
            .get("inputs")
            .map_or(Ok(Vec::new()), |field| field.named());
        let inputs: BTreeMap<&str, Field<'_>> = inputs.map_err(of_file)?.into_iter().collect();
        let list = fields
            .need("cases", "a list of cases")
            .and_then(|field| field.list());
        let mut suite = Self {
            settings,
            cases: Vec::new(),
        };
        for (place, field) in list.map_err(of_file)?.iter().enumerate() {
            let case =
                suite
                    .case(field, &inputs, manifest)
                    .map_err(|problem| SuiteError::Case {
                        file: file.to_owned(),
                        case: name_of(field).unwrap_or_else(|| (place + 1).to_string()),
                        problem,
                    })?;
            suite.cases.push(case);
        }
        Ok(suite)
    }

    /// How many cases there are.
    pub fn len(&self) -> usize {
        self.cases.len()
    }

    /// `true` if there is no case.
    pub fn is_empty(&self) -> bool {
        self.cases.is_empty()
    }

    /// Puts every case to the policy.
    pub fn run(&self, policy: &AnyModule) -> Vec<Tried> {
        self.run_before(policy, &NoObserver)
    }

    /// The same while somebody looks on.
    pub fn run_before(&self, policy: &AnyModule, observer: &dyn Observer) -> Vec<Tried> {
        let cases = self.cases.iter();
        cases.map(|case| case.run(policy, observer)).collect()
    }

    /// The name of a case, which no other has and which takes one line wherever it is shown.
    fn name(&self, field: &Field<'_>) -> Result<String, Problem> {
        let name = field.text()?;
        if name.chars().any(char::is_control) {
            return Err(field.expected("a text without control characters"));
        }
        if self.cases.iter().any(|case| case.name == name) {
            return Err(field.problem("is that of another case".to_owned()));
        }
        Ok(name.to_owned())
    }

    fn case(
        &self,
        field: &Field<'_>,
        inputs: &BTreeMap<&str, Field<'_>>,
        manifest: &Manifest,
    ) -> Result<Case, Problem> {
        // Paths of a case begin within it, since its name stands before them.
        let field = field.at("");
        let fields = field.object(&["name", "settings", "input", "expect"])?;
        let name = self.name(&fields.need("name", "what the case shows")?)?;
        let mut settings = self.settings.clone();
        settings.extend(fields.or("settings", PolicySettings::new(), Field::settings)?);
        let input = fields.need("input", "an input, or the name of one of inputs")?;
        let input = match input.as_text() {
            None => input,
            Some(text) => inputs.get(text).cloned().ok_or_else(|| {
                let wrong = stranger("input", text, inputs.keys().copied());
                input.problem(format!("is \"{text}\", which {wrong}"))
            })?,
        };
        let input = Input::read(&input, manifest)?;
        let expect = fields.get("expect");
        let (wanted, refused) = match &expect {
            None => (Vec::new(), None),
            Some(field) => input.expectations(field, manifest)?,
        };
        Ok(Case {
            name,
            settings,
            input,
            wanted,
            refused,
        })
    }
}

/// The row of a name in a list of them.
fn place(field: &Field<'_>, what: &str, known: &[&str]) -> Result<u32, Problem> {
    let name = field.text()?;
    let place = known.iter().position(|known| *known == name);
    let row = place.and_then(|place| u32::try_from(place).ok());
    row.ok_or_else(|| {
        let wrong = stranger(what, name, known.iter().copied());
        field.problem(format!("is \"{name}\", which {wrong}"))
    })
}

/// The name of a case, as far as it can be read.
fn name_of(case: &Field<'_>) -> Option<String> {
    let fields = case.named().ok()?;
    let (_, name) = fields.into_iter().find(|(name, _)| *name == "name")?;
    let shown = |text: &&str| !text.chars().any(char::is_control);
    name.as_text().filter(shown).map(str::to_owned)
}

impl Input {
    fn read(field: &Field<'_>, manifest: &Manifest) -> Result<Self, Problem> {
        let known: &[&str] = match manifest.hook {
            Hook::Rank => &Market::FIELDS,
            Hook::Consolidate => &Fleet::FIELDS,
            Hook::Budget => &Declared::FIELDS,
        };
        let fields = field.object(&[&["now", "seed"], known].concat())?;
        let context = Context {
            now_unix_s: fields.or("now", NOW, moment)?,
            seed: fields.or("seed", 0, Field::seed)?,
            generation: 0,
        };
        Ok(match manifest.hook {
            Hook::Rank => Self::Rank(Box::new(Market::read(&fields, context)?)),
            Hook::Consolidate => Self::Consolidate(Box::new(Fleet::read(&fields, context)?)),
            Hook::Budget => Self::Budget(Box::new(Declared::read(&fields, context)?)),
        })
    }

    fn expectations(
        &self,
        field: &Field<'_>,
        manifest: &Manifest,
    ) -> Result<(Vec<Wanted>, Option<String>), Problem> {
        let known: &[&str] = match self {
            Self::Rank(_) => &["prices", "cheaper", "vetoes", "scores", "lists"],
            Self::Consolidate(_) => &["values", "refuses", "does"],
            Self::Budget(_) => &["allowed", "recheck-after-s"],
        };
        let fields: Fields<'_> = field.object(&[&["refused"], known].concat())?;
        let refused = fields.or("refused", None, |field| Ok(Some(field.text()?.to_owned())))?;
        let wanted = match self {
            Self::Rank(market) => expect::rank(&fields, market, manifest)?,
            Self::Consolidate(fleet) => expect::consolidate(&fields, fleet, manifest)?,
            Self::Budget(declared) => expect::budget(&fields, declared, manifest)?,
        };
        if refused.is_some() && !wanted.is_empty() {
            let problem = "wants settings refused and an answer; expected one of them";
            return Err(field.problem(problem.to_owned()));
        }
        Ok((wanted, refused))
    }

    /// The policy's answer, or why there is none.
    fn ask(&self, policy: &AnyModule, observer: &dyn Observer) -> Result<Answer, String> {
        let answer = match (self, policy) {
            (Self::Rank(market), AnyModule::Rank(module)) => ask::rank(module, market, observer),
            (Self::Consolidate(fleet), AnyModule::Consolidate(module)) => {
                ask::consolidate(module, fleet, observer)
            }
            (Self::Budget(declared), AnyModule::Budget(module)) => {
                ask::budget(module, declared, observer)
            }
            _ => return Err("the policy is of another hook than the suite".to_owned()),
        };
        answer.map_err(|fault| format!("there is no answer: {}: {fault}", fault.outcome))
    }
}

/// A moment written `2026-11-27T10:00:00Z`.
fn moment(field: &Field<'_>) -> Result<u64, Problem> {
    let moment = field
        .as_text()
        .and_then(|text| jiff::Timestamp::from_str(text).ok());
    let second = moment.and_then(|moment| u64::try_from(moment.as_second()).ok());
    second.ok_or_else(|| field.expected("a moment after 1970 such as 2026-11-27T10:00:00Z"))
}

impl Case {
    fn run(&self, policy: &AnyModule, observer: &dyn Observer) -> Tried {
        let (failures, rows) = match self.answer(policy, observer) {
            Err(failure) => (vec![failure], BTreeMap::new()),
            Ok(None) => (Vec::new(), BTreeMap::new()),
            Ok(Some(answer)) => {
                let manifest = policy.manifest();
                let judged = self.wanted.iter();
                let judged = judged.flat_map(|wanted| wanted.judge(&answer, manifest));
                (judged.collect(), answer.told)
            }
        };
        Tried {
            case: self.name.clone(),
            failures,
            rows,
        }
    }

    /// The answer under the case's settings; nothing where they are refused as they are to be.
    fn answer(
        &self,
        policy: &AnyModule,
        observer: &dyn Observer,
    ) -> Result<Option<Answer>, String> {
        match (policy.under(&self.settings), &self.refused) {
            (Ok(policy), None) => self.input.ask(&policy, observer).map(Some),
            (Ok(_), Some(wanted)) => Err(format!(
                "expect.refused: the settings are agreed to; expected a refusal with \"{wanted}\""
            )),
            (Err(refusal), None) => Err(format!("settings are refused: {refusal}")),
            (Err(refusal), Some(wanted)) => {
                let said = refusal.to_string();
                if said.contains(wanted.as_str()) {
                    return Ok(None);
                }
                Err(format!(
                    "expect.refused: is \"{said}\"; expected \"{wanted}\" in it"
                ))
            }
        }
    }
}
