//! A policy that fails says so on its object, on the pods that wait for it and where one asks; a change of policies is planned at once; and of
//! several policies the oldest serves.

use std::collections::BTreeMap;
use std::process::Command;

use k8s_openapi::api::events::v1::Event;
use kube::ResourceExt;
use kube::api::{Api, DeleteParams, ListParams, PostParams};
use kube::core::Request;
use plimsoll_api::kinds::PolicyStatus;
use plimsoll_guests::HOSTILE;
use plimsoll_lab::{apply, pending_pod, until};
use serde_json::{Value, json};

use super::PATIENCE;
use super::policies::{condition, is, list_price, policy};
use super::served::{
    Asked, NAME, Served, in_full, is as is_event, program, recording, until_bound,
};

/// Pods that wait.
const PODS: usize = 5;
const INSTEAD: &str = "nothing is bought for its pools without its answer";

impl Served {
    async fn make_pods(&self, name: &str, count: usize) {
        for number in 0..count {
            let pod = pending_pod(&format!("{name}-{number}"), "3", "1Gi");
            let made = self.pods().create(&PostParams::default(), &pod).await;
            made.expect("a pod");
        }
    }

    /// Waits for the words of our event on a pod that has no place.
    async fn refusal(&self, pod: &str) -> String {
        let events: Api<Event> = Api::namespaced(self.client.clone(), "default");
        let refusal = until("the event on the pod", PATIENCE, async || {
            let events = events.list(&ListParams::default()).await?.items;
            let mut own = events
                .into_iter()
                .filter(|event| is_event(event, "FailedScheduling", pod))
                .filter_map(|event| event.note);
            Ok(own.find(|note| note.contains("pool general")))
        });
        refusal.await.expect("it is written")
    }

    /// The explanation of an object of this cluster.
    fn explained(&self, subject: &str, name: &str) -> String {
        let explained = Command::new(program())
            .args(["explain", subject, name, "--kubeconfig"])
            .arg(self.lab.kubeconfig())
            .output();
        let explained = explained.expect("it runs");
        let text = String::from_utf8_lossy(&explained.stdout).into_owned();
        assert!(explained.status.success(), "{explained:?}");
        text
    }

    /// Asserts that a pod and what explains it and its NodePool name the policy that failed, and that nothing was bought.
    async fn says_who_failed(&self) {
        let named = "policy mine failed (trap: the module stopped: panicked";
        let refusal = self.refusal("web-0").await;
        assert!(
            refusal.contains(named) && !refusal.contains("vetoes"),
            "{refusal}"
        );
        let explained = self.explained("pod", "web-0");
        assert!(
            explained.contains("policy mine failed (") && !explained.contains("vetoes"),
            "{explained}"
        );
        let explained = self.explained("nodepool", "general");
        assert!(
            explained.contains("mine") && explained.contains("failed"),
            "{explained}"
        );
        assert!(self.nodes().await.is_empty(), "nothing is bought");
    }

