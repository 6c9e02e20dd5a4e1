//! Places for pods that leave room for those that want to be near them.
//!
//! Pods are placed one by one, so a pod may take a place, a full node for instance, that its followers cannot reach. Followers
//! found waiting are remembered here, and the next attempt keeps the pods they follow to places with room for both.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use plimsoll_base::bits::Bits;

use super::sum;
use crate::batch::compile::Compiled;
use crate::batch::existing::NodeRequest;
use crate::batch::pod_group::PodGroup;
use crate::offers::axes::fits;
use crate::topology::TopologyRule;

/// Places of one group of pods that leave room for its followers.
#[derive(Clone, Debug)]
struct DependentsPlaces {
    /// Rows to buy that followers can use too.
    rows: Bits,
    /// Existing nodes, by row, that followers can use too.
    nodes: Bits,
    /// Room kept for a follower that must share the host.
    request: Box<[i64]>,
}

/// Places by group of pods; groups without followers have none.
#[derive(Clone, Debug, Default)]
pub(crate) struct Dependents {
    places: BTreeMap<usize, DependentsPlaces>,
}

/// No followers at all.
pub(crate) static NO_DEPENDENTS: Dependents = Dependents {
    places: BTreeMap::new(),
};

impl Dependents {
    /// `true` if no pod follows another.
    pub(crate) fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Learns from pods, by position in the batch, that found no place.
    pub(crate) fn of(compiled: &Compiled<'_>, waiting: &BTreeSet<usize>) -> Self {
        let groups: BTreeSet<usize> = waiting
            .iter()
            .map(|pod| compiled.pods[*pod].group)
            .collect();
        let mut result = Self::default();
        for follower in groups.into_iter().map(|group| &compiled.groups[group]) {
            for affinity in followed(compiled, follower) {
                result.keep_open(compiled, follower, affinity);
            }
        }
        result
    }

    /// Keeps every group of pods that an affinity selects to places that the follower can use.
    fn keep_open(&mut self, compiled: &Compiled<'_>, follower: &PodGroup, affinity: usize) {
        let place = place_for(compiled, follower, affinity);
        for (number, target) in compiled.groups.iter().enumerate() {
            if target.selected.binary_search(&affinity).is_err() {
                continue;
            }
            self.places
                .entry(number)
                .and_modify(|known| known.narrow(&place))
                .or_insert_with(|| place.clone());
        }
    }

    /// `true` if some follower waits for pods of a group.
    pub(crate) fn is_followed(&self, group: usize) -> bool {
        self.places.contains_key(&group)
    }

    /// Rows to buy that a group is kept to.
    pub(crate) fn rows(&self, group: usize) -> Option<&Bits> {
        self.places.get(&group).map(|place| &place.rows)
    }

    /// `true` if a group may use an existing node.
    pub(crate) fn admits(&self, group: usize, node: usize) -> bool {
        self.places
            .get(&group)
            .is_none_or(|place| place.nodes.contains(node))
    }

    /// Amounts per axis that must fit on a node: `used`, and a follower where one must share the host.
    pub(crate) fn with_follower<'a>(&self, group: usize, used: &'a [i64]) -> Cow<'a, [i64]> {
        match self.places.get(&group) {
            Some(place) => Cow::Owned(sum(used, &place.request).into()),
            None => Cow::Borrowed(used),
        }
    }
}

/// `true` if pods of a group can only be where other pods are.
pub(crate) fn follows(compiled: &Compiled<'_>, group: &PodGroup) -> bool {
    followed(compiled, group).next().is_some()
}

/// The affinities that a group cannot meet by itself, once all preferences are given up.
fn followed<'a>(
    compiled: &'a Compiled<'_>,
    group: &'a PodGroup,
) -> impl Iterator<Item = usize> + 'a {
    let owned = group
        .levels
        .last()
        .into_iter()
        .flat_map(|level| &level.owned)
        .copied();
    owned.filter(|owned| {
        compiled.model.groups[*owned].identity.rule == TopologyRule::Affinity
            && group.selected.binary_search(owned).is_err()
    })
}

