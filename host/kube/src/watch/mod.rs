//! Watches of every kind that decisions read, as one stream.
//!
//! Each kind is listed, then watched; a watch that breaks is begun again with growing pauses, and what was missed shows up
//! as a new list. [`Index`] turns the events into inputs of the engine.

mod daemons;
mod index;

use futures_util::stream::{BoxStream, SelectAll, select_all};
use futures_util::{Stream, StreamExt};
use kube::Client;
use kube::core::DynamicObject;
use kube::runtime::{WatchStreamExt, watcher};
use plimsoll_api::Kind;
use plimsoll_core::snapshot::Settings;

use crate::resource::api;

pub use index::Index;

/// The kinds that are watched. NodeOverlays and CapacityBuffers, with the templates of these, only where they are used: their
/// definitions may be absent elsewhere.
pub fn kinds(settings: &Settings) -> Vec<Kind> {
    let is_used = |kind: &Kind| match kind {
        Kind::NodeOverlay => settings.node_overlays,
        Kind::CapacityBuffer | Kind::PodTemplate => settings.capacity_buffers,
        _ => true,
    };
    Kind::ALL.iter().copied().filter(is_used).collect()
}

/// One event of one kind's watch.
pub type Event = (Kind, watcher::Result<watcher::Event<DynamicObject>>);

/// All watches at once.
pub struct Watches {
    streams: SelectAll<BoxStream<'static, Event>>,
}

impl Watches {
    /// Begins to watch.
    pub fn start(client: &Client, kinds: &[Kind]) -> Self {
        let streams = kinds.iter().map(|kind| of_kind(client, *kind).boxed());
        Self {
            streams: select_all(streams),
        }
    }

    /// The next event; there is always another. Nothing is lost if the wait is given up.
    pub async fn next(&mut self) -> Option<Event> {
        self.streams.next().await
    }
}

fn of_kind(client: &Client, kind: Kind) -> impl Stream<Item = Event> + Send + use<> {
    watcher(api(client, kind), watcher::Config::default())
        .default_backoff()
        .map(move |event| (kind, event))
}
