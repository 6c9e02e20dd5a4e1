//! `plimsoll policy inspect`: what a module says of itself, without running it.

use anyhow::{Context, Result};
use plimsoll_core::rank::Setting;
use plimsoll_policy::{AskedLimits, Hook, Inspection, Property, Refusal, SelfTest, Unit};
use serde::Serialize;

use crate::flags::Inspect;
use crate::module;
use crate::output::{kilobytes, show, texts};
use crate::policy::engine;

/// What `-o json` prints.
#[derive(Serialize)]
struct Shown<'a> {
    name: &'a str,
    version: &'a str,
    hook: Hook,
    unit: Unit,
    orders: bool,
    vetoes: bool,
    bytes: usize,
    bytes_stored: usize,
    sha256: &'a str,
    imports: &'a [String],
    exports: &'a [String],
    signals_required: &'a [String],
    signals_optional: &'a [String],
    limits: AskedLimits,
    self_test: Option<ShownSelfTest>,
    settings: Vec<ShownSetting<'a>>,
    reasons: Vec<ShownReason<'a>>,
}

/// What it carries to be tested by, or why that is refused.
#[derive(Serialize)]
#[serde(untagged)]
enum ShownSelfTest {
    Carried { vectors: usize, rows: usize },
    Refused { refused: String },
}

#[derive(Serialize)]
struct ShownSetting<'a> {
    name: &'a str,
    default: Option<&'a Setting>,
    expected: String,
    description: &'a str,
}

#[derive(Serialize)]
struct ShownReason<'a> {
    code: usize,
    name: &'a str,
    text: &'a str,
}

pub(crate) fn run(flags: &Inspect) -> Result<()> {
    let of_module = || format!("policy {}", flags.module);
    let source = module::source(&flags.module).with_context(of_module)?;
    let engine = engine()?;
    source.verify(&engine).with_context(of_module)?;
    let seen = engine.inspect(&source.bytes).with_context(of_module)?;
    let shown = Shown::of(&seen);
    show(flags.output, &shown, || shown.people())
}

impl<'a> Shown<'a> {
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
            limits: manifest.limits,
            self_test: seen.self_test.as_ref().map(ShownSelfTest::of),
            settings: manifest.settings.properties.iter().map(setting).collect(),
            reasons: reasons.collect(),
        }
    }

    fn people(&self) -> String {
        let mut does = vec![match (self.hook, self.unit) {
            (Hook::Rank, Unit::Dollars) => "prices in dollars per hour",
            (Hook::Rank, Unit::Order) => "orders, at list prices",
            (Hook::Consolidate, _) => "values moves in dollars per hour",
            (Hook::Budget, _) => "allows nodes to be down",
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
            fact("asks for", self.asked()),
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

    fn asked(&self) -> String {
        let fuel = self
            .limits
            .fuel_per_row
            .map(|fuel| format!("{fuel} fuel for each row"));
        let memory = self
            .limits
            .memory_mib
            .map(|mib| format!("{mib} MiB of memory"));
        let asked: Vec<String> = fuel.into_iter().chain(memory).collect();
        if asked.is_empty() {
            "the default limits".to_owned()
        } else {
            asked.join(", ")
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
