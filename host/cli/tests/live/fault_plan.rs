//! The program with a fault plan: launches of one, five and fifty claims, too few instances, slow and lost answers, instances that end.

use std::collections::BTreeMap;
use std::path::PathBuf;

use kube::ResourceExt;
use kube::api::{Api, ListParams};
use kube::core::{ApiResource, DynamicObject, GroupVersionKind};
use plimsoll_lab::{Verb, apply, example_class, example_pool, until};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::served::{Asked, NAME, Served};
use super::{PATIENCE, position};

const CLAIMS: usize = 12;
const SPOT: usize = 4;

/// A pool of instances that hold one pod each, whose empty nodes go after this time.
fn pool(consolidate_after: &str) -> Value {
    let mut pool = example_pool();
    pool["spec"]["disruption"]["consolidateAfter"] = consolidate_after.into();
    let small = json!({"key": "karpenter.kwok.sh/instance-cpu", "operator": "In", "values": ["4"]});
    let requirements = pool.pointer_mut("/spec/template/spec/requirements");
    let requirements = requirements.and_then(Value::as_array_mut);
    requirements.expect("requirements").push(small);
    pool
}

/// The program with this plan and pool; the folder holds the plan as long as it is kept.
async fn start(plan: &Value, pool: Value) -> (Served, TempDir) {
    let folder = tempfile::tempdir().expect("a folder");
    let path: PathBuf = folder.path().join("faults.json");
    std::fs::write(&path, plan.to_string()).expect("written");
    let served = Served::start(Asked {
        flags: vec![format!("--fault-plan={}", path.display())],
        objects: vec![example_class(), pool],
        ..Asked::default()
    });
    (served.await, folder)
}

async fn claims(served: &Served) -> Vec<DynamicObject> {
    let resource = ApiResource::from_gvk(&GroupVersionKind::gvk("karpenter.sh", "v1", "NodeClaim"));
    let claims: Api<DynamicObject> = Api::all_with(served.client.clone(), &resource);
    let claims = claims.list(&ListParams::default()).await;
    claims.expect("claims").items
}

fn is_initialized(claim: &DynamicObject) -> bool {
    let conditions = claim.data["status"]["conditions"].as_array();
    let mut conditions = conditions.into_iter().flatten();
    conditions.any(|own| own["type"] == "Initialized" && own["status"] == "True")
}

/// Sizes of the launches that the claims were made by.
fn sizes(claims: &[DynamicObject]) -> Vec<usize> {
    let size = |claim: &DynamicObject| {
        let written = claim.annotations().get("plimsoll.dev/launch-batch");
        written.expect("a batch").parse().expect("a number")
    };
    claims.iter().map(size).collect()
}

/// Twelve nodes, of which the first four can be had cheaply; every third answer is lost.
async fn launches_of(batch: usize) -> Vec<usize> {
    let plan = json!({
        "seed": 3, "launchBatch": batch, "lostAnswersPercent": 33, "answerDelay": "20ms",
        "bootDelay": {"least": "0s", "most": "2s"},
        "stock": [{"capacityType": "spot", "available": SPOT}],
        "launchErrors": [{"class": "default", "message": "the role is not there yet", "calls": 1}],
    });
    // No node goes while they are counted, not even one whose pod is gone.
    let (mut served, _folder) = start(&plan, pool("Never")).await;
    served.run_pods("web", CLAIMS).await;
    let complete = until("the claims to be complete", PATIENCE, async || {
        let claims = claims(&served).await;
        Ok(claims.iter().all(is_initialized).then_some(()))
    });
    complete.await.expect("complete");
    let nodes = served.nodes().await;
    let mut by_claim: BTreeMap<String, usize> = BTreeMap::new();
    for owner in nodes.iter().flat_map(ResourceExt::owner_references) {
        *by_claim.entry(owner.uid.clone()).or_default() += 1;
    }
    let claims = claims(&served).await;
    let log = served.lab.log(NAME);
    assert_eq!(
        nodes.len(),
        claims.len(),
        "an instance for each claim: {log}"
    );
    assert!(by_claim.values().all(|nodes| *nodes == 1), "{by_claim:?}");
    let is_spot =
        |labels: &BTreeMap<String, String>| labels["karpenter.sh/capacity-type"] == "spot";
    let spot = nodes.iter().filter(|node| is_spot(node.labels())).count();
    assert!(
        spot <= SPOT,
        "{spot} instances of a stock of {SPOT} were sold"
    );
    let sizes = sizes(&claims);
    served.end_pods().await;
    let soon = pool("1s");
    apply(&served.client, &soon).await.expect("applied");
    served.until_no_nodes().await;
    served.end();
    sizes
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn launches_of_single_claims_give_each_one_machine() {
    assert!(launches_of(1).await.iter().all(|size| *size == 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn launches_of_five_claims_give_each_one_machine() {
    let five = launches_of(5).await;
    assert!(five.iter().all(|size| *size <= 5), "{five:?}");
    assert!(five.iter().any(|size| *size > 1), "{five:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn launches_of_fifty_claims_give_each_one_machine() {
    let fifty = launches_of(50).await;
    assert!(fifty.iter().any(|size| *size > 5), "{fifty:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn machines_that_end_by_themselves_are_announced_and_leave_no_claim() {
    let plan = json!({"endingPercent": 100, "lifetime": "20s", "notice": "10s"});
    let (served, _folder) = start(&plan, pool("1s")).await;
    served.run_pods("web", 3).await;
    let gone = until("the claims to go", PATIENCE, async || {
        Ok(claims(&served).await.is_empty().then_some(()))
    });
    gone.await.expect("gone");
    served.until_no_nodes().await;
    let calls = served.proxy.calls();
    let first = |resource: &str| position(&calls, Verb::Delete, resource).expect("a deletion");
    assert!(
        first("nodeclaims") < first("nodes"),
        "the drain begins when the end is announced"
    );
    served.end();
}
