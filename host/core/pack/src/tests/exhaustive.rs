//! Random tiny problems, and the price of the cheapest fleet by trying everything.

use plimsoll_base::bits::Bits;

use crate::problem::{Class, Demand, ExistingNode, Kind, Membership, NodeRule, Problem};

/// A multiplicative generator: enough to vary problems, the same on every machine.
pub(crate) struct Draw(u64);

impl Draw {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0xD1B5_4A32_D192_ED03)
    }

    /// A number below `end`.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % end
    }

    /// An amount below `end`.
    pub(crate) fn amount(&mut self, end: u64) -> i64 {
        i64::try_from(self.below(end)).unwrap()
    }

    /// An index below `end`.
    pub(crate) fn index(&mut self, end: usize) -> usize {
        usize::try_from(self.below(end as u64)).unwrap()
    }

    fn bits(&mut self, size: usize) -> Bits {
        let mut bits = Bits::none(size);
        for at in 0..size {
            if self.below(4) > 0 {
                bits.insert(at);
            }
        }
        bits
    }
}

/// At most 7 units on at most 4 kinds, with rules, a supply and, if asked for, existing nodes.
pub(crate) fn random_problem(seed: u64, with_existing: bool) -> Problem {
    let mut draw = Draw::new(seed);
    let mut problem = Problem {
        axes: 2,
        supplies: vec![1],
        ..Problem::default()
    };
    for _ in 0..=draw.index(4) {
        let price = 5 + draw.amount(40);
        problem.kinds.push(Kind {
            capacity: [1 + draw.amount(12), 1 + draw.amount(12)].into(),
            price,
            list_price: price + draw.amount(10) - 5,
            spends: None,
            supply: (draw.below(5) == 0).then_some(0),
        });
    }
    for _ in 0..draw.index(3) {
        let limit = 1 + u32::try_from(draw.below(2)).unwrap();
        problem.rules.push(NodeRule { limit });
    }
    for _ in 0..=draw.index(3) {
        let mut memberships = Vec::new();
        for rule in 0..problem.rules.len() {
            if draw.below(2) == 0 {
                memberships.push(Membership {
                    rule,
                    owner: draw.below(2) == 0,
                    counted: u32::try_from(draw.below(2)).unwrap(),
                });
            }
        }
        let kinds = draw.bits(problem.kinds.len());
        problem.classes.push(Class { kinds, memberships });
    }
    let mut units = 0;
    while units < 5 {
        let count = 1 + u32::try_from(draw.below(3)).unwrap();
        units += count;
        problem.demands.push(Demand {
            class: draw.index(problem.classes.len()),
            request: [draw.amount(7), draw.amount(7)].into(),
            count,
        });
    }
    if with_existing {
        for _ in 0..draw.index(3) {
            let classes = draw.bits(problem.classes.len());
            problem.existing.push(ExistingNode {
                free: [draw.amount(9), draw.amount(9)].into(),
                classes,
            });
        }
    }
    problem
}

/// A node being loaded: the kind bought, or none for a node there was.
#[derive(Clone)]
struct Loaded {
    kind: Option<usize>,
    room: Vec<i64>,
    units: Vec<usize>,
}

struct Search<'p> {
    problem: &'p Problem,
    units: Vec<usize>,
    price: &'p dyn Fn(&Kind) -> i64,
    best: Option<i64>,
}

/// The least that a fleet for every unit can cost; `None` when some unit cannot be placed.
pub(crate) fn cheapest(problem: &Problem, price: impl Fn(&Kind) -> i64) -> Option<i64> {
    let units = problem.demands.iter().enumerate();
    let mut search = Search {
        problem,
        units: units
            .flat_map(|(row, demand)| std::iter::repeat_n(row, demand.count as usize))
            .collect(),
        price: &price,
        best: None,
    };
    let existing = problem.existing.iter().map(|node| Loaded {
        kind: None,
        room: node.free.to_vec(),
        units: Vec::new(),
    });
    let mut nodes: Vec<Loaded> = existing.collect();
    let supplies = problem.supplies.clone();
    search.place(0, 0, &mut nodes, &supplies);
    search.best
}

impl Search<'_> {
    fn place(&mut self, at: usize, paid: i64, nodes: &mut Vec<Loaded>, supplies: &[u32]) {
        if self.best.is_some_and(|best| paid >= best) {
            return;
        }
        let Some(&row) = self.units.get(at) else {
            self.best = Some(paid);
            return;
        };
        for node in 0..nodes.len() {
            if self.may_join(row, node, &nodes[node]) {
                let before = nodes[node].clone();
                self.join(row, &mut nodes[node]);
                self.place(at + 1, paid, nodes, supplies);
                nodes[node] = before;
            }
        }
        for (kind, it) in self.problem.kinds.iter().enumerate() {
            let mut supplies = supplies.to_vec();
            if let Some(supply) = it.supply {
                if supplies[supply] == 0 {
                    continue;
                }
                supplies[supply] -= 1;
            }
            let mut node = Loaded {
                kind: Some(kind),
                room: it.capacity.to_vec(),
                units: Vec::new(),
            };
            if self.may_join(row, nodes.len(), &node) {
                self.join(row, &mut node);
                nodes.push(node);
                self.place(at + 1, paid + (self.price)(it), nodes, &supplies);
                nodes.pop();
            }
        }
    }

    fn may_join(&self, row: usize, at: usize, node: &Loaded) -> bool {
        let demand = &self.problem.demands[row];
        let class = &self.problem.classes[demand.class];
        let admits = match node.kind {
            Some(kind) => class.kinds.contains(kind),
            None => self.problem.existing[at].classes.contains(demand.class),
        };
        let fits = node
            .room
            .iter()
            .zip(&demand.request)
            .all(|(have, ask)| have >= ask);
        admits && fits && self.obeys(row, node)
    }

    fn obeys(&self, row: usize, node: &Loaded) -> bool {
        (0..self.problem.rules.len()).all(|rule| {
            let units = node.units.iter().chain([&row]);
            let of_rule: Vec<Membership> = units
                .filter_map(|&unit| {
                    let class = self.problem.demands[unit].class;
                    let memberships = &self.problem.classes[class].memberships;
                    memberships.iter().copied().find(|m| m.rule == rule)
                })
                .collect();
            let counted: u32 = of_rule.iter().map(|m| m.counted).sum();
            let owned = of_rule.iter().any(|m| m.owner);
            !owned || counted <= self.problem.rules[rule].limit
        })
    }

    fn join(&self, row: usize, node: &mut Loaded) {
        node.units.push(row);
        for (have, ask) in node.room.iter_mut().zip(&self.problem.demands[row].request) {
            *have -= ask;
        }
    }
}
