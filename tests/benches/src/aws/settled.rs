//! When a cluster is settled: every pod runs, every claim has its node and its instance, all of them complete, and nothing goes. In a large one
//! what is only written down afterwards is not waited for: tags, consolidatable claims, and amounts of pools.

use plimsoll_cloud::Instance;
use serde_json::Value;

use super::scene::holds;
use super::script::Scale;

/// Annotation by which claims say that their instance has its tags.
const TAGGED: &str = "karpenter.k8s.aws/tagged";

/// Pods, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counted {
    /// All of them; `None` where only those that run are known.
    pub(super) all: Option<usize>,
    /// Those that run and do not go.
    pub(super) running: usize,
}

impl Counted {
    /// Counts pods of a list.
    pub(super) fn of(pods: &[Value]) -> Self {
        let running = |pod: &&Value| pod["status"]["phase"] == "Running" && !goes(pod);
        Self {
            all: Some(pods.len()),
            running: pods.iter().filter(running).count(),
        }
    }

    /// A reason why not so many of them run and there are no others; `None` where it is so.
    pub(super) fn lacking(self, pods: usize) -> Option<String> {
        let Self { all, running } = self;
        let is_so = running == pods && all.is_none_or(|all| all == pods);
        let told = || match all {
            Some(all) => format!("{running} of {all} pods run; expected {pods}"),
            None => format!("{running} pods run; expected {pods}"),
        };
        (!is_so).then(told)
    }
}

/// A cluster and its cloud at one moment.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen {
    pub(super) pools: Vec<Value>,
    pub(super) pods: Counted,
    pub(super) claims: Vec<Value>,
    pub(super) nodes: Vec<Value>,
    /// Instances that have not ended.
    pub(super) instances: Vec<Instance>,
}

/// A reason why it is not settled with so many pods; `None` where it is.
pub(super) fn unsettled(seen: &Seen, pods: usize, scale: Scale) -> Option<String> {
    let lacking = incomplete(seen, pods);
    match scale {
        Scale::Small => lacking.or_else(|| unwritten(seen)),
        Scale::Large => lacking,
    }
}

/// The first lack of pods, claims, nodes or instances.
fn incomplete(seen: &Seen, pods: usize) -> Option<String> {
    if let Some(lacking) = seen.pods.lacking(pods) {
        return Some(lacking);
    }
    let counts = (seen.claims.len(), seen.nodes.len(), seen.instances.len());
    if counts.0 != counts.1 || counts.1 != counts.2 {
        return Some(format!("there are {counts:?} claims, nodes and instances"));
    }
    if let Some(one) = seen.claims.iter().chain(&seen.nodes).find(|own| goes(own)) {
        return Some(format!("{} {} goes", one["kind"], one["metadata"]["name"]));
    }
    if let Some(lacking) = without(seen, "Initialized") {
        return Some(lacking);
    }
    let node = seen.nodes.iter().find(|node| is_tainted(node))?;
    let (name, taints) = (&node["metadata"]["name"], &node["spec"]["taints"]);
    Some(format!("node {name} has taints: {taints}"))
}

/// The first word that is not yet written down about a complete cluster, and comes after a while.
fn unwritten(seen: &Seen) -> Option<String> {
    // A claim is consolidatable once nothing has happened on its node for a while.
    if let Some(lacking) = without(seen, "Consolidatable") {
        return Some(lacking);
    }
    let says_so = |claim: &&Value| claim["metadata"]["annotations"][TAGGED] == "true";
    if let Some(claim) = seen.claims.iter().find(|own| !says_so(own)) {
        return Some(format!(
            "claim {} does not say that its instance has its tags",
            claim["metadata"]["name"]
        ));
    }
    let is_tagged = |own: &Instance| own.tags.contains_key("karpenter.sh/nodeclaim");
    if let Some(own) = seen.instances.iter().find(|own| !is_tagged(own)) {
        return Some(format!(
            "instance {} does not have the tag of its claim",
            own.id
        ));
    }
    let there = seen
        .nodes
        .iter()
        .map(|node| cores(&node["status"]["capacity"]));
    let told = seen
        .pools
        .iter()
        .map(|pool| cores(&pool["status"]["resources"]));
    let (there, told) = (there.sum::<u64>(), told.sum::<u64>());
    (there != told).then(|| format!("nodes have {there} cores, and pools tell of {told}"))
}

/// A claim for which a condition does not hold.
fn without(seen: &Seen, condition: &str) -> Option<String> {
    let claim = seen.claims.iter().find(|own| !holds(own, condition))?;
    let name = &claim["metadata"]["name"];
    Some(format!("claim {name} is not {condition}"))
}

fn is_tainted(node: &Value) -> bool {
    !node["spec"]["taints"].is_null()
}

/// Cores of instances, which have whole ones.
fn cores(amounts: &Value) -> u64 {
    let text = amounts["cpu"].as_str().unwrap_or_default();
    text.parse().unwrap_or(0)
}

