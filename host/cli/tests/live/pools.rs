//! Pools as `kubectl get nodepools` shows them: whether they can be used, how many nodes they have, and why not.

use std::collections::BTreeMap;

use kube::Client;
use kube::api::{Api, ListParams};
use kube::core::{ApiResource, DynamicObject, GroupVersionKind, Request};
use plimsoll_lab::{apply, example_class, example_pool, until};
use serde_json::Value;

use super::PATIENCE;
use super::served::{Asked, Served};

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
