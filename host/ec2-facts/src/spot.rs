//! Spot prices: quoted where a snapshot has them, else from a model that never poses as a quote.
//!
//! The model is a fixed share of the on-demand price, drawn by hash from seed, region, family and zone: 0.30 to 0.66 by family,
//! then up to 0.04 more or less by zone, so 0.26 to 0.70 in all. Sizes of a family share it, as spot markets of one family move together.
//! It is good for comparing policies and worthless as a forecast.

use plimsoll_base::units::PricePerHour;

/// A spot price, with where it comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpotPrice {
    /// As somebody saw it.
    Quoted(PricePerHour),
    /// Drawn by [`SpotModel`]; outputs that show it say so.
    Modelled(PricePerHour),
}

impl SpotPrice {
    /// The price, whatever its origin.
    pub const fn price(self) -> PricePerHour {
        match self {
            Self::Quoted(price) | Self::Modelled(price) => price,
        }
    }

    /// `true` if it was drawn and not seen.
    pub const fn is_modelled(self) -> bool {
        matches!(self, Self::Modelled(_))
    }
}

/// The least and greatest share of the on-demand price that the model answers, in thousandths.
pub const MODELLED_SHARE_RANGE: std::ops::RangeInclusive<i64> = 260..=700;

/// Least and greatest share by family, in thousandths.
const FAMILY_SHARES: (i64, i64) = (300, 660);
/// By how much a zone may differ either way, in thousandths.
const ZONE_SPREAD: i64 = 40;

/// Draws spot prices; equal seeds draw equal prices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SpotModel {
    /// Chooses one of the possible markets.
    pub seed: u64,
}

impl SpotModel {
    /// The share of the on-demand price in thousandths, within [`MODELLED_SHARE_RANGE`].
    pub fn share(&self, region: &str, family: &str, zone: &str) -> i64 {
        let by_family = draw(self.seed, &["family", region, family]);
        let by_zone = draw(self.seed, &["zone", region, family, zone]);
        FAMILY_SHARES.0
            + within(by_family, FAMILY_SHARES.1 - FAMILY_SHARES.0)
            + within(by_zone, 2 * ZONE_SPREAD)
            - ZONE_SPREAD
    }

    /// The price in a zone of a type with this on-demand price.
    pub fn price(
        &self,
        region: &str,
        family: &str,
        zone: &str,
        on_demand: PricePerHour,
    ) -> SpotPrice {
        let share = self.share(region, family, zone);
        SpotPrice::Modelled(PricePerHour::from_nanos(
            (on_demand * share).nanos() / 1_000,
        ))
    }
}

/// A number from 0 to `most`, picked by `bits`.
fn within(bits: u64, most: i64) -> i64 {
    i64::try_from(bits >> 1).map_or(0, |bits| bits % (most + 1))
}

/// 64 well-mixed bits of a seed and words: FNV-1a over the words, each ended by a zero byte, then the finisher of SplitMix64.
fn draw(seed: u64, words: &[&str]) -> u64 {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    let bytes = words.iter().flat_map(|word| word.bytes().chain([0]));
    for byte in seed.to_le_bytes().into_iter().chain(bytes) {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::instance_type::instance_types;
    use crate::zone::assumed_zones;

    #[test]
    fn shares_stay_in_the_stated_range_and_differ() {
        let zones = assumed_zones("us-east-1");
        let families: BTreeSet<_> = instance_types()
            .iter()
            .map(super::super::InstanceType::family)
            .collect();
        let model = SpotModel { seed: 7 };
        let mut seen = BTreeSet::new();
        for family in families {
            let shares: Vec<_> = zones
                .iter()
                .map(|zone| model.share("us-east-1", family, zone))
                .collect();
            assert!(
                shares
                    .iter()
                    .all(|share| MODELLED_SHARE_RANGE.contains(share)),
                "{family}: {shares:?}"
            );
            assert!(
                shares.iter().max().unwrap() - shares.iter().min().unwrap() <= 80,
                "{family}: {shares:?}"
            );
            seen.extend(shares);
        }
        assert!(seen.len() > 100, "only {} different shares", seen.len());
    }

    #[test]
    fn a_drawn_price_says_so_and_is_the_same_every_time() {
        let price = SpotModel { seed: 1 }.price(
            "us-east-1",
            "m5",
            "us-east-1a",
            PricePerHour::from_nanos(384_000_000),
        );
        assert!(price.is_modelled());
        assert_eq!(
            price,
            SpotModel { seed: 1 }.price(
                "us-east-1",
                "m5",
                "us-east-1a",
                PricePerHour::from_nanos(384_000_000)
            )
        );
        assert_ne!(
            price,
            SpotModel { seed: 2 }.price(
                "us-east-1",
                "m5",
                "us-east-1a",
                PricePerHour::from_nanos(384_000_000)
            )
        );
        assert!(!SpotPrice::Quoted(PricePerHour::ZERO).is_modelled());
    }

    #[test]
    fn the_draw_is_the_same_on_every_machine() {
        assert_eq!(draw(0, &["zone", "us-east-1"]), 0xd376_7382_4c19_0f99);
    }
}
