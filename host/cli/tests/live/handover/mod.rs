//! Karpenter's controller hands a cluster over to the program, with the same manifests and the same environment, and gets it back:
//! nothing in the cluster changes by that.
//!
//! Pools are not consolidated here, so that whatever comes or goes does so because of the change. Twelve claims by default, two hundred with
//! `PLIMSOLL_LIVE=full`.

mod picture;

use std::path::Path;
use std::time::{Duration, Instant};

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::Pod;
use kube::Client;
use kube::api::{Api, ListParams, Patch, PatchParams};
use plimsoll_api::Kind;
use plimsoll_lab::{
    Call, Lab, Options, Proxy, Verb, apply, example_class, example_pool, karpenter,
    karpenter_environment, until,
};
use serde_json::{Value, json};

use super::served::{definitions, in_full, played_whole, program, recording};
use super::workloads::{apart, deployment};
use picture::Picture;

/// How long each step may take; two hundred nodes take Karpenter a minute.
const PATIENCE: Duration = Duration::from_mins(10);
/// Writes by which instances or pods come or go.
const DISTURBS: [(Verb, &str); 6] = [
    (Verb::Create, "nodeclaims"),
    (Verb::Delete, "nodeclaims"),
    (Verb::Create, "nodes"),
    (Verb::Delete, "nodes"),
    (Verb::Create, "pods/eviction"),
    (Verb::Delete, "pods"),
];
/// Claims of the static pool.
const STATIC: usize = 2;

/// A controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Controller {
    Karpenter,
    Plimsoll,
}

/// A controller while it serves, and all that it asked of the API server.
struct Shift {
    name: &'static str,
    controller: Controller,
    proxy: Proxy,
}

/// A lab with pools and pods, and who serves it.
struct Cluster {
    lab: Lab,
    client: Client,
}

impl Cluster {
    async fn start(claims: usize) -> Self {
        let options = Options {
            definitions: definitions(),
            ..Options::default()
        };
        let lab = Lab::start(options).await.expect("a lab starts");
        let client = lab.client();
        let each = (claims - STATIC) / 2;
        let workloads = [
            apart_from_each_other("shop", each),
            apart_from_each_other("batch", each),
            // Small pods that go wherever there is room.
            deployment("company", claims, ("50m", "64Mi"), json!({})),
        ];
        let pools = [shop(), batch(), base()];
        for object in [example_class()].iter().chain(&pools).chain(&workloads) {
            apply(&client, object).await.expect("applied");
        }
        Self { lab, client }
    }

    /// Starts a controller by a command that differs in the program alone, and waits until it has taken the lease.
    async fn served_by(&mut self, controller: Controller, name: &'static str) -> Shift {
        let proxy = self.lab.proxy().await.expect("a proxy");
        let mut command = karpenter_environment(proxy.kubeconfig(), self.lab.spare_ports());
        command.push("LEADER_ELECTION_NAMESPACE=kube-system".to_owned());
        command.push("FEATURE_GATES=StaticCapacity=true".to_owned());
        match controller {
            Controller::Karpenter => {
                let built = tokio::task::spawn_blocking(karpenter).await;
                let built = built.expect("a build").expect("Karpenter");
                command.push(built.display().to_string());
            }
            Controller::Plimsoll => command.extend([
                program().display().to_string(),
                "run".to_owned(),
                "--provider=kwok".to_owned(),
                "--bind-address=127.0.0.1".to_owned(),
                format!("--record={}", recording(&self.lab, name).display()),
            ]),
        }
        let started = self.lab.run(name, Path::new("/usr/bin/env"), &command);
        started.expect("it starts");
        let leads = |calls: &[Call]| calls.iter().any(|it| it.is_write() && is_lease(it));
        let led = proxy.until("the lease to be taken", PATIENCE, leads).await;
        assert!(led.is_ok(), "{name}: {led:?}: {}", self.lab.log(name));
        Shift {
            name,
            controller,
            proxy,
        }
    }

