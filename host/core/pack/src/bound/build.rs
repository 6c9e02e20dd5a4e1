//! Makes the proof: class sets, sources of capacity, the programme's duals rounded down.

use std::collections::BTreeMap;

use plimsoll_base::bits::Bits;

use super::verify::is_placeable;
use super::{Bound, FRACTION_BITS};
use crate::aggregate::{Aggregate, Duals, Source};
use crate::forced::forced_rules;
use crate::parts::ProblemPart;
use crate::problem::Problem;

/// Class sets beyond this many are merged, smallest demand first: a merged set may use what any member may, which can only
/// lower the bound.
const MOST_SETS: usize = 48;

/// Groups of existing nodes beyond this many are merged likewise.
const MOST_EXISTING_GROUPS: usize = 32;

/// The proof for a problem, its value not yet known.
pub(super) fn certificate(problem: &Problem) -> Bound {
    let placeable: Vec<bool> = problem
        .demands
        .iter()
        .map(|demand| is_placeable(problem, demand))
        .collect();
    let set_of_class = class_sets(problem, &placeable);
    let sets = set_of_class.iter().max().map_or(0, |most| most + 1);
    let rules = forced_rules(problem);
    let axes = problem.axes + rules.len();
    let mut programme = Aggregate {
        axes,
        demand: demand(problem, &placeable, &set_of_class, &rules, sets),
        sources: Vec::new(),
        supplies: problem.supplies.iter().map(|n| f64::from(*n)).collect(),
    };
    let limits: Vec<f64> = rules
        .iter()
        .map(|&rule| f64::from(problem.rules[rule].limit))
        .collect();
    programme.sources = kinds(problem, &set_of_class, sets, &limits);
    add_existing(problem, &set_of_class, sets, &limits, &mut programme);
    let mut duals = programme.solve();
    programme.make_feasible(&mut duals, &programme.sources);
    duals.scale(1.0 - 1e-12);
    rounded_down(problem, &set_of_class, sets, &rules, &duals)
}

/// The proofs of the parts of a problem as one. To a class of which nothing is asked for, nothing is worth anything.
pub(super) fn joint(problem: &Problem, parts: &[ProblemPart]) -> Bound {
    let mut joint = Bound {
        list_price: 0,
        set_of_class: vec![0; problem.classes.len()],
        axis_values: vec![vec![0; problem.axes]],
        rule_values: vec![Vec::new()],
    };
    for part in parts {
        let own = certificate(&part.problem);
        let before = joint.axis_values.len();
        for (class, set) in part.classes.iter().zip(&own.set_of_class) {
            joint.set_of_class[*class] = before + set;
        }
        joint.axis_values.extend(own.axis_values);
        let in_whole = |(rule, value): (usize, i128)| (part.rules[rule], value);
        let by_rule = own.rule_values.into_iter();
        let by_rule = by_rule.map(|values| values.into_iter().map(in_whole).collect());
        joint.rule_values.extend(by_rule);
    }
    joint
}

/// Per class: which classes it is pooled with. Classes that may use the same kinds and existing nodes are one set.
fn class_sets(problem: &Problem, placeable: &[bool]) -> Vec<usize> {
    let existing = existing_of_classes(problem);
    let mut number: BTreeMap<(&Bits, &Bits), usize> = BTreeMap::new();
    let mut set_of_class = Vec::with_capacity(problem.classes.len());
    for (class, existing) in problem.classes.iter().zip(&existing) {
        let next = number.len();
        set_of_class.push(*number.entry((&class.kinds, existing)).or_insert(next));
    }
    let sets = number.len();
    if sets <= MOST_SETS {
        return set_of_class;
    }
    let mut units = vec![0_u64; sets];
    for (demand, _) in problem.demands.iter().zip(placeable).filter(|(_, p)| **p) {
        units[set_of_class[demand.class]] += u64::from(demand.count);
    }
    let mut order: Vec<usize> = (0..sets).collect();
    order.sort_by_key(|&set| (std::cmp::Reverse(units[set]), set));
    let mut merged = vec![MOST_SETS - 1; sets];
    for (rank, &set) in order.iter().enumerate().take(MOST_SETS - 1) {
        merged[set] = rank;
    }
    set_of_class.iter().map(|&set| merged[set]).collect()
}

/// Per class: the distinct kinds of existing node (by the classes they take) that it may use.
fn existing_of_classes(problem: &Problem) -> Vec<Bits> {
    let mut distinct: Vec<&Bits> = problem.existing.iter().map(|node| &node.classes).collect();
    distinct.sort_unstable();
    distinct.dedup();
    let classes_in_all = problem.classes.len();
    let mut result = vec![Bits::none(distinct.len()); classes_in_all];
    for (at, classes) in distinct.iter().enumerate() {
        for class in classes.iter().filter(|class| *class < classes_in_all) {
            result[class].insert(at);
        }
    }
    result
}

