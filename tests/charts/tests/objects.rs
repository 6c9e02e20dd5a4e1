//! Objects of the chart: names, placement, rights, and what values change of them.

use std::collections::BTreeSet;

use plimsoll_charts::{Release, Rights, folder, of_kind};
use serde_json::{Value, json};

fn rendered(values: Value) -> Vec<Value> {
    Release::new("plimsoll", values)
        .render()
        .expect("it renders")
}

fn pod(objects: &[Value]) -> Value {
    of_kind(objects, "Deployment")[0]["spec"]["template"]["spec"].clone()
}

fn names(objects: &[Value]) -> BTreeSet<String> {
    let names = objects.iter().map(|object| {
        let metadata = &object["metadata"];
        let namespace = metadata["namespace"].as_str().unwrap_or("-");
        format!(
            "{} {namespace}/{}",
            object["kind"].as_str().unwrap_or_default(),
            metadata["name"].as_str().unwrap_or_default()
        )
    });
    names.collect()
}

#[test]
fn objects_are_named_after_the_release_and_carry_the_usual_labels() {
    let mut release = Release::new(
        "plimsoll",
        json!({"additionalLabels": {"team": "a"}, "additionalAnnotations": {"b": "c"}}),
    );
    release.name = "nodes";
    release.namespace = "nodes-system";
    let objects = release.render().expect("it renders");
    let wanted = [
        "ClusterRole -/nodes-plimsoll",
        "ClusterRole -/nodes-plimsoll-admin",
        "ClusterRole -/nodes-plimsoll-core",
        "ClusterRoleBinding -/nodes-plimsoll",
        "ClusterRoleBinding -/nodes-plimsoll-core",
        "Deployment nodes-system/nodes-plimsoll",
        "PodDisruptionBudget nodes-system/nodes-plimsoll",
        "Role nodes-system/nodes-plimsoll",
        "Role nodes-system/nodes-plimsoll-policies",
        "RoleBinding nodes-system/nodes-plimsoll",
        "RoleBinding nodes-system/nodes-plimsoll-policies",
        "Service nodes-system/nodes-plimsoll",
        "ServiceAccount nodes-system/nodes-plimsoll",
    ];
    assert_eq!(names(&objects), wanted.map(ToOwned::to_owned).into());
    for object in &objects {
        let labels = &object["metadata"]["labels"];
        for (key, value) in [
            ("app.kubernetes.io/name", "plimsoll"),
            ("app.kubernetes.io/instance", "nodes"),
            ("app.kubernetes.io/version", env!("CARGO_PKG_VERSION")),
            ("app.kubernetes.io/managed-by", "Helm"),
            ("team", "a"),
        ] {
            assert_eq!(labels[key], value, "{key} of {}", object["kind"]);
        }
        assert_eq!(
            object["metadata"]["annotations"]["b"], "c",
            "{}",
            object["kind"]
        );
    }
}

#[test]
fn charts_have_the_version_of_the_program() {
    for chart in ["plimsoll", "plimsoll-crd"] {
        let text = std::fs::read_to_string(folder(chart).join("Chart.yaml")).expect("Chart.yaml");
        let about: Value = serde_saphyr::from_str(&text).expect("YAML");
        for field in ["version", "appVersion"] {
            assert_eq!(
                about[field],
                env!("CARGO_PKG_VERSION"),
                "{field} of {chart}"
            );
        }
    }
}

/// Acceptance row I04: the controller never runs on a node of its own.
#[test]
fn it_stays_off_nodes_of_pools_and_goes_where_values_say() {
    let spec = pod(&rendered(json!({
        "nodeSelector": {"nodegroup-type": "managed-backend-workloads"},
        "tolerations": [{"key": "nodegroup-type", "operator": "Equal", "value": "managed-backend-workloads", "effect": "NoSchedule"}],
        "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchExpressions": [
            {"key": "karpenter.sh/nodepool", "operator": "DoesNotExist"},
            {"key": "eks.amazonaws.com/nodegroup", "operator": "In", "values": ["base"]},
        ]}]}}},
    })));
    let terms = &spec["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
        ["nodeSelectorTerms"];
    assert_eq!(
        terms[0]["matchExpressions"],
        json!([
            {"key": "karpenter.sh/nodepool", "operator": "DoesNotExist"},
            {"key": "eks.amazonaws.com/nodegroup", "operator": "In", "values": ["base"]},
        ])
    );
    let selector =
        json!({"kubernetes.io/os": "linux", "nodegroup-type": "managed-backend-workloads"});
    assert_eq!(spec["nodeSelector"], selector);
    assert_eq!(spec["tolerations"].as_array().map(Vec::len), Some(1));
}

