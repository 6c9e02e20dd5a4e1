//! Free addresses of subnets: what zones have left to give to new nodes and their pods, as far as is known.
//!
//! Every class may use every subnet that is listed, and a zone has what its subnets have together. A zone without a subnet
//! here is one of which nothing is known.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// A subnet that new nodes may be put in.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Subnet {
    /// Its id, such as `subnet-0a1b2c3d`.
    pub id: Arc<str>,
    /// The zone it lies in.
    pub zone: Arc<str>,
    /// Free addresses.
    pub free: u32,
}

/// Free addresses by zone.
pub(super) fn free_by_zone(subnets: &[Subnet]) -> BTreeMap<Arc<str>, i64> {
    let mut result: BTreeMap<Arc<str>, i64> = BTreeMap::new();
    for subnet in subnets {
        *result.entry(Arc::clone(&subnet.zone)).or_default() += i64::from(subnet.free);
    }
    result
}
