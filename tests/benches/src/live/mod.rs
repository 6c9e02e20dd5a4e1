//! Controllers at work in a lab of their own: what benches of the live loop have in common.

mod contender;
mod fleet;
mod heard;
mod scenario;
mod sending;
mod world;

pub use contender::{Contender, Programs, Running};
pub(crate) use contender::{free_port, own_program, until_ready};
pub use fleet::{Fleet, Prices};
pub use heard::Heard;
pub use scenario::{Scenario, Step};
pub use sending::{Sent, sent};
pub use world::{Seen, World};
pub(crate) use world::{Told, follow};

use std::time::Duration;

use anyhow::Result;
use kube::Client;
use kube::api::{Api, Patch, PatchParams};
use plimsoll_lab::{Lab, Options, apply};
use serde_json::{Value, json};

/// The longest that a part of a bench may take.
pub const PATIENCE: Duration = Duration::from_mins(30);

/// A lab with the definitions of both controllers, which have the same ones.
pub async fn lab() -> Result<Lab> {
    let definitions = plimsoll_api::crd::definitions(plimsoll_api::crd::Provider::Kwok);
    let options = Options {
        definitions,
        ..Options::default()
    };
    Ok(Lab::start(options).await?)
}

/// A class whose instances come up at once, and the pool that buys them: Linux, amd64, on demand, with as many cores an operator and a value say. It may be disrupted as a whole, 30 s after its nodes are consolidatable.
pub async fn make_pool(client: &Client, (operator, value): (&str, &str)) -> Result<()> {
    let class = json!({
        "apiVersion": "karpenter.kwok.sh/v1alpha1", "kind": "KWOKNodeClass",
        "metadata": {"name": "default"}, "spec": {},
    });
    let is = |key: &str, value: &str| json!({"key": key, "operator": "In", "values": [value]});
    let pool = json!({
        "apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": "general"},
        "spec": {
            "template": {"spec": {
                "nodeClassRef": {"group": "karpenter.kwok.sh", "kind": "KWOKNodeClass", "name": "default"},
                "requirements": [
                    is("kubernetes.io/os", "linux"), is("kubernetes.io/arch", "amd64"),
                    is("karpenter.sh/capacity-type", "on-demand"),
                    {"key": "karpenter.kwok.sh/instance-cpu", "operator": operator, "values": [value]},
                ],
            }},
            "disruption": {"consolidateAfter": "30s", "budgets": [{"nodes": "100%"}]},
        },
    });
    apply(client, &class).await?;
    apply(client, &pool).await?;
    Ok(())
}

/// A deployment of pods that ask for something; `more` is set in the pod's `spec`.
pub async fn deploy(
    client: &Client,
    (name, replicas): (&str, usize),
    (cpu, memory): (&str, &str),
    more: &[(&str, Value)],
) -> Result<()> {
    let requests = json!({"cpu": cpu, "memory": memory});
    let mut spec = json!({"terminationGracePeriodSeconds": 1, "containers": [
        {"name": "main", "image": "registry.k8s.io/pause", "resources": {"requests": requests}},
    ]});
    for (field, value) in more {
        spec[*field] = value.clone();
    }
    let labels = json!({"app": name});
    let deployment = json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name, "namespace": "default"},
        "spec": {
            "replicas": replicas, "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": spec},
        },
    });
    Ok(apply(client, &deployment).await?)
}

/// Gives a deployment another number of replicas.
pub async fn scale(client: &Client, name: &str, replicas: usize) -> Result<()> {
    let deployments: Api<k8s_openapi::api::apps::v1::Deployment> =
        Api::namespaced(client.clone(), "default");
    let wanted = Patch::Merge(json!({"spec": {"replicas": replicas}}));
    deployments
        .patch(name, &PatchParams::default(), &wanted)
        .await?;
    Ok(())
}
