//! Kubelet settings of a class, checked before any node is told them: a node whose kubelet does not start on them is launched, never joins, and is
//! launched anew. All that is wrong is told at once.
//!
//! The API server checks none of it: `spec.kubelet` is an open map to it.

use plimsoll_api::kinds::Ec2NodeClassSpec;
use plimsoll_api::{Finding, kubelet_expressions, kubelet_faults, kubelet_unsupported};
use plimsoll_ec2_facts::class::settings;
use serde_json::json;

use super::dry_run::Refusal;
use super::family::Family;

/// Reason of a class whose settings kubelet, or we, cannot read.
const INVALID: &str = "InvalidKubeletConfiguration";
/// Reason of a class with expressions among them, which Karpenter takes behind a gate.
const EXPRESSIONS: &str = "KubeletExpressionsDisabled";
/// Reason of a class with settings that its image family has no way to give to kubelet.
const UNSUPPORTED: &str = "UnsupportedKubeletConfiguration";

/// Fails for a class whose kubelet settings cannot be used, with the fields. Families that are not launched are refused elsewhere.
pub(crate) fn check(spec: &Ec2NodeClassSpec, family: Option<Family>) -> Result<(), Refusal> {
    let own = json!(spec.kubelet);
    fails(INVALID, &kubelet_faults(&own))?;
    fails(EXPRESSIONS, &kubelet_expressions(&own))?;
    if let Some(family) = family.filter(|family| family.is_launched()) {
        fails(UNSUPPORTED, &kubelet_unsupported(family.name(), &own))?;
    }
    // The room on a node is reckoned by them.
    let read = settings(&json!({"spec": {"kubelet": own}}));
    read.map(drop).map_err(|message| Refusal {
        reason: INVALID,
        message,
    })
}

