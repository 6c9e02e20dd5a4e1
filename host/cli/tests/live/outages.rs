//! An API server that is away for a while, and one that takes long for every answer: the program goes on by itself, the cluster comes to
//! where it was to come, and no node is taken away before all is read anew.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use kube::ResourceExt;
use plimsoll_lab::{Fault, Rule, until};

use super::PATIENCE;
use super::served::{ALONE, Asked, NAME, Served, assert_read_before_disruption, in_full};

const SERVER: &str = "kube-apiserver";

fn alone(rules: Vec<Rule>) -> Asked {
    Asked {
        flags: vec![ALONE.to_owned()],
        rules,
        ..Asked::default()
    }
}

/// Asserts that each claim has one node.
async fn assert_no_doubles(served: &Served) {
    let nodes = served.nodes().await;
    let owners = nodes.iter().flat_map(ResourceExt::owner_references);
    let owners: BTreeSet<&str> = owners.map(|owner| owner.uid.as_str()).collect();
    assert_eq!(owners.len(), nodes.len(), "no claim has two nodes");
}

/// Empty nodes go 16 s after their pods at the earliest, so that the server is away, or just back, when they would have gone.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_api_server_that_was_away_is_read_anew_before_a_node_goes() {
    let away = Duration::from_secs(if in_full() { 60 } else { 16 });
    let mut served = Served::start(alone(Vec::new())).await;
    served.run_pods("web", 3).await;
    served.end_pods().await;
    let ended = Instant::now();
    served.lab.kill(SERVER).expect("it runs");
    let passed = until("the time that it is away", PATIENCE, async || {
        Ok((ended.elapsed() >= away).then_some(()))
    });
    passed.await.expect("passed");
    // Requests on their way were cut with the server; those from here on reach the new one.
    let back = served.proxy.calls().len();
    served.lab.start_again(SERVER).await.expect("it is back");
    served.until_no_nodes().await;
    assert_read_before_disruption(&served.proxy.calls(), back);

    served.run_pods("again", 2).await;
    assert_no_doubles(&served).await;
    let ended = served.lab.has_ended(NAME).expect("it is known");
    assert_eq!(ended, None, "the same process served all the time");
    assert!(served.end().decisions > 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_api_server_that_answers_late_is_waited_for() {
    let late = Duration::from_secs(if in_full() { 5 } else { 1 });
    let served = Served::start(alone(vec![Rule::new(&[], &[], Fault::Delay(late))])).await;
    served.run_pods("web", 3).await;
    assert_no_doubles(&served).await;
    served.until_initialized().await;
    let from = served.proxy.calls().len();
    served.end_pods().await;
    served.until_no_nodes().await;
    assert_read_before_disruption(&served.proxy.calls(), from);
    assert!(served.end().decisions > 0);
}
