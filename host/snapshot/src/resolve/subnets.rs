//! Subnets for new nodes: each named once, in a zone where something is sold, with the addresses that it has free.

use std::collections::BTreeSet;
use std::sync::Arc;

use plimsoll_base::words::shortened;
use plimsoll_model::catalogue::{Catalogues, Subnet};

use crate::section::SubnetEntry;

/// The subnets, or a sentence about the first that makes no sense.
pub(super) fn subnets(
    entries: &[SubnetEntry],
    catalogues: &Catalogues,
) -> Result<Vec<Subnet>, String> {
    let types = catalogues.distinct().iter();
    let types = types.flat_map(|catalogue| catalogue.types());
    let zones: BTreeSet<Arc<str>> = types
        .flat_map(|sold| &sold.offerings)
        .map(|offering| Arc::clone(&offering.zone))
        .collect();
    let mut names: BTreeSet<&str> = BTreeSet::new();
    let read = |(at, entry): (usize, &'_ SubnetEntry)| {
        let SubnetEntry { id, zone, .. } = entry;
        if id.is_empty() {
            let expected = "expected an id such as subnet-0a1b2c3d";
            return Err(format!("subnets[{at}].id is missing; {expected}"));
        }
        let path = format!("subnets[{at}] {id}:");
        let Some(zone) = zones.get(zone.as_str()) else {
            let known = shortened(&zones);
            return Err(format!(
                "{path} zone is \"{zone}\"; expected a zone of the catalogue ({known})"
            ));
        };
        let expected = "expected a whole number from 0 to 4294967295";
        let Some(free) = entry.free_addresses else {
            return Err(format!("{path} freeAddresses is missing; {expected}"));
        };
        let free = u32::try_from(free)
            .map_err(|_| format!("{path} freeAddresses is {free}; {expected}"))?;
        Ok(Subnet {
            id: Arc::from(id.as_str()),
            zone: Arc::clone(zone),
            free,
        })
    };
    for (at, entry) in entries.iter().enumerate() {
        if !entry.id.is_empty() && !names.insert(&entry.id) {
            let id = &entry.id;
            return Err(format!(
                "subnets[{at}].id is \"{id}\", like that of an earlier one; expected every subnet once"
            ));
        }
    }
    entries.iter().enumerate().map(read).collect()
}
