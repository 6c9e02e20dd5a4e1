//! Writes at the API server, and their order with calls to AWS.

mod server;

use plimsoll_aws::{Looked, Share};
use plimsoll_kube::node_class::FINALIZER;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use self::server::Server;
use super::*;
use crate::Telemetry;

const NOW: Timestamp = Timestamp::from_millis(1_790_000_000_000);

/// AWS that answers nothing; classes that it is asked about come out.
struct Silent(mpsc::Sender<Ec2NodeClass>);

impl ClassCalls for Silent {
    async fn look(&self, class: &Ec2NodeClass, _: Timestamp) -> Looked {
        self.0.send(class.clone()).await.expect("a test");
        std::future::pending().await
    }

    async fn try_out(&self, _: &ServedClass) -> Result<Result<(), Refusal>, CallError> {
        std::future::pending().await
    }

    async fn retire(&self, _: &Ec2NodeClass, _: bool) -> Result<(), CallError> {
        std::future::pending().await
    }

    fn ca_bundle(&self) -> String {
        String::new()
    }
}

const NODES: NodeSettings = NodeSettings {
    memory_overhead: Share::from_parts_per_million(75_000),
    reserved_interfaces: 0,
    fills_open_reservations: false,
};

fn reconciler(server: &Server) -> (Reconciler<Silent>, mpsc::Receiver<Ec2NodeClass>) {
    let (notices, _) = Notices::channel(&Telemetry::default());
    telling(server, notices)
}

/// Reconciler whose events are sent there.
fn telling(
    server: &Server,
    notices: Notices,
) -> (Reconciler<Silent>, mpsc::Receiver<Ec2NodeClass>) {
    let (asked, asks) = mpsc::channel(8);
    let at = (server.client(), notices);
    let reconciler = Reconciler::new(at, Arc::new(Silent(asked)), NODES, false);
    (reconciler, asks)
}

/// A class that was not looked at, at version 7.
fn class() -> Value {
    json!({
        "apiVersion": "karpenter.k8s.aws/v1", "kind": "EC2NodeClass",
        "metadata": {"name": "default", "uid": "class-uid", "generation": 1, "resourceVersion": "7"},
        "spec": {"amiFamily": "AL2023"},
    })
}

fn read(class: &Value) -> Ec2NodeClass {
    serde_json::from_value(class.clone()).expect("a class")
}

fn market() -> Arc<Market> {
    Arc::new(Market::of_tables("us-east-1"))
}

/// The class as launches see it, once it is ready.
fn served(class: &Value) -> ServedClass {
    let mut class = class.clone();
    class["status"] = json!({
        "conditions": [{"type": "Ready", "status": "True", "reason": "Ready", "message": ""}],
    });
    ServedClass::new(read(&class), &market(), "", NODES).expect("a class")
}

#[tokio::test]
async fn a_class_has_our_finalizer_before_aws_is_asked_anything_about_it() {
    let server = Server::default();
    server.put_class(&class());
    let (reconciler, mut asks) = reconciler(&server);
    let refreshing = reconciler.refresh(read(&class()), Found::default(), market(), NOW);
    let asked = tokio::select! {
        ended = refreshing => unreachable!("{ended:?}"),
        asked = asks.recv() => asked.expect("a class"),
    };
    assert_eq!(
        server.class("default")["metadata"]["finalizers"],
        json!([FINALIZER])
    );
    assert_eq!(asked.metadata.finalizers, Some(vec![FINALIZER.to_owned()]));
    // The next write goes by this.
    assert_eq!(asked.metadata.resource_version.as_deref(), Some("8"));
}

#[tokio::test]
async fn aws_is_asked_nothing_about_a_class_that_has_changed_before_it_was_held() {
    let server = Server::default();
    let mut changed = class();
    changed["metadata"]["resourceVersion"] = "8".into();
    server.put_class(&changed);
    let (reconciler, mut asks) = reconciler(&server);
    let ended = reconciler
        .refresh(read(&class()), Found::default(), market(), NOW)
        .await;
    assert!(ended.found.is_none());
    assert_eq!(ended.again, AGAIN);
    assert!(asks.try_recv().is_err());
    assert!(server.written().is_empty());
}

