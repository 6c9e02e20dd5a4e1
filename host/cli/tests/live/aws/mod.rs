//! EC2 as the provider, on a cloud on loopback: pods get instances that join as planned, and instances that are not needed, or are taken
//! back, go with all that was written of them.

mod charted;
mod killed;
mod messages;
mod refused;
mod slow;
mod told;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use k8s_openapi::api::core::v1::{Node, Pod};
use kube::api::{Api, DeleteParams, ListParams};
use kube::core::{ApiResource, DynamicObject, GroupVersionKind};
use kube::{Client, ResourceExt};
use plimsoll_api::crd;
use plimsoll_api::kinds::Ec2NodeClass;
use plimsoll_cloud::{Cloud, Instance, Options as CloudOptions, World};
use plimsoll_cloud_nodes::{Nodes, follow, node_config};
use plimsoll_lab::{Lab, Options, apply, pending_pod, until};
use serde_json::{Value, json};

use super::PATIENCE;
use super::served::{NAME, program, run_pods};

const QUEUE: &str = "lab";

/// A lab and a cloud, with a class and a pool, and the program between them.
struct Scene {
    lab: Lab,
    client: Client,
    cloud: Arc<Cloud>,
    _nodes: Nodes,
}

impl Scene {
    async fn start(capacity_type: &str) -> Self {
        let mut scene = Self::unserved(capacity_type).await;
        let kubeconfig = scene.lab.kubeconfig().to_owned();
        run(&mut scene.lab, &kubeconfig, &scene.cloud, &[]);
        scene
    }

    /// The same without the program.
    async fn unserved(capacity_type: &str) -> Self {
        let options = Options {
            definitions: crd::definitions(crd::Provider::Aws),
            ..Options::default()
        };
        let lab = Lab::start(options).await.expect("a lab starts");
        let client = lab.client();
        let world = World::demo("lab");
        let cloud = Cloud::start(CloudOptions { port: 0, world }).await;
        let cloud = Arc::new(cloud.expect("a cloud starts"));
        for object in [class(), pool(capacity_type)] {
            apply(&client, &object).await.expect("applied");
        }
        let nodes = follow(Arc::clone(&cloud), client.clone());
        Self {
            lab,
            client,
            cloud,
            _nodes: nodes,
        }
    }

    fn pods(&self) -> Api<Pod> {
        Api::namespaced(self.client.clone(), "default")
    }

    async fn nodes(&self) -> Vec<Node> {
        let nodes: Api<Node> = Api::all(self.client.clone());
        nodes
            .list(&ListParams::default())
            .await
            .expect("nodes")
            .items
    }

    fn classes(&self) -> Api<DynamicObject> {
        let kind = GroupVersionKind::gvk("karpenter.k8s.aws", "v1", "EC2NodeClass");
        let resource = ApiResource::from_gvk_with_plural(&kind, "ec2nodeclasses");
        Api::all_with(self.client.clone(), &resource)
    }

    async fn class(&self) -> Ec2NodeClass {
        let class = self.classes().get("default").await.expect("the class");
        let class = serde_json::to_value(class).expect("JSON");
        serde_json::from_value(class).expect("a class")
    }

    fn claims_api(&self) -> Api<DynamicObject> {
        let kind = GroupVersionKind::gvk("karpenter.sh", "v1", "NodeClaim");
        Api::all_with(self.client.clone(), &ApiResource::from_gvk(&kind))
    }

    async fn claims(&self) -> Vec<DynamicObject> {
        self.claims_api()
            .list(&ListParams::default())
            .await
            .expect("claims")
            .items
    }

    /// Makes such pods as [`pods`] gives, and waits until all of them are bound.
    async fn run_pods(&self, count: usize) {
        run_pods(&self.pods(), pods(count)).await;
    }

    fn alive(&self) -> Vec<Instance> {
        self.cloud.with(|world| world.alive().cloned().collect())
    }

