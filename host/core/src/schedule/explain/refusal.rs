//! Reasons why a pod found no place: per pool, how many offerings each rule refused.
//!
//! Every offering of a pool is counted once, at the first rule that refuses it, in the order resources, labels, volumes,
//! ports, attach slots, minimum values. What no rule refuses was lost to limits, reservations, spread or affinity.

use std::cell::Cell;
use std::collections::BTreeMap;

use super::{nearest, unsold};
use crate::bits::Bits;
use crate::labels::{self, LabelKey};
use crate::model::{PodVolume, first_untolerated};
use crate::plan::{PoolRefusal, Refusal, RefusedOfferings, Unplaced};
use crate::requirement::{Incompatible, Operator, Requirement, Requirements, Undefined};
use crate::resources::{ResourceName, Resources};
use crate::schedule::batch::attach_slots::AttachSlots;
use crate::schedule::batch::compile::{BatchPod, Compiled};
use crate::schedule::batch::minimum;
use crate::schedule::batch::pod_group::{Level, PodGroup};
use crate::schedule::place::limits::capacity;
use crate::schedule::prices::RowPrices;
use crate::snapshot::{Guard, MinValuesPolicy};
use crate::words::shortened;

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
            match compiled.templates.len() {
                0 => Refusal::NoPool,
                count => {
                    let mut pools: Vec<PoolRefusal> = (0..count).map(of_pool).collect();
                    pools.sort_by_key(|pool| pool.excludes);
                    Refusal::Unschedulable(pools)
                }
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
        result.resources();
        result.limits(searches);
        result.labels();
        result.volumes();
        result.ports();
        result.slots();
        result.minimum();
        result.rest(prices);
        result
    }

    /// Takes out the rows that a rule refuses, and says so.
    fn refuse(&mut self, kept: &Bits, what: impl FnOnce() -> String) {
        let before = self.left.len();
        self.left.keep(kept);
        let count = before - self.left.len();
        if count > 0 {
            let rule = what();
            self.refused.push(RefusedOfferings { count, rule });
        }
    }

    fn resources(&mut self) {
        let rows = &self.compiled.rows;
        let own = self.left.clone();
        for axis in 0..self.compiled.axes.len() {
            let asked = self.group.request[axis];
            let mut roomy = self.left.clone();
            for row in self.left.iter() {
                if asked > rows.capacity(row)[axis] {
                    roomy.remove(row);
                }
            }
            let compiled = self.compiled;
            self.refuse(&roomy, || short_sentence(compiled, &own, axis, asked));
        }
    }

    /// Counts in front what would hold the pod, were it not for the pool's limits, where all that these have room for is too small: then
    /// the limits are the reason, not the sizes of what they leave.
    fn limits(&mut self, searches: &Cell<usize>) {
        if !self.left.is_empty() || searches.get() == 0 {
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

    fn labels(&mut self) {
        let level = self.level;
        for requirement in level.requirements.iter() {
            if let Some(allowed) = self.compiled.rows.known(requirement) {
                self.refuse(allowed, || not_what(requirement));
            }
        }
    }

    fn volumes(&mut self) {
        let group = self.group;
        let mut reachable = Bits::none(self.compiled.rows.len());
        for alternative in &group.alternatives {
            let mut rows = self.left.clone();
            for requirement in alternative.iter() {
                match self.compiled.rows.known(requirement) {
                    Some(allowed) => rows.keep(allowed),
                    None => rows = Bits::none(self.compiled.rows.len()),
                }
            }
            reachable.join(&rows);
        }
        self.refuse(&reachable, || {
            let asked = group.alternatives.iter().flat_map(Requirements::iter);
            let named = asked.filter(|asked| asked.operator() != Operator::DoesNotExist);
            let places: Vec<String> = named.map(not_what).collect();
            let names = group.spec.volumes.iter().map(|volume| match volume {
                PodVolume::Claim(name) | PodVolume::Ephemeral(name) => name.as_ref(),
            });
            let places = places.join(" or ");
            format!("{places} (volume {} lives there)", shortened(names))
        });
    }

    fn ports(&mut self) {
        if let Some(free) = self
            .compiled
            .rows
            .without_port_conflict(&self.group.spec.host_ports)
        {
            self.refuse(&free, || {
                "where a daemon holds a host port that it asks for".to_owned()
            });
        }
    }

    fn slots(&mut self) {
        let compiled = self.compiled;
        let of_group =
            |pod: &BatchPod| std::ptr::eq(&raw const compiled.groups[pod.group], self.group);
        let Some(pod) = compiled.pods.iter().position(of_group) else {
            return;
        };
        let taken = compiled.slots.taken(std::iter::once(pod));
        let guards = &compiled.snapshot.settings.guards;
        let rows = self.left.iter();
        let kept = rows.filter(|row| AttachSlots::has(compiled, guards, *row, &taken));
        let kept: Bits = kept.collect();
        self.refuse(&kept, || {
            let asked: i64 = taken.iter().sum();
            let guard = Guard::AttachSlots.as_str();
            format!("attach fewer volumes than the {asked} that it brings (guard on {guard})")
        });
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
        let none = Bits::none(compiled.rows.len());
        self.refuse(&none, || {
            let asked = short.iter().map(|(key, least, left)| {
                format!("at least {least} values of {key}, the pod leaves {left}")
            });
            let asked: Vec<String> = asked.collect();
            format!(
                "too few to choose from: the pool wants {} (minValues)",
                asked.join(", and ")
            )
        });
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

/// `not in zone a`, `not spot`, or the requirement as it is.
pub(crate) fn not_what(requirement: &Requirement) -> String {
    let values = requirement
        .listed()
        .filter(|_| requirement.operator() == Operator::In);
    let values = values.map(shortened);
    match (requirement.key().as_str(), values) {
        (labels::ZONE, Some(values)) => format!("not in zone {values}"),
        (labels::CAPACITY_TYPE, Some(values)) => format!("not {values}"),
        _ => format!("not {requirement}"),
    }
}

/// Sentence about an axis that is short: the amount requested, and the most that any row of the pool has.
fn short_sentence(compiled: &Compiled<'_>, rows: &Bits, axis: usize, asked: i64) -> String {
    let name = compiled.axes.name(axis);
    let shown = |amount| Resources::new().with(name.clone(), amount);
    let most = rows
        .iter()
        .max_by_key(|row| (compiled.rows.capacity(*row)[axis], std::cmp::Reverse(*row)));
    let amount = most.map_or(0, |row| compiled.rows.capacity(row)[axis]);
    let asked = shown(asked);
    if amount == 0 && *name != ResourceName::Pods {
        return format!("without {name} (requests {asked}; no allowed instance type has {name})");
    }
    let little = if *name == ResourceName::Pods {
        "too few"
    } else {
        "too little"
    };
    let best = most.map_or("", |row| {
        let (instance_type, _) = compiled.offering(row);
        instance_type.name.as_str()
    });
    let amount = shown(amount);
    format!("{little} {name} (requests {asked}; most after DaemonSets: {amount} on {best})")
}
