//! Workloads of a manifest whose pods are not in the file, planned as the pods that their controllers would make.
//!
//! A manifest is an object that no API server has seen: it has neither uid nor resource version. Of a workload that a server has seen, the
//! pods in the file are all there are, whatever it asks for: a capture of a cluster, where a Deployment may be without pods for a
//! moment, decides what the cluster decides. What others control they make, so that it is not looked at.
//!
//! A workload that gets no pods is told with the reason.

mod made;
mod template;

use std::collections::BTreeMap;

use plimsoll_model::{LabelSelector, OwnerKind, Pod, Replicated};

use crate::error::SnapshotError;
use crate::gather::Gatherer;
use crate::note::{Idle, Named, Note, PlannedWorkload};
pub(crate) use made::ASSUMED_DRIVER;
use made::{Made, Unmade};
use template::Maker;
pub(crate) use template::Template;

/// Labels by which the pods of a Job name it.
const JOB_NAME: [&str; 2] = ["batch.kubernetes.io/job-name", "job-name"];

/// Adds to what was gathered the pods that its manifests stand for, `limit` at most, and gives notes of them.
pub(crate) fn plan(gathered: &mut Gatherer, limit: usize) -> Result<Vec<Note>, SnapshotError> {
    let templates = std::mem::take(&mut gathered.templates);
    let is_capture = gathered.section.is_some();
    let in_file = gathered.objects.pods.len();
    let mut idle: BTreeMap<Idle, Named> = BTreeMap::new();
    let mut planned = Vec::new();
    let mut notes = Vec::new();
    let mut made = Made::new(gathered, limit);
    for template in templates {
        let why = why_idle(&template, is_capture);
        if why == Some(Idle::Captured) {
            continue;
        }
        let name = template.to_string();
        let bad = |problem| Note::BadWorkload {
            workload: template.to_string(),
            problem,
        };
        let selector = selector(&template, &made.gathered.objects.workloads);
        if let Some(problem) = problem(&template, selector) {
            notes.push(bad(format!(
                "spec.selector {problem}, which a server refuses"
            )));
            continue;
        }
        let mut pods = made.gathered.objects.pods[..in_file].iter();
        if pods.any(|pod| is_own(&template, selector, pod)) {
            continue;
        }
        if let Some(why) = why {
            idle.entry(why).or_default().add(name);
            continue;
        }
        match made.pods_of(&template) {
            Ok(()) => planned.push(PlannedWorkload {
                name,
                pods: template.count,
                is_job: template.maker == Maker::Job,
            }),
            Err(Unmade::TooMany(sentence)) => return Err(template.refused(&sentence)),
            Err(Unmade::Unreadable(problem)) => notes.push(bad(problem)),
        }
    }
    if !planned.is_empty() {
        notes.push(Note::PlannedReplicas(planned));
    }
    let idle = idle.into_iter();
    notes.extend(idle.map(|(why, workloads)| Note::IdleWorkloads { workloads, why }));
    notes.extend(made.into_notes());
    Ok(notes)
}

/// Why no pods are planned for a workload that has none.
fn why_idle(template: &Template, is_capture: bool) -> Option<Idle> {
    match template.idle {
        Some(_) if template.is_of_server() => Some(Idle::Captured),
        None if template.is_of_server() && is_capture => Some(Idle::Captured),
        None if template.is_of_server() => Some(Idle::OfServer),
        idle => idle,
    }
}

/// The selector of a workload that decisions read.
fn selector<'o>(
    template: &Template,
    workloads: &'o [std::sync::Arc<Replicated>],
) -> Option<&'o LabelSelector> {
    let kind = template.maker.read_as()?;
    let mut workloads = workloads.iter();
    let own = workloads.find(|own| {
        own.kind == kind
            && *own.name.namespace == *template.namespace
            && *own.name.name == *template.name
    });
    own.map(|own| &own.selector)
}

/// Why a server would not take a manifest's selector, if it would not.
fn problem(template: &Template, selector: Option<&LabelSelector>) -> Option<&'static str> {
    if template.is_of_server() {
        return None;
    }
    match selector? {
        LabelSelector::Nothing => Some("is missing"),
        LabelSelector::All(conditions) if conditions.is_empty() => Some("is empty"),
        own if own.matches(&template.labels()) => None,
        LabelSelector::All(_) => Some("does not match the labels of spec.template"),
    }
}

/// `true` if a pod of the file is the workload's.
fn is_own(template: &Template, selector: Option<&LabelSelector>, pod: &Pod) -> bool {
    if *pod.name.namespace != *template.namespace {
        return false;
    }
    let is_named = |label: &&str| {
        let name = pod.labels.get(*label);
        name.is_some_and(|name| **name == *template.name)
    };
    let is_owned = pod
        .owner
        .as_ref()
        .is_some_and(|owner| owner.kind == OwnerKind::Job && *owner.name == *template.name);
    match template.maker {
        Maker::Job => is_owned || JOB_NAME.iter().any(is_named),
        Maker::CronJob => false,
        _ => selector.is_some_and(|selector| selector.matches(&pod.labels)),
    }
}
