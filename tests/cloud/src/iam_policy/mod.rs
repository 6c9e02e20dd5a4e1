//! Rights: a world that was given policy documents answers calls that they allow, and refuses all others in the words of their service.
//!
//! A call asks for an action on each resource that it is about, those that it would make among them, with the tags that it sends; it is
//! answered if each of these is allowed. What is not there is left to the service, which says so.

mod condition;
mod document;
mod launch;
mod pattern;
mod request;
mod right;
#[cfg(test)]
mod tests;

use serde_json::Value;

pub use document::{Policy, PolicyError};
pub use right::AskedRight;

use crate::call::Service;
use crate::fault::Fault;
use crate::sts;
use crate::world::World;
use document::Decision;

/// The refusal of a call, signed for a region, that documents do not allow; `None` where they do, and in a world that was given none.
pub(crate) fn denial(
    world: &mut World,
    (service, region): (Service, &str),
    operation: &str,
    input: &Value,
) -> Option<Fault> {
    world.policies.as_ref()?;
    // A caller that takes a role by a token has no rights yet.
    if operation == sts::BY_TOKEN {
        return None;
    }
    let asked = request::of_call(world, (service, region), operation, input);
    judge(world, service, asked)
}

/// The refusal of the instances of a fleet, which its caller's rights must cover as if they were run one by one.
pub(crate) fn fleet_denial(world: &mut World, input: &Value) -> Option<Fault> {
    world.policies.as_ref()?;
    let asked = launch::of_instances(world, &world.region, input);
    judge(world, Service::Ec2, asked)
}

/// Takes note of rights that are asked for, and refuses the first that is not allowed.
fn judge(world: &mut World, service: Service, asked: Vec<AskedRight>) -> Option<Fault> {
    let policies = world.policies.as_deref().unwrap_or_default();
    let decide = |right: &AskedRight| {
        let decisions = policies.iter().map(|policy| policy.decides(right));
        let decisions: Vec<Decision> = decisions.collect();
        if decisions.contains(&Decision::Denied) {
            Decision::Denied
        } else if decisions.contains(&Decision::Allowed) {
            Decision::Allowed
        } else {
            Decision::NotAllowed
        }
    };
    let decided = asked.iter().map(|right| (right, decide(right)));
    let refused = decided
        .filter(|(_, decision)| *decision != Decision::Allowed)
        .map(|(right, decision)| refusal(world, service, right, decision))
        .next();
    world.asked_rights.extend(asked);
    refused
}

fn refusal(world: &World, service: Service, right: &AskedRight, decision: Decision) -> Fault {
    let user = format!("arn:aws:sts::{}:assumed-role/plimsoll/test", world.account);
    let why = match decision {
        Decision::Denied => "with an explicit deny in an identity-based policy".to_owned(),
        _ => format!(
            "because no identity-based policy allows the {} action",
            right.action
        ),
    };
    let words = format!("User: {user} is not authorized to perform: {right} {why}");
    match service {
        Service::Ec2 => {
            let words = format!("You are not authorized to perform this operation. {words}");
            Fault::new("UnauthorizedOperation", words).with_status(403)
        }
        Service::Iam | Service::Sqs | Service::Sts => {
            Fault::new("AccessDenied", words).with_status(403)
        }
        Service::Eks => Fault::new("AccessDeniedException", words).with_status(403),
        Service::Pricing | Service::Ssm => Fault::new("AccessDeniedException", words),
    }
}
