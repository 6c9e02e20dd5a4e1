//! `plimsoll policy inspect`: what a module says of itself, without running it.

use anyhow::{Context, Result};
use plimsoll_hooks::rank::Setting;
use plimsoll_policy::{Hook, Inspection, Property, Refusal, SelfTest, Unit};
use schemars::JsonSchema;
use serde::Serialize;

use crate::flags::Inspect;
use crate::module;
use crate::output::{kilobytes, show, texts};
use crate::policy::engine;
use crate::view::Document;

/// Output of `plimsoll policy inspect`.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::cmd) struct PolicyModule<'a> {
    /// The policy.
    name: &'a str,
    /// Its version.
    version: &'a str,
    /// `rank`, `consolidate` or `budget`.
    #[schemars(with = "String")]
    hook: Hook,
    /// `dollars`, or `order` where its prices only order offerings.
    #[schemars(with = "String")]
    unit: Unit,
    /// True if it orders launch options.
    orders: bool,
    /// True if it vetoes offerings.
    vetoes: bool,
    /// Bytes of the component.
    bytes: usize,
    /// Bytes as stored.
    bytes_stored: usize,
    /// SHA-256 of the component.
    sha256: &'a str,
    /// Its imports.
    imports: &'a [String],
    /// Its exports.
    exports: &'a [String],
    /// Signals that it requires.
    signals_required: &'a [String],
    /// Signals that it uses where there are any.
    signals_optional: &'a [String],
    /// Limits that it requests beyond the defaults.
    limits: ShownLimits,
    /// Its self-test; absent where it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    self_test: Option<ShownSelfTest>,
    /// Its settings.
    settings: Vec<ShownSetting<'a>>,
    /// Its reasons.
    reasons: Vec<ShownReason<'a>>,
}

impl Document for PolicyModule<'_> {}

/// Limits beyond the defaults; absent where the default will do.
#[derive(Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ShownLimits {
    /// Fuel for each row of a question.
    #[serde(skip_serializing_if = "Option::is_none")]
    fuel_per_row: Option<u64>,
    /// Memory of an instance.
    #[serde(skip_serializing_if = "Option::is_none")]
    memory: Option<String>,
}

/// The self-test: its size, or why it is refused.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
enum ShownSelfTest {
    /// Numbers of questions and of their rows.
    Carried { vectors: usize, rows: usize },
    /// The refusal, in words.
    Refused { refused: String },
}

/// A setting.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ShownSetting<'a> {
    /// Its name.
    name: &'a str,
    /// Its default; absent where it must be given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Value>")]
    default: Option<&'a Setting>,
    /// The values that it takes, in words.
    expected: String,
    /// Its purpose.
    description: &'a str,
}

/// A reason.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ShownReason<'a> {
    /// Its code in answers.
    code: usize,
    /// Its name.
    name: &'a str,
    /// Its text.
    text: &'a str,
}

pub(crate) fn run(flags: &Inspect) -> Result<()> {
    let of_module = || format!("policy {}", flags.module);
    let source = module::source(&flags.module).with_context(of_module)?;
    let engine = engine()?;
    source.verify(&engine).with_context(of_module)?;
    let seen = engine.inspect(&source.bytes).with_context(of_module)?;
    let shown = PolicyModule::of(&seen);
    show(flags.output, || &shown, || shown.people())
}

impl<'a> PolicyModule<'a> {
    fn of(seen: &'a Inspection) -> Self {
        let manifest = &seen.manifest;
        let setting = |(name, property): (&'a String, &'a Property)| ShownSetting {
            name,
            default: property.default.as_ref(),
            expected: property.expected(),
            description: &property.description,
        };
        let reasons = manifest.reasons.iter().enumerate();
        let reasons = reasons.map(|(row, reason)| ShownReason {
            code: row + 1,
            name: &reason.name,
            text: &reason.text,
        });
        Self {
            name: &manifest.name,
            version: &manifest.version,
            hook: manifest.hook,
            unit: manifest.unit,
            orders: manifest.orders,
            vetoes: manifest.vetoes,
            bytes: seen.size,
            bytes_stored: seen.stored,
            sha256: &seen.sha256,
            imports: &seen.imports,
            exports: &seen.exports,
            signals_required: &manifest.required_columns,
            signals_optional: &manifest.optional_columns,
            limits: ShownLimits {
                fuel_per_row: manifest.limits.fuel_per_row,
                memory: manifest.limits.memory_mib.map(|mib| format!("{mib}Mi")),
            },
            self_test: seen.self_test.as_ref().map(ShownSelfTest::of),
            settings: manifest.settings.properties.iter().map(setting).collect(),
            reasons: reasons.collect(),
        }
    }

