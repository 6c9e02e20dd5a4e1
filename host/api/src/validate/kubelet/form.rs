//! Forms of kubelet's settings, and whether a value has the one that is read.

use serde_json::Value;

use super::super::finding::{Findings, shown};
use crate::duration;

/// The form of a value. Nothing (`null`) has every form: it says nothing.
#[derive(Clone, Copy, Debug)]
pub(super) enum Form {
    Text,
    Flag,
    /// A whole number of 32 bits.
    Int32,
    /// A whole number of 64 bits.
    Int64,
    /// A whole number of at least 0.
    Natural,
    /// Any number.
    Number,
    /// Text such as `90s`.
    Duration,
    /// The same, or nanoseconds.
    DurationOrNanoseconds,
    /// Text such as `500Mi`, or a number.
    Quantity,
    List(&'static Form),
    /// Values of one form by names that are free.
    Map(&'static Form),
    Fields(&'static [(&'static str, Form)]),
}

impl Form {
    const fn expected(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Flag => "true or false",
            Self::Int32 | Self::Int64 => "a whole number",
            Self::Natural => "a whole number of at least 0",
            Self::Number => "a number",
            Self::Duration | Self::DurationOrNanoseconds => "a duration such as 90s",
            Self::Quantity => "a quantity such as 500Mi",
            Self::List(_) => "a list",
            Self::Map(_) | Self::Fields(_) => "a map",
        }
    }

    /// `true` for a value of this form, whatever is in it.
    fn fits(self, value: &Value) -> bool {
        let whole = value.as_i64();
        match self {
            Self::Text => value.is_string(),
            Self::Flag => value.is_boolean(),
            Self::Int32 => whole.is_some_and(|number| i32::try_from(number).is_ok()),
            Self::Int64 => whole.is_some(),
            Self::Natural => whole.is_some_and(|number| u32::try_from(number).is_ok()),
            Self::Number => value.is_number(),
            Self::Duration => value.as_str().is_some_and(is_duration),
            Self::DurationOrNanoseconds => {
                whole.is_some() || value.as_str().is_some_and(is_duration)
            }
            Self::Quantity => value.is_number() || value.as_str().is_some_and(is_quantity),
            Self::List(_) => value.is_array(),
            Self::Map(_) | Self::Fields(_) => value.is_object(),
        }
    }
}

/// Kubelet reads durations below nothing as well.
fn is_duration(text: &str) -> bool {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    duration::parse(unsigned).is_some()
}

fn is_quantity(text: &str) -> bool {
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    plimsoll_base::quantity::parse_units(unsigned).is_ok()
}

/// A fault for every part of a value that has not the form which is read.
pub(super) fn check(path: &str, form: &Form, value: &Value, findings: &mut Findings) {
    if value.is_null() {
        return;
    }
    if !form.fits(value) {
        let words = format!("is {}; expected {}", shown(value), form.expected());
        findings.fault(path, words);
        return;
    }
    match form {
        Form::List(each) => {
            for (number, value) in value.as_array().into_iter().flatten().enumerate() {
                check(&format!("{path}[{number}]"), each, value, findings);
            }
        }
        Form::Map(each) => {
            for (name, value) in value.as_object().into_iter().flatten() {
                check(&format!("{path}.{name}"), each, value, findings);
            }
        }
        Form::Fields(known) => {
            for (name, value) in value.as_object().into_iter().flatten() {
                let path = format!("{path}.{name}");
                match known.iter().find(|(own, _)| own == name) {
                    Some((_, form)) => check(&path, form, value, findings),
                    None => findings.fault(path, "is not a setting of kubelet"),
                }
            }
        }
        _ => {}
    }
}
