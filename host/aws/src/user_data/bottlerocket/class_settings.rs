//! Settings of Bottlerocket in a class's user data, read and checked: known ones of `settings.kubernetes` in the form that is read.
//!
//! All that is wrong is named at once.

use plimsoll_api::nearest;
use toml::{Table, Value};

use super::super::UserDataError;
use super::{cut, shown};

/// The form of a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Text,
    Whole,
    Flag,
    Texts,
    /// Texts by name.
    TextByName,
    /// Lists of texts by name.
    TextsByName,
    /// Tables of its own.
    Tables,
    /// Left to Bottlerocket.
    Any,
}

use Form::{Any, Flag, Tables, Text, TextByName, Texts, TextsByName, Whole};

/// Settings of `settings.kubernetes` that are passed on: Karpenter's.
const KNOWN: [(&str, Form); 49] = [
    ("allowed-unsafe-sysctls", Texts),
    ("api-server", Text),
    ("cloud-provider", Text),
    ("cluster-certificate", Text),
    ("cluster-dns-ip", Text),
    ("cluster-domain", Text),
    ("cluster-name", Text),
    ("container-log-max-files", Whole),
    ("container-log-max-size", Text),
    ("container-log-max-workers", Whole),
    ("container-log-monitor-interval", Text),
    ("cpu-cfs-quota-enforced", Flag),
    ("cpu-manager-policy", Text),
    ("cpu-manager-policy-options", Texts),
    ("cpu-manager-reconcile-period", Text),
    ("credential-providers", Tables),
    ("device-ownership-from-security-context", Flag),
    ("event-burst", Whole),
    ("event-qps", Whole),
    ("eviction-hard", TextByName),
    ("eviction-max-pod-grace-period", Whole),
    ("eviction-soft", TextByName),
    ("eviction-soft-grace-period", TextByName),
    ("hostname-override-source", Text),
    ("ids-per-pod", Whole),
    ("image-gc-high-threshold-percent", Text),
    ("image-gc-low-threshold-percent", Text),
    ("kube-api-burst", Whole),
    ("kube-api-qps", Whole),
    ("kube-reserved", TextByName),
    ("log-level", Whole),
    ("max-pods", Whole),
    ("memory-manager-policy", Text),
    ("memory-manager-reserved-memory", Tables),
    ("node-labels", TextByName),
    ("node-taints", TextsByName),
    ("pod-pids-limit", Whole),
    ("registry-burst", Whole),
    ("registry-qps", Whole),
    ("seccomp-default", Flag),
    ("server-tls-bootstrap", Flag),
    ("shutdown-grace-period", Text),
    ("shutdown-grace-period-for-critical-pods", Text),
    ("single-process-oom-kill", Flag),
    ("static-pods", Tables),
    ("system-reserved", TextByName),
    ("topology-manager-policy", Text),
    ("topology-manager-policy-options", Any),
    ("topology-manager-scope", Text),
];

impl Form {
    const fn expected(self) -> &'static str {
        match self {
            Text => "text in quotes",
            Whole => "a whole number",
            Flag => "true or false",
            Texts => "a list of texts",
            TextByName => "a table of texts",
            TextsByName => "a table of lists of texts",
            Tables => "a table of tables",
            Any => "a value",
        }
    }

    fn fits(self, value: &Value) -> bool {
        let texts = |value: &Value| {
            let all = value.as_array();
            all.is_some_and(|all| all.iter().all(Value::is_str))
        };
        let each = |fits: &dyn Fn(&Value) -> bool| {
            let table = value.as_table();
            table.is_some_and(|table| table.iter().all(|(_, entry)| fits(entry)))
        };
        match self {
            Text => value.is_str(),
            Whole => value.is_integer(),
            Flag => value.is_bool(),
            Texts => texts(value),
            TextByName => each(&Value::is_str),
            TextsByName => each(&texts),
            Tables => each(&Value::is_table),
            Any => true,
        }
    }
}

/// The table `settings` of a class's user data; an empty one where it has none.
pub(super) fn class_settings(custom: &str) -> Result<Table, UserDataError> {
    let mut document: Table = match custom.parse() {
        Ok(document) => document,
        Err(error) => return Err(UserDataError::MalformedToml(malformed(custom, &error))),
    };
    let mut faults = Vec::new();
    let settings = document.remove("settings");
    for key in document.keys() {
        faults.push(format!(
            "{key} is outside of the table settings; expected it inside"
        ));
    }
    let settings = match settings {
        Some(Value::Table(settings)) => settings,
        None => Table::new(),
        Some(other) => {
            faults.push(format!("settings is {}; expected a table", shown(&other)));
            Table::new()
        }
    };
    for key in ["kubernetes", "bootstrap-commands"] {
        let own = settings.get(key).filter(|own| !own.is_table());
        faults.extend(own.map(|own| format!("settings.{key} is {}; expected a table", shown(own))));
    }
    let kubernetes = settings.get("kubernetes").and_then(Value::as_table);
    let entries = kubernetes.into_iter().flatten();
    faults.extend(entries.filter_map(|(key, value)| fault(key, value)));
    if faults.is_empty() {
        Ok(settings)
    } else {
        Err(UserDataError::Settings(faults))
    }
}

/// The fault of a setting; `None` for one that is passed on.
fn fault(key: &str, value: &Value) -> Option<String> {
    let path = format!("settings.kubernetes.{key}");
    let Some((_, form)) = KNOWN.iter().find(|(known, _)| *known == key) else {
        let names = KNOWN.iter().map(|(known, _)| *known);
        return Some(match nearest(names, key) {
            Some(meant) => {
                format!("{path} is not a setting that is passed on; did you mean {meant}?")
            }
            None => {
                format!("{path} is not a setting that is passed on; expected none of this name")
            }
        });
    };
    let wrong = (!form.fits(value)).then(|| shown(value));
    wrong.map(|value| format!("{path} is {value}; expected {}", form.expected()))
}

/// The line at which text is no TOML, with the reason.
fn malformed(custom: &str, error: &toml::de::Error) -> String {
    let at = error.span().map_or(0, |span| span.start);
    let before = custom.get(..at).unwrap_or_default();
    let number = before.matches('\n').count();
    let line = custom.lines().nth(number).unwrap_or_default();
    let words = error.message().replace('\n', ", ");
    format!("line {} is \"{}\": {words}", number + 1, cut(line.trim()))
}
