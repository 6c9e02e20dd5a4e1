//! Settings against the schema of a manifest: typed, within limits, complete, and nothing besides.
//!
//! The schema is the part of JSON Schema that `derive(Settings)` writes: an object of flags, numbers, texts and lists
//! of them, with default, minimum, maximum and enum. A module checks once more when it reads them; this check comes
//! first because it can name the closest known setting and needs no instance.

use std::collections::BTreeMap;

use plimsoll_hooks::hook::{PolicySettings, Setting};
use serde_json::Value;

use crate::gate::Refusal;
use crate::text;
use crate::zone::Zone;

/// Format of a text that is a time zone.
const ZONE: &str = "time-zone";
/// Most settings of a policy.
const SETTINGS: usize = 64;

/// Settings of a policy, as its manifest lists them.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Schema {
    /// The settings by name.
    pub properties: BTreeMap<String, Property>,
}

/// Type, limits and default of one setting.
#[derive(Debug, Clone, PartialEq)]
pub struct Property {
    kind: Kind,
    list: bool,
    /// Purpose of the setting, for people.
    pub description: String,
    /// Value of the setting where it is not set.
    pub default: Option<Setting>,
    minimum: Option<f64>,
    maximum: Option<f64>,
    allowed: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Flag,
    Number,
    Integer,
    Text,
    Zone,
}

impl Schema {
    pub(crate) fn parse(schema: &BTreeMap<String, Value>) -> Result<Self, Refusal> {
        let Some(properties) = schema.get("properties") else {
            return Ok(Self::default());
        };
        let properties = properties
            .as_object()
            .ok_or_else(|| broken("settings.properties is not an object"))?;
        if properties.len() > SETTINGS {
            return Err(broken(&format!(
                "has {} settings; at most {SETTINGS} are allowed",
                properties.len()
            )));
        }
        let mut parsed = BTreeMap::new();
        for (name, property) in properties {
            let shown = text::clean(name, text::NAME);
            let property = Property::parse(property).ok_or_else(|| {
                broken(&format!(
                    "describes setting {shown} in a way this host does not know"
                ))
            })?;
            parsed.insert(shown, property);
        }
        Ok(Self { properties: parsed })
    }

    /// The settings with defaults filled in, or the first problem by name.
    pub fn complete(&self, given: &PolicySettings) -> Result<PolicySettings, Refusal> {
        for name in given.keys() {
            if !self.properties.contains_key(name) {
                return Err(self.stranger(name));
            }
        }
        let mut complete = PolicySettings::new();
        for (name, property) in &self.properties {
            let refuse = |problem| Refusal::Setting {
                path: name.clone(),
                problem,
            };
            let setting = given.get(name).or(property.default.as_ref());
            let Some(setting) = setting else {
                return Err(refuse(format!(
                    "is missing; expected {}",
                    property.expected()
                )));
            };
            complete.insert(name.clone(), property.check(setting).map_err(refuse)?);
        }
        Ok(complete)
    }

    /// Reads a setting as it is typed on a command line: `true`, `0.05`, `text`, `[one, two]`.
    pub fn read(&self, name: &str, text: &str) -> Result<Setting, Refusal> {
        let property = self
            .properties
            .get(name)
            .ok_or_else(|| self.stranger(name))?;
        property.read(text).ok_or_else(|| Refusal::Setting {
            path: name.to_owned(),
            problem: format!(
                "is \"{}\"; expected {}",
                text::clean(text, text::NAME),
                property.expected()
            ),
        })
    }

    /// The time zones that settings name, in the order of the settings.
    pub(crate) fn zones(&self, settings: &PolicySettings) -> Vec<Zone> {
        let named = self.properties.iter().filter_map(|(name, property)| {
            match (property.kind, settings.get(name)) {
                (Kind::Zone, Some(Setting::Text(zone))) => Zone::named(zone).ok(),
                _ => None,
            }
        });
        named.collect()
    }

    fn stranger(&self, name: &str) -> Refusal {
        let close = self
            .properties
            .keys()
            .map(|known| (text::distance(name, known), known))
            .min();
        let problem = match close {
            Some((distance, known)) if distance <= name.len().max(known.len()) / 2 => {
                format!("is not a setting of this policy; did you mean {known}?")
            }
            Some(_) => {
                let known: Vec<&str> = self.properties.keys().map(String::as_str).collect();
                format!(
                    "is not a setting of this policy; it has {}",
                    known.join(", ")
                )
            }
            None => "is not a setting of this policy; it has none".to_owned(),
        };
        Refusal::Setting {
            path: text::clean(name, text::NAME),
            problem,
        }
    }
}

/// `true` if a text may be shown as it is: what a setting may be is compared, and cannot be cleaned.
fn is_clean(text: &str) -> bool {
    text::clean(text, text::NAME) == text
}

impl Property {
    fn parse(schema: &Value) -> Option<Self> {
        let list = schema.get("type")?.as_str()? == "array";
        let element = if list { schema.get("items")? } else { schema };
        let kind = match element.get("type")?.as_str()? {
            "boolean" => Kind::Flag,
            "number" => Kind::Number,
            "integer" => Kind::Integer,
            "string" if element.get("format").and_then(Value::as_str) == Some(ZONE) => Kind::Zone,
            "string" => Kind::Text,
            _ => return None,
        };
        let allowed = match element.get("enum") {
            Some(values) => values
                .as_array()?
                .iter()
                .map(|value| {
                    value
                        .as_str()
                        .filter(|text| is_clean(text))
                        .map(str::to_owned)
                })
                .collect::<Option<_>>()?,
            None => Vec::new(),
        };
        let description = schema
            .get("description")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let mut property = Self {
            kind,
            list,
            description: text::clean(description, text::MESSAGE),
            default: None,
            minimum: element.get("minimum").and_then(Value::as_f64),
            maximum: element.get("maximum").and_then(Value::as_f64),
            allowed,
        };
        if let Some(default) = schema.get("default") {
            property.default = Some(property.check(&setting(default)?).ok()?);
        }
        Some(property)
    }

