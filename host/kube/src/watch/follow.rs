//! One kind, listed and then followed for as long as anybody listens.
//!
//! The list is consistent: it names no version, so the server answers with what is there now, whatever its caches hold. The watch begins at the
//! list's version, and one that ends is begun again at the last version heard of; only where the server no longer knows that version is the kind
//! listed anew. Watches are asked to end within the minute, since a server tells how far a quiet kind has come shortly before that.
//! After a failure there is a pause, longer each time and never the same for two kinds.

use std::hash::{BuildHasher, RandomState};
use std::pin::pin;
use std::time::Duration;

use futures_util::StreamExt;
use kube::api::{Api, ListParams, WatchEvent, WatchParams};
use kube::core::DynamicObject;
use kube::{Client, Error, ResourceExt};
use plimsoll_api::Kind;
use tokio::sync::mpsc::Sender;
use tokio::time::{Instant, sleep, timeout};

use super::{Change, Event, Failure};
use crate::resource::{api, parsed};

/// Objects in one answer to a list.
const PAGE: u32 = 500;
/// Shortest time after which a watch ends; up to half as much is added.
const LASTS: u32 = 20;
/// Time beyond its own end after which a watch that says nothing is given up.
const SILENCE: Duration = Duration::from_secs(15);
/// A watch that was cut before this and told nothing has failed like one that was refused, as client-go's reflector has it: one that told
/// something was cut because we do not read as fast as things change.
const BRIEF: Duration = Duration::from_millis(500);
/// Shortest and longest pause after a failure.
const PAUSES: (Duration, Duration) = (Duration::from_millis(250), Duration::from_secs(10));

/// The receiver is gone.
struct Unheard;

struct Follower {
    kind: Kind,
    api: Api<DynamicObject>,
    out: Sender<Event>,
    failures: u32,
}

/// Follows a kind; ends when the receiver is gone.
pub(super) async fn follow(client: Client, kind: Kind, out: Sender<Event>) {
    let mut follower = Follower {
        kind,
        api: api(&client, kind),
        out,
        failures: 0,
    };
    let mut from = None;
    loop {
        let next = match from.take() {
            None => follower.list().await,
            Some(version) => follower.watch(version).await,
        };
        match next {
            Ok(version) => from = version,
            Err(Unheard) => return,
        }
    }
}

impl Follower {
    async fn tell(&self, change: Change) -> Result<(), Unheard> {
        let told = self.out.send((self.kind, change)).await;
        told.map_err(|_| Unheard)
    }

    /// Lists the kind; the version from which to watch, `None` where it is to be listed again.
    async fn list(&mut self) -> Result<Option<String>, Unheard> {
        self.tell(Change::ListBegun).await?;
        let mut parameters = ListParams::default().limit(PAGE);
        loop {
            let page = timeout(SILENCE * 4, self.api.list(&parameters)).await;
            let page = match page {
                Ok(Ok(page)) => page,
                Ok(Err(error)) => return self.failed("list", Some(error)).await.map(|()| None),
                Err(_) => return self.failed("list", None).await.map(|()| None),
            };
            for object in page.items {
                self.tell(Change::Listed(Box::new(object))).await?;
            }
            let next = page.metadata.continue_.filter(|next| !next.is_empty());
            if next.is_some() {
                parameters.continue_token = next;
                continue;
            }
            self.failures = 0;
            let version = page.metadata.resource_version.unwrap_or_default();
            self.tell(Change::ListDone(parsed(&version))).await?;
            return Ok(Some(version));
        }
    }

