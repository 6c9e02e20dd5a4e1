//! A Policy's specification, read: the hook, the module, its settings and the pools, or the field that makes no sense.

use plimsoll_api::Interner;
use plimsoll_api::convert::selector;
use plimsoll_api::kinds::{Policy, RememberedModule};
use plimsoll_base::ids::ObjectName;
use plimsoll_hooks::hook::PolicySettings;
use plimsoll_model::LabelSelector;
use plimsoll_policy::{Hook, Refusal, Schema};
use serde_json::Value;

/// Part that a policy has in decisions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// It decides.
    Active,
    /// It is asked beside those that decide.
    Shadow,
    /// It is not asked.
    Off,
}

/// A specification that makes sense.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Wanted {
    pub(super) hook: Hook,
    pub(super) mode: Mode,
    pub(super) module: ModuleSpec,
    pub(super) serves: LabelSelector,
    /// `true` if nothing is bought where the module of a ranking policy fails.
    pub(super) holds: bool,
}

/// A module and its settings: what runs the gates anew where it changes.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ModuleSpec {
    pub(super) configmap: ObjectName,
    pub(super) sha256: Option<String>,
    settings: Vec<(String, String)>,
}

impl Wanted {
    /// Reads a Policy whose ConfigMap is in a namespace; fails with a sentence about the first field that makes no sense.
    pub(super) fn read(policy: &Policy, namespace: &str) -> Result<Self, String> {
        let spec = &policy.spec;
        let hook = match spec.hook.as_str() {
            "Rank" => Hook::Rank,
            "Consolidate" => Hook::Consolidate,
            "Budget" => Hook::Budget,
            other => return Err(unexpected("hook", other, "Rank, Consolidate or Budget")),
        };
        let mode = match spec.mode.as_deref() {
            None | Some("Active") => Mode::Active,
            Some("Shadow") => Mode::Shadow,
            Some("Off") => Mode::Off,
            Some(other) => return Err(unexpected("mode", other, "Active, Shadow or Off")),
        };
        let holds = match (spec.failure_mode.as_deref(), hook) {
            (None | Some("Fallback"), _) => false,
            (Some("Hold"), Hook::Rank) => true,
            (Some("Hold"), _) => {
                let expected = "Fallback, or hook Rank: modules of other hooks hold by themselves";
                return Err(unexpected("failureMode", "Hold", expected));
            }
            (Some(other), _) => return Err(unexpected("failureMode", other, "Fallback or Hold")),
        };
        let name = &spec.config_map_ref.name;
        if name.is_empty() {
            return Err(unexpected(
                "configMapRef.name",
                "",
                "the name of a ConfigMap",
            ));
        }
        let settings = spec.settings.iter().map(|(key, value)| {
            let text = written(value).ok_or_else(|| {
                let field = format!("settings.{key}");
                let expected = "true or false, a number, a text, or a list of these";
                unexpected(&field, &value.to_string(), expected)
            })?;
            Ok((key.clone(), text))
        });
        let serves = selector(spec.node_pool_selector.as_ref(), &mut Interner::new());
        Ok(Self {
            hook,
            mode,
            module: ModuleSpec {
                configmap: ObjectName::new(namespace, name.as_str()),
                sha256: spec.sha256.clone(),
                settings: settings.collect::<Result<_, String>>()?,
            },
            serves: serves.map_err(|error| format!("spec.nodePoolSelector: {error}"))?,
            holds,
        })
    }
}

impl ModuleSpec {
    /// A module of that digest with these settings, as it is remembered.
    pub(super) fn remembered(&self, digest: &str) -> RememberedModule {
        RememberedModule {
            digest: digest.to_owned(),
            settings: self.settings.iter().cloned().collect(),
        }
    }

    /// The same ConfigMap for another module: one that is remembered.
    pub(super) fn of_remembered(&self, module: &RememberedModule) -> Self {
        let settings = module.settings.iter();
        Self {
            configmap: self.configmap.clone(),
            sha256: Some(module.digest.clone()),
            settings: settings
                .map(|(key, text)| (key.clone(), text.clone()))
                .collect(),
        }
    }

