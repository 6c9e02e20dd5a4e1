//! Effective requests of a pod, as the Kubernetes scheduler counts them.
//!
//! Containers run together; start-up steps run one after another before them; sidecars (init containers that restart)
//! run beside everything that follows them. The pod needs the largest moment. Requests at the level of the pod replace
//! the sum for cpu, memory and huge pages. While a resize is under way the larger of the old and the new amount counts.
//! A limit stands in for a missing request, as the API server defaults it.

use k8s_openapi::api::core::v1 as k8s;
use plimsoll_core::resources::{ResourceName, Resources};

use super::super::amounts::amounts_or_none;
use super::spec::is_sidecar;
use crate::error::{FieldError, Within};
use crate::intern::Interner;

/// Requests of a pod as the scheduler counts them, overhead and `pods: 1` included. Paths of errors are relative to the specification.
pub(super) fn effective(
    spec: &k8s::PodSpec,
    status: Option<&k8s::PodStatus>,
    interner: &mut Interner,
) -> Result<Resources, FieldError> {
    let moments = Moments {
        is_resize_infeasible: is_resize_infeasible(status),
        interner,
    };
    let mut total = moments.largest(spec, status)?;
    if let Some(resources) = &spec.resources {
        let mut pod_level = with_limits(resources, &total, interner).within("resources")?;
        if let Some(status) = status {
            let applied = status.resources.as_ref().and_then(|r| r.requests.as_ref());
            for list in [applied, status.allocated_resources.as_ref()] {
                pod_level = pod_level.larger(&amounts_or_none(list, interner)?);
            }
        }
        for (name, amount) in pod_level.iter().filter(|(name, _)| is_pod_level(name)) {
            total.set(name.clone(), amount);
        }
    }
    total.add(&amounts_or_none(spec.overhead.as_ref(), interner).within("overhead")?);
    total.set(ResourceName::Pods, 1);
    Ok(total)
}

/// Resources that a pod may ask for as a whole.
fn is_pod_level(name: &ResourceName) -> bool {
    matches!(name, ResourceName::Cpu | ResourceName::Memory)
        || name.as_str().starts_with("hugepages-")
}

/// Requests at pod level; a limit stands in for a request that neither the pod nor its containers make.
fn with_limits(
    resources: &k8s::ResourceRequirements,
    containers: &Resources,
    interner: &mut Interner,
) -> Result<Resources, FieldError> {
    let mut requests = amounts_or_none(resources.requests.as_ref(), interner).within("requests")?;
    let limits = amounts_or_none(resources.limits.as_ref(), interner).within("limits")?;
    for (name, amount) in limits.iter() {
        if !requests.contains(name) && !containers.contains(name) {
            requests.set(name.clone(), amount);
        }
    }
    Ok(requests)
}

fn is_resize_infeasible(status: Option<&k8s::PodStatus>) -> bool {
    let conditions = status.and_then(|status| status.conditions.as_deref());
    conditions.unwrap_or_default().iter().any(|condition| {
        condition.type_ == "PodResizePending"
            && condition.status == "True"
            && condition.reason.as_deref() == Some("Infeasible")
    })
}

/// Adds up the moments of a pod's life.
struct Moments<'a> {
    /// `true` if the node has refused the resize asked for: what is asked then does not count.
    is_resize_infeasible: bool,
    interner: &'a mut Interner,
}

impl Moments<'_> {
    /// The largest moment, by resource.
    fn largest(
        mut self,
        spec: &k8s::PodSpec,
        status: Option<&k8s::PodStatus>,
    ) -> Result<Resources, FieldError> {
        let statuses = status.and_then(|status| status.container_statuses.as_deref());
        let init_statuses = status.and_then(|status| status.init_container_statuses.as_deref());
        let mut running = Resources::new();
        for (at, container) in spec.containers.iter().enumerate() {
            let requests = self
                .of_container(container, statuses)
                .within(format_args!("containers[{at}]"))?;
            running.add(&requests);
        }
        let mut sidecars = Resources::new();
        let mut starting = Resources::new();
        for (at, container) in spec.init_containers.iter().flatten().enumerate() {
            let mut moment = self
                .of_container(container, init_statuses)
                .within(format_args!("initContainers[{at}]"))?;
            if is_sidecar(container) {
                running.add(&moment);
                sidecars.add(&moment);
                moment = sidecars.clone();
            } else {
                moment.add(&sidecars);
            }
            starting = starting.larger(&moment);
        }
        Ok(running.larger(&starting))
    }

    fn of_container(
        &mut self,
        container: &k8s::Container,
        statuses: Option<&[k8s::ContainerStatus]>,
    ) -> Result<Resources, FieldError> {
        let asked = match &container.resources {
            None => Resources::new(),
            Some(resources) => {
                with_limits(resources, &Resources::new(), self.interner).within("resources")?
            }
        };
        let mut statuses = statuses.unwrap_or_default().iter();
        let Some(status) = statuses.find(|status| status.name == container.name) else {
            return Ok(asked);
        };
        let applied = status.resources.as_ref().and_then(|r| r.requests.as_ref());
        let applied = amounts_or_none(applied, self.interner)?;
        let allocated = amounts_or_none(status.allocated_resources.as_ref(), self.interner)?;
        let in_place = applied.larger(&allocated);
        if self.is_resize_infeasible && !in_place.is_empty() {
            Ok(in_place)
        } else {
            Ok(asked.larger(&in_place))
        }
    }
}
