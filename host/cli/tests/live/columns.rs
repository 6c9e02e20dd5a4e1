//! Columns that `kubectl get` prints of NodePools, NodeClaims and Nodes: Karpenter's, each with its value.

use kube::Client;
use kube::api::ListParams;
use kube::core::Request;
use plimsoll_lab::until;
use serde_json::Value;

use super::PATIENCE;
use super::served::{Asked, Served};

/// The table that an API server makes of a kind, as kubectl asks for it: names of the columns that are shown, and the cells of the first row.
async fn table(client: &Client, path: &str) -> Result<(Vec<String>, Vec<String>), kube::Error> {
    let mut request = Request::new(path)
        .list(&ListParams::default())
        .expect("a path");
    let accept = "application/json;as=Table;v=v1;g=meta.k8s.io";
    let accept = accept.parse().expect("a header");
    request.headers_mut().insert("accept", accept);
    let table: Value = client.request(request).await?;
    let columns = table["columnDefinitions"].as_array().into_iter().flatten();
    let cells = table["rows"][0]["cells"].as_array().into_iter().flatten();
    let mut cells = cells.map(|cell| {
        cell.as_str()
            .map_or_else(|| cell.to_string(), str::to_owned)
    });
    let shown = columns.map(|column| (column["priority"] == 0, column["name"].clone()));
    let shown = shown.map(|(is_shown, name)| (is_shown, name, cells.next().unwrap_or_default()));
    let shown = shown.filter(|(is_shown, ..)| *is_shown);
    Ok(shown
        .map(|(_, name, cell)| (name.as_str().unwrap_or_default().to_owned(), cell))
        .unzip())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pools_claims_and_nodes_are_shown_in_karpenters_columns() {
    let served = Served::start(Asked::default()).await;
    served.run_pods("web", 1).await;
    served.until_initialized().await;
    let pool = until("the pool's nodes to be counted", PATIENCE, async || {
        let shown = table(&served.client, "/apis/karpenter.sh/v1/nodepools").await?;
        Ok((shown.1.get(2).map(String::as_str) == Some("1")).then_some(shown))
    });
    let (columns, cells) = pool.await.expect("counted");
    assert_eq!(columns, ["Name", "NodeClass", "Nodes", "Ready", "Age"]);
    assert_eq!(cells[..4], ["general", "default", "1", "True"]);
    let claims = table(&served.client, "/apis/karpenter.sh/v1/nodeclaims").await;
    let (columns, cells) = claims.expect("a table");
    assert_eq!(
        columns,
        ["Name", "Type", "Capacity", "Zone", "Node", "Ready", "Age"]
    );
    assert!(cells.iter().all(|cell| !cell.is_empty()), "{cells:?}");
    assert_eq!(
        (cells[2].as_str(), cells[5].as_str()),
        ("on-demand", "True")
    );
    let node = cells[4].clone();
    let nodes = table(&served.client, "/api/v1/nodes").await;
    let (columns, cells) = nodes.expect("a table");
    assert_eq!(columns, ["Name", "Status", "Roles", "Age", "Version"]);
    assert_eq!(
        (cells[0].as_str(), cells[1].as_str()),
        (node.as_str(), "Ready")
    );
    served.end();
}
