//! Objects behind pods: daemon sets, replicated workloads, services, namespaces, disruption budgets.

use k8s_openapi::api::core::v1 as core_v1;
use k8s_openapi::api::{apps::v1 as apps, policy::v1 as policy};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{LabelSelector as Written, ObjectMeta};
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use plimsoll_base::time::Timestamp;
use plimsoll_model::{
    DaemonSet, DisruptionLimit, LabelSelector, Namespace, PodDisruptionBudget, Replicated, Service,
    WorkloadKind,
};
use serde_json::{Map, Value, json};

use super::buffer::{shape, write_shape};
use super::metadata;
use super::pod::{Template, pod_spec, write_problem, write_spec};
use super::selector::{self, of_map, selector};
use crate::error::{FieldError, Within};
use crate::intern::Interner;
use crate::object::Kind;
use crate::{keys, write};

/// A daemon set with the pod of its template; [`super::with_live_pods`] replaces it by what runs.
pub(crate) fn daemon_set(
    written: &apps::DaemonSet,
    interner: &mut Interner,
) -> Result<DaemonSet, FieldError> {
    let spec = written
        .spec
        .as_ref()
        .ok_or_else(|| FieldError::missing("spec", "the specification of the daemon set"))?;
    let template = spec.template.spec.as_ref().ok_or_else(|| {
        FieldError::missing("spec.template.spec", "the specification of the pods")
    })?;
    let of_template = spec.template.metadata.as_ref();
    let template = Template {
        spec: template,
        status: None,
        is_daemon: true,
        problem: of_template.and_then(|meta| metadata::annotation(meta, keys::PROBLEM)),
    };
    let pod = pod_spec(&template, interner).within("spec.template.spec")?;
    let labels = of_template.and_then(|metadata| metadata.labels.as_ref());
    Ok(DaemonSet {
        name: metadata::object_name(&written.metadata, interner)?,
        uid: metadata::uid(&written.metadata),
        pod: interner.spec(pod),
        labels: interner.labels(labels.into_iter().flatten()),
        created: metadata::created(&written.metadata),
    })
}

/// The parts of a written workload that all replicated kinds share.
struct Parts<'a> {
    kind: WorkloadKind,
    metadata: &'a ObjectMeta,
    replicas: Option<i32>,
    template: Option<&'a core_v1::PodTemplateSpec>,
}

fn replicated(
    parts: &Parts<'_>,
    selector: LabelSelector,
    interner: &mut Interner,
) -> Result<Replicated, FieldError> {
    let replicas = parts.replicas.unwrap_or(1);
    Ok(Replicated {
        kind: parts.kind,
        name: metadata::object_name(parts.metadata, interner)?,
        uid: metadata::uid(parts.metadata),
        selector,
        replicas: u32::try_from(replicas).map_err(|_| {
            FieldError::unexpected("spec.replicas", replicas, "a number of at least 0")
        })?,
        shape: parts
            .template
            .and_then(|template| shape(template, interner)),
    })
}

/// A workload whose specification always has a template and a selector.
fn templated(
    kind: WorkloadKind,
    metadata: &ObjectMeta,
    spec: Option<(Option<i32>, &core_v1::PodTemplateSpec, &Written)>,
    interner: &mut Interner,
) -> Result<Replicated, FieldError> {
    let parts = Parts {
        kind,
        metadata,
        replicas: spec.and_then(|(replicas, ..)| replicas),
        template: spec.map(|(_, template, _)| template),
    };
    let selector = selected(spec.map(|(.., selector)| selector), interner)?;
    replicated(&parts, selector, interner)
}

fn selected(
    written: Option<&Written>,
    interner: &mut Interner,
) -> Result<LabelSelector, FieldError> {
    selector(written, interner).within("spec.selector")
}

/// A deployment.
pub(crate) fn deployment(
    written: &apps::Deployment,
    interner: &mut Interner,
) -> Result<Replicated, FieldError> {
    let spec = written.spec.as_ref();
    let spec = spec.map(|spec| (spec.replicas, &spec.template, &spec.selector));
    templated(WorkloadKind::Deployment, &written.metadata, spec, interner)
}

/// A replica set.
pub(crate) fn replica_set(
    written: &apps::ReplicaSet,
    interner: &mut Interner,
) -> Result<Replicated, FieldError> {
    let spec = written.spec.as_ref();
    // Of those that a deployment keeps there are many, and the template is the deployment's.
    let mut owners = written.metadata.owner_references.iter().flatten();
    let is_kept = owners.any(|owner| owner.controller == Some(true));
    let parts = Parts {
        kind: WorkloadKind::ReplicaSet,
        metadata: &written.metadata,
        replicas: spec.and_then(|spec| spec.replicas),
        template: spec
            .filter(|_| !is_kept)
            .and_then(|spec| spec.template.as_ref()),
    };
    let selector = selected(spec.map(|spec| &spec.selector), interner)?;
    replicated(&parts, selector, interner)
}

