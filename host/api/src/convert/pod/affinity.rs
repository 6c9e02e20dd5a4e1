//! Node affinity, pod affinity and pod anti-affinity.

use k8s_openapi::api::core::v1 as k8s;
use plimsoll_model::{AffinityTerm, NamespaceScope, NodeTerm, PodSpec, Preferred};

use super::super::label::label_key;
use super::super::{each, requirement, selector};
use crate::error::{FieldError, Within};
use crate::intern::Interner;

const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";

/// Fills in the three kinds of affinity.
pub(super) fn fill(
    written: &k8s::Affinity,
    is_daemon: bool,
    result: &mut PodSpec,
    interner: &mut Interner,
) -> Result<(), FieldError> {
    if let Some(affinity) = &written.node_affinity {
        let required = affinity
            .required_during_scheduling_ignored_during_execution
            .as_ref();
        if let Some(required) = required {
            result.node_required = required_nodes(required, is_daemon, interner)
                .within(format_args!("nodeAffinity.{REQUIRED}"))?;
        }
        let preferred = affinity
            .preferred_during_scheduling_ignored_during_execution
            .as_deref();
        result.node_preferred = preferred_nodes(preferred.unwrap_or_default(), interner)
            .within(format_args!("nodeAffinity.{PREFERRED}"))?;
    }
    if let Some(affinity) = &written.pod_affinity {
        let terms = pod_terms(
            affinity
                .required_during_scheduling_ignored_during_execution
                .as_deref(),
            affinity
                .preferred_during_scheduling_ignored_during_execution
                .as_deref(),
            interner,
        );
        (result.affinity, result.affinity_preferred) = terms.within("podAffinity")?;
    }
    if let Some(affinity) = &written.pod_anti_affinity {
        let terms = pod_terms(
            affinity
                .required_during_scheduling_ignored_during_execution
                .as_deref(),
            affinity
                .preferred_during_scheduling_ignored_during_execution
                .as_deref(),
            interner,
        );
        (result.anti_affinity, result.anti_affinity_preferred) = terms.within("podAntiAffinity")?;
    }
    Ok(())
}

/// Alternatives of required node affinity. A term without any condition matches no node and is left out.
fn required_nodes(
    written: &k8s::NodeSelector,
    is_daemon: bool,
    interner: &mut Interner,
) -> Result<Vec<NodeTerm>, FieldError> {
    let mut terms = Vec::new();
    let mut is_pinned = false;
    for (at, term) in written.node_selector_terms.iter().enumerate() {
        let fields = term.match_fields.as_deref().unwrap_or_default();
        if let Some(field) = fields.first().filter(|_| !is_daemon) {
            return Err(FieldError::unexpected(
                "key",
                &field.key,
                "no field selector on a pod to plan",
            )
            .within(format_args!("nodeSelectorTerms[{at}].matchFields[0]")));
        }
        is_pinned |= !fields.is_empty();
        if term.match_expressions.iter().flatten().next().is_some() {
            let made = requirement::of_term(term, interner)
                .within(format_args!("nodeSelectorTerms[{at}]"))?;
            terms.push(made);
        }
    }
    if terms.is_empty() && !is_pinned {
        let expected = "at least one term with a condition";
        return Err(FieldError::missing("nodeSelectorTerms", expected));
    }
    Ok(terms)
}

/// Preferred node affinity. Field selectors of a preference are not read.
fn preferred_nodes(
    written: &[k8s::PreferredSchedulingTerm],
    interner: &mut Interner,
) -> Result<Vec<Preferred<NodeTerm>>, FieldError> {
    each(written, |entry| {
        weighted(entry.weight, || {
            requirement::of_term(&entry.preference, interner).within("preference")
        })
    })
}

/// Required and preferred terms of pod affinity, or of pod anti-affinity.
fn pod_terms(
    required: Option<&[k8s::PodAffinityTerm]>,
    preferred: Option<&[k8s::WeightedPodAffinityTerm]>,
    interner: &mut Interner,
) -> Result<(Vec<AffinityTerm>, Vec<Preferred<AffinityTerm>>), FieldError> {
    let required = each(required.unwrap_or_default(), |entry| {
        pod_term(entry, interner)
    });
    let required = required.within(REQUIRED)?;
    let preferred = each(preferred.unwrap_or_default(), |entry| {
        weighted(entry.weight, || {
            pod_term(&entry.pod_affinity_term, interner).within("podAffinityTerm")
        })
    });
    Ok((required, preferred.within(PREFERRED)?))
}

fn weighted<T>(
    weight: i32,
    term: impl FnOnce() -> Result<T, FieldError>,
) -> Result<Preferred<T>, FieldError> {
    let weight = u32::try_from(weight)
        .ok()
        .filter(|weight| (1..=100).contains(weight))
        .ok_or_else(|| FieldError::unexpected("weight", weight, "a number from 1 to 100"))?;
    Ok(Preferred {
        weight,
        term: term()?,
    })
}

fn pod_term(
    written: &k8s::PodAffinityTerm,
    interner: &mut Interner,
) -> Result<AffinityTerm, FieldError> {
    if written.topology_key.is_empty() {
        return Err(FieldError::missing("topologyKey", "a label key of nodes"));
    }
    let mut texts = |list: &Option<Vec<String>>| {
        let mut texts: Vec<_> = list
            .iter()
            .flatten()
            .map(|text| interner.text(text))
            .collect();
        texts.sort_unstable();
        texts.dedup();
        texts
    };
    let names = texts(&written.namespaces);
    let match_label_keys = texts(&written.match_label_keys);
    let mismatch_label_keys = texts(&written.mismatch_label_keys);
    let namespaces = if names.is_empty() && written.namespace_selector.is_none() {
        NamespaceScope::Own
    } else {
        NamespaceScope::Named {
            names,
            selector: selector::selector(written.namespace_selector.as_ref(), interner)
                .within("namespaceSelector")?,
        }
    };
    Ok(AffinityTerm {
        topology_key: label_key(&written.topology_key),
        selector: selector::selector(written.label_selector.as_ref(), interner)
            .within("labelSelector")?,
        namespaces,
        match_label_keys,
        mismatch_label_keys,
    })
}
