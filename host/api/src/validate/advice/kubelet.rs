//! Kubelet settings of a class that the controller refuses: by kubelet's own rules, as expressions, and by what an image family can pass on.

use serde_json::Value;

use super::super::finding::{Finding, Findings, or};
use super::super::kubelet::{is_setting, kubelet_expressions, kubelet_faults};

/// Settings that every family passes on, but for [one](NOT_ON_BOTTLEROCKET).
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

/// The one of them that Bottlerocket has no setting for.
const NOT_ON_BOTTLEROCKET: &str = "podsPerCore";

/// Remarks about `spec.kubelet`.
pub(super) fn check(spec: &Value, findings: &mut Findings) {
    let Some(settings @ Value::Object(_)) = spec.get("kubelet") else {
        return;
    };
    findings.extend(kubelet_faults(settings));
    findings.extend(kubelet_expressions(settings));
    findings.extend(kubelet_unsupported(&family(spec), settings));
}

/// Settings, as they stand in `spec.kubelet` of a class, that an image family such as `Bottlerocket` has no way to give to kubelet, each with its
/// path. Settings that are none of kubelet's are left out: [`kubelet_faults`] names these.
pub fn kubelet_unsupported(family: &str, settings: &Value) -> Vec<Finding> {
    let mut findings = Findings::default();
    let Some(fields) = settings.as_object() else {
        return Vec::new();
    };
    if ["AL2023", "Custom"].contains(&family) {
        return Vec::new();
    }
    let managed = MANAGED.into_iter();
    let managed: Vec<&str> = managed
        .filter(|name| family != "Bottlerocket" || *name != NOT_ON_BOTTLEROCKET)
        .collect();
    let passed_on =
        |name: &str| managed.contains(&name) || name == "registerWithTaints" || !is_setting(name);
    let said = fields.iter().filter(|(_, value)| !value.is_null());
    for (name, _) in said.filter(|(name, _)| !passed_on(name)) {
        findings.fault(
            format!("spec.kubelet.{name}"),
            format!(
                "cannot be passed on by family {family}; expected one of {}",
                or(&managed)
            ),
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
    findings.into_list()
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
