//! Watches of every kind that decisions read, as one stream.
//!
//! Each kind is listed and then followed by a task of its own ([`follow`]), which says how far it has come and what keeps it. [`Index`]
//! turns what they tell into inputs of the engine; [`read`] asks the server itself how far a kind should have come.

mod daemons;
mod failure;
mod follow;
mod index;
mod read;
mod templates;

use kube::Client;
use kube::core::DynamicObject;
use plimsoll_api::Kind;
use plimsoll_model::Version;
use plimsoll_model::snapshot::Settings;
use tokio::sync::mpsc::{Receiver, channel};
use tokio::task::JoinSet;

pub use failure::Failure;
pub use index::{Ignored, Index, Key, Seen, Unreadable};
pub use read::{Depth, Read, read};

/// Changes that wait to be taken in; watches that are further ahead wait, too.
const AHEAD: usize = 1024;

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

/// One change of one kind.
pub type Event = (Kind, Change);

/// News of a kind's watch.
#[derive(Debug)]
pub enum Change {
    /// A list begins; of one that did not come to its end nothing counts.
    ListBegun,
    /// An object of the list.
    Listed(Box<DynamicObject>),
    /// The list is complete, and shows the kind at this version.
    ListDone(Version),
    /// An object is now so.
    Applied(Box<DynamicObject>),
    /// An object is no more; as it was last, with the version of its deletion.
    Deleted(Box<DynamicObject>),
    /// All that happened to the kind up to this version has been told.
    Reached(Version),
    /// It does not go on; tried again after a pause.
    Failed(Failure),
}

/// All watches at once. They end with this value.
pub struct Watches {
    events: Receiver<Event>,
    _tasks: JoinSet<()>,
}

impl Watches {
    /// Begins to watch.
    pub fn start(client: &Client, kinds: &[Kind]) -> Self {
        let (out, events) = channel(AHEAD);
        let follow = |kind: &Kind| follow::follow(client.clone(), *kind, out.clone());
        Self {
            events,
            _tasks: kinds.iter().map(follow).collect(),
        }
    }

    /// The next event; there is always another. Nothing is lost if the wait is given up.
    pub async fn next(&mut self) -> Option<Event> {
        self.events.recv().await
    }
}
