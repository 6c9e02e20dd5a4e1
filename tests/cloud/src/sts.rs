//! STS: who calls.

use serde_json::{Value, json};

use crate::fault::Fault;
use crate::world::World;

pub(crate) fn answer(world: &World, operation: &str) -> Result<Value, Fault> {
    match operation {
        "GetCallerIdentity" => Ok(json!({
            "Account": world.account,
            "Arn": format!("arn:aws:sts::{}:assumed-role/plimsoll/test", world.account),
            "UserId": "AROA00000000000000000:test",
        })),
        other => Err(Fault::unknown(other)),
    }
}
