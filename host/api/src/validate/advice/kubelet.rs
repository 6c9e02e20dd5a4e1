//! Kubelet settings of a class that the controller refuses: by kubelet's own rules, and by what an image family can pass on.

use plimsoll_core::quantity;
use serde_json::Value;

use super::super::finding::{Findings, or, shown};
use super::super::nearest;
use crate::duration;

/// Settings that every family passes on.
const MANAGED: [&str; 12] = [
    "clusterDNS",
    "maxPods",
    "podsPerCore",
    "systemReserved",
    "kubeReserved",
    "evictionHard",
    "evictionSoft",
    "evictionSoftGracePeriod",
    "evictionMaxPodGracePeriod",
    "imageGCHighThresholdPercent",
    "imageGCLowThresholdPercent",
    "cpuCFSQuota",
];
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

/// Remarks about `spec.kubelet`.
pub(super) fn check(spec: &Value, findings: &mut Findings) {
    let Some(Value::Object(kubelet)) = spec.get("kubelet") else {
        return;
    };
    let family = family(spec);
    for (name, value) in kubelet {
        let path = format!("spec.kubelet.{name}");
        field(&path, name, value, findings);
        let is_managed = MANAGED.contains(&name.as_str());
        if let (false, Some(meant)) = (is_managed, nearest(MANAGED, name)) {
            findings.fault(
                &path,
                format!("is not a setting of kubelet; did you mean {meant}?"),
            );
        } else if !is_managed
            && !["AL2023", "Custom"].contains(&family.as_str())
            && name != "registerWithTaints"
        {
            findings.fault(
                &path,
                format!(
                    "cannot be passed on by family {family}; expected one of {}",
                    or(&MANAGED)
                ),
            );
        }
    }
    if family == "Bottlerocket" && kubelet.contains_key("podsPerCore") {
        findings.fault(
            "spec.kubelet.podsPerCore",
            "cannot be passed on by family Bottlerocket",
        );
    }
    let addresses = kubelet
        .get("clusterDNS")
        .and_then(Value::as_array)
        .map_or(0, Vec::len);
    if addresses > 1 && !["AL2023", "Custom"].contains(&family.as_str()) {
        findings.fault(
            "spec.kubelet.clusterDNS",
            format!("has {addresses} addresses; family {family} passes on one"),
        );
    }
    let number = |name: &str| kubelet.get(name).and_then(Value::as_i64);
    if let (Some(high), Some(low)) = (
        number("imageGCHighThresholdPercent"),
        number("imageGCLowThresholdPercent"),
    ) && high <= low
    {
        findings.fault(
            "spec.kubelet.imageGCHighThresholdPercent",
            format!("is {high}; expected more than imageGCLowThresholdPercent, {low}"),
        );
    }
    soft_pairs(kubelet, findings);
}

/// The image family: as named, or as the alias says.
fn family(spec: &Value) -> String {
    let named = spec.get("amiFamily").and_then(Value::as_str);
    let alias = spec
        .pointer("/amiSelectorTerms/0/alias")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let of_alias = match alias.split('@').next().unwrap_or_default() {
        "al2" => "AL2",
        "bottlerocket" => "Bottlerocket",
        windows if windows.starts_with("windows") => "Windows",
        _ => "AL2023",
    };
    named.unwrap_or(of_alias).to_owned()
}

fn field(path: &str, name: &str, value: &Value, findings: &mut Findings) {
    match name {
        "registerWithTaints" => findings.fault(
            path,
            "belongs to the controller; taints stand in the NodePool",
        ),
        "maxPods" if value.is_string() => {
            findings.fault(
                path,
                format!(
                    "is {}, an expression; these are not served, expected a number",
                    shown(value)
                ),
            );
        }
        "maxPods" | "podsPerCore" | "evictionMaxPodGracePeriod" => count(path, value, findings),
        "kubeReserved" | "systemReserved" => reserved(path, value, findings),
        "evictionHard" | "evictionSoft" | "evictionMinimumReclaim" => {
            signals(
                path,
                value,
                findings,
                is_threshold,
                "percents up to 100% or a quantity such as 500Mi",
            );
        }
        "evictionSoftGracePeriod" => {
            signals(
                path,
                value,
                findings,
                |text| duration::parse(text).is_some(),
                "a duration such as 90s",
            );
        }
        _ => {}
    }
}

fn count(path: &str, value: &Value, findings: &mut Findings) {
    if value.as_i64().is_none_or(|number| number < 0) {
        findings.fault(
            path,
            format!("is {}; expected a whole number of at least 0", shown(value)),
        );
    }
}

/// The fields of a map; a fault where the value is none.
fn map<'v>(
    path: &str,
    value: &'v Value,
    expected: &str,
    findings: &mut Findings,
) -> Option<&'v serde_json::Map<String, Value>> {
    if !value.is_object() {
        let told = format!("is {}; expected {expected}", shown(value));
        findings.fault(path, told);
    }
    value.as_object()
}

/// The fields of known names, each with its path; a fault for every other.
fn known<'v>(
    path: &str,
    fields: Option<&'v serde_json::Map<String, Value>>,
    names: &[&str],
    wrong: &str,
    findings: &mut Findings,
) -> Vec<(String, &'v Value)> {
    let mut known = Vec::new();
    for (name, value) in fields.into_iter().flatten() {
        let path = format!("{path}.{name}");
        if names.contains(&name.as_str()) {
            known.push((path, value));
        } else {
            findings.fault(path, format!("{wrong}; expected {}", or(names)));
        }
    }
    known
}

fn reserved(path: &str, value: &Value, findings: &mut Findings) {
    let amounts = map(path, value, "amounts by resource", findings);
    let wrong = "cannot be kept from pods";
    for (path, amount) in known(path, amounts, &RESERVABLE, wrong, findings) {
        let text = amount
            .as_str()
            .map_or_else(|| amount.to_string(), str::to_owned);
        let is_expression = text.contains(|mark: char| "()*/?<>".contains(mark));
        if is_expression {
            findings.fault(
                path,
                format!("is \"{text}\", an expression; these are not served, expected a quantity"),
            );
        } else if quantity::parse_units(&text).is_err() {
            findings.fault(
                path,
                format!("is \"{text}\"; expected a quantity of at least 0 such as 200m or 500Mi"),
            );
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
    let signals = map(path, value, "values by signal", findings);
    let wrong = "is no signal of eviction";
    for (path, value) in known(path, signals, &SIGNALS, wrong, findings) {
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
fn soft_pairs(kubelet: &serde_json::Map<String, Value>, findings: &mut Findings) {
    let names = |field: &str| -> Vec<&String> {
        let fields = kubelet.get(field).and_then(Value::as_object);
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
                    format!("spec.kubelet.{one}.{name}"),
                    format!("has no {other} beside it; expected both or neither"),
                );
            }
        }
    }
}
