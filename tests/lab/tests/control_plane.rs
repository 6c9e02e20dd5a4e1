//! Facts about the lab that other tests build on, asserted against the real programs.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::{Node, Pod};
use kube::api::{Api, DeleteParams, ListParams, Patch, PatchParams, PostParams};
use plimsoll_lab::{Lab, Options, fake_node, pending_pod, until};
use serde_json::json;

const PATIENCE: Duration = Duration::from_mins(2);

async fn lab() -> Lab {
    Lab::start(Options::default()).await.expect("a lab starts")
}

fn is_ready(node: &Node) -> bool {
    let conditions = node
        .status
        .as_ref()
        .and_then(|status| status.conditions.as_ref());
    conditions
        .into_iter()
        .flatten()
        .any(|condition| condition.type_ == "Ready" && condition.status == "True")
}

fn is_open(node: &Node) -> bool {
    is_ready(node)
        && node
            .spec
            .as_ref()
            .and_then(|spec| spec.taints.as_ref())
            .is_none_or(Vec::is_empty)
}

fn is_running(pod: &Pod) -> bool {
    pod.status
        .as_ref()
        .and_then(|status| status.phase.as_deref())
        == Some("Running")
}

fn node_of(pod: &Pod) -> Option<String> {
    pod.spec.as_ref().and_then(|spec| spec.node_name.clone())
}

async fn add_nodes(nodes: &Api<Node>, names: &[&str]) {
    for name in names {
        nodes
            .create(&PostParams::default(), &fake_node(name, "8", "32Gi"))
            .await
            .expect("a node");
    }
    for name in names {
        until("a node without taints", PATIENCE, async || {
            Ok(nodes.get_opt(name).await?.filter(is_open))
        })
        .await
        .expect("ready");
    }
}

/// Names of the nodes that the pods run on, one for each pod.
async fn places(pods: &Api<Pod>, names: &[String]) -> Vec<String> {
    let mut places = Vec::new();
    for name in names {
        let pod = until("a running pod", PATIENCE, async || {
            Ok(pods.get_opt(name).await?.filter(is_running))
        })
        .await;
        places.push(node_of(&pod.expect("running")).expect("a running pod is bound"));
    }
    places
}

#[tokio::test]
async fn a_pod_runs_on_a_fake_node_and_both_can_go() {
    let lab = lab().await;
    let (nodes, pods): (Api<Node>, Api<Pod>) = (
        Api::all(lab.client()),
        Api::namespaced(lab.client(), "default"),
    );
    pods.create(&PostParams::default(), &pending_pod("web", "500m", "1Gi"))
        .await
        .expect("a pod");
    until(
        "the verdict that nothing holds the pod",
        PATIENCE,
        async || {
            let pod = pods.get("web").await?;
            let conditions = pod
                .status
                .and_then(|status| status.conditions)
                .unwrap_or_default();
            Ok(conditions
                .into_iter()
                .find(|condition| condition.reason.as_deref() == Some("Unschedulable")))
        },
    )
    .await
    .expect("kube-scheduler says so");

    add_nodes(&nodes, &["n1"]).await;
    assert_eq!(places(&pods, &["web".to_owned()]).await, ["n1"]);
    let node = nodes.get("n1").await.expect("the node");
    let allocatable = node
        .status
        .and_then(|status| status.allocatable)
        .expect("allocatable");
    assert_eq!(
        allocatable["cpu"].0, "8",
        "KWOK keeps what the node was made with"
    );

    pods.delete("web", &DeleteParams::default())
        .await
        .expect("deletion");
    until("no pod", PATIENCE, async || {
        Ok(pods.get_opt("web").await?.is_none().then_some(()))
    })
    .await
    .expect("gone");
    nodes
        .delete("n1", &DeleteParams::default())
        .await
        .expect("deletion");
    until("no node", PATIENCE, async || {
        Ok(nodes.get_opt("n1").await?.is_none().then_some(()))
    })
    .await
    .expect("gone");
}

