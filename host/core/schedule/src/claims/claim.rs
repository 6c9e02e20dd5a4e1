//! The object of a claim: labels, annotations, requirements and requests. Contract: the section on results.

use std::collections::BTreeSet;
use std::sync::Arc;

use plimsoll_base::labels::{self, LabelKey, Labels};
use plimsoll_base::requirement::{Requirement, Requirements};
use plimsoll_base::resources::Resources;
use plimsoll_model::catalogue::{Catalogue, InstanceType};
use plimsoll_model::plan::{LaunchOption, PlannedClaim};
use plimsoll_model::provider::ProviderFacts;
use plimsoll_model::snapshot::Snapshot;
use plimsoll_model::{NodePool, template_hash};

use crate::batch::compile::Compiled;
use crate::batch::minimum::{self, Minimum};
use crate::offers::templates::Template;
use crate::place::PlacementStep;

/// The claim of a node planned as `chosen`, which names the rows and options given.
pub(crate) fn claim(
    compiled: &Compiled<'_>,
    chosen: usize,
    named: &[usize],
    options: Vec<LaunchOption>,
    steps: &[&PlacementStep],
    minimum: &Minimum,
) -> PlannedClaim {
    let row = &compiled.rows.rows[chosen];
    let template = &compiled.templates[row.template];
    let pool = &template.pool;
    let mut requirements = template.requirements.intersect(&template.states[row.state]);
    for step in steps {
        let group = &compiled.groups[compiled.pods[step.pod].group];
        requirements.add_all(&group.levels[step.level].requirements);
    }
    let labels = labels_of(pool, &requirements, &template.catalogue);
    leave_out_restricted(&mut requirements, template, compiled.snapshot);
    narrow_to_options(
        &mut requirements,
        &options,
        compiled.snapshot.catalogues.provider(),
    );
    let lowered = *minimum != minimum::wanted(compiled, row.template);
    keep_minimum(&mut requirements, minimum);
    let mut annotations = annotations_of(pool, lowered);
    let listed = compiled.snapshot.catalogues.of(&pool.class).types();
    let types = named.iter().map(|row| {
        let (own, _) = compiled.offering(*row);
        (own, &listed[compiled.rows.rows[*row].instance_type])
    });
    annotations.extend(overlay_marks(types));
    PlannedClaim {
        pool: pool.name.clone(),
        class: pool.class.clone(),
        labels,
        annotations,
        taints: pool.taints.clone(),
        startup_taints: pool.startup_taints.clone(),
        expire_after: pool.expire_after,
        termination_grace: pool.termination_grace,
        requirements,
        requests: requests(compiled, named, steps),
        options,
    }
}

/// Takes away requirements of pods on labels that the API reserves. A pod may have one in a preference, or in an alternative that another
/// stands in for.
fn leave_out_restricted(requirements: &mut Requirements, template: &Template, snapshot: &Snapshot) {
    let internal = [labels::REGISTERED, labels::INITIALIZED, labels::HOSTNAME];
    let is_restricted = |key: &LabelKey| {
        let is_asked = template.requirements.get(key.as_str()).is_none()
            && snapshot.catalogues.restriction(key).is_some();
        is_asked || internal.contains(&key.as_str())
    };
    let asked = requirements.iter().map(Requirement::key);
    let restricted: Vec<LabelKey> = asked.filter(|key| is_restricted(key)).cloned().collect();
    for key in restricted {
        requirements.remove(key.as_str());
    }
}

/// The template's annotations, its hash, and whether a minimum of values was lowered.
pub fn annotations_of(pool: &NodePool, lowered: bool) -> Labels {
    let mut annotations = pool.annotations.clone();
    annotations.extend(template_hash::annotations(pool));
    annotations.insert(
        labels::MIN_VALUES_RELAXED.into(),
        if lowered { "true" } else { "false" }.into(),
    );
    annotations
}

