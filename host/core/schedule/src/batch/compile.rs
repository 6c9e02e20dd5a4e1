//! From a snapshot to what the solver works on: pods in groups, rows to buy, topology groups, free nodes.
//!
//! Pods are equal when nothing that any rule reads tells them apart: same needs, same own constraints, selected by the same
//! constraints of others, same volumes' places. Labels that no selector reads do not count. All work after this is per group
//! where it can be.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use plimsoll_base::bits::Bits;
use plimsoll_base::ids::Uid;
use plimsoll_base::labels::{LabelKey, Labels};
use plimsoll_base::requirement::{Requirement, Requirements};
use plimsoll_model::plan::{Note, Unplaced};
use plimsoll_model::snapshot::{NodeRemoval, PreferencePolicy, Snapshot};
use plimsoll_model::{PodSpec, SpreadConstraint};

use super::addresses::Addresses;
use super::alike::Alike;
use super::attach_slots::AttachSlots;
use super::domains;
use super::existing::Existing;
use super::freed::FreedLimits;
use super::node_shares::NodeShares;
use super::pod_group::{Level, PodGroup, heed_others};
use super::unsold::unsold;
use crate::offers::Stock;
use crate::offers::axes::Axes;
use crate::offers::rows::{Rows, open_keys};
use crate::offers::templates::{Template, templates};
use crate::offers::unused::unused_notes;
use crate::pods::eligible::{Eligible, queue_order, waiting};
use crate::pods::needs::NodeNeeds;
use crate::pods::relax::{Wishes, steps};
use crate::pods::volumes;
use crate::prices::sale::{Offers, Sale};
use crate::reading::Reading;
use crate::topology::{Builder, CountInputs, Counts, Owned, TopologyModel};

/// A pod of the batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BatchPod {
    /// Row in the snapshot.
    pub(crate) row: usize,
    /// Its group.
    pub(crate) group: usize,
    /// `true` if it stands for room that is only kept, and yields to all others.
    pub(crate) is_spare: bool,
}

/// Everything the solver reads.
#[derive(Clone)]
pub(crate) struct Compiled<'s> {
    /// Rows for sale to this batch, with the offers they come from.
    sale: Sale<'s>,
    pub(crate) axes: Axes,
    pub(crate) groups: Vec<PodGroup>,
    /// Numbers of equal fits and of equal host rules, by group and step.
    pub(crate) alike: Alike,
    /// Pods in queue order.
    pub(crate) pods: Vec<BatchPod>,
    /// Attach slots that volumes of pods take of a new node.
    pub(crate) slots: AttachSlots,
    /// Addresses that zones have left for new nodes and their pods.
    pub(crate) addresses: Addresses,
    pub(crate) model: TopologyModel,
    /// Counts before any placement.
    pub(crate) counts: Counts,
    pub(crate) existing: Existing,
    /// Shares of limits of the nodes that may be removed, which the templates' limits have.
    pub(crate) freed: FreedLimits,
    /// Nodes that are taken to be gone, or closed to pods.
    pub(crate) removal: NodeRemoval,
    /// Requests of the pods of each pool, by template.
    pub(crate) shares: NodeShares,
    /// Pods that cannot be planned at all.
    pub(crate) refused: Vec<Unplaced>,
    /// Remarks that hold for any plan.
    pub(crate) notes: Vec<Note>,
    /// Replicas of each workload. Counted when they are first asked for.
    replicas: OnceLock<BTreeMap<Uid, u32>>,
}

impl<'s> Deref for Compiled<'s> {
    type Target = Sale<'s>;

    fn deref(&self) -> &Sale<'s> {
        &self.sale
    }
}

impl Compiled<'_> {
    /// Positions of all pods of the batch.
    pub(crate) fn all(&self) -> Vec<usize> {
        (0..self.pods.len()).collect()
    }

    /// Replicas of each workload by owner, those that run and those that wait; room that is only kept is none.
    pub(crate) fn replicas(&self) -> &BTreeMap<Uid, u32> {
        let count = || {
            let mut replicas: BTreeMap<&Uid, u32> = BTreeMap::new();
            let pods = self.snapshot.pods.iter();
            for pod in pods.filter(|pod| pod.is_active() && !pod.is_spare()) {
                if let Some(owner) = &pod.owner {
                    *replicas.entry(&owner.uid).or_default() += 1;
                }
            }
            let replicas = replicas.into_iter();
            replicas.map(|(uid, count)| (uid.clone(), count)).collect()
        };
        self.replicas.get_or_init(count)
    }

    /// Positions of pods that exist, and of those that stand for room that is only kept.
    pub(crate) fn real_and_spare(&self) -> (Vec<usize>, Vec<usize>) {
        let is_real = |pod: &usize| !self.pods[*pod].is_spare;
        self.all().into_iter().partition(is_real)
    }
}