    /// Watches the kind from a version on; the version from which to go on, `None` where the server knows it no longer.
    async fn watch(&mut self, mut version: String) -> Result<Option<String>, Unheard> {
        let lasts = LASTS + u32::try_from(random(u64::from(LASTS / 2))).unwrap_or(0);
        let parameters = WatchParams::default().timeout(lasts);
        let patience = Duration::from_secs(u64::from(lasts)) + SILENCE;
        let begun = Instant::now();
        let mut told_nothing = true;
        let stream = match timeout(SILENCE, self.api.watch(&parameters, &version)).await {
            Ok(Ok(stream)) => stream,
            Ok(Err(error)) => return self.cut(version, Some(error)).await,
            Err(_) => return self.cut(version, None).await,
        };
        self.tell(Change::Reached(parsed(&version))).await?;
        let mut stream = pin!(stream);
        loop {
            let (change, reached) = match timeout(patience, stream.next()).await {
                Ok(Some(Ok(WatchEvent::Added(object) | WatchEvent::Modified(object)))) => {
                    let reached = object.resource_version().unwrap_or_default();
                    (Change::Applied(Box::new(object)), reached)
                }
                Ok(Some(Ok(WatchEvent::Deleted(object)))) => {
                    let reached = object.resource_version().unwrap_or_default();
                    (Change::Deleted(Box::new(object)), reached)
                }
                Ok(Some(Ok(WatchEvent::Bookmark(bookmark)))) => {
                    let reached = bookmark.metadata.resource_version;
                    (Change::Reached(parsed(&reached)), reached)
                }
                Ok(Some(Ok(WatchEvent::Error(status)))) => {
                    return self.cut(version, Some(Error::Api(status))).await;
                }
                Ok(Some(Err(error))) => {
                    if !(told_nothing && begun.elapsed() < BRIEF) {
                        self.failures = 0;
                    }
                    return self.cut(version, Some(error)).await;
                }
                Ok(None) if told_nothing && begun.elapsed() < BRIEF => {
                    return self.cut(version, None).await;
                }
                Ok(None) => {
                    self.failures = 0;
                    return Ok(Some(version));
                }
                Err(_) => return self.cut(version, None).await,
            };
            version = reached;
            told_nothing = false;
            self.tell(change).await?;
        }
    }

    /// A watch did not go on; the version from which the next one does.
    async fn cut(
        &mut self,
        version: String,
        error: Option<Error>,
    ) -> Result<Option<String>, Unheard> {
        let is_known = !matches!(&error, Some(Error::Api(status)) if status.code == 410);
        self.failed("watch", error).await?;
        Ok(is_known.then_some(version))
    }

    /// Tells of a failure and waits. Without an error the server has not answered, or ended the answer at once.
    async fn failed(&mut self, verb: &'static str, error: Option<Error>) -> Result<(), Unheard> {
        let failure = Failure::of(self.kind, verb, error.as_ref());
        self.tell(Change::Failed(failure)).await?;
        sleep(pause(self.failures)).await;
        self.failures = self.failures.saturating_add(1);
        Ok(())
    }
}

/// The pause after so many failures in a row before this one: between half and all of a time that doubles.
fn pause(failures: u32) -> Duration {
    let (first, longest) = PAUSES;
    let most = longest.min(first * (1 << failures.min(16)));
    let half = most / 2;
    let spread = u64::try_from(half.as_millis()).unwrap_or(0);
    half + Duration::from_millis(random(spread))
}

