//! One thing to say about one field.

use std::fmt;

use serde_json::Value;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// An API server refuses the object.
    Error,
    /// The object is taken, and a controller refuses or ignores part of it.
    Fault,
    /// The object works, and may surprise its author.
    Advice,
}

/// One thing to say about one field; displayed as a sentence that begins with the field's path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// How bad it is.
    pub severity: Severity,
    /// The field, such as `spec.disruption.budgets[0].nodes`; empty for the whole object.
    pub path: String,
    /// The fault in words; continues the sentence that the path begins.
    pub words: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path.as_str() {
            "" => f.write_str(&self.words),
            path => write!(f, "{path} {}", self.words),
        }
    }
}

/// Findings as they come.
#[derive(Debug, Default)]
pub(super) struct Findings(Vec<Finding>);

impl Findings {
    /// The server would refuse this.
    pub(super) fn error(&mut self, path: impl Into<String>, words: impl Into<String>) {
        self.add(Severity::Error, path, words);
    }

    /// The server would take this, and a controller would not do it.
    pub(super) fn fault(&mut self, path: impl Into<String>, words: impl Into<String>) {
        self.add(Severity::Fault, path, words);
    }

    /// This is done as written, and may surprise.
    pub(super) fn advice(&mut self, path: impl Into<String>, words: impl Into<String>) {
        self.add(Severity::Advice, path, words);
    }

    /// These as well.
    pub(super) fn extend(&mut self, more: Vec<Finding>) {
        self.0.extend(more);
    }

    fn add(&mut self, severity: Severity, path: impl Into<String>, words: impl Into<String>) {
        self.0.push(Finding {
            severity,
            path: path.into(),
            words: words.into(),
        });
    }

    /// `true` if the server would refuse the object.
    pub(super) fn has_errors(&self) -> bool {
        self.0
            .iter()
            .any(|finding| finding.severity == Severity::Error)
    }

    /// All of them, errors first.
    pub(super) fn into_list(mut self) -> Vec<Finding> {
        self.0.sort_by_key(|finding| finding.severity);
        self.0
    }
}

/// A value as a sentence shows it: text in quotes, the rest as it is, long things cut.
pub(super) fn shown(value: &Value) -> String {
    const LONGEST: usize = 60;
    let text = value.to_string();
    match text.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}...", &text[..at]),
        None => text,
    }
}

/// Names one after another, the last joined by "or".
pub(super) fn or(names: &[&str]) -> String {
    match names {
        [] => "nothing".to_owned(),
        [only] => (*only).to_owned(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}
