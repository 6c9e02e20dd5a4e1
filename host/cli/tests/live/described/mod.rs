//! Every event that the program can write is found where people look: by the selector of `kubectl describe`, which asks for the object's kind,
//! namespace, name and uid.

mod table;

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::api::core::v1::Event;
use kube::api::{Api, DeleteParams, ListParams, PostParams};
use kube::core::{ApiResource, DynamicObject, GroupVersionKind};
use kube::{Client, ResourceExt};
use plimsoll_base::event_reason::EventReason;
use plimsoll_lab::{Fault, Rule, Verb, apply, example_class, example_pool, pending_pod, until};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::PATIENCE;
use super::policies::{list_price, policy};
use super::served::{ALONE, Asked, Served, definitions};
use table::{
    Comes, EC2, OF_ENDS, OF_INSTANCES, OF_KINDS, OF_LIVES, OF_POLICIES_AND_BUFFERS, OF_WRITES,
    comes,
};
pub(super) use table::{OF_FAULTS, OF_SAVINGS, OF_UNREADABLE};

/// An event's object, reason and words.
type Fact = (String, EventReason, String);

impl Served {
    /// Reasons of all events of the program so far, each found as `kubectl describe` of its object finds it, of the type that the table
    /// says, and none said twice.
    async fn described(&self) -> Result<BTreeSet<EventReason>, kube::Error> {
        let events: Api<Event> = Api::all(self.client.clone());
        let all = events.list(&ListParams::default()).await?.items;
        let ours = |event: &&Event| event.reporting_component.as_deref() == Some("plimsoll");
        let mut facts: BTreeMap<Fact, String> = BTreeMap::new();
        for event in all.iter().filter(ours) {
            let about = &event.involved_object;
            let reason = event.reason.as_deref().unwrap_or_default();
            let reason = EventReason::parse(reason).expect("a reason of the table");
            assert_ne!(
                comes(reason),
                Comes::No(EC2),
                "{reason} has come in the lab"
            );
            let kind = event.type_.as_deref();
            assert_eq!(kind, Some(reason.event_type().as_str()), "{reason}");
            for field in [&about.uid, &about.api_version, &about.resource_version] {
                let is_said = field.as_deref().is_some_and(|value| !value.is_empty());
                assert!(is_said, "{reason}: {about:?}");
            }
            let shown = shown_of(&self.client, event).await?;
            assert!(shown.contains(&event.name_any()), "{reason}: {about:?}");
            let uid = about.uid.clone().unwrap_or_default();
            let fact = (uid, reason, event.message.clone().unwrap_or_default());
            let before = facts.insert(fact, event.name_any());
            assert_eq!(before, None, "said twice: {event:?}");
        }
        Ok(facts.into_keys().map(|(_, reason, _)| reason).collect())
    }

    /// Waits until events of all these reasons are found.
    pub(super) async fn until_described(&self, wanted: &[EventReason]) {
        let mut missing: Vec<EventReason> = Vec::new();
        let found = until("the events", PATIENCE, async || {
            let found = self.described().await?;
            let lacks = wanted.iter().copied();
            missing = lacks.filter(|reason| !found.contains(reason)).collect();
            Ok(missing.is_empty().then_some(()))
        });
        let found = found.await;
        assert!(found.is_ok(), "not found: {missing:?}");
    }
}

/// Names of the events that `kubectl describe` shows of an object: by the uid that it has; of one that is gone, by the uid it was told under.
pub(super) async fn shown_of(
    client: &Client,
    event: &Event,
) -> Result<BTreeSet<String>, kube::Error> {
    let events: Api<Event> = Api::all(client.clone());
    let about = &event.involved_object;
    let text = |field: &Option<String>| field.clone().unwrap_or_default();
    let (kind, name) = (text(&about.kind), text(&about.name));
    let (namespace, version) = (text(&about.namespace), text(&about.api_version));
    let (group, version) = version.split_once('/').unwrap_or(("", &version));
    let mut resource = ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, &kind));
    if kind == "Policy" {
        "policies".clone_into(&mut resource.plural);
    }
    let objects: Api<DynamicObject> = match namespace.as_str() {
        "" => Api::all_with(client.clone(), &resource),
        namespace => Api::namespaced_with(client.clone(), namespace, &resource),
    };
    let there = objects.get_opt(&name).await?;
    let uid = there.filter(|object| was_there(object, event));
    let uid = uid.and_then(|object| object.metadata.uid);
    let uid = uid.unwrap_or_else(|| text(&about.uid));
    let selector = format!(
        "involvedObject.kind={kind},involvedObject.name={name},involvedObject.namespace={namespace},involvedObject.uid={uid}"
    );
    let shown = events
        .list(&ListParams::default().fields(&selector))
        .await?;
    Ok(shown.items.iter().map(ResourceExt::name_any).collect())
}

