//! The gate of a client: writes pass during a term, and none goes on when it has ended. Reads always pass.
//!
//! It stands where requests leave for the network, so that nothing gets round it: orders, events and the provider's calls are all behind it.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Instant;

use http::{Method, Request};
use kube::client::Body;
use thiserror::Error;
use tokio::sync::watch;
use tokio::time::sleep_until;
use tower::{BoxError, Layer, Service};

/// A write that was not made, or broken off: the lease may be another's by now.
#[derive(Clone, Copy, Debug, Error)]
#[error("not written: the lease was not renewed in time")]
struct Lapsed;

/// Lets writes pass during a term that is renewed elsewhere.
#[derive(Clone, Debug)]
pub struct Gate {
    term: watch::Receiver<Instant>,
}

/// A client's way to the network, behind a gate.
#[derive(Clone, Debug)]
pub struct Gated<S> {
    gate: Gate,
    inner: S,
}

impl Gate {
    /// A gate that is open until the instant that is sent last.
    pub(super) fn new(term: watch::Receiver<Instant>) -> Self {
        Self { term }
    }

    fn is_open(&self) -> bool {
        Instant::now() < *self.term.borrow()
    }

    /// Ends when the term has.
    async fn ended(&self) {
        loop {
            let term = *self.term.borrow();
            sleep_until(term.into()).await;
            if !self.is_open() {
                return;
            }
        }
    }
}

impl<S> Layer<S> for Gate {
    type Service = Gated<S>;

    fn layer(&self, inner: S) -> Gated<S> {
        Gated {
            gate: self.clone(),
            inner,
        }
    }
}

impl<S> Service<Request<Body>> for Gated<S>
where
    S: Service<Request<Body>>,
    S::Future: Send + 'static,
    S::Response: 'static,
    S::Error: Into<BoxError> + 'static,
{
    type Response = S::Response;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<S::Response, BoxError>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let is_read = [Method::GET, Method::HEAD, Method::OPTIONS].contains(request.method());
        if !is_read && !self.gate.is_open() {
            return Box::pin(async { Err(Lapsed.into()) });
        }
        let answer = self.inner.call(request);
        let gate = self.gate.clone();
        Box::pin(async move {
            if is_read {
                return answer.await.map_err(Into::into);
            }
            let (mut answer, mut ended) = (pin!(answer), pin!(gate.ended()));
            poll_fn(|cx| {
                // A process that was paused wakes here: the timer may not have noticed yet.
                if !gate.is_open() || ended.as_mut().poll(cx).is_ready() {
                    return Poll::Ready(Err(Lapsed.into()));
                }
                answer.as_mut().poll(cx).map_err(Into::into)
            })
            .await
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::{Pending, Ready, pending, ready};
    use std::time::Duration;

    /// Answers writes never, and reads at once.
    struct Server;

    enum Answer {
        Never(Pending<Result<(), BoxError>>),
        Now(Ready<Result<(), BoxError>>),
    }

    impl Future for Answer {
        type Output = Result<(), BoxError>;

        fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
            match self.get_mut() {
                Self::Never(never) => Pin::new(never).poll(cx),
                Self::Now(now) => Pin::new(now).poll(cx),
            }
        }
    }

    impl Service<Request<Body>> for Server {
        type Response = ();
        type Error = BoxError;
        type Future = Answer;

        fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
            Poll::Ready(Ok(()))
        }

        fn call(&mut self, request: Request<Body>) -> Answer {
            if request.method() == Method::GET {
                Answer::Now(ready(Ok(())))
            } else {
                Answer::Never(pending())
            }
        }
    }

    fn request(method: Method) -> Request<Body> {
        let request = Request::builder().method(method);
        request.body(Body::empty()).unwrap()
    }

    fn words(answer: &Result<(), BoxError>) -> String {
        format!("{answer:?}")
    }

    #[tokio::test]
    async fn a_write_ends_with_the_term_and_reads_pass_always() {
        let start = Instant::now();
        let (term, terms) = watch::channel(start + Duration::from_millis(30));
        let mut client = Gate::new(terms).layer(Server);
        let write = client.call(request(Method::POST));
        term.send_replace(start + Duration::from_millis(60));
        assert_eq!(words(&write.await), "Err(Lapsed)");
        assert!(
            start.elapsed() >= Duration::from_millis(60),
            "it was renewed"
        );
        for method in [Method::PATCH, Method::DELETE, Method::PUT] {
            assert_eq!(words(&client.call(request(method)).await), "Err(Lapsed)");
        }
        assert_eq!(words(&client.call(request(Method::GET)).await), "Ok(())");
    }

    #[tokio::test]
    async fn a_write_that_sleeps_through_the_end_of_the_term_is_not_polled_again() {
        let (term, terms) = watch::channel(Instant::now() + Duration::from_hours(1));
        let mut client = Gate::new(terms).layer(Server);
        let mut write = client.call(request(Method::POST));
        let first = poll_fn(|cx| Poll::Ready(write.as_mut().poll(cx).is_pending())).await;
        assert!(first, "the term goes on");
        // As after a pause: the time is over, and no timer has fired.
        term.send_replace(Instant::now());
        let second = poll_fn(|cx| Poll::Ready(write.as_mut().poll(cx).is_ready())).await;
        assert!(second, "the term is over");
    }
}
