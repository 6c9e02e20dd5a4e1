//! NodeOverlays: corrections to prices and capacities, made by the cluster's owner.

use std::sync::Arc;

use plimsoll_base::requirement::Requirements;
use plimsoll_base::resources::Resources;
use plimsoll_base::units::{MAX_DOLLARS_PER_HOUR, PricePerHour};
use serde::{Deserialize, Serialize};

use super::status::Status;

/// Change of a price by an overlay. The result is never below zero, nor above what a price may be.
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
        let most = PricePerHour::from_dollars(MAX_DOLLARS_PER_HOUR).unwrap_or(PricePerHour::ZERO);
        changed.clamp(PricePerHour::ZERO, most)
    }
}

/// One NodeOverlay.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NodeOverlay {
    /// Name of the NodeOverlay.
    pub name: Arc<str>,
    /// 0 to 10,000; heavier overlays win.
    pub weight: u32,
    /// The offerings it speaks of.
    pub requirements: Requirements,
    /// Change of their price; `None` where it sets none.
    pub price: Option<PriceChange>,
    /// Extended resources it adds to their types.
    pub capacity: Resources,
    /// Status of the object, which decisions do not read.
    #[serde(default, skip_serializing_if = "Status::is_silent")]
    pub status: Status,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changed_price_stays_between_nothing_and_the_largest_there_is() {
        let dollars = |dollars| PricePerHour::from_dollars(dollars).unwrap();
        let base = dollars(0.1);
        let cases = [
            (PriceChange::Set(dollars(0.3)), 0.3),
            (PriceChange::Add(dollars(0.05)), 0.15),
            (PriceChange::Add(dollars(-0.05)), 0.05),
            (PriceChange::Add(dollars(-0.2)), 0.0),
            (PriceChange::Scale(100_000), 0.11),
            (PriceChange::Scale(-375_000), 0.0625),
            (PriceChange::Scale(-1_000_000), 0.0),
            (PriceChange::Scale(i64::MAX), MAX_DOLLARS_PER_HOUR),
        ];
        for (change, expected) in cases {
            assert_eq!(change.apply(base), dollars(expected), "{change:?}");
        }
    }
}
