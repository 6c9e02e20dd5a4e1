//! Kubelet settings of a class by kubelet's own rules, with those that Karpenter adds. Kubelet reads its settings strictly: one that it does
//! not know, or a value of another form, keeps it from starting, and its node never joins.
//!
//! Names and forms are those of `KubeletConfiguration` `v1beta1` of Kubernetes 1.37. What an image family can pass on of them
//! is another question.

mod fields;
mod form;

use plimsoll_base::quantity;
use serde_json::{Map, Value};

use super::finding::{Finding, Findings, or, shown};
use super::nearest;
use crate::duration;
use fields::SETTINGS;

/// Where the settings stand in a class.
const AT: &str = "spec.kubelet";
/// Signals of eviction.
const SIGNALS: [&str; 6] = [
    "memory.available",
    "nodefs.available",
    "nodefs.inodesFree",
    "imagefs.available",
    "imagefs.inodesFree",
    "pid.available",
];
/// Resources of which an amount can be reserved.
const RESERVABLE: [&str; 4] = ["cpu", "memory", "ephemeral-storage", "pid"];
/// Settings with amounts that are reserved.
const RESERVED: [&str; 2] = ["kubeReserved", "systemReserved"];
const QUANTITY: &str = "expected a quantity of at least 0 such as 200m or 500Mi";

/// `true` for a setting that kubelet knows.
pub(super) fn is_setting(name: &str) -> bool {
    SETTINGS.iter().any(|(own, _)| *own == name)
}

/// Faults of kubelet settings, as they stand in `spec.kubelet` of a class, each with its path; none where there are no settings. Values that may
/// be expressions are left out: [`kubelet_expressions`] names these.
pub fn kubelet_faults(settings: &Value) -> Vec<Finding> {
    let mut findings = Findings::default();
    let Some(fields) = settings.as_object() else {
        return Vec::new();
    };
    for (name, value) in fields {
        setting(name, value, &mut findings);
    }
    let percents = |name: &str| fields.get(name).and_then(Value::as_i64);
    if let (Some(high), Some(low)) = (
        percents("imageGCHighThresholdPercent"),
        percents("imageGCLowThresholdPercent"),
    ) && high <= low
    {
        findings.fault(
            format!("{AT}.imageGCHighThresholdPercent"),
            format!("is {high}; expected more than imageGCLowThresholdPercent, {low}"),
        );
    }
    soft_pairs(fields, &mut findings);
    findings.into_list()
}

/// Settings whose value is an expression, each with its path. Expressions are not served: a node would be planned by an unknown number.
pub fn kubelet_expressions(settings: &Value) -> Vec<Finding> {
    let mut findings = Findings::default();
    if let Some(value @ Value::String(_)) = settings.get("maxPods") {
        let words = format!(
            "is {}, an expression; these are not served, expected a number",
            shown(value)
        );
        findings.fault(format!("{AT}.maxPods"), words);
    }
    for field in RESERVED {
        let amounts = settings.get(field).and_then(Value::as_object);
        for (name, amount) in amounts.into_iter().flatten() {
            let Some(text) = amount.as_str() else {
                continue;
            };
            if text.starts_with('-') || quantity::parse_units(text).is_ok() {
                continue;
            }
            let looks_so = text.contains(|mark: char| "()*/?<>".contains(mark));
            let words = if looks_so {
                format!("is \"{text}\", an expression; these are not served, expected a quantity")
            } else {
                format!("is \"{text}\"; {QUANTITY}")
            };
            findings.fault(format!("{AT}.{field}.{name}"), words);
        }
    }
    findings.into_list()
}

