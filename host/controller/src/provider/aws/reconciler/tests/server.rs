//! An API server with one class and its claims. It refuses writes that go by another version than there is, and keeps what was written in
//! order.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll};

use http::{Method, Request, Response};
use http_body_util::BodyExt;
use kube::Client;
use kube::client::Body;
use serde_json::{Value, json};
use tower::Service;

#[derive(Default)]
struct Stored {
    /// Objects by path.
    objects: BTreeMap<String, Value>,
    /// Paths that were written, in order.
    written: Vec<String>,
}

#[derive(Clone, Default)]
pub(super) struct Server(Arc<Mutex<Stored>>);

const CLAIMS: &str = "/apis/karpenter.sh/v1/nodeclaims";
const CLASSES: &str = "/apis/karpenter.k8s.aws/v1/ec2nodeclasses";

impl Server {
    pub(super) fn client(&self) -> Client {
        Client::new(self.clone(), "default")
    }

    pub(super) fn put_class(&self, class: &Value) {
        self.put(CLASSES, class);
    }

    pub(super) fn put_claim(&self, claim: &Value) {
        self.put(CLAIMS, claim);
    }

    fn put(&self, plural: &str, object: &Value) {
        let path = format!(
            "{plural}/{}",
            object["metadata"]["name"].as_str().expect("a name")
        );
        self.stored().objects.insert(path, object.clone());
    }

    pub(super) fn class(&self, name: &str) -> Value {
        self.stored().objects[&format!("{CLASSES}/{name}")].clone()
    }

    pub(super) fn claim(&self, name: &str) -> Value {
        self.stored().objects[&format!("{CLAIMS}/{name}")].clone()
    }

    /// Names of what was written, in order.
    pub(super) fn written(&self) -> Vec<String> {
        let stored = self.stored();
        let written = stored.written.iter();
        let names = written.map(|path| path.replace(CLASSES, "class").replace(CLAIMS, "claim"));
        names.collect()
    }

    fn stored(&self) -> MutexGuard<'_, Stored> {
        self.0.lock().expect("a server")
    }

    fn answer(&self, method: &Method, path: &str, body: &Value) -> (u16, Value) {
        let mut stored = self.stored();
        if method == Method::GET {
            let claims = stored.objects.iter();
            let claims = claims.filter(|(path, _)| path.starts_with(CLAIMS));
            let claims: Vec<&Value> = claims.map(|(_, claim)| claim).collect();
            let list = json!({
                "apiVersion": "karpenter.sh/v1", "kind": "NodeClaimList",
                "metadata": {}, "items": claims,
            });
            return (200, list);
        }
        let name = path.trim_end_matches("/status");
        let object = stored.objects.get_mut(name).expect("an object");
        let (own, given) = (&object["metadata"], &body["metadata"]);
        let version = &given["resourceVersion"];
        if !version.is_null() && *version != own["resourceVersion"] {
            let refusal = json!({
                "kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 409,
                "reason": "Conflict", "message": "the object has been modified",
            });
            return (409, refusal);
        }
        let version = own["resourceVersion"]
            .as_str()
            .and_then(|own| own.parse().ok());
        let next = version.unwrap_or(0_u64) + 1;
        merge(object, body);
        object["metadata"]["resourceVersion"] = next.to_string().into();
        let object = object.clone();
        stored.written.push(path.to_owned());
        (200, object)
    }
}

/// A merge patch: fields without a value go.
fn merge(object: &mut Value, patch: &Value) {
    let Some(changes) = patch.as_object() else {
        *object = patch.clone();
        return;
    };
    if !object.is_object() {
        *object = json!({});
    }
    let Some(fields) = object.as_object_mut() else {
        return;
    };
    for (key, value) in changes {
        if value.is_null() {
            fields.remove(key);
        } else {
            merge(fields.entry(key.clone()).or_insert(Value::Null), value);
        }
    }
}

impl Service<Request<Body>> for Server {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let server = self.clone();
        Box::pin(async move {
            let (parts, body) = request.into_parts();
            let body = body.collect().await.expect("a body").to_bytes();
            let body = serde_json::from_slice(&body).unwrap_or_default();
            let (status, answer) = server.answer(&parts.method, parts.uri.path(), &body);
            let answer = Body::from(answer.to_string().into_bytes());
            let answer = Response::builder().status(status).body(answer);
            Ok(answer.expect("an answer"))
        })
    }
}