/// A number from 0 to `most`.
fn random(most: u64) -> u64 {
    // Each of these has a key of the system's random bytes.
    RandomState::new().hash_one(()) % (most + 1)
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::convert::Infallible;
    use std::sync::{Arc, Mutex};

    use http::{Request, Response};
    use kube::client::Body;
    use plimsoll_model::Version;
    use serde_json::{Value, json};
    use tokio::sync::mpsc::{Receiver, channel};
    use tower::service_fn;

    use super::*;

    /// An answer of the server: a status, and what follows it line by line.
    type Answer = (u16, Vec<Value>);

    /// A server that gives these answers, one to each request, and then none; the requests come out as text.
    fn server(answers: Vec<Answer>) -> (Client, Receiver<String>) {
        let answers = Arc::new(Mutex::new(VecDeque::from(answers)));
        let (asked, requests) = channel(64);
        let service = service_fn(move |request: Request<Body>| {
            let next = answers.lock().unwrap().pop_front();
            let (asked, query) = (asked.clone(), request.uri().query().map(ToOwned::to_owned));
            async move {
                asked.send(query.unwrap_or_default()).await.unwrap();
                let Some((status, lines)) = next else {
                    return std::future::pending().await;
                };
                let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
                let body = Body::from(lines.join("\n").into_bytes());
                let answer = Response::builder().status(status).body(body);
                Ok::<_, Infallible>(answer.unwrap())
            }
        });
        (Client::new(service, "default"), requests)
    }

    fn node(name: &str, version: &str) -> Value {
        json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "resourceVersion": version}})
    }

    fn list(version: &str, next: &str, nodes: &[Value]) -> Answer {
        let metadata = json!({"resourceVersion": version, "continue": next});
        let list =
            json!({"apiVersion": "v1", "kind": "NodeList", "metadata": metadata, "items": nodes});
        (200, vec![list])
    }

    fn event(kind: &str, object: &Value) -> Value {
        json!({"type": kind, "object": object})
    }

    fn status(code: u16) -> Value {
        json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "message": "no"})
    }

    fn show(change: Change) -> String {
        let named = |object: &DynamicObject| {
            format!(
                "{} {}",
                object.name_any(),
                object.resource_version().unwrap_or_default()
            )
        };
        match change {
            Change::ListBegun => "list".to_owned(),
            Change::Listed(object) => format!("listed {}", named(&object)),
            Change::ListDone(Version(version)) => format!("done {version}"),
            Change::Applied(object) => format!("+{}", named(&object)),
            Change::Deleted(object) => format!("-{}", named(&object)),
            Change::Reached(Version(version)) => format!("at {version}"),
            Change::Failed(failure) => failure.to_string(),
        }
    }

    /// News of a server that gives these answers, until it is asked once more, and what it was asked.
    async fn told(answers: Vec<Answer>) -> (Vec<String>, Vec<String>) {
        let count = answers.len();
        let (client, mut requests) = server(answers);
        let (out, mut events) = channel(64);
        let following = tokio::spawn(follow(client, Kind::Node, out));
        let mut asked = Vec::new();
        while asked.len() <= count {
            asked.push(requests.recv().await.unwrap());
        }
        following.abort();
        let mut news = Vec::new();
        while let Some((_, change)) = events.recv().await {
            news.push(show(change));
        }
        (news, asked)
    }

    #[tokio::test(start_paused = true)]
    async fn a_kind_is_listed_as_it_is_now_and_followed_from_there() {
        let bookmark =
            json!({"apiVersion": "v1", "kind": "Node", "metadata": {"resourceVersion": "9"}});
        let (news, asked) = told(vec![
            list("5", "more", &[node("a", "3")]),
            list("5", "", &[node("b", "4")]),
            (
                200,
                vec![
                    event("ADDED", &node("c", "6")),
                    event("MODIFIED", &node("a", "7")),
                    event("DELETED", &node("b", "8")),
                    event("BOOKMARK", &bookmark),
                ],
            ),
        ])
        .await;
        assert_eq!(
            news,
            [
                "list",
                "listed a 3",
                "listed b 4",
                "done 5",
                "at 5",
                "+c 6",
                "+a 7",
                "-b 8",
                "at 9"
            ]
        );
        assert!(!asked[0].contains("resourceVersion"), "{}", asked[0]);
        assert!(asked[1].contains("continue=more"), "{}", asked[1]);
        for (request, version) in [(&asked[2], 5), (&asked[3], 9)] {
            assert!(
                request.contains(&format!("resourceVersion={version}")),
                "{request}"
            );
            assert!(
                request.contains("watch=true&") && request.contains("allowWatchBookmarks=true")
            );
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_version_that_the_server_knows_no_longer_is_listed_anew() {
        let gone = (200, vec![event("ERROR", &status(410))]);
        let refused = (410, vec![status(410)]);
        for answer in [gone, refused] {
            let (news, asked) = told(vec![list("5", "", &[]), answer, list("12", "", &[])]).await;
            let after = news.iter().rposition(|it| it == "list").unwrap();
            assert_eq!(news[after..after + 2], ["list", "done 12"]);
            assert!(asked[3].contains("resourceVersion=12"), "{}", asked[3]);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_watch_that_fails_goes_on_where_it_was_and_a_missing_right_is_named() {
        let (news, asked) = told(vec![
            list("5", "", &[]),
            (403, vec![status(403)]),
            (500, vec![status(500)]),
        ])
        .await;
        assert!(
            asked[2..].iter().all(|it| it.contains("resourceVersion=5")),
            "{asked:?}"
        );
        assert!(news[2].contains("no right to watch nodes"), "{news:?}");
        assert_eq!(news[3], "nodes cannot be watched: no");
    }

    #[tokio::test(start_paused = true)]
    async fn a_watch_that_ends_at_once_has_failed_unless_it_told_something() {
        let told_one = (200, vec![event("ADDED", &node("c", "6"))]);
        let (news, asked) = told(vec![list("5", "", &[]), told_one, (200, vec![])]).await;
        assert_eq!(
            news[2..],
            [
                "at 5",
                "+c 6",
                "at 6",
                "nodes cannot be watched: the API server does not answer"
            ]
        );
        assert!(asked[3].contains("resourceVersion=6"), "{}", asked[3]);
    }

    #[test]
    fn pauses_double_up_to_the_longest() {
        for (failures, (least, most)) in [(0, (125, 250)), (3, (1000, 2000)), (40, (5000, 10_000))]
        {
            let millis = pause(failures).as_millis();
            assert!((least..=most).contains(&millis), "{failures}: {millis}");
        }
    }
}