/// A pod's needs with the spread that holds for it, its own or the cluster's default.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Shape {
    spec: Arc<PodSpec>,
    spread: Vec<SpreadConstraint>,
}

/// Key of a group among pods of one shape: two pods with equal keys are never told apart.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct PodGroupKey {
    shape: usize,
    owned: Vec<Owned>,
    inverse: Vec<usize>,
    selected: Vec<usize>,
    alternatives: Vec<Requirements>,
    needs: NodeNeeds,
}

/// Compiles a snapshot for the pods that wait in it, those of deleting nodes among them.
pub(crate) fn compile<'s>(snapshot: &'s Snapshot, earlier: Option<&Arc<Offers>>) -> Compiled<'s> {
    let reading = Reading::of(snapshot);
    let as_it_is = NodeRemoval::none();
    let mut batch = waiting(snapshot);
    batch.pods.extend(reading.displaced(&as_it_is));
    compile_batch(&reading, as_it_is, &[], batch, earlier)
}

/// Compiles a snapshot for a batch of its pods. Some nodes may be taken to be gone; candidates may be removed later, and templates have
/// their shares of limits. Topology counts all other pods.
pub(crate) fn compile_batch<'s>(
    reading: &Reading<'s>,
    removal: NodeRemoval,
    candidates: &[usize],
    batch: Eligible,
    earlier: Option<&Arc<Offers>>,
) -> Compiled<'s> {
    let snapshot = reading.snapshot;
    let Eligible { mut pods, refused } = batch;
    queue_order(snapshot, &mut pods);
    let offers = Offers::of(snapshot, earlier);
    let overlaid = &offers.overlaid;
    let supply = reading.supply(&offers, &removal);
    let mut templates = templates(snapshot, overlaid, Some(&supply));
    let freed = FreedLimits::take(snapshot, candidates, &mut templates);
    let soft_taints = templates.iter().any(Template::has_soft_taint);
    let (shapes, shape_of) = shapes(snapshot, &pods);
    let wishes = wishes_of(&shapes, snapshot.settings.preferences, soft_taints);
    let axes = Axes::of(shapes.iter().map(|shape| &shape.spec.requests));

    let mut builder = Builder::default();
    let (keys, group_of) = group_keys(reading, &pods, &shape_of, &wishes, &mut builder);
    let required = required_keys(&wishes, &keys);
    let mentioned: BTreeSet<LabelKey> = required.iter().chain(builder.keys()).cloned().collect();
    learn_states(
        &offers,
        &mut templates,
        &mentioned,
        &wishes,
        &keys,
        &builder,
    );
    let mut notes = unused_notes(snapshot, &offers.overlaid);
    notes.extend(unsold(snapshot, &offers, &templates));
    let mut sale = Sale::new(snapshot, offers, templates, &axes, supply);
    let (templates, rows) = (&sale.templates, &mut sale.rows);
    let counted = CountInputs {
        reading,
        removal: &removal,
        batch: &rows_of(snapshot, &pods),
    };
    let (mut model, counts) = builder.finish(counted, templates, rows);
    let group_of_key = |key: PodGroupKey| {
        let (shape, wishes) = (&shapes[key.shape], &wishes[key.shape]);
        pod_group(snapshot, templates, rows, &model, &axes, key, shape, wishes)
    };
    let mut groups: Vec<PodGroup> = keys.into_iter().map(group_of_key).collect();
    heed_others(&mut groups, &model);
    domains::learn(&mut model, &groups, &sale.rows);
    let existing = Existing::of(reading, &removal, &axes, &required);
    let pods = batch_pods(snapshot, &pods, &group_of);
    Compiled {
        shares: NodeShares::of(reading, &removal, &sale, &groups, &pods),
        addresses: Addresses::of(&sale.supply, &sale.templates, &sale.rows),
        sale,
        axes,
        alike: Alike::of(&groups, &model),
        groups,
        slots: AttachSlots::of(snapshot, &pods),
        pods,
        model,
        counts,
        existing,
        freed,
        removal,
        refused,
        notes,
        replicas: OnceLock::new(),
    }
}

/// Steps of relaxation of each shape.
fn wishes_of(
    shapes: &[Shape],
    preferences: PreferencePolicy,
    soft_taints: bool,
) -> Vec<Vec<Wishes<'_>>> {
    shapes
        .iter()
        .map(|shape| steps(&shape.spec, &shape.spread, preferences, soft_taints))
        .collect()
}

