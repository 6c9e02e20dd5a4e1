//! From a JSON value to a typed object, with the path of what is wrong and of what is not known.
//!
//! One plain deserializer instead of a stack of adapters: the objects of Kubernetes are large, and each adapter would
//! compile them anew. Errors carry the path and speak of the field; fields that the type does not have are reported.

use std::cell::RefCell;
use std::fmt;

use serde::de::{
    self, DeserializeOwned, DeserializeSeed, Deserializer, Expected, IntoDeserializer, MapAccess,
    SeqAccess, Unexpected, Visitor,
};
use serde_json::{Map, Value};

use crate::error::{FieldError, FieldProblem};

/// Reads a value as a type. Paths of fields that the type does not have, such as `spec.containers[0].prots`, are
/// passed to `unknown`.
pub fn from_value<T: DeserializeOwned>(
    value: &Value,
    unknown: &mut dyn FnMut(&str),
) -> Result<T, FieldError> {
    let state = RefCell::new(State {
        path: String::new(),
        unknown,
    });
    let reader = Reader {
        value,
        state: &state,
    };
    let read = T::deserialize(reader);
    read.map_err(|Words(words)| FieldError {
        path: state.into_inner().path,
        problem: FieldProblem::Type(words),
    })
}

/// Where the reader is. After an error the path is left where it happened.
struct State<'a> {
    path: String,
    unknown: &'a mut dyn FnMut(&str),
}

/// Reads one value.
#[derive(Clone, Copy)]
struct Reader<'a, 's> {
    value: &'a Value,
    state: &'a RefCell<State<'s>>,
}

impl Reader<'_, '_> {
    /// Appends to the path; gives the length to go back to.
    fn enter(&self, part: fmt::Arguments<'_>) -> usize {
        use fmt::Write as _;
        let path = &mut self.state.borrow_mut().path;
        let length = path.len();
        // Writing to a string cannot fail.
        let _ = path.write_fmt(part);
        length
    }

    fn enter_key(&self, key: &str) -> usize {
        let is_first = self.state.borrow().path.is_empty();
        self.enter(format_args!("{}{key}", if is_first { "" } else { "." }))
    }

    fn leave(&self, length: usize) {
        self.state.borrow_mut().path.truncate(length);
    }

    fn unexpected(&self) -> Unexpected<'_> {
        match self.value {
            Value::Null => Unexpected::Unit,
            Value::Bool(value) => Unexpected::Bool(*value),
            Value::Number(number) => match (number.as_u64(), number.as_i64(), number.as_f64()) {
                (Some(number), _, _) => Unexpected::Unsigned(number),
                (None, Some(number), _) => Unexpected::Signed(number),
                (None, None, number) => Unexpected::Float(number.unwrap_or(f64::NAN)),
            },
            Value::String(text) => Unexpected::Str(text),
            Value::Array(_) => Unexpected::Seq,
            Value::Object(_) => Unexpected::Map,
        }
    }
}

/// The fault in words, continuing a sentence that the path begins.
#[derive(Debug)]
struct Words(String);

impl fmt::Display for Words {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Words {}

impl de::Error for Words {
    fn custom<T: fmt::Display>(words: T) -> Self {
        Self(words.to_string())
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self(format!(
            "is {}; expected {}",
            shown(&found),
            named(expected)
        ))
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self(format!(
            "is {}; expected {}",
            shown(&found),
            ranged(expected)
        ))
    }

    fn invalid_length(length: usize, expected: &dyn Expected) -> Self {
        Self(format!("has {length} elements; expected {expected}"))
    }

    fn unknown_variant(variant: &str, expected: &'static [&'static str]) -> Self {
        Self(format!(
            "is \"{variant}\"; expected {}",
            expected.join(" or ")
        ))
    }

    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Self {
        let known = expected.join(", ");
        Self(format!("has a field {field}; expected one of {known}"))
    }

    fn missing_field(field: &'static str) -> Self {
        Self(format!("has no {field}; expected one"))
    }
}

/// A type as people name it: that of a field, not that of this program.
fn named(expected: &dyn Expected) -> String {
    let words = expected.to_string();
    match words.as_str() {
        "i32" | "i64" | "u32" | "u64" => "a whole number".to_owned(),
        "f64" => "a number".to_owned(),
        "a map" => "an object".to_owned(),
        "a sequence" => "a list".to_owned(),
        "a boolean" => "true or false".to_owned(),
        other if other.starts_with("struct ") => "an object".to_owned(),
        _ => words,
    }
}

/// A type as people name it, with the range of its whole numbers: for a value that is of the right kind and out of range.
fn ranged(expected: &dyn Expected) -> String {
    let whole = |least: &dyn fmt::Display, most: &dyn fmt::Display| {
        format!("a whole number from {least} to {most}")
    };
    match expected.to_string().as_str() {
        "i32" => whole(&i32::MIN, &i32::MAX),
        "i64" => whole(&i64::MIN, &i64::MAX),
        "u32" => whole(&u32::MIN, &u32::MAX),
        "u64" => whole(&u64::MIN, &u64::MAX),
        _ => named(expected),
    }
}

/// A value as people name it: texts quoted, numbers bare, the rest by kind.
fn shown(found: &Unexpected<'_>) -> String {
    match found {
        Unexpected::Bool(value) => value.to_string(),
        Unexpected::Unsigned(number) => number.to_string(),
        Unexpected::Signed(number) => number.to_string(),
        Unexpected::Float(number) => number.to_string(),
        Unexpected::Str(text) => format!("\"{text}\""),
        Unexpected::Unit => "null".to_owned(),
        Unexpected::Seq => "a list".to_owned(),
        Unexpected::Map => "an object".to_owned(),
        other => other.to_string(),
    }
}

