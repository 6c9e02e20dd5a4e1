//! The ways to buy a claim: how many one launch may name, how they are written on the claim, and all that its requirements allow.

use crate::catalogue::{Catalogue, OfferingKey, TypeOffering};
use crate::plan::LaunchOption;
use crate::requirement::Requirements;
use crate::resources::Resources;
use crate::units::PricePerHour;

/// Types that one launch is handed at most, as the incumbent's are; and no more ways to buy them.
pub const MAX_LAUNCH_TYPES: usize = 60;
/// Types that a claim names at most, as the incumbent's do.
pub const MAX_CLAIM_TYPES: usize = 600;

/// Writes options for [`LAUNCH_ORDER_ANNOTATION`](crate::catalogue::LAUNCH_ORDER_ANNOTATION), as many as one launch may name.
pub fn launch_order_text(options: &[LaunchOption]) -> String {
    let named = options.iter().take(MAX_LAUNCH_TYPES);
    let entries: Vec<String> = named.map(|option| option.offering().to_string()).collect();
    entries.join(",")
}

/// An offering as a way to buy, where every new node costs so much beyond its instance.
pub(crate) fn launch_option(sold: TypeOffering<'_>, node_cost: PricePerHour) -> LaunchOption {
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
pub(crate) fn option(sold: TypeOffering<'_>) -> LaunchOption {
    launch_option(sold, PricePerHour::ZERO)
}

/// All offerings that requirements allow and requests fit on, to be had now or not, cheapest first.
pub(crate) fn sold<'c>(
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