/// Rows of a snapshot's pods, as a set.
fn rows_of(snapshot: &Snapshot, pods: &[usize]) -> Bits {
    let mut rows = Bits::none(snapshot.pods.len());
    for row in pods {
        rows.insert(*row);
    }
    rows
}

/// Pods of the batch with their groups, which are parallel to them.
fn batch_pods(snapshot: &Snapshot, rows: &[usize], group_of: &[usize]) -> Vec<BatchPod> {
    let of_row = |(row, group): (&usize, &usize)| BatchPod {
        row: *row,
        group: *group,
        is_spare: snapshot.pods[*row].is_spare(),
    };
    rows.iter().zip(group_of).map(of_row).collect()
}

/// Distinct shapes of pods, and each pod's.
fn shapes(snapshot: &Snapshot, pods: &[usize]) -> (Vec<Shape>, Vec<usize>) {
    let with_defaults = !snapshot.settings.default_spread.is_empty();
    let mut by_pointer: BTreeMap<*const PodSpec, usize> = BTreeMap::new();
    let mut numbers: BTreeMap<Shape, usize> = BTreeMap::new();
    let mut shape_of = Vec::with_capacity(pods.len());
    for row in pods {
        let pod = &snapshot.pods[*row];
        let pointer = Arc::as_ptr(&pod.spec);
        let known = by_pointer
            .get(&pointer)
            .copied()
            .filter(|_| !with_defaults || !pod.spec.spread.is_empty());
        let number = known.unwrap_or_else(|| {
            let defaults = snapshot.default_constraints(pod);
            let spread = if defaults.is_empty() {
                pod.spec.spread.clone()
            } else {
                defaults
            };
            let next = numbers.len();
            *numbers
                .entry(Shape {
                    spec: Arc::clone(&pod.spec),
                    spread,
                })
                .or_insert(next)
        });
        by_pointer.insert(pointer, number);
        shape_of.push(number);
    }
    (by_number(numbers), shape_of)
}

/// The keys of a numbering from 0, in the order of their numbers.
fn by_number<K>(numbers: BTreeMap<K, usize>) -> Vec<K> {
    let mut keys: Vec<(K, usize)> = numbers.into_iter().collect();
    keys.sort_by_key(|(_, number)| *number);
    keys.into_iter().map(|(key, _)| key).collect()
}

/// Key of a pod's terms: its shape, its namespace and its labels.
type PodTermsKey<'a> = (usize, &'a Arc<str>, *const Labels);

/// Distinct groups of pods, and each pod's.
fn group_keys(
    reading: &Reading<'_>,
    pods: &[usize],
    shape_of: &[usize],
    wishes: &[Vec<Wishes<'_>>],
    builder: &mut Builder,
) -> (Vec<PodGroupKey>, Vec<usize>) {
    let snapshot = reading.snapshot;
    let batch: BTreeSet<usize> = pods.iter().copied().collect();
    let others = reading.anti_affine().iter();
    for row in others.filter(|row| !batch.contains(row)) {
        builder.learn_bound(snapshot, *row);
    }
    let place = |at: usize, row: usize| -> PodTermsKey<'_> {
        let pod = &snapshot.pods[row];
        (shape_of[at], &pod.name.namespace, Arc::as_ptr(&pod.labels))
    };
    let mut terms: BTreeMap<PodTermsKey<'_>, (Vec<Owned>, Vec<usize>)> = BTreeMap::new();
    for (at, row) in pods.iter().enumerate() {
        let pod = &snapshot.pods[*row];
        terms.entry(place(at, *row)).or_insert_with(|| {
            let owned = wishes[shape_of[at]]
                .iter()
                .map(|wishes| builder.own(snapshot, pod, wishes))
                .collect();
            (owned, builder.inverse(snapshot, pod))
        });
    }
    builder.learn_daemons(snapshot);
    let mut selecting: BTreeMap<(&Arc<str>, *const Labels), Vec<usize>> = BTreeMap::new();
    let mut known: BTreeMap<PodTermsKey<'_>, usize> = BTreeMap::new();
    let mut numbers: BTreeMap<PodGroupKey, usize> = BTreeMap::new();
    let mut group_of = Vec::with_capacity(pods.len());
    for (at, row) in pods.iter().enumerate() {
        let pod = &snapshot.pods[*row];
        let here = place(at, *row);
        let has_volumes = !pod.spec.volumes.is_empty();
        if let Some(number) = known.get(&here).filter(|_| !has_volumes) {
            group_of.push(*number);
            continue;
        }
        let selected = selecting
            .entry((here.1, here.2))
            .or_insert_with(|| builder.selecting(&pod.name.namespace, &pod.labels))
            .clone();
        let (owned, inverse) = terms[&here].clone();
        let alternatives = volumes::alternatives(pod, &snapshot.volumes);
        let next = numbers.len();
        let key = PodGroupKey {
            shape: shape_of[at],
            owned,
            inverse,
            selected,
            alternatives,
            needs: NodeNeeds::of(pod, &snapshot.volumes),
        };
        let number = *numbers.entry(key).or_insert(next);
        known.insert(here, number);
        group_of.push(number);
    }
    (by_number(numbers), group_of)
}