    /// Asks a controller to end; all that ours wrote down plays the same.
    async fn stop(&mut self, shift: Shift) {
        let status = self.lab.stop(shift.name, PATIENCE).await.expect("it ends");
        if shift.controller == Controller::Plimsoll {
            assert_eq!(status, "exit status: 0", "{}", self.lab.log(shift.name));
            played_whole(&self.lab, shift.name);
        }
    }

    /// Waits until all pods run and all claims are complete, and that there are so many at least: Karpenter may buy more than pods need.
    async fn until_running(&self, claims: usize) {
        let pods: Api<Pod> = Api::namespaced(self.client.clone(), "default");
        let all = plimsoll_kube::api(&self.client, Kind::NodeClaim);
        let ready = |claim: &kube::core::DynamicObject| {
            let conditions = claim.data["status"]["conditions"].as_array();
            let mut conditions = conditions.into_iter().flatten();
            conditions.any(|own| own["type"] == "Ready" && own["status"] == "True")
        };
        let what = format!("all pods to run on {claims} nodes or more");
        let mut last = String::new();
        let run = until(&what, PATIENCE, async || {
            let pods = pods.list(&ListParams::default()).await?.items;
            let phase = |pod: &Pod| pod.status.as_ref()?.phase.clone();
            let running = pods
                .iter()
                .filter(|pod| phase(pod).as_deref() == Some("Running"));
            let running = running.count();
            let all = all.list(&ListParams::default()).await?.items;
            let complete = all.iter().filter(|claim| ready(claim)).count();
            last = format!(
                "{running} of {} pods run, {complete} of {} claims are ready",
                pods.len(),
                all.len()
            );
            let is_so = running == pods.len() && complete == all.len() && all.len() >= claims;
            Ok(is_so.then_some(()))
        });
        let run = run.await;
        assert!(run.is_ok(), "{what}: {last}");
    }

    async fn picture(&self) -> Picture {
        Picture::of(&self.client).await
    }

    async fn scale(&self, workload: &str, replicas: usize) {
        let deployments: Api<Deployment> = Api::namespaced(self.client.clone(), "default");
        let scale = Patch::Merge(json!({"spec": {"replicas": replicas}}));
        let params = PatchParams::default();
        let scaled = deployments.patch_scale(workload, &params, &scale).await;
        scaled.expect("scaled");
    }
}

impl Shift {
    /// Waits until it has written nothing but its lease and events for this long.
    async fn until_at_rest(&self, quiet: Duration) {
        let written = || {
            let calls = self.proxy.calls().into_iter();
            let counts =
                |call: &Call| call.is_write() && !is_lease(call) && call.resource != "events";
            calls.filter(counts).count()
        };
        let (mut count, mut since) = (written(), Instant::now());
        let rest = until("a controller to come to rest", PATIENCE, async || {
            let now = written();
            if now != count {
                (count, since) = (now, Instant::now());
            }
            Ok((since.elapsed() >= quiet).then_some(()))
        });
        rest.await.expect("at rest");
    }

    /// Its writes by which instances or pods come or go.
    fn disturbances(&self) -> Vec<Call> {
        let calls = self.proxy.calls().into_iter();
        let disturbs = |call: &Call| DISTURBS.contains(&(call.verb, call.resource.as_str()));
        calls.filter(disturbs).collect()
    }
}

fn is_lease(call: &Call) -> bool {
    call.resource == "leases"
}

/// A pool of which every field that the template's hash covers is set.
fn shop() -> Value {
    let mut pool = pool("shop");
    pool["spec"]["weight"] = 10.into();
    pool["spec"]["limits"] = json!({"cpu": "4000", "memory": "8000Gi"});
    let template = &mut pool["spec"]["template"];
    template["metadata"] = json!({
        "labels": {"team": "shop"}, "annotations": {"example.com/owner": "shop"},
    });
    template["spec"]["taints"] =
        json!([{"key": "example.com/team", "value": "shop", "effect": "NoSchedule"}]);
    template["spec"]["expireAfter"] = "720h".into();
    template["spec"]["terminationGracePeriod"] = "1h".into();
    pool
}

