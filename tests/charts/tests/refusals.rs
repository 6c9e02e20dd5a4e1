//! Values with mistakes are refused, with the key and what it should be; what has no effect is told after an installation.

use plimsoll_charts::{Release, folder};
use serde_json::Value;

/// Mistakes seen in the field, as values, and what the refusal must say. The schema speaks of the place and the key, templates of what was meant.
const REFUSED: &[(&str, &str)] = &[
    (
        r#"{"settings": {"interruptionQueueName": "q"}}"#,
        "settings.interruptionQueueName is no key of this chart; did you mean settings.interruptionQueue?",
    ),
    (
        r#"{"settings": {"aws": {"clusterName": "c", "interruptionQueueName": "q", "enablePodENI": true}}}"#,
        "what was below it moved up one level: settings.aws.clusterName is settings.clusterName; settings.aws.enablePodENI has no successor; settings.aws.interruptionQueueName is settings.interruptionQueue",
    ),
    (
        r#"{"settings": {"featureGates": {"spotToSpotConsolidations": true}}}"#,
        "at '/settings/featureGates': additional properties 'spotToSpotConsolidations' not allowed",
    ),
    (
        r#"{"settings": {"amiRefreshInterval": "30s"}}"#,
        "settings.amiRefreshInterval is \"30s\"; expected at least 1m",
    ),
    // Such a share leaves no memory, and the program refuses it.
    (
        r#"{"settings": {"vmMemoryOverheadPercent": 1}}"#,
        "at '/settings/vmMemoryOverheadPercent': exclusiveMaximum",
    ),
    (
        r#"{"settings": {"vmMemoryOverheadPercent": "7.5"}}"#,
        "at '/settings/vmMemoryOverheadPercent': '7.5' does not match pattern",
    ),
    (
        r#"{"settings": {"subnetRefreshInterval": "59s"}}"#,
        "settings.subnetRefreshInterval is \"59s\"; expected at least 1m",
    ),
    (
        r#"{"settings": {"securityGroupRefreshInterval": "59s"}}"#,
        "settings.securityGroupRefreshInterval is \"59s\"; expected at least 1m",
    ),
    (
        r#"{"settings": {"enableDRA": true}}"#,
        "settings.enableDRA is true; expected false: no node is planned for device claims",
    ),
    (
        r#"{"settings": {"featureGates": {"terminateFirstDrift": true}}}"#,
        "settings.featureGates.terminateFirstDrift is true; expected false: a drifted node is replaced once there is room",
    ),
    (
        r#"{"settings": {"featureGates": {"terminateFirstRepair": "true"}}}"#,
        "settings.featureGates.terminateFirstRepair is true; expected false",
    ),
    (
        r#"{"settings": {"featureGates": {"podDeletionCostManagement": true}}}"#,
        "settings.featureGates.podDeletionCostManagement is true; expected false",
    ),
    (
        r#"{"settings": {"awsFeatureGates": {"draNVIDIAGPU": true}}}"#,
        "settings.awsFeatureGates.draNVIDIAGPU is true; expected false",
    ),
    (
        r#"{"settings": {"awsFeatureGates": {"draEFA": true}}}"#,
        "settings.awsFeatureGates.draEFA is true; expected false",
    ),
    (
        r#"{"settings": {"awsFeatureGates": {"rebootForRepair": true}}}"#,
        "settings.awsFeatureGates.rebootForRepair is true; expected false: an unhealthy node is replaced",
    ),
    (
        r#"{"settings": {"legacyNodeRepair": false, "featureGates": {"nodeRepair": true}}}"#,
        "settings.legacyNodeRepair is false while settings.featureGates.nodeRepair is true; expected true",
    ),
    (
        r#"{"settings": {"clusterEndpoint": "a.eks.invalid"}}"#,
        "settings.clusterEndpoint is \"a.eks.invalid\"; expected an absolute URL, such as \"https://a.eks.invalid\"",
    ),
    (
        r#"{"setting": {}}"#,
        "additional properties 'setting' not allowed",
    ),
    (
        r#"{"replicaCount": 3}"#,
        "additional properties 'replicaCount' not allowed",
    ),
    (
        r#"{"controller": {"resource": {}}}"#,
        "at '/controller': additional properties 'resource' not allowed",
    ),
    (
        r#"{"controller": {"logLevel": "debug"}}"#,
        "controller.logLevel is no key of this chart; did you mean logLevel?",
    ),
    (
        r#"{"controller": {"outputPaths": ["stdout"]}}"#,
        "did you mean logOutputPaths?",
    ),
    (
        r#"{"serviceAccount": {"annotation": {}}}"#,
        "at '/serviceAccount': additional properties 'annotation' not allowed",
    ),
    (
        r#"{"serviceAccount": {"annotations": {"a": 1}}}"#,
        "at '/serviceAccount/annotations/a': got number, want null or string",
    ),
    (
        r#"{"replicas": "2"}"#,
        "at '/replicas': got string, want integer",
    ),
    (
        r#"{"tolerations": {"key": "a"}}"#,
        "at '/tolerations': got object, want array",
    ),
    (
        r#"{"settings": {"batchMaxDuration": "10"}}"#,
        "at '/settings/batchMaxDuration': '10' does not match pattern",
    ),
    (
        r#"{"settings": {"preferencePolicy": "respect"}}"#,
        "at '/settings/preferencePolicy': value must be one of 'Respect', 'Ignore'",
    ),
    (
        r#"{"settings": {"vmMemoryOverheadPercent": -0.1}}"#,
        "at '/settings/vmMemoryOverheadPercent': minimum: got -0.1, want 0",
    ),
    (
        r#"{"controller": {"metrics": {"port": 70000}}}"#,
        "at '/controller/metrics/port': maximum: got 70,000, want 65,535",
    ),
    (
        r#"{"controller": {"env": [{"value": "a"}]}}"#,
        "missing property 'name'",
    ),
    (
        r#"{"provider": "azure"}"#,
        "at '/provider': value must be one of 'kwok', 'aws'",
    ),
    (
        r#"{"provider": "aws"}"#,
        "settings.clusterName is empty; expected the name of the cluster, by which the provider aws tags what it makes",
    ),
    (
        r#"{"provider": "aws", "settings": {"clusterName": "demo", "enableZonalShift": true}}"#,
        "settings.enableZonalShift is true; expected false: zonal shifts are not followed",
    ),
    (
        r#"{"provider": "aws", "settings": {"clusterName": "{{ .Values.nameOverride }}"}}"#,
        "settings.clusterName is empty",
    ),
    (
        r#"{"policies": ["rank=list-price"]}"#,
        "additional properties 'policies' not allowed",
    ),
];

