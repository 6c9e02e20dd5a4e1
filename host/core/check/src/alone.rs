//! The test of a pool's ability to buy a node for one pod and nothing else: the measure behind pool weights and honest refusals.

use std::collections::BTreeMap;

use plimsoll_base::labels::LabelKey;
use plimsoll_base::requirement::{Requirements, Undefined};
use plimsoll_base::resources::Resources;
use plimsoll_model::catalogue::CapacityType;
use plimsoll_model::snapshot::{MinValuesPolicy, PreferencePolicy, Snapshot};
use plimsoll_model::{HostPort, Pod, WhenUnsatisfiable, first_untolerated};

use super::claims;
use super::daemons;
use super::finding::Place;
use super::host::{Host, Sold, Way};
use super::market::Shop;
use super::{features, volumes};

/// `true` if a pod wishes for anything that is given up only after every pool has refused.
pub(super) fn has_preferences(snapshot: &Snapshot, pod: &Pod) -> bool {
    let spec = &pod.spec;
    let soft = spec
        .spread
        .iter()
        .any(|constraint| constraint.when_unsatisfiable == WhenUnsatisfiable::ScheduleAnyway);
    snapshot.settings.preferences == PreferencePolicy::Respect
        && (soft
            || !spec.node_preferred.is_empty()
            || !spec.affinity_preferred.is_empty()
            || !spec.anti_affinity_preferred.is_empty()
            || snapshot
                .settings
                .default_spread
                .iter()
                .any(|default| default.when_unsatisfiable == WhenUnsatisfiable::ScheduleAnyway))
}

/// `true` if the pool could buy a node for this pod alone, topology and limits aside. Reservations do not count: others may
/// hold them.
pub(super) fn serves(snapshot: &Snapshot, shop: &Shop, pod: &Pod) -> bool {
    first_served(snapshot, shop, pod).is_some()
}

/// The first of a pod's required alternatives under which [`serves`] is true.
pub(super) fn first_served(snapshot: &Snapshot, shop: &Shop, pod: &Pod) -> Option<usize> {
    if first_untolerated(&shop.pool.taints, &pod.spec.tolerations).is_some() {
        return None;
    }
    if features::missing_in_pool(snapshot, &shop.pool.name, pod).is_some() {
        return None;
    }
    let mut readings = vec![shop.node.clone()];
    for (_, alternatives) in volumes::alternatives(snapshot, pod) {
        readings = readings
            .iter()
            .flat_map(|node| {
                alternatives
                    .iter()
                    .filter_map(|asked| narrowed(snapshot, node, asked))
            })
            .collect();
    }
    for (_, labels) in volumes::zone_labels(snapshot, pod) {
        let narrow = |node: &Requirements| narrowed(snapshot, node, labels);
        readings = readings.iter().filter_map(narrow).collect();
    }
    let alternatives = daemons::alternatives(&pod.spec);
    alternatives.iter().position(|asked| {
        let mut narrowed = readings
            .iter()
            .filter_map(|node| narrowed(snapshot, node, asked));
        narrowed.any(|node| sells(snapshot, shop, &node, pod))
    })
}

/// The first of a pod's required alternatives that a place satisfies in every way that a plan names.
pub(super) fn first_met(host: &Host, pod: &Pod) -> Option<usize> {
    let alternatives = daemons::alternatives(&pod.spec);
    alternatives.iter().position(|asked| meets(host, asked))
}

fn meets(host: &Host, asked: &Requirements) -> bool {
    let mut ways = host.named();
    ways.all(|way| host.first_unmet(way, asked).is_none())
}

/// Requirements of a node once it satisfies `asked` too; `None` where it cannot.
pub(super) fn narrowed(
    snapshot: &Snapshot,
    node: &Requirements,
    asked: &Requirements,
) -> Option<Requirements> {
    let well_known = |key: &LabelKey| snapshot.catalogues.is_well_known(key);
    node.accepts(asked, Undefined::Allowed(&well_known)).ok()?;
    Some(node.intersect(asked))
}

fn sells(snapshot: &Snapshot, shop: &Shop, node: &Requirements, pod: &Pod) -> bool {
    let is_open = |sold: &&Sold| sold.offering().capacity_type != CapacityType::Reserved;
    let open = shop.sold.iter().filter(is_open);
    let ways: Vec<&Sold> = open
        .filter(|sold| fits(snapshot, shop, node, pod, sold))
        .collect();
    let enough = |key: &LabelKey, least: u32| {
        let found = claims::distinct(ways.iter().copied(), key, node);
        found >= usize::try_from(least).unwrap_or(usize::MAX)
    };
    let strict = snapshot.settings.min_values == MinValuesPolicy::Strict;
    let minima = node.iter().filter_map(|r| Some((r.key(), r.min_values()?)));
    !ways.is_empty() && (!strict || minima.into_iter().all(|(key, least)| enough(key, least)))
}

/// `true` if an offering of a pool agrees with requirements of a node and holds a pod beside the daemons there.
pub(super) fn fits(
    snapshot: &Snapshot,
    shop: &Shop,
    node: &Requirements,
    pod: &Pod,
    sold: &Sold,
) -> bool {
    let well_known = |key: &LabelKey| snapshot.catalogues.is_well_known(key);
    let offering = sold.offering().node_requirements(&sold.provider);
    let allowed = sold
        .instance_type
        .requirements
        .accepts(node, Undefined::Ignored)
        .is_ok()
        && node
            .accepts(&offering, Undefined::Allowed(&well_known))
            .is_ok();
    if !allowed {
        return false;
    }
    let host = Host {
        place: Place::Node(String::new()),
        row: None,
        is_deleting: false,
        taints: shop.pool.taints.clone(),
        node: node.clone(),
        ways: Vec::new(),
        ports: Vec::new(),
        asked: Resources::new(),
        attached: volumes::AttachedClaims::new(),
        lingering: BTreeMap::new(),
        attach_limits: BTreeMap::new(),
    };
    let way = Way {
        sold: Some(sold.clone()),
        named: true,
        room: Resources::new(),
        daemon_ports: Vec::new(),
    };
    let (mut asked, ports) = daemons::on_new(snapshot, &host, &way);
    asked.add(&pod.spec.requests);
    let clash = |port: &HostPort| ports.iter().any(|other| super::ports::clash(other, port));
    let room = sold.instance_type.allocatable(sold.offering());
    !pod.spec.host_ports.iter().any(clash) && room.fits(&asked)
}