#[tokio::test]
async fn pods_go_where_they_are_nominated_and_would_spread_otherwise() {
    let lab = lab().await;
    let (nodes, pods): (Api<Node>, Api<Pod>) = (
        Api::all(lab.client()),
        Api::namespaced(lab.client(), "default"),
    );
    add_nodes(&nodes, &["n1", "n2", "n3", "n4", "n5"]).await;

    let free: Vec<String> = (0..5).map(|index| format!("free-{index}")).collect();
    for name in &free {
        pods.create(&PostParams::default(), &pending_pod(name, "500m", "1Gi"))
            .await
            .expect("a pod");
    }
    let spread: BTreeSet<String> = places(&pods, &free).await.into_iter().collect();
    assert!(
        spread.len() > 1,
        "the scheduler's own choice spreads: {spread:?}"
    );

    let planned: Vec<String> = (0..6).map(|index| format!("planned-{index}")).collect();
    for name in &planned {
        let mut pod = serde_json::to_value(pending_pod(name, "500m", "1Gi")).expect("plain data");
        pod["spec"]["schedulingGates"] = json!([{ "name": "lab.plimsoll.dev/wait" }]);
        let pod: Pod = serde_json::from_value(pod).expect("a pod");
        pods.create(&PostParams::default(), &pod)
            .await
            .expect("a pod");
        let nomination =
            json!({ "apiVersion": "v1", "kind": "Pod", "status": { "nominatedNodeName": "n3" } });
        let ours = PatchParams::apply("plimsoll-test");
        pods.patch_status(name, &ours, &Patch::Apply(&nomination))
            .await
            .expect("a nomination");
    }
    for name in &planned {
        let open = json!({ "spec": { "schedulingGates": null } });
        pods.patch(name, &PatchParams::default(), &Patch::Merge(&open))
            .await
            .expect("an open gate");
    }
    assert_eq!(places(&pods, &planned).await, vec!["n3"; 6]);
}

#[tokio::test]
async fn labs_side_by_side_share_nothing_and_end_with_their_value() {
    let slow = Options {
        node_boot: Duration::from_hours(1),
        ..Options::default()
    };
    let (one, two) = tokio::join!(lab(), Lab::start(slow));
    let two = two.expect("a second lab starts");
    let (near, far): (Api<Node>, Api<Node>) = (Api::all(one.client()), Api::all(two.client()));
    far.create(&PostParams::default(), &fake_node("slow", "8", "32Gi"))
        .await
        .expect("a node");
    add_nodes(&near, &["quick"]).await;
    let there = far
        .list(&ListParams::default())
        .await
        .expect("a list")
        .items;
    assert_eq!(there.len(), 1);
    assert!(
        !is_ready(&there[0]),
        "a node that takes an hour to boot is not ready yet"
    );

    let (processes, folder) = (two.processes(), two.folder().to_owned());
    assert_eq!(processes.len(), 5);
    drop(two);
    assert!(processes.iter().all(|id| !is_alive(*id)) && !folder.exists());
    assert_eq!(
        near.list(&ListParams::default())
            .await
            .expect("the first lab lives on")
            .items
            .len(),
        1
    );
}

#[tokio::test]
async fn nodes_boot_and_jobs_end_after_their_delays() {
    let boot = Duration::from_secs(3);
    let options = Options {
        node_boot: boot,
        pod_start: Duration::from_millis(200),
        ..Options::default()
    };
    let lab = Lab::start(options).await.expect("a lab starts");
    let nodes: Api<Node> = Api::all(lab.client());
    add_nodes(&nodes, &["n1"]).await;
    let node = nodes.get("n1").await.expect("the node");
    let conditions = node
        .status
        .and_then(|status| status.conditions)
        .expect("conditions");
    let ready = conditions
        .iter()
        .find(|condition| condition.type_ == "Ready")
        .expect("ready");
    let since = ready.last_transition_time.as_ref().expect("a time").0;
    let made = node.metadata.creation_timestamp.expect("a time").0;
    // Both times are cut to whole seconds.
    assert!(
        since.as_second() - made.as_second() >= 2,
        "made {made}, ready {since}"
    );

    let jobs: Api<Job> = Api::namespaced(lab.client(), "default");
    let mut template = serde_json::to_value(pending_pod("", "500m", "1Gi")).expect("plain data");
    template["spec"]["restartPolicy"] = json!("Never");
    let job = json!({ "metadata": { "name": "work" }, "spec": { "template": {
        "metadata": { "annotations": { "lab.plimsoll.dev/runs-for": "1s" } }, "spec": template["spec"] } } });
    let job: Job = serde_json::from_value(job).expect("a job");
    jobs.create(&PostParams::default(), &job)
        .await
        .expect("a job");
    until("the job to succeed", PATIENCE, async || {
        let status = jobs.get("work").await?.status;
        Ok(status
            .and_then(|status| status.succeeded)
            .filter(|count| *count == 1))
    })
    .await
    .expect("done");
}

