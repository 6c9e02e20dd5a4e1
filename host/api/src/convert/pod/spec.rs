//! Needs of the pods of one template.

use std::sync::Arc;

use k8s_openapi::api::core::v1 as k8s;
use plimsoll_base::requirement::{Requirement, Requirements};
use plimsoll_model::{HostPort, PodSpec, PodVolume, Protocol};

use super::super::label::label_key;
use super::super::taint;
use super::{affinity, requests, spread};
use crate::error::{FieldError, Within};
use crate::intern::Interner;

/// The feature of containers whose end restarts all others.
pub(super) const RESTART_ALL: &str = "RestartAllContainersOnContainerExits";
/// The action of a container's restart rule that needs [`RESTART_ALL`].
pub(super) const RESTART_ALL_ACTION: &str = "RestartAllContainers";
/// The feature of pods on the host's network with users of their own.
pub(super) const USERS_ON_HOST: &str = "UserNamespacesHostNetworkSupport";

/// A pod's specification, with what else of the pod bears on it.
pub(in crate::convert) struct Template<'a> {
    /// The specification.
    pub(in crate::convert) spec: &'a k8s::PodSpec,
    /// The pod's status, for resizes under way.
    pub(in crate::convert) status: Option<&'a k8s::PodStatus>,
    /// `true` if a daemon set made it: the pin to a node that its controller adds is then left out.
    pub(in crate::convert) is_daemon: bool,
    /// A problem noted when the pod was written to a file.
    pub(in crate::convert) problem: Option<&'a str>,
}

/// Requests and constraints of a pod. Paths of errors are relative to the specification.
pub(in crate::convert) fn pod_spec(
    template: &Template<'_>,
    interner: &mut Interner,
) -> Result<PodSpec, FieldError> {
    let spec = template.spec;
    let mut result = PodSpec {
        requests: requests::effective(spec, template.status, interner)?,
        host_ports: host_ports(spec, interner)?,
        host_network: spec.host_network == Some(true),
        volumes: volumes(spec, interner),
        features: features(spec),
        dynamic_resources: uses_dynamic_resources(spec),
        priority: spec.priority.unwrap_or(0),
        problem: template.problem.map(Arc::from),
        ..PodSpec::default()
    };
    if let Err(error) = constraints(template, &mut result, interner) {
        let sentence = error.within("spec").to_string();
        result.problem.get_or_insert_with(|| Arc::from(sentence));
    }
    Ok(result)
}

/// Fills in where the pod may run, up to the first thing that cannot be understood.
fn constraints(
    template: &Template<'_>,
    result: &mut PodSpec,
    interner: &mut Interner,
) -> Result<(), FieldError> {
    let spec = template.spec;
    let tolerations = spec.tolerations.as_deref().unwrap_or_default();
    result.tolerations = taint::tolerations(tolerations, interner).within("tolerations")?;
    result.node_selector = node_selector(spec, interner)?;
    if let Some(affinity) = &spec.affinity {
        affinity::fill(affinity, template.is_daemon, result, interner).within("affinity")?;
    }
    let constraints = spec.topology_spread_constraints.iter().flatten();
    for (at, constraint) in constraints.enumerate() {
        let constraint = spread::constraint(constraint, interner)
            .within(format_args!("topologySpreadConstraints[{at}]"))?;
        result.spread.push(constraint);
    }
    Ok(())
}

/// The node selector. Two spellings of one key that ask for different values can be met by no node.
fn node_selector(spec: &k8s::PodSpec, interner: &mut Interner) -> Result<Requirements, FieldError> {
    let mut result = Requirements::new();
    for (key, value) in spec.node_selector.iter().flatten() {
        let asked = Requirement::one_of(label_key(key), [interner.text(value)]);
        let other = result.get(asked.key().as_str());
        if other.is_some_and(|other| *other != asked) {
            let expected = "the value that another spelling of this key asks for";
            return Err(FieldError::unexpected("", value, expected)
                .within(format_args!("nodeSelector[{key}]")));
        }
        result.add(asked);
    }
    Ok(result)
}

