//! A policy's answer as columns by name, compared with what a case wants of them.
//!
//! The three hooks differ in their questions and columns and in nothing else, so that one judge serves all: it holds numbers against
//! numbers within rounding, reasons and lists exactly, and tells each difference with the row, what was found and what was expected.

use std::collections::BTreeMap;

use plimsoll_policy::Manifest;

use crate::laws::close;

use super::field::{Field, Problem, stranger};

/// An answer that passed the checks of the core.
#[derive(Debug, Default)]
pub(super) struct Answer {
    /// Numbers, a row each.
    pub(super) numbers: BTreeMap<&'static str, Vec<f64>>,
    /// Codes of reasons, a row each.
    pub(super) reasons: BTreeMap<&'static str, Vec<u16>>,
    /// Lists by what they are of.
    pub(super) lists: BTreeMap<String, Vec<String>>,
    /// Every row in words, exact: what a golden keeps.
    pub(super) told: BTreeMap<String, String>,
}

impl Answer {
    /// The number of a row; none where the answer has no such column, as of a policy that only orders.
    fn number(&self, column: &str, row: &Row) -> f64 {
        let column = self.numbers.get(column);
        let number = column.and_then(|column| column.get(row.at));
        number.copied().unwrap_or(f64::NAN)
    }
}

/// A row that an expectation is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Row {
    at: usize,
    name: String,
}

/// An expectation of a case, and the field that states it.
#[derive(Debug)]
pub(super) struct Wanted {
    pub(super) field: String,
    pub(super) what: What,
}

