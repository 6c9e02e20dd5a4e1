//! The provider whose machines are EC2 instances.
//!
//! ```text
//! EC2NodeClass ─► class, resolve ─► status ─► served: image, room and catalogue by type
//! engine's call ─► launch, provider ─► client ─► AWS ─► answer dealt to claims
//! queue ─► message ─► instances that will be taken back
//! ```
//!
//! What to ask and what an answer means are functions; only [`client`] talks to AWS, through the official SDK.

mod catalogues;
mod class;
mod client;
mod drift;
mod error;
mod facts;
mod instance;
mod launch;
mod prices;
mod provider;
mod queue;
mod resolve;
#[cfg(test)]
mod sample;
mod served;
mod user_data;

pub use catalogues::catalogues;
pub use class::family::Family;
pub use class::hash::{HASH_ANNOTATION, HASH_VERSION, HASH_VERSION_ANNOTATION, hash};
pub use class::reconcile::{Reconciled, reconcile};
pub use class::retire::retire;
pub use class::tags;
pub use client::{CallError, Clients, ConnectError, Queue, Received};
pub use error::ErrorClass;
pub use instance::instance_id;
pub use plimsoll_ec2_facts::catalogue::SpotQuotes;
pub use prices::{SpotPoint, quotes};
pub use provider::Ec2;
pub use queue::message::{MalformedMessage, Message, MessageKind, parse as parse_message};
pub use served::{Market, NodeSettings, ServedClass, reference};
pub use user_data::ClusterAccess;
