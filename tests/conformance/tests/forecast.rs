//! Ten clusters, each simulated from the first snapshot on which its controller decides: what the simulator says is what then happens.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::core::v1::Pod;
use kube::core::DynamicObject;
use kube::{Api, ResourceExt};
use plimsoll_api::Kind;
use plimsoll_conformance::forecast::{Listener, Outcome, lived, simulated};
use plimsoll_conformance::manifest::{class, deployment, pool};
use plimsoll_conformance::watch::until;
use plimsoll_conformance::{Served, Stage, native};
use plimsoll_controller::record::Line;
use plimsoll_model::snapshot::{Settings, Snapshot};
use serde_json::{Value, json};

const ZONE: &str = "topology.kubernetes.io/zone";
const HOST: &str = "kubernetes.io/hostname";

/// A cluster that is planned for, and maybe changed afterwards.
struct Scenario {
    pools: Vec<Value>,
    workloads: Vec<Value>,
    /// Objects that change once nothing happens any more, one list after the other, and the number of pods after each.
    then: Vec<(Vec<Value>, usize)>,
}

impl Scenario {
    fn new(pools: Vec<Value>, workloads: Vec<Value>) -> Self {
        Self {
            pools,
            workloads,
            then: Vec::new(),
        }
    }

    /// Afterwards these objects change, which leaves so many pods.
    fn then(mut self, objects: Vec<Value>, pods: usize) -> Self {
        self.then.push((objects, pods));
        self
    }

    fn pods(&self) -> usize {
        let replicas = |workload: &Value| workload["spec"]["replicas"].as_u64().unwrap_or(0);
        let pods: u64 = self.workloads.iter().map(replicas).sum();
        usize::try_from(pods).unwrap_or(usize::MAX)
    }
}

/// `true` if a claim says that its node is initialised.
fn is_initialized(claim: &Value) -> bool {
    let conditions = claim["status"]["conditions"].as_array();
    let mut conditions = conditions.into_iter().flatten();
    conditions.any(|own| own["type"] == "Initialized" && own["status"] == "True")
}

/// Waits until there are so many pods, none of them going; those that are not bound were looked at by the scheduler.
async fn until_pods(stage: &Stage, count: usize) -> Result<()> {
    let pods: Api<Pod> = Api::namespaced(stage.client(), "default");
    let is_settled = |pod: &Pod| {
        let status = pod.status.as_ref();
        let mut conditions = status
            .and_then(|it| it.conditions.as_ref())
            .into_iter()
            .flatten();
        pod.metadata.deletion_timestamp.is_none()
            && conditions.any(|own| own.type_ == "PodScheduled")
    };
    let all = |pods: &BTreeMap<String, Pod>| pods.len() == count && pods.values().all(is_settled);
    let what = format!("{count} pods that the scheduler has looked at");
    until(pods, &what, all, ResourceExt::name_any).await?;
    Ok(())
}

/// The first snapshot on which the controller decides.
async fn first_snapshot(served: &Served) -> Result<Arc<Snapshot>> {
    let mut listener = Listener::default();
    let find = |line| listener.hear(line);
    served.until_found("a decision", find).await
}

/// Waits until as many claims are there and complete as were foretold, and as many commands at their end.
async fn until_like(served: &Served, foretold: &Outcome) -> Result<()> {
    let claims: Api<DynamicObject> = plimsoll_kube::api(&served.client(), Kind::NodeClaim);
    let is_complete = |claim: &DynamicObject| {
        claim.metadata.deletion_timestamp.is_none() && is_initialized(&claim.data)
    };
    let count = foretold.claim_count();
    let like = |claims: &BTreeMap<String, DynamicObject>| {
        claims.len() == count && claims.values().all(is_complete)
    };
    let moves = foretold.moves.len();
    if moves > 0 {
        let mut ended = 0;
        let find = |line| {
            if let Line::Action(action) = line {
                ended += usize::from(action.get("Settle").is_some());
            }
            (ended == moves).then_some(())
        };
        let what = format!("{moves} commands to end");
        served.until_found(&what, find).await?;
    }
    let what = format!("{foretold:?}");
    until(claims, &what, like, |claim| format!("{:?}", claim.data)).await?;
    Ok(())
}

