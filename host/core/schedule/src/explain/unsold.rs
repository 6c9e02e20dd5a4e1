//! Reasons why a pool has nothing to buy.

use plimsoll_base::requirement::{Requirements, Undefined};
use plimsoll_base::resources::{ResourceName, Resources};
use plimsoll_model::catalogue::InstanceType;

use crate::batch::compile::Compiled;

/// In words: what keeps every offering from a pool.
pub(crate) fn empty(compiled: &Compiled<'_>, number: usize) -> String {
    let template = &compiled.templates[number];
    let (provider, types) = (template.catalogue.provider(), template.catalogue.types());
    let agrees = |sold: &&std::sync::Arc<InstanceType>| {
        let accepts = |own: &Requirements| {
            template
                .requirements
                .accepts(own, Undefined::Ignored)
                .is_ok()
        };
        accepts(&sold.requirements)
            && sold
                .offerings
                .iter()
                .any(|offering| accepts(&offering.node_requirements(provider)))
    };
    let agreeing: Vec<_> = types.iter().filter(agrees).collect();
    if agreeing.is_empty() {
        return "no available instance type meets its requirements".to_owned();
    }
    let on_sale = |sold: &&&std::sync::Arc<InstanceType>| {
        sold.offerings.iter().any(|offering| {
            let own = offering.node_requirements(provider);
            offering.available
                && template
                    .requirements
                    .accepts(&own, Undefined::Ignored)
                    .is_ok()
        })
    };
    let on_sale: Vec<_> = agreeing.iter().filter(on_sale).collect();
    let Some(smallest) = on_sale
        .iter()
        .min_by_key(|sold| (sold.capacity.get(&ResourceName::Cpu), sold.name.clone()))
    else {
        return "all that its requirements allow is sold out, or its node class cannot launch it"
            .to_owned();
    };
    match &template.remaining {
        Some(left) => {
            let one = smallest.capacity.clone().with(ResourceName::Nodes, 1);
            let asked: Resources = left
                .iter()
                .map(|(name, _)| (name.clone(), one.get(name)))
                .collect();
            format!(
                "its limits leave no room: {left} left, the smallest type it may buy, {}, has {asked}",
                smallest.name
            )
        }
        None => "daemons leave no room on any type that its requirements allow".to_owned(),
    }
}