    /// Setting read from text by its kind; ranges are checked later. `None` where the text is not of that kind.
    fn read(&self, text: &str) -> Option<Setting> {
        let text = text.trim();
        if !self.list {
            return Some(match self.kind {
                Kind::Flag => Setting::Flag(text.parse().ok()?),
                Kind::Number | Kind::Integer => Setting::Number(text.parse().ok()?),
                Kind::Text | Kind::Zone => Setting::Text(text.to_owned()),
            });
        }
        let inner = text
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'))
            .unwrap_or(text);
        let parts = inner
            .split(',')
            .map(str::trim)
            .filter(|part| !part.is_empty());
        Some(match self.kind {
            Kind::Number | Kind::Integer => {
                Setting::Numbers(parts.map(|part| part.parse().ok()).collect::<Option<_>>()?)
            }
            Kind::Flag | Kind::Text | Kind::Zone => {
                Setting::Texts(parts.map(str::to_owned).collect())
            }
        })
    }

    /// The setting in the form its kind wants, or what is wrong with it.
    fn check(&self, setting: &Setting) -> Result<Setting, String> {
        let wrong = || format!("is {}; expected {}", shown(setting), self.expected());
        let fits = match (setting, self.kind, self.list) {
            (Setting::Flag(_), Kind::Flag, false) => return Ok(setting.clone()),
            (Setting::Number(value), Kind::Number | Kind::Integer, false) => {
                self.number_fits(*value)
            }
            (Setting::Text(value), Kind::Text, false) => self.text_fits(value),
            (Setting::Text(value), Kind::Zone, false) => {
                return Zone::named(value).map(|_| setting.clone());
            }
            (Setting::Numbers(values), Kind::Number, true) => {
                values.iter().all(|value| self.number_fits(*value))
            }
            (Setting::Texts(values), Kind::Text, true) => {
                values.iter().all(|value| self.text_fits(value))
            }
            // An empty list has no kind of its own.
            (Setting::Numbers(values), Kind::Text, true) if values.is_empty() => {
                return Ok(Setting::Texts(Vec::new()));
            }
            (Setting::Texts(values), Kind::Number, true) if values.is_empty() => {
                return Ok(Setting::Numbers(Vec::new()));
            }
            _ => false,
        };
        if fits {
            Ok(setting.clone())
        } else {
            Err(wrong())
        }
    }

    fn number_fits(&self, value: f64) -> bool {
        value.is_finite()
            && self.minimum.is_none_or(|minimum| value >= minimum)
            && self.maximum.is_none_or(|maximum| value <= maximum)
            && (self.kind != Kind::Integer || value.fract() == 0.0)
    }

    fn text_fits(&self, value: &str) -> bool {
        self.allowed.is_empty() || self.allowed.iter().any(|allowed| allowed == value)
    }

    /// Values that the setting may have, in words.
    pub fn expected(&self) -> String {
        let one = match self.kind {
            Kind::Flag => "true or false".to_owned(),
            Kind::Number => "a number".to_owned(),
            Kind::Integer => "a whole number".to_owned(),
            Kind::Zone => "a time zone such as Europe/Berlin".to_owned(),
            Kind::Text if self.allowed.is_empty() => "a text".to_owned(),
            Kind::Text => format!("one of {}", self.allowed.join(", ")),
        };
        let range = match (self.minimum, self.maximum) {
            (Some(minimum), Some(maximum)) => format!(" in {minimum} to {maximum}"),
            (Some(minimum), None) => format!(", at least {minimum}"),
            (None, Some(maximum)) => format!(", at most {maximum}"),
            (None, None) => String::new(),
        };
        if self.list {
            format!("a list, each {one}{range}")
        } else {
            format!("{one}{range}")
        }
    }
}

fn setting(value: &Value) -> Option<Setting> {
    Some(match value {
        Value::Bool(value) => Setting::Flag(*value),
        Value::Number(value) => Setting::Number(value.as_f64()?),
        Value::String(value) => Setting::Text(value.clone()),
        Value::Array(values) if values.iter().all(Value::is_string) => Setting::Texts(
            values
                .iter()
                .filter_map(Value::as_str)
                .map(str::to_owned)
                .collect(),
        ),
        Value::Array(values) => {
            Setting::Numbers(values.iter().map(Value::as_f64).collect::<Option<_>>()?)
        }
        Value::Null | Value::Object(_) => return None,
    })
}

fn shown(setting: &Setting) -> String {
    match setting {
        Setting::Flag(value) => value.to_string(),
        Setting::Number(value) => value.to_string(),
        Setting::Text(value) => format!("\"{}\"", text::clean(value, text::NAME)),
        Setting::Numbers(values) => text::clean(&format!("{values:?}"), text::NAME),
        Setting::Texts(values) => text::clean(&format!("{values:?}"), text::NAME),
    }
}

fn broken(problem: &str) -> Refusal {
    Refusal::Manifest {
        problem: problem.to_owned(),
    }
}