/// Annotations that tell whether overlays changed the price or the capacity of a named type; each as its pool sells it, and as listed.
pub(crate) fn overlay_marks<'t>(
    types: impl Iterator<Item = (&'t Arc<InstanceType>, &'t Arc<InstanceType>)>,
) -> impl Iterator<Item = (Arc<str>, Arc<str>)> {
    let (mut price, mut capacity) = (false, false);
    for (own, listed) in types {
        if !Arc::ptr_eq(own, listed) {
            let mut offerings = own.offerings.iter().zip(&listed.offerings);
            price |= offerings.any(|(own, listed)| own.price != listed.price);
            capacity |= own.capacity != listed.capacity;
        }
    }
    let marks = [
        (labels::PRICE_OVERLAY_APPLIED, price),
        (labels::CAPACITY_OVERLAY_APPLIED, capacity),
    ];
    marks
        .into_iter()
        .filter(|(_, holds)| *holds)
        .map(|(mark, _)| (Arc::from(mark), Arc::from("true")))
}

/// Takes away what [`overlay_marks`] tells.
pub(crate) fn unmark(annotations: &mut Labels) {
    annotations.remove(labels::PRICE_OVERLAY_APPLIED);
    annotations.remove(labels::CAPACITY_OVERLAY_APPLIED);
}

/// Requests of the pods of a node that may become any of the rows named, and the least that daemons of any of them take.
pub(crate) fn requests(
    compiled: &Compiled<'_>,
    named: &[usize],
    steps: &[&PlacementStep],
) -> Resources {
    let mut result = least_overhead(compiled, named);
    for step in steps {
        let group = &compiled.groups[compiled.pods[step.pod].group];
        result.add(&group.spec.requests);
    }
    result
}

/// The least that daemons of any named type take, per resource that all of them take.
fn least_overhead(compiled: &Compiled<'_>, named: &[usize]) -> Resources {
    let overheads = named
        .iter()
        .map(|row| compiled.rows.rows[*row].overhead.requests.clone());
    overheads
        .reduce(|left, right| left.smaller(&right))
        .unwrap_or_default()
}

/// The pool's labels, its name and class, and one value for every custom label that is required.
pub fn labels_of(pool: &NodePool, requirements: &Requirements, catalogue: &Catalogue) -> Labels {
    let mut result = pool.labels.clone();
    result.insert(Arc::from(labels::NODEPOOL), pool.name.clone().into());
    result.insert(
        Arc::from(pool.class.label_key()),
        Arc::clone(&pool.class.name),
    );
    for requirement in requirements.iter() {
        let key = requirement.key();
        let internal =
            [labels::REGISTERED, labels::INITIALIZED, labels::HOSTNAME].contains(&key.as_str());
        if internal || catalogue.is_well_known(key) || result.contains_key(key.as_str()) {
            continue;
        }
        if let Some(value) = requirement.any() {
            result.insert(Arc::from(key.as_str()), value);
        }
    }
    result
}

/// Writes types, capacity types, zones and reservations of the options into the requirements.
pub(crate) fn narrow_to_options(
    requirements: &mut Requirements,
    options: &[LaunchOption],
    provider: &ProviderFacts,
) {
    let mut set = |key: &str, values: BTreeSet<Arc<str>>| {
        let key = LabelKey::from(key);
        let minimum = requirements
            .get(key.as_str())
            .and_then(Requirement::min_values);
        requirements.replace(Requirement::one_of(key, values).with_min_values(minimum));
    };
    set(
        labels::INSTANCE_TYPE,
        options
            .iter()
            .map(|option| option.instance_type.clone().into())
            .collect(),
    );
    set(
        labels::CAPACITY_TYPE,
        options
            .iter()
            .map(|option| Arc::from(option.capacity_type.as_str()))
            .collect(),
    );
    set(
        labels::ZONE,
        options
            .iter()
            .map(|option| Arc::clone(&option.zone))
            .collect(),
    );
    let reservations: BTreeSet<Arc<str>> = options
        .iter()
        .filter_map(|option| option.reservation.clone().map(Into::into))
        .collect();
    if let Some(key) = provider
        .reservation_id
        .as_ref()
        .filter(|_| !reservations.is_empty())
    {
        set(key.as_str(), reservations);
    }
}

/// Writes the minimum of each key. One lowered to nothing is left out: the least that the API takes is 1.
fn keep_minimum(requirements: &mut Requirements, minimum: &Minimum) {
    for (key, least) in minimum {
        if let Some(own) = requirements.get(key.as_str()).cloned() {
            let least = (*least > 0).then_some(*least);
            requirements.replace(own.with_min_values(least));
        }
    }
}