#[tokio::test]
async fn each_write_of_a_class_goes_by_the_one_before_and_none_by_an_older_one() {
    let server = Server::default();
    server.put_class(&class());
    let (reconciler, _asks) = reconciler(&server);
    let served = served(&class());
    let written = reconciler.write(&read(&class()), &served).await;
    written.expect("nobody else has written");
    assert_eq!(server.written(), ["class/default", "class/default/status"]);
    let own = server.class("default");
    assert_eq!(
        own["metadata"]["annotations"][HASH_ANNOTATION],
        *served.hash
    );
    assert_eq!(own["status"]["conditions"][0]["status"], "True");
    // The hash stands already; somebody has written since.
    let mut before = own.clone();
    before["status"] = Value::Null;
    before["metadata"]["resourceVersion"] = "8".into();
    let refused = reconciler.write(&read(&before), &served).await;
    assert!(matches!(refused, Err(kube::Error::Api(status)) if status.code == 409));
}

#[tokio::test]
async fn an_event_tells_of_a_condition_once_it_is_written() {
    let server = Server::default();
    server.put_class(&class());
    let (notices, mut told) = Notices::channel(&Telemetry::default());
    let (reconciler, _asks) = telling(&server, notices);
    let unmet = json!({"conditions": [{
        "type": "SubnetsReady", "status": "False", "reason": "SubnetsNotFound",
        "message": "selectors find no subnet",
    }]});
    let status = || serde_json::from_value::<Ec2NodeClassStatus>(unmet.clone()).expect("a status");
    let mut older = class();
    older["metadata"]["resourceVersion"] = "6".into();
    let served = Arc::new(served(&class()));
    let (_, written) = reconciler
        .write_down(&read(&older), Some(Arc::clone(&served)), status())
        .await;
    written.expect_err("another version is there");
    assert!(told.try_recv().is_err());
    for served in [Some(served), None] {
        let (_, written) = reconciler
            .write_down(&read(&class()), served, status())
            .await;
        written.expect("written");
        let notice = told.try_recv().expect("an event");
        assert_eq!(notice.message, "SubnetsReady: selectors find no subnet");
        server.put_class(&class());
    }
}

/// A claim with a hash, and its condition `Drifted` where it has one.
fn claim(name: &str, class: &str, version: &str, drifted: Option<&str>) -> Value {
    let conditions: Vec<Value> = drifted
        .map(|status| json!({"type": "Drifted", "status": status}))
        .into_iter()
        .collect();
    json!({
        "apiVersion": "karpenter.sh/v1", "kind": "NodeClaim",
        "metadata": {
            "name": name,
            "annotations": {HASH_ANNOTATION: "before", HASH_VERSION_ANNOTATION: version},
        },
        "spec": {"nodeClassRef": {
            "group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": class,
        }},
        "status": {"conditions": conditions},
    })
}

#[tokio::test]
async fn claims_get_the_hash_by_new_rules_before_their_class_and_drifted_ones_keep_theirs() {
    let server = Server::default();
    server.put_class(&class());
    for own in [
        claim("as-it-was", "default", "v5", None),
        claim("drifted", "default", "v5", Some("True")),
        claim("drifted-once", "default", "v5", Some("False")),
        claim("looked-at", "default", HASH_VERSION, None),
        claim("of-others", "other", "v5", None),
    ] {
        server.put_claim(&own);
    }
    let (reconciler, _asks) = reconciler(&server);
    let served = served(&class());
    let written = reconciler.write(&read(&class()), &served).await;
    written.expect("nobody else has written");
    let hash = served.hash.as_str();
    for (name, hash, version) in [
        ("as-it-was", hash, HASH_VERSION),
        ("drifted", "before", HASH_VERSION),
        ("drifted-once", "before", HASH_VERSION),
        ("looked-at", "before", HASH_VERSION),
        ("of-others", "before", "v5"),
    ] {
        let annotations = &server.claim(name)["metadata"]["annotations"];
        assert_eq!(annotations[HASH_ANNOTATION], hash, "{name}");
        assert_eq!(annotations[HASH_VERSION_ANNOTATION], version, "{name}");
    }
    let expected = [
        "claim/as-it-was",
        "claim/drifted",
        "claim/drifted-once",
        "class/default",
        "class/default/status",
    ];
    assert_eq!(server.written(), expected);
    // From now on their hashes are by the same rules.
    let before = server.written().len();
    let own = server.class("default");
    let written = reconciler.write(&read(&own), &served).await;
    written.expect("nobody else has written");
    assert_eq!(server.written().len(), before);
}