#[test]
fn terms_without_a_selector_get_that_of_the_deployment() {
    let own = json!({"matchLabels": {"app.kubernetes.io/instance": "plimsoll", "app.kubernetes.io/name": "plimsoll"}});
    let theirs = json!({"matchLabels": {"a": "b"}});
    let spec = pod(&rendered(json!({
        "affinity": {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [
            {"weight": 1, "podAffinityTerm": {"topologyKey": "t"}},
            {"weight": 2, "podAffinityTerm": {"topologyKey": "t", "labelSelector": theirs}},
        ]}},
        "topologySpreadConstraints": [{"maxSkew": 2, "topologyKey": "t", "whenUnsatisfiable": "DoNotSchedule"}],
    })));
    let apart = &spec["affinity"]["podAntiAffinity"];
    assert_eq!(
        apart["requiredDuringSchedulingIgnoredDuringExecution"][0]["labelSelector"],
        own
    );
    let weighted = &apart["preferredDuringSchedulingIgnoredDuringExecution"];
    assert_eq!(weighted[0]["podAffinityTerm"]["labelSelector"], own);
    assert_eq!(weighted[1]["podAffinityTerm"]["labelSelector"], theirs);
    assert_eq!(spec["topologySpreadConstraints"][0]["labelSelector"], own);
}

