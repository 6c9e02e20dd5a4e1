//! SSM: parameters.

use serde_json::{Value, json};

use crate::fault::Fault;
use crate::world::World;

pub(crate) fn answer(world: &World, operation: &str, input: &Value) -> Result<Value, Fault> {
    match operation {
        "GetParameter" => {
            let name = input["Name"].as_str().unwrap_or_default();
            // An ARN names the parameter behind its kind.
            let own = name.split_once(":parameter").map_or(name, |(_, name)| name);
            let Some(value) = world.parameters.get(own) else {
                return Err(Fault::new("ParameterNotFound", ""));
            };
            Ok(json!({"Parameter": {"Name": own, "Type": "String", "Value": value, "Version": 1}}))
        }
        other => Err(Fault::unknown(other)),
    }
}