/// Values that are taken, and what is told of them.
const TOLD: &[(&str, &str)] = &[
    (
        r#"{"settings": {"featureGates": {"drift": false}}}"#,
        "warning: settings.featureGates.drift has no effect, drift is always on; a budget of a NodePool with reasons [Drifted] and nodes \"0\" holds it back",
    ),
    (
        r#"{"tolerations": [{"key": "nodegroup-type", "operator": "Exists"}]}"#,
        "note: tolerations takes the place of the default, which tolerated CriticalAddonsOnly",
    ),
    (
        r#"{"replicas": 2}"#,
        "note: no two replicas share a node: with fewer than 2 nodes outside the pools, the rest stay pending",
    ),
    (
        r#"{"webhook": {"enabled": true}}"#,
        "warning: webhook has no effect",
    ),
    (
        r#"{"logConfig": {"logEncoding": "console"}}"#,
        "warning: logConfig has no effect; logs are set by logLevel, logOutputPaths and logErrorOutputPaths",
    ),
    (
        r#"{"settings": {"assumeRoleARN": "arn:aws:iam::1:role/x"}}"#,
        "warning: settings.assumeRoleARN has no effect",
    ),
    (
        r#"{"settings": {"clusterName": "demo", "reservedENIs": 1}}"#,
        "note: the provider kwok does not read settings.clusterName, settings.reservedENIs",
    ),
    (
        r#"{"settings": {"enableZonalShift": true, "amiRefreshInterval": "5m"}}"#,
        "note: the provider kwok does not read settings.enableZonalShift, settings.amiRefreshInterval",
    ),
    (
        r#"{"provider": "aws", "settings": {"clusterName": "demo", "reservedENIs": 1, "eksControlPlane": true, "awsFeatureGates": {"nodeClassCEL": true}}}"#,
        "warning: settings.awsFeatureGates.nodeClassCEL has no effect: kubelet settings of EC2NodeClasses are values and no expressions",
    ),
    (
        r#"{"provider": "aws", "settings": {"clusterName": "demo"}}"#,
        "warning: settings.interruptionQueue is empty: spot instances that are taken back, and planned work of EC2, are heard of when they happen",
    ),
    (
        r#"{"provider": "aws", "settings": {"clusterName": "demo"}}"#,
        "note: serviceAccount.annotations has no eks.amazonaws.com/role-arn: credentials have to come from elsewhere, such as EKS Pod Identity",
    ),
    (
        r#"{"provider": "aws", "settings": {"clusterName": "demo"}, "serviceAccount": {"name": "nodes"}}"#,
        "  system:serviceaccount:kube-system:nodes    for the audience sts.amazonaws.com",
    ),
    (
        r#"{"serviceMonitor": {"enabled": true}}"#,
        "warning: serviceMonitor.enabled is true, and the API server has no ServiceMonitors: none was made",
    ),
    (
        r#"{"prometheusRule": {"enabled": true}}"#,
        "warning: prometheusRule.enabled is true, and the API server has no PrometheusRules: none was made",
    ),
    (
        "{}",
        "warning: the API server has no NodePools, and without them no replica becomes ready; install the chart plimsoll-crd",
    ),
];