/// A stateful set.
pub(crate) fn stateful_set(
    written: &apps::StatefulSet,
    interner: &mut Interner,
) -> Result<Replicated, FieldError> {
    let spec = written.spec.as_ref();
    let spec = spec.map(|spec| (spec.replicas, &spec.template, &spec.selector));
    templated(WorkloadKind::StatefulSet, &written.metadata, spec, interner)
}

/// A replication controller; without a selector the labels of its template select.
pub(crate) fn replication_controller(
    written: &core_v1::ReplicationController,
    interner: &mut Interner,
) -> Result<Replicated, FieldError> {
    let spec = written.spec.as_ref();
    let template = spec
        .and_then(|spec| spec.template.as_ref())
        .and_then(|template| template.metadata.as_ref())
        .and_then(|metadata| metadata.labels.as_ref());
    let map = spec.and_then(|spec| spec.selector.as_ref()).or(template);
    let selector = map.map_or(LabelSelector::Nothing, |map| of_map(map, interner));
    let parts = Parts {
        kind: WorkloadKind::ReplicationController,
        metadata: &written.metadata,
        replicas: spec.and_then(|spec| spec.replicas),
        // No buffer may refer to one.
        template: None,
    };
    replicated(&parts, selector, interner)
}

/// A service.
pub(crate) fn service(
    written: &core_v1::Service,
    interner: &mut Interner,
) -> Result<Service, FieldError> {
    let selector = written
        .spec
        .as_ref()
        .and_then(|spec| spec.selector.as_ref());
    Ok(Service {
        name: metadata::object_name(&written.metadata, interner)?,
        selector: selector.map(|map| interner.map(map)),
    })
}

/// A namespace.
pub(crate) fn namespace(
    written: &core_v1::Namespace,
    interner: &mut Interner,
) -> Result<Namespace, FieldError> {
    Ok(Namespace {
        name: interner.text(metadata::name(&written.metadata)?),
        labels: metadata::labels(&written.metadata, interner),
    })
}

/// A disruption budget. One that names neither bound keeps at least one pod up, as its controller reads it.
pub(crate) fn disruption_budget(
    written: &policy::PodDisruptionBudget,
    interner: &mut Interner,
) -> Result<PodDisruptionBudget, FieldError> {
    let nothing = policy::PodDisruptionBudgetSpec::default();
    let spec = written.spec.as_ref().unwrap_or(&nothing);
    let limit = match (&spec.max_unavailable, &spec.min_available) {
        (Some(most), None) => limit(
            most,
            DisruptionLimit::MaxUnavailable,
            DisruptionLimit::MaxUnavailablePercent,
        )
        .within("spec.maxUnavailable")?,
        (None, Some(least)) => limit(
            least,
            DisruptionLimit::MinAvailable,
            DisruptionLimit::MinAvailablePercent,
        )
        .within("spec.minAvailable")?,
        (None, None) => DisruptionLimit::Unset,
        (Some(_), Some(_)) => {
            let expected = "nothing beside spec.maxUnavailable";
            let value = "set, too";
            return Err(FieldError::unexpected("spec.minAvailable", value, expected));
        }
    };
    let nothing = policy::PodDisruptionBudgetStatus::default();
    let status = written.status.as_ref().unwrap_or(&nothing);
    let allowed = status.disruptions_allowed.unwrap_or(0);
    let desired = status.desired_healthy.unwrap_or(0);
    Ok(PodDisruptionBudget {
        name: metadata::object_name(&written.metadata, interner)?,
        selector: selected(spec.selector.as_ref(), interner)?,
        limit,
        always_allow_unhealthy: spec.unhealthy_pod_eviction_policy.as_deref()
            == Some("AlwaysAllow"),
        disruptions_allowed: u32::try_from(allowed).unwrap_or(0),
        is_met: desired > 0 && status.current_healthy.unwrap_or(0) >= desired,
    })
}

