//! The problem as the packer works on it: kinds pruned, demands sorted into lots.
//!
//! Of equal kinds one is kept, and a kind that another beats in everything is dropped; room beyond all that may be put on a
//! kind does not count, so that few pods leave few kinds. Demands of one shape (request vector)
//! and one class set (classes that may use the same kinds) form a lot: shapes are few even where classes are many.

use std::collections::BTreeMap;

use plimsoll_base::bits::Bits;

use super::problem::{Membership, Problem};

/// The problem, prepared.
pub(super) struct Model<'p> {
    /// The problem as it was given.
    pub(super) problem: &'p Problem,
    /// Kinds worth considering, cheapest first.
    pub(super) kinds: Vec<ModelKind>,
    /// Per class set: the kinds (positions in `kinds`) that it may use.
    pub(super) sets: Vec<Bits>,
    /// Classes; one that asks for the same twice is entered twice, so that a lot has at most one item per class.
    pub(super) classes: Vec<ModelClass<'p>>,
    /// Per rule: the classes (positions in `classes`) that it concerns.
    pub(super) classes_of_rule: Vec<Vec<usize>>,
    /// Demands of one shape and one class set.
    pub(super) lots: Vec<Lot>,
    /// One per demand that asks for at least one unit.
    pub(super) items: Vec<Item>,
}

/// A kind worth considering.
pub(super) struct ModelKind {
    /// Its row in the problem.
    pub(super) row: usize,
    /// Its capacity.
    pub(super) capacity: Box<[i64]>,
    /// The price that decides.
    pub(super) price: i64,
    /// The class sets that may use it.
    pub(super) sets: Bits,
}

/// A class.
pub(super) struct ModelClass<'p> {
    /// Its set.
    pub(super) set: usize,
    /// Its part in rules.
    pub(super) memberships: &'p [Membership],
}

/// Demands of one shape and one class set.
pub(super) struct Lot {
    /// The shape.
    pub(super) request: Box<[i64]>,
    /// The class set.
    pub(super) set: usize,
    /// Class and item, by ascending class.
    pub(super) items: Vec<(usize, usize)>,
}

/// A demand.
pub(super) struct Item {
    /// Its row in the problem.
    pub(super) demand: usize,
    /// Its class, in [`Model::classes`].
    pub(super) class: usize,
    /// Its lot.
    pub(super) lot: usize,
    /// How many units.
    pub(super) count: u32,
}

impl<'p> Model<'p> {
    /// Prepares a problem. Demands that could be placed nowhere even alone become items too, of which nothing will be placed.
    pub(super) fn new(problem: &'p Problem) -> Self {
        let (set_of_class, sets) = class_sets(problem);
        let (kinds, position) = worthwhile_kinds(problem, &set_of_class, &sets);
        let mut model = Self {
            problem,
            kinds,
            sets: sets.iter().map(|rows| positions(rows, &position)).collect(),
            classes: Vec::new(),
            classes_of_rule: vec![Vec::new(); problem.rules.len()],
            lots: Vec::new(),
            items: Vec::new(),
        };
        model.add_items(&set_of_class);
        for (class, it) in model.classes.iter().enumerate() {
            for membership in it.memberships {
                model.classes_of_rule[membership.rule].push(class);
            }
        }
        model
    }

    /// The item of a class in a lot.
    pub(super) fn item_of(&self, lot: usize, class: usize) -> Option<usize> {
        let items = &self.lots[lot].items;
        items
            .binary_search_by_key(&class, |(class, _)| *class)
            .ok()
            .map(|at| items[at].1)
    }

    /// Request of one unit of an item, per axis.
    pub(super) fn request(&self, item: usize) -> &[i64] {
        &self.lots[self.items[item].lot].request
    }

    /// The kinds that an item may use.
    pub(super) fn kinds_of(&self, item: usize) -> &Bits {
        &self.sets[self.lots[self.items[item].lot].set]
    }

    fn add_items(&mut self, set_of_class: &[usize]) {
        let problem = self.problem;
        let mut order: Vec<usize> = (0..problem.demands.len())
            .filter(|&row| problem.demands[row].count > 0)
            .collect();
        // Classes under rules come first: within a lot they are harder to place than those that are free.
        let rank = |class: usize| {
            let memberships = &problem.classes[class].memberships;
            (std::cmp::Reverse(strictness(problem, memberships)), class)
        };
        order.sort_by(|&a, &b| {
            let (a_demand, b_demand) = (&problem.demands[a], &problem.demands[b]);
            rank(a_demand.class)
                .cmp(&rank(b_demand.class))
                .then(a_demand.request.cmp(&b_demand.request))
                .then(a.cmp(&b))
        });
        let mut lots: BTreeMap<(&[i64], usize), usize> = BTreeMap::new();
        let mut first_of_class: Option<(usize, usize)> = None;
        let mut previous: Option<(usize, &[i64], usize)> = None;
        for row in order {
            let demand = &problem.demands[row];
            let (class, set) = (demand.class, set_of_class[demand.class]);
            let request: &[i64] = &demand.request;
            let first = match first_of_class {
                Some((known, first)) if known == class => first,
                _ => self.classes.len(),
            };
            first_of_class = Some((class, first));
            let repeated = match previous {
                Some((c, r, times)) if c == class && r == request => times + 1,
                _ => 0,
            };
            previous = Some((class, request, repeated));
            let model_class = first + repeated;
            if model_class == self.classes.len() {
                let memberships = &problem.classes[class].memberships;
                self.classes.push(ModelClass { set, memberships });
            }
            let next = self.lots.len();
            let lot = *lots.entry((request, set)).or_insert(next);
            if lot == next {
                self.lots.push(Lot {
                    request: request.into(),
                    set,
                    items: Vec::new(),
                });
            }
            self.lots[lot].items.push((model_class, self.items.len()));
            self.items.push(Item {
                demand: row,
                class: model_class,
                lot,
                count: demand.count,
            });
        }
        for lot in &mut self.lots {
            lot.items.sort_unstable();
        }
    }
}

