//! Everything that the cloud holds.

mod demo;
mod instance;
mod market;
mod queue;

use std::collections::{BTreeMap, BTreeSet};
use std::time::SystemTime;

use plimsoll_base::units::PricePerHour;
use plimsoll_ec2_facts::InstanceType;
use serde_json::Value;

use crate::clock::Clock;
use crate::fault::{Fault, ScriptedFault};
use crate::iam_policy::{AskedRight, Policy};
use crate::rate::{Rate, Tokens};
use crate::sts::Trust;

pub use instance::{Delays, Health, Instance, State, StateReason};
pub use market::CapacityPool;
pub(crate) use market::dollars;
pub use queue::{Message, Queue};

/// Tags by key.
pub type Tags = BTreeMap<String, String>;

/// A cloud of one account in one region. Its fields are what there is; tests change them as they like.
#[derive(Clone, Debug, Default)]
pub struct World {
    /// The time that it is there.
    pub clock: Clock,
    /// The region.
    pub region: String,
    /// Number of the account, twelve digits.
    pub account: String,
    /// Zones of the region, by name.
    pub zones: Vec<String>,
    /// Subnets, in the order in which they are listed.
    pub subnets: Vec<Subnet>,
    /// Security groups.
    pub security_groups: Vec<SecurityGroup>,
    /// Images.
    pub images: Vec<Image>,
    /// Values of parameters by name.
    pub parameters: BTreeMap<String, String>,
    /// Names of roles.
    pub roles: Vec<String>,
    /// Whom roles let in by a token, by name of the role; none where it is not here.
    pub trusts: BTreeMap<String, Trust>,
    /// Instance profiles by name.
    pub instance_profiles: BTreeMap<String, InstanceProfile>,
    /// Clusters of EKS by name.
    pub clusters: BTreeMap<String, Cluster>,
    /// Launch templates, in the order in which they were made.
    pub launch_templates: Vec<LaunchTemplate>,
    /// Instances by id, and so in the order in which they were launched.
    pub instances: BTreeMap<String, Instance>,
    /// How long an instance takes for its life.
    pub delays: Delays,
    /// Why instances that are launched from now on end at once, instead of running; `None` where they run.
    pub start_failure: Option<StateReason>,
    /// Why instances have ended or are ending, by id.
    pub state_reasons: BTreeMap<String, StateReason>,
    /// Instance types that there are; empty for all that are known.
    pub types: BTreeSet<String>,
    /// Types that the tables do not have, beside those that they do.
    pub more_types: Vec<&'static InstanceType>,
    /// Types that there are on demand alone.
    pub without_spot: BTreeSet<String>,
    /// Types that a zone does not have: type, then zone.
    pub not_offered: BTreeSet<(String, String)>,
    /// Instances that can still be launched; without limit in pools that are not here. What is terminated does not come back.
    pub stock: BTreeMap<CapacityPool, u32>,
    /// On-demand prices by type, in place of the list price.
    pub on_demand_prices: BTreeMap<String, PricePerHour>,
    /// Items of the price list, each a text, in place of those of the types: first those of virtual machines, then those of bare metal.
    pub price_items: Option<[Vec<String>; 2]>,
    /// Spot prices by type and zone, in place of a share of the on-demand price.
    pub spot_prices: BTreeMap<(String, String), PricePerHour>,
    /// Queues by name.
    pub queues: BTreeMap<String, Queue>,
    /// Queue that hears of changes of state of instances, as by a rule of EventBridge; `None` where there is no rule.
    pub state_changes: Option<String>,
    /// Policy documents of the caller's role: calls that they do not allow are refused. `None` for a caller who may do all.
    pub policies: Option<Vec<Policy>>,
    /// Rights that calls have asked for since there were documents, those that were refused among them.
    pub asked_rights: BTreeSet<AskedRight>,
    /// Faults to come; of several that fit a call the first is taken.
    pub faults: Vec<ScriptedFault>,
    /// Rates at which operations may be called, by name; without limit for those that are not here.
    pub rates: BTreeMap<String, Rate>,
    /// Rates for the instances that calls of an operation name; without limit likewise.
    pub instance_rates: BTreeMap<String, Rate>,
    tokens: BTreeMap<String, Tokens>,
    instance_tokens: BTreeMap<String, Tokens>,
    answered: BTreeMap<(String, String), (Value, Value)>,
    last_id: u64,
}

/// A launch template.
#[derive(Clone, Debug, PartialEq)]
pub struct LaunchTemplate {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// When it was made.
    pub created: SystemTime,
    /// Its tags.
    pub tags: Tags,
    /// Its content, as the tree of the request.
    pub data: Value,
}

/// A subnet.
#[derive(Clone, Debug, Default)]
pub struct Subnet {
    /// Its id.
    pub id: String,
    /// Its zone by name.
    pub zone: String,
    /// Its zone by id.
    pub zone_id: String,
    /// Addresses that are free where no instance is in it.
    pub free_addresses: u32,
    /// Its tags.
    pub tags: Tags,
}

/// A security group.
#[derive(Clone, Debug, Default)]
pub struct SecurityGroup {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Its tags.
    pub tags: Tags,
}

