//! The rules of one pod on one node, apart from topology: deletion, taints, labels, free resources, ports, volumes.
//! Section 18 of the scheduling contract; for a claim, in every way it names.

use std::collections::BTreeSet;
use std::sync::Arc;

use plimsoll_base::labels::{REGION, ZONE};
use plimsoll_base::requirement::Operator;
use plimsoll_model::snapshot::Snapshot;
use plimsoll_model::{Effect, HostPort, Pod, Taint, first_untolerated};

use super::daemons;
use super::features;
use super::finding::{Breach, Place, Rule};
use super::host::{Host, Way};
use super::ports;
use super::volumes;

/// Weight of taints that only prefer to keep pods away.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum SoftTaints {
    /// They keep pods away.
    Hold,
    /// The pod may have given in.
    Yield,
}

/// Every rule that this placement breaks; one finding per rule.
pub(super) fn breaches(
    snapshot: &Snapshot,
    pod: &Pod,
    host: &Host,
    soft: SoftTaints,
) -> Vec<Breach> {
    let mut result = Vec::new();
    if host.is_deleting {
        result.push(Breach::new(
            Rule::NodeGoing,
            "it is being deleted",
            "a node that stays",
        ));
    }
    result.extend(taints(pod, host, soft));
    result.extend(host.named().find_map(|way| labels(pod, host, way)));
    result.extend(room(pod, host));
    result.extend(host_ports(pod, host));
    result.extend(attach_limits(snapshot, pod, host));
    result.extend(volume_topology(snapshot, pod, host));
    result.extend(volume_labels(snapshot, pod, host));
    result.extend(needs(snapshot, pod, host));
    result
}

fn taints(pod: &Pod, host: &Host, soft: SoftTaints) -> Option<Breach> {
    let counts =
        |taint: &&Taint| soft == SoftTaints::Hold || taint.effect != Effect::PreferNoSchedule;
    let taints: Vec<Taint> = host.taints.iter().filter(counts).cloned().collect();
    let taint = first_untolerated(&taints, &pod.spec.tolerations)?;
    Some(Breach::new(
        Rule::Taints,
        format!("taint {taint} is not tolerated"),
        "a toleration for every taint",
    ))
}

/// Selector and one required term, in one way.
fn labels(pod: &Pod, host: &Host, way: &Way) -> Option<Breach> {
    let mut first = None;
    for asked in daemons::alternatives(&pod.spec) {
        match host.first_unmet(way, &asked) {
            None => return None,
            Some(reason) => first = first.or(Some(reason)),
        }
    }
    let value = with_way(first?, way);
    Some(Breach::new(
        Rule::NodeLabels,
        value,
        "labels that satisfy the pod for certain",
    ))
}

/// Room for the pod beside those that the plan has put there already.
fn room(pod: &Pod, host: &Host) -> Option<Breach> {
    let mut asked = host.asked.clone();
    asked.add(&pod.spec.requests);
    host.named().find_map(|way| {
        let short = way.room.first_short_of(&asked)?;
        let value = format!(
            "{} of {short} asked, {} there after daemons",
            asked.get(&short),
            way.room.get(&short)
        );
        Some(Breach::new(
            Rule::Room,
            with_way(value, way),
            "room for everything planned",
        ))
    })
}

fn host_ports(pod: &Pod, host: &Host) -> Option<Breach> {
    let taken = |port: &&HostPort| {
        let by_pod = host.ports.iter().any(|other| ports::clash(other, port));
        let by_daemon = host
            .named()
            .flat_map(|way| &way.daemon_ports)
            .any(|other| ports::clash(other, port));
        by_pod || by_daemon
    };
    let port = pod.spec.host_ports.iter().find(taken)?;
    let value = format!("{:?} port {} is taken", port.protocol, port.port);
    Some(Breach::new(Rule::HostPorts, value, "free ports"))
}

