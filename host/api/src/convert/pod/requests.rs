//! Effective requests of a pod, as the Kubernetes scheduler counts them.
//!
//! Containers run together; start-up steps run one after another before them; sidecars (init containers that restart)
//! run beside everything that follows them. The pod needs the largest moment. Requests at the level of the pod replace
//! the sum for cpu, memory and huge pages. A limit stands in for a missing request, as the API server defaults it.
//!
//! While a resize is under way the larger of what is asked for, what is allocated and what is in place counts; of one that the
//! node has refused as infeasible, what is asked for does not. A scheduler up to Kubernetes 1.36 takes the larger container by
//! container, a later one for the pod as a whole ([`ResizeRule`]).

use k8s_openapi::api::core::v1 as k8s;
use plimsoll_base::resources::{ResourceName, Resources};

use super::super::amounts::amounts_or_none;
use super::spec::is_sidecar;
use crate::error::{FieldError, Within};
use crate::intern::{Interner, ResizeRule};

/// Requests of a pod as the scheduler counts them, overhead and `pods: 1` included. Paths of errors are relative to the specification.
pub(super) fn effective(
    spec: &k8s::PodSpec,
    status: Option<&k8s::PodStatus>,
    interner: &mut Interner,
) -> Result<Resources, FieldError> {
    let is_refused = is_resize_infeasible(status);
    let containers = Containers::of(spec, status, interner)?;
    let asked = containers.largest(|container| container.asked.clone());
    let mut total = if containers.are_resized() {
        let by_container = || containers.by_container(is_refused);
        let whole = PodAmounts::of(status, interner)?;
        let by_pod = || containers.by_pod(is_refused, whole.as_ref());
        match interner.resizes {
            ResizeRule::ByContainer => by_container(),
            ResizeRule::ByPod => by_pod(),
            ResizeRule::Larger => by_container().larger(&by_pod()),
        }
    } else {
        asked
    };
    if let Some(resources) = &spec.resources {
        let mut pod_level = with_limits(resources, &total, interner).within("resources")?;
        if let Some(whole) = PodAmounts::of(status, interner)? {
            let held = whole.in_place.larger(&whole.allocated);
            pod_level = larger_unless(is_refused, &pod_level, held);
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

/// Amounts that a pod's status tells of the pod as a whole.
struct PodAmounts {
    in_place: Resources,
    allocated: Resources,
    /// `true` if the status tells both.
    is_complete: bool,
}

impl PodAmounts {
    /// Reads a status; `None` where nothing is in place yet.
    fn of(
        status: Option<&k8s::PodStatus>,
        interner: &mut Interner,
    ) -> Result<Option<Self>, FieldError> {
        let resources = status.and_then(|status| status.resources.as_ref());
        let (Some(status), Some(resources)) = (status, resources) else {
            return Ok(None);
        };
        let is_complete = status.allocated_resources.is_some() && resources.requests.is_some();
        Ok(Some(Self {
            in_place: amounts_or_none(resources.requests.as_ref(), interner)?,
            allocated: amounts_or_none(status.allocated_resources.as_ref(), interner)?,
            is_complete,
        }))
    }
}

/// Part of a container in the life of its pod.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    /// It runs once all steps of the start are done.
    Main,
    /// It runs beside all that follows it.
    Sidecar,
    /// A step of the start.
    Step,
}

/// One container: what it asks for, and what its status tells.
struct Container {
    part: Part,
    asked: Resources,
    /// Amounts in place, empty where the status has resources without requests; `None` where it has none.
    in_place: Option<Resources>,
    /// `true` if the status names requests that are in place.
    names_requests: bool,
    /// Amounts that the node has agreed to.
    allocated: Option<Resources>,
}

impl Container {
    fn of(
        part: Part,
        container: &k8s::Container,
        statuses: Option<&Vec<k8s::ContainerStatus>>,
        interner: &mut Interner,
    ) -> Result<Self, FieldError> {
        let asked = match &container.resources {
            None => Resources::new(),
            Some(resources) => {
                with_limits(resources, &Resources::new(), interner).within("resources")?
            }
        };
        let status = statuses
            .into_iter()
            .flatten()
            .find(|status| status.name == container.name);
        let resources = status.and_then(|status| status.resources.as_ref());
        let requests = resources.map(|resources| resources.requests.as_ref());
        let allocated = status.and_then(|status| status.allocated_resources.as_ref());
        let mut read = |list| amounts_or_none(list, interner);
        Ok(Self {
            part,
            asked,
            names_requests: requests.flatten().is_some(),
            in_place: requests.map(&mut read).transpose()?,
            allocated: allocated.map(|list| read(Some(list))).transpose()?,
        })
    }
}

/// The containers of a pod, steps and sidecars first, in the order in which they start.
struct Containers(Vec<Container>);

impl Containers {
    fn of(
        spec: &k8s::PodSpec,
        status: Option<&k8s::PodStatus>,
        interner: &mut Interner,
    ) -> Result<Self, FieldError> {
        let init_statuses = status.and_then(|status| status.init_container_statuses.as_ref());
        let statuses = status.and_then(|status| status.container_statuses.as_ref());
        let mut result = Vec::new();
        for (at, container) in spec.init_containers.iter().flatten().enumerate() {
            let part = if is_sidecar(container) {
                Part::Sidecar
            } else {
                Part::Step
            };
            let made = Container::of(part, container, init_statuses, interner);
            result.push(made.within(format_args!("initContainers[{at}]"))?);
        }
        for (at, container) in spec.containers.iter().enumerate() {
            let made = Container::of(Part::Main, container, statuses, interner);
            result.push(made.within(format_args!("containers[{at}]"))?);
        }
        Ok(Self(result))
    }

    /// `true` if the status of any tells what is in place or allocated.
    fn are_resized(&self) -> bool {
        let tells = |own: &Container| own.in_place.is_some() || own.allocated.is_some();
        self.0.iter().any(tells)
    }

    /// The largest moment, by resource, with an amount of each container.
    fn largest(&self, amount: impl Fn(&Container) -> Resources) -> Resources {
        let mut running = Resources::new();
        let mut sidecars = Resources::new();
        let mut starting = Resources::new();
        for container in &self.0 {
            let mut moment = amount(container);
            match container.part {
                Part::Main => {
                    running.add(&moment);
                    continue;
                }
                Part::Sidecar => {
                    running.add(&moment);
                    sidecars.add(&moment);
                    moment = sidecars.clone();
                }
                Part::Step => moment.add(&sidecars),
            }
            starting = starting.larger(&moment);
        }
        running.larger(&starting)
    }

    /// The rule of schedulers up to Kubernetes 1.36: the larger of each container, whose steps are never resized.
    fn by_container(&self, is_refused: bool) -> Resources {
        self.largest(|own| match &own.in_place {
            Some(in_place) if own.part != Part::Step => {
                let nothing = Resources::new();
                let held = in_place.larger(own.allocated.as_ref().unwrap_or(&nothing));
                larger_unless(is_refused, &own.asked, held)
            }
            _ => own.asked.clone(),
        })
    }

    /// The rule of later schedulers: the larger of what the pod asks for, has been allocated, and has in place.
    fn by_pod(&self, is_refused: bool, whole: Option<&PodAmounts>) -> Resources {
        let held = if let Some(whole) = whole.filter(|whole| whole.is_complete) {
            whole.in_place.larger(&whole.allocated)
        } else {
            let or_asked = |own: &Container, told: Option<&Resources>| {
                let asked = Some(&own.asked).filter(|_| !is_refused);
                told.or(asked).cloned().unwrap_or_default()
            };
            let allocated = self.largest(|own| or_asked(own, own.allocated.as_ref()));
            let in_place = self.largest(|own| {
                let named = own.in_place.as_ref().filter(|_| own.names_requests);
                or_asked(own, named.or(own.allocated.as_ref()))
            });
            in_place.larger(&allocated)
        };
        larger_unless(is_refused, &self.largest(|own| own.asked.clone()), held)
    }
}

/// What a pod or container holds, and as much more as it asks for unless that is refused.
fn larger_unless(is_refused: bool, asked: &Resources, held: Resources) -> Resources {
    if is_refused {
        held
    } else {
        asked.larger(&held)
    }
}