/// One thing that a case wants.
#[derive(Debug)]
pub(super) enum What {
    /// Rows have that number in each of the columns.
    Number(&'static [&'static str], Vec<Row>, f64),
    /// Rows of a column have that reason.
    Reason(&'static str, Vec<Row>, u16),
    /// Rows of a column are below others.
    Below(&'static str, Vec<Row>, Vec<Row>),
    /// Rows of a column are at most that number.
    AtMost(&'static str, Vec<Row>, f64),
    /// A list has those items in that order.
    List(String, Vec<String>),
}

/// Names of the rows of a column: what owns a row, and the row itself.
#[derive(Debug, Clone, Default)]
pub(super) struct Names(pub(super) Vec<(String, String)>);

impl Names {
    /// Rows that a name stands for: `general/spot`, or all that are of `general`, or all that are called `spot`.
    pub(super) fn rows(&self, field: &Field<'_>, name: &str) -> Result<Vec<Row>, Problem> {
        let rows = self.0.iter().enumerate();
        let meant = rows.filter(|(_, (owner, item))| {
            item == name || owner == name || slashed(owner, item) == name
        });
        let row = |(at, (owner, item)): (usize, &(String, String))| Row {
            at,
            name: slashed(owner, item),
        };
        let meant: Vec<Row> = meant.map(row).collect();
        if meant.is_empty() {
            let known = self.0.iter().map(|(_, item)| item.as_str());
            let mut known: Vec<&str> = known.collect();
            known.sort_unstable();
            known.dedup();
            return Err(field.problem(stranger("row of the answer", name, known)));
        }
        Ok(meant)
    }

    /// The name of a row.
    pub(super) fn name(&self, at: usize) -> String {
        let row = self.0.get(at);
        row.map(|(owner, item)| slashed(owner, item))
            .unwrap_or_default()
    }
}

fn slashed(owner: &str, item: &str) -> String {
    if owner.is_empty() {
        item.to_owned()
    } else {
        format!("{owner}/{item}")
    }
}

/// The code of a reason, by its name or its text.
pub(super) fn reason(manifest: &Manifest, field: &Field<'_>) -> Result<u16, Problem> {
    let text = field.text()?;
    let mut known = manifest.reasons.iter();
    let place = known.position(|reason| reason.name == text || reason.text == text);
    let code = place.and_then(|place| u16::try_from(place + 1).ok());
    code.ok_or_else(|| {
        let texts = manifest.reasons.iter().map(|reason| reason.text.as_str());
        let wrong = stranger("reason of the policy", text, texts);
        field.problem(format!("is \"{text}\", which {wrong}"))
    })
}

/// A reason in words.
pub(super) fn reason_text(manifest: &Manifest, code: u16) -> String {
    match (code, manifest.reason(code)) {
        (0, _) => "no reason".to_owned(),
        (code, "") => format!("reason {code}, which the manifest does not list"),
        (_, text) => text.to_owned(),
    }
}

/// Dollars in words that lose nothing.
pub(super) fn dollars(number: f64) -> String {
    if number == f64::INFINITY {
        "veto".to_owned()
    } else {
        number.to_string()
    }
}

impl Wanted {
    /// Everything that is not as wanted.
    pub(super) fn judge(&self, answer: &Answer, manifest: &Manifest) -> Vec<String> {
        let found = match &self.what {
            What::Number(columns, rows, wanted) => numbers(answer, columns, rows, *wanted),
            What::AtMost(column, rows, most) => too_many(answer, column, rows, *most),
            What::Reason(column, rows, wanted) => reasons(answer, manifest, column, rows, *wanted),
            What::Below(column, lower, higher) => not_below(answer, column, lower, higher),
            What::List(name, wanted) => list(answer, name, wanted),
        };
        let field = &self.field;
        let told = found.into_iter().map(|found| format!("{field}: {found}"));
        told.collect()
    }
}

/// The first column of each row that has another number.
fn numbers(answer: &Answer, columns: &[&str], rows: &[Row], wanted: f64) -> Vec<String> {
    let told = |row: &Row| {
        let mut columns = columns.iter();
        let column = columns.find(|column| !close(answer.number(column, row), wanted))?;
        let (is, wanted) = (dollars(answer.number(column, row)), dollars(wanted));
        Some(format!("{} {column} is {is}; expected {wanted}", row.name))
    };
    rows.iter().filter_map(told).collect()
}

fn too_many(answer: &Answer, column: &str, rows: &[Row], most: f64) -> Vec<String> {
    let rows = rows.iter().map(|row| (row, answer.number(column, row)));
    let more = rows.filter(|(_, is)| *is > most);
    let told =
        more.map(|(row, is)| format!("{} {column} is {is}; expected at most {most}", row.name));
    told.collect()
}

fn reasons(
    answer: &Answer,
    manifest: &Manifest,
    column: &str,
    rows: &[Row],
    wanted: u16,
) -> Vec<String> {
    let codes = answer.reasons.get(column).map_or(&[][..], Vec::as_slice);
    let rows = rows
        .iter()
        .map(|row| (row, codes.get(row.at).copied().unwrap_or(0)));
    let other = rows.filter(|(_, code)| *code != wanted);
    let told = other.map(|(row, code)| {
        let (is, wanted) = (reason_text(manifest, code), reason_text(manifest, wanted));
        format!("{} {column} is \"{is}\"; expected \"{wanted}\"", row.name)
    });
    told.collect()
}

fn not_below(answer: &Answer, column: &str, lower: &[Row], higher: &[Row]) -> Vec<String> {
    let mut found = Vec::new();
    let pairs = lower
        .iter()
        .flat_map(|low| higher.iter().map(move |high| (low, high)));
    for (low, high) in pairs {
        let (is, other) = (answer.number(column, low), answer.number(column, high));
        if is >= other || is.is_nan() {
            let (is, other) = (dollars(is), dollars(other));
            let (low, high) = (&low.name, &high.name);
            found.push(format!("{low} at {is} is not below {high} at {other}"));
        }
    }
    found
}

fn list(answer: &Answer, name: &str, wanted: &[String]) -> Vec<String> {
    let is = answer.lists.get(name).map_or(&[][..], Vec::as_slice);
    if is == wanted {
        return Vec::new();
    }
    vec![format!(
        "is [{}]; expected [{}]",
        is.join(", "),
        wanted.join(", ")
    )]
}