/// `true` if an object was there when an event was written, and not another one of its name: claims of the same need bear the same name, one
/// after the other. Creations are told in whole seconds.
fn was_there(object: &DynamicObject, event: &Event) -> bool {
    let created = object.metadata.creation_timestamp.as_ref();
    let created = created.map(|created| created.0.as_second());
    let written = event.event_time.as_ref().map(|time| time.0.as_second());
    created.is_some() && created < written
}

/// A pool of this name and a requirement, whose nodes only pods that ask for it use.
fn pool(name: &str, key: &str, value: &str) -> Value {
    let mut pool = example_pool();
    pool["metadata"]["name"] = name.into();
    pool["spec"]["disruption"]["consolidateAfter"] = "Never".into();
    let of = &mut pool["spec"]["template"]["spec"];
    of["taints"] = json!([{"key": "for", "value": name, "effect": "NoSchedule"}]);
    if !key.is_empty() {
        let own = json!({"key": key, "operator": "In", "values": [value]});
        of["requirements"]
            .as_array_mut()
            .expect("requirements")
            .push(own);
    }
    pool
}

/// Makes a pod that a pool of this name serves alone, with an annotation of its wish not to be disrupted.
async fn make_pod(served: &Served, name: &str, pool: &str, wish: &str) {
    let mut pod = pending_pod(name, "1", "1Gi");
    let spec = pod.spec.as_mut().expect("a spec");
    let mine = json!([{"key": "for", "operator": "Equal", "value": pool, "effect": "NoSchedule"}]);
    spec.tolerations = serde_json::from_value(mine).expect("tolerations");
    spec.node_selector = Some([("karpenter.sh/nodepool".to_owned(), pool.to_owned())].into());
    if !wish.is_empty() {
        let key = "karpenter.sh/do-not-disrupt".to_owned();
        pod.metadata.annotations = Some([(key, wish.to_owned())].into());
    }
    pod.metadata.labels = Some([("app".to_owned(), pool.to_owned())].into());
    let made = served.pods().create(&PostParams::default(), &pod).await;
    made.expect("a pod");
}

/// The program in a lab with these objects, faults and flags; the folder holds the faults as long as it is kept.
async fn start(plan: &Value, asked: Asked) -> (Served, TempDir) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("faults.json");
    std::fs::write(&path, plan.to_string()).expect("written");
    let mut flags = asked.flags.clone();
    flags.push(ALONE.to_owned());
    flags.push(format!("--fault-plan={}", path.display()));
    (Served::start(Asked { flags, ..asked }).await, folder)
}

fn quick_class(name: &str) -> Value {
    let mut class = example_class();
    class["metadata"]["name"] = name.into();
    class["spec"]["nodeRegistrationDelay"] = "1s".into();
    class
}

fn objects(served: &Served, kind: &str) -> Api<DynamicObject> {
    let (group, version) = match kind {
        "Node" => ("", "v1"),
        _ => ("karpenter.sh", "v1"),
    };
    let resource = ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, kind));
    Api::all_with(served.client.clone(), &resource)
}

/// Deletes the node of a pod.
async fn delete_node_of(served: &Served, pod: &str) -> String {
    let pod = served.pods().get(pod).await.expect("the pod");
    let node = pod.spec.and_then(|spec| spec.node_name).expect("its node");
    let deleted = objects(served, "Node")
        .delete(&node, &DeleteParams::default())
        .await;
    deleted.expect("deleted");
    node
}

