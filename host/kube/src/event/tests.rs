//! An event says what its object is, against a server that keeps what is written.

use std::sync::{Arc, Mutex};

use http::{Method, Request, Response, StatusCode};
use kube::client::Body;
use serde_json::Value;
use tower::service_fn;

use super::*;

/// The bodies of writes, and the events that are there.
#[derive(Clone, Default)]
struct Server(Arc<Mutex<Vec<Value>>>);

impl Server {
    fn client(&self) -> Client {
        let server = self.clone();
        let service = service_fn(move |request: Request<Body>| {
            let server = server.clone();
            async move { server.answer(request).await }
        });
        Client::new(service, "default")
    }

    async fn answer(&self, request: Request<Body>) -> Result<Response<Body>, Error> {
        let (parts, body) = request.into_parts();
        let body = body.collect_bytes().await.expect("a body");
        let body: Value = serde_json::from_slice(&body).expect("JSON");
        let mut events = self.0.lock().expect("one at a time");
        let name = parts.uri.path().rsplit('/').next().unwrap_or_default();
        let answer = if parts.method == Method::POST {
            events.push(body.clone());
            Some(body)
        } else {
            let mut own = events.iter_mut();
            let own = own.find(|event| event["metadata"]["name"] == *name);
            own.map(|event| {
                event["series"] = body["series"].clone();
                event.clone()
            })
        };
        let (status, answer) = match answer {
            Some(answer) => (StatusCode::OK, answer),
            None => (
                StatusCode::NOT_FOUND,
                json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 404}),
            ),
        };
        let response = Response::builder().status(status);
        Ok(response
            .body(Body::from(answer.to_string().into_bytes()))
            .expect("a response"))
    }

    /// Text and count of each event.
    fn counts(&self) -> Vec<(String, i64)> {
        let events = self.0.lock().expect("one at a time");
        let count = |event: &Value| {
            let note = event["note"].as_str().unwrap_or_default().to_owned();
            (note, event["series"]["count"].as_i64().unwrap_or(1))
        };
        events.iter().map(count).collect()
    }
}

fn notice(message: &str) -> Notice {
    let object = ("", "general-1");
    let reason = EventReason::LaunchFailed;
    Notice::new(Kind::NodeClaim, object, reason, message.to_owned()).seen("a-uid", Version(12))
}

#[tokio::test]
async fn an_event_names_its_object_by_uid_and_version() {
    let server = Server::default();
    let mut publisher = Publisher::new(server.client());
    publisher.publish(&notice("no room")).await.expect("sent");
    let events = server.0.lock().expect("one at a time");
    let about = json!({
        "apiVersion": "karpenter.sh/v1", "kind": "NodeClaim", "name": "general-1",
        "uid": "a-uid", "resourceVersion": "12",
    });
    assert_eq!(events[0]["regarding"], about);
    assert_eq!(events[0]["type"], "Warning");
    assert_eq!(events[0]["reason"], "LaunchFailed");
    assert_eq!(events[0]["metadata"]["namespace"], "default");
}

#[tokio::test]
async fn another_text_is_another_event_and_the_same_text_raises_its_count() {
    let server = Server::default();
    let mut publisher = Publisher::new(server.client());
    for message in ["no room", "no right", "no room", "no room"] {
        publisher.publish(&notice(message)).await.expect("sent");
    }
    let counts = [("no room".to_owned(), 3), ("no right".to_owned(), 1)];
    assert_eq!(server.counts(), counts);
}

#[tokio::test]
async fn an_event_that_the_server_has_dropped_is_written_again() {
    let server = Server::default();
    let mut publisher = Publisher::new(server.client());
    for _ in 0..2 {
        publisher.publish(&notice("no room")).await.expect("sent");
    }
    server.0.lock().expect("one at a time").clear();
    for _ in 0..2 {
        publisher.publish(&notice("no room")).await.expect("sent");
    }
    assert_eq!(server.counts(), [("no room".to_owned(), 2)]);
}

#[test]
fn a_long_text_is_cut_where_a_character_ends() {
    let text = "é".repeat(600) + "a";
    assert_eq!(cut(&text), "é".repeat(512));
    assert_eq!(cut(&format!("a{text}")).len(), 1023);
    assert_eq!(cut("short"), "short");
}

#[test]
fn an_object_is_looked_up_until_its_uid_is_known() {
    let object = ("default", "web");
    let notice = Notice::new(Kind::Pod, object, EventReason::Nominated, String::new());
    assert_eq!(notice.unseen(), Some((Kind::Pod, object)));
    assert_eq!(notice.seen("uid", Version(1)).unseen(), None);
}