/// Features that a node must declare for a pod, as the plugin NodeDeclaredFeatures of kube-scheduler v1.36.3 infers them; those of
/// v1.37.2 that depend on fields of that version are not read.
fn features(spec: &k8s::PodSpec) -> Vec<Arc<str>> {
    let init = spec.init_containers.iter().flatten();
    let mut rules = spec
        .containers
        .iter()
        .chain(init)
        .flat_map(|container| container.restart_policy_rules.iter().flatten());
    let restarts_all = rules.any(|rule| rule.action == RESTART_ALL_ACTION);
    let maps_users = spec.host_network == Some(true) && spec.host_users == Some(false);
    let needed = [(restarts_all, RESTART_ALL), (maps_users, USERS_ON_HOST)];
    let needed = needed.into_iter().filter(|(is_needed, _)| *is_needed);
    needed.map(|(_, name)| Arc::from(name)).collect()
}

/// Ports taken on the host, by containers that run as long as the pod does: its own, and init containers that always restart.
/// On the host's network every container port is one, as the API server defaults it.
fn host_ports(spec: &k8s::PodSpec, interner: &mut Interner) -> Result<Vec<HostPort>, FieldError> {
    let on_host = spec.host_network == Some(true);
    let init = spec.init_containers.iter().flatten().enumerate();
    let sidecars = init.filter(|(_, container)| is_sidecar(container));
    let containers = spec.containers.iter().enumerate();
    let listed = sidecars
        .map(|container| ("initContainers", container))
        .chain(containers.map(|container| ("containers", container)));
    let mut result = Vec::new();
    for (list, (c, container)) in listed {
        for (p, port) in container.ports.iter().flatten().enumerate() {
            let number = match port.host_port {
                Some(0) | None if on_host => port.container_port,
                Some(0) | None => continue,
                Some(number) => number,
            };
            let made =
                host_port(port, number, interner).within(format_args!("{list}[{c}].ports[{p}]"))?;
            result.push(made);
        }
    }
    Ok(result)
}

/// `true` if an init container runs beside all that follows it.
pub(super) fn is_sidecar(container: &k8s::Container) -> bool {
    container.restart_policy.as_deref() == Some("Always")
}

fn host_port(
    port: &k8s::ContainerPort,
    number: i32,
    interner: &mut Interner,
) -> Result<HostPort, FieldError> {
    let address = port.host_ip.as_deref().filter(|ip| !ip.is_empty());
    Ok(HostPort {
        address: interner.text(address.unwrap_or("0.0.0.0")),
        port: u16::try_from(number)
            .ok()
            .filter(|number| *number > 0)
            .ok_or_else(|| FieldError::unexpected("hostPort", number, "a port from 1 to 65535"))?,
        protocol: match port.protocol.as_deref() {
            None | Some("" | "TCP") => Protocol::Tcp,
            Some("UDP") => Protocol::Udp,
            Some("SCTP") => Protocol::Sctp,
            Some(other) => {
                return Err(FieldError::unexpected(
                    "protocol",
                    other,
                    "TCP, UDP or SCTP",
                ));
            }
        },
    })
}

fn volumes(spec: &k8s::PodSpec, interner: &mut Interner) -> Vec<PodVolume> {
    let one = |volume: &k8s::Volume| {
        if let Some(claim) = &volume.persistent_volume_claim {
            Some(PodVolume::Claim(interner.text(&claim.claim_name)))
        } else if volume.ephemeral.is_some() {
            Some(PodVolume::Ephemeral(interner.text(&volume.name)))
        } else {
            None
        }
    };
    spec.volumes.iter().flatten().filter_map(one).collect()
}

fn uses_dynamic_resources(spec: &k8s::PodSpec) -> bool {
    let claims = |container: &k8s::Container| {
        let resources = container.resources.as_ref();
        resources
            .and_then(|resources| resources.claims.as_ref())
            .is_some_and(|claims| !claims.is_empty())
    };
    let containers = spec
        .containers
        .iter()
        .chain(spec.init_containers.iter().flatten());
    spec.resource_claims
        .as_ref()
        .is_some_and(|claims| !claims.is_empty())
        || containers.into_iter().any(claims)
}
