//! Resource lists: names and quantities to amounts.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use plimsoll_base::resources::Resources;

use crate::error::FieldError;
use crate::intern::Interner;

/// Reads a resource list; the path of an error is the resource's name.
pub(super) fn amounts(
    list: &BTreeMap<String, Quantity>,
    interner: &mut Interner,
) -> Result<Resources, FieldError> {
    list.iter()
        .map(|(name, quantity)| {
            let resource = interner.resource(name);
            let amount = resource
                .parse_amount(&quantity.0)
                .map_err(|error| FieldError::from(error).within(name))?;
            Ok((resource, amount))
        })
        .collect()
}

/// Reads a resource list that may be absent.
pub(super) fn amounts_or_none(
    list: Option<&BTreeMap<String, Quantity>>,
    interner: &mut Interner,
) -> Result<Resources, FieldError> {
    list.map_or_else(|| Ok(Resources::new()), |list| amounts(list, interner))
}
