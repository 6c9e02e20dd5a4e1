//! The nearest thing that would have held a pod: on sale or not, outside the pool's requirements or its limits.

use crate::catalogue::{InstanceType, Offering};
use crate::provider::ProviderFacts;
use crate::requirement::Requirement;
use crate::resources::{ResourceName, Resources};
use crate::schedule::batch::compile::Compiled;
use crate::schedule::batch::pod_group::{Level, PodGroup};
use crate::schedule::offers::daemons::Daemons;
use crate::schedule::offers::templates::Template;

/// The offering that would hold a pod of the group and breaks the fewest of the pool's rules, cheapest first, in words.
pub(crate) fn nearest(
    compiled: &Compiled<'_>,
    group: &PodGroup,
    level: &Level,
    number: usize,
) -> Option<String> {
    let template = &compiled.templates[number];
    let mut daemons = Daemons::of(compiled.snapshot, template);
    let provider = compiled.snapshot.catalogues.provider();
    let mut best: Option<(usize, i64, String)> = None;
    let listed = compiled.snapshot.catalogues.of(&template.pool.class);
    for sold in listed.types() {
        let of_type = daemons.of_type(template, sold);
        for offering in &sold.offerings {
            let price = offering.price.nanos();
            // One rule is the least that is broken, so nothing dearer than such an offering is nearer.
            let beaten = best
                .as_ref()
                .is_some_and(|(count, least, _)| *count == 1 && *least <= price);
            if beaten || !serves(provider, group, level, sold, offering) {
                continue;
            }
            let own = offering.node_requirements(provider);
            let mut needed = group.spec.requests.clone();
            needed.add(&daemons.overhead(&of_type, &own).requests);
            if !holds(&sold.allocatable(offering), &needed) {
                continue;
            }
            let broken = broken(provider, template, sold, offering);
            let closer = best
                .as_ref()
                .is_none_or(|(count, least, _)| (broken.len(), price) < (*count, *least));
            if !broken.is_empty() && closer {
                let text = format!(
                    "{} in zone {}, {}, would fit, but {}",
                    sold.name,
                    offering.zone,
                    offering.capacity_type,
                    broken.join(" and ")
                );
                best = Some((broken.len(), price, text));
            }
        }
    }
    best.map(|(_, _, text)| text)
}

/// `true` if an offering is what the pod and its volumes ask for.
fn serves(
    provider: &ProviderFacts,
    group: &PodGroup,
    level: &Level,
    sold: &InstanceType,
    offering: &Offering,
) -> bool {
    let agrees = |asked: &Requirement| {
        let of_type = sold.requirements.get(asked.key().as_str());
        let of_offering = offering.node_requirement(provider, asked.key());
        let have = match (of_type, of_offering) {
            (Some(of_type), Some(of_offering)) => Some(of_type.intersect(&of_offering)),
            (of_type, of_offering) => of_offering.or_else(|| of_type.cloned()),
        };
        have.is_none_or(|have| have.agrees_with(asked))
    };
    let mut alternatives = group.alternatives.iter();
    level.requirements.iter().all(agrees) && alternatives.any(|volumes| volumes.iter().all(agrees))
}

fn holds(room: &Resources, needed: &Resources) -> bool {
    let mut amounts = needed.iter();
    amounts.all(|(name, amount)| amount <= room.get(name))
}

/// The rules of a pool that keep an offering from it.
fn broken(
    provider: &ProviderFacts,
    template: &Template,
    sold: &InstanceType,
    offering: &Offering,
) -> Vec<String> {
    let mut result = Vec::new();
    let asks = |required: &Requirement| format!("the NodePool requires {required}");
    for required in template.requirements.iter() {
        let have = sold.requirements.get(required.key().as_str());
        if have.is_some_and(|have| !have.agrees_with(required)) {
            result.push(asks(required));
        }
    }
    for required in template.requirements.iter() {
        let have = offering.node_requirement(provider, required.key());
        if have.is_some_and(|have| !have.agrees_with(required)) {
            result.push(asks(required));
        }
    }
    if !offering.available {
        result.push("it is sold out, or its node class cannot launch it".to_owned());
    }
    if let Some(left) = &template.remaining {
        let one = sold.capacity_of(offering).with(ResourceName::Nodes, 1);
        let over = left.iter().filter(|(name, left)| one.get(name) > *left);
        let over: Resources = over.map(|(name, left)| (name.clone(), left)).collect();
        if !over.is_empty() {
            result.push(format!("the pool's limits leave {over}"));
        }
    }
    result
}
