//! Topology spread constraints.

use k8s_openapi::api::core::v1 as k8s;
use plimsoll_model::{NodeInclusion, SpreadConstraint, WhenUnsatisfiable};

use super::super::label::label_key;
use super::super::selector;
use crate::error::{FieldError, Within};
use crate::intern::Interner;

/// One constraint.
pub(super) fn constraint(
    written: &k8s::TopologySpreadConstraint,
    interner: &mut Interner,
) -> Result<SpreadConstraint, FieldError> {
    if written.topology_key.is_empty() {
        return Err(FieldError::missing("topologyKey", "a label key of nodes"));
    }
    let when_unsatisfiable = match written.when_unsatisfiable.as_str() {
        "DoNotSchedule" => WhenUnsatisfiable::DoNotSchedule,
        "ScheduleAnyway" => WhenUnsatisfiable::ScheduleAnyway,
        other => {
            let expected = "DoNotSchedule or ScheduleAnyway";
            return Err(FieldError::unexpected("whenUnsatisfiable", other, expected));
        }
    };
    let mut match_label_keys: Vec<_> = written
        .match_label_keys
        .iter()
        .flatten()
        .map(|key| interner.text(key))
        .collect();
    match_label_keys.sort_unstable();
    match_label_keys.dedup();
    Ok(SpreadConstraint {
        max_skew: at_least_one("maxSkew", written.max_skew)?,
        topology_key: label_key(&written.topology_key),
        when_unsatisfiable,
        selector: selector::selector(written.label_selector.as_ref(), interner)
            .within("labelSelector")?,
        match_label_keys,
        min_domains: written
            .min_domains
            .map(|count| at_least_one("minDomains", count))
            .transpose()?,
        node_affinity: inclusion(
            "nodeAffinityPolicy",
            written.node_affinity_policy.as_deref(),
            NodeInclusion::Honor,
        )?,
        node_taints: inclusion(
            "nodeTaintsPolicy",
            written.node_taints_policy.as_deref(),
            NodeInclusion::Ignore,
        )?,
    })
}

fn at_least_one(path: &str, number: i32) -> Result<u32, FieldError> {
    u32::try_from(number)
        .ok()
        .filter(|number| *number > 0)
        .ok_or_else(|| FieldError::unexpected(path, number, "a number of at least 1"))
}

fn inclusion(
    path: &str,
    text: Option<&str>,
    default: NodeInclusion,
) -> Result<NodeInclusion, FieldError> {
    match text {
        None => Ok(default),
        Some("Honor") => Ok(NodeInclusion::Honor),
        Some("Ignore") => Ok(NodeInclusion::Ignore),
        Some(other) => Err(FieldError::unexpected(path, other, "Honor or Ignore")),
    }
}
