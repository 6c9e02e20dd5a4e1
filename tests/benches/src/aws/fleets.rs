//! Calls of CreateFleet: how many different requests they are, how often each was tried, and the calls beyond one for each try.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, SystemTime};

use plimsoll_cloud::Call;
use serde_json::Value;

/// Calls for the same that begin within so long of each other are one try that was not put together: Karpenter's longest batch.
const BATCH: Duration = Duration::from_secs(1);

/// The calls of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Fleets {
    /// Calls, each token once: a call that is sent again for want of an answer asks for nothing more.
    pub(super) calls: usize,
    /// Requests that differ in more than their count.
    pub(super) requests: usize,
    /// Tries of each request, summed.
    pub(super) attempts: usize,
}

impl Fleets {
    /// Counts those among calls that were to launch something.
    pub(super) fn of(calls: &[Call]) -> Self {
        let mut seen = BTreeSet::new();
        let mut tries: BTreeMap<String, Vec<SystemTime>> = BTreeMap::new();
        for call in launches(calls) {
            if seen.insert(call.input["ClientToken"].to_string()) {
                let same = tries.entry(identity(&call.input)).or_default();
                same.push(call.started);
            }
        }
        let attempts = tries.values_mut().map(|starts| attempts(starts));
        Self {
            calls: seen.len(),
            attempts: attempts.sum(),
            requests: tries.len(),
        }
    }
}

/// Calls of CreateFleet that are no trial.
pub(super) fn launches(calls: &[Call]) -> impl Iterator<Item = &Call> {
    let fleets = calls.iter().filter(|call| call.operation == "CreateFleet");
    fleets.filter(|call| call.input["DryRun"] != "true")
}

fn attempts(starts: &mut [SystemTime]) -> usize {
    starts.sort_unstable();
    let is_new = |pair: &&[SystemTime]| {
        let gap = pair[1].duration_since(pair[0]).unwrap_or_default();
        gap >= BATCH
    };
    1 + starts.windows(2).filter(is_new).count()
}

/// A request without its token, its count, and the tag by which its instances are found again; the order of its overrides does not count.
fn identity(input: &Value) -> String {
    let mut input = input.clone();
    if let Some(fields) = input.as_object_mut() {
        fields.remove("ClientToken");
    }
    input["TargetCapacitySpecification"]["TotalTargetCapacity"] = Value::Null;
    for specification in elements(&mut input["TagSpecification"]) {
        elements(&mut specification["Tag"]).retain(|tag| tag["Key"] != "plimsoll.dev/launch-token");
    }
    for config in elements(&mut input["LaunchTemplateConfigs"]) {
        elements(&mut config["Overrides"]).sort_by_cached_key(Value::to_string);
    }
    elements(&mut input["LaunchTemplateConfigs"]).sort_by_cached_key(Value::to_string);
    input.to_string()
}

/// The elements of a list, which is made where there is none.
fn elements(value: &mut Value) -> &mut Vec<Value> {
    if !value.is_array() {
        *value = Value::Array(Vec::new());
    }
    value.as_array_mut().expect("it is a list now")
}

#[cfg(test)]
mod tests {
    use std::time::UNIX_EPOCH;

    use plimsoll_cloud::Service;
    use serde_json::json;

    use super::*;

    fn call(token: &str, count: &str, types: &[&str], millis: u64) -> Call {
        let overrides: Vec<Value> = types
            .iter()
            .map(|own| json!({"InstanceType": own}))
            .collect();
        let launch = json!([{"Key": "plimsoll.dev/launch-token", "Value": token}]);
        Call {
            service: Service::Ec2,
            operation: "CreateFleet".to_owned(),
            input: json!({
                "ClientToken": token, "LaunchTemplateConfigs": [{"Overrides": overrides}],
                "TargetCapacitySpecification": {"TotalTargetCapacity": count},
                "TagSpecification": [{"ResourceType": "instance", "Tag": launch}],
            }),
            started: UNIX_EPOCH + Duration::from_millis(millis),
            error: None,
        }
    }

    #[test]
    fn calls_for_the_same_at_the_same_time_are_one_try() {
        let same = ["m5.large", "c5.large"];
        let other = ["c5.large", "m5.large"];
        let mut trial = call("t", "1", &same, 0);
        trial.input["DryRun"] = "true".into();
        let calls = [
            trial,
            call("a", "1", &same, 0),
            call("b", "2", &other, 900),
            call("b", "2", &other, 950),
            call("c", "1", &same, 2_000),
            call("d", "1", &["r5.large"], 2_000),
        ];
        let expected = Fleets {
            calls: 4,
            requests: 2,
            attempts: 3,
        };
        assert_eq!(Fleets::of(&calls), expected);
        assert_eq!(Fleets::of(&[]), Fleets::default());
    }
}
