//! Scripts: work that both controllers do on the same cloud, step by step.

use std::collections::BTreeMap;
use std::time::Duration;

use plimsoll_cloud::World;
use serde_json::{Value, json};

/// Name of the cluster, and of its queue.
pub(super) const CLUSTER: &str = "lab";
/// Name of the pool and of its class.
pub(super) const POOL: &str = "general";
const HOST: &str = "kubernetes.io/hostname";

/// A script.
pub struct Script {
    /// Its name on the command line and in explanations.
    pub name: &'static str,
    /// The work, for a table.
    pub title: &'static str,
    /// How large it is.
    pub scale: Scale,
    /// The cloud's difference from an ordinary one, at first.
    pub world: fn(&mut World),
    /// Requirements of the pool.
    pub requirements: Vec<Value>,
    /// Steps in their order.
    pub steps: Vec<Step>,
}

/// How large a script is: how long its steps may take, how it is observed, and by which bars it is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// A few nodes: everything is looked at again and again, and compared.
    Small,
    /// Nodes by the thousand: pods, nodes and claims are watched, and figures alone are compared.
    Large,
}

impl Scale {
    /// The longest that a step may take. Offerings that were out of stock are not asked for again for three minutes, and pods may wait
    /// for that more than once. On two cores Karpenter has some twenty pods run in a second.
    pub(super) const fn patience(self) -> Duration {
        match self {
            Self::Small => Duration::from_mins(7),
            Self::Large => Duration::from_mins(40),
        }
    }

    /// The time for which a node is not needed before it is removed: pods by the thousand are bound long after the first nodes are there.
    const fn consolidate_after(self) -> &'static str {
        match self {
            Self::Small => "2s",
            Self::Large => "30s",
        }
    }
}

/// A step.
pub enum Step {
    /// A deployment comes.
    Come(Pods),
    /// A deployment gets another number of replicas.
    Scale(&'static str, usize),
    /// Something happens in the cloud.
    Happens(fn(&mut World)),
    /// The controller's process ends at once, and another one starts.
    Restart,
    /// Fleets were asked for in vain, so often.
    Refused(usize),
    /// So many of the claims that were there when it was settled last have gone, or all of them where they were fewer.
    Replaced(usize),
    /// Every pod runs. For large scripts.
    Running,
    /// Every pod runs, every claim has its node and instance, complete and tagged, and nothing goes. The objects are as they are then.
    Settled,
    /// No claim, node or instance is left.
    Gone,
}

impl Step {
    /// The step, for people.
    pub fn title(&self) -> String {
        match self {
            Self::Come(pods) => format!("{} pods {} come", pods.count, pods.name),
            Self::Scale(name, count) => format!("{name} has {count} replicas"),
            Self::Happens(_) => "the cloud changes".to_owned(),
            Self::Restart => "the controller is started anew".to_owned(),
            Self::Refused(times) => format!("{times} fleets are asked for in vain"),
            Self::Replaced(usize::MAX) => "all claims have gone".to_owned(),
            Self::Replaced(count) => format!("{count} claims have gone"),
            Self::Running => "all pods run".to_owned(),
            Self::Settled => "it is settled".to_owned(),
            Self::Gone => "nothing is left".to_owned(),
        }
    }
}

/// A deployment.
pub struct Pods {
    /// Its name.
    pub name: &'static str,
    /// Its replicas.
    pub count: usize,
    /// Processor time and memory of each.
    pub requests: (&'static str, &'static str),
    /// More of the pods' `spec`.
    pub spec: Vec<(&'static str, Value)>,
}

impl Pods {
    /// Pods without constraints.
    pub fn new(name: &'static str, count: usize, requests: (&'static str, &'static str)) -> Self {
        Self {
            name,
            count,
            requests,
            spec: Vec::new(),
        }
    }

    /// The same, on nodes with a label.
    #[must_use]
    pub fn on(mut self, key: &str, value: &str) -> Self {
        self.spec.push(("nodeSelector", json!({key: value})));
        self
    }

    /// The same, each on a node of its own.
    #[must_use]
    pub fn apart(mut self) -> Self {
        let own = json!({"matchLabels": {"app": self.name}});
        let terms = json!([{"topologyKey": HOST, "labelSelector": own}]);
        let required = "requiredDuringSchedulingIgnoredDuringExecution";
        let rule = json!({"podAntiAffinity": {required: terms}});
        self.spec.push(("affinity", rule));
        self
    }
}

impl Script {
    /// The class and the pool.
    pub fn manifests(&self) -> [Value; 2] {
        let by_tag = json!([{"tags": {"karpenter.sh/discovery": CLUSTER}}]);
        let class = json!({
            "apiVersion": "karpenter.k8s.aws/v1", "kind": "EC2NodeClass", "metadata": {"name": POOL},
            "spec": {
                "amiSelectorTerms": [{"alias": "al2023@latest"}], "role": format!("KarpenterNodeRole-{CLUSTER}"),
                "subnetSelectorTerms": by_tag, "securityGroupSelectorTerms": by_tag,
                "tags": {"team": "shop"},
            },
        });
        let reference = json!({"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": POOL});
        let pool = json!({
            "apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": POOL},
            "spec": {
                "template": {
                    "metadata": {"labels": {"team": "shop"}},
                    "spec": {"nodeClassRef": reference, "requirements": self.requirements},
                },
                // What is compared is what is bought: only nodes that are not needed are removed.
                "disruption": {
                    "consolidationPolicy": "WhenEmpty", "consolidateAfter": self.scale.consolidate_after(),
                    "budgets": [{"nodes": "100%"}],
                },
            },
        });
        [class, pool]
    }

    /// Pods that there are after all steps so far.
    pub fn pods(steps: &[Step]) -> usize {
        let mut counts = BTreeMap::new();
        for step in steps {
            match step {
                Step::Come(pods) => drop(counts.insert(pods.name, pods.count)),
                Step::Scale(name, count) => drop(counts.insert(name, *count)),
                _ => {}
            }
        }
        counts.values().sum()
    }
}

/// A requirement that a label has one of these values.
pub(super) fn is(key: &str, values: &[&str]) -> Value {
    json!({"key": key, "operator": "In", "values": values})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pods_are_counted_after_the_steps_that_change_them() {
        let steps = [
            Step::Come(Pods::new("a", 3, ("1", "1Gi"))),
            Step::Come(Pods::new("b", 2, ("1", "1Gi"))),
            Step::Settled,
            Step::Scale("a", 0),
        ];
        assert_eq!(Script::pods(&steps[..3]), 5);
        assert_eq!(Script::pods(&steps), 2);
    }
}
