//! Parts of a problem that share nothing, each to be solved by itself.
//!
//! Pods of two classes meet on a node only if some kind is open to both, so classes are in one part where kinds tie them together.
//! A rule holds on every node by itself and ties nothing. Limits and supplies are for all who draw on them, but seldom run
//! out: they tie parts together only once those have taken more than there is.

use std::collections::{BTreeMap, BTreeSet};

use plimsoll_base::bits::Bits;

use super::problem::{Bought, Class, Demand, Kind, Membership, Packing, Problem};

/// Limits and supplies that tie all kinds together that draw on them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ProblemTies {
    limits: BTreeSet<usize>,
    supplies: BTreeSet<usize>,
}

impl ProblemTies {
    /// Every supply, and no limit.
    pub(super) fn of_supplies(problem: &Problem) -> Self {
        Self {
            limits: BTreeSet::new(),
            supplies: (0..problem.supplies.len()).collect(),
        }
    }

    /// The limits and supplies of which a packing takes more than there is.
    pub(super) fn overdrawn(problem: &Problem, packing: &Packing) -> Self {
        let limits = problem.spend_limits.iter();
        let mut left: Vec<Vec<i128>> = limits
            .map(|limit| limit.remaining.iter().map(|left| (*left).into()).collect())
            .collect();
        let mut nodes: Vec<i128> = problem.supplies.iter().map(|left| (*left).into()).collect();
        for bought in &packing.nodes {
            let kind = &problem.kinds[bought.kind];
            if let Some((limit, takes)) = &kind.spends {
                for (left, takes) in left[*limit].iter_mut().zip(takes) {
                    *left -= i128::from(*takes) * i128::from(bought.count);
                }
            }
            if let Some(supply) = kind.supply {
                nodes[supply] -= i128::from(bought.count);
            }
        }
        // What a limit lacks from the start cannot be taken; what parts took of it none of them took alone.
        let took = |limit: usize, axis: usize| {
            left[limit][axis] < i128::from(problem.spend_limits[limit].remaining[axis])
        };
        let is_short = |limit: &usize| {
            (0..left[*limit].len()).any(|axis| left[*limit][axis] < 0 && took(*limit, axis))
        };
        Self {
            limits: (0..left.len()).filter(is_short).collect(),
            supplies: (0..nodes.len())
                .filter(|supply| nodes[*supply] < 0)
                .collect(),
        }
    }

    /// `true` if nothing is tied.
    pub(super) fn is_empty(&self) -> bool {
        self.limits.is_empty() && self.supplies.is_empty()
    }

    /// Adds others.
    pub(super) fn extend(&mut self, others: Self) {
        self.limits.extend(others.limits);
        self.supplies.extend(others.supplies);
    }
}

/// A part of a problem, with the rows of what it has in the whole.
pub(super) struct ProblemPart {
    /// The part as a problem of its own.
    pub(super) problem: Problem,
    /// Its classes.
    pub(super) classes: Vec<usize>,
    /// Its demands, which tell it from other parts.
    pub(super) demands: Vec<usize>,
    /// Its rules.
    pub(super) rules: Vec<usize>,
    kinds: Vec<usize>,
}

impl ProblemPart {
    /// A packing of the part in the rows of the whole.
    pub(super) fn in_whole(&self, packing: Packing) -> Packing {
        let demand = |(demand, count): (usize, u32)| (self.demands[demand], count);
        let node = |bought: Bought| Bought {
            kind: self.kinds[bought.kind],
            count: bought.count,
            load: bought.load.into_iter().map(demand).collect(),
        };
        Packing {
            nodes: packing.nodes.into_iter().map(node).collect(),
            unplaced: packing.unplaced.into_iter().map(demand).collect(),
        }
    }
}

/// The parts of a problem in the order of their first classes; none where the whole is one part. Classes of which nothing is asked
/// for are in none.
pub(super) fn parts(problem: &Problem, ties: &ProblemTies) -> Vec<ProblemPart> {
    let root = components(problem, ties);
    let mut demands: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (row, demand) in problem.demands.iter().enumerate() {
        if demand.count > 0 {
            demands.entry(root[demand.class]).or_default().push(row);
        }
    }
    if demands.len() < 2 {
        return Vec::new();
    }
    let mut existing: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (row, node) in problem.existing.iter().enumerate() {
        if let Some(class) = node.classes.first() {
            existing.entry(root[class]).or_default().push(row);
        }
    }
    let part = |(root, demands): (usize, Vec<usize>)| {
        let existing = existing.get(&root).map_or(&[][..], Vec::as_slice);
        part(problem, demands, existing)
    };
    demands.into_iter().map(part).collect()
}