fn demand(
    problem: &Problem,
    placeable: &[bool],
    set_of_class: &[usize],
    rules: &[usize],
    sets: usize,
) -> Vec<f64> {
    let axes = problem.axes + rules.len();
    let mut total = vec![0.0; sets * axes];
    for (demand, _) in problem.demands.iter().zip(placeable).filter(|(_, p)| **p) {
        let row = &mut total[set_of_class[demand.class] * axes..][..axes];
        let count = f64::from(demand.count);
        for (sum, &amount) in row.iter_mut().zip(&demand.request) {
            *sum += amount as f64 * count;
        }
        let memberships = &problem.classes[demand.class].memberships;
        for membership in memberships.iter().filter(|m| m.owner) {
            if let Some(at) = rules.iter().position(|rule| *rule == membership.rule) {
                row[problem.axes + at] += f64::from(membership.counted) * count;
            }
        }
    }
    total
}

/// Kinds as sources; equal ones only once.
fn kinds(problem: &Problem, set_of_class: &[usize], sets: usize, limits: &[f64]) -> Vec<Source> {
    let mut sets_of_kind = vec![Bits::none(sets); problem.kinds.len()];
    let mut seen: Vec<(usize, &Bits)> = Vec::new();
    for (class, &set) in problem.classes.iter().zip(set_of_class) {
        if !seen.contains(&(set, &class.kinds)) {
            seen.push((set, &class.kinds));
            for kind in class.kinds.iter() {
                sets_of_kind[kind].insert(set);
            }
        }
    }
    let key = |kind: usize| {
        let it = &problem.kinds[kind];
        (it.list_price, &it.capacity, it.supply, &sets_of_kind[kind])
    };
    let mut order: Vec<usize> = (0..problem.kinds.len())
        .filter(|&kind| !sets_of_kind[kind].is_empty())
        .collect();
    order.sort_by(|&a, &b| key(a).cmp(&key(b)).then(a.cmp(&b)));
    order.dedup_by(|a, b| key(*a) == key(*b));
    let source = |kind: usize| {
        let it = &problem.kinds[kind];
        let capacity = it.capacity.iter().map(|amount| *amount as f64);
        Source {
            capacity: capacity.chain(limits.iter().copied()).collect(),
            price: it.list_price as f64,
            sets: sets_of_kind[kind].iter().collect(),
            supply: it.supply,
        }
    };
    order.into_iter().map(source).collect()
}

/// Existing nodes as sources of price 0, each a supply of one: nodes that the same sets may use are one source, with the
/// sum of their room.
fn add_existing(
    problem: &Problem,
    set_of_class: &[usize],
    sets: usize,
    limits: &[f64],
    programme: &mut Aggregate,
) {
    let mut groups: BTreeMap<Bits, Vec<f64>> = BTreeMap::new();
    let mut usable = Bits::none(sets);
    let mut known: Option<&Bits> = None;
    for node in &problem.existing {
        if known != Some(&node.classes) {
            usable = Bits::none(sets);
            for class in node.classes.iter().filter(|c| *c < set_of_class.len()) {
                usable.insert(set_of_class[class]);
            }
            known = Some(&node.classes);
        }
        let free = node.free.iter().map(|amount| *amount as f64);
        let room = groups
            .entry(usable.clone())
            .or_insert_with(|| vec![0.0; programme.axes]);
        for (sum, amount) in room.iter_mut().zip(free.chain(limits.iter().copied())) {
            *sum += amount;
        }
    }
    let mut groups: Vec<(Bits, Vec<f64>)> = groups.into_iter().collect();
    while groups.len() > MOST_EXISTING_GROUPS {
        let Some((merged, room)) = groups.pop() else {
            break;
        };
        let last = groups.len() - 1;
        groups[last].0.join(&merged);
        for (sum, amount) in groups[last].1.iter_mut().zip(room) {
            *sum += amount;
        }
    }
    for (usable, capacity) in groups {
        let supply = programme.supplies.len();
        programme.supplies.push(1.0);
        programme.sources.push(Source {
            capacity,
            price: 0.0,
            sets: usable.iter().collect(),
            supply: Some(supply),
        });
    }
}

fn rounded_down(
    problem: &Problem,
    set_of_class: &[usize],
    sets: usize,
    rules: &[usize],
    duals: &Duals,
) -> Bound {
    let mut bound = Bound {
        list_price: 0,
        set_of_class: set_of_class.to_vec(),
        axis_values: Vec::with_capacity(sets),
        rule_values: Vec::with_capacity(sets),
    };
    for set in 0..sets {
        let (axes, by_rule) = duals.of(set).split_at(problem.axes);
        bound
            .axis_values
            .push(axes.iter().map(|v| fixed(*v)).collect());
        let by_rule = rules.iter().zip(by_rule);
        bound.rule_values.push(
            by_rule
                .map(|(&rule, value)| (rule, fixed(*value)))
                .filter(|(_, value)| *value > 0)
                .collect(),
        );
    }
    bound
}

/// A value in fixed point, rounded down.
#[expect(
    clippy::cast_possible_truncation,
    reason = "rounding down is meant, and the cast saturates"
)]
fn fixed(value: f64) -> i128 {
    (value * (1_u64 << FRACTION_BITS) as f64) as i128
}