fn setting(name: &str, value: &Value, findings: &mut Findings) {
    let path = format!("{AT}.{name}");
    let Some((_, form)) = SETTINGS.iter().find(|(own, _)| *own == name) else {
        let names = SETTINGS.iter().map(|(own, _)| *own);
        let words = match nearest(names, name) {
            Some(meant) => format!("is not a setting of kubelet; did you mean {meant}?"),
            None => "is not a setting of kubelet".to_owned(),
        };
        findings.fault(path, words);
        return;
    };
    match name {
        // The API's way to say nothing.
        _ if value.is_null() => {}
        "registerWithTaints" => findings.fault(
            path,
            "belongs to the controller; taints stand in the NodePool",
        ),
        "maxPods" if value.is_string() => {}
        "maxPods" | "podsPerCore" | "evictionMaxPodGracePeriod" => {
            count(&path, value, i32::MAX, findings);
        }
        "imageGCHighThresholdPercent" | "imageGCLowThresholdPercent" => {
            count(&path, value, 100, findings);
        }
        name if RESERVED.contains(&name) => reserved(&path, value, findings),
        "evictionHard" | "evictionSoft" | "evictionMinimumReclaim" => {
            let expected = "percents up to 100% or a quantity such as 500Mi";
            signals(&path, value, findings, is_threshold, expected);
        }
        "evictionSoftGracePeriod" => {
            let is_duration = |text: &str| duration::parse(text).is_some();
            let expected = "a duration such as 90s";
            signals(&path, value, findings, is_duration, expected);
        }
        _ => form::check(&path, form, value, findings),
    }
}

/// A whole number from 0 on; the upper bound is left out, since it is beyond any real value.
fn count(path: &str, value: &Value, most: i32, findings: &mut Findings) {
    let range = 0..=i64::from(most);
    if value.as_i64().is_some_and(|number| range.contains(&number)) {
        return;
    }
    let expected = match most {
        i32::MAX => "of at least 0".to_owned(),
        most => format!("from 0 to {most}"),
    };
    let words = format!("is {}; expected a whole number {expected}", shown(value));
    findings.fault(path, words);
}

/// The fields of known names in a map, each with its path; a fault for every other, and where there is no map.
fn known<'v>(
    path: &str,
    value: &'v Value,
    (expected, names, wrong): (&str, &[&str], &str),
    findings: &mut Findings,
) -> Vec<(String, &'v Value)> {
    let Some(fields) = value.as_object() else {
        findings.fault(path, format!("is {}; expected {expected}", shown(value)));
        return Vec::new();
    };
    let mut known = Vec::new();
    for (name, value) in fields {
        let path = format!("{path}.{name}");
        if names.contains(&name.as_str()) {
            known.push((path, value));
        } else {
            findings.fault(path, format!("{wrong}; expected {}", or(names)));
        }
    }
    known
}

/// Amounts that are written as texts: kubelet reads no bare numbers here. Text that is no quantity may be an expression.
fn reserved(path: &str, value: &Value, findings: &mut Findings) {
    let what = (
        "amounts by resource",
        &RESERVABLE[..],
        "cannot be kept from pods",
    );
    for (path, amount) in known(path, value, what, findings) {
        match amount.as_str() {
            Some(text) if text.starts_with('-') => {
                findings.fault(path, format!("is \"{text}\"; {QUANTITY}"));
            }
            Some(_) => {}
            None => {
                let words = format!("is {}; expected a quantity in quotes", shown(amount));
                findings.fault(path, words);
            }
        }
    }
}

fn signals(
    path: &str,
    value: &Value,
    findings: &mut Findings,
    fits: impl Fn(&str) -> bool,
    expected: &str,
) {
    let what = ("values by signal", &SIGNALS[..], "is no signal of eviction");
    for (path, value) in known(path, value, what, findings) {
        if !value.as_str().is_some_and(&fits) {
            findings.fault(path, format!("is {}; expected {expected}", shown(value)));
        }
    }
}

fn is_threshold(text: &str) -> bool {
    match text.strip_suffix('%') {
        Some(percents) => percents
            .parse::<f64>()
            .is_ok_and(|percents| (0.0..=100.0).contains(&percents)),
        None => quantity::parse_units(text).is_ok(),
    }
}

/// Soft thresholds and their grace periods come in pairs.
fn soft_pairs(settings: &Map<String, Value>, findings: &mut Findings) {
    let names = |field: &str| -> Vec<&String> {
        let fields = settings.get(field).and_then(Value::as_object);
        fields.into_iter().flatten().map(|(name, _)| name).collect()
    };
    for (one, other) in [
        ("evictionSoft", "evictionSoftGracePeriod"),
        ("evictionSoftGracePeriod", "evictionSoft"),
    ] {
        let others = names(other);
        for name in names(one) {
            if !others.contains(&name) {
                findings.fault(
                    format!("{AT}.{one}.{name}"),
                    format!("has no {other} beside it; expected both or neither"),
                );
            }
        }
    }
}
