//! Status of instances: what EC2 finds wrong with them, and what it has scheduled.

use std::time::SystemTime;

use serde_json::{Value, json};

use super::filter::{filters, passes};
use super::instances::{known, state_of};
use super::page::{Sizes, page};
use super::texts;
use crate::clock::rfc3339;
use crate::fault::Fault;
use crate::world::{Instance, State, World};

pub(super) fn describe(world: &World, input: &Value) -> Result<Value, Fault> {
    let (filters, ids) = (filters(input)?, texts(input, "InstanceId"));
    let shows_all = input["IncludeAllInstances"] == "true";
    let mut found = Vec::new();
    for (instance, state) in known(world, &ids)? {
        let health = &instance.health;
        let values = |name: &str| {
            Some(match name {
                "instance-status.status" => vec![word(state, health.instance_impaired).to_owned()],
                "system-status.status" => vec![word(state, health.system_impaired).to_owned()],
                "event.code" => health.events.clone(),
                "availability-zone" => vec![instance.zone.clone()],
                "instance-state-name" => vec![state.name().to_owned()],
                _ => return None,
            })
        };
        let is_shown = shows_all || state == State::Running;
        if is_shown && passes(&filters, &instance.tags, values)? {
            found.push((instance, state));
        }
    }
    page(input, "instanceStatusSet", &Sizes::USUAL, &found, |own| {
        described(world, own.0, own.1)
    })
}

/// A status in one word.
fn word(state: State, impaired: Option<SystemTime>) -> &'static str {
    match (state, impaired) {
        (State::Running, Some(_)) => "impaired",
        (State::Running, None) => "ok",
        (State::Pending, _) => "initializing",
        _ => "not-applicable",
    }
}

fn described(world: &World, instance: &Instance, state: State) -> Value {
    let status = |impaired: Option<SystemTime>| {
        let word = word(state, impaired);
        let detail = match word {
            "impaired" => "failed",
            "ok" => "passed",
            other => other,
        };
        let since = impaired.map(rfc3339);
        json!({
            "status": word,
            "details": [{"name": "reachability", "status": detail, "impairedSince": since}],
        })
    };
    let events = instance.health.events.iter().enumerate();
    let events = events.map(|(number, code)| {
        json!({
            "instanceEventId": format!("{}-{number}", instance.id.replace("i-", "instance-event-")),
            "code": code,
            "description": "The instance is scheduled for this",
            "notBefore": rfc3339(world.now()),
        })
    });
    json!({
        "instanceId": instance.id,
        "availabilityZone": instance.zone,
        "instanceState": state_of(state),
        "instanceStatus": status(instance.health.instance_impaired),
        "systemStatus": status(instance.health.system_impaired),
        "eventsSet": events.collect::<Vec<_>>(),
    })
}