/// By class, the first class of its part.
fn components(problem: &Problem, ties: &ProblemTies) -> Vec<usize> {
    let mut root: Vec<usize> = (0..problem.classes.len()).collect();
    let mut first_of_kinds: BTreeMap<&Bits, usize> = BTreeMap::new();
    let mut first_of_kind: Vec<Option<usize>> = vec![None; problem.kinds.len()];
    for (class, it) in problem.classes.iter().enumerate() {
        if let Some(known) = first_of_kinds.get(&it.kinds) {
            join(&mut root, *known, class);
            continue;
        }
        first_of_kinds.insert(&it.kinds, class);
        for kind in it.kinds.iter() {
            let first = *first_of_kind[kind].get_or_insert(class);
            join(&mut root, first, class);
        }
    }
    for node in &problem.existing {
        if let Some(first) = node.classes.first() {
            let classes = node.classes.iter();
            for class in classes.take_while(|class| *class < problem.classes.len()) {
                join(&mut root, first, class);
            }
        }
    }
    let mut first_of_limit: BTreeMap<usize, usize> = BTreeMap::new();
    let mut first_of_supply: BTreeMap<usize, usize> = BTreeMap::new();
    for (kind, class) in problem.kinds.iter().zip(&first_of_kind) {
        let Some(class) = *class else { continue };
        let limit = kind.spends.as_ref().map(|(limit, _)| *limit);
        if let Some(limit) = limit.filter(|limit| ties.limits.contains(limit)) {
            join(
                &mut root,
                *first_of_limit.entry(limit).or_insert(class),
                class,
            );
        }
        if let Some(supply) = kind.supply.filter(|supply| ties.supplies.contains(supply)) {
            join(
                &mut root,
                *first_of_supply.entry(supply).or_insert(class),
                class,
            );
        }
    }
    (0..root.len())
        .map(|class| find(&mut root, class))
        .collect()
}

/// Makes two classes of one part; the smaller of their firsts is the first of both.
fn join(root: &mut [usize], one: usize, other: usize) {
    let (one, other) = (find(root, one), find(root, other));
    root[one.max(other)] = one.min(other);
}

fn find(root: &mut [usize], class: usize) -> usize {
    let mut first = class;
    while root[first] != first {
        first = root[first];
    }
    root[class] = first;
    first
}

fn part(problem: &Problem, demands: Vec<usize>, existing: &[usize]) -> ProblemPart {
    let mut classes = Numbers::default();
    let mut rules = Numbers::default();
    let own_demands = demands.iter().map(|row| {
        let demand = &problem.demands[*row];
        Demand {
            class: classes.number(demand.class),
            ..demand.clone()
        }
    });
    let own_demands: Vec<Demand> = own_demands.collect();
    let mut open = Bits::none(problem.kinds.len());
    for class in &classes.rows {
        open.join(&problem.classes[*class].kinds);
    }
    let kinds: Vec<usize> = open.iter().collect();
    let among = |rows: &Bits| {
        let mut own = Bits::none(kinds.len());
        for row in rows.iter() {
            own.insert(kinds.partition_point(|kind| *kind < row));
        }
        own
    };
    let own_classes = classes.rows.iter().map(|class| {
        let class = &problem.classes[*class];
        let membership = |membership: &Membership| Membership {
            rule: rules.number(membership.rule),
            ..*membership
        };
        let mut memberships: Vec<Membership> = class.memberships.iter().map(membership).collect();
        memberships.sort_unstable();
        Class {
            kinds: among(&class.kinds),
            memberships,
        }
    });
    let own_classes: Vec<Class> = own_classes.collect();
    let (mut limits, mut supplies) = (Numbers::default(), Numbers::default());
    let own_kinds = kinds.iter().map(|kind| {
        let kind = &problem.kinds[*kind];
        let spends = kind.spends.as_ref();
        Kind {
            spends: spends.map(|(limit, takes)| (limits.number(*limit), takes.clone())),
            supply: kind.supply.map(|supply| supplies.number(supply)),
            ..kind.clone()
        }
    });
    let own_kinds: Vec<Kind> = own_kinds.collect();
    let existing = existing.iter().map(|row| {
        let mut node = problem.existing[*row].clone();
        let mut own = Bits::none(classes.rows.len());
        for (at, class) in classes.rows.iter().enumerate() {
            if node.classes.contains(*class) {
                own.insert(at);
            }
        }
        node.classes = own;
        node
    });
    ProblemPart {
        problem: Problem {
            axes: problem.axes,
            kinds: own_kinds,
            classes: own_classes,
            demands: own_demands,
            rules: rules.rows.iter().map(|rule| problem.rules[*rule]).collect(),
            spend_limits: (limits.rows.iter())
                .map(|limit| problem.spend_limits[*limit].clone())
                .collect(),
            supplies: (supplies.rows.iter())
                .map(|supply| problem.supplies[*supply])
                .collect(),
            existing: existing.collect(),
        },
        classes: classes.rows,
        demands,
        rules: rules.rows,
        kinds,
    }
}

/// Rows that are met, numbered in that order.
#[derive(Default)]
struct Numbers {
    rows: Vec<usize>,
    known: BTreeMap<usize, usize>,
}

impl Numbers {
    fn number(&mut self, row: usize) -> usize {
        let next = self.rows.len();
        let number = *self.known.entry(row).or_insert(next);
        if number == next {
            self.rows.push(row);
        }
        number
    }
}
