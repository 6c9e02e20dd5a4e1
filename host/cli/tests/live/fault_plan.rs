//! The program with a fault plan: launches of one, five and fifty claims, too few machines, slow and lost answers, machines that end.

use std::collections::BTreeMap;
use std::path::PathBuf;

use kube::ResourceExt;
use kube::api::{Api, ListParams};
use kube::core::{ApiResource, DynamicObject, GroupVersionKind};
use plimsoll_lab::{Verb, until};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::served::{Asked, Served};
use super::{PATIENCE, position};

const CLAIMS: usize = 12;
const SPOT: usize = 4;

/// The program with this plan; the folder holds the plan as long as it is kept.
async fn start(plan: &Value) -> (Served, TempDir) {
    let folder = tempfile::tempdir().expect("a folder");
    let path: PathBuf = folder.path().join("faults.json");
    std::fs::write(&path, plan.to_string()).expect("written");
    let flags = vec![format!("--fault-plan={}", path.display())];
    let mut asked = Asked {
        flags,
        ..Asked::default()
    };
    // Machines that hold one pod each.
    let small = json!({"key": "karpenter.kwok.sh/instance-cpu", "operator": "In", "values": ["4"]});
    let requirements = "/spec/template/spec/requirements";
    for object in &mut asked.objects {
        if let Some(Value::Array(all)) = object.pointer_mut(requirements) {
            all.push(small.clone());
        }
    }
    let served = Served::start(asked);
    (served.await, folder)
}

async fn claims(served: &Served) -> Vec<DynamicObject> {
    let resource = ApiResource::from_gvk(&GroupVersionKind::gvk("karpenter.sh", "v1", "NodeClaim"));
    let claims: Api<DynamicObject> = Api::all_with(served.client.clone(), &resource);
    let claims = claims.list(&ListParams::default()).await;
    claims.expect("claims").items
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
    let (served, _folder) = start(&plan).await;
    served.run_pods("web", CLAIMS).await;
    served.until_initialized().await;
    let nodes = served.nodes().await;
    let mut by_claim: BTreeMap<String, usize> = BTreeMap::new();
    for owner in nodes.iter().flat_map(ResourceExt::owner_references) {
        *by_claim.entry(owner.uid.clone()).or_default() += 1;
    }
    let claims = claims(&served).await;
    assert_eq!(nodes.len(), claims.len(), "a machine for each claim");
    assert!(by_claim.values().all(|nodes| *nodes == 1), "{by_claim:?}");
    let is_spot =
        |labels: &BTreeMap<String, String>| labels["karpenter.sh/capacity-type"] == "spot";
    let spot = nodes.iter().filter(|node| is_spot(node.labels())).count();
    assert!(
        spot <= SPOT,
        "{spot} machines of a stock of {SPOT} were sold"
    );
    let sizes = sizes(&claims);
    served.end_pods().await;
    served.until_no_nodes().await;
    served.end();
    sizes
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn launches_of_one_five_and_fifty_claims_give_each_one_machine() {
    assert!(launches_of(1).await.iter().all(|size| *size == 1));
    let five = launches_of(5).await;
    assert!(five.iter().all(|size| *size <= 5), "{five:?}");
    assert!(five.iter().any(|size| *size > 1), "{five:?}");
    let fifty = launches_of(50).await;
    assert!(fifty.iter().any(|size| *size > 5), "{fifty:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn machines_that_end_by_themselves_are_announced_and_leave_no_claim() {
    let plan = json!({"endingPercent": 100, "lifetime": "20s", "notice": "10s"});
    let (served, _folder) = start(&plan).await;
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
