//! The nearest thing that would have held a pod: on sale or not, outside the pool's requirements or its limits.

use super::compile::{Compiled, Level, PodGroup};
use super::daemons::Daemons;
use super::templates::Template;
use crate::catalog::{InstanceType, Offering};
use crate::requirement::Undefined;
use crate::resources::{ResourceName, Resources};

/// The offering that would hold a pod of the group and breaks the fewest of the pool's rules, cheapest first, in words.
pub(super) fn nearest(
    compiled: &Compiled<'_>,
    group: &PodGroup,
    level: &Level,
    number: usize,
) -> Option<String> {
    let template = &compiled.templates[number];
    let mut daemons = Daemons::of(compiled.snapshot, template);
    let mut best: Option<(usize, i64, String)> = None;
    for sold in compiled.snapshot.catalogue.types() {
        let overhead = daemons.overhead(template, sold);
        for offering in &sold.offerings {
            let mut needed = group.spec.requests.clone();
            needed.add(&overhead.requests);
            if !serves(group, level, sold, offering) || !holds(&sold.allocatable(offering), &needed)
            {
                continue;
            }
            let broken = broken(template, sold, offering);
            let key = (broken.len(), offering.price.nanos());
            let closer = best
                .as_ref()
                .is_none_or(|(count, price, _)| key < (*count, *price));
            if !broken.is_empty() && closer {
                let text = format!(
                    "{} in zone {}, {}, would fit, but {}",
                    sold.name,
                    offering.zone,
                    offering.capacity_type,
                    broken.join(" and ")
                );
                best = Some((key.0, key.1, text));
            }
        }
    }
    best.map(|(_, _, text)| text)
}

/// Whether an offering is what the pod and its volumes ask for.
fn serves(group: &PodGroup, level: &Level, sold: &InstanceType, offering: &Offering) -> bool {
    let own = sold.requirements.intersect(&offering.node_requirements());
    let accepts = |asked| own.accepts(asked, Undefined::Ignored).is_ok();
    accepts(&level.requirements) && group.alternatives.iter().any(accepts)
}

fn holds(room: &Resources, needed: &Resources) -> bool {
    let mut amounts = needed.iter();
    amounts.all(|(name, amount)| amount <= room.get(name))
}

/// The rules of a pool that keep an offering from it.
fn broken(template: &Template, sold: &InstanceType, offering: &Offering) -> Vec<String> {
    let mut result = Vec::new();
    for own in [sold.requirements.clone(), offering.node_requirements()] {
        let refused = template.requirements.iter().filter(|required| {
            own.get(required.key().as_str()).is_some_and(|have| {
                let both_absent = have.allows_absence() && required.allows_absence();
                !(both_absent || have.overlaps(required))
            })
        });
        result.extend(refused.map(|required| format!("the pool asks for {required}")));
    }
    if !offering.available {
        result.push("it is sold out".to_owned());
    }
    if let Some(left) = &template.remaining {
        let one = sold.capacity.clone().with(ResourceName::Nodes, 1);
        let over = left.iter().filter(|(name, left)| one.get(name) > *left);
        let over: Resources = over.map(|(name, left)| (name.clone(), left)).collect();
        if !over.is_empty() {
            result.push(format!("the pool's limits leave {over}"));
        }
    }
    result
}
