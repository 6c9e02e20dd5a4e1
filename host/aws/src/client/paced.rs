//! Calls of EC2 in their turn: each waits for a token of its bucket, and one that is throttled all the same waits for another.

use std::future::Future;
use std::time::Instant;

use aws_sdk_ec2::config::http::HttpResponse;
use aws_sdk_ec2::config::interceptors::InterceptorContext;
use aws_sdk_ec2::config::retry::{ClassifyRetry, RetryAction};
use aws_sdk_ec2::error::{ProvideErrorMetadata, SdkError};

use super::buckets::Urgency;
use super::failure::code_of;
use super::{CallError, Clients};
use crate::error::ErrorClass;

/// Tries of a call that EC2 throttles, the first among them: as many as the SDK makes.
pub(super) const TRIES: u32 = 3;

/// A call that is to be made.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call {
    /// The action, as rights name it.
    action: &'static str,
    urgency: Urgency,
    /// `true` where its turn has come.
    is_due: bool,
}

impl Call {
    /// One that has to wait for its turn.
    pub(super) const fn new(action: &'static str, urgency: Urgency) -> Self {
        Self {
            action,
            urgency,
            is_due: false,
        }
    }

    /// One that has waited.
    pub(super) const fn due(action: &'static str, urgency: Urgency) -> Self {
        Self {
            action,
            urgency,
            is_due: true,
        }
    }

    /// One about nothing that anybody waits for.
    pub(super) const fn read(action: &'static str) -> Self {
        Self::new(action, Urgency::Read)
    }
}

impl Clients {
    /// Makes a call when its turn has come, and again for as often as EC2 throttles it, three times at most.
    pub(super) async fn paced<T, E, F>(
        &self,
        mut call: Call,
        mut send: impl FnMut() -> F,
    ) -> Result<T, CallError>
    where
        E: ProvideErrorMetadata + std::error::Error + 'static,
        F: Future<Output = Result<T, SdkError<E, HttpResponse>>>,
    {
        let mut tries = 1;
        loop {
            self.turn(&mut call).await;
            // Futures of the SDK are large, and those that hold them would be.
            match self.paced_once(call, Box::pin(send())).await {
                Err(error) if error.class() == ErrorClass::Throttled && tries < TRIES => {
                    call.is_due = false;
                    tries += 1;
                }
                answered => return answered,
            }
        }
    }

    /// Makes a call once, when its turn has come.
    pub(super) async fn paced_once<T, E>(
        &self,
        mut call: Call,
        send: impl Future<Output = Result<T, SdkError<E, HttpResponse>>>,
    ) -> Result<T, CallError>
    where
        E: ProvideErrorMetadata + std::error::Error + 'static,
    {
        self.turn(&mut call).await;
        let sent = Instant::now();
        let answered = send.await.map_err(CallError::of(call.action));
        match &answered {
            Err(error) if error.class() == ErrorClass::Throttled => {
                self.buckets.throttled(call.action, sent);
            }
            // A call without an answer says nothing of the bucket.
            Err(error) if error.status.is_none() => {}
            _ => self.buckets.answered(call.action),
        }
        answered
    }

    /// Waits for the turn of a call that is not due.
    async fn turn(&self, call: &mut Call) {
        if !call.is_due {
            self.buckets.turn(call.action, call.urgency, 1).await;
            call.is_due = true;
        }
    }

    /// Whole tokens of an action's bucket that are there.
    #[cfg(test)]
    pub(crate) fn tokens_left(&self, action: &'static str) -> usize {
        self.buckets.left(action)
    }

    /// All pages of an answer, each a call in its turn. `send` asks for the page of a token, the first without one; `next` is the token of the
    /// page after another.
    pub(super) async fn pages<P, E, F>(
        &self,
        mut call: Call,
        send: impl Fn(Option<String>) -> F,
        next: impl Fn(&P) -> Option<&str>,
    ) -> Result<Vec<P>, CallError>
    where
        E: ProvideErrorMetadata + std::error::Error + 'static,
        F: Future<Output = Result<P, SdkError<E, HttpResponse>>>,
    {
        let (mut pages, mut token) = (Vec::new(), None);
        loop {
            let page = self.paced(call, || send(token.clone())).await?;
            let following = next(&page).filter(|token| !token.is_empty());
            token = following.map(str::to_owned);
            pages.push(page);
            if token.is_none() {
                return Ok(pages);
            }
            call.is_due = false;
        }
    }
}

/// Keeps the SDK from trying again what EC2 throttles: that waits for its turn here.
#[derive(Debug)]
pub(super) struct ThrottledIsNotRetried;

impl ClassifyRetry for ThrottledIsNotRetried {
    fn classify_retry(&self, context: &InterceptorContext) -> RetryAction {
        let body = context.response().and_then(|answer| answer.body().bytes());
        match code_of(body) {
            Some(code) if ErrorClass::of(&code, None) == ErrorClass::Throttled => {
                RetryAction::RetryForbidden
            }
            _ => RetryAction::NoActionIndicated,
        }
    }

    fn name(&self) -> &'static str {
        "what EC2 throttles waits for its turn"
    }
}
