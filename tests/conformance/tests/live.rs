//! The controller on a real control plane: planned pods land where planned, empty nodes go, and what happened plays again.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use k8s_openapi::api::core::v1::{Node, Pod};
use kube::api::{ListParams, Patch, PatchParams};
use kube::core::DynamicObject;
use kube::{Api, ResourceExt};
use plimsoll_api::Kind;
use plimsoll_conformance::Served;
use plimsoll_conformance::manifest::{class, deployment, pool};
use plimsoll_conformance::watch::until;
use plimsoll_controller::record::Line;
use plimsoll_engine::Input;
use plimsoll_lab::fake_node;
use plimsoll_model::Object;
use serde_json::{Value, json};

fn node_of(pod: &Pod) -> Option<&str> {
    pod.spec.as_ref()?.node_name.as_deref()
}

fn show_pod(pod: &Pod) -> String {
    format!("{} on {:?}", pod.name_any(), node_of(pod))
}

/// Waits until there are this many pods, each bound, and gives the node of each.
pub(super) async fn bound(served: &Served, count: usize) -> Result<BTreeMap<String, String>> {
    let pods: Api<Pod> = Api::namespaced(served.client(), "default");
    let what = format!("{count} pods, all bound");
    let all = |pods: &BTreeMap<String, Pod>| {
        pods.len() == count && pods.values().all(|pod| node_of(pod).is_some())
    };
    let pods = until(pods, &what, all, show_pod).await?;
    let place = |(name, pod): (String, Pod)| (name, node_of(&pod).unwrap_or_default().to_owned());
    let places: BTreeMap<String, String> = pods.into_iter().map(place).collect();
    // The controller's own watch may be behind ours.
    for (name, node) in &places {
        let heard = |line: &Line| is_bound_to(line, name, node);
        served.until_recorded("the binding of a pod", heard).await?;
    }
    Ok(places)
}

fn is_bound_to(line: &Line, name: &str, node: &str) -> bool {
    let Line::Input(_, input) = line else {
        return false;
    };
    let Input::Applied(Object::Pod(pod), _) = input.as_ref() else {
        return false;
    };
    pod.name.name.as_ref() == name && pod.node.as_ref().is_some_and(|on| on.as_str() == node)
}

/// `true` if a line is a plan that buys nothing for so many pods.
pub(super) fn leaves_waiting(pods: usize) -> impl Fn(&Line) -> bool {
    move |line| match line {
        Line::Input(_, input) => match input.as_ref() {
            Input::Solved(_, plan) => plan.claims.is_empty() && plan.unplaced.len() == pods,
            _ => false,
        },
        _ => false,
    }
}

fn claims(served: &Served) -> Api<DynamicObject> {
    plimsoll_kube::api(&served.client(), Kind::NodeClaim)
}

/// Label values of the nodes that pods of a deployment are on, one for each pod.
fn places(
    pods: &BTreeMap<String, String>,
    nodes: &BTreeMap<String, Node>,
    deployment: &str,
    label: &str,
) -> Vec<String> {
    let of_deployment = pods
        .iter()
        .filter(|(name, _)| name.starts_with(&format!("{deployment}-")));
    of_deployment
        .map(|(_, node)| nodes[node].labels()[label].clone())
        .collect()
}

const ZONE: &str = "topology.kubernetes.io/zone";
const HOST: &str = "kubernetes.io/hostname";
const POOL: &str = "karpenter.sh/nodepool";

fn workloads() -> Vec<Value> {
    let own = |name: &str| json!({"matchLabels": {"app": name}});
    let spread = json!({"topologySpreadConstraints": [{
        "maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": own("spread"),
    }]});
    let apart = json!({"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
        {"topologyKey": HOST, "labelSelector": own("apart")},
    ]}}});
    let tolerant = json!({
        "nodeSelector": {POOL: "tainted"},
        "tolerations": [{"key": "team", "operator": "Equal", "value": "batch", "effect": "NoSchedule"}],
    });
    vec![
        deployment("plain", 6, "500m", "1Gi", &json!({})),
        deployment(
            "zonal",
            3,
            "700m",
            "1Gi",
            &json!({"nodeSelector": {ZONE: "test-zone-b"}}),
        ),
        deployment("spread", 6, "400m", "512Mi", &spread),
        deployment("apart", 3, "300m", "256Mi", &apart),
        deployment("tolerant", 2, "1", "1Gi", &tolerant),
    ]
}

