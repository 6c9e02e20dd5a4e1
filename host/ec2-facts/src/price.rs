//! On-demand list prices by region, as whole nano-units of the region's currency per hour.
//!
//! From `tables/on-demand-prices.tsv`: Linux, shared tenancy. A type without a price in a region has none here; prices in yuan
//! become dollars only at a rate that the caller states. A region is in the table or unknown: no region borrows another's prices.

use std::num::NonZeroU64;
use std::sync::OnceLock;

use plimsoll_base::units::PricePerHour;
use thiserror::Error;

use crate::table::{Table, TableError};

const TABLE: Table = Table {
    name: "on-demand-prices",
    text: include_str!("../tables/on-demand-prices.tsv"),
};

/// Nano-units in a unit of currency.
const NANOS: u64 = 1_000_000_000;

/// Currency of a region's prices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Currency {
    /// United States dollar.
    Usd,
    /// Chinese yuan.
    Cny,
}

impl Currency {
    /// The ISO 4217 code.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Usd => "USD",
            Self::Cny => "CNY",
        }
    }
}

/// Dollars per yuan, above 0; stated by a caller that compares prices in yuan with prices in dollars.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExchangeRate {
    nano_dollars_per_yuan: NonZeroU64,
}

impl ExchangeRate {
    /// So many nano-dollars for one yuan; `None` for 0.
    pub fn from_nano_dollars_per_yuan(nano_dollars: u64) -> Option<Self> {
        NonZeroU64::new(nano_dollars).map(|nano_dollars_per_yuan| Self {
            nano_dollars_per_yuan,
        })
    }
}

/// A question that the table of prices cannot answer.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum PriceError {
    /// No prices for this region.
    #[error(
        "region {region}: no list prices are known; expected one of {}",
        known_regions()
    )]
    UnknownRegion {
        /// The name asked for.
        region: String,
    },
    /// The region's prices are not in dollars, and no rate was stated.
    #[error("region {region}: list prices are in {}; expected an exchange rate to dollars", currency.as_str())]
    NoExchangeRate {
        /// The region.
        region: &'static str,
        /// Currency of its prices.
        currency: Currency,
    },
}

/// A list price per hour in the currency of its region.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListPrice {
    /// Nano-units of the currency per hour.
    pub nanos_per_hour: u64,
    /// The currency.
    pub currency: Currency,
}

impl ListPrice {
    /// Dollars per hour, rounded to the nearest nano-dollar; `None` for another currency without a rate, and for what a rate makes nothing.
    pub fn dollars(self, rate: Option<ExchangeRate>) -> Option<PricePerHour> {
        let nano_dollars = match self.currency {
            Currency::Usd => self.nanos_per_hour,
            Currency::Cny => {
                let product =
                    u128::from(self.nanos_per_hour) * u128::from(rate?.nano_dollars_per_yuan.get());
                u64::try_from((product + u128::from(NANOS / 2)) / u128::from(NANOS)).ok()?
            }
        };
        let nano_dollars = i64::try_from(nano_dollars).ok()?;
        (nano_dollars > 0).then(|| PricePerHour::from_nanos(nano_dollars))
    }
}

/// A region and its list prices.
#[derive(Debug)]
pub struct Region {
    name: &'static str,
    currency: Currency,
    /// Type name and nano-units per hour, in name order.
    prices: Vec<(&'static str, u64)>,
}

impl Region {
    /// Name, such as `us-east-1`.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Currency of its prices.
    pub fn currency(&self) -> Currency {
        self.currency
    }

    /// The list price of a type; `None` where the source has none.
    pub fn on_demand(&self, instance_type: &str) -> Option<ListPrice> {
        let index = self
            .prices
            .binary_search_by(|(name, _)| (*name).cmp(instance_type))
            .ok()?;
        Some(ListPrice {
            nanos_per_hour: self.prices[index].1,
            currency: self.currency,
        })
    }

    /// Names of all types that have a price here, sorted; some are no longer documented.
    pub fn priced(&self) -> impl Iterator<Item = &'static str> {
        self.prices.iter().map(|(name, _)| *name)
    }

    /// Fails unless prices here can be stated in dollars.
    pub fn check_dollars(&self, rate: Option<ExchangeRate>) -> Result<(), PriceError> {
        match (self.currency, rate) {
            (Currency::Cny, None) => Err(PriceError::NoExchangeRate {
                region: self.name,
                currency: self.currency,
            }),
            _ => Ok(()),
        }
    }
}

/// All regions with list prices, in name order.
pub fn regions() -> &'static [Region] {
    static REGIONS: OnceLock<Vec<Region>> = OnceLock::new();
    REGIONS.get_or_init(|| {
        read_all(TABLE).expect("the compiled-in table was read in full by this crate's tests")
    })
}

/// The region of this name.
pub fn region(name: &str) -> Result<&'static Region, PriceError> {
    let known = regions().iter().find(|region| region.name == name);
    known.ok_or_else(|| PriceError::UnknownRegion {
        region: name.to_owned(),
    })
}

