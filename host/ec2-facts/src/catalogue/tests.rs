//! The offers of a region: which types, at what prices, under which requirements.

mod listing;

use plimsoll_base::requirement::{Requirements, Undefined};

use super::*;
use crate::allocatable::ImageFamily;
use crate::price::ExchangeRate;

fn us_east_1() -> CatalogueSettings {
    CatalogueSettings::for_region("us-east-1")
}

/// Zone, capacity type, nano-dollars and source of each offering of a type.
fn offers(catalogue: &Catalogue, name: &str) -> Vec<(String, CapacityType, i64, PriceSource)> {
    let offerings = &catalogue.get(name).unwrap().offerings;
    let line = |offering: &Offering| {
        (
            offering.zone.to_string(),
            offering.capacity_type,
            offering.price.nanos(),
            offering.price_source,
        )
    };
    offerings.iter().map(line).collect()
}

/// `true` if new nodes of a type accept `key In [value]`.
fn accepts(catalogue: &Catalogue, name: &str, key: &str, value: &str) -> bool {
    let asked: Requirements = [Requirement::one_of(LabelKey::from(key), [value])]
        .into_iter()
        .collect();
    let well_known = |key: &LabelKey| catalogue.is_well_known(key);
    catalogue
        .get(name)
        .unwrap()
        .requirements
        .accepts(&asked, Undefined::Allowed(&well_known))
        .is_ok()
}

#[test]
fn every_priced_type_is_offered_in_three_zones_on_both_terms() {
    let catalogue = catalogue(&us_east_1()).unwrap();
    assert_eq!(catalogue.types().len(), 1_363 - 18);
    for instance_type in catalogue.types() {
        assert_eq!(instance_type.offerings.len(), 6, "{}", instance_type.name);
        for pair in instance_type.offerings.chunks(2) {
            assert_eq!(pair[0].zone, pair[1].zone);
            assert!(
                pair[0].price < pair[1].price,
                "{}: spot is below on-demand",
                instance_type.name
            );
        }
    }
    let m5 = offers(&catalogue, "m5.2xlarge");
    assert_eq!(
        m5[1],
        (
            "us-east-1a".to_owned(),
            CapacityType::OnDemand,
            384_000_000,
            PriceSource::List
        )
    );
    assert_eq!(m5[4].0, "us-east-1c");
    assert_eq!((m5[4].1, m5[4].3), (CapacityType::Spot, PriceSource::Model));
}

#[test]
fn the_core_computes_the_allocatable_of_the_facts() {
    let settings = us_east_1();
    let catalogue = catalogue(&settings).unwrap();
    for instance_type in catalogue.types() {
        let facts = crate::instance_type(instance_type.name.as_str()).unwrap();
        let expected = facts.room(&settings.class.room).unwrap().allocatable();
        assert_eq!(
            instance_type.allocatable(&instance_type.offerings[0]),
            expected,
            "{}",
            facts.name
        );
    }
}

#[test]
fn types_without_a_price_are_left_out_by_name() {
    let gone = left_out(&us_east_1()).unwrap();
    assert_eq!(gone.len(), 18);
    assert!(gone.contains(&("trn2.48xlarge", LeftOut::NoPrice)));
    let catalogue = catalogue(&us_east_1()).unwrap();
    assert!(gone.iter().all(|(name, _)| catalogue.get(name).is_none()));
}

#[test]
fn a_quote_replaces_the_model_where_there_is_one() {
    let mut settings = us_east_1();
    settings.capacity_types = CapacityTypes::SpotOnly;
    let quote = SpotQuote {
        price: PricePerHour::from_nanos(123),
        age_s: 60,
    };
    settings
        .spot_quotes
        .insert("m5.large", "us-east-1b", quote)
        .unwrap();
    let catalogue = catalogue(&settings).unwrap();
    let sources: Vec<_> = offers(&catalogue, "m5.large")
        .into_iter()
        .map(|offer| (offer.2 == 123, offer.3))
        .collect();
    assert_eq!(
        sources,
        [
            (false, PriceSource::Model),
            (true, PriceSource::Quote),
            (false, PriceSource::Model)
        ]
    );
    assert_eq!(
        catalogue.get("m5.large").unwrap().offerings[1].price_age_s,
        60
    );
}

#[test]
fn named_zones_replace_the_assumed_ones_and_bring_their_ids() {
    let zone = |name: &str, id: Option<&str>| Zone {
        name: name.to_owned(),
        id: id.map(str::to_owned),
    };
    let mut settings = us_east_1();
    settings.capacity_types = CapacityTypes::OnDemandOnly;
    settings.zones = Some(vec![
        zone("us-east-1f", None),
        zone("us-east-1d", Some("use1-az6")),
    ]);
    let catalogue = catalogue(&settings).unwrap();
    let offerings = &catalogue.get("m5.large").unwrap().offerings;
    let zones: Vec<_> = offerings
        .iter()
        .map(|offering| offering.zone.as_ref())
        .collect();
    assert_eq!(zones, ["us-east-1d", "us-east-1f"]);
    assert_eq!(
        offerings[0].requirements.to_string(),
        "topology.k8s.aws/zone-id In [use1-az6]"
    );
    assert!(offerings[1].requirements.is_empty());
}

