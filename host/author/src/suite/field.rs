//! Values of a suite by the path they stand at, so that whatever is wrong is told with field, value and expectation.

use std::sync::LazyLock;

use plimsoll_hooks::hook::{PolicySettings, Setting};
use serde_json::Value;
use thiserror::Error;

/// Most letters of a value that a message repeats.
const SHOWN: usize = 60;

/// The fault of a field.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{} {problem}", if field.is_empty() { "the whole" } else { field })]
pub struct Problem {
    /// Where it stands, for instance `input.offerings.spot.price`; empty for the whole of a file or case.
    pub field: String,
    /// The value found and the one expected, in words.
    pub problem: String,
}

/// A value, and where it stands.
#[derive(Debug, Clone)]
pub(super) struct Field<'v> {
    path: String,
    value: &'v Value,
}

/// An object whose fields are all known.
#[derive(Debug)]
pub(super) struct Fields<'v> {
    path: String,
    values: &'v serde_json::Map<String, Value>,
}

impl<'v> Field<'v> {
    pub(super) fn new(path: &str, value: &'v Value) -> Self {
        let path = path.to_owned();
        Self { path, value }
    }

    /// The same value under another path.
    pub(super) fn at(&self, path: &str) -> Self {
        Self::new(path, self.value)
    }

    /// Where it stands.
    pub(super) fn path(&self) -> &str {
        &self.path
    }

    pub(super) fn problem(&self, problem: String) -> Problem {
        let field = self.path.clone();
        Problem { field, problem }
    }

    /// The problem of a value that is something else.
    pub(super) fn expected(&self, expected: &str) -> Problem {
        self.problem(format!("is {}; expected {expected}", shown(self.value)))
    }

    /// `true` if it is nothing but a number.
    pub(super) fn is_number(&self) -> bool {
        self.value.is_number()
    }

    /// The text, where it is one; `None` for every other value.
    pub(super) fn as_text(&self) -> Option<&'v str> {
        self.value.as_str()
    }

    /// The object, which has fields of that list and no others.
    pub(super) fn object(&self, known: &[&str]) -> Result<Fields<'v>, Problem> {
        let Some(values) = self.value.as_object() else {
            return Err(self.expected(&format!("fields of {}", known.join(", "))));
        };
        if let Some(name) = values.keys().find(|name| !known.contains(&name.as_str())) {
            let path = joined(&self.path, name);
            return Err(Problem {
                field: path,
                problem: stranger("field", name, known.iter().copied()),
            });
        }
        let path = self.path.clone();
        Ok(Fields { path, values })
    }

    /// An object whose fields are names that somebody chose, in the order of names.
    pub(super) fn named(&self) -> Result<Vec<(&'v str, Field<'v>)>, Problem> {
        let Some(values) = self.value.as_object() else {
            return Err(self.expected("names, each with what it stands for"));
        };
        let field = |(name, value): (&'v String, &'v Value)| {
            let path = joined(&self.path, name);
            (name.as_str(), Field { path, value })
        };
        let mut fields: Vec<_> = values.iter().map(field).collect();
        fields.sort_by_key(|(name, _)| *name);
        Ok(fields)
    }

    pub(super) fn list(&self) -> Result<Vec<Field<'v>>, Problem> {
        let Some(values) = self.value.as_array() else {
            return Err(self.expected("a list"));
        };
        let field = |(place, value): (usize, &'v Value)| Field {
            path: format!("{}[{place}]", self.path),
            value,
        };
        Ok(values.iter().enumerate().map(field).collect())
    }

    pub(super) fn text(&self) -> Result<&'v str, Problem> {
        self.as_text().ok_or_else(|| self.expected("a text"))
    }

    /// A finite number.
    pub(super) fn number(&self) -> Result<f64, Problem> {
        let number = self.value.as_f64().filter(|number| number.is_finite());
        number.ok_or_else(|| self.expected("a number"))
    }

    /// A finite number, 0 or more.
    pub(super) fn amount(&self) -> Result<f64, Problem> {
        let number = self.value.as_f64();
        let number = number.filter(|number| number.is_finite() && *number >= 0.0);
        number.ok_or_else(|| self.expected("a number, 0 or more"))
    }

    /// A number, 0 or more, with the precision of a column of shares and rates.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the interface has these columns in single precision"
    )]
    pub(super) fn rate(&self) -> Result<f32, Problem> {
        Ok(self.amount()? as f32)
    }

    pub(super) fn count(&self) -> Result<u32, Problem> {
        let count = self
            .value
            .as_u64()
            .and_then(|count| u32::try_from(count).ok());
        count.ok_or_else(|| self.expected("a whole number in 0 to 4294967295"))
    }

    pub(super) fn seed(&self) -> Result<u64, Problem> {
        let seed = self.value.as_u64();
        seed.ok_or_else(|| self.expected("a whole number, 0 or more"))
    }

    /// A text that is one of those, with what it stands for.
    pub(super) fn choice<T: Copy>(&self, choices: &[(&str, T)]) -> Result<T, Problem> {
        let text = self.as_text();
        let mut known = choices.iter();
        let chosen = known.find(|(name, _)| Some(*name) == text);
        chosen.map(|(_, choice)| *choice).ok_or_else(|| {
            let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
            self.expected(&format!("one of {}", names.join(", ")))
        })
    }

    /// Settings by name; what each may be is the policy's to say.
    pub(super) fn settings(&self) -> Result<PolicySettings, Problem> {
        let setting = |(name, field): (&str, Field<'_>)| {
            let setting: Option<Setting> = serde_json::from_value(field.value.clone()).ok();
            let expected = "true or false, a number, a text, or a list of numbers or texts";
            let setting = setting.ok_or_else(|| field.expected(expected))?;
            Ok((name.to_owned(), setting))
        };
        self.named()?.into_iter().map(setting).collect()
    }
}

