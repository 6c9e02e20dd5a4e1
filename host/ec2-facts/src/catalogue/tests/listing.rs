//! A listing that was handed in counts in place of the tables, part by part.

use plimsoll_model::catalogue::CapacityType::{OnDemand, Spot};

use super::*;
use crate::instance_type;

fn prices(own: &[(&str, i64)]) -> Arc<ListPrices> {
    let price =
        |(name, nanos): &(&str, i64)| ((*name).to_owned(), PricePerHour::from_nanos(*nanos));
    Arc::new(own.iter().map(price).collect())
}

fn types(own: &[(&'static str, CapacityTypes)]) -> Arc<BTreeMap<String, SoldType>> {
    let sold = |(name, capacity_types): &(&'static str, CapacityTypes)| {
        let known = instance_type("m5.large").expect("a type");
        let facts = InstanceType {
            name,
            ..known.clone()
        };
        let capacity_types = *capacity_types;
        let sold = SoldType {
            facts,
            capacity_types,
        };
        ((*name).to_owned(), sold)
    };
    Arc::new(own.iter().map(sold).collect())
}

fn zones(own: &[(&str, &[&str])]) -> Arc<OfferedZones> {
    let of = |(name, zones): &(&str, &[&str])| {
        let zones = zones.iter().map(|zone| (*zone).to_owned()).collect();
        ((*name).to_owned(), zones)
    };
    Arc::new(own.iter().map(of).collect())
}

fn listed(listing: Listing) -> CatalogueSettings {
    CatalogueSettings {
        listing,
        ..us_east_1()
    }
}

#[test]
fn without_a_listing_the_tables_count() {
    let plain = catalogue(&us_east_1()).unwrap();
    let told = catalogue(&listed(Listing::default())).unwrap();
    assert_eq!(plain, told);
}

#[test]
fn types_of_the_listing_are_sold_as_they_are_had() {
    let all = CapacityTypes::OnDemandAndSpot;
    let settings = listed(Listing {
        types: Some(types(&[
            ("z9.both", all),
            ("z9.demand", CapacityTypes::OnDemandOnly),
            ("z9.spot", CapacityTypes::SpotOnly),
            ("z9.unpriced", all),
        ])),
        zones: None,
        prices: Some(prices(&[("z9.both", 3), ("z9.demand", 3), ("z9.spot", 3)])),
    });
    let sold = catalogue(&settings).unwrap();
    let terms = |name: &str| -> Vec<CapacityType> {
        offers(&sold, name)
            .iter()
            .map(|own| own.1)
            .take(2)
            .collect()
    };
    assert_eq!(sold.types().len(), 3);
    assert_eq!(terms("z9.both"), [Spot, OnDemand]);
    assert_eq!(terms("z9.demand"), [OnDemand, OnDemand]);
    assert_eq!(terms("z9.spot"), [Spot, Spot]);
    assert_eq!(
        left_out(&settings).unwrap(),
        [("z9.unpriced", LeftOut::NoPrice)]
    );
    let wanted = CatalogueSettings {
        capacity_types: CapacityTypes::SpotOnly,
        ..settings
    };
    let gone = left_out(&wanted).unwrap();
    assert!(
        gone.contains(&("z9.demand", LeftOut::NotOffered)),
        "{gone:?}"
    );
}

#[test]
fn zones_of_the_listing_bound_those_that_are_wanted() {
    let settings = listed(Listing {
        zones: Some(zones(&[
            ("m5.large", &["us-east-1a", "us-east-1f"]),
            ("c5.large", &["us-east-1f"]),
        ])),
        ..Listing::default()
    });
    let sold = catalogue(&settings).unwrap();
    let names: Vec<&str> = sold.types().iter().map(|own| own.name.as_str()).collect();
    assert_eq!(names, ["m5.large"]);
    let m5 = offers(&sold, "m5.large");
    assert!(m5.iter().all(|own| own.0 == "us-east-1a"));
    assert_eq!(m5.len(), 2);
    let gone = left_out(&settings).unwrap();
    assert!(gone.contains(&("c5.large", LeftOut::NotOffered)));
    assert!(gone.contains(&("trn2.48xlarge", LeftOut::NoPrice)));
}

#[test]
fn prices_of_the_listing_need_no_region_that_the_table_knows() {
    let settings = CatalogueSettings {
        listing: Listing {
            prices: Some(prices(&[("m5.large", 7), ("c5.large", 8)])),
            ..Listing::default()
        },
        unquoted: UnquotedSpot::ListPrice,
        ..CatalogueSettings::for_region("mars-north-1")
    };
    let sold = catalogue(&settings).unwrap();
    let m5 = offers(&sold, "m5.large");
    assert_eq!(m5.len(), 6);
    for (zone, _, price, source) in m5 {
        assert!(zone.starts_with("mars-north-1"), "{zone}");
        assert_eq!((price, source), (7, PriceSource::List));
    }
    assert!(accepts(
        &sold,
        "m5.large",
        "topology.kubernetes.io/region",
        "mars-north-1"
    ));
}

#[test]
fn spot_without_a_quote_is_not_sold_where_quotes_were_asked_for() {
    let mut settings = us_east_1();
    settings.unquoted = UnquotedSpot::NotSold;
    let quote = SpotQuote {
        price: PricePerHour::from_nanos(5),
        age_s: 0,
    };
    let quotes = &mut settings.spot_quotes;
    assert!(quotes.is_empty());
    quotes.insert("m5.large", "us-east-1b", quote).unwrap();
    assert!(!quotes.is_empty());
    let sold = catalogue(&settings).unwrap();
    let spot = |name: &str| -> Vec<(String, i64)> {
        let offers = offers(&sold, name).into_iter();
        let spot = offers.filter(|own| own.1 == CapacityType::Spot);
        spot.map(|own| (own.0, own.2)).collect()
    };
    assert_eq!(spot("m5.large"), [("us-east-1b".to_owned(), 5)]);
    assert_eq!(spot("c5.large"), []);
    assert_eq!(offers(&sold, "c5.large").len(), 3);
}