/// How much a class is bound by rules: the largest share of a node's limit that one unit takes as an owner, then memberships.
fn strictness(problem: &Problem, memberships: &[Membership]) -> (u64, usize) {
    let share = |membership: &Membership| {
        let limit = u64::from(problem.rules[membership.rule].limit).max(1);
        u64::from(membership.counted) * 1000 / limit
    };
    let owners = memberships.iter().filter(|m| m.owner);
    (owners.map(share).max().unwrap_or(0), memberships.len())
}

/// Per class its set, and per set the rows of the kinds it may use.
fn class_sets(problem: &Problem) -> (Vec<usize>, Vec<Bits>) {
    let mut number: BTreeMap<&Bits, usize> = BTreeMap::new();
    let mut sets = Vec::new();
    let set_of_class = problem
        .classes
        .iter()
        .map(|class| {
            *number.entry(&class.kinds).or_insert_with(|| {
                sets.push(class.kinds.clone());
                sets.len() - 1
            })
        })
        .collect();
    (set_of_class, sets)
}

/// Kinds that no other beats, cheapest first, and per row its position among them.
fn worthwhile_kinds(
    problem: &Problem,
    set_of_class: &[usize],
    sets: &[Bits],
) -> (Vec<ModelKind>, Vec<Option<usize>>) {
    let mut sets_of_kind = vec![Bits::none(sets.len()); problem.kinds.len()];
    for (set, rows) in sets.iter().enumerate() {
        for row in rows.iter() {
            sets_of_kind[row].insert(set);
        }
    }
    let mut order: Vec<usize> = (0..problem.kinds.len())
        .filter(|&row| !sets_of_kind[row].is_empty())
        .collect();
    // A row that beats another stands before it in this order.
    order.sort_by(|&a, &b| {
        let (a_kind, b_kind) = (&problem.kinds[a], &problem.kinds[b]);
        (a_kind.price.cmp(&b_kind.price))
            .then(b_kind.capacity.cmp(&a_kind.capacity))
            .then(sets_of_kind[b].len().cmp(&sets_of_kind[a].len()))
            .then(a_kind.list_price.cmp(&b_kind.list_price))
            .then(a.cmp(&b))
    });
    let demand = Demanded::new(problem, set_of_class, sets.len());
    let mut kept: Vec<usize> = Vec::new();
    let mut most_of: BTreeMap<&Bits, Vec<i64>> = BTreeMap::new();
    for row in order {
        let own = &sets_of_kind[row];
        let most = &*most_of.entry(own).or_insert_with(|| demand.of_sets(own));
        let beaten = kept
            .iter()
            .any(|&by| own.is_within(&sets_of_kind[by]) && beats(problem, by, row, most));
        if !beaten {
            kept.push(row);
        }
    }
    let mut position = vec![None; problem.kinds.len()];
    let kinds = kept.iter().enumerate().map(|(at, &row)| {
        position[row] = Some(at);
        ModelKind {
            row,
            capacity: problem.kinds[row].capacity.clone(),
            price: problem.kinds[row].price,
            sets: sets_of_kind[row].clone(),
        }
    });
    (kinds.collect(), position)
}

/// All that is asked for, per class set and axis.
struct Demanded {
    axes: usize,
    of_set: Vec<Vec<i64>>,
}

impl Demanded {
    fn new(problem: &Problem, set_of_class: &[usize], sets: usize) -> Self {
        let mut of_set = vec![vec![0_i64; problem.axes]; sets];
        for demand in &problem.demands {
            let sums = &mut of_set[set_of_class[demand.class]];
            for (sum, ask) in sums.iter_mut().zip(&demand.request) {
                *sum = sum.saturating_add(ask.saturating_mul(i64::from(demand.count)));
            }
        }
        Self {
            axes: problem.axes,
            of_set,
        }
    }

    /// Request of some sets together, per axis; saturates.
    fn of_sets(&self, sets: &Bits) -> Vec<i64> {
        let mut result = vec![0_i64; self.axes];
        for set in sets.iter() {
            for (sum, of_set) in result.iter_mut().zip(&self.of_set[set]) {
                *sum = sum.saturating_add(*of_set);
            }
        }
        result
    }
}

/// `true` if the kind in row `by` is at least as good as the one in `row`, for all that may use both, however many are bought;
/// `most` is all that may be put on the latter.
fn beats(problem: &Problem, by: usize, row: usize, most: &[i64]) -> bool {
    let (by, it) = (&problem.kinds[by], &problem.kinds[row]);
    let draws_no_more = match (&by.spends, &it.spends) {
        (None, _) => true,
        (Some((a, taken)), Some((b, other))) => {
            a == b && taken.iter().zip(other).all(|(taken, other)| taken <= other)
        }
        (Some(_), None) => false,
    };
    by.price <= it.price
        && by.supply.is_none()
        && draws_no_more
        && (by.capacity.iter().zip(&it.capacity).zip(most))
            .all(|((have, other), most)| have >= other.min(most))
}

fn positions(rows: &Bits, position: &[Option<usize>]) -> Bits {
    let mut result = Bits::none(position.iter().flatten().count());
    for at in rows.iter().filter_map(|row| position[row]) {
        result.insert(at);
    }
    result
}
