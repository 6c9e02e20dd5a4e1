//! Settings that decide which offerings a region has, and at what price.

use std::collections::BTreeMap;

use plimsoll_core::units::PricePerHour;
use thiserror::Error;

use crate::allocatable::AllocatableSettings;
use crate::price::{ExchangeRate, PriceError};
use crate::spot::{SpotModel, SpotPrice};

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

    /// The quote for a type in a zone.
    pub fn get(&self, instance_type: &str, zone: &str) -> Option<SpotQuote> {
        self.by_type.get(instance_type)?.get(zone).copied()
    }
}

/// All that decides what can be bought, beside the facts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CatalogueSettings {
    /// Region; one of [`crate::regions`].
    pub region: String,
    /// Its zones; `None` assumes [`crate::zone::assumed_zones`].
    pub zones: Option<Vec<Zone>>,
    /// Capacity types to offer.
    pub capacity_types: CapacityTypes,
    /// Dollars per yuan, for regions priced in yuan.
    pub exchange_rate: Option<ExchangeRate>,
    /// Spot prices as seen.
    pub spot_quotes: SpotQuotes,
    /// Draws the spot prices that were not seen.
    pub spot_model: SpotModel,
    /// How old the list prices are taken to be, in seconds.
    pub list_price_age_s: u32,
    /// Settings of image and kubelet that capacity and overhead follow from.
    pub allocatable: AllocatableSettings,
}

impl CatalogueSettings {
    /// A region with assumed zones, both capacity types, modelled spot prices and default nodes.
    pub fn for_region(region: &str) -> Self {
        Self {
            region: region.to_owned(),
            zones: None,
            capacity_types: CapacityTypes::default(),
            exchange_rate: None,
            spot_quotes: SpotQuotes::default(),
            spot_model: SpotModel::default(),
            list_price_age_s: 0,
            allocatable: AllocatableSettings::default(),
        }
    }

    /// The spot price of a type of `family` in a zone, and its age in seconds: the quote where there is one, else the model's.
    pub(super) fn spot_price(
        &self,
        name: &str,
        family: &str,
        zone: &str,
        on_demand: PricePerHour,
    ) -> (SpotPrice, u32) {
        match self.spot_quotes.get(name, zone) {
            Some(quote) => (SpotPrice::Quoted(quote.price), quote.age_s),
            None => (
                self.spot_model.price(&self.region, family, zone, on_demand),
                self.list_price_age_s,
            ),
        }
    }
}
