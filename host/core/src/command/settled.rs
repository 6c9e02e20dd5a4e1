//! A command that has come to its end: what it was to save, and what it did save.

use serde::{Deserialize, Serialize};

use crate::model::DisruptionReason;
use crate::time::Timestamp;
use crate::units::PricePerHour;

/// One command from its beginning to its end. All prices are list prices.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settled {
    /// Why it was begun.
    pub reason: DisruptionReason,
    /// When it was begun.
    pub begun: Timestamp,
    /// When the last of its nodes was gone, or it was taken back.
    pub ended: Timestamp,
    /// Nodes that were to go.
    pub nodes: u32,
    /// Of those, the ones that went.
    pub gone: u32,
    /// Nodes that were to come in their place.
    pub replacements: u32,
    /// Saving per hour at list prices, as it was predicted.
    pub predicted: PricePerHour,
    /// List price of the nodes that went, less that of the nodes that came in their place. Below nothing where a
    /// replacement came and its nodes stayed.
    pub realised: PricePerHour,
}