fn known_regions() -> String {
    regions()
        .iter()
        .map(Region::name)
        .collect::<Vec<_>>()
        .join(", ")
}

fn read_all(table: Table) -> Result<Vec<Region>, TableError> {
    let columns: Vec<&'static str> = table.columns().skip(1).collect();
    let mut regions: Vec<Region> = columns
        .iter()
        .filter_map(|column| read_region(column))
        .collect();
    for mut row in table.rows() {
        let name = row.text("name")?;
        for (region, column) in regions.iter_mut().zip(&columns) {
            let Some(price) = row.stated(column)? else {
                continue;
            };
            let nanos = nanos(price).ok_or_else(|| {
                row.wrong(column, price, "a positive decimal with at most 9 places")
            })?;
            if region.prices.last().is_some_and(|(last, _)| *last >= name) {
                return Err(row.wrong("name", name, "a name after those before"));
            }
            region.prices.push((name, nanos));
        }
        row.end()?;
    }
    Ok(regions)
}

/// A column name such as `us-east-1/USD`.
fn read_region(column: &'static str) -> Option<Region> {
    let (name, currency) = column.split_once('/')?;
    let currency = match currency {
        "USD" => Currency::Usd,
        "CNY" => Currency::Cny,
        _ => return None,
    };
    Some(Region {
        name,
        currency,
        prices: Vec::new(),
    })
}

/// The decimal `text` in billionths; `None` unless it is positive and exact in them.
fn nanos(text: &str) -> Option<u64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    if fraction.len() > 9 || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let whole: u64 = whole.parse().ok()?;
    let fraction: u64 = format!("{fraction:0<9}").parse().ok()?;
    whole
        .checked_mul(NANOS)?
        .checked_add(fraction)
        .filter(|nanos| *nanos > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_column_of_the_table_is_a_region() {
        let names: Vec<_> = regions()
            .iter()
            .map(|region| (region.name(), region.currency(), region.priced().count()))
            .collect();
        assert_eq!(
            names,
            [
                ("cn-north-1", Currency::Cny, 316),
                ("us-east-1", Currency::Usd, 1_367),
                ("us-gov-east-1", Currency::Usd, 549),
                ("us-gov-west-1", Currency::Usd, 770),
            ]
        );
        assert_eq!(TABLE.columns().count(), 1 + regions().len());
    }

    #[test]
    fn prices_are_exact() {
        let price = |name: &str, at: &str| {
            region(at)
                .unwrap()
                .on_demand(name)
                .map(|price| price.nanos_per_hour)
        };
        assert_eq!(price("a1.2xlarge", "us-east-1"), Some(204_000_000));
        assert_eq!(price("a1.medium", "us-east-1"), Some(25_500_000));
        assert_eq!(price("c6g.large", "us-gov-east-1"), Some(81_600_000));
        assert_eq!(price("a1.2xlarge", "us-gov-east-1"), None);
        assert_eq!(price("no.such", "us-east-1"), None);
    }

    #[test]
    fn an_unknown_region_is_refused_by_name() {
        assert_eq!(
            region("eu-west-1").unwrap_err().to_string(),
            "region eu-west-1: no list prices are known; expected one of cn-north-1, us-east-1, us-gov-east-1, us-gov-west-1"
        );
    }

    #[test]
    fn yuan_become_dollars_only_at_a_stated_rate() {
        let china = region("cn-north-1").unwrap();
        let price = china.on_demand("c5.large").unwrap();
        assert_eq!(price.nanos_per_hour, 739_000_000);
        assert_eq!(price.dollars(None), None);
        let rate = ExchangeRate::from_nano_dollars_per_yuan(140_000_000).unwrap();
        assert_eq!(
            price.dollars(Some(rate)).map(PricePerHour::nanos),
            Some(103_460_000)
        );
        assert_eq!(
            china.check_dollars(None).unwrap_err().to_string(),
            "region cn-north-1: list prices are in CNY; expected an exchange rate to dollars"
        );
        assert_eq!(china.check_dollars(Some(rate)), Ok(()));
        assert_eq!(ExchangeRate::from_nano_dollars_per_yuan(0), None);
        let worthless = ExchangeRate::from_nano_dollars_per_yuan(1).unwrap();
        let fen = ListPrice {
            nanos_per_hour: 10_000_000,
            currency: Currency::Cny,
        };
        assert_eq!(
            fen.dollars(Some(worthless)),
            None,
            "a price never becomes 0"
        );
        assert_eq!(region("us-east-1").unwrap().check_dollars(None), Ok(()));
    }

    #[test]
    fn decimals_that_are_not_prices_are_refused() {
        for text in [
            "",
            "0",
            "0.000",
            "-1",
            "1e3",
            "1.0000000001",
            "1.-5",
            "x",
            "99999999999999",
        ] {
            assert_eq!(nanos(text), None, "{text}");
        }
        assert_eq!(nanos("13.3338"), Some(13_333_800_000));
        assert_eq!(nanos("96"), Some(96_000_000_000));
    }
}
