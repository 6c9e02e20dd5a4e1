//! Duties of a provider towards the loop, whichever provider it is. Providers know nothing of it: each has a file here that says how it does
//! what is asked.

#[cfg(feature = "aws")]
mod aws;
mod kwok;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use plimsoll_base::time::Timestamp;
use plimsoll_engine::Input;
use plimsoll_model::action::{CloudCall, Outcome};
use plimsoll_model::catalogue::Catalogues;

#[cfg(feature = "aws")]
pub use aws::{AwsSetup, VersionSource, aws};
pub use kwok::kwok;

/// Something that a provider says by itself.
pub type Telling<'a> = Pin<Box<dyn Future<Output = Input> + Send + 'a>>;
/// The end of a call.
pub type Calling<'a> = Pin<Box<dyn Future<Output = Outcome> + Send + 'a>>;

/// A provider of instances.
pub trait Provider: Send + Sync {
    /// Types and offerings that pools may buy, by class, when the loop begins.
    fn catalogues(&self) -> Arc<Catalogues>;

    /// Carries out a call of the engine, and says how it ended. It may be given up at any time: then its outcome is unknown.
    fn call<'a>(&'a self, call: &'a CloudCall) -> Calling<'a>;

    /// Follows what the engine is told, before the engine is.
    fn observe(&self, input: &Input, now: Timestamp);

    /// The next thing that the provider says by itself: other catalogues, instances that will be taken back. It may take for ever; nothing
    /// is lost if the wait is given up.
    fn next(&self) -> Telling<'_>;
}
