//! A place for pods as the checker sees it, whether it exists or is to be bought: taints, labels, and the ways it may turn out.
//!
//! An existing node has one way. A claim has as many as it may be launched in, and whatever is put on it must be right in
//! each of them: the plan does not choose what the cloud gives.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use plimsoll_base::labels::{CAPACITY_TYPE, HOSTNAME, LabelKey, ZONE};
use plimsoll_base::requirement::{Operator, Requirement, Requirements};
use plimsoll_base::resources::Resources;
use plimsoll_model::catalogue::{InstanceType, Offering};
use plimsoll_model::provider::ProviderFacts;
use plimsoll_model::{HostPort, Taint};

use super::finding::Place;
use super::volumes::AttachedClaims;

/// An instance type and one of its offerings.
#[derive(Clone, Debug)]
pub(super) struct Sold {
    pub(super) provider: Arc<ProviderFacts>,
    pub(super) instance_type: Arc<InstanceType>,
    pub(super) at: usize,
}

impl Sold {
    pub(super) fn offering(&self) -> &Offering {
        &self.instance_type.offerings[self.at]
    }

    /// `true` if a label names the reservation that a node draws on.
    fn draws_by(&self, key: &str) -> bool {
        let reservation_id = self.provider.reservation_id.as_ref();
        reservation_id.is_some_and(|own| own.as_str() == key)
    }

    /// Requirement of its nodes on a label; `None` where type and offering leave it open.
    pub(super) fn value(&self, key: &str) -> Option<Requirement> {
        let offering = self.offering();
        let own = match key {
            ZONE => Some(Requirement::one_of(
                LabelKey::from(key),
                [Arc::clone(&offering.zone)],
            )),
            CAPACITY_TYPE => Some(Requirement::one_of(
                LabelKey::from(key),
                [offering.capacity_type.as_str()],
            )),
            _ if self.draws_by(key) => Some(match &offering.reservation {
                Some(reservation) => {
                    Requirement::one_of(LabelKey::from(key), [reservation.id.as_str()])
                }
                None => Requirement::does_not_exist(LabelKey::from(key)),
            }),
            _ => offering.requirements.get(key).cloned(),
        };
        both(own, self.instance_type.requirements.get(key).cloned())
    }
}

/// `m7g.large in zone-a, spot`
impl std::fmt::Display for Sold {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let offering = self.offering();
        write!(
            f,
            "{} in {}, {}",
            self.instance_type.name, offering.zone, offering.capacity_type
        )
    }
}

/// One way in which a place may turn out.
#[derive(Clone, Debug)]
pub(super) struct Way {
    /// Offering to buy; `None` for an existing node.
    pub(super) sold: Option<Sold>,
    /// `true` if the plan names it. Ways that only the claim's requirements allow decide domains, nothing else.
    pub(super) named: bool,
    /// Resources for pods of the plan, daemons already taken off.
    pub(super) room: Resources,
    /// Ports that daemons will take.
    pub(super) daemon_ports: Vec<HostPort>,
}

/// A place for pods.
#[derive(Clone, Debug)]
pub(super) struct Host {
    pub(super) place: Place,
    /// Row among the nodes of the snapshot; `None` for one to buy.
    pub(super) row: Option<usize>,
    /// `true` if it takes pods at all.
    pub(super) is_deleting: bool,
    pub(super) taints: Vec<Taint>,
    /// Labels, and requirements of a claim, as far as they do not depend on the way.
    pub(super) node: Requirements,
    pub(super) ways: Vec<Way>,
    /// Ports of pods, bound and placed.
    pub(super) ports: Vec<HostPort>,
    /// Requests of pods of the plan together.
    pub(super) asked: Resources,
    /// Volumes of pods, bound and placed.
    pub(super) attached: AttachedClaims,
    /// Names of volumes that are attached though maybe no pod uses them, by driver.
    pub(super) lingering: BTreeMap<Arc<str>, BTreeSet<Arc<str>>>,
    /// Attach limits by driver.
    pub(super) attach_limits: BTreeMap<Arc<str>, u32>,
}

impl Host {
    /// Requirement on a label in one way; `None` where nothing is known of it.
    pub(super) fn value(&self, way: &Way, key: &str) -> Option<Requirement> {
        let sold = way.sold.as_ref().and_then(|sold| sold.value(key));
        both(self.node.get(key).cloned(), sold)
    }

    /// The first of `asked` that this place, in one way, does not satisfy for certain.
    pub(super) fn first_unmet(&self, way: &Way, asked: &Requirements) -> Option<String> {
        asked.iter().find_map(|asked| {
            let have = self.value(way, asked.key().as_str());
            if is_within(have.as_ref(), asked) {
                return None;
            }
            Some(match have {
                Some(have) => format!("asks {asked}, has {have}"),
                None => format!("asks {asked}, has no such label"),
            })
        })
    }

    /// The ways that the plan names, or the only one.
    pub(super) fn named(&self) -> impl Iterator<Item = &Way> {
        self.ways.iter().filter(|way| way.named)
    }

    /// The domains of a key that this place may turn out to be in, sorted; `None` stands for no label.
    pub(super) fn domains(&self, key: &LabelKey) -> Vec<Option<Arc<str>>> {
        self.domains_of(self.ways.iter(), key)
    }

    /// The same if it turns out in one of some ways.
    pub(super) fn domains_of<'w>(
        &self,
        ways: impl Iterator<Item = &'w Way>,
        key: &LabelKey,
    ) -> Vec<Option<Arc<str>>> {
        if key.as_str() == HOSTNAME {
            let own = self
                .node
                .get(HOSTNAME)
                .and_then(Requirement::single)
                .cloned();
            return vec![own];
        }
        let mut domains = Vec::new();
        for way in ways {
            match self.value(way, key.as_str()) {
                Some(value) if value.operator() == Operator::In => {
                    domains.extend(value.named().iter().cloned().map(Some));
                }
                _ => domains.push(None),
            }
        }
        domains.sort_unstable();
        domains.dedup();
        domains
    }
}

/// Intersection of two requirements; the one that there is where there is one, `None` where there is none.
fn both(one: Option<Requirement>, other: Option<Requirement>) -> Option<Requirement> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.intersect(&other)),
        (one, other) => one.or(other),
    }
}

/// `true` if whatever value `have` allows satisfies `asked`; an absent label only satisfies what absence satisfies.
pub(super) fn is_within(have: Option<&Requirement>, asked: &Requirement) -> bool {
    let Some(have) = have else {
        return asked.allows_absence();
    };
    if have.operator() == Operator::DoesNotExist {
        return asked.allows_absence();
    }
    let bare = |requirement: Requirement| requirement.with_min_values(None);
    bare(have.intersect(asked)) == bare(have.clone())
}
