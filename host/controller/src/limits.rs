//! Limits of what we ask of an API server: so many requests a second, so many at once after a pause, and none before a server that has too
//! many of them wants to hear from us again.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use http::{HeaderMap, Request, Response, StatusCode, header};
use kube::client::Body;
use tokio::time::{Sleep, sleep_until};
use tower::{Layer, Service};

/// The longest that a server may keep us away.
const LONGEST: Duration = Duration::from_mins(1);

/// Requests of one client, limited. Clones count together.
#[derive(Clone, Debug)]
pub struct Limits {
    bucket: Arc<Mutex<Bucket>>,
}

/// A client's way to the network, within limits.
#[derive(Debug)]
pub struct Limited<S> {
    limits: Limits,
    /// The turn of the next request.
    turn: Option<Pin<Box<Sleep>>>,
    inner: S,
}

/// A bucket that fills by one in each interval.
#[derive(Debug)]
struct Bucket {
    interval: Duration,
    burst: u32,
    /// When the bucket is full again, if nothing more is taken.
    full: Instant,
    /// No request goes before this.
    closed: Instant,
}

impl Bucket {
    /// Takes one; the time of its turn.
    fn take(&mut self, now: Instant) -> Instant {
        self.full = self.full.max(now) + self.interval;
        let room = self.interval * self.burst;
        let turn = self.full.checked_sub(room).unwrap_or(now);
        turn.max(self.closed).max(now)
    }
}

impl Limits {
    /// `qps` requests a second, and `burst` at once after a pause; at least one of each.
    pub fn new(qps: u32, burst: u32) -> Self {
        let now = Instant::now();
        let bucket = Bucket {
            interval: Duration::from_secs(1) / qps.max(1),
            burst: burst.max(1),
            full: now,
            closed: now,
        };
        Self {
            bucket: Arc::new(Mutex::new(bucket)),
        }
    }

    fn bucket(&self) -> std::sync::MutexGuard<'_, Bucket> {
        self.bucket.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A server has too many requests, and says when it wants more.
    fn close(&self, headers: &HeaderMap) {
        let after = headers.get(header::RETRY_AFTER);
        let seconds = after.and_then(|after| after.to_str().ok()?.parse().ok());
        if let Some(seconds) = seconds {
            let pause = Duration::from_secs(seconds).min(LONGEST);
            let mut bucket = self.bucket();
            bucket.closed = bucket.closed.max(Instant::now() + pause);
        }
    }
}

impl<S> Layer<S> for Limits {
    type Service = Limited<S>;

    fn layer(&self, inner: S) -> Limited<S> {
        Limited {
            limits: self.clone(),
            turn: None,
            inner,
        }
    }
}

impl<S, B> Service<Request<Body>> for Limited<S>
where
    S: Service<Request<Body>, Response = Response<B>>,
    S::Future: Send + 'static,
{
    type Response = Response<B>;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Response<B>, S::Error>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        let limits = &self.limits;
        let turn = self.turn.get_or_insert_with(|| {
            let turn = limits.bucket().take(Instant::now());
            Box::pin(sleep_until(turn.into()))
        });
        ready!(turn.as_mut().poll(cx));
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        self.turn = None;
        // An eviction that a disruption budget holds up says the same, and nothing of the server.
        let counts = !request.uri().path().ends_with("/eviction");
        let limits = self.limits.clone();
        let answer = self.inner.call(request);
        Box::pin(async move {
            let answer = answer.await?;
            if counts && answer.status() == StatusCode::TOO_MANY_REQUESTS {
                limits.close(answer.headers());
            }
            Ok(answer)
        })
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::future::{Ready, poll_fn, ready};

    use super::*;

    #[test]
    fn a_burst_goes_at_once_and_then_so_many_a_second() {
        let limits = Limits::new(10, 3);
        let now = limits.bucket().full;
        let turns = |from: Instant, count: usize| {
            let mut bucket = limits.bucket();
            let turns = (0..count).map(|_| bucket.take(from).duration_since(now).as_millis());
            turns.collect::<Vec<_>>()
        };
        assert_eq!(turns(now, 5), [0, 0, 0, 100, 200]);
        let later = now + Duration::from_secs(9);
        assert_eq!(turns(later, 4), [9000, 9000, 9000, 9100]);
    }

    /// Answers every request with too many requests, and a time.
    struct Busy;

    impl Service<Request<Body>> for Busy {
        type Response = Response<()>;
        type Error = Infallible;
        type Future = Ready<Result<Response<()>, Infallible>>;

        fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
            Poll::Ready(Ok(()))
        }

        fn call(&mut self, _: Request<Body>) -> Self::Future {
            let answer = Response::builder().status(429).header("Retry-After", "7");
            ready(Ok(answer.body(()).unwrap()))
        }
    }

    async fn ask(limits: &Limits, path: &str) -> Duration {
        let mut client = limits.layer(Busy);
        poll_fn(|cx| client.poll_ready(cx)).await.unwrap();
        let request = Request::post(path).body(Body::empty()).unwrap();
        client.call(request).await.unwrap();
        let bucket = limits.bucket();
        bucket.closed.saturating_duration_since(Instant::now())
    }

    #[tokio::test]
    async fn a_server_that_has_too_many_requests_gets_none_for_as_long_as_it_says() {
        let limits = Limits::new(1000, 1000);
        let eviction = "/api/v1/namespaces/a/pods/p/eviction";
        assert_eq!(
            ask(&limits, eviction).await,
            Duration::ZERO,
            "it is a budget's"
        );
        let left = ask(&limits, "/api/v1/nodes").await;
        assert!(
            left > Duration::from_secs(6) && left <= Duration::from_secs(7),
            "{left:?}"
        );
        let turn = limits.bucket().take(Instant::now());
        assert!(turn > Instant::now() + Duration::from_secs(5));
    }
}
