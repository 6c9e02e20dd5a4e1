//! Objects to play with: a class, a pool, a load, and the commands to type next.

use std::path::Path;

use kube::api::{Api, Patch, PatchParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::core::{ApiResource, DynamicObject, GroupVersionKind};
use kube::{Client, Config, ResourceExt};
use serde_json::{Value, json};

/// The namespace that the program takes for its own here.
pub(crate) const NAMESPACE: &str = "kube-system";
/// Flags of the program that serves: on ports that are free, so that nothing else on the machine is in the way.
pub(crate) const FLAGS: &str = "run --provider=aws --disable-leader-election --bind-address=127.0.0.1 --metrics-port=0 --health-probe-port=0";

type Failed = Box<dyn std::error::Error + Send + Sync>;

/// Makes class, pool and load; a client of the cluster.
pub(crate) async fn furnish(kubeconfig: &Path) -> Result<Client, Failed> {
    let read = Kubeconfig::read_from(kubeconfig)?;
    let config = Config::from_custom_kubeconfig(read, &KubeConfigOptions::default()).await?;
    let client = Client::try_from(config)?;
    let all = [
        ("karpenter.k8s.aws", "v1", class()),
        ("karpenter.sh", "v1", pool()),
        ("apps", "v1", load()),
    ];
    for (group, version, object) in all {
        let object: DynamicObject = serde_json::from_value(object)?;
        let kind = object.types.as_ref().map(|types| types.kind.as_str());
        let kind = GroupVersionKind::gvk(group, version, kind.unwrap_or_default());
        let resource = ApiResource::from_gvk(&kind);
        let api: Api<DynamicObject> = match object.namespace() {
            Some(namespace) => Api::namespaced_with(client.clone(), &namespace, &resource),
            None => Api::all_with(client.clone(), &resource),
        };
        let parameters = PatchParams::apply("plimsoll-lab").force();
        api.patch(&object.name_any(), &parameters, &Patch::Apply(&object))
            .await?;
    }
    Ok(client)
}

fn class() -> Value {
    let by_tag = json!([{"tags": {"karpenter.sh/discovery": super::CLUSTER}}]);
    json!({
        "apiVersion": "karpenter.k8s.aws/v1", "kind": "EC2NodeClass", "metadata": {"name": "default"},
        "spec": {
            "amiSelectorTerms": [{"alias": "al2023@latest"}],
            "role": format!("KarpenterNodeRole-{}", super::CLUSTER),
            "subnetSelectorTerms": by_tag, "securityGroupSelectorTerms": by_tag,
        },
    })
}

fn pool() -> Value {
    let is = |key: &str, values: &[&str]| json!({"key": key, "operator": "In", "values": values});
    json!({
        "apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": "general"},
        "spec": {
            "template": {"spec": {
                "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"},
                "requirements": [
                    is("kubernetes.io/arch", &["amd64"]),
                    is("karpenter.sh/capacity-type", &["spot", "on-demand"]),
                    is("karpenter.k8s.aws/instance-category", &["c", "m", "r"]),
                ],
            }},
            "disruption": {"consolidateAfter": "30s"},
        },
    })
}

/// Ten pods of half a core.
fn load() -> Value {
    let labels = json!({"app": "web"});
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "default"},
        "spec": {
            "replicas": 10, "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [{
                "name": "web", "image": "registry.k8s.io/pause",
                "resources": {"requests": {"cpu": "500m", "memory": "512Mi"}},
            }]}},
        },
    })
}

/// Commands that can be tried, for people.
pub(crate) fn invitation(command: &str, url: &str, queue: &str) -> String {
    let warning = json!({
        "version": "0", "source": "aws.ec2", "detail-type": "EC2 Spot Instance Interruption Warning",
        "detail": {"instance-id": "ID", "instance-action": "terminate"},
    });
    format!(
        "
The lab is up, with a cloud on loopback whose instances become nodes five seconds after their launch: a class, a pool, and ten pods of half a
core that wait for somebody to serve them. In another terminal, with the exports above:

  {command}

In a third one, with the same exports:

  kubectl get ec2nodeclasses,nodepools,nodeclaims,nodes,pods -o wide
  kubectl scale deployment web --replicas=60       # more nodes within seconds
  aws ec2 describe-instances --query 'Reservations[].Instances[].[InstanceId,InstanceType,State.Name]'
  aws sqs send-message --queue-url {url}/111122223333/{queue} --message-body \\
    '{warning}'

Ctrl-C ends it all.
"
    )
}
