//! Requests on their way through a proxy: the fault that befalls each, the API server's answer, and what of it is held back.

use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream::{self, Stream};
use http::{HeaderMap, Request, Response, StatusCode, Uri, header};
use http_body_util::{BodyExt, StreamBody, combinators::UnsyncBoxBody};
use hyper::body::{Frame, Incoming};
use kube::client::Body;
use serde_json::json;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, sleep_until};

use super::Shared;
use super::call::{Call, Verb, asks};
use super::fault::Fault;

/// The body of an answer; an error ends the connection.
pub(super) type Answer = UnsyncBoxBody<Bytes, io::Error>;

/// Answers one request; an error ends the connection without an answer.
pub(super) async fn answer(
    shared: Arc<Shared>,
    request: Request<Incoming>,
) -> io::Result<Response<Answer>> {
    let call = Call::read(request.method(), request.uri());
    let is_watch = call.verb == Verb::Watch;
    let fault = shared.enter(call);
    match fault {
        Some(Fault::Refuse { code, retry_after }) => return Ok(refusal(code, retry_after)),
        Some(Fault::Cut) => return Err(cut()),
        Some(Fault::Delay(time)) => sleep(time).await,
        Some(Fault::Hold) => shared.hold().await,
        Some(Fault::LoseAnswer | Fault::CutAfter(_) | Fault::HoldAnswer) | None => {}
    }
    let answered = forward(&shared, request).await?;
    match fault {
        Some(Fault::LoseAnswer) => return Err(cut()),
        Some(Fault::HoldAnswer) => shared.hold().await,
        _ => {}
    }
    let lasts = match fault {
        Some(Fault::CutAfter(time)) => Some(time),
        _ => None,
    };
    Ok(answered.map(|body| {
        let held = is_watch.then(|| shared.view.subscribe());
        let frames = passed(body, held, lasts);
        StreamBody::new(frames).boxed_unsync()
    }))
}

/// Has the API server answer; a server that cannot be reached ends the connection.
async fn forward(shared: &Shared, request: Request<Incoming>) -> io::Result<Response<Body>> {
    let (parts, body) = request.into_parts();
    let body = body.collect().await.map_err(io::Error::other)?.to_bytes();
    let uri = match *shared.view.borrow() {
        Some(version) => older(&parts.uri, version).unwrap_or(parts.uri),
        None => parts.uri,
    };
    let mut onward = Request::builder().method(parts.method).uri(uri);
    if let Some(headers) = onward.headers_mut() {
        *headers = of_content(&parts.headers);
    }
    let onward = onward.body(Body::from(body)).map_err(io::Error::other)?;
    let answered = shared.upstream.send(onward).await;
    let mut answered = answered.map_err(io::Error::other)?;
    *answered.headers_mut() = of_content(answered.headers());
    Ok(answered)
}

/// The headers that belong to what is said, not to the connection or to who says it.
fn of_content(headers: &HeaderMap) -> HeaderMap {
    let kept = [header::ACCEPT, header::CONTENT_TYPE, header::RETRY_AFTER];
    let kept = kept.into_iter().filter_map(|name| {
        let value = headers.get(&name)?.clone();
        Some((name, value))
    });
    kept.collect()
}

/// The address under which a list that takes any age is answered as it was at a version; `None` for all other requests.
fn older(uri: &Uri, version: u64) -> Option<Uri> {
    if !asks(uri, "resourceVersion", &["0"]) || asks(uri, "watch", &["true", "1"]) {
        return None;
    }
    let fields = uri.query()?.split('&');
    let mut fields: Vec<String> = fields
        .filter(|field| !field.starts_with("resourceVersion"))
        .map(ToOwned::to_owned)
        .collect();
    fields.push(format!(
        "resourceVersion={version}&resourceVersionMatch=Exact"
    ));
    format!("{}?{}", uri.path(), fields.join("&")).parse().ok()
}

/// The frames of a body: none while `held` shows an older view, and an error once `lasts` is over.
fn passed(
    body: Body,
    held: Option<watch::Receiver<Option<u64>>>,
    lasts: Option<Duration>,
) -> impl Stream<Item = io::Result<Frame<Bytes>>> {
    let ends = lasts.map(|time| Instant::now() + time);
    stream::unfold((body, held), move |(mut body, mut held)| async move {
        let next = async {
            let frame = body.frame().await?;
            if let Some(held) = &mut held {
                // A proxy that is gone holds nothing back.
                let _ = held.wait_for(Option::is_none).await;
            }
            Some(frame.map_err(io::Error::other))
        };
        let frame = tokio::select! {
            frame = next => frame?,
            () = until(ends) => Err(cut()),
        };
        Some((frame, (body, held)))
    })
}

async fn until(end: Option<Instant>) {
    match end {
        Some(end) => sleep_until(end).await,
        None => std::future::pending().await,
    }
}

fn cut() -> io::Error {
    io::ErrorKind::ConnectionAborted.into()
}

/// An answer as an API server gives it that refuses.
fn refusal(code: u16, retry_after: Option<u32>) -> Response<Answer> {
    let reason = match code {
        403 => "Forbidden",
        409 => "Conflict",
        429 => "TooManyRequests",
        _ => "InternalError",
    };
    let mut status = json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "code": code, "reason": reason, "message": "refused by the lab's proxy",
    });
    if let Some(seconds) = retry_after {
        status["details"] = json!({"retryAfterSeconds": seconds});
    }
    let body = http_body_util::Full::new(Bytes::from(status.to_string()));
    let body = body.map_err(|never: Infallible| match never {});
    let mut response = Response::new(body.boxed_unsync());
    *response.status_mut() = StatusCode::from_u16(code).unwrap_or(StatusCode::BAD_GATEWAY);
    let json = header::HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, json);
    if let Some(seconds) = retry_after {
        response
            .headers_mut()
            .insert(header::RETRY_AFTER, seconds.into());
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_list_that_takes_any_age_is_answered_with_an_older_view() {
        let older = |address: &str| {
            let uri = older(&address.parse().unwrap(), 7)?;
            Some(uri.to_string())
        };
        assert_eq!(
            older("/api/v1/pods?limit=500&resourceVersion=0").as_deref(),
            Some("/api/v1/pods?limit=500&resourceVersion=7&resourceVersionMatch=Exact")
        );
        assert_eq!(older("/api/v1/pods?limit=500"), None);
        assert_eq!(older("/api/v1/pods?watch=true&resourceVersion=0"), None);
        assert_eq!(older("/api/v1/nodes/n1"), None);
    }
}
