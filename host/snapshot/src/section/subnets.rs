//! Subnets as they are written.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A subnet that new nodes may be put in, whatever their class.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct SubnetEntry {
    /// Its id, such as `subnet-0a1b2c3d`.
    pub id: String,
    /// The zone it lies in, such as `us-east-1a`.
    pub zone: String,
    /// Free addresses: `AvailableIpAddressCount` of EC2.
    #[schemars(range(min = 0, max = 4_294_967_295_i64))]
    pub free_addresses: Option<i64>,
}
