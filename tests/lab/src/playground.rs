//! A cluster to play with: a pool, a Policy with its module, a load, and what to type next.

use std::path::Path;
use std::process::Command;

use kube::Client;
use plimsoll_lab::{LabError, apply, example_class, showcase_pool};
use serde_json::{Value, json};

/// The namespace that the program takes for its own here.
pub(crate) const NAMESPACE: &str = "kube-system";
/// The shipped policy that decides what is bought.
const POLICY: &str = "spot-diversified";

/// Makes class, pool, Policy and load; `program` packs the module.
pub(crate) async fn furnish(client: &Client, program: &Path) -> Result<(), LabError> {
    let module = module(program)?;
    let name = module["metadata"]["name"].clone();
    let policy = json!({
        "apiVersion": "plimsoll.dev/v1alpha1", "kind": "Policy", "metadata": {"name": POLICY},
        "spec": {"hook": "Rank", "configMapRef": {"name": name}, "nodePoolSelector": {}},
    });
    for object in [example_class(), showcase_pool(), module, policy, load()] {
        apply(client, &object).await?;
    }
    Ok(())
}

/// The ConfigMap of the policy's module, as the program packs it.
fn module(program: &Path) -> Result<Value, LabError> {
    let failed = |source| LabError::Spawn {
        program: program.display().to_string(),
        source,
    };
    let packed = Command::new(program)
        .args(["policy", "pack", POLICY, "-n", NAMESPACE, "-o", "json"])
        .output()
        .map_err(failed)?;
    let list: Value = serde_json::from_slice(&packed.stdout).unwrap_or_default();
    match list["items"].get(0) {
        Some(module) => Ok(module.clone()),
        None => Err(LabError::Ended {
            program: format!("{} policy pack {POLICY}", program.display()),
            status: packed.status.to_string(),
            log: String::from_utf8_lossy(&packed.stderr).into_owned(),
        }),
    }
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
pub(crate) fn invitation(kubeconfig: &Path, program: &Path) -> String {
    let (kubeconfig, program) = (kubeconfig.display(), program.display());
    format!(
        "
The lab is up, and plimsoll serves it: a pool, a Policy, and ten pods of half a core. In another terminal:

  export KUBECONFIG={kubeconfig}
  kubectl get plp                                  # which policy decides, and whether it serves
  kubectl get nodeclaims,nodes,pods -o wide
  kubectl scale deployment web --replicas=60       # more nodes within seconds
  kubectl scale deployment web --replicas=6        # half a minute later unused nodes terminate
  kubectl create deployment giant --image=registry.k8s.io/pause
  kubectl set resources deployment giant --requests=cpu=500
  {program} explain pod NAME                       # why it waits
  {program} snapshot record -O lab.snapshot.zst
  {program} simulate lab.snapshot.zst --policy rank=list-price --compare rank={POLICY}

Another policy, without a restart:

  {program} policy pack fewest-nodes -n {NAMESPACE} -o yaml | kubectl apply --server-side -f -
  kubectl patch plp {POLICY} --type=merge -p '{{\"spec\":{{\"configMapRef\":{{\"name\":\"NAME PRINTED ABOVE\"}}}}}}'

Ctrl-D ends it all.
"
    )
}
