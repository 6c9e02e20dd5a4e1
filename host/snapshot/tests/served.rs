//! Objects as an API server gives them: one odd object never stops the rest from being read.

use plimsoll_api::ResizeRule;
use plimsoll_base::resources::ResourceName;
use plimsoll_model::NodePool;
use plimsoll_snapshot::{Limits, Loaded, Note, read, read_served};
use serde_json::{Value, json};

fn pool(name: &str) -> Value {
    json!({
        "apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": name, "uid": name},
        "spec": {"template": {"spec": {
            "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"},
            "requirements": [],
        }}},
    })
}

fn pod(name: &str, cpu: &Value) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"namespace": "shop", "name": name, "uid": name},
        "spec": {"containers": [{"name": "main", "resources": {"requests": {"cpu": cpu}}}]},
        "status": {"phase": "Pending"},
    })
}

fn list(items: &[Value]) -> Vec<u8> {
    let list = json!({
        "apiVersion": "v1", "kind": "List", "items": items,
        "plimsoll": {"time": "2026-01-01T00:00:00Z", "catalogue": {"region": "us-east-1"}},
    });
    serde_json::to_vec(&list).expect("JSON")
}

fn served_by(resizes: ResizeRule, items: &[Value]) -> Loaded {
    read_served(&list(items)[..], &Limits::default(), resizes).expect("the rest is read")
}

fn served(items: &[Value]) -> Loaded {
    served_by(ResizeRule::default(), items)
}

fn told(loaded: &Loaded) -> Vec<String> {
    let notes = loaded.notes.iter().filter(|note| note.is_of_unread());
    notes.map(ToString::to_string).collect()
}

fn pools(loaded: &Loaded) -> Vec<&NodePool> {
    loaded.objects.pools.iter().map(AsRef::as_ref).collect()
}

#[test]
fn an_object_that_cannot_be_read_is_told_and_all_others_are_read() {
    let claim = json!({
        "apiVersion": "karpenter.sh/v1", "kind": "NodeClaim",
        "metadata": {"name": "general-a", "uid": "u", "labels": {"karpenter.sh/nodepool": "general"}},
        "spec": {"requirements": []}, "status": {"providerID": ["kwok://a"]},
    });
    let class = json!({
        "apiVersion": "karpenter.k8s.aws/v1", "kind": "EC2NodeClass", "metadata": {"name": "odd"},
        "spec": {"kubelet": {"maxPods": "many"}},
    });
    let budget = json!({
        "apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"namespace": "shop", "name": "odd"},
        "spec": {"minAvailable": {"odd": 1}},
    });
    let items = [
        pod("a", &json!({"odd": 1})),
        pool("general"),
        claim,
        class,
        budget,
        pod("b", &json!("1")),
    ];
    let loaded = served(&items);
    let names = |loaded: &Loaded| -> Vec<String> {
        let pods = loaded.snapshot.pods.iter();
        pods.map(|pod| pod.name.to_string()).collect()
    };
    assert_eq!(names(&loaded), ["shop/b"]);
    assert!(pools(&loaded)[0].ready);
    let told = told(&loaded);
    assert_eq!(told.len(), 4, "{told:#?}");
    for (object, words) in [
        ("Pod shop/a cannot be read: ", "spec.containers[0]"),
        ("NodeClaim general-a cannot be read: ", "expected"),
        ("EC2NodeClass odd cannot be read: ", "maxPods"),
        (
            "PodDisruptionBudget shop/odd cannot be read: ",
            "minAvailable",
        ),
    ] {
        let mut told = told.iter();
        assert!(
            told.any(|told| told.starts_with(object) && told.contains(words)),
            "{object}: {words}"
        );
    }
    // Of a file the author is told that it is wrong.
    assert!(read(&list(&items)[..], &Limits::default()).is_err());
}

#[test]
fn a_pool_of_which_a_part_cannot_be_read_is_read_without_it_and_not_ready() {
    let mut odd = pool("odd");
    odd["metadata"]["annotations"] = json!({"plimsoll.dev/packing": "tight"});
    odd["spec"]["limits"] = json!({"cpu": "10"});
    let loaded = served(&[odd, pool("general")]);
    let ready: Vec<_> = pools(&loaded)
        .into_iter()
        .map(|pool| (pool.name.as_str(), pool.ready))
        .collect();
    assert_eq!(ready, [("odd", false), ("general", true)]);
    assert!(pools(&loaded)[0].limits.is_some());
    assert_eq!(
        told(&loaded),
        [
            "NodePool odd: metadata.annotations[plimsoll.dev/packing] is \"tight\"; expected price or compatible: nothing is launched for \
          it and no node of it is disrupted voluntarily"
        ]
    );
}

#[test]
fn a_cluster_without_pools_gets_none() {
    let loaded = served(&[pod("a", &json!("1"))]);
    assert!(pools(&loaded).is_empty());
    assert!(!loaded.notes.contains(&Note::DefaultPool));
}

/// Two containers that are being resized in opposite directions.
#[test]
fn pods_that_are_being_resized_count_as_the_servers_scheduler_counts_them() {
    let container =
        |name: &str, cpu: &str| json!({"name": name, "resources": {"requests": {"cpu": cpu}}});
    let holds = |name: &str, cpu: &str| {
        let held = json!({"cpu": cpu});
        json!({"name": name, "allocatedResources": held, "resources": {"requests": held}})
    };
    let resized = json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"namespace": "shop", "name": "a", "uid": "a"},
        "spec": {"containers": [container("a", "2"), container("b", "1")]},
        "status": {"phase": "Pending", "containerStatuses": [holds("a", "1"), holds("b", "2")]},
    });
    let cores = |rule: ResizeRule| {
        let loaded = served_by(rule, std::slice::from_ref(&resized));
        loaded.snapshot.pods[0]
            .spec
            .requests
            .get(&ResourceName::Cpu)
            / 1000
    };
    assert_eq!(cores(ResizeRule::ByContainer), 4);
    assert_eq!(cores(ResizeRule::ByPod), 3);
}
