//! Default spread constraints of the cluster's scheduler reach the plans of a controller that is told them.

use plimsoll_lab::{Call, Verb, apply};
use serde_json::json;

use super::PATIENCE;
use super::served::{Asked, Served};
use super::workloads::deployment;

const REPLICAS: usize = 3;

/// Claims that were made.
fn claims(calls: &[Call]) -> usize {
    let made = calls.iter();
    let made = made.filter(|call| call.verb == Verb::Create && call.resource == "nodeclaims");
    made.count()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pods_that_say_nothing_of_spread_are_spread_as_the_scheduler_does() {
    let by_node = r#"{"podTopologySpread": {"defaultConstraints": [
        {"maxSkew": 1, "topologyKey": "kubernetes.io/hostname", "whenUnsatisfiable": "DoNotSchedule"}]}}"#;
    let served = Served::start(Asked {
        flags: vec![format!("--scheduler-config={by_node}")],
        ..Asked::default()
    })
    .await;
    // Small enough to share a node.
    let pods = deployment("web", REPLICAS, ("100m", "100Mi"), json!({}));
    apply(&served.client, &pods).await.expect("applied");
    let is_spread = |calls: &[Call]| claims(calls) >= REPLICAS;
    let spread = served.proxy.until("a claim for each", PATIENCE, is_spread);
    spread.await.expect("they are spread");
}
