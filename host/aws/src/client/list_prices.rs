//! Items of the price list, as the Pricing service tells of them.

use aws_sdk_pricing::types::{Filter, FilterType};

use super::{CallError, Clients};
use crate::list_prices::{BARE_METAL, PriceList, Products, SHARED};

/// Items of an answer, the most that the service gives.
const PAGE: i32 = 100;
const ACTION: &str = "pricing:GetProducts";
/// Linux without anything on it, paid for by the hour as it runs.
const ALWAYS: [(&str, &str); 5] = [
    ("serviceCode", "AmazonEC2"),
    ("preInstalledSw", "NA"),
    ("operatingSystem", "Linux"),
    ("capacitystatus", "Used"),
    ("marketoption", "OnDemand"),
];

impl Clients {
    /// The price list of the region's types.
    pub async fn price_list(&self) -> Result<PriceList, CallError> {
        Ok(PriceList {
            shared: self.price_items(&SHARED).await?,
            bare_metal: self.price_items(&BARE_METAL).await?,
        })
    }

    async fn price_items(&self, products: &Products) -> Result<Vec<String>, CallError> {
        let own = [
            ("regionCode", self.region()),
            ("tenancy", products.tenancy),
            ("productFamily", products.family),
        ];
        let filter = |(field, value): (&str, &str)| {
            let filter = Filter::builder().r#type(FilterType::TermMatch);
            let filter = filter.field(field).value(value).build();
            filter.expect("type, field and value are all there")
        };
        let filters = ALWAYS.into_iter().chain(own).map(filter).collect();
        let pages = self.pricing.get_products().service_code("AmazonEC2");
        let pages = pages.set_filters(Some(filters));
        let found = pages.into_paginator().page_size(PAGE).items().send();
        let found: Result<Vec<_>, _> = found.collect().await;
        found.map_err(CallError::of(ACTION))
    }
}
