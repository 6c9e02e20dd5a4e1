//! NodeOverlays: corrections to prices and capacities, made by the cluster's owner.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::requirement::Requirements;
use crate::resources::Resources;
use crate::units::PricePerHour;

/// What an overlay does to a price. The result is never below zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum PriceChange {
    /// Replaces it.
    Set(PricePerHour),
    /// Adds to it, or takes from it.
    Add(PricePerHour),
    /// Changes it by so many millionths of itself: `-10%` is -100,000.
    Scale(i64),
}

impl PriceChange {
    /// The price after the change.
    pub fn apply(self, price: PricePerHour) -> PricePerHour {
        let changed = match self {
            Self::Set(price) => price,
            Self::Add(change) => price + change,
            Self::Scale(millionths) => {
                let change = i128::from(price.nanos()) * i128::from(millionths) / 1_000_000;
                price + PricePerHour::from_nanos(i64::try_from(change).unwrap_or(i64::MAX))
            }
        };
        changed.max(PricePerHour::ZERO)
    }
}

/// One NodeOverlay.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NodeOverlay {
    /// Its name.
    pub name: Arc<str>,
    /// 0 to 10,000; heavier overlays win.
    pub weight: u32,
    /// The offerings it speaks of.
    pub requirements: Requirements,
    /// What it does to their price.
    pub price: Option<PriceChange>,
    /// Resources it adds to their types.
    pub capacity: Resources,
}
