//! Policy objects on a real control plane: what `kubectl apply` of a ConfigMap and a Policy comes to, and what it does not.

use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Api, DeleteParams, Patch, PatchParams};
use kube::core::{ApiResource, DynamicObject, GroupVersionKind, ObjectMeta};
use plimsoll_api::kinds::{Condition, PolicyStatus};
use plimsoll_lab::{apply, until};
use plimsoll_policy::{WHOLE, digest};
use serde_json::{Value, json};

use super::PATIENCE;
use super::served::{Asked, Served};

/// The namespace that the program takes for its own.
const NAMESPACE: &str = "kube-system";

fn list_price() -> &'static [u8] {
    let shipped = plimsoll_policies::ranking("list-price");
    shipped.expect("a shipped module").bytes
}

impl Served {
    async fn put_module(&self, name: &str, bytes: &[u8]) {
        let maps: Api<ConfigMap> = Api::namespaced(self.client.clone(), NAMESPACE);
        let map = ConfigMap {
            metadata: ObjectMeta {
                name: Some(name.to_owned()),
                ..ObjectMeta::default()
            },
            binary_data: Some([(WHOLE[1].to_owned(), ByteString(bytes.to_vec()))].into()),
            ..ConfigMap::default()
        };
        let params = PatchParams::apply("plimsoll-test").force();
        let put = maps.patch(name, &params, &Patch::Apply(&map)).await;
        put.expect("a ConfigMap");
    }

    fn policies(&self) -> Api<DynamicObject> {
        let kind = GroupVersionKind::gvk("plimsoll.dev", "v1alpha1", "Policy");
        let resource = ApiResource::from_gvk_with_plural(&kind, "policies");
        Api::all_with(self.client.clone(), &resource)
    }

    /// Waits until the status of a policy is as wanted.
    async fn until_said(
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

fn policy(name: &str, configmap: &str, more: &Value) -> Value {
    let mut policy = json!({
        "apiVersion": "plimsoll.dev/v1alpha1", "kind": "Policy", "metadata": {"name": name},
        "spec": {"hook": "Rank", "configMapRef": {"name": configmap}, "nodePoolSelector": {}},
    });
    for (field, value) in more.as_object().into_iter().flatten() {
        policy["spec"][field] = value.clone();
    }
    policy
}

fn condition<'s>(status: &'s PolicyStatus, kind: &str) -> (&'s str, &'s str, &'s str) {
    let mut conditions = status.conditions.iter();
    let found = conditions.find(|own| own.kind == kind);
    found.map_or(("", "", ""), |own: &Condition| {
        (&own.status, &own.reason, &own.message)
    })
}

fn is(status: &PolicyStatus, kind: &str, value: &str, reason: &str) -> bool {
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
    let maps: Api<ConfigMap> = Api::namespaced(served.client.clone(), NAMESPACE);
    let now = DeleteParams::default();
    maps.delete("mine-1", &now).await.expect("deleted");
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
        words.starts_with("pool general is served by policy mine, which served first"),
        "{words}"
    );
    let off = policy("mine", "mine-1", &json!({"mode": "Off"}));
    apply(&served.client, &off).await.expect("applied");
    let is_off = |said: &PolicyStatus| is(said, "Ready", "False", "Off");
    served.until_said("mine", "to be off", is_off).await;
    served.until_said("later", "to serve", serving).await;

    // Without any the host decides by itself.
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
    let served = Served::start(Asked::default()).await;
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
    let asked = |said: &PolicyStatus| said.calls > 0;
    served.until_said("shadow", "to be asked", asked).await;
    served.end();
}
