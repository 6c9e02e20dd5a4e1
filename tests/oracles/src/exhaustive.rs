//! The best plan there is for a tiny cluster, by trying everything.
//!
//! For every way of dividing the waiting pods over existing nodes, new nodes and nowhere, and every offering for each new node,
//! cheapest first, the checker is asked whether some order of placements is right. New nodes have one option each, so
//! minimum values, which speak of the breadth of a claim, are not demanded: the result is a bound for any planner, and exact
//! where no pool states minimum values. Preferences and guards are not demanded either.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use plimsoll_base::ids::PoolName;
use plimsoll_base::units::PricePerHour;
use plimsoll_check::{Rule, check};
use plimsoll_model::catalogue::CapacityType;
use plimsoll_model::plan::{Plan, Refusal};
use plimsoll_model::snapshot::Snapshot;

use crate::fixture::{PlanFixture, plan};

/// Most waiting pods that are tried.
pub const MOST_PODS: usize = 5;

/// The lexicographic best of (pods unplaced, cost).
#[derive(Clone, Debug, PartialEq)]
pub struct BestPlan {
    /// Pods that go nowhere.
    pub unplaced: usize,
    /// Cost of the new nodes, at list prices and with their own cost.
    pub cost: PricePerHour,
    /// A plan that achieves it, in an order that is right.
    pub plan: Plan,
}

/// One new node that may be bought.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Purchase {
    price: PricePerHour,
    pool: PoolName,
    name: Arc<str>,
    zone: Arc<str>,
    capacity_type: CapacityType,
}

/// Where a block of pods goes.
#[derive(Clone, Debug)]
enum Home {
    Nowhere,
    Node(usize),
    New(Purchase),
}

/// A division of the pods, as rows into `pods`.
type Candidate = Vec<(Vec<usize>, Home)>;

/// The best plan for the pods that wait; `None` when there are more than [`MOST_PODS`].
pub fn exhaustive(snapshot: &Snapshot) -> Option<BestPlan> {
    let pods = waiting(snapshot);
    if pods.len() > MOST_PODS {
        return None;
    }
    let search = Search::new(snapshot, pods);
    let mut candidates = Vec::new();
    search.divide(0, &mut Vec::new(), &mut candidates);
    candidates.sort_by_key(|(unplaced, cost, at, _)| (*unplaced, *cost, *at));
    candidates
        .into_iter()
        .find_map(|(unplaced, cost, _, candidate)| {
            let plan = search.some_order(&candidate)?;
            Some(BestPlan {
                unplaced,
                cost,
                plan,
            })
        })
}

/// Rows of the pods that a plan must mention and may place: the checker says so of an empty plan.
fn waiting(snapshot: &Snapshot) -> Vec<usize> {
    let forgotten = check(snapshot, &Plan::default());
    let subjects: BTreeSet<String> = forgotten
        .iter()
        .filter(|finding| finding.rule == Rule::Complete)
        .map(|finding| finding.subject.to_string())
        .collect();
    let rows = snapshot.pods.iter().enumerate();
    rows.filter(|(_, pod)| {
        !pod.spec.dynamic_resources && subjects.contains(&format!("pod {}", pod.name))
    })
    .map(|(row, _)| row)
    .collect()
}

/// The checker's verdict on a division in one order.
enum Verdict {
    /// Nothing is wrong.
    Good(Box<Plan>),
    /// Another order may do: only spread and affinity, which depend on it, are broken.
    InThisOrder,
    /// No order will do.
    Hopeless,
}

struct Search<'a> {
    snapshot: &'a Snapshot,
    pods: Vec<usize>,
    /// Purchases that can hold a set of pods, topology aside; by the set's bits.
    purchases: BTreeMap<u32, Vec<Purchase>>,
}

impl<'a> Search<'a> {
    fn new(snapshot: &'a Snapshot, pods: Vec<usize>) -> Self {
        let mut search = Self {
            snapshot,
            pods,
            purchases: BTreeMap::new(),
        };
        let all = purchases(snapshot);
        let keep_all = search.needs_every_type();
        for set in 1_u32..(1 << search.pods.len()) {
            let rows: Vec<usize> = bits(set, search.pods.len());
            let mut seen = BTreeSet::new();
            let held: Vec<Purchase> = all
                .iter()
                .filter(|purchase| search.holds(&rows, purchase))
                .filter(|p| {
                    keep_all || seen.insert((p.pool.clone(), Arc::clone(&p.zone), p.capacity_type))
                })
                .cloned()
                .collect();
            search.purchases.insert(set, held);
        }
        search
    }