/// A pool whose claims must leave a choice.
fn batch() -> Value {
    let mut pool = pool("batch");
    pool["spec"]["template"]["metadata"] = json!({"labels": {"team": "batch"}});
    let choice =
        json!({"key": "karpenter.kwok.sh/instance-family", "operator": "Exists", "minValues": 2});
    let requirements = pool.pointer_mut("/spec/template/spec/requirements");
    if let Some(Value::Array(requirements)) = requirements {
        requirements.push(choice);
    }
    pool
}

/// A pool of a fixed number of nodes.
fn base() -> Value {
    let mut pool = pool("base");
    pool["spec"]["replicas"] = STATIC.into();
    pool["spec"]["limits"] = json!({"nodes": STATIC + 1});
    // Karpenter's provider launches no claim that names no types, and its claims of static pools name those of the pool.
    let types = json!({
        "key": "node.kubernetes.io/instance-type", "operator": "In", "values": ["c-4x-amd64-linux"],
    });
    let requirements = pool.pointer_mut("/spec/template/spec/requirements");
    if let Some(Value::Array(requirements)) = requirements {
        requirements.push(types);
    }
    pool
}

/// A pool of instances below nine cores that is never consolidated.
fn pool(name: &str) -> Value {
    let mut pool = example_pool();
    pool["metadata"]["name"] = name.into();
    pool["spec"]["disruption"]["consolidateAfter"] = "Never".into();
    let small = json!({"key": "karpenter.kwok.sh/instance-cpu", "operator": "Lt", "values": ["9"]});
    let requirements = pool.pointer_mut("/spec/template/spec/requirements");
    if let Some(Value::Array(requirements)) = requirements {
        requirements.push(small);
    }
    pool
}

/// A team's pods, each on a node of its own.
fn apart_from_each_other(team: &str, replicas: usize) -> Value {
    let spec = json!({
        "affinity": apart(team), "nodeSelector": {"team": team},
        "tolerations": [{"key": "example.com/team", "operator": "Exists"}],
    });
    deployment(team, replicas, ("700m", "1Gi"), spec)
}

/// K16, C11: each controller shows that it serves by buying for more pods once it was seen to leave the rest alone.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cluster_changes_hands_and_back_and_nothing_in_it_changes() {
    // Karpenter looks for instances without a claim every two minutes.
    let (claims, quiet) = if in_full() {
        (200, Duration::from_secs(150))
    } else {
        (12, Duration::from_secs(30))
    };
    let mut cluster = Cluster::start(claims).await;
    let mut shop = (claims - STATIC) / 2;
    let mut shift = cluster.served_by(Controller::Karpenter, "before").await;
    cluster.until_running(claims).await;
    shift.until_at_rest(Duration::from_secs(10)).await;
    let course = [
        (Controller::Plimsoll, "plimsoll"),
        (Controller::Karpenter, "after"),
    ];
    for (controller, name) in course {
        let before = cluster.picture().await;
        cluster.stop(shift).await;
        shift = cluster.served_by(controller, name).await;
        shift.until_at_rest(quiet).await;
        let after = cluster.picture().await;
        assert_eq!(shift.disturbances(), [], "{name}");
        assert_eq!(before.differences(&after, false), [""; 0], "{name}");
        assert_eq!(after.drifted(), 0, "{name}");
        assert_eq!(after.orphans(), [""; 0], "{name}");
        assert_eq!(after.nominated(), [""; 0], "{name}");

        shop += 1;
        cluster.scale("shop", shop).await;
        cluster.until_running(after.claims() + 1).await;
        shift.until_at_rest(Duration::from_secs(10)).await;
        let grown = cluster.picture().await;
        assert_eq!(after.differences(&grown, true), [""; 0], "{name}");
        // No pool but the one that its pods select has grown, by a node that looks like those of the other controller.
        let labels = grown.labels("shop");
        assert_eq!(labels.len(), after.labels("shop").len() + 1, "{name}");
        assert_eq!(grown.claims(), after.claims() + 1, "{name}");
        assert!(
            labels.windows(2).all(|two| two[0] == two[1]),
            "{name}: {labels:?}"
        );
    }
    cluster.stop(shift).await;
}
