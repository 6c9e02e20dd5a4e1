//! The provider for instances of EC2.
//!
//! ```text
//! EC2NodeClass ─► class, resolve ─► status ─► served: image, room and catalogue by type
//! types, zones, prices ─► types, list_prices, prices ─► market of a region ─► served
//! engine's call ─► launch, provider ─► client ─► AWS ─► answer dealt to claims
//! queue ─► reader, message ─► instances that will be taken back
//! ```
//!
//! What to ask and what an answer means are functions; only [`client`] talks to AWS, through the official SDK.

mod catalogues;
mod class;
mod client;
mod credentials;
mod drift;
mod ended;
mod error;
mod facts;
mod failures;
mod health;
mod instance;
mod launch;
mod list_prices;
mod prices;
mod provider;
mod queue;
mod resolve;
#[cfg(test)]
mod sample;
mod served;
mod types;
mod unseen;
mod user_data;

pub use catalogues::catalogues;
pub use class::dry_run::Refusal;
pub use class::family::Family;
pub use class::hash::{HASH_ANNOTATION, HASH_VERSION, HASH_VERSION_ANNOTATION, hash};
pub use class::queue::QueueStanding;
pub use class::reconcile::{Looked, Reconciled, look};
pub use class::retire::{delete_unused_profiles, retire};
pub use class::tags;
pub use client::{CallError, Clients, ConnectError};
pub use ended::{EndedEarly, StateReason};
pub use error::ErrorClass;
pub use failures::CallFailure;
pub use health::{Impaired, Impairment};
pub use instance::{PROFILE_ANNOTATION, instance_id};
pub use list_prices::{EmptyPriceList, PriceList, is_priced};
pub use plimsoll_ec2_facts::Share;
pub use plimsoll_ec2_facts::catalogue::{ListPrices, Listing, OfferedZones, SpotQuotes};
pub use prices::{SpotPoint, quotes};
pub use provider::Ec2;
pub use queue::message::{MalformedMessage, Message, parse as parse_message};
pub use queue::reader::{Heard, QueueReader};
pub use resolve::kept::RefreshIntervals;
pub use resolve::unused_profiles::{FoundProfile, ProfileUse};
pub use served::{Market, NodeSettings, ServedClass, reference};
pub use types::{ToldTypes, TypeError};
pub use user_data::ClusterAccess;

/// Type of the condition of a class that the interruption queue is read, which launches do not wait for.
pub const QUEUE_CONDITION: &str = class::conditions::QUEUE;
