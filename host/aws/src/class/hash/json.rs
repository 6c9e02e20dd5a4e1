//! JSON in the very bytes that Go's `encoding/json` writes: they are hashed, so that what means the same is not enough.
//!
//! | value | bytes |
//! |---|---|
//! | `<`, `>`, `&`, U+2028, U+2029 in texts and keys | escaped, such as `\u003c` |
//! | fraction or large number | the fewest digits that read back as it, with an exponent below 1e-6 and from 1e21 on, such as `1e+21` |
//! | integer past 64 bits with sign | as such a number, which is what an API server makes of it |
//!
//! Keys are sorted and there are no spaces.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::Formatter;
use serde_json::{Serializer, Value};

/// An object, `null` where it has no fields.
pub(super) fn written(fields: &BTreeMap<String, Value>) -> Vec<u8> {
    if fields.is_empty() {
        return b"null".to_vec();
    }
    let mut bytes = Vec::new();
    let mut serializer = Serializer::with_formatter(&mut bytes, AsGo);
    let done = fields.serialize(&mut serializer);
    done.expect("JSON is written as it was read");
    bytes
}

struct AsGo;

impl Formatter for AsGo {
    fn write_f64<W: ?Sized + Write>(&mut self, to: &mut W, value: f64) -> io::Result<()> {
        let size = value.abs();
        if size != 0.0 && !(1e-6..1e21).contains(&size) {
            let digits = format!("{value:e}");
            let signed = if size < 1.0 { "e" } else { "e+" };
            return to.write_all(digits.replace('e', signed).as_bytes());
        }
        write!(to, "{value}")
    }

    fn write_u64<W: ?Sized + Write>(&mut self, to: &mut W, value: u64) -> io::Result<()> {
        if i64::try_from(value).is_ok() {
            return write!(to, "{value}");
        }
        self.write_f64(to, value as f64)
    }

    fn write_string_fragment<W: ?Sized + Write>(
        &mut self,
        to: &mut W,
        mut fragment: &str,
    ) -> io::Result<()> {
        const ESCAPED: [char; 5] = ['<', '>', '&', '\u{2028}', '\u{2029}'];
        while let Some(at) = fragment.find(ESCAPED) {
            let (before, from) = fragment.split_at(at);
            to.write_all(before.as_bytes())?;
            let mut letters = from.chars();
            if let Some(letter) = letters.next() {
                write!(to, "\\u{:04x}", u32::from(letter))?;
            }
            fragment = letters.as_str();
        }
        to.write_all(fragment.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn text(value: Value) -> String {
        let fields = serde_json::from_value(value).expect("an object");
        String::from_utf8(written(&fields)).expect("text")
    }

    #[test]
    fn an_object_without_fields_is_null() {
        assert_eq!(text(json!({})), "null");
        assert_eq!(text(json!({"maxPods": null})), r#"{"maxPods":null}"#);
    }

    #[test]
    fn letters_of_markup_and_separators_of_lines_are_escaped_wherever_they_stand() {
        assert_eq!(
            text(json!({"cpu": "vcpus > 8 && ips_per_eni < 30 ? '1' : \"2\""})),
            r#"{"cpu":"vcpus \u003e 8 \u0026\u0026 ips_per_eni \u003c 30 ? '1' : \"2\""}"#
        );
        assert_eq!(
            text(json!({"<b>": {"&": ["\u{2028}é\u{2029}", "\u{8}\u{c}\u{1f}\u{7f}"]}})),
            "{\"\\u003cb\\u003e\":{\"\\u0026\":[\"\\u2028é\\u2029\",\"\\b\\f\\u001f\u{7f}\"]}}"
        );
    }

    #[test]
    fn numbers_have_gos_digits() {
        for (number, digits) in [
            ("0", "0"),
            ("-0.0", "-0"),
            ("1.0", "1"),
            ("0.9", "0.9"),
            ("0.000001", "0.000001"),
            ("9.5e-7", "9.5e-7"),
            ("-1e-10", "-1e-10"),
            ("1e20", "100000000000000000000"),
            ("1e21", "1e+21"),
            ("-1.5e300", "-1.5e+300"),
            ("9223372036854775807", "9223372036854775807"),
            ("18446744073709551615", "18446744073709552000"),
            ("-9223372036854775808", "-9223372036854775808"),
        ] {
            let value: Value = serde_json::from_str(number).expect("a number");
            assert_eq!(text(json!({"a": value})), format!(r#"{{"a":{digits}}}"#));
        }
    }
}
