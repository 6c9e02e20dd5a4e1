//! Metrics of a cluster that launched nodes, consolidated and ended them: both dashboards find what they query, and counts are what
//! happened.

#![expect(clippy::float_cmp, reason = "counts are whole")]

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::Pod;
use kube::ResourceExt;
use kube::api::{Api, DeleteParams, ListParams, PostParams};
use plimsoll_lab::{example_class, example_pool, pending_pod, until};
use plimsoll_oracles::exposition::{self, Families};
use serde_json::json;

use super::PATIENCE;
use super::served::{Asked, Served, until_bound};

/// Metrics and labels that the dashboards query.
const DASHBOARDS: &str = include_str!("dashboards.txt");
/// Nodes that are launched, for one pod each, and a small one on one of them.
const NODES: usize = 3;
const POOL: (&str, &str) = ("nodepool", "general");

/// All that is told now; what breaks a rule of the format fails the test.
async fn told(served: &mut Served) -> Families {
    let answer = served.get("metrics-port", "/metrics").await;
    let (head, text) = answer.split_once("\r\n\r\n").expect("an answer");
    assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
    exposition::read(text).expect("the text format")
}

/// The sum of a metric's samples with these labels; 0 where there is none.
fn sum(families: &Families, name: &str, labels: &[(&str, &str)]) -> f64 {
    let family = families.get(name);
    family.and_then(|own| own.sum(labels)).unwrap_or_default()
}

/// Observations of a summary or histogram.
fn count(families: &Families, name: &str) -> f64 {
    let family = families.get(name);
    let counts = family.and_then(|own| own.sum_of("_count", &[]));
    counts.unwrap_or_default()
}

/// Rows of the list that are missing, of another type, or without their labels.
fn missing(families: &Families) -> Vec<String> {
    let rows = DASHBOARDS.lines().filter(|line| !line.starts_with('#'));
    let lacks = |row: &&str| {
        let mut words = row.split(' ').skip(1);
        let (Some(kind), Some(name)) = (words.next(), words.next()) else {
            return true;
        };
        let labels: Vec<&str> = words.collect();
        let Some(family) = families.get(name) else {
            return true;
        };
        let has = |label: &&str| {
            let mut samples = family.samples.iter();
            samples.any(|sample| sample.labels.get(*label).is_some_and(|it| !it.is_empty()))
        };
        family.kind != kind || !labels.iter().all(has)
    };
    rows.filter(lacks).map(ToOwned::to_owned).collect()
}

/// Pods by the node that they are bound to.
async fn by_node(pods: &Api<Pod>) -> BTreeMap<String, Vec<String>> {
    let mut nodes: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let listed = pods.list(&ListParams::default()).await.expect("pods");
    for pod in listed.items {
        let name = pod.name_any();
        let node = pod.spec.and_then(|spec| spec.node_name);
        nodes.entry(node.expect("bound")).or_default().push(name);
    }
    nodes
}

/// A pool with limits, whose nodes go as soon as they are not needed, all at once.
fn asked() -> Asked {
    let mut pool = example_pool();
    pool["spec"]["limits"] = json!({"cpu": "1000", "memory": "4000Gi"});
    pool["spec"]["disruption"] = json!({
        "consolidateAfter": "1s",
        "budgets": [{"nodes": "100%"}],
    });
    Asked {
        objects: vec![example_class(), pool],
        ..Asked::default()
    }
}

/// Pods that share no node with one another, each with room for a small one beside it.
async fn run_apart(served: &Served) {
    let pods = served.pods();
    let labels = json!({"app": "web"});
    for number in 0..NODES {
        let mut pod = pending_pod(&format!("web-{number}"), "1", "1Gi");
        pod.metadata.labels = serde_json::from_value(labels.clone()).expect("labels");
        let apart = json!({"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
            {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": labels}},
        ]}});
        let spec = pod.spec.as_mut().expect("a pod has one");
        spec.affinity = serde_json::from_value(apart).expect("an affinity");
        let made = pods.create(&PostParams::default(), &pod).await;
        made.expect("a pod");
    }
    until_bound(&pods).await;
}

/// A small pod on one of the nodes, and that node's other pod ended: its node is not needed any more.
async fn leave_a_node_underused(served: &Served) {
    let pods = served.pods();
    let small = pending_pod("small", "100m", "16Mi");
    let made = pods.create(&PostParams::default(), &small).await;
    made.expect("a pod");
    until_bound(&pods).await;
    let nodes = by_node(&pods).await;
    assert_eq!(nodes.len(), NODES, "{nodes:?}");
    let mut beside = nodes.values().filter(|own| own.len() > 1).flatten();
    let web = beside
        .find(|name| name.as_str() != "small")
        .expect("one beside it");
    let now = DeleteParams::default().grace_period(0);
    pods.delete(web, &now).await.expect("deleted");
}

/// Waits until figures are so; all of them then.
async fn until_so(served: &mut Served, is_so: impl Fn(&Families) -> bool) -> Families {
    let waited = until("the figures", PATIENCE, async || {
        let told = told(served).await;
        Ok(is_so(&told).then_some(told))
    });
    waited.await.expect("told in time")
}