fn goes(object: &Value) -> bool {
    !object["metadata"]["deletionTimestamp"].is_null()
}

#[cfg(test)]
mod tests {
    use std::time::UNIX_EPOCH;

    use plimsoll_cloud::Health;
    use plimsoll_model::catalogue::CapacityType;
    use serde_json::json;

    use super::*;

    fn instance(tag: &str) -> Instance {
        Instance {
            id: "i-1".to_owned(),
            reservation: String::new(),
            fleet: String::new(),
            instance_type: String::new(),
            zone: String::new(),
            subnet: String::new(),
            image: String::new(),
            capacity_type: CapacityType::OnDemand,
            spot_request: None,
            security_groups: Vec::new(),
            profile: None,
            template: Value::Null,
            tags: [(tag.to_owned(), String::new())].into(),
            launched: UNIX_EPOCH,
            ends: None,
            health: Health::default(),
        }
    }

    /// A settled cluster with a change.
    fn told(change: impl Fn(&mut Seen)) -> String {
        told_of(Scale::Small, change)
    }

    fn told_of(scale: Scale, change: impl Fn(&mut Seen)) -> String {
        let condition = |name: &str| json!({"type": name, "status": "True"});
        let conditions = json!([condition("Initialized"), condition("Consolidatable")]);
        let mut seen = Seen {
            pods: Counted::of(&[json!({"status": {"phase": "Running"}})]),
            claims: vec![json!({
                "kind": "NodeClaim", "metadata": {"name": "a", "annotations": {TAGGED: "true"}},
                "status": {"conditions": conditions},
            })],
            nodes: vec![
                json!({"kind": "Node", "metadata": {"name": "n"}, "spec": {}, "status": {"capacity": {"cpu": "4"}}}),
            ],
            pools: vec![json!({"status": {"resources": {"cpu": "4"}}})],
            instances: vec![instance("karpenter.sh/nodeclaim")],
        };
        change(&mut seen);
        unsettled(&seen, 1, scale).unwrap_or_default()
    }

    #[test]
    fn a_cluster_to_which_nothing_happens_is_settled_and_any_lack_is_told() {
        assert_eq!(told(|_| {}), "");
        assert_eq!(
            told(|seen| seen.pods = Counted::of(&[json!({"status": {"phase": "Pending"}})])),
            "0 of 1 pods run; expected 1"
        );
        let going =
            json!({"metadata": {"deletionTimestamp": "now"}, "status": {"phase": "Running"}});
        assert_eq!(
            told(|seen| seen.pods = Counted::of(std::slice::from_ref(&going))),
            "0 of 1 pods run; expected 1"
        );
        assert_eq!(
            told(|seen| seen.instances.clear()),
            "there are (1, 1, 0) claims, nodes and instances"
        );
        assert_eq!(
            told(|seen| seen.nodes[0]["metadata"]["deletionTimestamp"] = "now".into()),
            "\"Node\" \"n\" goes"
        );
        assert_eq!(
            told(|seen| seen.claims[0]["status"]["conditions"][1]["status"] = "False".into()),
            "claim \"a\" is not Consolidatable"
        );
        assert_eq!(
            told(|seen| seen.claims[0]["metadata"]["annotations"] = Value::Null),
            "claim \"a\" does not say that its instance has its tags"
        );
        assert_eq!(
            told(|seen| seen.instances = vec![instance("Name")]),
            "instance i-1 does not have the tag of its claim"
        );
        assert_eq!(
            told(|seen| seen.nodes[0]["spec"]["taints"] = json!([{"key": "x"}])),
            "node \"n\" has taints: [{\"key\":\"x\"}]"
        );
        assert_eq!(
            told(|seen| seen.pools[0]["status"]["resources"]["cpu"] = "0".into()),
            "nodes have 4 cores, and pools tell of 0"
        );
    }

    #[test]
    fn a_large_cluster_is_settled_before_all_of_it_is_written_down() {
        let large = |change: fn(&mut Seen)| told_of(Scale::Large, change);
        assert_eq!(large(|seen| seen.instances = vec![instance("Name")]), "");
        assert_eq!(
            large(|seen| seen.claims[0]["metadata"]["annotations"] = Value::Null),
            ""
        );
        let running = |running| Counted { all: None, running };
        assert_eq!(running(3).lacking(3), None);
        let lacking = running(2).lacking(3);
        assert_eq!(lacking.as_deref(), Some("2 pods run; expected 3"));
        let tainted = large(|seen| seen.nodes[0]["spec"]["taints"] = json!([{"key": "x"}]));
        assert_eq!(tainted, "node \"n\" has taints: [{\"key\":\"x\"}]");
        assert_eq!(
            large(|seen| seen.claims[0]["status"]["conditions"][0]["status"] = "False".into()),
            "claim \"a\" is not Initialized"
        );
    }
}