fn limit(
    written: &IntOrString,
    count: impl Fn(u32) -> DisruptionLimit,
    percent: impl Fn(u32) -> DisruptionLimit,
) -> Result<DisruptionLimit, FieldError> {
    let (parsed, text) = match written {
        IntOrString::Int(number) => (u32::try_from(*number).ok().map(count), number.to_string()),
        IntOrString::String(text) => {
            let share = text.strip_suffix('%').and_then(|share| share.parse().ok());
            (share.map(percent), text.clone())
        }
    };
    parsed
        .ok_or_else(|| FieldError::unexpected("", text, "a count such as 1 or a share such as 10%"))
}

/// A namespace as it is written.
pub(crate) fn namespace_to_value(namespace: &Namespace) -> Value {
    let mut meta = write::metadata(&namespace.name, None, Timestamp::default());
    write::put(&mut meta, "labels", write::map(&namespace.labels));
    write::framed(Kind::Namespace, Value::Object(meta), json!({}))
}

/// A service as it is written.
pub(crate) fn service_to_value(service: &Service) -> Value {
    let meta = write::namespaced(&service.name, None, Timestamp::default());
    let selector = service.selector.as_ref().map(write::map);
    write::framed(
        Kind::Service,
        Value::Object(meta),
        json!({"spec": {"selector": selector}}),
    )
}

/// A workload as it is written, by its kind.
pub(crate) fn replicated_to_value(workload: &Replicated) -> Value {
    let meta = Value::Object(write::namespaced(
        &workload.name,
        Some(&workload.uid),
        Timestamp::default(),
    ));
    let mut fields = json!({"spec": {"replicas": workload.replicas}});
    let kind = match workload.kind {
        WorkloadKind::Deployment => Kind::Deployment,
        WorkloadKind::ReplicaSet => Kind::ReplicaSet,
        WorkloadKind::StatefulSet => Kind::StatefulSet,
        WorkloadKind::ReplicationController => {
            if let LabelSelector::All(conditions) = &workload.selector {
                let pairs = conditions.iter().filter_map(|condition| {
                    let value = condition.values.first()?;
                    Some((condition.key.to_string(), Value::from(value.as_ref())))
                });
                fields["spec"]["selector"] = Value::Object(pairs.collect());
            }
            return write::framed(Kind::ReplicationController, meta, fields);
        }
    };
    match selector::to_value(&workload.selector) {
        // Only a workload without any specification selects nothing.
        Value::Null => fields = json!({}),
        written => {
            fields["spec"]["selector"] = written;
            let template = workload.shape.as_ref().map(write_shape);
            fields["spec"]["template"] = template.unwrap_or_else(|| json!({}));
        }
    }
    write::framed(kind, meta, fields)
}

/// A daemon set as it is written.
pub(crate) fn daemon_set_to_value(set: &DaemonSet) -> Value {
    let meta = write::namespaced(&set.name, Some(&set.uid), set.created);
    let template = json!({
        "metadata": {"labels": write::map(&set.labels), "annotations": write_problem(&set.pod)},
        "spec": write_spec(&set.pod),
    });
    let fields = json!({"spec": {"selector": {"matchLabels": write::map(&set.labels)}, "template": template}});
    write::framed(Kind::DaemonSet, Value::Object(meta), fields)
}

/// A disruption budget as it is written.
pub(crate) fn budget_to_value(budget: &PodDisruptionBudget) -> Value {
    let meta = write::namespaced(&budget.name, None, Timestamp::default());
    let mut spec = Map::new();
    let limit = match budget.limit {
        DisruptionLimit::MaxUnavailable(count) => Some(("maxUnavailable", json!(count))),
        DisruptionLimit::MaxUnavailablePercent(share) => {
            Some(("maxUnavailable", json!(format!("{share}%"))))
        }
        DisruptionLimit::MinAvailable(count) => Some(("minAvailable", json!(count))),
        DisruptionLimit::MinAvailablePercent(share) => {
            Some(("minAvailable", json!(format!("{share}%"))))
        }
        DisruptionLimit::Unset => None,
    };
    spec.extend(limit.map(|(field, value)| (field.to_owned(), value)));
    spec.insert("selector".to_owned(), selector::to_value(&budget.selector));
    if budget.always_allow_unhealthy {
        spec.insert(
            "unhealthyPodEvictionPolicy".to_owned(),
            "AlwaysAllow".into(),
        );
    }
    let allowed = budget.disruptions_allowed;
    // Of the counts only their order is known.
    let healthy = u32::from(budget.is_met);
    let status = json!({
        "disruptionsAllowed": allowed, "currentHealthy": healthy, "desiredHealthy": healthy, "expectedPods": 0,
    });
    let fields = json!({"spec": spec, "status": status});
    write::framed(Kind::PodDisruptionBudget, Value::Object(meta), fields)
}
