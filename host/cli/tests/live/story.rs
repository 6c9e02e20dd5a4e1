//! The program's log: one JSON object a line, with the steps of a node's life in Karpenter's words and order.

use serde_json::Value;

use super::served::{Asked, Served};

/// Steps of a node's life, in their order.
const STEPS: [&str; 9] = [
    "found provisionable pod(s)",
    "computed new nodeclaim(s) to fit pod(s)",
    "created nodeclaim",
    "launched nodeclaim",
    "registered nodeclaim",
    "initialized nodeclaim",
    "tainted node",
    "deleted node",
    "deleted nodeclaim",
];

/// K09: the log tells each step in Karpenter's words, in order. D05: so it does when the pods have gone.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_nodes_life_is_told_step_by_step() {
    let mut served = Served::start(Asked::default()).await;
    served.run_pods("web", 1).await;
    served.until_initialized().await;
    served.end_pods().await;
    served.until_no_nodes().await;
    let lines = served.until_told("deleted nodeclaim").await;
    let told: Vec<&str> = lines
        .iter()
        .filter_map(|line| line["message"].as_str())
        .filter(|message| STEPS.contains(message))
        .collect();
    assert_eq!(told, STEPS);
    let of = |message: &str| -> &Value {
        let mut lines = lines.iter();
        let found = lines.find(|line| line["message"] == message);
        found.expect("it is told")
    };
    let launched = of("launched nodeclaim");
    for key in [
        "provider-id",
        "instance-type",
        "zone",
        "capacity-type",
        "allocatable",
    ] {
        let value = launched[key].as_str().unwrap_or_default();
        assert!(!value.is_empty(), "{key} in {launched}");
    }
    assert_eq!(launched["NodeClaim"], of("created nodeclaim")["NodeClaim"]);
    assert_eq!(of("created nodeclaim")["NodePool"]["name"], "general");
    for line in &lines {
        assert_eq!(line["level"], "INFO", "nothing went wrong: {line}");
        let commit = line["commit"].as_str().unwrap_or_default();
        let hash = commit.strip_suffix("-dirty").unwrap_or(commit);
        let is_hash = hash.len() >= 7 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
        assert!(is_hash, "{line}");
    }
    served.end();
}
