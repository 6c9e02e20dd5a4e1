//! Pools as `kubectl get nodepools` shows them: whether they can be used, how many nodes they have, and why not.

use std::collections::BTreeMap;

use k8s_openapi::api::events::v1::Event;
use kube::Client;
use kube::api::{Api, ListParams, PostParams};
use kube::core::{ApiResource, DynamicObject, GroupVersionKind, Request};
use plimsoll_lab::{apply, example_class, example_pool, pending_pod, until};
use serde_json::{Value, json};

use super::PATIENCE;
use super::served::{Asked, Served, is};

/// Columns of a pool's row, as the API server prints them.
async fn row(client: &Client, pool: &str) -> Result<BTreeMap<String, String>, kube::Error> {
    let request = Request::new("/apis/karpenter.sh/v1/nodepools");
    let mut request = request.list(&ListParams::default()).expect("a request");
    let table = "application/json;as=Table;v=v1;g=meta.k8s.io";
    let accept = table.parse().expect("a header");
    request.headers_mut().insert("accept", accept);
    let table: Value = client.request(request).await?;
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let text = |value: &Value| {
        value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned)
    };
    let names = list(&table["columnDefinitions"]).into_iter();
    let names: Vec<String> = names.map(|column| text(&column["name"])).collect();
    let rows = list(&table["rows"]).into_iter();
    let mut rows = rows.map(|row| {
        let cells = list(&row["cells"]).into_iter();
        names
            .iter()
            .cloned()
            .zip(cells.map(|cell| text(&cell)))
            .collect()
    });
    let found = rows.find(|row: &BTreeMap<String, String>| row["Name"] == pool);
    Ok(found.unwrap_or_default())
}

/// Waits until a column of a pool says this.
async fn until_shown(client: &Client, pool: &str, column: &str, value: &str) {
    let waited = until("the column", PATIENCE, async || {
        let row = row(client, pool).await?;
        Ok((row.get(column).map(String::as_str) == Some(value)).then_some(()))
    });
    let said = waited.await;
    let row = row(client, pool).await.expect("a row");
    assert!(said.is_ok(), "{column} of {pool} is to be {value}: {row:?}");
}

/// A condition of a pool, with who else has written there left in.
async fn condition(client: &Client, pool: &str, kind: &str) -> Value {
    let resource = ApiResource::from_gvk(&GroupVersionKind::gvk("karpenter.sh", "v1", "NodePool"));
    let pools: Api<DynamicObject> = Api::all_with(client.clone(), &resource);
    let pool = pools.get(pool).await.expect("the pool");
    let conditions = pool.data["status"]["conditions"].as_array().cloned();
    let mut conditions = conditions.unwrap_or_default().into_iter();
    let found = conditions.find(|condition| condition["type"] == kind);
    found.unwrap_or_default()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pool_shows_its_nodes_and_one_without_its_class_says_so_until_that_is_there() {
    let served = Served::start(Asked::default()).await;
    let client = &served.client;
    let mut lost = example_pool();
    lost["metadata"]["name"] = "lost".into();
    lost["spec"]["template"]["spec"]["nodeClassRef"]["name"] = "missing".into();
    apply(client, &lost).await.expect("applied");
    served.run_pods("web", 3).await;
    until_shown(client, "general", "Ready", "True").await;
    let nodes = served.nodes().await.len().to_string();
    until_shown(client, "general", "Nodes", &nodes).await;
    until_shown(client, "lost", "Ready", "False").await;
    until_shown(client, "lost", "Nodes", "0").await;
    let said = condition(client, "lost", "NodeClassReady").await;
    assert_eq!(said["status"], "False", "{said}");
    assert_eq!(said["reason"], "NodeClassNotFound");
    assert_eq!(said["message"], "KWOKNodeClass missing does not exist");
    assert_eq!(
        condition(client, "lost", "ValidationSucceeded").await["status"],
        "True"
    );

    let mut class = example_class();
    class["metadata"]["name"] = "missing".into();
    apply(client, &class).await.expect("applied");
    until_shown(client, "lost", "Ready", "True").await;

    served.end_pods().await;
    served.until_no_nodes().await;
    until_shown(client, "general", "Nodes", "0").await;
}

/// A pool that nothing can be bought of, and a pod that asks for an unknown label, are reported with what is wrong and
/// leave the others as they are.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requirements_that_nothing_meets_are_told_on_the_pool_and_the_pod() {
    let served = Served::start(Asked::default()).await;
    let client = &served.client;
    let mut strange = example_pool();
    strange["metadata"]["name"] = "strange".into();
    let of_strange = &mut strange["spec"]["template"]["spec"];
    of_strange["requirements"] =
        json!([{"key": "kubernetes.io/arch", "operator": "In", "values": ["s390x"]}]);
    apply(client, &strange).await.expect("applied");
    let mut lost = pending_pod("lost", "1", "1Gi");
    let spec = lost.spec.as_mut().expect("a spec");
    let label = ("example.com/no-such-label".to_owned(), "x".to_owned());
    spec.node_selector = Some([label].into());
    let made = served.pods().create(&PostParams::default(), &lost).await;
    made.expect("a pod");

    let told = served.told("NoCompatibleInstanceTypes", "strange").await;
    assert!(told.contains("no available instance type"), "{told}");
    let told = until("the event", PATIENCE, async || {
        let events: Api<Event> = Api::namespaced(client.clone(), "default");
        let events = events.list(&ListParams::default()).await?.items;
        let mut said = events
            .into_iter()
            .filter(|event| is(event, "FailedScheduling", "lost"));
        let ours = said.find_map(|event| event.note.filter(|note| note.contains("pool general")));
        Ok(ours)
    });
    let told = told.await.expect("told");
    assert!(told.contains("example.com/no-such-label"), "{told}");
    assert_eq!(served.nodes().await.len(), 0);
    served.end();
}
