//! A share as it is written.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A share in whole percent, from 0 to 100.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema)]
#[schemars(with = "u32", extend("maximum" = 100))]
pub struct Percent(pub u32);

impl<'de> Deserialize<'de> for Percent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_u32(Written)
    }
}

impl Serialize for Percent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u32(self.0)
    }
}

struct Written;

impl de::Visitor<'_> for Written {
    type Value = Percent;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a whole number of percent from 0 to 100")
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Percent, E> {
        let percent = u32::try_from(number).ok().filter(|percent| *percent <= 100);
        percent
            .map(Percent)
            .ok_or_else(|| E::invalid_value(de::Unexpected::Unsigned(number), &self))
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Percent, E> {
        Err(E::invalid_value(de::Unexpected::Signed(number), &self))
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<Percent, E> {
        Err(E::invalid_value(de::Unexpected::Float(number), &self))
    }
}
