//! Policies against an API server that has them, and nothing else.

use std::convert::Infallible;
use std::future::{Ready, ready};
use std::task::{Context, Poll};

use http::{Request, Response};
use kube::client::Body;
use plimsoll_policy::{EngineSettings, Policies};
use serde_json::{Value, json};
use tower::Service;

use super::*;

/// Digest of a module that served well, of which there is no copy.
const DIGEST: &str = "abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789";

/// The server: it lists these Policies and finds nothing else.
#[derive(Clone)]
struct Server(Vec<Value>);

impl Service<Request<Body>> for Server {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Ready<Result<Response<Body>, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let path = request.uri().path();
        let list = |kind: &str, version: &str, items: &[Value]| json!({"kind": kind, "apiVersion": version, "metadata": {"resourceVersion": "1"}, "items": items});
        let (status, answer) = if path.ends_with("/policies") {
            let version = "plimsoll.dev/v1alpha1";
            (200, list("PolicyList", version, &self.0))
        } else if path.ends_with("/configmaps") {
            (200, list("ConfigMapList", "v1", &[]))
        } else {
            let missing = json!({
                "kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 404,
                "reason": "NotFound", "message": "not found",
            });
            (404, missing)
        };
        let body = Body::from(answer.to_string().into_bytes());
        let answer = Response::builder().status(status).body(body);
        ready(Ok(answer.expect("an answer")))
    }
}

fn client(policies: &[Value]) -> Client {
    Client::new(Server(policies.to_vec()), "default")
}

fn engine() -> Engine {
    let settings = EngineSettings {
        concurrency: 1,
        ..EngineSettings::default()
    };
    Engine::new(settings).expect("an engine")
}

/// Means of Policies in a cluster that has none.
pub(super) fn common() -> Arc<Common> {
    let telemetry = Telemetry::default();
    let (notices, _) = Notices::channel(&telemetry);
    let (_, pools) = watch::channel(Pools::default());
    Arc::new(Common::new(Shared {
        client: client(&[]),
        namespace: "plimsoll".to_owned(),
        engine: engine(),
        generations: Arc::new(Generations::new(Policies::default())),
        changes: PolicyChanges::default(),
        shadows: Shadows::default(),
        pools,
        telemetry,
        notices,
    }))
}

fn policy(uid: &str) -> Value {
    json!({
        "apiVersion": "plimsoll.dev/v1alpha1", "kind": "Policy",
        "metadata": {"name": "mine", "uid": uid},
        "spec": {"hook": "Rank", "configMapRef": {"name": "mine"}},
    })
}

#[tokio::test]
async fn a_policy_that_was_made_again_is_another_one() {
    let mut tasks = Tasks {
        common: common(),
        objects: BTreeMap::new(),
        turns: BTreeMap::new(),
        running: JoinSet::new(),
    };
    let read = |uid| serde_json::from_value(policy(uid)).expect("a policy");
    assert!(tasks.apply(read("first")).is_some());
    assert!(tasks.apply(read("first")).is_none());
    let settled = tasks.apply(read("second")).expect("a new task");
    assert!(tasks.apply(read("second")).is_none());
    // It has its turn once the first has ended.
    settled.await.expect("judged");
    assert_eq!(tasks.objects.len(), 1);
}

#[tokio::test]
async fn a_module_without_a_copy_does_not_continue_to_decide() {
    let mut policy = policy("its");
    policy["status"] = json!({"lastGood": [{"digest": DIGEST}]});
    let standing = standing(&client(&[policy]), "plimsoll", &engine()).await;
    assert_eq!(
        standing.expect("an answer").findings,
        [
            "Policy mine: module abcdef cannot be loaded from its copy",
            "Policy mine: configmap plimsoll/mine not found; list prices are taken for its pools",
        ]
    );
}
