//! Conditions of statements: an operator, a key of the request, and values of which one must fit.

use super::pattern;
use super::right::AskedRight;

/// Keys that a request may have, whole or up to the key of a tag.
const KEYS: [&str; 4] = [
    "aws:RequestedRegion",
    "aws:TagKeys",
    "ec2:CreateAction",
    "iam:PassedToService",
];
const TAGS: [&str; 2] = ["aws:RequestTag/", "aws:ResourceTag/"];

/// How values are held against a request's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comparison {
    /// They are the same.
    Equals,
    /// It fits the pattern.
    Like,
}

/// A condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Condition {
    comparison: Comparison,
    /// Each value that the request has must fit; it may have none.
    is_for_all: bool,
    /// The request need not have the key.
    is_if_exists: bool,
    key: String,
    values: Vec<String>,
}

impl Condition {
    /// Reads one. Fails with what is wrong where the operator or the key is not known.
    pub(super) fn read(operator: &str, key: &str, values: Vec<String>) -> Result<Self, String> {
        let set = operator.strip_prefix("ForAllValues:");
        let named = set.unwrap_or(operator);
        let optional = named.strip_suffix("IfExists");
        let comparison = match optional.unwrap_or(named) {
            "StringEquals" => Comparison::Equals,
            "StringLike" => Comparison::Like,
            _ => {
                return Err(format!(
                    "operator \"{operator}\" is not known; expected StringEquals or StringLike, with ForAllValues: before it or IfExists behind it"
                ));
            }
        };
        let is_known = KEYS.contains(&key)
            || TAGS
                .iter()
                .any(|tag| key.len() > tag.len() && key.starts_with(tag));
        if !is_known {
            return Err(format!(
                "key \"{key}\" is not known; expected one of {}, {}KEY, {}KEY",
                KEYS.join(", "),
                TAGS[0],
                TAGS[1]
            ));
        }
        Ok(Self {
            comparison,
            is_for_all: set.is_some(),
            is_if_exists: optional.is_some(),
            key: key.to_owned(),
            values,
        })
    }

    /// `true` if a request meets it.
    pub(super) fn holds(&self, asked: &AskedRight) -> bool {
        let fits = |own: &String| {
            let mut values = self.values.iter();
            values.any(|value| match self.comparison {
                Comparison::Equals => value == own,
                Comparison::Like => pattern::fits(value, own),
            })
        };
        match asked.context.get(&self.key) {
            None => self.is_for_all || self.is_if_exists,
            Some(own) if self.is_for_all => own.iter().all(fits),
            Some(own) => own.iter().any(fits),
        }
    }
}
