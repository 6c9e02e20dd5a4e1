//! A lab in which helm has installed the charts, with the program in place of one of the Deployment's pods.

use std::path::Path;
use std::process::Command;

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::authentication::v1::{TokenRequest, TokenRequestSpec};
use k8s_openapi::api::core::v1::{Pod, ServiceAccount};
use kube::api::{Api, DeleteParams, PostParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::core::{ApiResource, DynamicObject, GroupVersionKind};
use kube::{Client, Config};
use plimsoll_charts::{Container, Probe, Release};
use plimsoll_lab::{
    Call, Fault, Lab, Options, Proxy, Rule, Verb, apply, example_class, example_pool, until,
};
use serde_json::{Value, json};

use super::super::PATIENCE;
use super::super::served::{answer, program, recording};
use super::{NAME, NAMESPACE};

/// A policy that is taken away while the program runs.
const PASSING: &str = "spot-diversified";

/// The chart installed in a lab, and the program in place of one of its pods.
pub(super) struct Installed {
    pub(super) lab: Lab,
    pub(super) client: Client,
    pub(super) proxy: Proxy,
    pub(super) release: Release,
    pub(super) container: Container,
}

impl Installed {
    pub(super) async fn start() -> Self {
        let mut lab = Lab::start(Options::default()).await.expect("a lab starts");
        let client = lab.client();
        let definitions = Release::new("plimsoll-crd", json!({}));
        install(&lab, &definitions, true).await;
        let release = release(&lab);
        let said = install(&lab, &release, false).await;
        assert!(!said.contains("warning:"), "{said}");
        for name in ["list-price", PASSING] {
            policy(&client, name).await;
        }
        for object in [example_class(), pool(), overlay()] {
            apply(&client, &object).await.expect("applied");
        }
        let container = container(&client).await;
        let account = as_account(&lab, &client).await;
        let proxy = lab.proxy_as(account).await.expect("a proxy");
        // An answer that is lost has the claim read back.
        proxy.add(Rule {
            times: Some(1),
            ..Rule::new(&[Verb::Create], &["nodeclaims"], Fault::LoseAnswer)
        });
        start(&mut lab, &container, &proxy);
        Self {
            lab,
            client,
            proxy,
            release,
            container,
        }
    }

    /// Pods of namespace `default`.
    pub(super) fn pods(&self) -> Api<Pod> {
        Api::namespaced(self.client.clone(), "default")
    }

    /// Objects of a kind that has no namespace.
    pub(super) fn objects(&self, group: &str, version: &str, kind: &str) -> Api<DynamicObject> {
        let kind = GroupVersionKind::gvk(group, version, kind);
        Api::all_with(self.client.clone(), &ApiResource::from_gvk(&kind))
    }

    /// Asks for spare room until that is seen in the buffer's status.
    pub(super) async fn keep_room(&self) {
        let named = json!({"name": "spare", "namespace": "default"});
        let room = json!({"cpu": "100m", "memory": "64Mi"});
        let container = json!({"name": "main", "image": "registry.k8s.io/pause", "resources": {"requests": room}});
        let template = json!({
            "apiVersion": "v1", "kind": "PodTemplate", "metadata": named,
            "template": {"spec": {"containers": [container]}},
        });
        let buffer = json!({
            "apiVersion": "autoscaling.x-k8s.io/v1beta1", "kind": "CapacityBuffer", "metadata": named,
            "spec": {"podTemplateRef": {"name": "spare"}, "replicas": 1},
        });
        for object in [template, buffer] {
            apply(&self.client, &object).await.expect("applied");
        }
        let told = |calls: &[Call]| {
            let is_told =
                |call: &Call| call.is_write() && call.resource == "capacitybuffers/status";
            calls.iter().any(is_told)
        };
        let told = self.proxy.until("the buffer to be told", PATIENCE, told);
        told.await.expect("told");
        let kind = GroupVersionKind::gvk("autoscaling.x-k8s.io", "v1beta1", "CapacityBuffer");
        let kind = ApiResource::from_gvk(&kind);
        let buffers: Api<DynamicObject> =
            Api::namespaced_with(self.client.clone(), "default", &kind);
        let ended = buffers.delete("spare", &DeleteParams::default()).await;
        ended.expect("deleted");
    }

    /// Takes a Policy away, and waits until the copy of its module is deleted, too.
    pub(super) async fn end_policy(&self) {
        let policies = self.objects("plimsoll.dev", "v1alpha1", "Policy");
        let ended = policies.delete(PASSING, &DeleteParams::default()).await;
        ended.expect("deleted");
        let collected = |calls: &[Call]| {
            let collects = |call: &Call| call.verb == Verb::Delete && call.resource == "configmaps";
            calls.iter().any(collects)
        };
        let collected = self.proxy.until("the copy to go", PATIENCE, collected);
        collected.await.expect("collected");
    }

    /// Waits until a probe is good.
    pub(super) async fn until_good(&mut self, probe: Option<Probe>) {
        let probe = probe.expect("a probe");
        let good = until("the probe to be good", PATIENCE, async || {
            let text = answer(probe.port, &probe.path).await.unwrap_or_default();
            Ok(text.starts_with("HTTP/1.1 200 ").then_some(()))
        });
        let ended = good.await;
        assert!(ended.is_ok(), "{ended:?}: {}", self.lab.log(NAME));
    }

    pub(super) async fn make(&self, pod: &Pod) {
        self.pods()
            .create(&PostParams::default(), pod)
            .await
            .expect("a pod");
    }
}

/// Two replicas, gates with rights of their own, and ports that are free here.
fn release(lab: &Lab) -> Release {
    let [metrics, probes] = lab.spare_ports();
    let values = json!({
        "controller": {"metrics": {"port": metrics}, "healthProbe": {"port": probes}},
        "settings": {"featureGates": {"nodeOverlay": true, "capacityBuffer": true}},
        "topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "topology.kubernetes.io/zone", "whenUnsatisfiable": "DoNotSchedule"}],
    });
    Release {
        namespace: NAMESPACE,
        ..Release::new("plimsoll", values)
    }
}

/// Installs a release; what helm says.
pub(crate) async fn install(lab: &Lab, release: &Release, wait: bool) -> String {
    let (release, kubeconfig) = (release.clone(), lab.kubeconfig().to_owned());
    let installed = tokio::task::spawn_blocking(move || release.install(&kubeconfig, wait));
    installed
        .await
        .expect("helm ends")
        .expect("it is installed")
}

/// A pool whose empty nodes go soon, and whose claims wait for no pod for longer than some seconds.
fn pool() -> Value {
    let mut pool = example_pool();
    pool["spec"]["disruption"]["consolidateAfter"] = "1s".into();
    pool["spec"]["template"]["spec"]["terminationGracePeriod"] = "5s".into();
    pool
}

fn overlay() -> Value {
    json!({
        "apiVersion": "karpenter.sh/v1alpha1", "kind": "NodeOverlay", "metadata": {"name": "cheaper"},
        "spec": {
            "requirements": [{"key": "kubernetes.io/arch", "operator": "In", "values": ["amd64"]}],
            "priceAdjustment": "-1%",
        },
    })
}

/// A shipped policy in a ConfigMap of the release's namespace, and the Policy that has it serve every pool.
async fn policy(client: &Client, name: &str) {
    let packed = Command::new(program())
        .args([
            "policy",
            "pack",
            name,
            "--namespace",
            NAMESPACE,
            "--output",
            "json",
        ])
        .output()
        .expect("it packs");
    let packed: Value = serde_json::from_slice(&packed.stdout).expect("JSON");
    let maps = packed["items"].as_array().expect("a list");
    assert_eq!(maps.len(), 1, "a small module is in one ConfigMap");
    let policy = json!({
        "apiVersion": "plimsoll.dev/v1alpha1", "kind": "Policy", "metadata": {"name": name},
        "spec": {
            "hook": "Rank", "configMapRef": {"name": maps[0]["metadata"]["name"]}, "nodePoolSelector": {},
        },
    });
    for object in [&maps[0], &policy] {
        apply(client, object).await.expect("applied");
    }
}

/// The controller's container as the API server has the Deployment.
pub(crate) async fn container(client: &Client) -> Container {
    let deployments: Api<Deployment> = Api::namespaced(client.clone(), NAMESPACE);
    let deployment = deployments.get(NAME).await.expect("the deployment");
    let deployment = serde_json::to_value(deployment).expect("JSON");
    Container::of(&deployment).expect("a container")
}

/// A client with the token that a pod of the Deployment would be given.
pub(crate) async fn as_account(lab: &Lab, client: &Client) -> Client {
    let accounts: Api<ServiceAccount> = Api::namespaced(client.clone(), NAMESPACE);
    let request = TokenRequest {
        spec: Some(TokenRequestSpec::default()),
        ..TokenRequest::default()
    };
    let parameters = PostParams::default();
    let made = accounts
        .create_token_request(NAME, &parameters, &request)
        .await;
    let status = made.expect("a token").status;
    let token = status.and_then(|status| status.token).expect("a token");
    let mut kubeconfig = Kubeconfig::read_from(lab.kubeconfig()).expect("a kubeconfig");
    for user in &mut kubeconfig.auth_infos {
        let own = user.auth_info.as_mut().expect("a user");
        own.token = Some(token.clone().into());
    }
    let options = KubeConfigOptions::default();
    let mut config = Config::from_custom_kubeconfig(kubeconfig, &options)
        .await
        .expect("a config");
    config.default_retry = false;
    Client::try_from(config).expect("a client")
}

/// Starts the program as a kubelet would. In place of the account's files it gets a kubeconfig; and it listens on loopback alone, and
/// writes down what happens.
fn start(lab: &mut Lab, container: &Container, proxy: &Proxy) {
    let variables = container.environment.iter();
    let variables = variables.map(|(name, value)| format!("{name}={value}"));
    let kubeconfig = format!("KUBECONFIG={}", proxy.kubeconfig().display());
    let (named, arguments) = container.command.split_first().expect("a command");
    assert_eq!(named, "plimsoll");
    let begin = ["-i".to_owned(), kubeconfig].into_iter();
    let command = [program().display().to_string()]
        .into_iter()
        .chain(arguments.to_vec());
    let record = format!("--record={}", recording(lab, NAME).display());
    let ours = ["--bind-address=127.0.0.1".to_owned(), record];
    let arguments: Vec<String> = begin.chain(variables).chain(command).chain(ours).collect();
    lab.run(NAME, Path::new("env"), &arguments)
        .expect("it starts");
}