/// K02: plain requests, selectors, spread, anti-affinity by host, tolerations.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_plan_holds_under_the_scheduler_and_its_recording_plays_the_same() -> Result<()> {
    let pools = |cpu: &str| {
        let limits = json!({"cpu": cpu});
        let tainted = json!({"limits": limits, "template": {"spec": {
            "taints": [{"key": "team", "value": "batch", "effect": "NoSchedule"}],
        }}});
        [
            pool("general", &json!({"limits": limits})),
            pool("tainted", &tainted),
        ]
    };
    // All pods are planned before the first node is there: one that came later might be bound to a node with room to spare before any
    // plan has heard of it.
    let served = Served::start(&[[class()].as_slice(), &pools("0")].concat()).await?;
    for workload in workloads() {
        served.apply(&workload).await?;
    }
    served
        .until_recorded("a plan that leaves all pods waiting", leaves_waiting(20))
        .await?;
    for pool in pools("100") {
        served.apply(&pool).await?;
    }
    let pods = bound(&served, 20).await?;
    let nodes: Api<Node> = Api::all(served.client());
    let nodes = until(nodes, "nodes", |_| true, ResourceExt::name_any).await?;

    assert_eq!(places(&pods, &nodes, "zonal", ZONE), vec!["test-zone-b"; 3]);
    assert_eq!(places(&pods, &nodes, "tolerant", POOL), vec!["tainted"; 2]);
    let hosts: BTreeSet<String> = places(&pods, &nodes, "apart", HOST).into_iter().collect();
    assert_eq!(hosts.len(), 3, "one host each");
    let mut zones: BTreeMap<String, u32> = BTreeMap::new();
    for zone in places(&pods, &nodes, "spread", ZONE) {
        *zones.entry(zone).or_default() += 1;
    }
    assert_eq!(zones.len(), 4, "{zones:?}");
    assert!(
        zones.values().all(|count| (1..=2).contains(count)),
        "{zones:?}"
    );

    let course = served.stop().await?;
    let landed = course.fidelity.pending;
    // Not all: an attempt of the scheduler that fails drops a pod's nomination, and the pod may be bound to another node
    // that holds it before the nomination is asserted again. A pod that was promised the room that it takes there is planned anew, and
    // counts nowhere if it is bound before that.
    let counted = landed.as_planned + landed.sooner + landed.elsewhere;
    assert!(landed.as_planned >= 14 && counted <= 20, "{landed:?}");

    let played = course.played;
    assert!(played.plans >= 1 && played.actions > 20, "{played:?}");
    Ok(())
}

/// Milli-cores that pods may use of a node.
fn milli_cores(node: &Node) -> u32 {
    let room = node
        .status
        .as_ref()
        .and_then(|status| status.allocatable.as_ref());
    let cpu = room.and_then(|room| room.get("cpu"));
    let cpu = cpu.map_or("", |cpu| cpu.0.as_str());
    let number = |text: &str| text.parse::<u32>().unwrap_or(0);
    let milli = cpu.strip_suffix('m').map(number);
    milli.unwrap_or_else(|| number(cpu) * 1000)
}

