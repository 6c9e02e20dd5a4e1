//! Policy objects on a real control plane: what `kubectl apply` of a ConfigMap and a Policy comes to, and what it does not.

use std::collections::BTreeMap;

use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Api, DeleteParams, ListParams, Patch, PatchParams};
use kube::core::{ApiResource, DynamicObject, GroupVersionKind, ObjectMeta};
use plimsoll_api::kinds::{Condition, PolicyStatus, RememberedModule};
use plimsoll_guests::HOSTILE;
use plimsoll_lab::{apply, example_pool, until};
use plimsoll_policy::{WHOLE, digest};
use serde_json::{Value, json};

use super::PATIENCE;
use super::described::OF_FAULTS;
use super::served::{ALONE, Asked, NAME, Served};

/// Entries of a ConfigMap.
pub(super) type Entries = BTreeMap<String, Vec<u8>>;

/// The namespace that the program takes for its own.
const NAMESPACE: &str = "kube-system";

pub(super) fn list_price() -> &'static [u8] {
    let shipped = plimsoll_policies::ranking("list-price");
    shipped.expect("a shipped module").bytes
}

impl Served {
    pub(super) async fn put_module(&self, name: &str, bytes: &[u8]) {
        let entries = [(WHOLE[1].to_owned(), bytes.to_vec())].into();
        self.put_entries(name, &entries).await;
    }

    /// Makes a ConfigMap of the program's namespace with these entries, or has it hold these.
    pub(super) async fn put_entries(&self, name: &str, entries: &Entries) {
        let bytes = entries.iter();
        let bytes = bytes.map(|(key, bytes)| (key.clone(), ByteString(bytes.clone())));
        let map = ConfigMap {
            metadata: ObjectMeta {
                name: Some(name.to_owned()),
                ..ObjectMeta::default()
            },
            binary_data: Some(bytes.collect()),
            ..ConfigMap::default()
        };
        let params = PatchParams::apply("plimsoll-test").force();
        let put = self.maps().patch(name, &params, &Patch::Apply(&map)).await;
        put.expect("a ConfigMap");
    }

    fn maps(&self) -> Api<ConfigMap> {
        Api::namespaced(self.client.clone(), NAMESPACE)
    }

    pub(super) async fn delete_map(&self, name: &str) {
        let deleted = self.maps().delete(name, &DeleteParams::default()).await;
        deleted.expect("deleted");
    }

    /// Digests of the modules of which the program keeps a copy; of one in parts with the number of each further part behind it.
    pub(super) async fn copies(&self) -> Result<Vec<String>, kube::Error> {
        let ours = ListParams::default().labels("plimsoll.dev/module-copy");
        let copies = self.maps().list(&ours).await?.items.into_iter();
        let name = |map: ConfigMap| map.metadata.name.unwrap_or_default();
        let digest = |name: String| name.strip_prefix("plimsoll-module-").map(str::to_owned);
        Ok(copies.map(name).filter_map(digest).collect())
    }

    /// Kills the program and starts another one, to which nothing is known that the cluster does not tell.
    pub(super) async fn succeed(&mut self) {
        self.lab.kill(NAME).expect("it runs");
        let started = self.lab.start_again(NAME).await;
        started.expect("it starts again");
    }

    pub(super) fn policies(&self) -> Api<DynamicObject> {
        let kind = GroupVersionKind::gvk("plimsoll.dev", "v1alpha1", "Policy");
        let resource = ApiResource::from_gvk_with_plural(&kind, "policies");
        Api::all_with(self.client.clone(), &resource)
    }

    /// Waits until the status of a policy is as wanted.
    pub(super) async fn until_said(
        &self,
        policy: &str,
        what: &str,
        wanted: impl Fn(&PolicyStatus) -> bool,
    ) -> PolicyStatus {
        let mut last = String::new();
        let said = until(what, PATIENCE, async || {
            let object = self.policies().get(policy).await?;
            let status = object.data["status"].clone();
            last = status.to_string();
            let status: PolicyStatus = serde_json::from_value(status).unwrap_or_default();
            Ok(wanted(&status).then_some(status))
        });
        let said = said.await;
        assert!(said.is_ok(), "{policy}: {what}: {last}");
        said.expect("it was said")
    }
}

