//! Interruptions in a lab whose nodes are instances of a cloud on loopback: the program at work there, and the moments at which it taints nodes.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use k8s_openapi::api::core::v1::Node;
use kube::runtime::watcher;
use kube::{Api, Client};
use plimsoll_api::crd::{Provider, definitions};
use plimsoll_cloud::Cloud;
use plimsoll_lab::{Lab, Options, apply};
use plimsoll_model::DISRUPTED_TAINT;
use serde_json::json;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::live::{Told, follow, free_port, own_program, until_ready};

/// The cluster, and the queue of its interruptions.
pub const CLUSTER: &str = "bench";
/// Its name in the lab.
const NAME: &str = "controller";

/// The program, which lies beside this one.
pub fn program() -> Result<PathBuf> {
    own_program("cargo build --bin plimsoll --features plimsoll/aws")
}

/// A lab with a class and a pool of small spot instances, which nothing disrupts but interruptions.
pub async fn lab() -> Result<Lab> {
    let definitions = definitions(Provider::Aws);
    let options = Options {
        definitions,
        ..Options::default()
    };
    let lab = Lab::start(options).await?;
    let by_tag = json!([{"tags": {"karpenter.sh/discovery": CLUSTER}}]);
    let class = json!({
        "apiVersion": "karpenter.k8s.aws/v1", "kind": "EC2NodeClass", "metadata": {"name": "default"},
        "spec": {
            "amiSelectorTerms": [{"alias": "al2023@latest"}], "role": format!("KarpenterNodeRole-{CLUSTER}"),
            "subnetSelectorTerms": by_tag, "securityGroupSelectorTerms": by_tag,
        },
    });
    let is = |key: &str, value: &str| json!({"key": key, "operator": "In", "values": [value]});
    let pool = json!({
        "apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": "general"},
        "spec": {
            "template": {"spec": {
                "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"},
                "requirements": [
                    is("karpenter.sh/capacity-type", "spot"), is("kubernetes.io/arch", "amd64"),
                    is("karpenter.k8s.aws/instance-size", "large"),
                ],
            }},
            "disruption": {"consolidateAfter": "Never"},
        },
    });
    for object in [class, pool] {
        apply(&lab.client(), &object).await?;
    }
    Ok(lab)
}

/// Starts the program in a lab on a cloud, and returns when it says that it is ready.
pub async fn start(lab: &mut Lab, program: &Path, cloud: &Cloud) -> Result<()> {
    let (metrics, probes) = (free_port()?, free_port()?);
    let variables = cloud.environment(CLUSTER).into_iter();
    let variables = variables.map(|(name, value)| format!("{name}={value}"));
    let command = [
        program.display().to_string(),
        "run".to_owned(),
        "--provider=aws".to_owned(),
        "--disable-leader-election".to_owned(),
        "--leader-election-namespace=kube-system".to_owned(),
        "--bind-address=127.0.0.1".to_owned(),
        format!("--kubeconfig={}", lab.kubeconfig().display()),
        format!("--metrics-port={metrics}"),
        format!("--health-probe-port={probes}"),
    ];
    let words: Vec<String> = variables.chain(command).collect();
    lab.run(NAME, Path::new("/usr/bin/env"), &words)?;
    until_ready(lab, NAME, probes).await
}

/// When nodes were first heard of as tainted, by the id of their instance, for as long as they are followed.
pub struct Tainted {
    seen: watch::Receiver<BTreeMap<String, Instant>>,
    _watching: JoinSet<()>,
}

impl Tainted {
    /// Begins to watch.
    pub fn of(client: &Client) -> Self {
        let (sender, seen) = watch::channel(BTreeMap::new());
        let nodes: Api<Node> = Api::all(client.clone());
        let mut watching = JoinSet::new();
        let all = watcher::Config::default();
        watching.spawn(follow(nodes, all, sender, |seen, told| {
            if let Told::There(node) = told
                && let Some(id) = tainted(&node)
            {
                seen.entry(id).or_insert_with(Instant::now);
            }
        }));
        Self {
            seen,
            _watching: watching,
        }
    }

    /// Waits until nodes of all these instances are tainted; how long after the moment beside each, the shortest first.
    pub async fn delays(
        &self,
        sent: &BTreeMap<String, Instant>,
        patience: Duration,
    ) -> Result<Vec<Duration>> {
        let mut seen = self.seen.clone();
        let all = |seen: &BTreeMap<String, Instant>| sent.keys().all(|id| seen.contains_key(id));
        let Ok(met) = timeout(patience, seen.wait_for(all)).await else {
            let seen = self.seen.borrow();
            let missing = sent.keys().filter(|id| !seen.contains_key(*id)).count();
            bail!("nodes of {missing} instances were not tainted within {patience:?}");
        };
        let seen = met.context("a watch of the bench has ended")?;
        let delay = |(id, sent): (&String, &Instant)| seen[id].duration_since(*sent);
        let mut delays: Vec<Duration> = sent.iter().map(delay).collect();
        delays.sort();
        Ok(delays)
    }
}

/// The id of a node's instance, where the node is tainted.
fn tainted(node: &Node) -> Option<String> {
    let spec = node.spec.as_ref()?;
    let mut taints = spec.taints.iter().flatten();
    taints.find(|taint| taint.key == DISRUPTED_TAINT)?;
    let (_, id) = spec.provider_id.as_ref()?.rsplit_once('/')?;
    Some(id.to_owned())
}
