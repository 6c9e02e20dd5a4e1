//! Tries of one call. The SDK makes several and tells how the last has ended, which says nothing of those before: one whose answer was lost
//! may have been carried out, whatever the next is refused for.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use aws_sdk_ec2::config::interceptors::FinalizerInterceptorContextRef;
use aws_sdk_ec2::config::{ConfigBag, Intercept, RuntimeComponents};
use aws_sdk_ec2::error::BoxError;

use super::failure::{code_of, is_refusal};

/// Doubt that a call has been carried out although it has failed at last.
#[derive(Clone, Debug, Default)]
pub(crate) struct Doubt(Arc<AtomicBool>);

impl Doubt {
    /// `true` once a try of the call has ended in another way than by an answer that refuses it.
    pub(crate) fn is_there(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}

impl Intercept for Doubt {
    fn name(&self) -> &'static str {
        "doubt that a try was carried out"
    }

    fn read_after_attempt(
        &self,
        context: &FinalizerInterceptorContextRef<'_>,
        _: &RuntimeComponents,
        _: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        let Some(Err(error)) = context.output_or_error() else {
            return Ok(());
        };
        let answer = context.response().filter(|_| error.is_operation_error());
        let is_refused = answer.is_some_and(|answer| {
            let code = code_of(answer.body().bytes());
            is_refusal(answer.status().as_u16(), &code.unwrap_or_default())
        });
        if !is_refused {
            self.0.store(true, Ordering::SeqCst);
        }
        Ok(())
    }
}
