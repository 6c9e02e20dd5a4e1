//! Values taken apart into parts by digest, and put together again.
//!
//! A list of numbers becomes one text, which is exact in both directions and short. Whatever is longer than [`SHORT`] as JSON
//! becomes a part, from the inside out, so that what two values have in common is one part of both. A part may refer only to
//! parts before it; putting together is bounded, since a few lines can name each other to any size.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::{Arc, PoisonError, RwLock};

use serde_json::{Map, Number, Value};

use crate::package::digest;

/// Bytes of JSON up to which a value stands where it is used.
const SHORT: usize = 200;
/// Values that one put together may have, numbers counted each; a long text counts once more for every [`TEXT`] bytes.
const MOST_VALUES: usize = 50_000_000;
/// Bytes of a text, a key or a number that count as much as a value.
const TEXT: usize = 32;
/// Parts within parts.
pub(super) const DEPTH: usize = 16;
/// Key of a reference.
const PART: &str = "part";
/// Key of a list of numbers.
const NUMBERS: &str = "numbers";

/// Digests that are known at once. Records of a live cluster go on for months: beyond these a part may be given out again.
const MOST_KNOWN: usize = 50_000;

/// Takes values apart. Knows the digests that were given out last, so that a part is not given out again and again.
#[derive(Debug, Default)]
pub(super) struct Folder {
    known: BTreeSet<String>,
}

impl Folder {
    /// The value with numbers as texts, and nothing taken out.
    pub(super) fn inline(value: Value) -> Value {
        match value {
            Value::Array(values) => match numbers(&values) {
                Some(text) => Value::Object(Map::from_iter([(NUMBERS.into(), text.into())])),
                None => values.into_iter().map(Self::inline).collect(),
            },
            Value::Object(fields) => {
                let fields = fields.into_iter();
                fields.map(|(key, one)| (key, Self::inline(one))).collect()
            }
            plain => plain,
        }
    }

    /// The value with parts by digest; parts that are new go to `new`, each after those that it refers to.
    pub(super) fn fold(&mut self, value: Value, new: &mut Vec<(String, Value)>) -> Value {
        let folded = match value {
            Value::Array(values) => match numbers(&values) {
                Some(text) => Value::Object(Map::from_iter([(NUMBERS.into(), text.into())])),
                None => values.into_iter().map(|one| self.fold(one, new)).collect(),
            },
            Value::Object(fields) => {
                let fields = fields.into_iter();
                fields
                    .map(|(key, one)| (key, self.fold(one, new)))
                    .collect()
            }
            plain => return plain,
        };
        let text = folded.to_string();
        if text.len() <= SHORT {
            return folded;
        }
        let sha256 = digest(text.as_bytes());
        if self.known.len() >= MOST_KNOWN {
            self.known.clear();
        }
        if self.known.insert(sha256.clone()) {
            new.push((sha256.clone(), folded));
        }
        Value::Object(Map::from_iter([(PART.into(), sha256.into())]))
    }
}

/// A list of numbers as a text; what has no number in JSON is infinite, since nothing else passes the checks of the core.
fn numbers(values: &[Value]) -> Option<String> {
    if values.is_empty() {
        return None;
    }
    let mut text = String::with_capacity(values.len() * 3);
    for value in values {
        if !text.is_empty() {
            text.push(' ');
        }
        match value {
            Value::Number(number) => write!(text, "{number}").ok()?,
            Value::Null => text.push_str("inf"),
            _ => return None,
        }
    }
    Some(text)
}

/// Why a value cannot be put together.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FoldError {
    /// A part that the file does not have, or has later.
    #[error("part {sha256} is not among the lines before; expected it there")]
    Missing {
        /// Its digest.
        sha256: String,
    },
    /// Too many values, or parts within parts.
    #[error("its parts come to more than {MOST_VALUES} values or {DEPTH} levels")]
    TooLarge,
    /// A text of numbers that is none.
    #[error("\"{text}\" is no number; expected numbers between spaces")]
    Number {
        /// The text that was to be a number.
        text: String,
    },
}

/// Parts by digest, for several who read at once.
#[derive(Debug, Clone, Default)]
pub(super) struct Parts {
    known: Arc<RwLock<BTreeMap<String, Arc<Value>>>>,
}

impl Parts {
    pub(super) fn insert(&self, sha256: String, value: Value) {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        known.insert(sha256, Arc::new(value));
    }