/// Label keys of nodes of which some pod of the batch, or a volume of one, requires or prefers values.
fn required_keys(wishes: &[Vec<Wishes<'_>>], keys: &[PodGroupKey]) -> BTreeSet<LabelKey> {
    let of_pods = wishes.iter().flatten().flat_map(Wishes::required_keys);
    let of_volumes = keys
        .iter()
        .flat_map(|key| &key.alternatives)
        .flat_map(Requirements::iter)
        .map(|requirement| requirement.key().clone());
    of_pods.chain(of_volumes).collect()
}

/// Teaches templates which choices of open labels pods ask for, topology domains among them.
fn learn_states(
    offers: &Stock,
    templates: &mut [Template],
    mentioned: &BTreeSet<LabelKey>,
    wishes: &[Vec<Wishes<'_>>],
    keys: &[PodGroupKey],
    builder: &Builder,
) {
    let mut asked: BTreeSet<Requirements> =
        wishes.iter().flatten().map(Wishes::requirements).collect();
    asked.extend(keys.iter().flat_map(|key| key.alternatives.iter().cloned()));
    for number in 0..templates.len() {
        let template = &templates[number];
        let open = open_keys(template, mentioned);
        let mut own: Vec<Requirements> = asked.iter().cloned().collect();
        for key in builder.keys().iter().filter(|key| open.contains(*key)) {
            let values = offers.reachable(templates, number, key);
            own.extend(
                values.into_iter().map(|value| {
                    std::iter::once(Requirement::one_of(key.clone(), [value])).collect()
                }),
            );
        }
        templates[number].learn_states(open, &own);
    }
}

#[expect(
    clippy::too_many_arguments,
    reason = "one call, of values that have no reason to travel together otherwise"
)]
fn pod_group(
    snapshot: &Snapshot,
    templates: &[Template],
    rows: &mut Rows,
    model: &TopologyModel,
    axes: &Axes,
    key: PodGroupKey,
    shape: &Shape,
    wishes: &[Wishes<'_>],
) -> PodGroup {
    let request = axes.vector(&shape.spec.requests);
    let free_ports = rows.without_port_conflict(&shape.spec.host_ports);
    let refusing = (0..templates.len()).filter(|number| {
        let pool = &templates[*number].pool.name;
        key.needs.refused_by(pool, snapshot).is_some()
    });
    let refusing: Vec<usize> = refusing.collect();
    let levels = wishes
        .iter()
        .zip(&key.owned)
        .map(|(wishes, owned)| {
            let requirements = wishes.requirements();
            let tolerations = wishes.tolerations();
            let mut base = rows.allowed(snapshot, templates, &requirements);
            base.keep(&rows.tolerated(templates, &tolerations));
            if let Some(free) = &free_ports {
                base.keep(free);
            }
            for number in &refusing {
                base.drop_all(&rows.of_template[*number]);
            }
            let daemons = model.heed_daemons(&owned.groups, &key.selected, &mut base);
            let of_alternative = |volumes: &Requirements| {
                if volumes::names_a_host(volumes) {
                    return Bits::none(rows.len());
                }
                base.and(&rows.allowed(snapshot, templates, volumes))
            };
            let alternatives = key.alternatives.iter().map(of_alternative).collect();
            let groups = owned.groups.iter().chain(&key.selected).chain(&key.inverse);
            let keys = model.keys_of(groups);
            let strict = wishes.strict_requirements();
            let domains = keys
                .iter()
                .map(|key| model.domains_of(&strict, *key))
                .collect();
            Level {
                requirements,
                tolerations,
                owned: owned.groups.clone(),
                heeded: Vec::new(),
                daemons,
                keys,
                domains,
                rows: alternatives,
            }
        })
        .collect();
    PodGroup {
        spec: Arc::clone(&shape.spec),
        request,
        levels,
        selected: key.selected,
        inverse: key.inverse,
        heeded_by_others: Vec::new(),
        alternatives: key.alternatives,
        needs: key.needs,
    }
}
