//! Volumes attached to a node that is removed: its instance ends once they are detached, and everybody can see what is waited for.

use k8s_openapi::api::core::v1::Node;
use kube::ResourceExt;
use kube::api::{Api, DeleteParams, ListParams};
use kube::core::{ApiResource, DynamicObject, GroupVersionKind};
use plimsoll_lab::{apply, until};
use serde_json::{Value, json};

use super::PATIENCE;
use super::served::{Asked, Served};

fn objects(served: &Served, group: &str, kind: &str) -> Api<DynamicObject> {
    let kind = GroupVersionKind::gvk(group, "v1", kind);
    Api::all_with(served.client.clone(), &ApiResource::from_gvk(&kind))
}

/// The only claim.
async fn claim(served: &Served) -> DynamicObject {
    let claims = objects(served, "karpenter.sh", "NodeClaim");
    let listed = claims.list(&ListParams::default()).await.expect("claims");
    listed.items.into_iter().next().expect("a claim")
}

/// Status and reason of a condition of an object.
fn condition(object: &DynamicObject, kind: &str) -> Option<(String, String)> {
    let conditions = object.data["status"]["conditions"].as_array()?;
    let own = conditions.iter().find(|own| own["type"] == kind)?;
    let text = |key: &str| own[key].as_str().unwrap_or_default().to_owned();
    Some((text("status"), text("reason")))
}

fn attachment(node: &str) -> Value {
    json!({
        "apiVersion": "storage.k8s.io/v1", "kind": "VolumeAttachment", "metadata": {"name": "csi-1"},
        "spec": {"attacher": "csi.example.com", "nodeName": node, "source": {"persistentVolumeName": "pv-1"}},
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_machine_ends_once_its_volumes_are_detached() {
    let served = Served::start(Asked::default()).await;
    served.run_pods("web", 1).await;
    served.until_initialized().await;
    let nodes: Api<Node> = Api::all(served.client.clone());
    let name = served.nodes().await[0].name_any();
    let own = claim(&served).await;
    let consistent = condition(&own, "ConsistentStateFound");
    assert_eq!(
        consistent.map(|(status, _)| status),
        Some("True".to_owned())
    );
    apply(&served.client, &attachment(&name))
        .await
        .expect("applied");

    served.end_pods().await;
    let claims = objects(&served, "karpenter.sh", "NodeClaim");
    let (claim_name, how) = (own.name_any(), DeleteParams::default());
    claims.delete(&claim_name, &how).await.expect("deleted");
    let words = served.told("AwaitingVolumeDetachment", &name).await;
    assert!(words.ends_with("(csi-1)"), "{words}");
    let said = until("the condition", PATIENCE, async || {
        Ok(condition(&claim(&served).await, "VolumesDetached"))
    });
    let awaited = ("Unknown".to_owned(), "AwaitingVolumeDetachment".to_owned());
    assert_eq!(said.await.expect("said"), awaited);
    let drained = condition(&claim(&served).await, "Drained");
    assert_eq!(drained.map(|(status, _)| status), Some("True".to_owned()));
    let node = nodes.get(&name).await.expect("it is there still");
    let key = "node.kubernetes.io/exclude-from-external-load-balancers";
    assert_eq!(
        node.labels().get(key).map(String::as_str),
        Some("karpenter")
    );

    let attachments = objects(&served, "storage.k8s.io", "VolumeAttachment");
    let detached = attachments.delete("csi-1", &DeleteParams::default()).await;
    detached.expect("detached");
    served.until_no_nodes().await;
    served.end();
}