    /// `true` if a dearer type can be better than a cheaper one that also fits: limits count capacity, a topology key may speak of
    /// the type, and a daemon that pods keep off or want to be near may run on some types alone.
    fn needs_every_type(&self) -> bool {
        let limited = self.snapshot.pools.iter().any(|pool| pool.limits.is_some());
        let daemons = self.snapshot.daemon_sets.iter();
        let mut daemons = daemons.filter(|daemon| {
            let terms = self.snapshot.pods.iter().flat_map(|pod| {
                let spec = &pod.spec;
                spec.affinity.iter().chain(&spec.anti_affinity)
            });
            let mut selectors = terms.map(|term| &term.selector);
            !daemon.pod.anti_affinity.is_empty()
                || selectors.any(|selector| selector.matches(&daemon.labels))
        });
        let by_daemons = daemons.next().is_some();
        let plain = [
            crate::fixture::ZONE,
            crate::fixture::HOSTNAME,
            crate::fixture::CAPACITY_TYPE,
        ];
        let mut keys = self.snapshot.pods.iter().flat_map(|pod| {
            let spec = &pod.spec;
            let spread = spec
                .spread
                .iter()
                .map(|constraint| &constraint.topology_key);
            let terms = spec.affinity.iter().chain(&spec.anti_affinity);
            spread.chain(terms.map(|term| &term.topology_key))
        });
        limited || by_daemons || keys.any(|key| !plain.contains(&key.as_str()))
    }

    /// `true` if one new node can hold these pods, as far as they alone decide it.
    fn holds(&self, rows: &[usize], purchase: &Purchase) -> bool {
        let bought = buy(plan(self.snapshot), purchase);
        let plan = rows
            .iter()
            .fold(bought, |plan, row| plan.put_row(self.pods[*row]));
        let of_place = |rule: Rule| {
            matches!(
                rule,
                Rule::Taints
                    | Rule::NodeLabels
                    | Rule::Room
                    | Rule::HostPorts
                    | Rule::VolumeTopology
                    | Rule::OptionRequirements
                    | Rule::OptionSold
                    | Rule::ClaimPool
                    | Rule::ClaimLabels
                    | Rule::ClaimRequirements
            )
        };
        let findings = check(self.snapshot, &plan.build());
        !findings.iter().any(|finding| of_place(finding.rule))
    }

    /// Every division of the pods from row `next` on, given the blocks so far.
    fn divide(
        &self,
        next: usize,
        blocks: &mut Vec<Vec<usize>>,
        found: &mut Vec<(usize, PricePerHour, usize, Candidate)>,
    ) {
        if next == self.pods.len() {
            self.house(blocks, 0, &mut Vec::new(), found);
            return;
        }
        for at in 0..blocks.len() {
            blocks[at].push(next);
            self.divide(next + 1, blocks, found);
            blocks[at].pop();
        }
        blocks.push(vec![next]);
        self.divide(next + 1, blocks, found);
        blocks.pop();
    }

    /// Every home for the blocks from `next` on; each node takes one block, nowhere takes one.
    fn house(
        &self,
        blocks: &[Vec<usize>],
        next: usize,
        homes: &mut Candidate,
        found: &mut Vec<(usize, PricePerHour, usize, Candidate)>,
    ) {
        let Some(block) = blocks.get(next) else {
            let nowhere = |(block, home): &(Vec<usize>, Home)| match home {
                Home::Nowhere => block.len(),
                Home::Node(_) | Home::New(_) => 0,
            };
            let price = |(_, home): &(Vec<usize>, Home)| match home {
                Home::New(purchase) => purchase.price,
                Home::Nowhere | Home::Node(_) => PricePerHour::ZERO,
            };
            let unplaced = homes.iter().map(nowhere).sum();
            let cost = homes.iter().map(price).sum();
            found.push((unplaced, cost, found.len(), homes.clone()));
            return;
        };
        let mut options = Vec::new();
        if !homes.iter().any(|(_, home)| matches!(home, Home::Nowhere)) {
            options.push(Home::Nowhere);
        }
        let is_taken = |node: usize| {
            homes
                .iter()
                .any(|(_, home)| matches!(home, Home::Node(taken) if *taken == node))
        };
        let nodes = (0..self.snapshot.nodes.len()).filter(|node| !is_taken(*node));
        options.extend(nodes.map(Home::Node));
        let set = block.iter().fold(0, |set, row| set | 1 << row);
        let purchases = self.purchases.get(&set).into_iter().flatten();
        options.extend(purchases.cloned().map(Home::New));
        for home in options {
            homes.push((block.clone(), home));
            self.house(blocks, next + 1, homes, found);
            homes.pop();
        }
    }

