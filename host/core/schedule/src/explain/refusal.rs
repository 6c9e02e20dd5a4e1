//! Reasons why a pod found no place: per pool, how many offerings each rule refused.
//!
//! Every offering of a pool is counted once. Where one rule alone refuses all of them, it is the only one given, whatever else refuses
//! some; of several, the first in the order labels, volumes, resources, ports, attach slots. Else each offering is counted at the first
//! rule that refuses it, in that order, so that offerings which are too small are what the pod would take if they were larger. Minimum
//! values come after these. What no rule refuses was lost to limits, reservations, spread or affinity.

use std::cell::Cell;
use std::collections::BTreeMap;

use plimsoll_base::bits::Bits;
use plimsoll_base::labels::{self, LabelKey};
use plimsoll_base::requirement::{Incompatible, Operator, Requirement, Requirements, Undefined};
use plimsoll_base::resources::{ResourceName, Resources};
use plimsoll_base::words::shortened;
use plimsoll_model::plan::{PoolRefusal, Refusal, RefusedOfferings, Unplaced};
use plimsoll_model::snapshot::{Guard, MinValuesPolicy};
use plimsoll_model::{PodVolume, first_untolerated};

use super::{nearest, unsold, unusable};
use crate::batch::attach_slots::AttachSlots;
use crate::batch::compile::{BatchPod, Compiled};
use crate::batch::minimum;
use crate::batch::pod_group::{Level, PodGroup};
use crate::place::limits::capacity;
use crate::prices::RowPrices;

/// Groups of equal pods, times pools, of one plan for which offerings beyond limits are searched.
const MOST_SEARCHES: usize = 64;

/// Explains why pods of the batch, by position, are unschedulable. Pods of one group have one reason.
pub(crate) fn refusals(
    compiled: &Compiled<'_>,
    prices: &RowPrices,
    failed: &[usize],
) -> Vec<Unplaced> {
    let mut known: BTreeMap<usize, Refusal> = BTreeMap::new();
    let searches = Cell::new(MOST_SEARCHES);
    let mut explain = |pod: &usize| {
        let pod = &compiled.pods[*pod];
        let reason = known.entry(pod.group).or_insert_with(|| {
            let group = &compiled.groups[pod.group];
            let of_pool =
                |template: usize| pool_refusal((compiled, prices), group, template, &searches);
            let named = unusable::named(compiled, group).into_iter();
            let mut pools: Vec<PoolRefusal> = named
                .chain((0..compiled.templates.len()).map(of_pool))
                .collect();
            pools.sort_by_key(|pool| pool.excludes);
            match pools.as_slice() {
                [] => Refusal::NoPool,
                _ => Refusal::Unschedulable(pools),
            }
        });
        Unplaced {
            pod: pod.row,
            reason: reason.clone(),
        }
    };
    failed.iter().map(&mut explain).collect()
}

fn pool_refusal(
    (compiled, prices): (&Compiled<'_>, &RowPrices),
    group: &PodGroup,
    number: usize,
    searches: &Cell<usize>,
) -> PoolRefusal {
    let template = &compiled.templates[number];
    let whole = |reason| PoolRefusal::whole(template.pool.name.clone(), reason);
    let excludes = |reason| PoolRefusal {
        excludes: true,
        ..whole(reason)
    };
    let Some(level) = told_of(compiled, group, number) else {
        return whole(String::new());
    };
    if let Some(taint) = first_untolerated(template.taints(), &level.tolerations) {
        return excludes(format!("tainted {taint}, not tolerated"));
    }
    if let Some(words) = group
        .needs
        .refused_by(&template.pool.name, compiled.snapshot)
    {
        return whole(words);
    }
    let known = |key: &LabelKey| compiled.snapshot.catalogues.is_well_known(key);
    let own = &compiled.rows.of_template[number];
    match template
        .requirements
        .accepts(&level.requirements, Undefined::Allowed(&known))
    {
        Err(incompatible) => excludes(not_in_pool(&incompatible)),
        Ok(()) if own.is_empty() => whole(unsold::empty(compiled, number)),
        Ok(()) => PoolRefusal {
            offerings: OfferCounts::of(compiled, prices, (group, level), number, searches).refused,
            ..whole(String::new())
        },
    }
}

/// The step of relaxation that a pool's refusal speaks of: the first at which its requirements agree with one of the pod's
/// alternatives, or the last of all.
pub(super) fn told_of<'g>(
    compiled: &Compiled<'_>,
    group: &'g PodGroup,
    number: usize,
) -> Option<&'g Level> {
    let requirements = &compiled.templates[number].requirements;
    let known = |key: &LabelKey| compiled.snapshot.catalogues.is_well_known(key);
    let agrees = |level: &&Level| {
        let asked = requirements.accepts(&level.requirements, Undefined::Allowed(&known));
        asked.is_ok()
    };
    let levels = group.last_levels();
    levels.iter().find(agrees).or(levels.last())
}