    fn get(&self, sha256: &str) -> Option<Arc<Value>> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known.get(sha256).cloned()
    }

    /// The value with its outermost reference followed, as it stands in the file otherwise.
    pub(super) fn open(&self, value: &Value) -> Result<Value, FoldError> {
        match reference(value) {
            Some(sha256) => Ok(self.named(sha256)?.as_ref().clone()),
            None => Ok(value.clone()),
        }
    }

    /// The value put together.
    pub(super) fn unfold(&self, value: &Value) -> Result<Value, FoldError> {
        self.unfold_within(value, &mut MOST_VALUES.clone())
    }

    /// The value put together out of as many values as are left, which become fewer.
    pub(super) fn unfold_within(
        &self,
        value: &Value,
        left: &mut usize,
    ) -> Result<Value, FoldError> {
        self.put(value, DEPTH, left)
    }

    /// The part of a digest.
    pub(super) fn named(&self, sha256: &str) -> Result<Arc<Value>, FoldError> {
        self.get(sha256).ok_or_else(|| FoldError::Missing {
            sha256: crate::text::clean(sha256, crate::text::NAME),
        })
    }

    fn put(&self, value: &Value, depth: usize, left: &mut usize) -> Result<Value, FoldError> {
        count(left, value.as_str().unwrap_or_default())?;
        match value {
            Value::Array(values) => values
                .iter()
                .map(|one| self.put(one, depth, left))
                .collect(),
            Value::Object(fields) => {
                if let Some(sha256) = reference(value) {
                    let depth = depth.checked_sub(1).ok_or(FoldError::TooLarge)?;
                    return self.put(self.named(sha256)?.as_ref(), depth, left);
                }
                if let Some(text) = text_of_numbers(value) {
                    return list(text, left);
                }
                let fields = fields.iter();
                fields
                    .map(|(key, one)| {
                        count(left, key)?;
                        Ok((key.clone(), self.put(one, depth, left)?))
                    })
                    .collect()
            }
            plain => Ok(plain.clone()),
        }
    }
}

/// Counts a value, and its text by its length: a part that is named again and again is copied as often.
fn count(left: &mut usize, text: &str) -> Result<(), FoldError> {
    let weight = 1 + text.len() / TEXT;
    *left = left.checked_sub(weight).ok_or(FoldError::TooLarge)?;
    Ok(())
}

/// The digest that stands in the place of a part.
pub(super) fn reference(value: &Value) -> Option<&str> {
    only(value, PART)
}

/// The text of a list of numbers.
pub(super) fn text_of_numbers(value: &Value) -> Option<&str> {
    only(value, NUMBERS)
}

fn only<'v>(value: &'v Value, key: &str) -> Option<&'v str> {
    let fields = value.as_object().filter(|fields| fields.len() == 1)?;
    fields.get(key)?.as_str()
}

fn list(text: &str, left: &mut usize) -> Result<Value, FoldError> {
    let number = |text: &str| {
        count(left, text)?;
        let whole = text.parse::<u64>().map(Number::from);
        let number = whole
            .or_else(|_| text.parse::<i64>().map(Number::from))
            .ok();
        let number = number.or_else(|| text.parse().ok().and_then(Number::from_f64));
        number.map(Value::Number).ok_or_else(|| FoldError::Number {
            text: crate::text::clean(text, crate::text::NAME),
        })
    };
    text.split(' ').map(number).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn there_and_back(value: &Value) -> (Value, usize) {
        let (mut folder, parts, mut new) = (Folder::default(), Parts::default(), Vec::new());
        let folded = folder.fold(value.clone(), &mut new);
        let count = new.len();
        for (sha256, part) in new {
            assert_eq!(digest(part.to_string().as_bytes()), sha256);
            parts.insert(sha256, part);
        }
        (parts.unfold(&folded).unwrap(), count)
    }

    #[test]
    fn what_is_taken_apart_comes_together_to_the_bit() {
        let third = 1.0 / 3.0;
        let long: Vec<f64> = (0..500).map(|row| f64::from(row) * third).collect();
        let value = json!({"a": long, "b": [0.1 + 0.2, -0.0, 5.0], "c": [1, u64::MAX], "d": [], "e": ["x", "y"]});
        let (back, parts) = there_and_back(&value);
        assert_eq!(back.to_string(), value.to_string());
        assert_eq!(parts, 1, "the rest is shorter than a reference");
    }

    #[test]
    fn a_part_is_given_out_once() {
        let (mut folder, mut new) = (Folder::default(), Vec::new());
        let column: Vec<u32> = (0..1000).collect();
        let first = folder.fold(json!({"a": column, "b": 1}), &mut new);
        let second = folder.fold(json!({"a": column, "b": 2}), &mut new);
        assert_eq!(new.len(), 1);
        assert_eq!(first["a"], second["a"]);
    }

    #[test]
    fn parts_that_double_each_other_are_not_put_together() {
        let parts = Parts::default();
        let mut last = json!({"numbers": vec!["1"; 10_000].join(" ")});
        for level in 0..15 {
            let name = level.to_string();
            parts.insert(name.clone(), json!([last, last, last, last]));
            last = json!({"part": name});
        }
        assert_eq!(parts.unfold(&last), Err(FoldError::TooLarge));
    }

    #[test]
    fn a_long_text_that_is_named_again_and_again_counts_by_its_length() {
        let parts = Parts::default();
        let long = "x".repeat(100 * TEXT);
        parts.insert("text".to_owned(), json!(long));
        parts.insert("key".to_owned(), json!({long: 1}));
        parts.insert(
            "number".to_owned(),
            json!({"numbers": "0".repeat(100 * TEXT)}),
        );
        for name in ["text", "key", "number"] {
            let many = json!(vec![json!({"part": name}); 50]);
            let refused = parts.unfold_within(&many, &mut 5_000);
            assert_eq!(refused, Err(FoldError::TooLarge), "{name}");
            assert!(parts.unfold_within(&many, &mut 6_000).is_ok(), "{name}");
        }
    }

    #[test]
    fn a_part_that_is_not_there_is_named() {
        let refused = Parts::default().unfold(&json!({"part": "abc"}));
        let words = refused.unwrap_err().to_string();
        assert_eq!(
            words,
            "part abc is not among the lines before; expected it there"
        );
    }
}
