//! The cloud: how long its calls took and how they failed, and what can be bought.

use std::collections::BTreeMap;
use std::sync::Arc;

use plimsoll_base::resources::ResourceName;
use plimsoll_model::action::{
    Answer, ClaimLaunch, CloudCall, Order, Outcome, Purpose, Reason, Request,
};
use plimsoll_model::catalogue::{CapacityType, Catalogues};

use super::amount;
use super::exposition::Exposition;
use super::families;
use super::keyed::{Counters, Histograms};

/// Figures of calls to the cloud.
#[derive(Clone, Debug)]
pub(crate) struct CloudMeters {
    calls: Histograms<3>,
    errors: Counters<4>,
}

impl Default for CloudMeters {
    fn default() -> Self {
        Self {
            calls: Histograms::new(&families::CLOUD_CALLS),
            errors: Counters::default(),
        }
    }
}

/// Karpenter's controller and method of an order to the cloud; `None` for any other.
fn labels(order: &Order) -> Option<[&'static str; 2]> {
    let Request::Cloud(call) = &order.request else {
        return None;
    };
    let controller = match order.purpose {
        Purpose::List => "nodeclaim.garbagecollection",
        Purpose::Terminate => "node.termination",
        _ => "nodeclaim.lifecycle",
    };
    let method = match call {
        CloudCall::Launch(_) => "Create",
        CloudCall::Terminate { .. } => "Delete",
        CloudCall::List => "List",
        CloudCall::Tag { .. } => "Tag",
        CloudCall::Get { .. } | CloudCall::Find(_) => "Get",
    };
    Some([controller, method])
}

/// The type of an error in Karpenter's words; empty for any that it has no word for.
const fn error(reason: &Reason) -> &'static str {
    match reason {
        Reason::InsufficientCapacity { .. } | Reason::ClassMissing(_) => {
            "InsufficientCapacityError"
        }
        Reason::NotFound => "NodeClaimNotFoundError",
        Reason::ClassNotReady(_) => "NodeClassNotReadyError",
        _ => "",
    }
}

/// Errors of a call: its own, or those of the claims that a launch got no instance for.
fn errors(outcome: &Outcome) -> Vec<&'static str> {
    match outcome {
        Outcome::Done(Answer::Launched(answer)) => {
            let refused = answer.claims.iter().filter_map(|claim| match claim {
                ClaimLaunch::Refused(reason) => Some(error(reason)),
                _ => None,
            });
            refused.collect()
        }
        Outcome::Done(_) => Vec::new(),
        Outcome::Refused(reason) => vec![error(reason)],
        Outcome::Conflict | Outcome::Unknown => vec![""],
    }
}

impl CloudMeters {
    /// An order has ended after so many seconds.
    pub(crate) fn ended(&mut self, order: &Order, outcome: &Outcome, took: f64, provider: &str) {
        let Some([controller, method]) = labels(order) else {
            return;
        };
        let labels = [controller, method, provider].map(Arc::from);
        self.calls.observe(labels, took);
        for error in errors(outcome) {
            let labels = [controller, method, provider, error];
            self.errors.add(labels.map(Arc::from), 1);
        }
    }

    pub(crate) fn write(&self, out: &mut Exposition) {
        out.histograms(&families::CLOUD_CALLS, &self.calls);
        out.counters(&families::CLOUD_ERRORS, &self.errors);
    }
}

/// An offering by its type, capacity type and zone: whether it can be had, and its least price. Reservations count as one.
type Offered<'c> = BTreeMap<(&'c str, CapacityType, &'c str), (bool, f64)>;

/// Types and offerings.
pub(crate) fn write(out: &mut Exposition, catalogues: &Catalogues) {
    let types = catalogues.of_others().types();
    let mut offered = Offered::new();
    for sold in types {
        for offering in &sold.offerings {
            let key = (sold.name.as_str(), offering.capacity_type, &*offering.zone);
            let price = offering.price.dollars();
            let own = offered.entry(key).or_insert((false, price));
            *own = (own.0 || offering.available, own.1.min(price));
        }
    }
    let mut samples = out.family(&families::OFFERING_AVAILABLE);
    for ((name, capacity_type, zone), (is_available, _)) in &offered {
        let value = if *is_available { 1.0 } else { 0.0 };
        samples.sample(&[name, capacity_type.as_str(), zone], value);
    }
    let mut samples = out.family(&families::OFFERING_PRICE);
    for ((name, capacity_type, zone), (_, price)) in &offered {
        samples.sample(&[name, capacity_type.as_str(), zone], *price);
    }
    for (family, resource) in [
        (&families::TYPE_CPU, ResourceName::Cpu),
        (&families::TYPE_MEMORY, ResourceName::Memory),
    ] {
        let mut samples = out.family(family);
        for sold in types {
            let has = sold.capacity.get(&resource);
            samples.sample(&[sold.name.as_str()], amount(&resource, has));
        }
    }
}