/// Pools that something is said of by themselves.
fn odd_pools() -> Vec<Value> {
    let mut broken = pool("broken", "", "");
    broken["spec"]["template"]["spec"]["nodeClassRef"]["name"] = "broken".into();
    let mut unclassed = pool("unclassed", "", "");
    unclassed["spec"]["template"]["spec"]["nodeClassRef"]["name"] = "missing".into();
    let dry = pool("dry", "karpenter.sh/capacity-type", "spot");
    let mut none = pool("none", "", "");
    none["spec"]["template"]["spec"]["requirements"] =
        json!([{"key": "kubernetes.io/arch", "operator": "In", "values": ["s390x"]}]);
    let mut idle = pool("idle", "", "");
    idle["spec"]["disruption"]["budgets"] = json!([{"nodes": "1", "reasons": []}]);
    let mut named = pool("named", "", "");
    named["metadata"]["annotations"] = json!({"plimsoll.dev/consolidate-policy": "gentle"});
    let mut fixed = pool("fixed", "karpenter.kwok.sh/instance-cpu", "4");
    fixed["spec"]["replicas"] = 2.into();
    fixed["spec"]["limits"] = json!({"nodes": "1"});
    fixed["spec"]["disruption"]
        .as_object_mut()
        .expect("an object")
        .remove("consolidateAfter");
    let mut other = pool("other", "", "");
    other["spec"]["template"]["spec"]["nodeClassRef"] =
        json!({"group": "karpenter.example.com", "kind": "ExampleNodeClass", "name": "default"});
    vec![broken, unclassed, dry, none, idle, named, fixed, other]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn events_of_pods_claims_nodes_and_pools_are_found_by_describe() {
    let plan = json!({
        "launchErrors": [{"class": "broken", "message": "the role is not there yet"}],
        "stock": [{"capacityType": "spot", "available": 0}],
    });
    let mut general = pool("general", "", "");
    general["spec"]["disruption"]["consolidateAfter"] = "1s".into();
    let mut bounded = pool("bounded", "", "");
    bounded["spec"]["template"]["spec"]["terminationGracePeriod"] = "45s".into();
    let mut asked = vec![
        quick_class("default"),
        quick_class("broken"),
        general,
        bounded,
    ];
    asked.extend([pool("turning", "", ""), pool("plain", "", "")]);
    asked.extend(odd_pools());
    let asked = Asked {
        flags: vec!["--feature-gates=StaticCapacity=true".to_owned()],
        objects: asked,
        ..Asked::default()
    };
    let (mut served, _folder) = start(&plan, asked).await;
    for (pod, pool, wish) in [
        ("vague", "plain", "soon"),
        ("timed", "plain", "15s"),
        ("kept", "general", "true"),
        ("bounded", "bounded", ""),
        ("turning", "turning", ""),
        ("broken", "broken", ""),
        ("dry", "dry", ""),
        ("lost", "nowhere", ""),
    ] {
        make_pod(&served, pod, pool, wish).await;
    }
    served.until_described(OF_LIVES).await;
    served.until_initialized().await;

    // A node that drifts is replaced.
    let mut turned = pool("turning", "", "");
    turned["spec"]["template"]["metadata"] = json!({"labels": {"round": "second"}});
    apply(&served.client, &turned).await.expect("applied");
    // One with a deadline goes, whatever its pods say; and one without, when they have gone.
    let budget = json!({
        "apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
        "metadata": {"name": "bounded", "namespace": "default"},
        "spec": {"maxUnavailable": 0, "selector": {"matchLabels": {"app": "bounded"}}},
    });
    apply(&served.client, &budget).await.expect("a budget");
    delete_node_of(&served, "bounded").await;
    let node = delete_node_of(&served, "vague").await;
    let attachment = json!({
        "apiVersion": "storage.k8s.io/v1", "kind": "VolumeAttachment", "metadata": {"name": "csi-1"},
        "spec": {"attacher": "csi.example.com", "nodeName": node, "source": {"persistentVolumeName": "pv-1"}},
    });
    apply(&served.client, &attachment).await.expect("applied");
    served.until_described(OF_ENDS).await;
    for message in ["could not schedule pod(s)", "disrupting node(s)"] {
        served.until_told(message).await;
    }
    served.end();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn events_of_policies_and_buffers_are_found_by_describe() {
    let served = Served::start(Asked {
        flags: vec![
            ALONE.to_owned(),
            "--feature-gates=CapacityBuffer=true".to_owned(),
        ],
        ..Asked::default()
    })
    .await;
    served.put_module("price", list_price()).await;
    let serves = policy("first", "price", &json!({}));
    apply(&served.client, &serves).await.expect("applied");
    served.until_described(&[EventReason::Serving]).await;
    let wrong = json!({"sha256": "0".repeat(64)});
    let of_nobody = json!({"nodePoolSelector": {"matchLabels": {"team": "nobody"}}});
    let buffer = |name: &str, template: &str, replicas: u32| {
        json!({
            "apiVersion": "autoscaling.x-k8s.io/v1beta1", "kind": "CapacityBuffer",
            "metadata": {"name": name, "namespace": "default"},
            "spec": {"podTemplateRef": {"name": template}, "replicas": replicas},
        })
    };
    let template = json!({
        "apiVersion": "v1", "kind": "PodTemplate", "metadata": {"name": "chunk", "namespace": "default"},
        "template": {"spec": {"containers": [{
            "name": "main", "image": "registry.k8s.io/pause",
            "resources": {"requests": {"cpu": "1", "memory": "1Gi"}},
        }]}},
    });
    for object in [
        policy("later", "price", &json!({})),
        policy("idle", "price", &of_nobody),
        policy("shadow", "price", &json!({"mode": "Shadow"})),
        policy("wrong", "price", &wrong),
        policy("nowhere", "never-made", &json!({})),
        policy("set", "price", &json!({"settings": {"colour": "red"}})),
        policy("other-hook", "price", &json!({"hook": "Consolidate"})),
        template,
        buffer("room", "chunk", 1),
        buffer("empty", "chunk", 0),
        buffer("unready", "missing", 1),
    ] {
        apply(&served.client, &object).await.expect("applied");
    }
    served.until_described(&[EventReason::Shadowing]).await;
    // A decision, which the policy in shadow is asked about.
    served.run_pods("web", 1).await;
    served.until_described(OF_POLICIES_AND_BUFFERS).await;
    served.end();
}

fn refuse(verb: Verb, resource: &str) -> Rule {
    let fault = Fault::Refuse {
        code: 403,
        retry_after: None,
    };
    Rule::new(&[verb], &[resource], fault)
}

fn once(rule: Rule) -> Rule {
    Rule {
        times: Some(1),
        ..rule
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn events_of_kinds_that_are_not_seen_are_found_by_describe() {
    let rules = vec![refuse(Verb::List, "poddisruptionbudgets")];
    let mut definitions = definitions();
    definitions.retain(|own| own["spec"]["names"]["kind"] != "NodeOverlay");
    let served = Served::start(Asked {
        definitions,
        flags: vec![
            ALONE.to_owned(),
            "--feature-gates=NodeOverlay=true".to_owned(),
        ],
        rules,
        ..Asked::default()
    })
    .await;
    served.until_described(OF_KINDS).await;
    served.end();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn events_of_writes_that_are_refused_are_found_by_describe() {
    let served = Served::start(Asked {
        flags: vec![ALONE.to_owned()],
        rules: vec![
            once(refuse(Verb::Create, "nodeclaims")),
            once(refuse(Verb::Patch, "nodes")),
            once(refuse(Verb::Delete, "nodeclaims")),
        ],
        ..Asked::default()
    })
    .await;
    served.run_pods("web", 1).await;
    served.until_initialized().await;
    delete_node_of(&served, "web-0").await;
    served.until_described(OF_WRITES).await;
    served.end();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn events_of_instances_that_end_are_found_by_describe() {
    let plan = json!({"endingPercent": 100, "lifetime": "20s", "notice": "10s"});
    let asked = Asked {
        objects: vec![
            quick_class("default"),
            pool("spot", "karpenter.sh/capacity-type", "spot"),
            pool("lasting", "karpenter.sh/capacity-type", "on-demand"),
        ],
        ..Asked::default()
    };
    let (mut served, _folder) = start(&plan, asked).await;
    make_pod(&served, "one", "spot", "").await;
    make_pod(&served, "other", "lasting", "").await;
    served.until_described(OF_INSTANCES).await;
    let message = "initiating delete from interruption message";
    served.until_told(message).await;
    served.end();
}