    fn count(&self, operation: &str) -> usize {
        let calls = self.cloud.calls().into_iter();
        calls
            .filter(|call| call.operation == operation && call.error.is_none())
            .count()
    }

    async fn until_alone(&self) {
        let gone = until("all instances and nodes to go", PATIENCE, async || {
            let nothing = self.alive().is_empty() && self.nodes().await.is_empty();
            Ok(nothing.then_some(()))
        });
        gone.await.expect("gone");
    }
}

/// Pods that one small instance does not hold together.
fn pods(count: usize) -> Vec<Pod> {
    let pod = |number: usize| pending_pod(&format!("web-{number}"), "1500m", "1Gi");
    (0..count).map(pod).collect()
}

fn class() -> Value {
    let by_tag = json!([{"tags": {"karpenter.sh/discovery": "lab"}}]);
    json!({
        "apiVersion": "karpenter.k8s.aws/v1", "kind": "EC2NodeClass", "metadata": {"name": "default"},
        "spec": {
            "amiSelectorTerms": [{"alias": "al2023@latest"}], "role": "KarpenterNodeRole-lab",
            "subnetSelectorTerms": by_tag, "securityGroupSelectorTerms": by_tag,
            "tags": {"team": "shop"},
        },
    })
}

fn pool(capacity_type: &str) -> Value {
    let is = |key: &str, value: &str| json!({"key": key, "operator": "In", "values": [value]});
    json!({
        "apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": "general"},
        "spec": {
            "template": {"spec": {
                "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"},
                "requirements": [
                    is("karpenter.sh/capacity-type", capacity_type), is("kubernetes.io/arch", "amd64"),
                    is("karpenter.k8s.aws/instance-size", "large"),
                ],
            }},
            "disruption": {"consolidateAfter": "1s", "budgets": [{"nodes": "100%"}]},
        },
    })
}