/// Figures while one node of three has been consolidated away.
fn assert_consolidated(families: &Families) {
    assert_eq!(missing(families), [""; 0]);
    let is = |name: &str, labels: &[(&str, &str)]| sum(families, name, labels);
    let cpu = [POOL, ("resource_type", "cpu")];
    assert_eq!(is("karpenter_nodepools_limit", &cpu), 1000.0);
    let moved = ("reason", "underutilized");
    let kind = [
        ("decision", "delete"),
        moved,
        ("consolidation_type", "single"),
    ];
    assert!(is("karpenter_voluntary_disruption_decisions_total", &kind) >= 1.0);
    assert!(is("karpenter_nodeclaims_disrupted_total", &[moved, POOL]) >= 1.0);
    let reason = [("reason", "Underutilized")];
    assert!(is("karpenter_pods_drained_total", &reason) >= 1.0);
}

/// Cost and bounds of the last plan, which are of what its pool may buy: on-demand, though spot is cheaper. No two of its pods share a node,
/// which the bound does not know, and each needs half of the smallest.
fn assert_bounded(families: &Families) {
    let is = |name: &str| sum(families, &format!("plimsoll_packing_{name}"), &[]);
    let (cost, bound) = (is("cost_dollars_per_hour"), is("bound_dollars_per_hour"));
    let unguarded = is("unguarded_bound_dollars_per_hour");
    assert!(
        0.0 < unguarded && unguarded < bound,
        "{unguarded} < {bound}"
    );
    assert!(bound <= cost + 1e-9, "{bound} <= {cost}");
    let gap = is("gap_ratio");
    assert!((0.5..1.0).contains(&gap), "{gap}");
}

/// Figures once every node has come and gone, each with one pod, and one pod beside those.
fn assert_ended(families: &Families, nodes: f64) {
    let is = |name: &str, labels: &[(&str, &str)]| sum(families, name, labels);
    let provisioned = [
        ("reason", "provisioned"),
        POOL,
        ("min_values_relaxed", "false"),
    ];
    assert_eq!(
        is("karpenter_nodeclaims_created_total", &provisioned),
        nodes
    );
    for name in [
        "karpenter_nodeclaims_created_total",
        "karpenter_nodeclaims_disrupted_total",
        "karpenter_nodeclaims_terminated_total",
        "karpenter_nodes_created_total",
        "karpenter_nodes_drained_total",
        "karpenter_nodes_terminated_total",
    ] {
        assert_eq!(is(name, &[POOL]), nodes, "{name}");
    }
    let empty = [("reason", "empty")];
    assert!(is("karpenter_nodeclaims_disrupted_total", &empty) >= 1.0);
    for (name, observed) in [
        ("karpenter_nodes_lifetime_duration_seconds", nodes),
        ("karpenter_nodes_termination_duration_seconds", nodes),
        ("karpenter_nodeclaims_termination_duration_seconds", nodes),
        (
            "karpenter_nodeclaims_instance_termination_duration_seconds",
            nodes,
        ),
        ("karpenter_pods_startup_duration_seconds", nodes + 1.0),
        ("karpenter_pods_bound_duration_seconds", nodes + 1.0),
    ] {
        assert_eq!(count(families, name), observed, "{name}");
    }
    let evicted = is("karpenter_pods_eviction_requests_total", &[("code", "200")]);
    assert_eq!(evicted, is("karpenter_pods_drained_total", &[]));
    let calls = &families["karpenter_cloudprovider_duration_seconds"];
    let launches = calls.sum_of("_count", &[("method", "Create"), ("provider", "kwok")]);
    assert!(launches.is_some_and(|calls| calls >= 1.0));
    for gone in ["karpenter_nodes_allocatable", "karpenter_pods_state"] {
        assert!(!families.contains_key(gone), "{gone}");
    }
    let left = [POOL, ("resource_type", "nodes")];
    assert_eq!(is("karpenter_nodepools_usage", &left), 0.0);
    let version = [("version", env!("CARGO_PKG_VERSION"))];
    assert_eq!(is("karpenter_build_info", &version), 1.0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dashboards_find_what_they_query_and_counts_are_what_happened() {
    let mut served = Served::start(asked()).await;
    run_apart(&served).await;
    served.until_initialized().await;
    assert_eq!(served.nodes().await.len(), NODES);
    leave_a_node_underused(&served).await;
    let is_gone = |told: &Families| sum(told, "karpenter_nodes_terminated_total", &[]) >= 1.0;
    let told = until_so(&mut served, is_gone).await;
    assert_bounded(&told);
    assert_consolidated(&told);

    served.end_pods().await;
    served.until_no_nodes().await;
    let nodes = f64::from(u32::try_from(NODES).expect("few"));
    let is_over = |told: &Families| {
        let gone = sum(told, "karpenter_nodeclaims_terminated_total", &[]);
        let ended = count(told, "karpenter_nodes_termination_duration_seconds");
        gone >= nodes && ended >= nodes
    };
    assert_ended(&until_so(&mut served, is_over).await, nodes);
    served.end();
}