/// The pods in their order, those of [`joining_others`] last.
pub(crate) fn others_first(compiled: &Compiled<'_>, order: Vec<usize>) -> Vec<usize> {
    let joining = joining_others(compiled);
    let is_other = |pod: &usize| !joining.contains(compiled.pods[*pod].group);
    let (mut result, last): (Vec<usize>, Vec<usize>) = order.into_iter().partition(is_other);
    result.extend(last);
    result
}

/// Groups with an affinity that selects them and pods of other groups. While no such pod is anywhere, one of these may begin a domain of
/// its own (`satisfyPodAffinity`); the kube-scheduler may bind the others first, and then it may not. Placed after them it is where it may
/// be whichever comes first.
fn joining_others(compiled: &Compiled<'_>) -> Bits {
    let mut owners: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    for (number, group) in compiled.groups.iter().enumerate() {
        let owned = group.last_levels().iter().flat_map(|level| &level.owned);
        for owned in owned.filter(|owned| group.selected.binary_search(owned).is_ok()) {
            if compiled.model.groups[*owned].identity.rule == TopologyRule::Affinity {
                owners.entry(*owned).or_default().insert(number);
            }
        }
    }
    let mut result = Bits::none(compiled.groups.len());
    for (number, group) in compiled.groups.iter().enumerate() {
        let owners = group.selected.iter().filter_map(|it| owners.get(it));
        for owner in owners.filter(|owners| !owners.contains(&number)).flatten() {
            result.insert(*owner);
        }
    }
    result
}

impl DependentsPlaces {
    fn narrow(&mut self, other: &Self) {
        self.rows.keep(&other.rows);
        self.nodes.keep(&other.nodes);
        for (own, other) in self.request.iter_mut().zip(&other.request) {
            *own = (*own).max(*other);
        }
    }
}

/// Where a follower itself can be, as far as its affinity makes that matter to others: the same host, or the same domain.
fn place_for(compiled: &Compiled<'_>, follower: &PodGroup, affinity: usize) -> DependentsPlaces {
    let own = reach(compiled, follower);
    let key = &compiled.model.keys[compiled.model.groups[affinity].identity.key];
    if key.is_host {
        return DependentsPlaces {
            request: follower.request.clone(),
            ..own
        };
    }
    let mut wide = DependentsPlaces {
        rows: Bits::none(compiled.rows.len()),
        nodes: Bits::none(compiled.existing.free.len()),
        request: vec![0; follower.request.len()].into(),
    };
    for (domain, rows) in key.rows.iter().enumerate() {
        let mut nodes = Bits::none(compiled.existing.free.len());
        (0..key.of_node.len())
            .filter(|node| key.of_node[*node] == domain)
            .for_each(|node| nodes.insert(node));
        if rows.meets(&own.rows) || nodes.meets(&own.nodes) {
            wide.rows.join(rows);
            wide.nodes.join(&nodes);
        }
    }
    wide
}

/// Rows and nodes with room for a pod of the group alone.
fn reach(compiled: &Compiled<'_>, group: &PodGroup) -> DependentsPlaces {
    let mut rows = Bits::none(compiled.rows.len());
    let mut nodes = Bits::none(compiled.existing.free.len());
    for level in group.last_levels() {
        for (volumes, open) in group.alternatives.iter().zip(&level.rows) {
            open.iter()
                .filter(|row| fits(&group.request, compiled.rows.capacity(*row)))
                .for_each(|row| rows.insert(row));
            let asked = NodeRequest {
                requirements: &level.requirements,
                volumes,
                tolerations: &level.tolerations,
                needs: &group.needs,
            };
            for node in compiled.existing.open_to(compiled.snapshot, asked) {
                nodes.insert(node);
            }
        }
    }
    DependentsPlaces {
        rows,
        nodes: with_room(compiled, &nodes, &group.request),
        request: group.request.clone(),
    }
}

fn with_room(compiled: &Compiled<'_>, nodes: &Bits, request: &[i64]) -> Bits {
    let mut result = Bits::none(compiled.existing.free.len());
    nodes
        .iter()
        .filter(|node| {
            let free = compiled.existing.free[*node].as_ref();
            free.is_some_and(|free| fits(request, free))
        })
        .for_each(|node| result.insert(node));
    result
}
