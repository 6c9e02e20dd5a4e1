//! A cluster recorded with no more than the right to read, and explained as it is: the file plans, and both give the same words.

use std::path::Path;
use std::process::{Command, Output};

use k8s_openapi::api::core::v1::Pod;
use kube::ResourceExt as _;
use kube::api::{Api, DynamicObject, ListParams, PostParams};
use kube::core::{ApiResource, GroupVersionKind};
use plimsoll_lab::{apply, pending_pod, until};
use serde_json::{Value, json};

use super::PATIENCE;
use super::policies::policy;
use super::served::{Asked, Served};

fn plimsoll(arguments: &[&str]) -> Output {
    let program = Path::new(env!("CARGO_BIN_EXE_plimsoll"));
    let output = Command::new(program).args(arguments).output();
    output.expect("it runs")
}

/// Standard output of a command that succeeds.
fn said(arguments: &[&str]) -> String {
    let output = plimsoll(arguments);
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {told}");
    String::from_utf8(output.stdout).expect("text")
}

/// The first claim, once every claim says that it may be consolidated: nothing more happens to any.
async fn quiet_claim(served: &Served) -> String {
    let kind = GroupVersionKind::gvk("karpenter.sh", "v1", "NodeClaim");
    let claims: Api<DynamicObject> =
        Api::all_with(served.client.clone(), &ApiResource::from_gvk(&kind));
    let is_quiet = |claim: &DynamicObject| {
        let conditions = claim.data["status"]["conditions"].as_array();
        let mut said = conditions.into_iter().flatten();
        said.any(|own| own["type"] == "Consolidatable" && own["status"] == "True")
    };
    let quiet = until("the claims to be consolidatable", PATIENCE, async || {
        let claims = claims.list(&ListParams::default()).await?.items;
        let are_quiet = !claims.is_empty() && claims.iter().all(is_quiet);
        Ok(are_quiet.then(|| claims[0].name_any()))
    });
    quiet.await.expect("quiet claims")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_recorded_cluster_plans_offline_and_is_explained_in_the_same_words_as_live() {
    let served = Served::start(Asked::default()).await;
    served.run_pods("checkout", 2).await;
    let big = pending_pod("giant", "5000", "1Gi");
    let made = served.pods().create(&PostParams::default(), &big).await;
    made.expect("a pod");
    let is_unschedulable = |pod: &Pod| {
        let status = pod.status.as_ref();
        let mut conditions = status
            .and_then(|it| it.conditions.as_ref())
            .into_iter()
            .flatten();
        conditions.any(|own| own.reason.as_deref() == Some("Unschedulable"))
    };
    let refused = until("the pod to be unschedulable", PATIENCE, async || {
        let pod = served.pods().get("giant").await?;
        Ok(is_unschedulable(&pod).then_some(()))
    });
    refused.await.expect("unschedulable");

    let claim = quiet_claim(&served).await;

    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let kubeconfig = served.proxy.kubeconfig().display().to_string();
    let access = ["--kubeconfig", &kubeconfig];
    let record = |more: &[&str], to: &str| {
        let arguments = ["snapshot", "record", "-O", to];
        let ran = plimsoll(&[&arguments, &access[..], more].concat());
        let told = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert!(ran.status.success(), "{told}");
        told
    };
    let (redacted, named) = (path("redacted.json"), path("named.json"));
    let left_out = "note: the cluster: Policies are not part of a snapshot, and this cluster has ";
    let told = record(&[], &redacted);
    assert!(!told.contains(left_out), "{told}");
    record(&["--names"], &named);
    let text = std::fs::read_to_string(&redacted).expect("it was written");
    for name in ["giant", "checkout", "\"image\""] {
        assert!(!text.contains(name), "{name} in {text}");
    }
    said(&["snapshot", "check", &redacted]);
    let plan = said(&["plan", &redacted, "-o", "json"]);
    let plan: Value = serde_json::from_str(&plan).expect("JSON");
    let waits = plan["unschedulablePods"].as_array().expect("a list");
    assert_eq!(waits.len(), 1, "{plan}");

    let live = said(&[&["explain", "pod", "giant"][..], &access[..]].concat());
    assert!(live.contains("default/giant"), "{live}");
    assert_eq!(live, said(&["explain", "pod", "giant", &named]));
    let nodes = served.nodes().await;
    let node = nodes
        .first()
        .map(kube::ResourceExt::name_any)
        .expect("a node");
    for (kind, name) in [
        ("node", &*node),
        ("nodeclaim", &*claim),
        ("nodepool", "general"),
    ] {
        // No Policy serves there; a file is explained by list price.
        let by_list = ["--policy", "rank=list-price"];
        let live = said(&[&["explain", kind, name][..], &access[..], &by_list[..]].concat());
        assert!(live.contains(name), "{live}");
        assert_eq!(live, said(&["explain", kind, name, &named]));
    }
    let missing = plimsoll(&[&["explain", "pod", "gient"][..], &access[..]].concat());
    let told = String::from_utf8_lossy(&missing.stderr).into_owned();
    assert!(
        told.contains("there is no pod gient") && told.contains("did you mean default/giant?"),
        "{told}"
    );
    let cheap = policy("cheap", "nowhere", &json!({}));
    apply(&served.client, &cheap).await.expect("applied");
    let told = record(&[], &path("with-policy.json"));
    assert!(told.contains(&format!("{left_out}cheap; ")), "{told}");
    served.end();
}
