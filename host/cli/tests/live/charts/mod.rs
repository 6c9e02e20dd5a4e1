//! The chart in a real cluster: helm installs it, and the program serves with exactly the arguments, environment, rights and probes
//! that it says. The rights are as small as the requests need.

pub(super) mod installed;
mod rights;

use std::process::Command;

use k8s_openapi::api::core::v1::Pod;
use kube::ResourceExt;
use kube::api::{Api, DeleteParams, ListParams, PostParams};
use plimsoll_charts::{Container, Probe, Release, of_kind};
use plimsoll_lab::{apply, fake_node, pending_pod, until};
use serde_json::json;

use super::PATIENCE;
use super::served::{end, played, program, until_bound};
use installed::{Installed, install};

/// Name and namespace of the release.
const NAME: &str = "plimsoll";
const NAMESPACE: &str = "nodes";

/// Variables that the program does not read: it serves as if they were not there. Their settings have no effect yet.
const UNREAD: [&str; 3] = ["CPU_REQUESTS", "LOG_ERROR_OUTPUT_PATHS", "MEMORY_LIMIT"];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_serves_with_the_arguments_environment_rights_and_probes_of_the_chart() {
    let mut installed = Installed::start().await;
    let (liveness, readiness) = (
        installed.container.liveness.clone(),
        installed.container.readiness.clone(),
    );
    installed.until_good(liveness).await;
    installed.until_good(readiness).await;
    let metrics = Probe {
        path: "/metrics".to_owned(),
        port: installed.container.ports["http-metrics"],
    };
    installed.until_good(Some(metrics)).await;
    place_own_pods(&installed).await;
    installed.keep_room().await;
    installed.end_policy().await;

    // One pod that may be evicted, and one that no budget lets go before its claim's time is over.
    let budget = json!({
        "apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "held", "namespace": "default"},
        "spec": {"minAvailable": 1, "selector": {"matchLabels": {"held": "yes"}}},
    });
    apply(&installed.client, &budget).await.expect("applied");
    for name in ["free", "held", "last"] {
        let mut pod = pending_pod(name, "3", "1Gi");
        if name == "held" {
            pod.labels_mut().insert("held".to_owned(), "yes".to_owned());
        }
        // Less than its claim's, or it would be deleted at once.
        let spec = pod.spec.as_mut().expect("a pod has one");
        spec.termination_grace_period_seconds = Some(1);
        installed.make(&pod).await;
    }
    until_bound(&installed.pods()).await;
    end_claims_of(&installed, &["free", "held"]).await;
    let pods = installed.pods();
    for name in ["free", "held"] {
        let gone = until("the pod to go", PATIENCE, async || {
            Ok(pods.get_opt(name).await?.is_none().then_some(()))
        });
        gone.await.expect("gone");
    }
    end(&installed.pods()).await;
    let claims = installed.objects("karpenter.sh", "v1", "NodeClaim");
    let gone = until("the claims to go", PATIENCE, async || {
        let claims = claims.list(&ListParams::default()).await?.items;
        Ok(claims.is_empty().then_some(()))
    });
    gone.await.expect("gone");
    rights::judge(&mut installed);
    installed.lab.kill(NAME).expect("it runs");
    assert!(played(&installed.lab, NAME).plans > 0);
}

/// Acceptance row I04, with the real scheduler: pods of the controller wait rather than run on nodes of pools or share a node, and nothing
/// is bought for them. Once there is a second node without a pool the release is ready, as helm sees it.
async fn place_own_pods(installed: &Installed) {
    installed.make(&pending_pod("first", "3", "1Gi")).await;
    until_bound(&installed.pods()).await;
    let own: Api<Pod> = Api::namespaced(installed.client.clone(), NAMESPACE);
    let nodes = installed.objects("", "v1", "Node");
    let node_of = |pod: &Pod| pod.spec.as_ref().and_then(|spec| spec.node_name.clone());
    let unschedulable = |pod: &Pod| {
        let conditions = pod
            .status
            .as_ref()
            .and_then(|status| status.conditions.as_ref());
        let mut conditions = conditions.into_iter().flatten();
        conditions.any(|condition| condition.reason.as_deref() == Some("Unschedulable"))
    };
    for bound in 0..=2 {
        if bound > 0 {
            let mut node = fake_node(&format!("base-{bound}"), "2", "8Gi");
            let zone = (
                "topology.kubernetes.io/zone".to_owned(),
                format!("zone-{bound}"),
            );
            node.labels_mut().extend([zone]);
            let node = serde_json::to_value(node).expect("JSON");
            let node = serde_json::from_value(node).expect("a node");
            nodes
                .create(&PostParams::default(), &node)
                .await
                .expect("a node");
        }
        let placed = until("the replicas to be placed", PATIENCE, async || {
            let pods = own.list(&ListParams::default()).await?.items;
            let (placed, waiting): (Vec<_>, Vec<_>) =
                pods.iter().partition(|pod| node_of(pod).is_some());
            let is_so = placed.len() == bound
                && waiting.len() == 2 - bound
                && waiting.iter().all(|pod| unschedulable(pod));
            Ok(is_so.then(|| placed.into_iter().filter_map(node_of).collect::<Vec<_>>()))
        });
        let placed = placed.await.expect("placed");
        assert!(
            placed.iter().all(|node| node.starts_with("base-")),
            "{placed:?}"
        );
    }
    let claims = installed.objects("karpenter.sh", "v1", "NodeClaim");
    let claims = claims
        .list(&ListParams::default())
        .await
        .expect("claims")
        .items;
    assert_eq!(
        claims.len(),
        1,
        "none was bought for the controller's own pods"
    );
    install(&installed.lab, &installed.release, true).await;
}

/// Deletes the claims on whose nodes these pods run.
async fn end_claims_of(installed: &Installed, pods: &[&str]) {
    let claims = installed.objects("karpenter.sh", "v1", "NodeClaim");
    for name in pods {
        let pod = installed.pods().get(name).await.expect("the pod");
        let node = pod
            .spec
            .and_then(|spec| spec.node_name)
            .expect("it is bound");
        let listed = claims
            .list(&ListParams::default())
            .await
            .expect("claims")
            .items;
        let claim = listed
            .iter()
            .find(|claim| claim.data["status"]["nodeName"] == *node);
        let Some(claim) = claim else { continue };
        claims
            .delete(&claim.name_any(), &DeleteParams::default())
            .await
            .expect("deleted");
    }
}

/// Every variable that the chart sets without values is explained by the command's help, or is known to be unread.
#[test]
fn the_command_explains_every_variable_that_the_chart_sets() {
    let rendered = Release::new("plimsoll", json!({}))
        .render()
        .expect("it renders");
    let deployment = of_kind(&rendered, "Deployment");
    let container = Container::of(deployment[0]).expect("a container");
    let help = Command::new(program())
        .args(["run", "--help"])
        .output()
        .expect("help");
    let help = String::from_utf8(help.stdout).expect("text");
    let is_part = |letter: char| letter.is_ascii_uppercase() || letter == '_';
    let explained = |name: &str| {
        // The name of a flag's value says nothing of the environment.
        let help = help.replace(&format!("<{name}>"), "");
        help.split(|letter| !is_part(letter))
            .any(|word| word == name)
    };
    let unread: Vec<&str> = container
        .environment
        .keys()
        .map(String::as_str)
        .filter(|name| !explained(name))
        .collect();
    assert_eq!(unread, UNREAD);
}