/// An image.
#[derive(Clone, Debug, Default)]
pub struct Image {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// `x86_64` or `arm64`.
    pub architecture: String,
    /// When it was made, as RFC 3339.
    pub created: String,
    /// When it is deprecated, as RFC 3339; `None` for never.
    pub deprecated: Option<String>,
    /// Account or alias that owns it.
    pub owner: String,
    /// Its tags.
    pub tags: Tags,
}

/// An instance profile.
#[derive(Clone, Debug, Default)]
pub struct InstanceProfile {
    /// Its path.
    pub path: String,
    /// Its role, if it has one.
    pub role: Option<String>,
    /// Its tags.
    pub tags: Tags,
}

/// A cluster of EKS.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cluster {
    /// Addresses of its services.
    pub service_cidr: String,
    /// URL of its API server.
    pub endpoint: String,
    /// Its Kubernetes version, such as `1.36`.
    pub version: String,
    /// Certificate of its authority as PEM in base64.
    pub certificate_authority: String,
}

impl World {
    /// An empty one in `us-east-1` with three zones.
    pub fn new() -> Self {
        let region = "us-east-1";
        Self {
            region: region.to_owned(),
            account: "111122223333".to_owned(),
            zones: ["a", "b", "c"].map(|zone| format!("{region}{zone}")).into(),
            ..Self::default()
        }
    }

    /// The time that it is there.
    pub fn now(&self) -> SystemTime {
        self.clock.now()
    }

    /// An id that nothing else has, such as `i-00000000000000001`.
    pub fn next_id(&mut self, prefix: &str) -> String {
        self.last_id += 1;
        format!("{prefix}-{:017x}", self.last_id)
    }

    /// The fault that a call meets now, which is one the fewer; `None` where it goes its way. `applies` says of a fault of that operation
    /// if the call is one that it is for.
    pub(crate) fn take_fault(
        &mut self,
        operation: &str,
        applies: impl Fn(&ScriptedFault) -> bool,
    ) -> Option<crate::Effect> {
        let fits = |fault: &&mut ScriptedFault| {
            fault.times > 0 && fault.operation == operation && applies(fault)
        };
        let fault = self.faults.iter_mut().find(fits)?;
        fault.times -= 1;
        Some(fault.effect.clone())
    }

    /// Takes a token for a call of an operation, and one for each of the instances that it names; `false` where there are too few.
    pub(crate) fn take_tokens(&mut self, operation: &str, instances: usize) -> bool {
        let now = self.clock.now();
        let named = f64::from(u32::try_from(instances).unwrap_or(u32::MAX));
        let buckets = [
            (&self.rates, &mut self.tokens, 1.0),
            (&self.instance_rates, &mut self.instance_tokens, named),
        ];
        let mut paid = Vec::new();
        for (rates, tokens, count) in buckets {
            let Some(rate) = rates.get(operation).copied() else {
                continue;
            };
            let own = tokens.entry(operation.to_owned());
            let own = own.or_insert_with(|| Tokens::full(rate, now));
            if !own.has(count, rate, now) {
                return false;
            }
            paid.push((own, count));
        }
        for (own, count) in paid {
            own.take(count);
        }
        true
    }

    /// Answers a call with a client token once: another call with the token gets the same answer if it asks for the same, and an error
    /// if it asks for something else. Errors are not kept.
    pub(crate) fn once(
        &mut self,
        operation: &str,
        input: &Value,
        act: impl FnOnce(&mut Self) -> Result<Value, Fault>,
    ) -> Result<Value, Fault> {
        let token = input["ClientToken"].as_str().unwrap_or_default().to_owned();
        if token.is_empty() {
            return act(self);
        }
        let key = (operation.to_owned(), token);
        if let Some((first, answer)) = self.answered.get(&key) {
            return if first == input {
                Ok(answer.clone())
            } else {
                let message = "Arguments on this idempotent request are inconsistent with arguments used in previous request(s).";
                Err(Fault::new("IdempotentParameterMismatch", message))
            };
        }
        let answer = act(self)?;
        self.answered.insert(key, (input.clone(), answer.clone()));
        Ok(answer)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_token_gives_the_first_answer_again_and_none_to_other_parameters() {
        let mut world = World::new();
        let mut ask = |token: &str, count: u32| {
            let input = json!({"ClientToken": token, "Count": count});
            world.once("CreateFleet", &input, |world| Ok(json!(world.next_id("i"))))
        };
        let first = ask("a", 1).expect("an answer");
        assert_eq!(ask("a", 1), Ok(first.clone()));
        assert_ne!(ask("b", 1), Ok(first));
        let refused = ask("a", 2).expect_err("other parameters");
        assert_eq!(refused.code, "IdempotentParameterMismatch");
        assert_ne!(ask("", 1), ask("", 1));
    }

    #[test]
    fn an_error_is_not_kept_for_its_token() {
        let mut world = World::new();
        let input = json!({"ClientToken": "a"});
        let failed = world.once("CreateFleet", &input, |_| {
            Err(Fault::new("InternalError", ""))
        });
        failed.expect_err("failed");
        let again = world.once("CreateFleet", &input, |_| Ok(json!("fine")));
        assert_eq!(again, Ok(json!("fine")));
    }
}
