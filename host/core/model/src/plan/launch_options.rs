//! The ways to buy a claim: how many one launch may name, how they are written on the claim, and all that its requirements allow.

use std::collections::BTreeSet;

use plimsoll_base::ids::TypeName;
use plimsoll_base::requirement::Requirements;
use plimsoll_base::resources::Resources;
use plimsoll_base::units::PricePerHour;

use crate::catalogue::{CapacityType, Catalogue, OfferingKey, OrderedBy, TypeOffering};
use crate::plan::LaunchOption;

/// Types that one launch is handed at most, as in Karpenter.
pub const MAX_LAUNCH_TYPES: usize = 60;
/// Ways to buy them that one launch is handed at most.
pub const MAX_LAUNCH_OPTIONS: usize = 300;
/// Types that a claim names at most, as in Karpenter.
pub const MAX_CLAIM_TYPES: usize = 600;

/// Writes options for [`LAUNCH_ORDER_ANNOTATION`](crate::catalogue::LAUNCH_ORDER_ANNOTATION), as many as one launch may name.
pub fn launch_order_text(options: &[LaunchOption]) -> String {
    let named = of_one_launch(options, |option| &option.instance_type).into_iter();
    let entries: Vec<String> = named.map(|option| option.offering().to_string()).collect();
    entries.join(",")
}

/// The ways to buy of a list, best first, that one launch may name: those of its first [`MAX_LAUNCH_TYPES`] types, at most
/// [`MAX_LAUNCH_OPTIONS`].
pub fn of_one_launch<T>(
    ways: impl IntoIterator<Item = T>,
    type_of: impl Fn(&T) -> &TypeName,
) -> Vec<T> {
    let mut types: BTreeSet<TypeName> = BTreeSet::new();
    let is_named = |way: &T| {
        let name = type_of(way);
        types.contains(name) || (types.len() < MAX_LAUNCH_TYPES && types.insert(name.clone()))
    };
    let named = ways.into_iter().filter(is_named);
    named.take(MAX_LAUNCH_OPTIONS).collect()
}

/// The rule that options are in the order of: list price, if those of each capacity type are, since one launch asks for one alone.
pub fn ordered_by(options: &[LaunchOption]) -> OrderedBy {
    let named = of_one_launch(options, |option| &option.instance_type);
    let is_sorted = |kind: CapacityType| {
        let of_kind = named.iter();
        let of_kind = of_kind.filter(|option| option.capacity_type == kind);
        of_kind.is_sorted_by_key(|option| option.list_price)
    };
    if CapacityType::ALL.into_iter().all(is_sorted) {
        OrderedBy::Price
    } else {
        OrderedBy::Policy
    }
}

/// An offering as a way to buy, where every new node costs so much beyond its instance.
pub fn launch_option(sold: TypeOffering<'_>, node_cost: PricePerHour) -> LaunchOption {
    let OfferingKey {
        instance_type,
        zone,
        capacity_type,
        reservation,
    } = sold.key();
    LaunchOption {
        instance_type,
        zone,
        capacity_type,
        reservation,
        price: sold.offering.price + node_cost,
        list_price: sold.offering.price,
    }
}

/// An offering as a way to buy, at its list price.
pub fn option(sold: TypeOffering<'_>) -> LaunchOption {
    launch_option(sold, PricePerHour::ZERO)
}

/// All offerings that requirements allow and requests fit on, to be had now or not, cheapest first.
pub fn sold<'c>(
    requirements: &Requirements,
    requests: &Resources,
    catalogue: &'c Catalogue,
) -> Vec<TypeOffering<'c>> {
    let mut found = catalogue.allowed(requirements);
    found.retain(|sold| sold.resources().allocatable.fits(requests));
    found.sort_by(|a, b| {
        let order = |sold: &TypeOffering<'c>| {
            let (instance_type, offering) = (sold.instance_type, sold.offering);
            (
                offering.price,
                &instance_type.name,
                &offering.zone,
                offering.capacity_type,
            )
        };
        order(a).cmp(&order(b))
    });
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::CapacityType::{OnDemand, Spot};

    fn by(options: &[(CapacityType, i64)]) -> OrderedBy {
        let option = |(capacity_type, nanos): &(CapacityType, i64)| LaunchOption {
            instance_type: "small".into(),
            zone: "zone-a".into(),
            capacity_type: *capacity_type,
            reservation: None,
            price: PricePerHour::ZERO,
            list_price: PricePerHour::from_nanos(*nanos),
        };
        let options: Vec<LaunchOption> = options.iter().map(option).collect();
        ordered_by(&options)
    }

    #[test]
    fn a_launch_names_all_ways_to_buy_sixty_types() {
        let zones = ["zone-a", "zone-b", "zone-c"];
        let list = |types: usize, zones: &[&str]| -> Vec<(TypeName, usize)> {
            let ways = (0..zones.len()).flat_map(|zone| (0..types).map(move |own| (own, zone)));
            let named = ways.map(|(own, zone)| (format!("type-{own}").as_str().into(), zone));
            named.collect()
        };
        let named = |types: usize, zones: &[&str]| {
            let named = of_one_launch(list(types, zones), |own| &own.0);
            let types: BTreeSet<TypeName> = named.iter().map(|own| own.0.clone()).collect();
            (types.len(), named.len())
        };
        assert_eq!(named(59, &zones), (59, 177));
        assert_eq!(named(61, &zones), (60, 180));
        assert_eq!(named(61, &["zone-a"]), (60, 60));
        assert_eq!(named(60, &["x"; 6]), (60, 300));
    }

    #[test]
    fn an_order_is_by_price_if_that_of_each_capacity_type_is() {
        assert_eq!(by(&[(Spot, 1), (Spot, 1), (OnDemand, 3)]), OrderedBy::Price);
        assert_eq!(by(&[(Spot, 4), (OnDemand, 3)]), OrderedBy::Price);
        assert_eq!(
            by(&[(Spot, 2), (OnDemand, 3), (Spot, 1)]),
            OrderedBy::Policy
        );
        assert_eq!(by(&[]), OrderedBy::Price);
    }
}
