//! Work that controllers are measured at: which pods come, and what becomes of them then.

use std::collections::BTreeMap;

use anyhow::Result;
use kube::Client;
use kube::api::{Api, Patch, PatchParams};
use serde_json::{Value, json};

use super::{deploy, scale};

/// The label by which pods of a rollout are told from those before it.
const ROUND: &str = "round";
/// Pods of two shapes.
const SHAPES: [(&str, (&str, &str)); 2] =
    [("small", ("900m", "3100Mi")), ("large", ("3500m", "28Gi"))];
/// Deployments of the mixed scenario, and replicas of each.
const MIXED: (usize, usize) = (30, 30);
const ZONE: &str = "topology.kubernetes.io/zone";
const HOST: &str = "kubernetes.io/hostname";

/// A step of a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// All pods come; done when all run.
    Come,
    /// Every deployment gets another template; done when all pods that run are of it.
    RollOut,
    /// Three tenths of every deployment go; done when the fleet has settled.
    Shrink,
}

/// Work for a controller.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// The name on the command line.
    pub name: &'static str,
    /// The work, for a table.
    pub title: &'static str,
    workloads: Vec<Workload>,
    /// Steps in their order; the first is always [`Step::Come`].
    pub steps: &'static [Step],
}

/// A deployment.
#[derive(Clone, Debug)]
struct Workload {
    name: String,
    replicas: usize,
    requests: (&'static str, &'static str),
    spec: Vec<(&'static str, Value)>,
}

impl Step {
    /// The step, for a table.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Come => "all come",
            Self::RollOut => "all roll out",
            Self::Shrink => "seven tenths stay",
        }
    }
}

impl Scenario {
    /// All of them, in the order in which they run.
    pub fn all() -> Vec<Self> {
        const COME_AND_GO: &[Step] = &[Step::Come, Step::Shrink];
        let shapes = |spec: &dyn Fn(&str) -> Vec<(&'static str, Value)>| {
            let of = |(name, requests): (&str, _)| Workload {
                name: name.to_owned(),
                replicas: 500,
                requests,
                spec: spec(name),
            };
            SHAPES.into_iter().map(of).collect()
        };
        vec![
            Self {
                name: "shapes",
                title: "1,000 pods of two shapes",
                workloads: shapes(&|_| Vec::new()),
                steps: COME_AND_GO,
            },
            Self {
                name: "by-host",
                title: "1,000 pods of two shapes spread by host",
                workloads: shapes(&|name| vec![spread(name, HOST)]),
                steps: COME_AND_GO,
            },
            Self {
                name: "mixed",
                title: "900 pods of 30 deployments with mixed constraints",
                workloads: (0..MIXED.0).map(mixed).collect(),
                steps: &[Step::Come, Step::RollOut, Step::Shrink],
            },
        ]
    }

    /// Pods after a step.
    pub fn pods(&self, step: Step) -> usize {
        let replicas = self.workloads.iter().map(|it| it.after(step));
        replicas.sum()
    }

    /// Has a step happen.
    pub async fn take(&self, client: &Client, step: Step) -> Result<()> {
        for it in &self.workloads {
            match step {
                Step::Come => {
                    deploy(
                        client,
                        (it.name.as_str(), it.replicas),
                        it.requests,
                        &it.spec,
                    )
                    .await?;
                }
                Step::RollOut => roll_out(client, &it.name).await?,
                Step::Shrink => scale(client, &it.name, it.after(step)).await?,
            }
        }
        Ok(())
    }
}

impl Workload {
    /// Replicas after a step.
    fn after(&self, step: Step) -> usize {
        match step {
            Step::Come | Step::RollOut => self.replicas,
            Step::Shrink => self.replicas * 7 / 10,
        }
    }
}

/// `true` if a pod is of the template that a rollout brings.
pub(super) fn is_of_rollout(labels: &BTreeMap<String, String>) -> bool {
    labels.contains_key(ROUND)
}

/// One of the deployments with mixed constraints: six kinds of them, on three shapes.
fn mixed(number: usize) -> Workload {
    let name = format!("mixed-{number}");
    let own = json!({"matchLabels": {"app": name}});
    let terms = |key: &str| json!([{"topologyKey": key, "labelSelector": own}]);
    let required = "requiredDuringSchedulingIgnoredDuringExecution";
    let spec = match number % 6 {
        0 => Vec::new(),
        1 => vec![spread(&name, ZONE)],
        2 => vec![spread(&name, HOST)],
        3 => vec![(
            "affinity",
            json!({"podAntiAffinity": {required: terms(HOST)}}),
        )],
        4 => vec![("affinity", json!({"podAffinity": {required: terms(ZONE)}}))],
        _ => vec![("nodeSelector", json!({ZONE: "test-zone-b"}))],
    };
    let shapes = [("250m", "512Mi"), ("900m", "3100Mi"), ("1500m", "12Gi")];
    Workload {
        name,
        replicas: MIXED.1,
        requests: shapes[number / 6 % 3],
        spec,
    }
}

/// Pods of a deployment differ by at most one between any two of these domains.
fn spread(name: &str, key: &str) -> (&'static str, Value) {
    let rule = json!([{
        "maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": name}},
    }]);
    ("topologySpreadConstraints", rule)
}

async fn roll_out(client: &Client, name: &str) -> Result<()> {
    let deployments: Api<k8s_openapi::api::apps::v1::Deployment> =
        Api::namespaced(client.clone(), "default");
    let labels = json!({"metadata": {"labels": {ROUND: "second"}}});
    let other = Patch::Merge(json!({"spec": {"template": labels}}));
    deployments
        .patch(name, &PatchParams::default(), &other)
        .await?;
    Ok(())
}
