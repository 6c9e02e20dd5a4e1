//! Questions to an API server, of which every answer is a value.

#![expect(
    clippy::panic,
    reason = "helpers of tests may fail loudly, as tests may"
)]

use std::time::Duration;

use http::Request;
use kube::{Client, Error};
use serde_json::Value;

/// How long definitions may take to be served as they were written.
pub(crate) const PATIENCE: Duration = Duration::from_mins(1);

/// Fate of fields that the schema does not have.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Unknown {
    /// The object is refused for them.
    Refused,
    /// They are dropped, and the rest is judged.
    Dropped,
}

/// One reason of a refusal.
#[derive(Debug)]
pub(crate) struct Cause {
    /// The field.
    pub(crate) field: String,
    pub(crate) words: String,
}

/// The server's word.
#[derive(Debug)]
pub(crate) enum Answer {
    /// It took the object, which is stored like this.
    Taken(Value),
    Refused(Vec<Cause>),
    NotServed,
}

/// Fields that the schema does not have are refused.
const STRICT: &str = "?fieldValidation=Strict";

/// An API server.
pub(crate) struct Server {
    client: Client,
}

impl Server {
    pub(crate) fn new(client: Client) -> Self {
        Self { client }
    }

    /// Makes an object and reads it again.
    pub(crate) async fn create(&self, object: &Value, unknown: Unknown) -> Answer {
        let validation = match unknown {
            Unknown::Refused => STRICT,
            Unknown::Dropped => "?fieldValidation=Ignore",
        };
        match self
            .send("POST", &collection(object), validation, object)
            .await
        {
            Answer::Taken(_) => self.read(object).await,
            refusal => refusal,
        }
    }

    /// The answer to making an object, which is not made.
    pub(crate) async fn try_out(&self, object: &Value) -> Answer {
        let query = format!("{STRICT}&dryRun=All");
        self.send("POST", &collection(object), &query, object).await
    }

    /// Makes an object, and puts another in its place.
    pub(crate) async fn update(&self, before: &Value, after: &Value) -> Answer {
        let stored = match self.create(before, Unknown::Refused).await {
            Answer::Taken(stored) => stored,
            refusal => return refusal,
        };
        let mut after = after.clone();
        after["metadata"]["resourceVersion"] = stored["metadata"]["resourceVersion"].clone();
        match self.send("PUT", &path(&after), STRICT, &after).await {
            Answer::Taken(_) => self.read(&after).await,
            refusal => refusal,
        }
    }

    /// The object as it is stored.
    pub(crate) async fn read(&self, object: &Value) -> Answer {
        self.send("GET", &path(object), "", &Value::Null).await
    }

    /// Changes parts of an object, or its `status` where the path says so.
    pub(crate) async fn merge(&self, object: &Value, part: &str, change: &Value) -> Answer {
        let path = format!("{}{part}", path(object));
        self.send("PATCH", &path, STRICT, change).await
    }

    /// Puts a definition in the place of the one of its name.
    pub(crate) async fn replace_definition(&self, definition: &Value) -> Answer {
        let stored = match self.read(definition).await {
            Answer::Taken(stored) => stored,
            refusal => return refusal,
        };
        let mut new = definition.clone();
        new["metadata"]["resourceVersion"] = stored["metadata"]["resourceVersion"].clone();
        self.send("PUT", &path(&new), STRICT, &new).await
    }

    async fn send(&self, method: &str, path: &str, query: &str, body: &Value) -> Answer {
        let content = match method {
            "PATCH" => "application/merge-patch+json",
            _ => "application/json",
        };
        let request = Request::builder()
            .method(method)
            .uri(format!("{path}{query}"))
            .header("content-type", content)
            .body(if body.is_null() {
                Vec::new()
            } else {
                body.to_string().into_bytes()
            });
        let answer = self
            .client
            .request::<Value>(request.expect("a request"))
            .await;
        match answer {
            Ok(object) => Answer::Taken(object),
            Err(Error::Api(status)) if status.code == 404 => Answer::NotServed,
            Err(Error::Api(status)) => {
                let causes = status.details.iter().flat_map(|details| &details.causes);
                let causes = causes.map(|cause| Cause {
                    field: cause.field.clone(),
                    words: cause.message.clone(),
                });
                let whole = Cause {
                    field: String::new(),
                    words: status.message.clone(),
                };
                Answer::Refused(causes.chain([whole]).collect())
            }
            Err(error) => panic!("{method} {path}: {error}"),
        }
    }
}

/// The path of the objects of a kind.
fn collection(object: &Value) -> String {
    let version = object["apiVersion"].as_str().unwrap_or_default();
    let kind = object["kind"].as_str().unwrap_or_default().to_lowercase();
    let plural = match kind.strip_suffix("cy") {
        Some(stem) => format!("{stem}cies"),
        None if kind.ends_with('s') => format!("{kind}es"),
        None => format!("{kind}s"),
    };
    match object["metadata"]["namespace"].as_str() {
        Some(namespace) => format!("/apis/{version}/namespaces/{namespace}/{plural}"),
        None => format!("/apis/{version}/{plural}"),
    }
}

fn path(object: &Value) -> String {
    let name = object["metadata"]["name"].as_str().unwrap_or_default();
    format!("{}/{name}", collection(object))
}