#[test]
fn an_empty_list_of_zones_is_refused() {
    let settings = CatalogueSettings {
        zones: Some(Vec::new()),
        ..us_east_1()
    };
    assert_eq!(
        catalogue(&settings).unwrap_err().to_string(),
        "region us-east-1: the list of zones is empty; expected at least one, or no list to assume zones a, b and c"
    );
}

#[test]
fn a_region_in_yuan_needs_a_rate_and_an_unknown_region_is_refused() {
    let mut settings = CatalogueSettings::for_region("cn-north-1");
    assert!(
        catalogue(&settings)
            .unwrap_err()
            .to_string()
            .contains("expected an exchange rate to dollars")
    );
    settings.exchange_rate = ExchangeRate::from_nano_dollars_per_yuan(140_000_000);
    let catalogue_in_dollars = catalogue(&settings).unwrap();
    assert_eq!(offers(&catalogue_in_dollars, "c5.large")[1].2, 103_460_000);
    assert!(catalogue(&CatalogueSettings::for_region("mars-north-1")).is_err());
}

#[test]
fn absent_labels_are_refused_and_the_empty_hypervisor_of_bare_metal_is_not() {
    let catalogue = catalogue(&us_east_1()).unwrap();
    assert!(accepts(
        &catalogue,
        "g4dn.xlarge",
        "karpenter.k8s.aws/instance-gpu-name",
        "t4"
    ));
    assert!(!accepts(
        &catalogue,
        "m5.large",
        "karpenter.k8s.aws/instance-gpu-name",
        "t4"
    ));
    assert!(!accepts(
        &catalogue,
        "m5.large",
        "karpenter.k8s.aws/capacity-reservation-type",
        "default"
    ));
    assert!(!accepts(
        &catalogue,
        "m5.large",
        "topology.kubernetes.io/region",
        "eu-west-1"
    ));
    assert!(accepts(
        &catalogue,
        "m5.large",
        "karpenter.k8s.aws/instance-tenancy",
        "dedicated"
    ));
    assert!(accepts(
        &catalogue,
        "m5.metal",
        "karpenter.k8s.aws/instance-hypervisor",
        ""
    ));
    assert!(!accepts(
        &catalogue,
        "m5.metal",
        "karpenter.k8s.aws/instance-hypervisor",
        "nitro"
    ));
}

#[test]
fn every_well_known_label_of_the_provider_is_decided() {
    let catalogue = catalogue(&us_east_1()).unwrap();
    for instance_type in catalogue.types() {
        // The 28 keys of the provider less the reservation's id, which each offering decides; arch, os, type, region, Windows build.
        assert_eq!(
            instance_type.requirements.len(),
            27 + 5,
            "{}",
            instance_type.name
        );
        assert!(
            instance_type
                .requirements
                .iter()
                .all(|known| catalogue.is_well_known(known.key()))
        );
    }
}

#[test]
fn al2023_cannot_boot_the_first_arm_generation() {
    let mut settings = us_east_1();
    let available = |settings: &CatalogueSettings, name: &str| {
        catalogue(settings)
            .unwrap()
            .get(name)
            .unwrap()
            .offerings
            .iter()
            .all(|offering| offering.available)
    };
    assert!(!available(&settings, "a1.large"));
    assert!(available(&settings, "m6g.large"));
    settings.class.room.family = ImageFamily::Al2;
    assert!(available(&settings, "a1.large"));
}

#[test]
fn quotes_without_a_newer_one_stay_and_age() {
    let quote = |nanos, age_s| SpotQuote {
        price: PricePerHour::from_nanos(nanos),
        age_s,
    };
    let of = |own: &[(&str, SpotQuote)]| {
        let mut quotes = SpotQuotes::default();
        for (zone, quote) in own {
            quotes.insert("m5.large", zone, *quote).unwrap();
        }
        quotes
    };
    let mut quotes = of(&[("a", quote(1, 10)), ("b", quote(2, 20))]);
    quotes.renew(of(&[("b", quote(3, 5)), ("c", quote(4, 6))]), 3_600);
    assert_eq!(
        quotes,
        of(&[
            ("a", quote(1, 3_610)),
            ("b", quote(3, 5)),
            ("c", quote(4, 6))
        ])
    );
}

#[test]
fn a_quote_that_is_no_price_is_refused() {
    let mut quotes = SpotQuotes::default();
    for nanos in [0, -1] {
        let quote = SpotQuote {
            price: PricePerHour::from_nanos(nanos),
            age_s: 0,
        };
        assert!(
            quotes.insert("m5.large", "us-east-1a", quote).is_err(),
            "{nanos}"
        );
    }
    let free = SpotQuote {
        price: PricePerHour::ZERO,
        age_s: 0,
    };
    assert_eq!(
        quotes
            .insert("m5.large", "us-east-1a", free)
            .unwrap_err()
            .to_string(),
        "spot quote for m5.large in us-east-1a: price is $0.0000/h; expected more than 0"
    );
    assert_eq!(quotes, SpotQuotes::default(), "nothing was entered");
}