/// No field at all.
static NONE: LazyLock<serde_json::Map<String, Value>> = LazyLock::new(serde_json::Map::new);

impl<'v> Fields<'v> {
    /// No field at all: everything is as where it is absent.
    pub(super) fn none() -> Self {
        let path = String::new();
        Self {
            path,
            values: &NONE,
        }
    }

    pub(super) fn get(&self, name: &str) -> Option<Field<'v>> {
        let value = self.values.get(name)?;
        let path = joined(&self.path, name);
        Some(Field { path, value })
    }

    /// The field, which must be there.
    pub(super) fn need(&self, name: &str, expected: &str) -> Result<Field<'v>, Problem> {
        self.get(name).ok_or_else(|| Problem {
            field: joined(&self.path, name),
            problem: format!("is missing; expected {expected}"),
        })
    }

    /// The value read of the field, or `absent` where there is none.
    pub(super) fn or<T>(
        &self,
        name: &str,
        absent: T,
        read: impl FnOnce(&Field<'v>) -> Result<T, Problem>,
    ) -> Result<T, Problem> {
        self.get(name).map_or(Ok(absent), |field| read(&field))
    }
}

/// `is no offering; did you mean spot?`, or which ones there are.
pub(super) fn stranger<'k>(
    what: &str,
    name: &str,
    known: impl IntoIterator<Item = &'k str>,
) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    let distances = known
        .iter()
        .map(|known| (strsim::damerau_levenshtein(name, known), *known));
    match distances.min() {
        Some((distance, close)) if distance <= name.chars().count() / 3 => {
            format!("is no {what}; did you mean {close}?")
        }
        Some(_) => {
            let listed = plimsoll_base::words::shortened(&known);
            format!("is no {what}; expected one of {listed}")
        }
        None => format!("is no {what}; there is none"),
    }
}

fn joined(path: &str, name: &str) -> String {
    if path.is_empty() {
        name.to_owned()
    } else {
        format!("{path}.{name}")
    }
}

/// A value as a message repeats it.
fn shown(value: &Value) -> String {
    match value {
        Value::Object(_) => "an object".to_owned(),
        Value::Null => "nothing".to_owned(),
        _ => {
            let text = value.to_string();
            let short: String = text.chars().take(SHOWN).collect();
            if short.len() < text.len() {
                format!("{short}...")
            } else {
                short
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_wrong_names_field_value_and_expectation() {
        let value = json!({"price": "dear", "zone": 3, "list": [1, -2]});
        let field = Field::new("input.offerings.spot", &value);
        let fields = field.object(&["price", "zone", "list"]).unwrap();
        let price = fields.need("price", "").unwrap().amount().unwrap_err();
        assert_eq!(
            price.to_string(),
            "input.offerings.spot.price is \"dear\"; expected a number, 0 or more"
        );
        let list = fields.need("list", "").unwrap().list().unwrap();
        assert_eq!(
            list[1].count().unwrap_err().to_string(),
            "input.offerings.spot.list[1] is -2; expected a whole number in 0 to 4294967295"
        );
        let missing = fields.need("capacity", "spot or on-demand").unwrap_err();
        assert_eq!(
            missing.to_string(),
            "input.offerings.spot.capacity is missing; expected spot or on-demand"
        );
    }

    #[test]
    fn an_unknown_field_is_told_with_the_closest_known_one() {
        let value = json!({"prise": 1});
        let refused = Field::new("", &value).object(&["price", "zone"]);
        assert_eq!(
            refused.unwrap_err().to_string(),
            "prise is no field; did you mean price?"
        );
        assert_eq!(
            stranger("offering", "cheapest", ["a", "b"]),
            "is no offering; expected one of a, b"
        );
    }
}
