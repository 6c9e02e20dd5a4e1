//! Values of Karpenter's chart are taken as they are there, and each setting reaches the controller's environment.

use std::collections::BTreeMap;

use plimsoll_charts::{Container, Release, of_kind};
use serde_json::{Map, Value, json};

/// Settings of Karpenter's chart in releases 1.14.1 and 1.15.2: the key, a value, the variable, and its text there.
const SETTINGS: &[(&str, &str, &str, &str)] = &[
    ("settings.clusterName", r#""demo""#, "CLUSTER_NAME", "demo"),
    (
        "settings.clusterName",
        r#""{{ .Release.Name }}-1""#,
        "CLUSTER_NAME",
        "plimsoll-1",
    ),
    (
        "settings.clusterEndpoint",
        r#""https://a.invalid""#,
        "CLUSTER_ENDPOINT",
        "https://a.invalid",
    ),
    (
        "settings.clusterCABundle",
        r#""LS0t""#,
        "CLUSTER_CA_BUNDLE",
        "LS0t",
    ),
    (
        "settings.interruptionQueue",
        r#""demo""#,
        "INTERRUPTION_QUEUE",
        "demo",
    ),
    (
        "settings.batchMaxDuration",
        r#""30s""#,
        "BATCH_MAX_DURATION",
        "30s",
    ),
    (
        "settings.batchIdleDuration",
        r#""1m30s""#,
        "BATCH_IDLE_DURATION",
        "1m30s",
    ),
    (
        "settings.preferencePolicy",
        r#""Ignore""#,
        "PREFERENCE_POLICY",
        "Ignore",
    ),
    (
        "settings.minValuesPolicy",
        r#""BestEffort""#,
        "MIN_VALUES_POLICY",
        "BestEffort",
    ),
    ("settings.isolatedVPC", "true", "ISOLATED_VPC", "true"),
    ("settings.isolatedVPC", "false", "ISOLATED_VPC", "false"),
    (
        "settings.eksControlPlane",
        "true",
        "EKS_CONTROL_PLANE",
        "true",
    ),
    (
        "settings.vmMemoryOverheadPercent",
        "0.05",
        "VM_MEMORY_OVERHEAD_PERCENT",
        "0.05",
    ),
    // Their chart drops false and zero, so that neither can be asked for.
    (
        "settings.vmMemoryOverheadPercent",
        "0",
        "VM_MEMORY_OVERHEAD_PERCENT",
        "0",
    ),
    (
        "settings.ignoreDRARequests",
        "false",
        "IGNORE_DRA_REQUESTS",
        "false",
    ),
    (
        "settings.enableZonalShift",
        "true",
        "ENABLE_ZONAL_SHIFT",
        "true",
    ),
    ("settings.reservedENIs", r#""1""#, "RESERVED_ENIS", "1"),
    ("settings.reservedENIs", "2", "RESERVED_ENIS", "2"),
    (
        "settings.disableClusterStateObservability",
        "true",
        "DISABLE_CLUSTER_STATE_OBSERVABILITY",
        "true",
    ),
    ("settings.disableDryRun", "true", "DISABLE_DRY_RUN", "true"),
    (
        "settings.amiRefreshInterval",
        r#""5m""#,
        "AMI_REFRESH_INTERVAL",
        "5m",
    ),
    (
        "settings.subnetRefreshInterval",
        r#""1m""#,
        "SUBNET_REFRESH_INTERVAL",
        "1m",
    ),
    (
        "settings.securityGroupRefreshInterval",
        r#""5m""#,
        "SECURITY_GROUP_REFRESH_INTERVAL",
        "5m",
    ),
    (
        "settings.legacyNodeRepair",
        "true",
        "LEGACY_NODE_REPAIR",
        "true",
    ),
    (
        "settings.awsFeatureGates.nodeClassCEL",
        "true",
        "AWS_FEATURE_GATES",
        "NodeClassCEL=true",
    ),
    (
        "settings.schedulerConfig",
        r#""podTopologySpread: {}""#,
        "SCHEDULER_CONFIG",
        "podTopologySpread: {}",
    ),
    (
        "settings.leaderElectionName",
        r#""ours""#,
        "LEADER_ELECTION_NAME",
        "ours",
    ),
    ("logLevel", r#""debug""#, "LOG_LEVEL", "debug"),
    (
        "logOutputPaths",
        r#"["stdout","/tmp/log"]"#,
        "LOG_OUTPUT_PATHS",
        "stdout,/tmp/log",
    ),
    (
        "logErrorOutputPaths",
        r#"["stdout"]"#,
        "LOG_ERROR_OUTPUT_PATHS",
        "stdout",
    ),
    ("controller.metrics.port", "8000", "METRICS_PORT", "8000"),
    (
        "controller.healthProbe.port",
        "8001",
        "HEALTH_PROBE_PORT",
        "8001",
    ),
    (
        "controller.resources.limits.memory",
        r#""2Gi""#,
        "MEMORY_LIMIT",
        "2147483648",
    ),
    (
        "controller.resources.requests.cpu",
        r#""500m""#,
        "CPU_REQUESTS",
        "500",
    ),
    // What comes last wins.
    (
        "controller.env",
        r#"[{"name":"BATCH_MAX_DURATION","value":"1s"}]"#,
        "BATCH_MAX_DURATION",
        "1s",
    ),
];

/// What the controller is told where no value is given.
const DEFAULTS: &[(&str, &str)] = &[
    ("BATCH_IDLE_DURATION", "1s"),
    ("BATCH_MAX_DURATION", "10s"),
    ("CPU_REQUESTS", "1000"),
    ("DISABLE_CLUSTER_STATE_OBSERVABILITY", "false"),
    (
        "FEATURE_GATES",
        "CapacityBuffer=false,NodeOverlay=false,NodeRepair=false,ReservedCapacity=true,SpotToSpotConsolidation=false,StaticCapacity=false",
    ),
    ("HEALTH_PROBE_PORT", "8081"),
    ("IGNORE_DRA_REQUESTS", "true"),
    ("LEADER_ELECTION_NAME", "karpenter-leader-election"),
    ("LOG_ERROR_OUTPUT_PATHS", "stderr"),
    ("LOG_LEVEL", "info"),
    ("LOG_OUTPUT_PATHS", "stdout"),
    ("MEMORY_LIMIT", "1073741824"),
    ("METRICS_PORT", "8080"),
    ("MIN_VALUES_POLICY", "Strict"),
    ("PREFERENCE_POLICY", "Respect"),
    ("SYSTEM_NAMESPACE", "kube-system"),
];

/// The gates, and what they are called in values.
const GATES: [(&str, &str); 6] = [
    ("nodeRepair", "NodeRepair"),
    ("reservedCapacity", "ReservedCapacity"),
    ("spotToSpotConsolidation", "SpotToSpotConsolidation"),
    ("nodeOverlay", "NodeOverlay"),
    ("staticCapacity", "StaticCapacity"),
    ("capacityBuffer", "CapacityBuffer"),
];

fn container(values: Value) -> Container {
    let rendered = Release::new("plimsoll", values)
        .render()
        .expect("it renders");
    let deployment = of_kind(&rendered, "Deployment");
    Container::of(deployment[0]).expect("a container")
}

/// A value under a path of keys.
fn put(values: &mut Value, path: &str, value: Value) {
    let (keys, last) = path.rsplit_once('.').unwrap_or(("", path));
    let keys = keys.split('.').filter(|key| !key.is_empty());
    let within = keys.fold(values, |within, key| {
        let within = within.as_object_mut().expect("a map");
        within.entry(key).or_insert_with(|| Map::new().into())
    });
    within[last] = value;
}

#[test]
fn each_setting_reaches_the_environment_as_it_is_there() {
    // As many at once as have keys of their own: rendering is what takes time.
    let mut rounds: Vec<BTreeMap<&str, (&str, &str, &str)>> = Vec::new();
    for (key, value, variable, text) in SETTINGS {
        let row = (*value, *variable, *text);
        let is_told = |round: &&mut BTreeMap<&str, (&str, &str, &str)>| {
            round.values().all(|(_, other, _)| other != variable)
        };
        match rounds.iter_mut().find(is_told) {
            Some(round) => drop(round.insert(key, row)),
            None => rounds.push([(*key, row)].into()),
        }
    }
    for round in rounds {
        let mut values = json!({});
        for (key, (value, _, _)) in &round {
            put(&mut values, key, serde_json::from_str(value).expect("JSON"));
        }
        let environment = container(values).environment;
        for (key, (value, variable, text)) in round {
            let told = environment.get(variable).map(String::as_str);
            assert_eq!(told, Some(text), "{key}: {value}");
        }
    }
}

#[test]
fn without_values_the_controller_is_told_the_defaults_and_nothing_else() {
    let container = container(Value::Null);
    let told: Vec<_> = container
        .environment
        .iter()
        .map(|(name, text)| (&**name, &**text))
        .collect();
    assert_eq!(told, DEFAULTS);
    assert_eq!(container.command, ["plimsoll", "run", "--provider=kwok"]);
}

/// Keys that Karpenter's chart has in release 1.15.2 beside those of 1.14.1, at their defaults there: a copy of its values is taken.
#[test]
fn keys_of_a_newer_chart_change_nothing_at_their_defaults() {
    let settings = json!({
        "enableDRA": false, "ignoreDRARequests": null, "legacyNodeRepair": false, "securityGroupRefreshInterval": "1m",
        "featureGates": {"terminateFirstDrift": false, "terminateFirstRepair": false, "podDeletionCostManagement": false},
        "awsFeatureGates": {"draNVIDIAGPU": null, "draEFA": null, "rebootForRepair": false},
    });
    // Written as no list, which is nothing all the same.
    let values = json!({"settings": settings, "initContainers": {}});
    let mut told = container(values).environment;
    assert_eq!(told.remove("LEGACY_NODE_REPAIR").as_deref(), Some("false"));
    let interval = told.remove("SECURITY_GROUP_REFRESH_INTERVAL");
    assert_eq!(interval.as_deref(), Some("1m"));
    let mut expected = container(Value::Null).environment;
    expected.remove("IGNORE_DRA_REQUESTS");
    assert_eq!(told, expected);
}

/// What the provider reads of its settings is named in its flags: `host/cli/src/flags/aws.rs`.
#[test]
fn on_aws_the_controller_is_told_what_it_reads() {
    let settings = json!({
        "clusterName": "demo", "clusterEndpoint": "https://demo.invalid", "clusterCABundle": "LS0t", "interruptionQueue": "demo",
        "vmMemoryOverheadPercent": 0.05, "reservedENIs": 1, "isolatedVPC": true, "disableDryRun": true,
        "eksControlPlane": true, "enableZonalShift": false, "amiRefreshInterval": "5m", "subnetRefreshInterval": "5m",
        "securityGroupRefreshInterval": "5m", "awsFeatureGates": {"nodeClassCEL": false},
    });
    let container = container(json!({"provider": "aws", "settings": settings}));
    assert_eq!(container.command, ["plimsoll", "run", "--provider=aws"]);
    let flags = include_str!("../../../host/cli/src/flags/aws.rs");
    let words = flags
        .split_whitespace()
        .map(|word| word.trim_end_matches('.'));
    let is_variable = |word: &&str| {
        word.contains('_')
            && word
                .bytes()
                .all(|byte| byte.is_ascii_uppercase() || byte == b'_')
    };
    let read: Vec<&str> = words.filter(is_variable).collect();
    assert_eq!(read.len(), 14, "{read:?}");
    for variable in read {
        assert!(container.environment.contains_key(variable), "{variable}");
    }
}

#[test]
fn gates_are_opened_and_shut_under_their_names() {
    let gates = |open: bool| {
        let gates = GATES
            .iter()
            .map(|(key, _)| ((*key).to_owned(), Value::from(open)));
        let gates: Map<String, Value> = gates.collect();
        let told = container(json!({"settings": {"featureGates": gates}}));
        told.environment["FEATURE_GATES"].clone()
    };
    for open in [true, false] {
        let mut wanted = GATES.map(|(_, name)| format!("{name}={open}"));
        wanted.sort();
        assert_eq!(gates(open), wanted.join(","));
    }
}

#[test]
fn what_modules_may_be_becomes_flags() {
    let values = json!({"largeModules": true, "policyMemory": "512Mi"});
    assert_eq!(
        container(values).command[3..],
        ["--large-modules", "--policy-memory=512Mi"]
    );
}