#[tokio::test]
async fn custom_resources_are_served_when_the_lab_is_ready() {
    let folder = tempfile::tempdir().expect("a folder");
    let definition = r"
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: cranes.lab.plimsoll.dev}
spec:
  group: lab.plimsoll.dev
  scope: Cluster
  names: {kind: Crane, plural: cranes}
  versions:
    - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
";
    std::fs::write(folder.path().join("crane.yaml"), definition).expect("a manifest");
    let lab = Lab::start(Options {
        crds: vec![folder.path().to_owned()],
        ..Options::default()
    })
    .await
    .expect("a lab");
    let kind = kube::core::GroupVersionKind::gvk("lab.plimsoll.dev", "v1", "Crane");
    let resource = kube::core::ApiResource::from_gvk_with_plural(&kind, "cranes");
    let cranes: Api<kube::core::DynamicObject> = Api::all_with(lab.client(), &resource);
    let crane =
        kube::core::DynamicObject::new("tall", &resource).data(json!({ "spec": { "metres": 60 } }));
    cranes
        .create(&PostParams::default(), &crane)
        .await
        .expect("a custom resource");
    assert_eq!(
        cranes.get("tall").await.expect("it is kept").data["spec"]["metres"],
        60
    );
}

#[test]
fn a_killed_owner_leaves_no_process_behind() {
    ends_with_its_owner(&[], 5);
}

/// A program to serve that packs some module, and runs for good.
const SERVED: &str = r#"#!/bin/sh
case "$1" in
policy) echo '{"items": [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "module", "namespace": "kube-system"}}]}' ;;
run) exec sleep infinity ;;
esac
"#;

#[test]
fn a_killed_owner_leaves_no_program_that_it_serves_with_behind() {
    let folder = tempfile::tempdir().expect("a folder");
    let program = folder.path().join("served");
    std::fs::write(&program, SERVED).expect("written");
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(&program, mode).expect("it may be run");
    let program = program.to_str().expect("a path in Unicode");
    ends_with_its_owner(&["--serve", program], 6);
}

/// Fails unless all processes of a lab, which are this many, end once it is killed.
#[track_caller]
fn ends_with_its_owner(arguments: &[&str], count: usize) {
    let mut owner = Command::new(env!("CARGO_BIN_EXE_plimsoll-lab"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the holder starts");
    let lines = BufReader::new(owner.stdout.take().expect("piped")).lines();
    let said: Vec<String> = lines.take(2).map(|line| line.expect("a line")).collect();
    let processes: Vec<u32> = said[1]
        .split(' ')
        .skip(1)
        .map(|id| id.parse().expect("a process id"))
        .collect();
    assert_eq!(processes.len(), count, "{said:?}");
    assert!(processes.iter().all(|id| is_alive(*id)));
    owner.kill().expect("it can be killed");
    owner.wait().expect("it has ended");
    let start = Instant::now();
    while processes.iter().any(|id| is_alive(*id)) {
        assert!(
            start.elapsed() < PATIENCE,
            "still alive after their owner: {processes:?}"
        );
        std::thread::yield_now();
    }
    let folder = Path::new(said[0].trim_start_matches("kubeconfig "))
        .parent()
        .expect("a folder")
        .to_owned();
    assert!(folder.starts_with(std::env::temp_dir()));
    std::fs::remove_dir_all(folder).expect("what a killed owner could not remove");
}

/// `true` if a process exists and has not ended (one that has ended but was not waited for is a zombie).
fn is_alive(id: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
    status
        .lines()
        .any(|line| line.starts_with("State:") && !line.contains('Z'))
}
