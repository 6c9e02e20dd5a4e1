//! The container of a Deployment as a kubelet starts it: arguments, environment with its references resolved, ports and probes.

use std::collections::BTreeMap;

use serde_json::Value;

/// A probe by HTTP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Probe {
    /// Path of the request.
    pub path: String,
    /// Number of the port.
    pub port: u16,
}

/// A container as a kubelet starts it, and as it asks after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Container {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Variables by name; of those that are named twice the last counts.
    pub environment: BTreeMap<String, String>,
    /// Numbers of ports by name.
    pub ports: BTreeMap<String, u16>,
    /// Alive while this answers.
    pub liveness: Option<Probe>,
    /// Ready while this answers.
    pub readiness: Option<Probe>,
}

impl Container {
    /// The first container of a Deployment; `None` for an object that has none, and where a reference leads nowhere.
    pub fn of(deployment: &Value) -> Option<Self> {
        let container = &deployment["spec"]["template"]["spec"]["containers"][0];
        let ports = container["ports"].as_array()?.iter().map(|port| {
            let number = u16::try_from(port["containerPort"].as_u64()?).ok()?;
            Some((port["name"].as_str()?.to_owned(), number))
        });
        let ports: BTreeMap<String, u16> = ports.collect::<Option<_>>()?;
        let variables = container["env"].as_array()?.iter().map(|variable| {
            let name = variable["name"].as_str()?.to_owned();
            let value = match &variable["value"] {
                Value::String(value) => value.clone(),
                _ => resolved(&variable["valueFrom"], deployment, container)?,
            };
            Some((name, value))
        });
        Some(Self {
            command: [texts(&container["command"]), texts(&container["args"])].concat(),
            environment: variables.collect::<Option<_>>()?,
            liveness: probe(&container["livenessProbe"], &ports),
            readiness: probe(&container["readinessProbe"], &ports),
            ports,
        })
    }
}

fn texts(list: &Value) -> Vec<String> {
    let entries = list.as_array().into_iter().flatten();
    let entries = entries.filter_map(Value::as_str);
    entries.map(ToOwned::to_owned).collect()
}

fn probe(probe: &Value, ports: &BTreeMap<String, u16>) -> Option<Probe> {
    let get = &probe["httpGet"];
    Some(Probe {
        path: get["path"].as_str()?.to_owned(),
        port: *ports.get(get["port"].as_str()?)?,
    })
}

/// The value of a reference to the pod's namespace or to the container's resources.
fn resolved(reference: &Value, deployment: &Value, container: &Value) -> Option<String> {
    if reference["fieldRef"]["fieldPath"] == "metadata.namespace" {
        return Some(deployment["metadata"]["namespace"].as_str()?.to_owned());
    }
    let of = &reference["resourceFieldRef"];
    let (list, resource) = of["resource"].as_str()?.split_once('.')?;
    let amount = thousandths(container["resources"][list][resource].as_str()?)?;
    let divisor = match of["divisor"].as_str() {
        None | Some("0") => 1000,
        Some(text) => thousandths(text)?,
    };
    // Rounded up, as a kubelet does.
    Some(amount.div_ceil(divisor).to_string())
}

/// A quantity in thousandths, with the suffixes that charts use.
fn thousandths(quantity: &str) -> Option<u64> {
    let digits = quantity.trim_end_matches(|letter: char| !letter.is_ascii_digit());
    let factor = match &quantity[digits.len()..] {
        "m" => 1,
        "" => 1000,
        "Mi" => 1000 << 20,
        "Gi" => 1000 << 30,
        _ => return None,
    };
    Some(digits.parse::<u64>().ok()? * factor)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn references_are_resolved_and_the_last_of_two_variables_counts() {
        let of = |resource: &str, divisor: &str| json!({"resourceFieldRef": {"resource": resource, "divisor": divisor}});
        let deployment = json!({"metadata": {"namespace": "a"}, "spec": {"template": {"spec": {"containers": [{
            "command": ["p"], "args": ["run"],
            "ports": [{"name": "http", "containerPort": 8081}],
            "readinessProbe": {"httpGet": {"path": "/readyz", "port": "http"}},
            "resources": {"requests": {"cpu": "1500m"}, "limits": {"memory": "2Gi"}},
            "env": [
                {"name": "A", "value": "1"}, {"name": "A", "value": "2"},
                {"name": "N", "valueFrom": {"fieldRef": {"fieldPath": "metadata.namespace"}}},
                {"name": "C", "valueFrom": of("requests.cpu", "1m")},
                {"name": "W", "valueFrom": of("requests.cpu", "0")},
                {"name": "M", "valueFrom": of("limits.memory", "0")},
            ],
        }]}}}});
        let container = Container::of(&deployment).unwrap();
        let environment: Vec<_> = container.environment.iter().collect();
        let text = format!("{environment:?}").replace('"', "");
        assert_eq!(text, "[(A, 2), (C, 1500), (M, 2147483648), (N, a), (W, 2)]");
        assert_eq!(container.command, ["p", "run"]);
        assert_eq!(container.readiness.unwrap().port, 8081);
        assert_eq!(container.liveness, None);
    }
}