/// Pods that prefer a place, which come first; then some whose requests are more than their containers' sum says, and some that mind
/// each other.
fn company() -> Vec<Value> {
    let own = |name: &str| json!({"matchLabels": {"app": name}});
    let asks = |cpu: &str| json!({"requests": {"cpu": cpu, "memory": "128Mi"}});
    let starting = json!({"initContainers": [
        {"name": "proxy", "image": "registry.k8s.io/pause", "restartPolicy": "Always", "resources": asks("600m")},
        {"name": "prepare", "image": "registry.k8s.io/pause", "resources": asks("3")},
    ]});
    let together = json!({"affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
        {"topologyKey": ZONE, "labelSelector": own("together")},
    ]}}});
    let zones_apart = json!({"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
        {"topologyKey": ZONE, "labelSelector": own("zones-apart")},
    ]}}});
    let drawn = json!({"affinity": {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [
        {"weight": 10, "preference": {"matchExpressions": [
            {"key": ZONE, "operator": "In", "values": ["test-zone-c"]},
        ]}},
    ]}}});
    let three_zones = json!({"topologySpreadConstraints": [{
        "maxSkew": 1, "minDomains": 3, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": own("three-zones"),
    }]});
    vec![
        deployment("drawn", 2, "1500m", "1Gi", &drawn),
        deployment("starting", 2, "200m", "128Mi", &starting),
        deployment("together", 4, "900m", "512Mi", &together),
        deployment("zones-apart", 2, "300m", "256Mi", &zones_apart),
        deployment("three-zones", 3, "300m", "256Mi", &three_zones),
    ]
}

/// K02: requests of init containers and sidecars, affinity, anti-affinity by zone, preferences, a minimum of domains.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_pods_need_of_each_other_and_while_they_start_is_bought() -> Result<()> {
    let served = Served::start(&[class(), pool("general", &json!({}))]).await?;
    let company = company();
    let (drawn, others) = company.split_first().expect("several workloads");
    // Alone at first: wherever there is room already the scheduler may put pods that only prefer another zone.
    served.apply(drawn).await?;
    bound(&served, 2).await?;
    for workload in others {
        served.apply(workload).await?;
    }
    let pods = bound(&served, 13).await?;
    let nodes: Api<Node> = Api::all(served.client());
    let nodes = until(nodes, "nodes", |_| true, ResourceExt::name_any).await?;
    let zones = |deployment| places(&pods, &nodes, deployment, ZONE);
    let distinct = |deployment| zones(deployment).into_iter().collect::<BTreeSet<_>>().len();

    assert_eq!(distinct("together"), 1, "{:?}", zones("together"));
    assert_eq!(distinct("zones-apart"), 2, "{:?}", zones("zones-apart"));
    assert_eq!(distinct("three-zones"), 3, "{:?}", zones("three-zones"));
    assert_eq!(zones("drawn"), vec!["test-zone-c"; 2]);
    // While it starts such a pod needs 3.6 cores, though its container asks for 200m.
    for (name, node) in pods
        .iter()
        .filter(|(name, _)| name.starts_with("starting-"))
    {
        let milli = milli_cores(&nodes[node]);
        assert!(milli >= 3600, "{name} is on {node} of {milli}m");
    }
    served.stop().await?;
    Ok(())
}

