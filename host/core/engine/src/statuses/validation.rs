//! Faults of a pool's specification that no schema sees: labels that may not be set or asked for, taints given twice, values that do
//! not exist; what of it could not be read at all, since a newer version wrote it; and schedules of budgets, of which a schema sees little.

use std::collections::BTreeSet;

use plimsoll_base::cron::{ScheduleError, WHOLE};
use plimsoll_base::labels::{self, LabelKey, is_qualified};
use plimsoll_base::requirement::Requirement;
use plimsoll_base::words::shortened;
use plimsoll_disrupt::budget::schedule_fault;
use plimsoll_model::catalogue::CapacityType;
use plimsoll_model::provider::ProviderFacts;
use plimsoll_model::{NodePool, Taint};

/// The first fault, in words that name the field; `None` where there is none.
pub(super) fn fault(pool: &NodePool, provider: &ProviderFacts) -> Option<String> {
    if let Some(problem) = &pool.unread.problem {
        return Some(problem.to_string());
    }
    let labels = pool.labels.keys().find_map(|key| {
        let fault = key_fault(key, provider)?;
        Some(format!("spec.template.metadata.labels: {fault}"))
    });
    labels
        .or_else(|| taint_fault(pool))
        .or_else(|| requirement_fault(pool, provider))
}

/// Remarks on a specification that is followed, in words: fields and names that are ignored, and schedules of budgets that cannot be
/// read. Empty where there are none.
///
/// Karpenter does not count such a schedule as a fault of the pool, but its budgets then allow nothing.
pub(super) fn remarks(pool: &NodePool) -> String {
    let ignored = shortened(pool.unread.ignored.iter());
    let budgets = pool.disruption.budgets.iter().enumerate();
    let faults = budgets.filter_map(|(at, budget)| {
        let ScheduleError {
            text,
            field,
            found,
            expected,
        } = schedule_fault(budget)?;
        let field = match field {
            WHOLE => String::new(),
            part => format!(" ({part} is {found:?})"),
        };
        Some(format!(
            "spec.disruption.budgets[{at}].schedule is {text:?}{field}; expected {expected}"
        ))
    });
    let mut faults = shortened(faults);
    if !faults.is_empty() {
        faults += ": the budget counts as 0, and no node of the NodePool is disrupted voluntarily";
    }
    let remarks = [ignored, faults].into_iter();
    let remarks: Vec<String> = remarks.filter(|words| !words.is_empty()).collect();
    remarks.join("; ")
}

fn key_fault(key: &str, provider: &ProviderFacts) -> Option<String> {
    if key == labels::NODEPOOL {
        return Some(format!(
            "label {key} is the pool's own name and must not be set or asked for"
        ));
    }
    if !is_qualified(key) {
        return Some(format!(
            "\"{key}\" is no label key; expected a name of at most 63 characters, with a domain before a slash or none"
        ));
    }
    provider.restriction(&LabelKey::from(key))
}

fn taint_fault(pool: &NodePool) -> Option<String> {
    let mut seen = BTreeSet::new();
    let lists = [
        ("taints", &pool.taints),
        ("startupTaints", &pool.startup_taints),
    ];
    lists.into_iter().find_map(|(field, taints)| {
        taints.iter().find_map(|taint| {
            let fault = one_taint_fault(taint).or_else(|| {
                let is_new = seen.insert((&taint.key, taint.effect));
                let Taint { key, effect, .. } = taint;
                (!is_new).then(|| {
                    format!("{key}:{effect} is given twice; expected each key and effect once")
                })
            })?;
            Some(format!("spec.template.spec.{field}: {fault}"))
        })
    })
}

fn one_taint_fault(taint: &Taint) -> Option<String> {
    let texts = [("key", &taint.key), ("value", &taint.value)];
    let mut texts = texts
        .into_iter()
        .filter(|(field, text)| *field == "key" || !text.is_empty());
    let (field, text) = texts.find(|(_, text)| !is_qualified(text))?;
    Some(format!(
        "{field} \"{text}\" is no name; expected letters, digits, dashes, dots and underscores"
    ))
}

fn requirement_fault(pool: &NodePool, provider: &ProviderFacts) -> Option<String> {
    pool.requirements.iter().find_map(|requirement| {
        let key = requirement.key().as_str();
        let fault = key_fault(key, provider).or_else(|| capacity_type_fault(requirement))?;
        Some(format!("spec.template.spec.requirements: {fault}"))
    })
}

/// Of capacity types that are listed at least one must exist, and as many as there must be values to choose from.
fn capacity_type_fault(requirement: &Requirement) -> Option<String> {
    if requirement.key().as_str() != labels::CAPACITY_TYPE {
        return None;
    }
    let listed = requirement.listed().filter(|values| !values.is_empty())?;
    let known = listed
        .iter()
        .filter(|value| CapacityType::parse(value).is_some());
    let least = requirement.min_values().unwrap_or(0).max(1);
    let known = known.count();
    (known < least as usize).then(|| {
        format!(
            "{} lists {known} of on-demand, spot and reserved; expected at least {least}",
            labels::CAPACITY_TYPE
        )
    })
}
