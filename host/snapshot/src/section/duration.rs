//! A duration as it is written.

use plimsoll_base::time::Span;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A duration such as `10s`, `15m` or `1h30m`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema)]
#[schemars(with = "String", extend("pattern" = r"^([0-9]+(\.[0-9]+)?(ns|us|ms|s|m|h))+$"))]
pub struct Duration(pub Span);

impl<'de> Deserialize<'de> for Duration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let refused = || {
            let found = de::Unexpected::Str(&text);
            de::Error::invalid_value(found, &plimsoll_api::duration::EXPECTED)
        };
        plimsoll_api::duration::parse(&text)
            .map(Self)
            .ok_or_else(refused)
    }
}

impl Serialize for Duration {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&plimsoll_api::duration::write(self.0))
    }
}