fn release(values: &str) -> Release {
    let values: Value = serde_json::from_str(values).expect("JSON");
    Release::new("plimsoll", values)
}

#[test]
fn a_mistake_is_refused_with_its_key_and_what_was_meant() {
    for (values, words) in REFUSED {
        let refused = release(values).render().expect_err(values).to_string();
        assert!(refused.contains(words), "{values}: {refused}");
    }
}

#[test]
fn what_has_no_effect_and_what_keeps_it_from_starting_is_told() {
    for (values, words) in TOLD {
        let notes = release(values).notes().expect(values);
        assert!(
            notes.lines().any(|line| line == *words),
            "{values}: {notes}"
        );
    }
}

/// Without a cluster there are no NodePools; nothing else is missing here.
#[test]
fn nothing_is_told_that_is_not_so() {
    let on_aws = r#"{
        "replicas": 1, "provider": "aws",
        "settings": {
            "clusterName": "demo", "interruptionQueue": "demo", "isolatedVPC": true, "disableDryRun": true, "eksControlPlane": true,
            "amiRefreshInterval": "5m", "subnetRefreshInterval": "5m", "enableZonalShift": false, "awsFeatureGates": {"nodeClassCEL": false}
        },
        "serviceAccount": {"annotations": {"eks.amazonaws.com/role-arn": "arn:aws:iam::1:role/r"}}
    }"#;
    let notes = release(r#"{"replicas": 1}"#).notes().expect("told");
    for notes in [&notes, &release(on_aws).notes().expect("told")] {
        let said = notes
            .lines()
            .filter(|line| line.starts_with("warning:") || line.starts_with("note:"));
        assert_eq!(said.count(), 1, "{notes}");
    }
    let first = "deployment kube-system/plimsoll: 1 x plimsoll.dev/controller:";
    assert!(notes.starts_with(first), "{notes}");
}

/// The values that the chart itself has are what the schema describes, key by key.
#[test]
fn every_value_of_the_chart_is_in_its_schema() {
    let text = |file: &str| std::fs::read_to_string(folder("plimsoll").join(file)).expect(file);
    let schema: Value = serde_json::from_str(&text("values.schema.json")).expect("JSON");
    let values: Value = serde_saphyr::from_str(&text("values.yaml")).expect("YAML");
    let mut unlisted = Vec::new();
    let mut open = vec![(String::new(), &values, &schema)];
    while let Some((path, value, schema)) = open.pop() {
        for (key, value) in value.as_object().into_iter().flatten() {
            let path = format!("{path}.{key}");
            match &schema["properties"][key] {
                Value::Null if schema["additionalProperties"] == false => unlisted.push(path),
                schema => open.push((path, value, schema)),
            }
        }
    }
    assert_eq!(unlisted, [""; 0]);
}