/// Slots of each driver of which the pod brings a volume that no pod there uses yet: one for each volume in use, one for each
/// that is attached for nothing, even if it is what the pod brings.
fn attach_limits(snapshot: &Snapshot, pod: &Pod, host: &Host) -> Option<Breach> {
    let mut own = volumes::AttachedClaims::new();
    volumes::attach(snapshot, pod, &mut own);
    host.attach_limits.iter().find_map(|(driver, limit)| {
        let nothing = BTreeSet::new();
        let there = host.attached.get(driver).unwrap_or(&nothing);
        let brought = own.get(driver)?.difference(there).count();
        let volume_of = |claim| snapshot.volumes.claims.get(claim)?.volume.as_ref();
        let used: BTreeSet<&Arc<str>> = there.iter().filter_map(volume_of).collect();
        let names = host.lingering.get(driver).into_iter().flatten();
        let lingering = names.filter(|name| !used.contains(name)).count();
        let count = there.len() + lingering + brought;
        let is_beyond = count > usize::try_from(*limit).unwrap_or(usize::MAX);
        (brought > 0 && is_beyond).then(|| {
            Breach::new(
                Rule::VolumeLimit,
                format!("{count} volumes of {driver}"),
                format!("at most {limit}"),
            )
        })
    })
}

fn volume_topology(snapshot: &Snapshot, pod: &Pod, host: &Host) -> Option<Breach> {
    let alternatives = volumes::alternatives(snapshot, pod);
    alternatives.iter().find_map(|(claim, alternatives)| {
        let unmet = |way: &Way| {
            let reasons = alternatives
                .iter()
                .map(|asked| host.first_unmet(way, asked));
            let reasons: Option<Vec<String>> = reasons.collect();
            Some(with_way(reasons?.into_iter().next()?, way))
        };
        let reason = host.named().find_map(unmet)?;
        Some(Breach::new(
            Rule::VolumeTopology,
            format!("volume claim {claim} {reason}"),
            "a place from which every volume can be reached",
        ))
    })
}

/// Labels of volumes: a place with a zone or a region is in theirs; one with neither may take any.
fn volume_labels(snapshot: &Snapshot, pod: &Pod, host: &Host) -> Option<Breach> {
    volumes::zone_labels(snapshot, pod).find_map(|(claim, labels)| {
        let unmet = |way: &Way| {
            let is_somewhere = [ZONE, REGION].into_iter().any(|key| {
                let value = host.value(way, key);
                value.is_some_and(|value| value.operator() != Operator::DoesNotExist)
            });
            let reason = host.first_unmet(way, labels).filter(|_| is_somewhere)?;
            Some(with_way(reason, way))
        };
        let reason = host.named().find_map(unmet)?;
        Some(Breach::new(
            Rule::VolumeTopology,
            format!("volume of claim {claim} is labelled elsewhere: {reason}"),
            "zone and region as the labels of every volume say",
        ))
    })
}

/// Drivers on a node there is, where one to buy gets its own; and features of either.
fn needs(snapshot: &Snapshot, pod: &Pod, host: &Host) -> Option<Breach> {
    let row = host.row.map(|row| &snapshot.nodes[row]);
    if let Some(driver) = row.and_then(|row| volumes::missing_driver(snapshot, row, pod)) {
        let value = format!("CSI driver {driver} does not run there");
        return Some(Breach::new(
            Rule::NodeNeeds,
            value,
            "every driver that must run",
        ));
    }
    let pool = match (&host.place, row) {
        (Place::Claim { pool, .. }, _) => Some(pool.clone()),
        (_, Some(row)) => row.pool(),
        _ => None,
    };
    let complete = row.filter(|row| row.is_initialized());
    let feature = match complete.and_then(|row| row.node.as_ref()) {
        Some(node) => features::missing(node, pod)?,
        None => features::missing_in_pool(snapshot, &pool?, pod)?,
    };
    let value = format!("feature {feature} is not declared");
    Some(Breach::new(
        Rule::NodeNeeds,
        value,
        "every feature that it needs",
    ))
}

/// Puts a pod on a place: what it asks for, its ports and its volumes are taken from then on.
pub(super) fn commit(snapshot: &Snapshot, pod: &Arc<Pod>, host: &mut Host) {
    host.asked.add(&pod.spec.requests);
    host.ports.extend(pod.spec.host_ports.iter().cloned());
    volumes::attach(snapshot, pod, &mut host.attached);
}

/// Says in which way of a claim something is so.
fn with_way(text: String, way: &Way) -> String {
    match &way.sold {
        Some(sold) => format!("{text} (as {sold})"),
        None => text,
    }
}