    /// The cells that `kubectl get plp` prints, by policy and column.
    async fn policy_table(&self) -> Result<BTreeMap<String, Value>, kube::Error> {
        let list = Request::new("/apis/plimsoll.dev/v1alpha1/policies");
        let mut list = list.list(&ListParams::default()).expect("a request");
        let table = "application/json;as=Table;v=v1;g=meta.k8s.io";
        let table = table.parse().expect("a header");
        list.headers_mut().insert("accept", table);
        let table: Value = self.client.request(list).await?;
        let columns = table["columnDefinitions"].as_array().expect("columns");
        let rows = table["rows"].as_array().expect("rows").iter();
        let row = |row: &Value| {
            let cells = row["cells"].as_array().expect("cells").iter();
            let named = columns.iter().zip(cells);
            let named = named.map(|(column, cell)| {
                let name = column["name"].as_str().unwrap_or_default();
                (name.to_owned(), cell.clone())
            });
            let cells: serde_json::Map<String, Value> = named.collect();
            let name = cells["Name"].as_str().unwrap_or_default().to_owned();
            (name, Value::Object(cells))
        };
        Ok(rows.map(row).collect())
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_module_that_always_fails_says_so_and_pods_run_as_soon_as_it_is_withdrawn() {
    let mut served = Served::start(Asked::default()).await;
    served.put_module("bad", HOSTILE).await;
    let panics = json!({"settings": {"behaviour": "panic"}, "failureMode": "Hold"});
    let mine = policy("mine", "bad", &panics);
    apply(&served.client, &mine).await.expect("applied");
    let serving = |said: &PolicyStatus| is(said, "Ready", "True", "Serving");
    served.until_said("mine", "to serve", serving).await;
    served.make_pods("web", PODS).await;

    // The cluster asks nothing but the same: what waits is asked about again until the Policy is not ready, and then set aside.
    let failing =
        |said: &PolicyStatus| is(said, "Ready", "False", "PolicyFailed") && said.faults >= 3;
    let said = served.until_said("mine", "to be failing", failing).await;
    let words = condition(&said, "Ready").2;
    for part in [
        "failed its last ",
        " calls of hook rank, the last one with trap: the module stopped: panicked",
    ] {
        assert!(words.contains(part), "{words}");
    }
    assert!(words.ends_with(INSTEAD), "{words}");
    assert!(said.calls <= 10 && said.calls == said.faults, "{said:?}");
    let words = served.told("PolicyFailed", "mine").await;
    assert!(words.contains("panicked"), "{words}");

    served.says_who_failed().await;

    // Ten calls of a cluster in which nothing else happens take more than a minute.
    if in_full() {
        let aside = |said: &PolicyStatus| is(said, "Ready", "False", "Quarantined");
        let said = served.until_said("mine", "to be set aside", aside).await;
        let words = condition(&said, "Ready").2;
        assert!(
            words.contains(
                "it failed 10 calls in a row; its last call of hook rank failed with trap: "
            ),
            "{words}"
        );
        assert!(words.ends_with(INSTEAD), "{words}");
    }

    // Nothing happens in the cluster but that.
    let now = DeleteParams::default();
    let deleted = served.policies().delete("mine", &now).await;
    deleted.expect("deleted");
    until_bound(&served.pods()).await;
    served.lab.kill(NAME).expect("it runs");
    let text = std::fs::read_to_string(recording(&served.lab, NAME)).expect("a recording");
    planned_at_once(&text);
}

/// Asserts that the last change of policies was planned for before any time went by.
#[track_caller]
fn planned_at_once(recording: &str) {
    let lines: Vec<Value> = recording
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect();
    let is_change = |line: &Value| line["input"][1] == "PoliciesChanged";
    let changed = lines.iter().rposition(is_change).expect("it is recorded");
    let after = lines[changed..].iter();
    let waited = after.take_while(|line| line["action"]["Solve"].is_null());
    let waited: Vec<String> = waited.map(ToString::to_string).collect();
    assert!(waited.len() < lines.len() - changed, "it was planned");
    assert!(
        waited.iter().all(|line| !line.contains("\"Tick\"")),
        "{waited:?}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_several_policies_the_oldest_serves_and_the_others_say_so_in_their_columns() {
    let mut served = Served::start(Asked::default()).await;
    served.put_module("price", list_price()).await;
    // The last by name first, as fast as they can be made: most often within one second.
    let names = ["c-third", "b-second", "a-first"];
    for name in names {
        let object = policy(name, "price", &json!({}));
        apply(&served.client, &object).await.expect("applied");
    }
    let listed = served.policies().list(&ListParams::default()).await;
    let listed = listed.expect("policies").items;
    let age = |policy: &kube::core::DynamicObject| (policy.creation_timestamp(), policy.name_any());
    let oldest = listed.iter().min_by_key(|policy| age(policy));
    let oldest = oldest.expect("there are three").name_any();
    let wanted = |name: &str| {
        let own = i64::from(name == oldest);
        let reason = ["ServedByAnother", "Serving"][usize::from(name == oldest)];
        json!(["True", reason, own, 1 - own, 0])
    };
    let mut last = BTreeMap::new();
    let shown = until("the columns", PATIENCE, async || {
        last = served.policy_table().await?;
        let cells = |name: &str| {
            let row = last.get(name).cloned().unwrap_or_default();
            let shown =
                ["Ready", "Reason", "Pools", "Conflicts", "Faults"].map(|it| row[it].clone());
            Value::from(shown.to_vec())
        };
        let is_shown = names.iter().all(|name| cells(name) == wanted(name));
        Ok(is_shown.then_some(()))
    });
    let shown = shown.await;
    assert!(shown.is_ok(), "{oldest} is the oldest: {last:?}");
    served.lab.kill(NAME).expect("it runs");
}