    /// A plan for a division, in the first order that the checker passes.
    fn some_order(&self, candidate: &Candidate) -> Option<Plan> {
        let mut order: Vec<(usize, usize)> = Vec::new();
        for (at, (block, home)) in candidate.iter().enumerate() {
            if !matches!(home, Home::Nowhere) {
                order.extend(block.iter().map(|row| (*row, at)));
            }
        }
        let mut result = None;
        permute(
            &mut order,
            0,
            &mut |order| match self.judge(candidate, order) {
                Verdict::Good(plan) => {
                    result = Some(*plan);
                    true
                }
                Verdict::Hopeless => true,
                Verdict::InThisOrder => false,
            },
        );
        result
    }

    fn judge(&self, candidate: &Candidate, order: &[(usize, usize)]) -> Verdict {
        let mut made = plan(self.snapshot);
        let mut claims = BTreeMap::new();
        for (at, (block, home)) in candidate.iter().enumerate() {
            match home {
                Home::New(purchase) => {
                    claims.insert(at, claims.len());
                    made = buy(made, purchase);
                }
                Home::Nowhere => {
                    for row in block {
                        let nowhere = Refusal::Unschedulable(Vec::new());
                        made = made.waits_row(self.pods[*row], nowhere);
                    }
                }
                Home::Node(_) => {}
            }
        }
        for (row, at) in order {
            let pod = self.pods[*row];
            made = match (&candidate[*at].1, claims.get(at)) {
                (Home::Node(node), _) => made.on_row(pod, *node),
                (_, Some(claim)) => made.put_row_on(pod, *claim),
                (_, None) => made,
            };
        }
        let made = made.build();
        let counts = |rule: Rule| {
            !matches!(
                rule,
                Rule::ClaimRequests
                    | Rule::AttachSlots
                    | Rule::FreeAddresses
                    | Rule::MinValues
                    | Rule::RoomLeft
                    | Rule::Reason
                    | Rule::Complete
            )
        };
        let findings = check(self.snapshot, &made);
        let mut broken = findings.iter().map(|finding| finding.rule);
        let in_order = |rule: Rule| matches!(rule, Rule::Spread | Rule::Affinity);
        if broken.clone().any(|rule| counts(rule) && !in_order(rule)) {
            Verdict::Hopeless
        } else if broken.any(counts) {
            Verdict::InThisOrder
        } else {
            Verdict::Good(Box::new(made))
        }
    }
}

/// Everything on sale for every pool, cheapest first.
fn purchases(snapshot: &Snapshot) -> Vec<Purchase> {
    let mut result = Vec::new();
    for pool in &snapshot.pools {
        for sold in snapshot.catalogues.of(&pool.class).types() {
            let open = sold.offerings.iter().filter(|offering| offering.available);
            result.extend(open.map(|offering| Purchase {
                price: offering.price + snapshot.settings.node_cost,
                pool: pool.name.clone(),
                name: sold.name.clone().into(),
                zone: Arc::clone(&offering.zone),
                capacity_type: offering.capacity_type,
            }));
        }
    }
    result.sort();
    result
}

fn buy<'a>(plan: PlanFixture<'a>, purchase: &Purchase) -> PlanFixture<'a> {
    let option = (&*purchase.name, &*purchase.zone, purchase.capacity_type);
    plan.buy(purchase.pool.as_str(), &[option])
}

fn bits(set: u32, count: usize) -> Vec<usize> {
    (0..count).filter(|at| set & (1 << at) != 0).collect()
}

/// Calls `visit` with every permutation until it says that it is done.
fn permute<T: Copy>(items: &mut [T], from: usize, visit: &mut dyn FnMut(&[T]) -> bool) -> bool {
    if from >= items.len() {
        return visit(items);
    }
    for at in from..items.len() {
        items.swap(from, at);
        let done = permute(items, from + 1, visit);
        items.swap(from, at);
        if done {
            return true;
        }
    }
    false
}