/// Runs the program on the cloud, by a kubeconfig and with more settings in its environment.
fn run(lab: &mut Lab, kubeconfig: &Path, cloud: &Cloud, more: &[&str]) {
    let kubeconfig = kubeconfig.display().to_string();
    let words = [
        &format!("AWS_ENDPOINT_URL={}", cloud.url()),
        "AWS_REGION=us-east-1",
        "AWS_ACCESS_KEY_ID=key",
        "AWS_SECRET_ACCESS_KEY=secret",
        "AWS_EC2_METADATA_DISABLED=true",
        "CLUSTER_NAME=lab",
        "CLUSTER_ENDPOINT=https://lab.example",
        &format!("INTERRUPTION_QUEUE={QUEUE}"),
        &program().display().to_string(),
        "run",
        "--provider=aws",
        "--kubeconfig",
        &kubeconfig,
        "--disable-leader-election",
        "--leader-election-namespace=kube-system",
        "--bind-address=127.0.0.1",
        "--metrics-port=0",
        "--health-probe-port=0",
    ];
    let words = more.iter().copied().chain(words);
    let words: Vec<String> = words.map(ToOwned::to_owned).collect();
    lab.run(NAME, Path::new("/usr/bin/env"), &words)
        .expect("it starts");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pods_get_instances_that_join_as_planned_and_go_when_nobody_needs_them() {
    let scene = Scene::start("on-demand").await;
    scene.run_pods(3).await;
    let instances = scene.alive();
    assert_eq!(instances.len(), 3);
    for own in &instances {
        let tag = |key: &str| own.tags.get(key).map(String::as_str);
        assert_eq!(tag("eks:eks-cluster-name"), Some("lab"));
        assert_eq!(tag("karpenter.sh/nodepool"), Some("general"));
        assert_eq!(tag("team"), Some("shop"));
        let encoded = own.template["UserData"].as_str().unwrap_or_default();
        let config = node_config(encoded).expect("user data");
        assert_eq!(
            config["spec"]["cluster"]["apiServerEndpoint"],
            "https://lab.example"
        );
        assert_eq!(config["spec"]["cluster"]["cidr"], "10.100.0.0/16");
    }
    // Each launch was called for once, and gave what it was asked for.
    let token = |own: &Instance| own.tags["plimsoll.dev/launch-token"].clone();
    let launches: BTreeSet<String> = instances.iter().map(token).collect();
    assert_eq!(scene.count("CreateFleet"), launches.len());
    let class = scene.class().await;
    let status = class.status.clone().unwrap_or_default();
    let ready = status.conditions.iter().find(|own| own.kind == "Ready");
    assert_eq!(
        ready.map(|own| own.status.as_str()),
        Some("True"),
        "{status:?}"
    );
    let annotations = class.metadata.annotations.unwrap_or_default();
    let hash = annotations["karpenter.k8s.aws/ec2nodeclass-hash"].clone();
    for claim in scene.claims().await {
        assert_eq!(
            claim.annotations()["karpenter.k8s.aws/ec2nodeclass-hash"],
            hash
        );
        assert_eq!(
            claim.annotations()["karpenter.k8s.aws/ec2nodeclass-hash-version"],
            "v6"
        );
        assert!(
            claim.data["status"]["imageID"]
                .as_str()
                .is_some_and(|id| id.starts_with("ami-"))
        );
    }
    let complete = until("the nodes to be complete", PATIENCE, async || {
        let nodes = scene.nodes().await;
        let is_complete = |node: &Node| node.labels().contains_key("karpenter.sh/initialized");
        Ok(nodes.iter().all(is_complete).then_some(nodes))
    });
    let named = until("the instances to be named", PATIENCE, async || {
        let is_named = |own: &Instance| own.tags.contains_key("Name");
        Ok(scene.alive().iter().all(is_named).then_some(()))
    });
    named.await.expect("named");
    for node in complete.await.expect("complete") {
        assert_eq!(node.labels()["karpenter.sh/capacity-type"], "on-demand");
        assert_eq!(
            node.labels()["karpenter.k8s.aws/instance-tenancy"],
            "default"
        );
    }

    let now = DeleteParams::default().grace_period(0);
    scene
        .pods()
        .delete_collection(&now, &ListParams::default())
        .await
        .expect("deleted");
    scene.until_alone().await;
    assert_eq!(scene.count("CreateFleet"), launches.len());

    scene
        .classes()
        .delete("default", &DeleteParams::default())
        .await
        .expect("asked to go");
    let gone = until("the class to go", PATIENCE, async || {
        let class = scene.classes().get_opt("default").await?;
        Ok(class.is_none().then_some(()))
    });
    gone.await.expect("gone");
    let left = scene
        .cloud
        .with(|world| (world.launch_templates.len(), world.instance_profiles.len()));
    assert_eq!(left, (0, 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_instance_that_is_taken_back_while_nobody_listens_goes_and_its_message_with_it() {
    let mut scene = Scene::start("spot").await;
    scene.run_pods(1).await;
    let first = scene.alive().remove(0);
    assert!(first.spot_request.is_some());
    scene.lab.kill(NAME).expect("killed");
    scene.cloud.with(|world| world.interrupt(QUEUE, &first.id));
    scene.lab.start_again(NAME).await.expect("started again");
    let going = until("its claim to go", PATIENCE, async || {
        let claims = scene.claims().await;
        let is_first = |claim: &DynamicObject| {
            let id = claim.data["status"]["providerID"]
                .as_str()
                .unwrap_or_default();
            id.ends_with(&first.id)
        };
        let stays =
            |claim: &DynamicObject| is_first(claim) && claim.metadata.deletion_timestamp.is_none();
        Ok((!claims.iter().any(stays)).then_some(()))
    });
    going.await.expect("it goes");
    let deleted = until("the message to be deleted", PATIENCE, async || {
        Ok(scene
            .cloud
            .with(|world| world.queues[QUEUE].messages.is_empty())
            .then_some(()))
    });
    deleted.await.expect("deleted");
    let log = scene.lab.log(NAME);
    assert!(!log.contains("\"ERROR\""), "{log}");
}
