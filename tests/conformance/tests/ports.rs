//! Host ports under the real scheduler: pods that share a host port get a node each.

use std::collections::BTreeSet;

use anyhow::{Context, Result};
use plimsoll_conformance::Served;
use plimsoll_conformance::manifest::{class, deployment, pool};
use plimsoll_controller::record::Line;
use plimsoll_engine::Input;
use serde_json::json;

use super::live::{bound, leaves_waiting};

/// Number of claims in the plan on this line; `None` for any other line.
fn planned(line: &Line) -> Option<usize> {
    match line {
        Line::Input(_, input) => match input.as_ref() {
            Input::Solved(_, plan) => Some(plan.claims.len()),
            _ => None,
        },
        _ => None,
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pods_whose_sidecars_share_a_host_port_get_a_node_each() -> Result<()> {
    let limited = |cpu: &str| pool("general", &json!({"limits": {"cpu": cpu}}));
    // The limit holds back every launch until all pods are there.
    let served = Served::start(&[class(), limited("0")]).await?;
    let proxy = json!({
        "name": "proxy", "image": "registry.k8s.io/pause", "restartPolicy": "Always",
        "ports": [{"containerPort": 15001, "hostPort": 15001}],
    });
    let sidecar = json!({"initContainers": [proxy]});
    served
        .apply(&deployment("web", 10, "100m", "64Mi", &sidecar))
        .await?;
    served
        .until_recorded("a plan that leaves all pods waiting", leaves_waiting(10))
        .await?;
    served.apply(&limited("1000")).await?;
    let pods = bound(&served, 10).await?;
    let nodes: BTreeSet<&String> = pods.values().collect();
    assert_eq!(nodes.len(), 10, "{pods:?}");

    let course = served.stop().await?;
    let lines = course.lines().collect::<Result<Vec<_>>>()?;
    let mut plans = lines
        .iter()
        .filter_map(planned)
        .filter(|claims| *claims > 0);
    let first = plans.next().context("a plan that buys")?;
    assert_eq!((first, plans.next()), (10, None), "all in one plan");
    Ok(())
}