pub(super) fn policy(name: &str, configmap: &str, more: &Value) -> Value {
    let mut policy = json!({
        "apiVersion": "plimsoll.dev/v1alpha1", "kind": "Policy", "metadata": {"name": name},
        "spec": {"hook": "Rank", "configMapRef": {"name": configmap}, "nodePoolSelector": {}},
    });
    for (field, value) in more.as_object().into_iter().flatten() {
        policy["spec"][field] = value.clone();
    }
    policy
}

pub(super) fn condition<'s>(status: &'s PolicyStatus, kind: &str) -> (&'s str, &'s str, &'s str) {
    let mut conditions = status.conditions.iter();
    let found = conditions.find(|own| own.kind == kind);
    found.map_or(("", "", ""), |own: &Condition| {
        (&own.status, &own.reason, &own.message)
    })
}

pub(super) fn is(status: &PolicyStatus, kind: &str, value: &str, reason: &str) -> bool {
    let (own, why, _) = condition(status, kind);
    (own, why) == (value, reason)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_policy_serves_once_it_has_passed_and_what_breaks_it_leaves_the_one_that_serves() {
    let served = Served::start(Asked::default()).await;
    let general = ["general".to_owned()];
    served.put_module("mine-1", list_price()).await;
    let mine = policy("mine", "mine-1", &json!({}));
    apply(&served.client, &mine).await.expect("applied");
    let serving =
        |said: &PolicyStatus| is(said, "Ready", "True", "Serving") && said.node_pools == general;
    let said = served.until_said("mine", "to serve", serving).await;
    let sha256 = digest(list_price());
    assert_eq!(said.served_digest.as_deref(), Some(&*sha256));
    let shown = said.serving.expect("it is shown");
    assert!(sha256.starts_with(&shown[..6]), "{shown}");
    served.run_pods("web", 1).await;
    let asked = |said: &PolicyStatus| said.calls > 0 && said.faults == 0;
    served.until_said("mine", "to be asked", asked).await;

    // Broken bytes, then none at all.
    served.put_module("mine-1", &list_price()[..1_000]).await;
    let broken = |said: &PolicyStatus| {
        let (status, reason, _) = condition(said, "Ready");
        status == "False" && reason != "BytesMissing"
    };
    let said = served.until_said("mine", "to be refused", broken).await;
    assert_eq!(said.served_digest.as_deref(), Some(&*sha256));
    let words = condition(&said, "Ready").2;
    assert!(
        words.contains("hint: ") && words.ends_with(", unchanged"),
        "{words}"
    );
    served.delete_map("mine-1").await;
    let missing = |said: &PolicyStatus| is(said, "Ready", "False", "BytesMissing");
    let said = served
        .until_said("mine", "to miss its bytes", missing)
        .await;
    assert_eq!(said.node_pools, general);

    // A second one for the same pool waits until the first is off.
    served.put_module("later-1", list_price()).await;
    let later = policy("later", "later-1", &json!({"sha256": sha256}));
    apply(&served.client, &later).await.expect("applied");
    let held = |said: &PolicyStatus| is(said, "Conflicting", "True", "ServedByAnother");
    let said = served.until_said("later", "to conflict", held).await;
    let words = condition(&said, "Conflicting").2;
    assert!(
        words.starts_with(
            "NodePool general is served by policy mine: one that the NodePool names comes"
        ),
        "{words}"
    );
    let off = policy("mine", "mine-1", &json!({"mode": "Off"}));
    apply(&served.client, &off).await.expect("applied");
    let is_off = |said: &PolicyStatus| is(said, "Ready", "False", "Off");
    served.until_said("mine", "to be off", is_off).await;
    served.until_said("later", "to serve", serving).await;

    // Without any the host decides by itself.
    let now = DeleteParams::default();
    for name in ["mine", "later"] {
        let deleted = served.policies().delete(name, &now).await;
        deleted.expect("deleted");
    }
    served.run_pods("more", 1).await;
    served.end_pods().await;
    served.until_no_nodes().await;
    assert!(served.end().decisions > 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_policy_says_wrong_is_told_by_field_and_a_shadow_decides_nothing() {
    let mut served = Served::start(Asked::default()).await;
    served.put_module("price", list_price()).await;
    let wrong = json!({"sha256": "0".repeat(64)});
    let shadow = json!({"mode": "Shadow", "settings": {"colour": "red"}});
    for object in [
        policy("wrong-bytes", "price", &wrong),
        policy("shadow", "price", &shadow),
    ] {
        apply(&served.client, &object).await.expect("applied");
    }
    let mismatch = |said: &PolicyStatus| is(said, "Ready", "False", "DigestMismatch");
    served
        .until_said("wrong-bytes", "to be refused", mismatch)
        .await;
    let unknown = |said: &PolicyStatus| condition(said, "Ready").2.contains("colour");
    served.until_said("shadow", "to be refused", unknown).await;
    let mended = policy("shadow", "price", &json!({"mode": "Shadow"}));
    apply(&served.client, &mended).await.expect("applied");
    let shadowing = |said: &PolicyStatus| is(said, "Ready", "True", "Shadowing");
    let said = served.until_said("shadow", "to look on", shadowing).await;
    assert_eq!(said.node_pools, Vec::<String>::new());
    served.run_pods("web", 1).await;
    let compared = |said: &PolicyStatus| said.shadow.is_some();
    let said = served
        .until_said("shadow", "to be compared", compared)
        .await;
    let own = said.shadow.expect("a comparison");
    assert!(said.calls > 0 && own.decisions > 0, "{own:?}");
    // It is the module of list prices beside list prices.
    assert_eq!((own.differing, own.agreement_percent), (0, Some(100)));
    assert_eq!(own.regret_dollars_per_hour, "0.0000");
    let words = served.told("ShadowCompared", "shadow").await;
    assert!(words.starts_with("0 of 1 decisions differ"), "{words}");
    let metrics = served.get("metrics-port", "/metrics").await;
    let same =
        "plimsoll_policy_shadow_decisions_total{policy=\"shadow\",hook=\"rank\",outcome=\"same\"} ";
    assert!(metrics.contains(same), "{metrics}");
    served.end();
}

/// A process that serves alone, so that its successor serves at once.
fn alone() -> Asked {
    Asked {
        flags: vec![ALONE.to_owned()],
        ..Asked::default()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_module_whose_bytes_are_gone_serves_on_also_in_the_next_process_and_its_copy_goes_with_it()
 {
    let mut served = Served::start(alone()).await;
    let sha256 = digest(list_price());
    served.put_module("mine-1", list_price()).await;
    let mine = policy("mine", "mine-1", &json!({}));
    apply(&served.client, &mine).await.expect("applied");
    let serving = |said: &PolicyStatus| is(said, "Ready", "True", "Serving");
    let said = served.until_said("mine", "to serve", serving).await;
    assert_eq!(said.last_good[0].digest, sha256);
    assert_eq!(
        served.copies().await.expect("copies"),
        std::slice::from_ref(&sha256)
    );
    served.told("Serving", "mine").await;
    served.delete_map("mine-1").await;
    let missing = |said: &PolicyStatus| is(said, "Ready", "False", "BytesMissing");
    served
        .until_said("mine", "to miss its bytes", missing)
        .await;
    let words = served.told("BytesMissing", "mine").await;
    assert!(words.ends_with(", unchanged"), "{words}");

    // The next process has it from the copy, and asks it.
    served.succeed().await;
    served.run_pods("web", 1).await;
    let asked = |said: &PolicyStatus| missing(said) && said.calls > 0 && said.faults == 0;
    let said = served.until_said("mine", "to be asked", asked).await;
    assert_eq!(said.served_digest.as_deref(), Some(&*sha256));
    assert_eq!(said.node_pools, ["general"]);

    // So it does where other bytes have come meanwhile, which are broken.
    served.lab.kill(NAME).expect("it runs");
    served.put_module("mine-1", &list_price()[..1_000]).await;
    let started = served.lab.start_again(NAME).await;
    started.expect("it starts again");
    let broken = |said: &PolicyStatus| {
        let (status, reason, _) = condition(said, "Ready");
        status == "False" && reason != "BytesMissing"
    };
    let said = served.until_said("mine", "to be refused", broken).await;
    assert_eq!(said.served_digest.as_deref(), Some(&*sha256));

    // A copy is kept until no Policy needs it.
    let (policies, now) = (served.policies(), DeleteParams::default());
    let deleted = policies.delete("mine", &now).await;
    deleted.expect("deleted");
    let collected = until("the copy to go", PATIENCE, async || {
        Ok(served.copies().await?.is_empty().then_some(()))
    });
    collected.await.expect("collected");
    served.end();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_module_that_keeps_failing_is_set_aside_and_the_next_process_does_not_follow_it_either() {
    let mut asked = alone();
    asked.flags.push("--batch-idle-duration=10ms".to_owned());
    let mut served = Served::start(asked).await;
    served.put_module("good", list_price()).await;
    served.put_module("bad", HOSTILE).await;
    let [good, bad] = [list_price(), HOSTILE].map(digest);
    let mine = policy("mine", "good", &json!({}));
    apply(&served.client, &mine).await.expect("applied");
    let serving = |said: &PolicyStatus| is(said, "Ready", "True", "Serving");
    served.until_said("mine", "to serve", serving).await;
    let panics = json!({"settings": {"behaviour": "panic"}});
    let mine = policy("mine", "bad", &panics);
    apply(&served.client, &mine).await.expect("applied");
    let serves_bad =
        |said: &PolicyStatus| serving(said) && said.served_digest.as_deref() == Some(&*bad);
    served.until_said("mine", "to serve", serves_bad).await;

    // Pods are placed by the last good module, whatever the other does; each is a question of its own.
    let is_aside = |said: &PolicyStatus| is(said, "Ready", "False", "Quarantined");
    for number in 0..8 {
        served.run_pods(&format!("web-{number}"), 1).await;
    }
    // What it failed at the one behind it decided, and so what it was not asked any more.
    let fell_back = |said: &PolicyStatus| is_aside(said) && said.fallbacks >= said.faults;
    let said = served
        .until_said("mine", "to be set aside", fell_back)
        .await;
    let digests = |modules: &[RememberedModule]| {
        let digests = modules.iter().map(|own| own.digest.clone());
        digests.collect::<Vec<_>>()
    };
    assert_eq!(digests(&said.last_good), std::slice::from_ref(&good));
    assert_eq!(digests(&said.quarantined), std::slice::from_ref(&bad));
    assert!(said.fuel_p99 > Some(0), "{:?}", said.fuel_p99);
    assert!(said.faults > 0, "{said:?}");
    served.until_described(OF_FAULTS).await;
    let words = served.told("PolicyFailed", "mine").await;
    assert!(words.contains("trap") || words.contains("panic"), "{words}");
    let words = served.told("Quarantined", "mine").await;
    let ends = format!("; its last good module {} decides", &good[..6]);
    assert!(words.ends_with(&ends), "{words}");

    served.succeed().await;
    served.run_pods("more", 1).await;
    // Only the last good module is asked.
    let asked = |said: &PolicyStatus| is_aside(said) && said.calls > 0 && said.faults == 0;
    let said = served.until_said("mine", "to be asked", asked).await;
    assert!(said.fallbacks > 0, "{said:?}");
    assert_eq!(digests(&said.last_good), [good]);
    // Other settings are another module, which has its own chance.
    let mine = policy("mine", "bad", &json!({}));
    apply(&served.client, &mine).await.expect("applied");
    served.until_said("mine", "to serve", serves_bad).await;
    served.lab.kill(NAME).expect("it runs");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_policy_that_points_nowhere_says_so_and_so_does_a_pool_that_names_none() {
    let mut pool = example_pool();
    let named = json!({"plimsoll.dev/consolidate-policy": "gentle"});
    pool["metadata"]["annotations"] = named;
    pool["spec"]["disruption"]["consolidateAfter"] = "1s".into();
    let mut served = Served::start(Asked {
        objects: vec![plimsoll_lab::example_class(), pool.clone()],
        ..Asked::default()
    })
    .await;
    let nowhere = policy("nowhere", "never-made", &json!({}));
    apply(&served.client, &nowhere).await.expect("applied");
    let missing = |said: &PolicyStatus| is(said, "Ready", "False", "BytesMissing");
    let said = served
        .until_said("nowhere", "to miss its bytes", missing)
        .await;
    assert_eq!(
        condition(&said, "Ready").2,
        "configmap kube-system/never-made not found"
    );
    assert!(said.served_digest.is_none() && said.node_pools.is_empty());
    let words = served.told("PolicyMissing", "general").await;
    assert!(
        words.starts_with(
            "annotation plimsoll.dev/consolidate-policy names policy gentle, which does not serve"
        ),
        "{words}"
    );

    // Its nodes are bought all the same, and none of them goes until the annotation is off.
    served.run_pods("web", 1).await;
    served.end_pods().await;
    served.until_initialized().await;
    let held = "pool general asks for policy gentle, which does not serve; none of its nodes is disrupted for consolidation, emptiness or drift";
    served.until_told(held).await;
    assert_eq!(served.nodes().await.len(), 1);
    pool["metadata"]["annotations"] = json!({});
    apply(&served.client, &pool).await.expect("applied");
    served.until_no_nodes().await;
    served.end();
}