/// Sentence about a label that a pod requires and the pool refuses or does not define.
fn not_in_pool(incompatible: &Incompatible) -> String {
    let asked = &incompatible.asked;
    match &incompatible.have {
        Some(have) => format!("the pod requires {asked}, the NodePool allows {have}"),
        None => format!("the pod requires {asked}, a label that the NodePool does not define"),
    }
}

/// A rule about each offering by itself.
enum RefusalRule<'a> {
    /// A label that the pod requires.
    Label(&'a Requirement),
    /// The places of its volumes.
    Volumes,
    /// The resource of an axis.
    Resource(usize),
    /// Host ports that daemons hold.
    Ports,
    /// Volumes that a node attaches.
    Slots,
}

impl RefusalRule<'_> {
    /// `true` for a rule about what else is on the node: larger limits of the pool change nothing about it.
    const fn is_of_node(&self) -> bool {
        matches!(self, Self::Ports | Self::Slots)
    }
}

/// The offerings of a pool, rule by rule.
struct OfferCounts<'a, 's> {
    compiled: &'a Compiled<'s>,
    group: &'a PodGroup,
    level: &'a Level,
    template: usize,
    left: Bits,
    refused: Vec<RefusedOfferings>,
}

impl<'a, 's> OfferCounts<'a, 's> {
    fn of(
        compiled: &'a Compiled<'s>,
        prices: &RowPrices,
        (group, level): (&'a PodGroup, &'a Level),
        template: usize,
        searches: &Cell<usize>,
    ) -> Self {
        let left = compiled.rows.of_template[template].clone();
        let mut result = Self {
            compiled,
            group,
            level,
            template,
            left,
            refused: Vec::new(),
        };
        let rules = result.rules();
        let refuses_all = |(_, kept): &(RefusalRule<'_>, Bits)| !result.left.meets(kept);
        let counted = match rules.iter().position(refuses_all) {
            Some(sole) => &rules[sole..=sole],
            None => &rules[..],
        };
        let mut is_of_node = false;
        for (rule, kept) in counted {
            let words = |refused: &Bits| result.words(rule, refused);
            let refused = refusal(&result.left, kept, words);
            is_of_node |= refused.is_some() && rule.is_of_node();
            result.refused.extend(refused);
            result.left.keep(kept);
        }
        if !is_of_node {
            result.limits(searches);
        }
        result.minimum();
        result.rest(prices);
        result
    }

    /// The rules that refuse any offering of the pool, each with the rows that it allows.
    fn rules(&self) -> Vec<(RefusalRule<'a>, Bits)> {
        let labels = self.level.requirements.iter().map(RefusalRule::Label);
        let axes = (0..self.compiled.axes.len()).map(RefusalRule::Resource);
        let all = labels.chain([RefusalRule::Volumes]).chain(axes);
        let all = all.chain([RefusalRule::Ports, RefusalRule::Slots]);
        let refusing = all.filter_map(|rule| {
            let kept = self.kept(&rule)?;
            (!self.left.is_within(&kept)).then_some((rule, kept))
        });
        refusing.collect()
    }

    /// The rows that a rule allows; `None` where it asks for nothing.
    fn kept(&self, rule: &RefusalRule<'_>) -> Option<Bits> {
        let rows = &self.compiled.rows;
        match rule {
            RefusalRule::Label(asked) => rows.known(asked).cloned(),
            RefusalRule::Volumes => Some(self.reachable()),
            RefusalRule::Resource(axis) => {
                let asked = self.group.request[*axis];
                let own = self.left.iter();
                let roomy = own.filter(|row| asked <= rows.capacity(*row)[*axis]);
                Some(roomy.collect())
            }
            RefusalRule::Ports => rows.without_port_conflict(&self.group.spec.host_ports),
            RefusalRule::Slots => {
                let guards = &self.compiled.snapshot.settings.guards;
                let taken = self.taken()?;
                let has = |row: &usize| AttachSlots::has(self.compiled, guards, *row, &taken);
                Some(self.left.iter().filter(has).collect())
            }
        }
    }

    /// A rule in words, to follow the count of the rows that it refuses.
    fn words(&self, rule: &RefusalRule<'_>, refused: &Bits) -> String {
        match rule {
            RefusalRule::Label(asked) => not_what(asked),
            RefusalRule::Volumes => self.not_where_volumes_are(),
            RefusalRule::Resource(axis) => self.short_of(*axis, refused),
            RefusalRule::Ports => "where a daemon holds a host port that it asks for".to_owned(),
            RefusalRule::Slots => {
                let asked: i64 = self.taken().iter().flatten().sum();
                let guard = Guard::AttachSlots.as_str();
                format!("attach fewer volumes than the {asked} that it brings (guard on {guard})")
            }
        }
    }

    /// Rows from which all volumes of the pod can be reached.
    fn reachable(&self) -> Bits {
        let mut reachable = Bits::none(self.compiled.rows.len());
        for alternative in &self.group.alternatives {
            let mut rows = self.left.clone();
            for requirement in alternative.iter() {
                match self.compiled.rows.known(requirement) {
                    Some(allowed) => rows.keep(allowed),
                    None => rows = Bits::none(self.compiled.rows.len()),
                }
            }
            reachable.join(&rows);
        }
        reachable
    }

    fn not_where_volumes_are(&self) -> String {
        let asked = self.group.alternatives.iter();
        let asked = asked.flat_map(Requirements::iter);
        let named = asked.filter(|asked| asked.operator() != Operator::DoesNotExist);
        let places: Vec<String> = named.map(not_what).collect();
        let names = self.group.spec.volumes.iter().map(|volume| match volume {
            PodVolume::Claim(name) | PodVolume::Ephemeral(name) => name.as_ref(),
        });
        let places = places.join(" or ");
        format!("{places} (volume {} lives there)", shortened(names))
    }

    /// Attach slots that the pod takes, by driver; `None` where it takes none.
    fn taken(&self) -> Option<Box<[i64]>> {
        let compiled = self.compiled;
        let of_group =
            |pod: &BatchPod| std::ptr::eq(&raw const compiled.groups[pod.group], self.group);
        let pod = compiled.pods.iter().position(of_group)?;
        let taken = compiled.slots.taken(std::iter::once(pod));
        taken.iter().any(|slots| *slots > 0).then_some(taken)
    }

    /// Sentence about an axis that is short: the amount requested, and the most that any of the refused rows has.
    fn short_of(&self, axis: usize, refused: &Bits) -> String {
        let rows = &self.compiled.rows;
        let name = self.compiled.axes.name(axis);
        let shown = |amount| Resources::new().with(name.clone(), amount);
        let room = |row: usize| rows.capacity(row)[axis];
        let best = refused.iter();
        let best = best.max_by_key(|row| (room(*row), std::cmp::Reverse(*row)));
        let most = best.map_or(0, room);
        let of_daemons = best.map_or(0, |row| rows.rows[row].overhead.requests.get(name));
        let asked = shown(self.group.request[axis]);
        let is_of_pods = *name == ResourceName::Pods;
        if most == 0 && of_daemons == 0 && !is_of_pods {
            let mut own = rows.of_template[self.template].iter();
            return if own.any(|row| room(row) > 0) {
                format!("without {name} (requests {asked})")
            } else {
                format!("without {name} (requests {asked}; no allowed instance type has {name})")
            };
        }
        let little = if is_of_pods { "too few" } else { "too little" };
        let after = if of_daemons > 0 {
            " after DaemonSets"
        } else {
            ""
        };
        let best = best.map_or("", |row| self.compiled.offering(row).0.name.as_str());
        let most = shown(most);
        format!("{little} {name} (requests {asked}; most{after}: {most} on {best})")
    }

    /// Counts in front what would hold the pod, were it not for the pool's limits, where all that these have room for is refused: then
    /// the limits are the reason, not the sizes or the places of what they leave.
    fn limits(&mut self, searches: &Cell<usize>) {
        let is_limited = self.compiled.templates[self.template].remaining.is_some();
        if !is_limited || !self.left.is_empty() || searches.get() == 0 {
            return;
        }
        searches.set(searches.get() - 1);
        let beyond = nearest::beyond_limits(self.compiled, self.group, self.level, self.template);
        if let Some((count, cheapest, left)) = beyond {
            let rule = format!(
                "would hold it, but the NodePool's limits leave {left} (the cheapest is {})",
                cheapest.instance_type
            );
            self.refused.insert(0, RefusedOfferings { count, rule });
        }
    }

    fn minimum(&mut self) {
        let compiled = self.compiled;
        if compiled.snapshot.settings.min_values == MinValuesPolicy::BestEffort {
            return;
        }
        let mut short = minimum::short_of(compiled, &self.left, &self.group.request);
        if short.is_empty() {
            short = self.short_in_one_domain();
        }
        if short.is_empty() {
            return;
        }
        let asked = short.iter().map(|(key, least, left)| {
            format!("at least {least} values of {key}, the pod leaves {left}")
        });
        let asked: Vec<String> = asked.collect();
        let rule = format!(
            "too few to choose from: the pool wants {} (minValues)",
            asked.join(", and ")
        );
        let count = self.left.len();
        self.refused.push(RefusedOfferings { count, rule });
        self.left = Bits::none(compiled.rows.len());
    }

    /// Keys of which too few values are left in whatever domain spread or affinity puts the pod; those of the largest domain.
    fn short_in_one_domain(&self) -> Vec<(LabelKey, u32, u32)> {
        let compiled = self.compiled;
        let of_key = |key: &usize| {
            let domains = compiled.model.keys[*key].rows.iter();
            let mut parts: Vec<Bits> = domains.map(|rows| self.left.and(rows)).collect();
            parts.sort_by_key(|rows| std::cmp::Reverse(rows.len()));
            parts.retain(|rows| !rows.is_empty());
            let short = parts
                .iter()
                .map(|rows| minimum::short_of(compiled, rows, &self.group.request));
            let short: Vec<_> = short.collect();
            let all_short = short.iter().all(|short| !short.is_empty());
            short.into_iter().next().filter(|_| all_short)
        };
        self.level.keys.iter().find_map(of_key).unwrap_or_default()
    }

    /// Counts the offerings that no rule about the offering itself refuses, under limits, price or minimum values.
    fn rest(&mut self, prices: &RowPrices) {
        let count = self.left.len();
        if count == 0 {
            return;
        }
        let template = &self.compiled.templates[self.template];
        let failed = self.left.iter().next();
        let failed = failed.and_then(|row| prices.held_because(row));
        let rule = if let Some(failed) = failed {
            format!("could hold it, but {failed}: nothing is bought")
        } else if let Some(limits) = &template.remaining {
            let short = self.left.iter().map(|row| capacity(self.compiled, row));
            let most = short
                .reduce(|left, right| left.smaller(&right))
                .unwrap_or_default();
            let named = limits.iter().filter(|(name, _)| most.get(name) > 0);
            let left: Resources = named.map(|(name, amount)| (name.clone(), amount)).collect();
            format!(
                "could hold it, but its limits leave no room beside other pods of this plan ({left} left)"
            )
        } else if self
            .left
            .iter()
            .all(|row| prices.reserved.contains_key(&row))
        {
            "could hold it, but their reservations are used up".to_owned()
        } else if self.left.iter().all(|row| !prices.buyable(row)) {
            "could hold it, but the ranking policy vetoes them".to_owned()
        } else {
            "could hold it, but no zone or host is left that its spread or affinity allows"
                .to_owned()
        };
        self.refused.push(RefusedOfferings { count, rule });
    }
}

/// Rows that a rule does not keep, counted, with the rule in words; `None` where it keeps all.
fn refusal(
    left: &Bits,
    kept: &Bits,
    words: impl FnOnce(&Bits) -> String,
) -> Option<RefusedOfferings> {
    let mut refused = left.clone();
    refused.drop_all(kept);
    (!refused.is_empty()).then(|| RefusedOfferings {
        count: refused.len(),
        rule: words(&refused),
    })
}

/// `not in zone a`, `not spot`, `not m5.large`, or the requirement as it is.
fn not_what(requirement: &Requirement) -> String {
    let values = requirement
        .listed()
        .filter(|_| requirement.operator() == Operator::In);
    let values = values.map(shortened);
    match (requirement.key().as_str(), values) {
        (labels::ZONE, Some(values)) => format!("not in zone {values}"),
        (labels::CAPACITY_TYPE | labels::INSTANCE_TYPE, Some(values)) => format!("not {values}"),
        _ => format!("not {requirement}"),
    }
}
