//! The chart in a real cluster: helm installs it, and the program serves with exactly the arguments, environment, rights and probes
//! that it says. The rights are as small as the requests need.

use std::path::Path;
use std::process::Command;

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::authentication::v1::{TokenRequest, TokenRequestSpec};
use k8s_openapi::api::core::v1::{Pod, ServiceAccount};
use kube::api::{Api, DeleteParams, ListParams, PostParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::core::{ApiResource, DynamicObject, GroupVersionKind};
use kube::{Client, Config, ResourceExt};
use plimsoll_charts::{Container, Probe, Release, Right, Rights};
use plimsoll_lab::{
    Fault, Lab, Options, Proxy, Rule, Verb, apply, example_class, example_pool, fake_node,
    pending_pod, until,
};
use serde_json::{Value, json};

use super::PATIENCE;
use super::served::{answer, end, played, program, recording, until_bound};

const NAMESPACE: &str = "nodes";
const NAME: &str = "plimsoll";
/// Namespace of the policy's ConfigMap.
const POLICIES: &str = "policies";

/// Variables that the program does not read: it serves as if they were not there. Their settings have no effect yet.
const UNREAD: [&str; 12] = [
    "BATCH_IDLE_DURATION",
    "BATCH_MAX_DURATION",
    "CPU_REQUESTS",
    "DISABLE_CLUSTER_STATE_OBSERVABILITY",
    "FEATURE_GATES",
    "IGNORE_DRA_REQUESTS",
    "LOG_ERROR_OUTPUT_PATHS",
    "LOG_LEVEL",
    "LOG_OUTPUT_PATHS",
    "MEMORY_LIMIT",
    "MIN_VALUES_POLICY",
    "PREFERENCE_POLICY",
];

/// Rights that the test has no use for, and who has.
const RARE: [(&str, &str); 4] = [
    ("patch nodepools.karpenter.sh", "a pool's nodes turn out smaller than their types"),
    ("patch events.events.k8s.io", "the same happens to an object again within minutes"),
    ("update nodepools/finalizers.karpenter.sh", "no request: admission asks for it when a claim names its pool as its owner"),
    ("update nodeclaims/finalizers.karpenter.sh", "no request: admission asks for it when a node names its claim as its owner"),
];

/// The chart installed in a lab, and the program in place of one of its pods.
struct Installed {
    lab: Lab,
    client: Client,
    proxy: Proxy,
    release: Release,
    container: Container,
}

impl Installed {
    async fn start() -> Self {
        let mut lab = Lab::start(Options::default()).await.expect("a lab starts");
        let client = lab.client();
        let definitions = Release::new("plimsoll-crd", json!({}));
        install(&lab, &definitions, true).await;
        let map = policy(&client).await;
        let release = release(&lab, &map);
        install(&lab, &release, false).await;
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
        Self { lab, client, proxy, release, container }
    }

    fn pods(&self) -> Api<Pod> {
        Api::namespaced(self.client.clone(), "default")
    }

    fn objects(&self, group: &str, version: &str, kind: &str) -> Api<DynamicObject> {
        let kind = GroupVersionKind::gvk(group, version, kind);
        Api::all_with(self.client.clone(), &ApiResource::from_gvk(&kind))
    }

    /// The answer to a probe, once it is good.
    async fn until_good(&mut self, probe: Option<Probe>) {
        let probe = probe.expect("a probe");
        let good = until("the probe to be good", PATIENCE, async || {
            let text = answer(probe.port, &probe.path).await.unwrap_or_default();
            Ok(text.starts_with("HTTP/1.1 200 ").then_some(()))
        });
        let ended = good.await;
        assert!(ended.is_ok(), "{ended:?}: {}", self.lab.log(NAME));
    }

    async fn make(&self, pod: &Pod) {
        self.pods().create(&PostParams::default(), pod).await.expect("a pod");
    }
}

/// Two replicas, gates whose kinds are installed, a policy in a ConfigMap, and ports that are free here.
fn release(lab: &Lab, map: &str) -> Release {
    let [metrics, probes] = lab.spare_ports();
    let values = json!({
        "policies": [format!("rank=configmap:{POLICIES}/{map}")],
        "controller": {"metrics": {"port": metrics}, "healthProbe": {"port": probes}},
        "settings": {"featureGates": {"nodeOverlay": true, "staticCapacity": true}},
        "topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "topology.kubernetes.io/zone", "whenUnsatisfiable": "DoNotSchedule"}],
    });
    Release { namespace: NAMESPACE, ..Release::new("plimsoll", values) }
}

async fn install(lab: &Lab, release: &Release, wait: bool) {
    let (release, kubeconfig) = (release.clone(), lab.kubeconfig().to_owned());
    let installed = tokio::task::spawn_blocking(move || release.install(&kubeconfig, wait));
    installed.await.expect("helm ends").expect("it is installed");
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

/// A shipped policy in a ConfigMap; its name.
async fn policy(client: &Client) -> String {
    let packed = Command::new(program())
        .args(["policy", "pack", "list-price", "--namespace", POLICIES, "--output", "json"])
        .output()
        .expect("it packs");
    let packed: Value = serde_json::from_slice(&packed.stdout).expect("JSON");
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": POLICIES}});
    apply(client, &namespace).await.expect("applied");
    let maps = packed["items"].as_array().expect("a list");
    assert_eq!(maps.len(), 1, "a small module is in one ConfigMap");
    apply(client, &maps[0]).await.expect("applied");
    maps[0]["metadata"]["name"].as_str().expect("a name").to_owned()
}

/// The controller's container as the API server has the Deployment.
async fn container(client: &Client) -> Container {
    let deployments: Api<Deployment> = Api::namespaced(client.clone(), NAMESPACE);
    let deployment = deployments.get(NAME).await.expect("the deployment");
    let deployment = serde_json::to_value(deployment).expect("JSON");
    Container::of(&deployment).expect("a container")
}

/// A client with the token that a pod of the Deployment would be given.
async fn as_account(lab: &Lab, client: &Client) -> Client {
    let accounts: Api<ServiceAccount> = Api::namespaced(client.clone(), NAMESPACE);
    let request = TokenRequest {
        spec: TokenRequestSpec { audiences: Vec::new(), ..TokenRequestSpec::default() },
        ..TokenRequest::default()
    };
    let parameters = PostParams::default();
    let made = accounts.create_token_request(NAME, &parameters, &request).await;
    let token = made.expect("a token").status.expect("a token").token;
    let mut kubeconfig = Kubeconfig::read_from(lab.kubeconfig()).expect("a kubeconfig");
    for user in &mut kubeconfig.auth_infos {
        let own = user.auth_info.as_mut().expect("a user");
        own.token = Some(token.clone().into());
    }
    let options = KubeConfigOptions::default();
    let mut config = Config::from_custom_kubeconfig(kubeconfig, &options).await.expect("a config");
    config.default_retry = false;
    Client::try_from(config).expect("a client")
}

/// Starts the program as a kubelet would. In place of the account's files it gets a kubeconfig; and it listens on loopback alone, and
/// writes down what happens.
fn start(lab: &mut Lab, container: &Container, proxy: &Proxy) {
    let variables = container.environment.iter();
    let variables = variables.map(|(name, value)| format!("{name}={value}"));
    let kubeconfig = format!("KUBECONFIG={}", proxy.kubeconfig().display());
    let [named, arguments @ ..] = &container.command[..] else {
        panic!("no command: {container:?}")
    };
    assert_eq!(named, "plimsoll");
    let begin = ["-i".to_owned(), kubeconfig].into_iter();
    let command = [program().display().to_string()].into_iter().chain(arguments.to_vec());
    let record = format!("--record={}", recording(lab, NAME).display());
    // The one variable of `UNREAD` on which the test depends.
    let gates = format!("--feature-gates={}", container.environment["FEATURE_GATES"]);
    let ours = ["--bind-address=127.0.0.1".to_owned(), record, gates];
    let arguments: Vec<String> = begin.chain(variables).chain(command).chain(ours).collect();
    lab.run(NAME, Path::new("env"), &arguments).expect("it starts");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_serves_with_the_arguments_environment_rights_and_probes_of_the_chart() {
    let mut installed = Installed::start().await;
    let (liveness, readiness) = (installed.container.liveness.clone(), installed.container.readiness.clone());
    installed.until_good(liveness).await;
    installed.until_good(readiness).await;
    let metrics = Probe { path: "/metrics".to_owned(), port: installed.container.ports["http-metrics"] };
    installed.until_good(Some(metrics)).await;
    place_own_pods(&installed).await;

    // One pod that may be evicted, and one that no budget lets go before its claim's time is over.
    let budget = json!({
        "apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "held", "namespace": "default"},
        "spec": {"maxUnavailable": 0, "selector": {"matchLabels": {"held": "yes"}}},
    });
    apply(&installed.client, &budget).await.expect("applied");
    let mut held = pending_pod("held", "3", "1Gi");
    held.labels_mut().insert("held".to_owned(), "yes".to_owned());
    for pod in [pending_pod("free", "3", "1Gi"), held, pending_pod("last", "3", "1Gi")] {
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
    judge(&mut installed);
    installed.lab.kill(NAME).expect("it runs");
    assert!(played(&installed.lab, NAME).plans > 0);
}

/// Acceptance row I04, with the real scheduler: pods of the controller wait rather than run on nodes of pools or share a node, and nothing
/// is bought for them. Once there is a second node of nobody's the release is ready, as helm sees it.
async fn place_own_pods(installed: &Installed) {
    installed.make(&pending_pod("first", "3", "1Gi")).await;
    until_bound(&installed.pods()).await;
    let own: Api<Pod> = Api::namespaced(installed.client.clone(), NAMESPACE);
    let nodes = installed.objects("", "v1", "Node");
    let node_of = |pod: &Pod| pod.spec.as_ref().and_then(|spec| spec.node_name.clone());
    let unschedulable = |pod: &Pod| {
        let conditions = pod.status.as_ref().and_then(|status| status.conditions.as_ref());
        let mut conditions = conditions.into_iter().flatten();
        conditions.any(|condition| condition.reason.as_deref() == Some("Unschedulable"))
    };
    for bound in 0..=2 {
        if bound > 0 {
            let mut node = fake_node(&format!("base-{bound}"), "4", "8Gi");
            let zone = ("topology.kubernetes.io/zone".to_owned(), format!("zone-{bound}"));
            node.labels_mut().extend([zone]);
            let node = serde_json::to_value(node).expect("JSON");
            let node = serde_json::from_value(node).expect("a node");
            nodes.create(&PostParams::default(), &node).await.expect("a node");
        }
        let placed = until("the replicas to be placed", PATIENCE, async || {
            let pods = own.list(&ListParams::default()).await?.items;
            let (placed, waiting): (Vec<_>, Vec<_>) = pods.iter().partition(|pod| node_of(pod).is_some());
            let is_so = placed.len() == bound && waiting.len() == 2 - bound && waiting.iter().all(|pod| unschedulable(pod));
            Ok(is_so.then(|| placed.into_iter().filter_map(node_of).collect::<Vec<_>>()))
        });
        let placed = placed.await.expect("placed");
        assert!(placed.iter().all(|node| node.starts_with("base-")), "{placed:?}");
    }
    let claims = installed.objects("karpenter.sh", "v1", "NodeClaim");
    let claims = claims.list(&ListParams::default()).await.expect("claims").items;
    assert_eq!(claims.len(), 1, "none was bought for the controller's own pods");
    install(&installed.lab, &installed.release, true).await;
}

/// Deletes the claims on whose nodes these pods run.
async fn end_claims_of(installed: &Installed, pods: &[&str]) {
    let claims = installed.objects("karpenter.sh", "v1", "NodeClaim");
    for name in pods {
        let pod = installed.pods().get(name).await.expect("the pod");
        let node = pod.spec.and_then(|spec| spec.node_name).expect("it is bound");
        let listed = claims.list(&ListParams::default()).await.expect("claims").items;
        let claim = listed.iter().find(|claim| claim.data["status"]["nodeName"] == *node);
        let Some(claim) = claim else { continue };
        claims.delete(&claim.name_any(), &DeleteParams::default()).await.expect("deleted");
    }
}

/// Holds the requests that came against the rights: each is allowed, and each right was of use or is known to be rare.
fn judge(installed: &mut Installed) {
    let rendered = installed.release.render().expect("it renders");
    let rights = Rights::of(&rendered, NAMESPACE, NAME);
    let calls = installed.proxy.calls();
    // The version of the server is no object, and everybody's to read.
    let calls: Vec<_> = calls.iter().filter(|call| !call.resource.is_empty()).collect();
    let refused: Vec<_> = calls.iter().filter(|call| !rights.allow(call)).collect();
    assert!(refused.is_empty(), "no right of the chart allows {refused:?}");
    let is_used = |right: &&Right| calls.iter().any(|call| right.allows(call));
    let (used, unused): (Vec<&Right>, Vec<&Right>) = rights.0.iter().partition(is_used);
    let rare: Vec<&str> = RARE.iter().map(|(right, _)| *right).collect();
    let told = |rights: Vec<&Right>| rights.iter().map(ToString::to_string).collect::<Vec<_>>();
    let needless: Vec<String> = told(unused).into_iter().filter(|right| !rare.contains(&&**right)).collect();
    assert!(needless.is_empty(), "rights that nothing needs: {needless:?}");
    eprintln!("{} rights were of use to {} requests", used.len(), calls.len());
    let log = installed.lab.log(NAME);
    assert!(!log.contains("forbidden") && !log.contains("no right to"), "{log}");
}

/// Every variable that the chart sets without values is explained by the command's help, or is known to be unread.
#[test]
fn the_command_explains_every_variable_that_the_chart_sets() {
    let rendered = Release::new("plimsoll", json!({})).render().expect("it renders");
    let deployment = plimsoll_charts::of_kind(&rendered, "Deployment");
    let container = Container::of(deployment[0]).expect("a container");
    let help = Command::new(program()).args(["run", "--help"]).output().expect("help");
    let help = String::from_utf8(help.stdout).expect("text");
    let explained = |name: &str| help.split(|letter: char| !letter.is_ascii_uppercase() && letter != '_').any(|word| word == name);
    let unread: Vec<&str> = container.environment.keys().map(String::as_str).filter(|name| !explained(name)).collect();
    assert_eq!(unread, UNREAD);
}
