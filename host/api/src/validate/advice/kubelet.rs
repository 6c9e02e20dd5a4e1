//! Kubelet settings of a class that the controller refuses: by kubelet's own rules, as expressions, and by what an image family can pass on.

use serde_json::Value;

use super::super::finding::{Findings, or};
use super::super::kubelet::{is_setting, kubelet_expressions, kubelet_faults};

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

/// Remarks about `spec.kubelet`.
pub(super) fn check(spec: &Value, findings: &mut Findings) {
    let Some(settings @ Value::Object(fields)) = spec.get("kubelet") else {
        return;
    };
    findings.extend(kubelet_faults(settings));
    findings.extend(kubelet_expressions(settings));
    let family = family(spec);
    if ["AL2023", "Custom"].contains(&family.as_str()) {
        return;
    }
    let passed_on =
        |name: &str| MANAGED.contains(&name) || name == "registerWithTaints" || !is_setting(name);
    for name in fields.keys().filter(|name| !passed_on(name)) {
        findings.fault(
            format!("spec.kubelet.{name}"),
            format!(
                "cannot be passed on by family {family}; expected one of {}",
                or(&MANAGED)
            ),
        );
    }
    if family == "Bottlerocket" && fields.contains_key("podsPerCore") {
        findings.fault(
            "spec.kubelet.podsPerCore",
            "cannot be passed on by family Bottlerocket",
        );
    }
    let addresses = fields.get("clusterDNS").and_then(Value::as_array);
    let addresses = addresses.map_or(0, Vec::len);
    if addresses > 1 {
        findings.fault(
            "spec.kubelet.clusterDNS",
            format!("has {addresses} addresses; family {family} passes on one"),
        );
    }
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
