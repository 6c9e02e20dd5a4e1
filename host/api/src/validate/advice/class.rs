//! Classes whose instances would not come up, or not as meant.

use serde_json::Value;

use super::super::finding::Findings;

/// Characters that a role's name may have beside letters and digits.
const IN_ROLE_NAMES: &str = "+=,.@-_/";

/// Remarks about a class's specification.
pub(super) fn check(spec: &Value, findings: &mut Findings) {
    texts("spec", spec, findings);
    if let Some(role) = spec.get("role").and_then(Value::as_str) {
        let strange = role
            .chars()
            .find(|mark| !mark.is_ascii_alphanumeric() && !IN_ROLE_NAMES.contains(*mark));
        if let Some(mark) = strange.filter(|mark| !"${}".contains(*mark)) {
            findings.fault("spec.role", format!("has the character {mark}; a role's name is made of letters, digits and {IN_ROLE_NAMES}"));
        }
    }
    let list = |name: &str| {
        spec.get(name)
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
    };
    for (at, term) in list("amiSelectorTerms").enumerate() {
        let alias = term
            .get("alias")
            .and_then(Value::as_str)
            .unwrap_or_default();
        if alias.ends_with("@latest") && !alias.starts_with("windows") {
            findings.advice(format!("spec.amiSelectorTerms[{at}].alias"), format!("is {alias}: each new image drifts every node of the class; a version after the @ pins it"));
        }
    }
    for name in ["subnetSelectorTerms", "securityGroupSelectorTerms"] {
        for (at, term) in list(name).enumerate() {
            if term.get("id").is_some() && term.get("tags").is_some() {
                findings.fault(
                    format!("spec.{name}[{at}]"),
                    "has id beside tags; only the id is looked at",
                );
            }
        }
    }
    for (at, device) in list("blockDeviceMappings").enumerate() {
        let size = device
            .pointer("/ebs/volumeSize")
            .and_then(Value::as_str)
            .unwrap_or("1Gi");
        if !size.starts_with(|mark: char| mark.is_ascii_digit()) {
            findings.fault(
                format!("spec.blockDeviceMappings[{at}].ebs.volumeSize"),
                format!("is \"{size}\", a unit without a number; expected a size such as 100Gi"),
            );
        }
        volume(
            &format!("spec.blockDeviceMappings[{at}].ebs"),
            device,
            findings,
        );
    }
}

/// Numbers that the cloud refuses for a kind of volume.
fn volume(path: &str, device: &Value, findings: &mut Findings) {
    let number = |name: &str| {
        device
            .pointer(&format!("/ebs/{name}"))
            .and_then(Value::as_i64)
    };
    let kind = device
        .pointer("/ebs/volumeType")
        .and_then(Value::as_str)
        .unwrap_or("gp3");
    let (iops, throughput) = (number("iops"), number("throughput"));
    let range = match kind {
        "gp3" => Some((3_000, 80_000)),
        "io1" => Some((100, 64_000)),
        "io2" => Some((100, 256_000)),
        _ => None,
    };
    match (iops, range) {
        (Some(iops), Some((least, most))) if !(least..=most).contains(&iops) => {
            findings.fault(
                format!("{path}.iops"),
                format!("is {iops}; {kind} takes {least} to {most}, and the launch would fail"),
            );
        }
        (Some(iops), None) => findings.fault(
            format!("{path}.iops"),
            format!("is {iops}; {kind} takes none, and the launch would fail"),
        ),
        _ => {}
    }
    if let Some(throughput) = throughput.filter(|_| kind != "gp3") {
        findings.fault(
            format!("{path}.throughput"),
            format!("is {throughput}; only gp3 takes one"),
        );
    }
    let size = device.pointer("/ebs/volumeSize").and_then(Value::as_str);
    let gibibytes = size.and_then(|size| size.strip_suffix("Gi")?.parse::<i64>().ok());
    if let Some(size) = gibibytes.filter(|size| ["st1", "sc1"].contains(&kind) && *size < 125) {
        findings.fault(
            format!("{path}.volumeSize"),
            format!("is {size}Gi; {kind} takes 125Gi at least, and the launch would fail"),
        );
    }
}

/// Variables of a shell that are not expanded.
fn texts(path: &str, value: &Value, findings: &mut Findings) {
    match value {
        Value::String(text) if path != "spec.userData" => {
            let variable = text
                .split_once("${")
                .and_then(|(_, rest)| rest.split_once('}'));
            if let Some((name, _)) = variable {
                findings.fault(
                    path,
                    format!("holds ${{{name}}}, which nothing expands; expected its value"),
                );
            }
        }
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                texts(&format!("{path}[{at}]"), item, findings);
            }
        }
        Value::Object(fields) => {
            for (name, value) in fields {
                texts(&format!("{path}.{name}"), value, findings);
            }
        }
        _ => {}
    }
}
