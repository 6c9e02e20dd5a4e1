//! Parts of a batch that share nothing, each to be planned by itself.
//!
//! Groups of pods are in one part where they may meet: in a pool that both may use, on an existing node that both could be put
//! on, in a topology group that some pod of the batch heeds, at a volume claim of both. What else pools share (reservations, first
//! prices of a policy, addresses of zones) seldom runs out: it ties parts together only once they have taken more of it than
//! there is.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use plimsoll_base::bits::Bits;
use plimsoll_base::ids::ObjectName;
use plimsoll_base::units::PricePerHour;
use plimsoll_model::PodVolume;
use plimsoll_model::plan::Note;

use super::draft::DraftPlan;
use super::joined::joined;
use crate::batch::compile::Compiled;
use crate::batch::existing::NodeRequest;
use crate::batch::pod_group::PodGroup;
use crate::guards::addresses;
use crate::place::free_addresses::rows_in;
use crate::place::new_node::NewNode;
use crate::prices::RowPrices;
use crate::prices::supplies::Supplies;

/// Groups of equal pods that are searched in one plan: some seconds of a processor.
const MOST_SEARCHED: usize = 10_000;

/// Plans some pods of a batch part by part. `plan` answers each part with its plan and a cost of which the sum is wanted; parts that
/// overdraw what they share are planned again as one.
pub(crate) fn in_parts(
    compiled: &Compiled<'_>,
    prices: &RowPrices,
    pods: &[usize],
    plan: impl Fn(&[Part]) -> Vec<(DraftPlan, PricePerHour)>,
) -> (DraftPlan, PricePerHour) {
    let mut ties = Ties::default();
    let mut known: BTreeMap<Part, (DraftPlan, PricePerHour)> = BTreeMap::new();
    loop {
        let mut parts = parts(compiled, prices, pods, &ties);
        let spared = within_budget(compiled, &mut parts);
        let new = parts.iter().filter(|part| !known.contains_key(part));
        let new: Vec<Part> = new.cloned().collect();
        let plans = plan(&new);
        known.extend(new.into_iter().zip(plans));
        let own = parts.iter().filter_map(|part| known.get(part));
        let cost = own.clone().map(|(_, cost)| *cost).sum();
        let mut whole = joined(compiled, own.map(|(plan, _)| plan));
        let is_one = parts.len() < 2;
        if is_one || !ties.extend(Ties::overdrawn(compiled, prices, &whole)) {
            whole.notes.extend(spared);
            return (whole, cost);
        }
    }
}

/// Leaves parts no effort beyond a first good fleet once so many groups of pods have been searched in larger ones; the remark that
/// says so.
fn within_budget(compiled: &Compiled<'_>, parts: &mut [Part]) -> Option<Note> {
    let groups = |part: &Part| {
        let groups = part.pods.iter().map(|pod| compiled.pods[*pod].group);
        groups.collect::<BTreeSet<usize>>().len()
    };
    let all = parts.len();
    let mut largest: Vec<&mut Part> = parts.iter_mut().collect();
    largest.sort_by_key(|part| Reverse(part.pods.len()));
    let (mut searched, mut spared) = (0, 0);
    for part in largest {
        // The first is searched however large it is.
        if searched > 0 && searched + groups(part) > MOST_SEARCHED && part.effort > 0 {
            part.effort = 0;
            spared += 1;
        } else {
            searched += groups(part);
        }
    }
    (spared > 0).then(|| {
        Note::of_plan(format!(
            "search effort: {spared} of {all} parts of the plan that share nothing were packed in one way each; {MOST_SEARCHED} groups of equal pods are searched in one plan"
        ))
    })
}

/// Pods to be planned together, and the pools they may use.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Part {
    /// Positions in the batch, in queue order.
    pub(crate) pods: Vec<usize>,
    /// Templates, in order of preference.
    pub(crate) templates: Vec<usize>,
    /// Counted work of the packer.
    pub(crate) effort: u32,
}

impl Part {
    /// Some pods of a batch in one part.
    pub(super) fn whole(compiled: &Compiled<'_>, pods: &[usize]) -> Self {
        Self {
            pods: pods.to_vec(),
            templates: (0..compiled.templates.len()).collect(),
            effort: compiled.snapshot.settings.effort,
        }
    }
}

/// Supplies of which parts have taken more together than there is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Ties {
    /// Reservations and first prices, as positions among the supplies of prices.
    supplies: BTreeSet<usize>,
    /// Zones whose addresses are short.
    zones: BTreeSet<usize>,
}

