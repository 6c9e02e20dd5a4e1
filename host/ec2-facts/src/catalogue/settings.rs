//! Settings that decide which offerings a region has, and at what price.

use std::collections::BTreeMap;

use plimsoll_base::units::PricePerHour;
use plimsoll_model::catalogue::PriceSource;
use thiserror::Error;

use super::Listing;
use crate::class::ClassSettings;
use crate::price::{ExchangeRate, PriceError};
use crate::spot::SpotModel;

/// Why there is no catalogue.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum CatalogueError {
    /// The region has no prices in dollars.
    #[error(transparent)]
    Price(#[from] PriceError),
    /// The caller named zones, but none.
    #[error(
        "region {region}: the list of zones is empty; expected at least one, or no list to assume zones a, b and c"
    )]
    NoZones {
        /// The region.
        region: String,
    },
}

/// Why a spot quote cannot be one.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum QuoteError {
    /// Nothing is had for nothing.
    #[error("spot quote for {instance_type} in {zone}: price is {price}; expected more than 0")]
    NotPositive {
        /// Name of the type.
        instance_type: String,
        /// Name of the zone.
        zone: String,
        /// The price that was given.
        price: PricePerHour,
    },
}

/// A zone by the name that labels use, and its account-independent id where known.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Zone {
    /// Name, such as `us-east-1a`.
    pub name: String,
    /// Id, such as `use1-az4`.
    pub id: Option<String>,
}

/// The capacity types to offer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CapacityTypes {
    /// On demand and as spot.
    #[default]
    OnDemandAndSpot,
    /// On demand only.
    OnDemandOnly,
    /// As spot only.
    SpotOnly,
}

impl CapacityTypes {
    pub(super) fn has_on_demand(self) -> bool {
        self != Self::SpotOnly
    }

    pub(super) fn has_spot(self) -> bool {
        self != Self::OnDemandOnly
    }
}

/// The spot price of a type in a zone for which there is no quote.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum UnquotedSpot {
    /// The model's.
    #[default]
    Modelled,
    /// The list price, above which spot is never sold: quotes were not asked for yet.
    ListPrice,
    /// None: quotes were asked for, and what has none is not sold as spot there.
    NotSold,
}

/// A spot price that somebody saw.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SpotQuote {
    /// The price.
    pub price: PricePerHour,
    /// How old it is, in seconds.
    pub age_s: u32,
}

/// Spot prices by instance type and zone name.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SpotQuotes {
    by_type: BTreeMap<String, BTreeMap<String, SpotQuote>>,
}

impl SpotQuotes {
    /// Enters a quote; a later one for the same type and zone replaces it. A price of 0 or less is refused.
    pub fn insert(
        &mut self,
        instance_type: &str,
        zone: &str,
        quote: SpotQuote,
    ) -> Result<(), QuoteError> {
        if quote.price <= PricePerHour::ZERO {
            return Err(QuoteError::NotPositive {
                instance_type: instance_type.to_owned(),
                zone: zone.to_owned(),
                price: quote.price,
            });
        }
        self.by_type
            .entry(instance_type.to_owned())
            .or_default()
            .insert(zone.to_owned(), quote);
        Ok(())
    }

    /// Takes in newer quotes. Those that there is no newer one of stay, and are so many seconds older now.
    pub fn renew(&mut self, newer: Self, elapsed_s: u32) {
        let zones = self.by_type.values_mut();
        for quote in zones.flat_map(BTreeMap::values_mut) {
            quote.age_s = quote.age_s.saturating_add(elapsed_s);
        }
        for (instance_type, zones) in newer.by_type {
            self.by_type.entry(instance_type).or_default().extend(zones);
        }
    }

    /// `true` if there is no quote at all.
    pub fn is_empty(&self) -> bool {
        self.by_type.is_empty()
    }

    /// The quote for a type in a zone.
    pub fn get(&self, instance_type: &str, zone: &str) -> Option<SpotQuote> {
        self.by_type.get(instance_type)?.get(zone).copied()
    }
}

/// All that decides what can be bought, beside the facts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CatalogueSettings {
    /// Region; one of [`crate::regions`], unless the listing has prices.
    pub region: String,
    /// Its types, their zones and list prices, where they are not those of the tables.
    pub listing: Listing,
    /// Its zones; `None` assumes [`crate::zone::assumed_zones`].
    pub zones: Option<Vec<Zone>>,
    /// Capacity types to offer.
    pub capacity_types: CapacityTypes,
    /// Dollars per yuan, for regions priced in yuan.
    pub exchange_rate: Option<ExchangeRate>,
    /// Spot prices as seen.
    pub spot_quotes: SpotQuotes,
    /// Spot prices that were not seen.
    pub unquoted: UnquotedSpot,
    /// Draws those of them that are modelled.
    pub spot_model: SpotModel,
    /// How old the list prices are taken to be, in seconds.
    pub list_price_age_s: u32,
    /// The class of the nodes: capacity and overhead follow from it, and the types that it cannot launch are not available.
    pub class: ClassSettings,
}

impl CatalogueSettings {
    /// A region with assumed zones, both capacity types, modelled spot prices and default nodes.
    pub fn for_region(region: &str) -> Self {
        Self {
            region: region.to_owned(),
            listing: Listing::default(),
            zones: None,
            capacity_types: CapacityTypes::default(),
            exchange_rate: None,
            spot_quotes: SpotQuotes::default(),
            unquoted: UnquotedSpot::default(),
            spot_model: SpotModel::default(),
            list_price_age_s: 0,
            class: ClassSettings::default(),
        }
    }

    /// The spot price of a type of `family` in a zone, where it comes from and its age in seconds: the quote where there is one. `None` where
    /// it is not sold as spot.
    pub(super) fn spot_price(
        &self,
        name: &str,
        family: &str,
        zone: &str,
        on_demand: PricePerHour,
    ) -> Option<(PricePerHour, PriceSource, u32)> {
        if let Some(quote) = self.spot_quotes.get(name, zone) {
            return Some((quote.price, PriceSource::Quote, quote.age_s));
        }
        let (price, source) = match self.unquoted {
            UnquotedSpot::NotSold => return None,
            UnquotedSpot::ListPrice => (on_demand, PriceSource::List),
            UnquotedSpot::Modelled => {
                let model = &self.spot_model;
                let drawn = model.price(&self.region, family, zone, on_demand);
                (drawn.price(), PriceSource::Model)
            }
        };
        Some((price, source, self.list_price_age_s))
    }
}