/// C10: with the real scheduler.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_pods_beside_one_small_node_get_their_room_in_one_batch() -> Result<()> {
    let served = Served::start(&[class(), pool("general", &json!({}))]).await?;
    let mut small = serde_json::to_value(fake_node("small", "2", "8Gi"))?;
    small["apiVersion"] = "v1".into();
    small["kind"] = "Node".into();
    served.apply(&small).await?;
    let nodes: Api<Node> = Api::all(served.client());
    let ready = |nodes: &BTreeMap<String, Node>| {
        let small = nodes.get("small").and_then(|node| node.spec.as_ref());
        small.is_some_and(|spec| spec.taints.as_ref().is_none_or(Vec::is_empty))
    };
    until(
        nodes.clone(),
        "the small node to be usable",
        ready,
        ResourceExt::name_any,
    )
    .await?;

    served
        .apply(&deployment("nginx", 10, "500m", "512Mi", &json!({})))
        .await?;
    let pods = bound(&served, 10).await?;
    assert_eq!(pods.values().filter(|node| *node == "small").count(), 4);
    let bought: BTreeSet<&String> = pods.values().filter(|node| *node != "small").collect();
    assert!(bought.len() <= 4, "{bought:?}");

    let course = served.stop().await?;
    assert_eq!(course.played.plans, 1, "one batch");
    assert_eq!(
        (
            course.fidelity.pending.as_planned,
            course.fidelity.pending.elsewhere
        ),
        (6, 0)
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_empty_node_goes_with_its_claim_and_a_limit_holds_until_it_is_raised() -> Result<()> {
    let settings = |cpu: &str| {
        let disruption = json!({"consolidateAfter": "1s", "budgets": [{"nodes": "100%"}]});
        pool(
            "general",
            &json!({"disruption": disruption, "limits": {"cpu": cpu}}),
        )
    };
    let served = Served::start(&[class(), settings("0")]).await?;
    served
        .apply(&deployment("web", 2, "500m", "512Mi", &json!({})))
        .await?;
    served
        .until_recorded("a plan that leaves both pods waiting", leaves_waiting(2))
        .await?;
    let none = claims(&served).list(&ListParams::default()).await?;
    assert_eq!(none.items.len(), 0);
    served.apply(&settings("8")).await?;
    let placed = bound(&served, 2).await?;

    served
        .apply(&deployment("web", 0, "500m", "512Mi", &json!({})))
        .await?;
    let nodes: Api<Node> = Api::all(served.client());
    until(nodes, "no node", BTreeMap::is_empty, ResourceExt::name_any).await?;
    until(
        claims(&served),
        "no claim",
        BTreeMap::is_empty,
        ResourceExt::name_any,
    )
    .await?;
    assert!(
        placed
            .values()
            .all(|node| node.starts_with("kwok-general-")),
        "{placed:?}"
    );

    let course = served.stop().await?;
    assert!(course.played.decisions > 0, "{:?}", course.played);
    Ok(())
}

/// Conditions of each claim as `Type=Status Reason`, in the order of the list.
fn conditions(claim: &DynamicObject) -> Vec<String> {
    let list = claim.data["status"]["conditions"].as_array();
    let text =
        |condition: &Value, field: &str| condition[field].as_str().unwrap_or_default().to_owned();
    let one = |condition: &Value| {
        let field = |name| text(condition, name);
        format!("{}={} {}", field("type"), field("status"), field("reason"))
    };
    list.into_iter().flatten().map(one).collect()
}

/// Waits until the only claim says all of these.
async fn says(served: &Served, said: &[&str]) -> Result<()> {
    let what = format!("one claim that says {said:?}");
    let holds = |claims: &BTreeMap<String, DynamicObject>| {
        let own = claims.values().next().map(conditions).unwrap_or_default();
        claims.len() == 1 && said.iter().all(|said| own.iter().any(|own| own == said))
    };
    let show = |claim: &DynamicObject| conditions(claim).join(", ");
    until(claims(served), &what, holds, show).await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_claim_says_what_it_waits_for_until_it_is_ready() -> Result<()> {
    let agent = "example.com/agent";
    let startup = json!({"template": {"spec": {
        "startupTaints": [{"key": agent, "effect": "NoSchedule"}],
    }}});
    let mut slow = class();
    slow["spec"]["nodeRegistrationDelay"] = "2s".into();
    let served = Served::start(&[slow, pool("general", &startup)]).await?;
    served
        .apply(&deployment("web", 1, "500m", "512Mi", &json!({})))
        .await?;
    let booting = [
        "Launched=True Launched",
        "Registered=Unknown NodeNotFound",
        "Initialized=Unknown AwaitingReconciliation",
        "Ready=Unknown ReconcilingDependents",
    ];
    says(&served, &booting).await?;
    let starting = [
        "Registered=True Registered",
        "Initialized=Unknown StartupTaintsExist",
        "Ready=Unknown ReconcilingDependents",
    ];
    says(&served, &starting).await?;

    let nodes: Api<Node> = Api::all(served.client());
    let only = nodes.list(&ListParams::default()).await?;
    let name = only.items.first().map(ResourceExt::name_any);
    let untainted = Patch::Merge(json!({"spec": {"taints": null}}));
    nodes
        .patch(
            &name.unwrap_or_default(),
            &PatchParams::default(),
            &untainted,
        )
        .await?;
    let ready = ["Initialized=True Initialized", "Ready=True Ready"];
    says(&served, &ready).await?;
    let listed = claims(&served).list(&ListParams::default()).await?;
    let last = listed.items.first().map(conditions).unwrap_or_default();
    assert_eq!(last.last().map(String::as_str), Some("Ready=True Ready"));
    served.stop().await?;
    Ok(())
}
