//! On-demand prices of a region's types: out of items of the price list, or the compiled ones until these are known.
//!
//! All prices of a region are in its currency, yuan in China and dollars elsewhere, and spot prices are, too: they are held against each other alone.

#[cfg(test)]
mod tests;

use plimsoll_base::units::PricePerHour;
use plimsoll_ec2_facts::catalogue::ListPrices;
use plimsoll_ec2_facts::{Currency, Region, regions};
use serde_json::Value;

/// The region whose compiled prices stand in for those of regions without any.
const REFERENCE: &str = "us-east-1";
/// The same in China.
const REFERENCE_IN_CHINA: &str = "cn-north-1";

/// Products whose prices are asked for at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Products {
    pub(crate) tenancy: &'static str,
    pub(crate) family: &'static str,
}

/// Virtual machines.
pub(crate) const SHARED: Products = Products {
    tenancy: "Shared",
    family: "Compute Instance",
};
/// Whole machines, which are listed for dedicated tenancy alone.
pub(crate) const BARE_METAL: Products = Products {
    tenancy: "Dedicated",
    family: "Compute Instance (bare metal)",
};

/// Items of the price list, each a text of JSON.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PriceList {
    /// Those of virtual machines.
    pub shared: Vec<String>,
    /// Those of bare metal.
    pub bare_metal: Vec<String>,
}

/// A price list that says nothing about some products: what is known already is better.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "pricing:GetProducts: {items} items for \"{family}\" of tenancy {tenancy} in {region}, none of a type with a price above 0 in {}; expected at least one",
    currency.as_str()
)]
pub struct EmptyPriceList {
    /// The region.
    pub region: String,
    /// Family of the products.
    pub family: &'static str,
    /// Their tenancy.
    pub tenancy: &'static str,
    /// Items that there are of them.
    pub items: usize,
    /// Currency in which prices were looked for.
    pub currency: Currency,
}

impl PriceList {
    /// Prices by type in a region's currency. Items that cannot be read, or cost nothing, say nothing; fails where that leaves no price for
    /// virtual machines or for bare metal.
    pub fn prices(&self, region: &str) -> Result<ListPrices, EmptyPriceList> {
        let currency = currency(region);
        let mut prices = ListPrices::new();
        for (items, products) in [(&self.shared, SHARED), (&self.bare_metal, BARE_METAL)] {
            let read: ListPrices = items
                .iter()
                .filter_map(|item| price(item, currency))
                .collect();
            if read.is_empty() {
                return Err(EmptyPriceList {
                    region: region.to_owned(),
                    family: products.family,
                    tenancy: products.tenancy,
                    items: items.len(),
                    currency,
                });
            }
            prices.extend(read);
        }
        Ok(prices)
    }
}

/// The type of an item and its price per hour; of several prices the highest, so that nothing turns out dearer than it was taken for.
fn price(item: &str, currency: Currency) -> Option<(String, PricePerHour)> {
    let item: Value = serde_json::from_str(item).ok()?;
    let product = field(&item, "product")?;
    let name = field(field(product, "attributes")?, "instanceType")?.as_str()?;
    let terms = field(field(&item, "terms")?, "OnDemand")?.as_object()?;
    let dimensions = terms
        .values()
        .filter_map(|term| field(term, "priceDimensions")?.as_object())
        .flat_map(|dimensions| dimensions.values());
    let prices = dimensions.filter_map(|dimension| {
        let text = field(field(dimension, "pricePerUnit")?, currency.as_str())?.as_str()?;
        let price = text.parse().ok().and_then(PricePerHour::from_dollars)?;
        (price > PricePerHour::ZERO).then_some(price)
    });
    let highest = prices.max()?;
    (!name.is_empty()).then(|| (name.to_owned(), highest))
}

/// A field of an object, be its name written in capitals or not.
fn field<'v>(object: &'v Value, name: &str) -> Option<&'v Value> {
    let mut fields = object.as_object()?.iter();
    let found = fields.find(|(key, _)| key.eq_ignore_ascii_case(name));
    found.map(|(_, value)| value)
}

/// Currency of a region's price list.
fn currency(region: &str) -> Currency {
    if region.starts_with("cn-") {
        Currency::Cny
    } else {
        Currency::Usd
    }
}

/// `true` if the Pricing service has the prices of a region.
pub fn is_priced(region: &str) -> bool {
    !region.starts_with("us-gov-")
}

/// The region whose endpoint answers for a region's prices.
pub(crate) fn endpoint_region(region: &str) -> &'static str {
    match region.split('-').next() {
        Some("ap") => "ap-south-1",
        Some("cn") => "cn-northwest-1",
        Some("eu") => "eu-central-1",
        _ => "us-east-1",
    }
}

/// The compiled list prices of a region in its currency: those of the nearest region that has any.
pub(crate) fn compiled(region: &str) -> ListPrices {
    let reference = match currency(region) {
        Currency::Cny => REFERENCE_IN_CHINA,
        Currency::Usd => REFERENCE,
    };
    let named = |name: &str| regions().iter().find(|known| known.name() == name);
    let Some(source) = named(region).or_else(|| named(reference)) else {
        return ListPrices::new();
    };
    let price = |name: &'static str| Some((name.to_owned(), listed(source, name)?));
    source.priced().filter_map(price).collect()
}

fn listed(region: &Region, name: &str) -> Option<PricePerHour> {
    let nanos = region.on_demand(name)?.nanos_per_hour;
    i64::try_from(nanos).ok().map(PricePerHour::from_nanos)
}