impl Ties {
    /// Ties by all that a plan overdraws.
    fn overdrawn(compiled: &Compiled<'_>, prices: &RowPrices, plan: &DraftPlan) -> Self {
        let guards = &compiled.snapshot.settings.guards;
        let left = compiled.addresses.left();
        let beyond = addresses::beyond(compiled, guards, left, &plan.nodes);
        let zones = beyond.iter().enumerate().filter(|(_, beyond)| **beyond > 0);
        let mut taken = vec![0_usize; prices.supplies.len()];
        if !taken.is_empty() {
            let supplies = Supplies::new(prices);
            let drawn = |node: &NewNode| supplies.drawn_on(node.row, node.price);
            for supply in plan.nodes.iter().filter_map(drawn) {
                taken[supply] += 1;
            }
        }
        let is_short = |(supply, taken): (usize, usize)| {
            (taken > prices.supplies[supply] as usize).then_some(supply)
        };
        Self {
            zones: zones.map(|(zone, _)| zone).collect(),
            supplies: taken.into_iter().enumerate().filter_map(is_short).collect(),
        }
    }

    /// Adds others; `true` if any of them is new.
    fn extend(&mut self, others: Self) -> bool {
        let before = self.supplies.len() + self.zones.len();
        self.supplies.extend(others.supplies);
        self.zones.extend(others.zones);
        self.supplies.len() + self.zones.len() > before
    }

    /// Sets of rows of which all that may use any are tied together.
    fn rows(&self, compiled: &Compiled<'_>, prices: &RowPrices) -> Vec<Bits> {
        let mut of_supply: BTreeMap<usize, Bits> = BTreeMap::new();
        let first = prices.first.iter().map(|(row, _, supply)| (row, supply));
        for (row, supply) in first.chain(&prices.reserved) {
            if self.supplies.contains(supply) {
                of_supply.entry(*supply).or_default().insert(*row);
            }
        }
        let zones = self.zones.iter().map(|zone| rows_in(compiled, *zone));
        of_supply.into_values().chain(zones).collect()
    }
}

/// The parts of some pods of a batch, in the order of their first pods.
fn parts(compiled: &Compiled<'_>, prices: &RowPrices, pods: &[usize], ties: &Ties) -> Vec<Part> {
    if compiled.templates.len() < 2 {
        return vec![Part::whole(compiled, pods)];
    }
    let mut links = Links::new(compiled, pods);
    links.by_templates();
    links.by_topology();
    links.by_daemons();
    links.by_existing_nodes();
    links.by_volume_claims(pods);
    links.by_rows(&ties.rows(compiled, prices));
    links.into_parts(pods)
}

/// Groups of pods, linked where they may meet.
struct Links<'c, 's> {
    compiled: &'c Compiled<'s>,
    /// Groups of which there are pods, ascending.
    groups: Vec<usize>,
    /// By group: rows open to its pods at any step of relaxation.
    open: BTreeMap<usize, Bits>,
    /// By group: another group of its part, nearer to the first of them, or itself.
    root: Vec<usize>,
}

impl<'c, 's> Links<'c, 's> {
    fn new(compiled: &'c Compiled<'s>, pods: &[usize]) -> Self {
        let groups: BTreeSet<usize> = pods.iter().map(|pod| compiled.pods[*pod].group).collect();
        let open = |group: &usize| {
            let mut open = Bits::default();
            let levels = compiled.groups[*group].levels.iter();
            levels
                .flat_map(|level| &level.rows)
                .for_each(|rows| open.join(rows));
            (*group, open)
        };
        Self {
            compiled,
            open: groups.iter().map(open).collect(),
            groups: groups.into_iter().collect(),
            root: (0..compiled.groups.len()).collect(),
        }
    }