#[test]
fn alerts_are_made_where_they_are_asked_for_and_name_labels_of_prometheus() {
    let values = json!({"prometheusRule": {
        "enabled": true, "additionalLabels": {"release": "p"}, "gapRatio": 0.25, "guardsRatio": 2.5,
        "additionalRules": [{"alert": "Own", "expr": "up == 0"}],
    }});
    let mut release = Release::new("plimsoll", values);
    release.api_versions = vec!["monitoring.coreos.com/v1"];
    let objects = release.render().expect("it renders");
    let rule = of_kind(&objects, "PrometheusRule")[0];
    assert_eq!(rule["metadata"]["labels"]["release"], "p");
    let rules = rule["spec"]["groups"][0]["rules"].as_array();
    let rules = rules.expect("a list");
    let names: Vec<&str> = rules
        .iter()
        .filter_map(|own| own["alert"].as_str())
        .collect();
    assert_eq!(
        names,
        [
            "PlimsollPlansAboveBound",
            "PlimsollGuardsCostMuch",
            "PlimsollPolicyFails",
            "PlimsollShadowFails",
            "PlimsollWatchStale",
            "PlimsollObjectsUnreadable",
            "Own"
        ]
    );
    let text = |at: usize, path: &str| {
        rules[at]
            .pointer(path)
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    let gap = "plimsoll_packing_gap_ratio{namespace=\"kube-system\"} > 0.25 and ";
    assert!(text(0, "/expr").starts_with(gap), "{}", text(0, "/expr"));
    assert!(text(1, "/expr").contains(" > 2.5 * plimsoll_packing_unguarded_bound"));
    let failing = text(2, "/annotations/description");
    assert!(
        failing.starts_with("Policy {{ $labels.policy }} of hook"),
        "{failing}"
    );
    release.values = json!({});
    let objects = release.render().expect("it renders");
    assert!(
        of_kind(&objects, "PrometheusRule").is_empty(),
        "off by default"
    );
}

#[test]
fn values_reach_the_objects_that_they_are_for() {
    let mut release = Release::new(
        "plimsoll",
        json!({
            "serviceAccount": {"annotations": {"eks.amazonaws.com/role-arn": "arn:aws:iam::1:role/r"}},
            "service": {"annotations": {"s": "t"}},
            "podDisruptionBudget": {"name": "karpenter", "maxUnavailable": "50%"},
            "serviceMonitor": {"enabled": true, "sampleLimit": 200_000, "additionalLabels": {"release": "p"}, "endpointConfig": {"interval": "30s"}},
            "controller": {
                "image": {"repository": "r/p", "tag": "t", "digest": format!("sha256:{}", "a".repeat(64))},
                "extraVolumeMounts": [{"name": "m", "mountPath": "/m"}],
                "sidecarContainer": [{"name": "side", "image": "i"}],
                "sidecarVolumeMounts": [{"name": "m", "mountPath": "/m"}],
                "securityContext": {"seccompProfile": {"type": "RuntimeDefault"}},
            },
            "extraVolumes": [{"name": "m", "emptyDir": {}}],
            "additionalClusterRoleRules": [{"apiGroups": ["a"], "resources": ["b"], "verbs": ["get"]}],
            "terminationGracePeriodSeconds": 7,
        }),
    );
    release.api_versions = vec!["monitoring.coreos.com/v1"];
    let objects = release.render().expect("it renders");
    let account = of_kind(&objects, "ServiceAccount")[0];
    assert_eq!(
        account["metadata"]["annotations"]["eks.amazonaws.com/role-arn"],
        "arn:aws:iam::1:role/r"
    );
    assert_eq!(account["automountServiceAccountToken"], false);
    assert_eq!(
        of_kind(&objects, "Service")[0]["metadata"]["annotations"]["s"],
        "t"
    );
    let budget = of_kind(&objects, "PodDisruptionBudget")[0];
    assert_eq!(
        (
            &budget["metadata"]["name"],
            &budget["spec"]["maxUnavailable"]
        ),
        (&json!("karpenter"), &json!("50%"))
    );
    let monitor = of_kind(&objects, "ServiceMonitor")[0];
    assert_eq!(monitor["spec"]["sampleLimit"], 200_000);
    assert_eq!(monitor["metadata"]["labels"]["release"], "p");
    assert_eq!(monitor["spec"]["endpoints"][0]["interval"], "30s");
    let spec = pod(&objects);
    let controller = &spec["containers"][0];
    assert_eq!(
        controller["image"],
        format!("r/p:t@sha256:{}", "a".repeat(64))
    );
    let mounts = controller["volumeMounts"].as_array().map(Vec::len);
    assert_eq!(
        (mounts, spec["volumes"].as_array().map(Vec::len)),
        (Some(2), Some(2))
    );
    assert_eq!(
        controller["securityContext"]["seccompProfile"]["type"],
        "RuntimeDefault"
    );
    assert_eq!(
        controller["securityContext"]["readOnlyRootFilesystem"],
        true
    );
    assert_eq!(spec["containers"][1]["volumeMounts"][0]["mountPath"], "/m");
    assert_eq!(spec["terminationGracePeriodSeconds"], 7);
    assert_eq!(spec["automountServiceAccountToken"], true);
    let rights = Rights::of(&objects, "kube-system", "plimsoll");
    assert!(rights.0.iter().any(|right| right.to_string() == "get b.a"));
}

/// Rights of the default values and of others, in words.
fn rights(values: Value) -> BTreeSet<String> {
    let rights = Rights::of(&rendered(values), "kube-system", "plimsoll");
    rights.0.iter().map(ToString::to_string).collect()
}

#[test]
fn rights_of_gates_come_with_their_gates() {
    let shut = rights(Value::Null);
    let open = rights(
        json!({"settings": {"featureGates": {"nodeOverlay": true, "capacityBuffer": "true"}}}),
    );
    let more: Vec<&String> = open.difference(&shut).collect();
    let wanted = [
        "get capacitybuffers.autoscaling.x-k8s.io",
        "get nodeoverlays.karpenter.sh",
        "list capacitybuffers.autoscaling.x-k8s.io",
        "list nodeoverlays.karpenter.sh",
        "list podtemplates",
        "patch capacitybuffers/status.autoscaling.x-k8s.io",
        "patch nodeoverlays/status.karpenter.sh",
        "watch capacitybuffers.autoscaling.x-k8s.io",
        "watch nodeoverlays.karpenter.sh",
        "watch podtemplates",
    ];
    assert_eq!(more, wanted);
    assert_eq!(shut.difference(&open).count(), 0);
}

/// Each provider has the rights on its own classes; the other's differ in nothing else.
#[test]
fn rights_of_providers_come_with_their_provider() {
    let aws = json!({"provider": "aws", "settings": {"clusterName": "demo"}});
    let (on_kwok, on_aws) = (rights(Value::Null), rights(aws.clone()));
    let more: Vec<&String> = on_aws.difference(&on_kwok).collect();
    let wanted = [
        "get services kube-system/kube-dns",
        "list ec2nodeclasses.karpenter.k8s.aws",
        "patch ec2nodeclasses.karpenter.k8s.aws",
        "patch ec2nodeclasses/status.karpenter.k8s.aws",
        "watch ec2nodeclasses.karpenter.k8s.aws",
    ];
    assert_eq!(more, wanted);
    let less: Vec<&String> = on_kwok.difference(&on_aws).collect();
    let wanted = [
        "create nodes",
        "get kwoknodeclasses.karpenter.kwok.sh",
        "list kwoknodeclasses.karpenter.kwok.sh",
        "watch kwoknodeclasses.karpenter.kwok.sh",
    ];
    assert_eq!(less, wanted);
    for (values, kind) in [(Value::Null, "kwoknodeclasses"), (aws, "ec2nodeclasses")] {
        let objects = rendered(values);
        let mut roles = of_kind(&objects, "ClusterRole").into_iter();
        let admin = roles.find(|role| role["metadata"]["name"] == "plimsoll-admin");
        let rules = admin.expect("a role")["rules"].as_array().cloned();
        let resources = rules
            .into_iter()
            .flatten()
            .map(|rule| rule["resources"].clone());
        let of_classes: Vec<Value> = resources
            .filter(|resources| resources.to_string().contains("classes"))
            .collect();
        assert_eq!(of_classes, [json!([kind])]);
    }
}

/// The Role for the cluster's DNS is where that is, whatever the release's namespace.
#[test]
fn the_address_of_the_cluster_s_dns_is_read_in_its_own_namespace() {
    let values = json!({"provider": "aws", "settings": {"clusterName": "demo"}});
    let mut release = Release::new("plimsoll", values);
    release.namespace = "nodes";
    let objects = release.render().expect("it renders");
    for object in [
        "Role kube-system/plimsoll-dns",
        "RoleBinding kube-system/plimsoll-dns",
    ] {
        assert!(names(&objects).contains(object), "{object}");
    }
    let rights = Rights::of(&objects, "nodes", "plimsoll").0;
    let of_services = rights.iter().map(ToString::to_string);
    let of_services: Vec<String> = of_services
        .filter(|own| own.contains(" services"))
        .collect();
    let wanted = [
        "get services kube-system/kube-dns",
        "list services",
        "watch services",
    ];
    let mut sorted = of_services.clone();
    sorted.sort();
    assert_eq!(sorted, wanted);
}

#[test]
fn configmaps_are_its_own_namespaces_alone() {
    let rights = rights(Value::Null).into_iter();
    let of_maps: Vec<String> = rights
        .filter(|right| right.contains("configmaps"))
        .collect();
    let own = ["create", "delete", "list", "watch"]
        .map(|verb| format!("{verb} configmaps kube-system/*"));
    assert_eq!(of_maps, own);
}

#[test]
fn nothing_is_asked_for_with_a_wildcard_and_secrets_are_nobodys() {
    let gates = json!({"nodeOverlay": true, "capacityBuffer": true});
    let kwok = json!({"settings": {"featureGates": gates}});
    let aws =
        json!({"provider": "aws", "settings": {"clusterName": "demo", "featureGates": gates}});
    let rights = [kwok, aws].map(|values| Rights::of(&rendered(values), "kube-system", "plimsoll"));
    for right in rights.into_iter().flat_map(|rights| rights.0) {
        for part in [&right.group, &right.resource, &right.verb] {
            assert!(part != "*" && part != "secrets", "{right}");
        }
    }
}