fn fails(reason: &'static str, findings: &[Finding]) -> Result<(), Refusal> {
    if findings.is_empty() {
        return Ok(());
    }
    let sentences: Vec<String> = findings.iter().map(ToString::to_string).collect();
    let message = sentences.join("; ");
    Err(Refusal { reason, message })
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    /// The reason and the sentences, without the part of their paths that all have; empty for settings that can be used.
    fn told(kubelet: &Value) -> String {
        told_of(Family::Al2023, kubelet)
    }

    /// The same for a class of a family.
    fn told_of(family: Family, kubelet: &Value) -> String {
        let spec = serde_json::from_value(json!({"kubelet": kubelet})).expect("a spec");
        match check(&spec, Some(family)) {
            Ok(()) => String::new(),
            Err(refusal) => {
                let words = refusal.message.replace("spec.kubelet.", "");
                format!("{}: {words}", refusal.reason)
            }
        }
    }

    #[test]
    fn settings_that_kubelet_reads_are_taken() {
        for kubelet in [
            json!({}),
            json!({"maxPods": null, "registerWithTaints": null, "kubeReserved": {}}),
            json!({
                "maxPods": 58, "podsPerCore": 8, "clusterDNS": ["10.100.0.10", "fd00::a"],
                "systemReserved": {"cpu": "100m", "memory": "200Mi", "ephemeral-storage": "1Gi", "pid": "1000"},
                "evictionHard": {"memory.available": "5%", "nodefs.available": "100%", "pid.available": "10"},
                "evictionSoft": {"memory.available": "500Mi", "imagefs.available": "15.5%"},
                "evictionSoftGracePeriod": {"memory.available": "1m30s", "imagefs.available": "0"},
                "evictionMinimumReclaim": {"imagefs.inodesFree": "5%"},
                "evictionMaxPodGracePeriod": 60, "imageGCHighThresholdPercent": 85, "imageGCLowThresholdPercent": 0,
                "cpuCFSQuota": false,
            }),
            json!({
                "registryPullQPS": 0, "topologyManagerPolicy": "single-numa-node", "maxOpenFiles": 9_999_999_999_i64,
                "featureGates": {"InPlacePodVerticalScaling": true}, "containerLogMaxSize": "50Mi",
                "shutdownGracePeriod": "30s", "imageMinimumGCAge": "-1m", "memoryThrottlingFactor": 0.9,
                "memorySwap": {"swapBehavior": "LimitedSwap"}, "staticPodURLHeader": {"Accept": ["text/plain"]},
                "authentication": {"x509": {"clientCAFile": "/etc/ca"}, "webhook": {"cacheTTL": "2m", "enabled": true}},
                "reservedMemory": [{"numaNode": 0, "limits": {"memory": "1Gi", "hugepages-2Mi": 4}}],
                "logging": {"flushFrequency": 5_000_000_000_i64, "verbosity": 2, "vmodule": [{"filePattern": "a*", "verbosity": 4}]},
                "tlsCurvePreferences": [23, 4588], "userNamespaces": {"idsPerPod": 65536},
            }),
        ] {
            assert_eq!(told(&kubelet), "", "{kubelet}");
        }
    }

    #[test]
    fn settings_that_kubelet_does_not_know_or_read_are_named_with_what_it_reads() {
        for (kubelet, words) in [
            (
                json!({"maxPod": 10}),
                "maxPod is not a setting of kubelet; did you mean maxPods?",
            ),
            (
                json!({"colour": "red"}),
                "colour is not a setting of kubelet",
            ),
            // Kubelet tells capitals apart.
            (
                json!({"MaxPods": 10}),
                "MaxPods is not a setting of kubelet; did you mean maxPods?",
            ),
            (
                json!({"cpuCFSQuota": "no"}),
                "cpuCFSQuota is \"no\"; expected true or false",
            ),
            (
                json!({"clusterDNS": "10.0.0.10"}),
                "clusterDNS is \"10.0.0.10\"; expected a list",
            ),
            (
                json!({"clusterDNS": ["10.0.0.10", 10]}),
                "clusterDNS[1] is 10; expected text",
            ),
            (
                json!({"registryPullQPS": 1.5}),
                "registryPullQPS is 1.5; expected a whole number",
            ),
            (
                json!({"registryBurst": 3_000_000_000_i64}),
                "registryBurst is 3000000000; expected a whole number",
            ),
            (
                json!({"syncFrequency": "60"}),
                "syncFrequency is \"60\"; expected a duration such as 90s",
            ),
            (
                json!({"syncFrequency": 60}),
                "syncFrequency is 60; expected a duration such as 90s",
            ),
            (
                json!({"featureGates": {"A": "true"}}),
                "featureGates.A is \"true\"; expected true or false",
            ),
            (
                json!({"memorySwap": {"swap": "x"}}),
                "memorySwap.swap is not a setting of kubelet",
            ),
            (
                json!({"logging": {"verbosity": -1}}),
                "logging.verbosity is -1; expected a whole number of at least 0",
            ),
            (
                json!({"reservedMemory": [{"numaNode": "0"}]}),
                "reservedMemory[0].numaNode is \"0\"; expected a whole number",
            ),
        ] {
            assert_eq!(told(&kubelet), format!("{INVALID}: {words}"));
        }
    }

    #[test]
    fn settings_that_no_node_could_keep_to_are_named_with_what_is_expected() {
        const THRESHOLD: &str = "expected percents up to 100% or a quantity such as 500Mi";
        for (kubelet, words) in [
            (
                json!({"registerWithTaints": []}),
                "registerWithTaints belongs to the controller; taints stand in the NodePool".to_owned(),
            ),
            (json!({"maxPods": -1}), "maxPods is -1; expected a whole number of at least 0".to_owned()),
            (json!({"podsPerCore": "two"}), "podsPerCore is \"two\"; expected a whole number of at least 0".to_owned()),
            (
                json!({"imageGCHighThresholdPercent": 101}),
                "imageGCHighThresholdPercent is 101; expected a whole number from 0 to 100".to_owned(),
            ),
            (
                json!({"imageGCHighThresholdPercent": 80, "imageGCLowThresholdPercent": 80}),
                "imageGCHighThresholdPercent is 80; expected more than imageGCLowThresholdPercent, 80".to_owned(),
            ),
            (
                json!({"evictionHard": {"memory.free": "5%"}}),
                "evictionHard.memory.free is no signal of eviction; expected memory.available, nodefs.available, \
                 nodefs.inodesFree, imagefs.available, imagefs.inodesFree or pid.available"
                    .to_owned(),
            ),
            (
                json!({"evictionHard": {"memory.available": "120%"}}),
                format!("evictionHard.memory.available is \"120%\"; {THRESHOLD}"),
            ),
            (
                json!({"evictionMinimumReclaim": {"memory.available": "-1Mi"}}),
                format!("evictionMinimumReclaim.memory.available is \"-1Mi\"; {THRESHOLD}"),
            ),
            (
                json!({"evictionHard": {"memory.available": 5}}),
                format!("evictionHard.memory.available is 5; {THRESHOLD}"),
            ),
            (json!({"evictionHard": "5%"}), "evictionHard is \"5%\"; expected values by signal".to_owned()),
            (
                json!({"evictionSoft": {"pid.available": "5%"}, "evictionSoftGracePeriod": {"pid.available": "-1s"}}),
                "evictionSoftGracePeriod.pid.available is \"-1s\"; expected a duration such as 90s".to_owned(),
            ),
            (
                json!({"kubeReserved": {"gpu": "1"}}),
                "kubeReserved.gpu cannot be kept from pods; expected cpu, memory, ephemeral-storage or pid".to_owned(),
            ),
            (
                json!({"systemReserved": {"cpu": "-100m"}}),
                "systemReserved.cpu is \"-100m\"; expected a quantity of at least 0 such as 200m or 500Mi".to_owned(),
            ),
            (
                json!({"systemReserved": {"pid": 1000}}),
                "systemReserved.pid is 1000; expected a quantity in quotes".to_owned(),
            ),
        ] {
            assert_eq!(told(&kubelet), format!("{INVALID}: {words}"));
        }
    }

    #[test]
    fn soft_thresholds_and_grace_periods_come_in_pairs_and_all_that_is_wrong_is_told() {
        let kubelet = json!({
            "evictionSoft": {"memory.available": "500Mi", "pid.available": "5%"},
            "evictionSoftGracePeriod": {"memory.available": "1m", "nodefs.available": "1m"},
            "podsPerCore": -4,
        });
        let expected = [
            "podsPerCore is -4; expected a whole number of at least 0",
            "evictionSoft.pid.available has no evictionSoftGracePeriod beside it; expected both or neither",
            "evictionSoftGracePeriod.nodefs.available has no evictionSoft beside it; expected both or neither",
        ];
        assert_eq!(
            told(&kubelet),
            format!("{INVALID}: {}", expected.join("; "))
        );
        for (one, value) in [("evictionSoft", "5%"), ("evictionSoftGracePeriod", "1m")] {
            let told = told(&json!({one: {"memory.available": value}}));
            assert!(told.contains("expected both or neither"), "{told}");
        }
    }

    #[test]
    fn expressions_are_told_apart_from_what_is_wrong_and_only_where_nothing_is() {
        for (kubelet, words) in [
            (
                json!({"maxPods": "vcpus * 10"}),
                "maxPods is \"vcpus * 10\", an expression; these are not served, expected a number",
            ),
            (
                json!({"kubeReserved": {"cpu": "max(60, vcpus * 25)", "memory": "1Gi"}}),
                "kubeReserved.cpu is \"max(60, vcpus * 25)\", an expression; these are not served, expected a quantity",
            ),
            (
                json!({"systemReserved": {"memory": "lots"}}),
                "systemReserved.memory is \"lots\"; expected a quantity of at least 0 such as 200m or 500Mi",
            ),
        ] {
            assert_eq!(told(&kubelet), format!("{EXPRESSIONS}: {words}"));
        }
        let both = told(&json!({"maxPods": "vcpus * 10", "podsPerCore": -1}));
        assert!(
            both.starts_with(INVALID) && !both.contains("maxPods"),
            "{both}"
        );
    }

    #[test]
    fn settings_that_a_family_has_no_way_to_give_to_kubelet_are_named() {
        use Family::{Al2, Al2023, Bottlerocket, Custom, Windows2022};
        let managed = "expected one of clusterDNS, maxPods,";
        let qps = json!({"registryPullQPS": 10});
        let cores = json!({"podsPerCore": 4});
        let two = json!({"clusterDNS": ["10.0.0.10", "10.0.0.11"]});
        let one = json!({"clusterDNS": ["10.0.0.10"], "registryPullQPS": null});
        for (family, kubelet, words) in [
            (
                Bottlerocket,
                &qps,
                "registryPullQPS cannot be passed on by family Bottlerocket",
            ),
            (
                Al2,
                &qps,
                "registryPullQPS cannot be passed on by family AL2",
            ),
            (
                Bottlerocket,
                &cores,
                "podsPerCore cannot be passed on by family Bottlerocket",
            ),
            (Al2, &cores, ""),
            (
                Bottlerocket,
                &two,
                "clusterDNS has 2 addresses; family Bottlerocket passes on one",
            ),
            (
                Al2,
                &two,
                "clusterDNS has 2 addresses; family AL2 passes on one",
            ),
            (Al2, &one, ""),
            (Al2023, &qps, ""),
            (Al2023, &cores, ""),
            (Al2023, &two, ""),
            (Custom, &qps, ""),
            // Refused for its family.
            (Windows2022, &qps, ""),
        ] {
            let told = told_of(family, kubelet);
            let expected = match words {
                "" => String::new(),
                words => format!("{UNSUPPORTED}: {words}"),
            };
            assert!(
                told.starts_with(&expected) && told.is_empty() == words.is_empty(),
                "{family:?} {kubelet}: {told}"
            );
            let lists = words.contains("cannot be passed on");
            assert_eq!(told.contains(managed), lists, "{told}");
            let is_al2 = family == Al2;
            assert!(
                !lists || told.contains(", podsPerCore,") == is_al2,
                "{told}"
            );
        }
        // Faults of the settings themselves come first.
        let both = told_of(Al2, &json!({"registryPullQPS": 10, "maxPods": -1}));
        assert!(both.starts_with(INVALID), "{both}");
    }
}