    /// The settings, by the schema of the module at hand.
    pub(super) fn settings(&self, schema: &Schema) -> Result<PolicySettings, Refusal> {
        let read = |(key, text): &(String, String)| Ok((key.clone(), schema.read(key, text)?));
        self.settings.iter().map(read).collect()
    }
}

fn unexpected(field: &str, value: &str, expected: &str) -> String {
    format!("spec.{field} is \"{value}\"; expected {expected}")
}

/// A setting as it would be typed; `None` for what no setting can be.
fn written(value: &Value) -> Option<String> {
    match value {
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Number(number) => Some(number.to_string()),
        Value::String(text) => Some(text.clone()),
        Value::Array(values) => {
            let values: Option<Vec<String>> = values.iter().map(written).collect();
            Some(format!("[{}]", values?.join(", ")))
        }
        Value::Null | Value::Object(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(spec: &Value) -> Result<Wanted, String> {
        let policy = json!({"metadata": {"name": "paid-first"}, "spec": spec});
        Wanted::read(&serde_json::from_value(policy).unwrap(), "plimsoll")
    }

    #[test]
    fn a_specification_is_active_and_serves_no_pool_where_it_says_nothing_else() {
        let spec = json!({"hook": "Rank", "configMapRef": {"name": "paid-first-3f9a1c"}});
        let wanted = read(&spec).unwrap();
        assert_eq!((wanted.hook, wanted.mode), (Hook::Rank, Mode::Active));
        assert_eq!(
            (wanted.serves, wanted.holds),
            (LabelSelector::Nothing, false)
        );
        assert_eq!(
            wanted.module.configmap.to_string(),
            "plimsoll/paid-first-3f9a1c"
        );
        let holding = json!({"hook": "Rank", "configMapRef": {"name": "x"}, "failureMode": "Hold"});
        assert!(read(&holding).unwrap().holds);
        let spec = json!({
            "hook": "Budget", "mode": "Off", "configMapRef": {"name": "x"}, "nodePoolSelector": {},
            "settings": {"a": true, "b": 0.5, "c": ["x", "y"], "d": "z"},
        });
        let wanted = read(&spec).unwrap();
        assert_eq!((wanted.hook, wanted.mode), (Hook::Budget, Mode::Off));
        assert_eq!(wanted.serves, LabelSelector::all(Vec::new()));
        let settings = wanted.module.settings.iter();
        let settings: Vec<_> = settings
            .map(|(key, text)| format!("{key}={text}"))
            .collect();
        assert_eq!(settings, ["a=true", "b=0.5", "c=[x, y]", "d=z"]);
    }

    #[test]
    fn what_makes_no_sense_is_told_by_field_value_and_what_was_expected() {
        for (spec, words) in [
            (
                json!({"hook": "Rang", "configMapRef": {"name": "x"}}),
                "spec.hook is \"Rang\"; expected Rank, Consolidate or Budget",
            ),
            (
                json!({"hook": "Rank", "configMapRef": {"name": "x"}, "mode": "On"}),
                "spec.mode is \"On\"; expected Active, Shadow or Off",
            ),
            (
                json!({"hook": "Budget", "configMapRef": {"name": "x"}, "failureMode": "Hold"}),
                "spec.failureMode is \"Hold\"; expected Fallback, or hook Rank: modules of other hooks hold by themselves",
            ),
            (
                json!({"hook": "Rank", "configMapRef": {"name": ""}}),
                "spec.configMapRef.name is \"\"; expected the name of a ConfigMap",
            ),
            (
                json!({"hook": "Rank", "configMapRef": {"name": "x"}, "settings": {"a": {"b": 1}}}),
                "spec.settings.a is \"{\"b\":1}\"; expected true or false, a number, a text, or a list of these",
            ),
        ] {
            assert_eq!(read(&spec).unwrap_err(), words);
        }
    }
}