    fn group(&self, number: usize) -> &'c PodGroup {
        &self.compiled.groups[number]
    }

    fn find(&mut self, group: usize) -> usize {
        let mut first = group;
        while self.root[first] != first {
            first = self.root[first];
        }
        self.root[group] = first;
        first
    }

    fn link(&mut self, one: usize, other: usize) {
        let (one, other) = (self.find(one), self.find(other));
        self.root[one.max(other)] = one.min(other);
    }

    /// Links groups with the same key.
    fn link_equal<Key: Ord>(&mut self, keyed: impl IntoIterator<Item = (Key, usize)>) {
        let mut first: BTreeMap<Key, usize> = BTreeMap::new();
        for (key, group) in keyed {
            let other = *first.entry(key).or_insert(group);
            self.link(other, group);
        }
    }

    /// Groups that no pool may take are one part: few of them are worth a look.
    fn by_templates(&mut self) {
        let of_template = &self.compiled.rows.of_template;
        let pools = |group: &usize| -> Vec<(usize, usize)> {
            let own = of_template.iter().enumerate();
            let own = own.filter(|(_, rows)| rows.meets(&self.open[group]));
            own.map(|(template, _)| (template, *group)).collect()
        };
        let pools: Vec<(usize, usize)> = self.groups.iter().flat_map(pools).collect();
        self.link_equal(pools);
        let nowhere = self
            .groups
            .iter()
            .filter(|group| self.open[group].is_empty());
        let nowhere: Vec<((), usize)> = nowhere.map(|group| ((), *group)).collect();
        self.link_equal(nowhere);
    }

    /// A topology group ties its owners and all that it selects together; one that no pod of the batch has says nothing of them
    /// that would change.
    fn by_topology(&mut self) {
        let rules = |group: &usize| -> BTreeSet<usize> { self.group(*group).rules().collect() };
        let heeded: BTreeSet<usize> = self.groups.iter().flat_map(rules).collect();
        let met = |group: &usize| -> Vec<(usize, usize)> {
            let selected = self.group(*group).selected.iter().copied();
            let all = rules(group).into_iter().chain(selected);
            let heeded = all.filter(|rule| heeded.contains(rule));
            heeded.map(|rule| (rule, *group)).collect()
        };
        let met: Vec<(usize, usize)> = self.groups.iter().flat_map(met).collect();
        self.link_equal(met);
    }

    /// Daemons of one pod's new node may keep another pod away, or bring it near: a topology group that counts them and that some pod
    /// of the batch heeds ties all together that may bring them.
    fn by_daemons(&mut self) {
        let model = &self.compiled.model;
        let mut met = Vec::new();
        for rule in model
            .with_daemons
            .iter()
            .filter(|rule| !model.is_by_host(**rule))
        {
            let Some(daemons) = &model.groups[*rule].daemons else {
                continue;
            };
            let heeds = |number: &usize| {
                let group = self.group(*number);
                group.rules().any(|own| own == *rule) || group.selected.contains(rule)
            };
            if self.groups.iter().any(heeds) {
                let brings = |number: &usize| self.open[number].meets(&daemons.rows);
                let all = self.groups.iter();
                let all = all.filter(|number| heeds(number) || brings(number));
                met.extend(all.map(|number| (*rule, *number)));
            }
        }
        self.link_equal(met);
    }

    fn by_existing_nodes(&mut self) {
        let existing = &self.compiled.existing;
        if existing.free.iter().all(Option::is_none) {
            return;
        }
        let rooms = existing.rooms();
        let mut open = Vec::new();
        for number in &self.groups {
            let group = self.group(*number);
            for level in &group.levels {
                for volumes in &group.alternatives {
                    let asked = NodeRequest {
                        requirements: &level.requirements,
                        volumes,
                        tolerations: &level.tolerations,
                        needs: &group.needs,
                    };
                    let own = existing.alike_open_to(asked, &group.request, &rooms);
                    open.extend(own.map(|alike| (alike, *number)));
                }
            }
        }
        self.link_equal(open);
    }

    fn by_volume_claims(&mut self, pods: &[usize]) {
        let mut claims: Vec<(ObjectName, usize)> = Vec::new();
        for pod in pods.iter().map(|pod| self.compiled.pods[*pod]) {
            let own = &self.compiled.snapshot.pods[pod.row];
            for volume in &own.spec.volumes {
                if let PodVolume::Claim(name) = volume {
                    let namespace = own.name.namespace.clone();
                    claims.push((ObjectName::new(namespace, name.clone()), pod.group));
                }
            }
        }
        self.link_equal(claims);
    }

    fn by_rows(&mut self, tied: &[Bits]) {
        let sets = tied.iter().enumerate();
        let users = sets.flat_map(|(set, rows)| {
            let users = self.open.iter().filter(|(_, open)| open.meets(rows));
            users.map(move |(group, _)| (set, *group))
        });
        let users: Vec<(usize, usize)> = users.collect();
        self.link_equal(users);
    }

    fn into_parts(mut self, pods: &[usize]) -> Vec<Part> {
        let mut number: BTreeMap<usize, usize> = BTreeMap::new();
        let mut parts: Vec<(Vec<usize>, Bits)> = Vec::new();
        for pod in pods {
            let group = self.compiled.pods[*pod].group;
            let root = self.find(group);
            let part = *number.entry(root).or_insert_with(|| {
                parts.push((Vec::new(), Bits::default()));
                parts.len() - 1
            });
            parts[part].0.push(*pod);
        }
        for (group, open) in std::mem::take(&mut self.open) {
            let root = self.find(group);
            parts[number[&root]].1.join(&open);
        }
        let of_template = &self.compiled.rows.of_template;
        let part = |(pods, open): (Vec<usize>, Bits)| {
            let templates = of_template.iter().enumerate();
            let own = templates.filter(|(_, rows)| rows.meets(&open));
            Part {
                pods,
                templates: own.map(|(template, _)| template).collect(),
                effort: self.compiled.snapshot.settings.effort,
            }
        };
        parts.into_iter().map(part).collect()
    }
}