/// Serves until all is as the simulator says, and compares.
async fn serve(stage: Stage) -> Result<(Stage, Outcome)> {
    let settings = Settings::default();
    let served = stage.serve(settings).await?;
    let snapshot = first_snapshot(&served).await?;
    let foretold = simulated(&snapshot, &native());
    let reached = until_like(&served, &foretold).await;
    let (stage, course) = served.leave().await?;
    let lived = lived(&course)?;
    assert_eq!(
        lived, foretold,
        "what happened, and what the simulator said"
    );
    reached?;
    Ok((stage, foretold))
}

/// Plays a scenario; what came of it at first, and after the change.
async fn play(scenario: &Scenario) -> Result<Vec<Outcome>> {
    let objects = [&[class()], &*scenario.pools, &*scenario.workloads].concat();
    let stage = Stage::start(Duration::ZERO..=Duration::ZERO, &objects).await?;
    until_pods(&stage, scenario.pods()).await?;
    let (stage, first) = serve(stage).await?;
    ensure!(first.claim_count() > 0, "nothing was bought");
    let mut outcomes = vec![first];
    for (objects, pods) in &scenario.then {
        for object in objects {
            stage.apply(object).await?;
        }
        until_pods(&stage, *pods).await?;
    }
    if !scenario.then.is_empty() {
        outcomes.push(serve(stage).await?.1);
    }
    Ok(outcomes)
}

/// Plays one that is not changed.
async fn bought(scenario: Scenario) -> Result<Outcome> {
    let mut outcomes = play(&scenario).await?;
    outcomes.pop().context("an outcome")
}

/// Plays one that is changed: the moves.
async fn moved(scenario: Scenario) -> Result<Vec<String>> {
    Ok(bought(scenario).await?.moves)
}

fn small_and_large(replicas: (u32, u32)) -> Vec<Value> {
    vec![
        deployment("small", replicas.0, "300m", "700Mi", &json!({})),
        deployment("large", replicas.1, "2500m", "4Gi", &json!({})),
    ]
}

fn general(more: &Value) -> Value {
    pool("general", more)
}