impl<'de> Deserializer<'de> for Reader<'_, '_> {
    type Error = Words;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Words> {
        match self.value {
            Value::Null => visitor.visit_unit(),
            Value::Bool(value) => visitor.visit_bool(*value),
            Value::Number(number) => match (number.as_u64(), number.as_i64(), number.as_f64()) {
                (Some(number), _, _) => visitor.visit_u64(number),
                (None, Some(number), _) => visitor.visit_i64(number),
                (None, None, number) => visitor.visit_f64(number.unwrap_or(f64::NAN)),
            },
            Value::String(text) => visitor.visit_str(text),
            Value::Array(values) => visitor.visit_seq(Elements {
                reader: self,
                values,
                at: 0,
            }),
            Value::Object(fields) => visitor.visit_map(Fields {
                reader: self,
                rest: fields.iter(),
                next: None,
            }),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Words> {
        match self.value {
            Value::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Words> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Words> {
        match self.value {
            Value::String(text) => visitor.visit_enum(text.as_str().into_deserializer()),
            _ => Err(de::Error::invalid_type(self.unexpected(), &visitor)),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Words> {
        let mut state = self.state.borrow_mut();
        let State { path, unknown } = &mut *state;
        unknown(path);
        visitor.visit_unit()
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct seq tuple tuple_struct map struct identifier
    }
}

/// The elements of a list.
struct Elements<'a, 's> {
    reader: Reader<'a, 's>,
    values: &'a [Value],
    at: usize,
}

impl<'de> SeqAccess<'de> for Elements<'_, '_> {
    type Error = Words;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Words> {
        let Some(value) = self.values.get(self.at) else {
            return Ok(None);
        };
        let length = self.reader.enter(format_args!("[{}]", self.at));
        self.at += 1;
        let element = seed.deserialize(Reader {
            value,
            ..self.reader
        })?;
        self.reader.leave(length);
        Ok(Some(element))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.values.len() - self.at)
    }
}

/// The fields of an object.
struct Fields<'a, 's> {
    reader: Reader<'a, 's>,
    rest: serde_json::map::Iter<'a>,
    next: Option<(&'a str, &'a Value)>,
}

impl<'de> MapAccess<'de> for Fields<'_, '_> {
    type Error = Words;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Words> {
        let Some((key, value)) = self.rest.next() else {
            return Ok(None);
        };
        self.next = Some((key, value));
        seed.deserialize(key.as_str().into_deserializer()).map(Some)
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, Words> {
        let (key, value) = self
            .next
            .take()
            .ok_or_else(|| Words("has a value without a key".to_owned()))?;
        let length = self.reader.enter_key(key);
        let field = seed.deserialize(Reader {
            value,
            ..self.reader
        })?;
        self.reader.leave(length);
        Ok(field)
    }
}

/// A field's text, when the value is an object and the field a text.
pub(crate) fn text<'a>(object: &'a Map<String, Value>, field: &str) -> Option<&'a str> {
    object.get(field).and_then(Value::as_str)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::kinds::NodePool;

    #[test]
    fn errors_name_the_field_and_what_stood_there() {
        for (spec, sentence) in [
            (
                json!({"template": 3}),
                "spec.template is 3; expected an object",
            ),
            (
                json!({"weight": "x", "template": {}}),
                "spec.template has no spec; expected one",
            ),
            (
                json!({"weight": {}}),
                "spec.weight is an object; expected a whole number",
            ),
            (
                json!({"template": {"spec": {"taints": [{"key": []}]}}}),
                "spec.template.spec.taints[0].key is a list; expected a string",
            ),
        ] {
            let value = json!({"metadata": {"name": "a"}, "spec": spec});
            let read: Result<NodePool, FieldError> = from_value(&value, &mut |_| {});
            assert_eq!(read.unwrap_err().to_string(), sentence);
        }
    }

    #[test]
    fn numbers_out_of_range_are_answered_with_the_range() {
        fn told<T: DeserializeOwned + fmt::Debug>(value: &Value) -> String {
            let read: Result<Vec<T>, FieldError> = from_value(&json!([value]), &mut |_| {});
            read.unwrap_err().to_string()
        }
        let large = json!(99_999_999_999_i64);
        assert_eq!(
            told::<u32>(&large),
            "[0] is 99999999999; expected a whole number from 0 to 4294967295"
        );
        assert_eq!(
            told::<i32>(&large),
            "[0] is 99999999999; expected a whole number from -2147483648 to 2147483647"
        );
        assert_eq!(
            told::<u64>(&json!(-1)),
            "[0] is -1; expected a whole number from 0 to 18446744073709551615"
        );
        assert_eq!(
            told::<i64>(&json!(u64::MAX)),
            "[0] is 18446744073709551615; expected a whole number from -9223372036854775808 to 9223372036854775807"
        );
        assert_eq!(
            told::<u32>(&json!(1.5)),
            "[0] is 1.5; expected a whole number"
        );
    }

    #[test]
    fn fields_that_a_kind_does_not_have_are_told_with_their_path() {
        let value = json!({
            "metadata": {"name": "a", "nam": "b"},
            "spec": {"template": {"spec": {
                "nodeClassRef": {"group": "g", "kind": "k", "name": "n"},
                "requirements": [{"key": "a", "operator": "Exists", "vals": []}]
            }}}
        });
        let mut told = Vec::new();
        let read: Result<NodePool, FieldError> =
            from_value(&value, &mut |path| told.push(path.to_owned()));
        read.unwrap();
        assert_eq!(
            told,
            ["metadata.nam", "spec.template.spec.requirements[0].vals"]
        );
    }
}