    fn people(&self) -> String {
        let mut does = vec![match (self.hook, self.unit) {
            (Hook::Rank, Unit::Dollars) => "prices in dollars per hour",
            (Hook::Rank, Unit::Order) => "orders, at list prices",
            (Hook::Consolidate, _) => "scores consolidations in dollars per hour",
            (Hook::Budget, _) => "limits disruption",
        }];
        if self.orders && self.unit == Unit::Dollars {
            does.push("orders launch lists");
        }
        if self.vetoes {
            does.push("forbids offerings");
        }
        let fact = |name: &str, fact: String| vec![format!("  {name}"), fact];
        let signals = match (self.signals_required, self.signals_optional) {
            ([], []) => "none".to_owned(),
            (required, optional) => {
                let optional = optional.iter().map(|name| format!("{name} (optional)"));
                let all: Vec<String> = required.iter().cloned().chain(optional).collect();
                all.join(", ")
            }
        };
        let facts = [
            fact(
                "size",
                format!(
                    "{}, {} as stored",
                    kilobytes(self.bytes),
                    kilobytes(self.bytes_stored)
                ),
            ),
            fact("sha256", self.sha256.to_owned()),
            fact("exports", self.exports.join(", ")),
            fact("imports", self.imports.join(", ")),
            fact("signals", signals),
            fact("limits requested", self.requested()),
            fact("self-test", self.tested_by()),
        ];
        format!(
            "{} {}, a {} policy: {}\n{}{}{}",
            self.name,
            self.version,
            self.hook.adjective(),
            does.join(", "),
            texts(&facts),
            self.settings_table(),
            self.reasons_table()
        )
    }

    fn requested(&self) -> String {
        let fuel = self
            .limits
            .fuel_per_row
            .map(|fuel| format!("{fuel} fuel for each row"));
        let memory = self.limits.memory.as_ref();
        let memory = memory.map(|memory| format!("{memory} of memory"));
        let requested: Vec<String> = fuel.into_iter().chain(memory).collect();
        if requested.is_empty() {
            "none beyond the defaults".to_owned()
        } else {
            requested.join(", ")
        }
    }

    fn tested_by(&self) -> String {
        match &self.self_test {
            None => "none".to_owned(),
            Some(ShownSelfTest::Refused { refused }) => refused.clone(),
            Some(ShownSelfTest::Carried { vectors, rows }) => SelfTest {
                vectors: *vectors,
                rows: *rows,
            }
            .to_string(),
        }
    }

    fn settings_table(&self) -> String {
        if self.settings.is_empty() {
            return "\nno settings\n".to_owned();
        }
        let head = ["setting", "default", "expected", "meaning"]
            .map(str::to_owned)
            .to_vec();
        let row = |setting: &ShownSetting<'_>| {
            let default = setting
                .default
                .map_or_else(|| "(must be given)".to_owned(), written);
            vec![
                setting.name.to_owned(),
                default,
                setting.expected.clone(),
                setting.description.to_owned(),
            ]
        };
        let rows: Vec<_> = std::iter::once(head)
            .chain(self.settings.iter().map(row))
            .collect();
        format!("\n{}", texts(&rows))
    }

    fn reasons_table(&self) -> String {
        if self.reasons.is_empty() {
            return "\nno reasons\n".to_owned();
        }
        let head = ["reason", "text"].map(str::to_owned).to_vec();
        let row = |reason: &ShownReason<'_>| {
            vec![
                format!("{} {}", reason.code, reason.name),
                reason.text.to_owned(),
            ]
        };
        let rows: Vec<_> = std::iter::once(head)
            .chain(self.reasons.iter().map(row))
            .collect();
        format!("\n{}", texts(&rows))
    }
}

impl ShownSelfTest {
    fn of(seen: &Result<SelfTest, Refusal>) -> Self {
        match seen {
            Ok(SelfTest { vectors, rows }) => Self::Carried {
                vectors: *vectors,
                rows: *rows,
            },
            Err(refusal) => Self::Refused {
                refused: refusal.to_string(),
            },
        }
    }
}

/// A setting as it would be typed.
fn written(setting: &Setting) -> String {
    match setting {
        Setting::Flag(value) => value.to_string(),
        Setting::Number(value) => value.to_string(),
        Setting::Text(value) => value.clone(),
        Setting::Numbers(values) => {
            let values: Vec<String> = values.iter().map(f64::to_string).collect();
            format!("[{}]", values.join(", "))
        }
        Setting::Texts(values) => format!("[{}]", values.join(", ")),
    }
}