/// A pool whose nodes may be removed a second after they could be.
fn soon() -> Value {
    general(&json!({"disruption": {"consolidateAfter": "1s", "budgets": [{"nodes": "100%"}]}}))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pods_of_one_shape() -> Result<()> {
    let web = deployment("web", 30, "900m", "1500Mi", &json!({}));
    bought(Scenario::new(vec![general(&json!({}))], vec![web])).await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pods_of_unlike_shapes() -> Result<()> {
    let mut workloads = small_and_large((25, 7));
    workloads.push(deployment("memory", 5, "200m", "6Gi", &json!({})));
    bought(Scenario::new(vec![general(&json!({}))], workloads)).await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pods_spread_over_zones() -> Result<()> {
    let spread = json!({"topologySpreadConstraints": [{
        "maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "web"}},
    }]});
    let web = deployment("web", 10, "600m", "1Gi", &spread);
    bought(Scenario::new(vec![general(&json!({}))], vec![web])).await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pods_one_to_a_node() -> Result<()> {
    let apart = json!({"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
        {"topologyKey": HOST, "labelSelector": {"matchLabels": {"app": "apart"}}},
    ]}}});
    let mut workloads = small_and_large((6, 0));
    workloads.push(deployment("apart", 5, "400m", "256Mi", &apart));
    let outcome = bought(Scenario::new(vec![general(&json!({}))], workloads)).await?;
    assert!(outcome.claim_count() >= 5, "{outcome:?}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pools_by_weight_and_taint() -> Result<()> {
    let tainted = json!({"weight": 10, "template": {"spec": {
        "taints": [{"key": "team", "value": "batch", "effect": "NoSchedule"}],
    }}});
    let tolerant = json!({
        "nodeSelector": {"karpenter.sh/nodepool": "tainted"},
        "tolerations": [{"key": "team", "operator": "Exists"}],
    });
    let mut workloads = small_and_large((5, 2));
    workloads.push(deployment("batch", 8, "1", "1Gi", &tolerant));
    let pools = vec![general(&json!({})), pool("tainted", &tainted)];
    let outcome = bought(Scenario::new(pools, workloads)).await?;
    let in_pool = |name: &str| outcome.claims.keys().any(|claim| claim.starts_with(name));
    assert!(in_pool("general ") && in_pool("tainted "), "{outcome:?}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_limit_that_leaves_pods_waiting() -> Result<()> {
    let limited = general(&json!({"limits": {"cpu": "16"}}));
    let web = deployment("web", 30, "900m", "1Gi", &json!({}));
    bought(Scenario::new(vec![limited], vec![web])).await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn spot_where_it_may_be() -> Result<()> {
    let both = json!({"template": {"spec": {"requirements": [
        {"key": "kubernetes.io/os", "operator": "In", "values": ["linux"]},
        {"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["spot", "on-demand"]},
    ]}}});
    let base = json!({"nodeSelector": {"karpenter.sh/capacity-type": "on-demand"}});
    let mut workloads = small_and_large((12, 3));
    workloads.push(deployment("base", 4, "700m", "1Gi", &base));
    let outcome = bought(Scenario::new(vec![general(&both)], workloads)).await?;
    let of = |kind: &str| outcome.claims.keys().any(|claim| claim.ends_with(kind));
    assert!(of(" spot") && of(" on-demand"), "{outcome:?}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_that_are_empty() -> Result<()> {
    let scenario = Scenario::new(vec![general(&json!({}))], small_and_large((0, 6)));
    let moves = moved(scenario.then([vec![soon()], small_and_large((0, 0))].concat(), 0)).await?;
    assert!(
        moves.iter().all(|it| it.starts_with("Empty: ")),
        "{moves:?}"
    );
    assert!(!moves.is_empty());
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_that_are_too_many() -> Result<()> {
    // Each node of four cores holds one pod of each workload, wherever the scheduler has put which: pods of `db` keep apart, and beside one
    // there is room for one of `web`. Which of its pods a ReplicaSet takes away is its own business.
    let own = json!({"matchLabels": {"app": "db"}});
    let term = json!({"labelSelector": own, "topologyKey": HOST});
    let apart = json!({"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}});
    let db = |replicas| deployment("db", replicas, "2200m", "1Gi", &apart);
    let web = deployment("web", 4, "1200m", "1Gi", &json!({}));
    let four = json!({"template": {"spec": {"requirements": [
        {"key": "kubernetes.io/os", "operator": "In", "values": ["linux"]},
        {"key": "karpenter.kwok.sh/instance-cpu", "operator": "In", "values": ["4"]},
    ]}}});
    let settings = |more: &Value| {
        let mut pool = general(&four);
        pool["spec"]["disruption"] = more.clone();
        pool
    };
    let later = settings(&json!({"consolidateAfter": "Never"}));
    let soon = settings(&json!({"consolidateAfter": "1s", "budgets": [{"nodes": "100%"}]}));
    let scenario = Scenario::new(vec![later], vec![db(4)]);
    let scenario = scenario.then(vec![web], 8).then(vec![soon, db(0)], 4);
    let moves = moved(scenario).await?;
    let is_saving = |it: &String| it.starts_with("Underutilized: ");
    assert!(moves.iter().any(is_saving), "{moves:?}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_that_have_drifted() -> Result<()> {
    let labelled = general(&json!({"template": {"metadata": {"labels": {"team": "shop"}}}}));
    let scenario = Scenario::new(vec![general(&json!({}))], small_and_large((4, 1)));
    let moves = moved(scenario.then(vec![labelled], 5)).await?;
    assert!(
        moves.iter().all(|it| it.starts_with("Drifted: ")),
        "{moves:?}"
    );
    assert!(!moves.is_empty());
    Ok(())
}
