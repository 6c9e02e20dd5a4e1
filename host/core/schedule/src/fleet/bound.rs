//! A lower bound on the list price of any fleet for some pods.

mod of_plan;

use std::collections::BTreeMap;
use std::sync::Arc;

pub use of_plan::{PlanBounds, bounds_of_plan};

use plimsoll_base::bits::Bits;
use plimsoll_base::units::PricePerHour;
use plimsoll_model::snapshot::Snapshot;
use plimsoll_model::{Pod, is_fixed};
use plimsoll_pack::{Class, Demand, ExistingNode, Kind, Membership, NodeRule, Problem};

use super::draft::DraftPlan;
use crate::batch::compile::{Compiled, compile};
use crate::batch::existing::NodeRequest;
use crate::batch::pod_group::{Level, PodGroup};
use crate::offers::axes::fits;
use crate::offers::best::Best;
use crate::offers::table::Table;
use crate::prices::priced::Priced;
use crate::prices::sale::Offers;
use crate::topology::TopologyRule;

/// Lower bound, per hour, on the cost of any fleet for every live pod of a snapshot, bought from nothing: the yardstick of a
/// whole cluster, whatever nodes it has. Daemons come with the nodes; pods that nothing can hold are left out. Prices are those
/// of the provider, without NodeOverlays and without a node's own cost.
pub fn bound_from_nothing(snapshot: &Snapshot) -> PricePerHour {
    let every_one = vec![1; snapshot.pods.len()];
    let bounds = bounds_of_work(snapshot, std::slice::from_ref(&every_one));
    bounds.into_iter().sum()
}

/// The same for several amounts of work: each entry of `work` says how many copies of each pod of the snapshot there are.
///
/// A bound is the value of a linear programme without fixed costs, so that the bound of pod-hours summed over a stretch of
/// time is no more than the bounds of its moments summed up: what ran may be measured by the hour and still be bounded.
pub fn bounds_of_work(snapshot: &Snapshot, work: &[Vec<u32>]) -> Vec<PricePerHour> {
    from_nothing(snapshot, None, |compiled, market, placed, kept| {
        let of_amounts = work.iter().map(|copies| {
            let placed = placed.iter().map(|(pod, level)| {
                let row = kept[compiled.pods[*pod].row];
                (*pod, *level, copies.get(row).copied().unwrap_or(0))
            });
            let problem = problem(compiled, market, placed.filter(|(.., copies)| *copies > 0));
            PricePerHour::from_nanos(plimsoll_pack::bound(&problem).list_price)
        });
        of_amounts.collect()
    })
}

/// The bound for every live pod of a snapshot and, by row, the part of it that each pod is worth, in nano-dollars per hour; zero for
/// daemons, pods that ended, and pods that nothing can hold. Offers of an earlier decision serve again where they still hold.
pub(crate) fn bound_and_worth(
    snapshot: &Snapshot,
    earlier: Option<&Arc<Offers>>,
) -> (PricePerHour, Vec<i64>) {
    from_nothing(snapshot, earlier, |compiled, market, placed, kept| {
        let every_one = placed.iter().map(|(pod, level)| (*pod, *level, 1));
        let problem = problem(compiled, market, every_one);
        let bound = plimsoll_pack::bound(&problem);
        let worth = worth_by_group(compiled, placed, |number| {
            let demand = &problem.demands[number];
            bound.value(demand.class, &demand.request)
        });
        let mut result = vec![0; snapshot.pods.len()];
        for (pod, _) in placed {
            let pod = &compiled.pods[*pod];
            result[kept[pod.row]] = worth[pod.group];
        }
        (PricePerHour::from_nanos(bound.list_price), result)
    })
}

/// Asks about the live pods of a snapshot, as if all waited and there were no nodes, at the provider's prices. Handed over: the pods that some
/// row could hold, each at its last step of relaxation, and the row in the snapshot by each row that was compiled.
fn from_nothing<R>(
    snapshot: &Snapshot,
    earlier: Option<&Arc<Offers>>,
    ask: impl FnOnce(&Compiled<'_>, &BoundPrices<'_>, &[(usize, usize)], &[usize]) -> R,
) -> R {
    let (bare, kept) = as_if_waiting(snapshot, |_| true);
    let compiled = compile(&bare, earlier);
    let allowed = Bits::all(compiled.rows.len());
    let holdable = holdable(&compiled, &allowed);
    let placed: Vec<(usize, usize)> = at_last(&compiled, &holdable).collect();
    let paid = |row: usize| {
        let row = &compiled.rows.rows[row];
        let class = &compiled.templates[row.template].pool.class;
        let listed = &snapshot.catalogues.of(class).types()[row.instance_type];
        listed.offerings[row.offering].price.nanos()
    };
    let prices: Vec<i64> = (0..compiled.rows.len()).map(paid).collect();
    let best = Best::default();
    let market = BoundPrices {
        prices: &prices,
        allowed: &allowed,
        best: &best,
    };
    ask(&compiled, &market, &placed, &kept)
}

/// Worth by group, of the demands that these pods make, which are in the order in which their groups are met.
fn worth_by_group(
    compiled: &Compiled<'_>,
    placed: &[(usize, usize)],
    worth_of_demand: impl Fn(usize) -> i64,
) -> Vec<i64> {
    let mut result = vec![0; compiled.groups.len()];
    let mut known = Bits::none(compiled.groups.len());
    let mut demands = 0..;
    for (pod, _) in placed {
        let group = compiled.pods[*pod].group;
        if !known.contains(group) {
            known.insert(group);
            result[group] = demands.next().map_or(0, &worth_of_demand);
        }
    }
    result
}

/// The snapshot without nodes and with every live pod waiting that is wanted, and the row that each pod had.
pub(crate) fn as_if_waiting(
    snapshot: &Snapshot,
    is_wanted: impl Fn(&Pod) -> bool,
) -> (Snapshot, Vec<usize>) {
    let mut bare = snapshot.clone();
    bare.nodes.clear();
    bare.pods.clear();
    let mut kept = Vec::new();
    for (row, pod) in snapshot.pods.iter().enumerate() {
        if !pod.is_active() || is_fixed(pod) || !is_wanted(pod) {
            continue;
        }
        let mut waiting = Pod::clone(pod);
        (waiting.node, waiting.nominated, waiting.unschedulable) = (None, None, true);
        bare.pods.push(Arc::new(waiting));
        kept.push(row);
    }
    (bare, kept)
}

/// The bound of a plan: pods at the step of relaxation where they were placed, without the domains that were chosen for them, on
/// everything that pools may buy and everything that is free.
pub(crate) fn bound(compiled: &Compiled<'_>, candidate: &DraftPlan) -> PricePerHour {
    let placed = candidate.placed().map(|(pod, level)| (pod, level, 1));
    let market = BoundPrices::at(compiled.listed());
    let problem = problem(compiled, &market, placed);
    PricePerHour::from_nanos(plimsoll_pack::bound(&problem).list_price)
}

/// Worth of one pod of each group in a fleet bought from nothing at these prices for the whole batch, in nano-dollars per hour: a
/// new node costs at least the worth of its pods. Zero for groups that no row could hold.
pub(crate) fn worth_of_groups(compiled: &Compiled<'_>, priced: &Priced) -> Vec<i64> {
    let holdable = holdable(compiled, &priced.allowed);
    let placed: Vec<(usize, usize)> = at_last(compiled, &holdable).collect();
    let every_one = placed.iter().map(|(pod, level)| (*pod, *level, 1));
    let mut problem = problem(compiled, &BoundPrices::at(priced), every_one);
    problem.existing.clear();
    let bound = plimsoll_pack::bound(&problem);
    worth_by_group(compiled, &placed, |number| {
        let demand = &problem.demands[number];
        bound.value(demand.class, &demand.request)
    })
}

/// By group, whether some row of those allowed could hold one of its pods with every wish given up.
fn holdable(compiled: &Compiled<'_>, allowed: &Bits) -> Vec<bool> {
    let has_row = |group: &PodGroup| {
        let last = group.last_levels().iter();
        let rows = last.flat_map(|level| &level.rows).flat_map(Bits::iter);
        let mut rows = rows.filter(|row| allowed.contains(*row));
        rows.any(|row| fits(&group.request, compiled.rows.capacity(row)))
    };
    compiled.groups.iter().map(has_row).collect()
}

/// The pods that some row could hold, each at its last step of relaxation.
fn at_last(compiled: &Compiled<'_>, holdable: &[bool]) -> impl Iterator<Item = (usize, usize)> {
    let pods = compiled.pods.iter().enumerate();
    pods.filter(|(_, pod)| holdable[pod.group])
        .map(|(at, pod)| (at, compiled.groups[pod.group].levels.len() - 1))
}

/// Steps of relaxation that a bound counts for pods at one of them: at the last, every alternative of their node affinity.
fn levels_at(group: &PodGroup, level: usize) -> &[Level] {
    if level + 1 == group.levels.len() {
        group.last_levels()
    } else {
        std::slice::from_ref(&group.levels[level])
    }
}

/// Prices of rows, and the best of the rows at those prices.
struct BoundPrices<'a> {
    /// By row, in nano-dollars per hour.
    prices: &'a [i64],
    /// Rows that may be bought.
    allowed: &'a Bits,
    best: &'a Best,
}

impl<'a> BoundPrices<'a> {
    fn at(priced: &'a Priced) -> Self {
        Self {
            prices: &priced.least,
            allowed: &priced.allowed,
            best: &priced.best,
        }
    }
}

/// From what rows cost, and pods with their level of relaxation and how many copies of each there are.
fn problem(
    compiled: &Compiled<'_>,
    market: &BoundPrices<'_>,
    placed: impl Iterator<Item = (usize, usize, u32)>,
) -> Problem {
    let mut result = Problem {
        axes: compiled.axes.len(),
        ..Problem::default()
    };
    let mut rules: BTreeMap<(usize, bool), usize> = BTreeMap::new();
    let mut classes: BTreeMap<(Bits, Vec<Membership>), usize> = BTreeMap::new();
    let mut demands: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    for (pod, level, copies) in placed {
        let group_number = compiled.pods[pod].group;
        let next = result.demands.len();
        let demand = *demands.entry((group_number, level)).or_insert(next);
        if demand == next {
            let class = class(
                compiled,
                group_number,
                level,
                &mut result,
                &mut rules,
                &mut classes,
            );
            let request = compiled.groups[group_number].request.clone();
            result.demands.push(Demand {
                class,
                request,
                count: 0,
            });
        }
        let count = &mut result.demands[demand].count;
        *count = count.saturating_add(copies);
    }
    let price = |row: usize| market.prices[row].max(1);
    let table = compiled.rows.table();
    for class in &mut result.classes {
        class.kinds.keep(market.allowed);
    }
    let classes = result.classes.iter().map(|class| &class.kinds);
    let rows = market
        .best
        .of_sets(classes, price, |row| table.capacity(row).into());
    sell(&mut result, table, &rows, price);
    result.existing = existing(compiled, &demands, &result.demands);
    result
}

/// Free nodes, each with the classes of which some pod may be put there by labels and taints.
fn existing(
    compiled: &Compiled<'_>,
    groups: &BTreeMap<(usize, usize), usize>,
    demands: &[Demand],
) -> Vec<ExistingNode> {
    let existing = &compiled.existing;
    if existing.free.iter().all(Option::is_none) {
        return Vec::new();
    }
    let rooms = existing.rooms();
    let mut classes = vec![Bits::default(); rooms.len()];
    for ((number, level), demand) in groups {
        let group = &compiled.groups[*number];
        let asked = levels_at(group, *level).iter().flat_map(|level| {
            group.alternatives.iter().map(|volumes| NodeRequest {
                requirements: &level.requirements,
                volumes,
                tolerations: &level.tolerations,
                needs: &group.needs,
            })
        });
        for asked in asked {
            for alike in existing.alike_open_to(asked, &group.request, &rooms) {
                classes[alike].insert(demands[*demand].class);
            }
        }
    }
    let free = existing.free.iter().enumerate();
    let node = |(row, free): (usize, &Option<Box<[i64]>>)| {
        Some(ExistingNode {
            free: free.clone()?,
            classes: classes[existing.alike(row)].clone(),
        })
    };
    free.filter_map(node).collect()
}

/// Makes some rows the kinds of a problem whose classes speak of all of them.
fn sell(problem: &mut Problem, table: &Table, rows: &[usize], price: impl Fn(usize) -> i64) {
    let kind = |row: &usize| Kind {
        capacity: table.capacity(*row).into(),
        price: price(*row),
        list_price: price(*row),
        spends: None,
        supply: None,
    };
    problem.kinds = rows.iter().map(kind).collect();
    for class in &mut problem.classes {
        let mut kinds = Bits::none(rows.len());
        let own = rows.iter().enumerate();
        own.filter(|(_, row)| class.kinds.contains(**row))
            .for_each(|(kind, _)| kinds.insert(kind));
        class.kinds = kinds;
    }
}

fn class(
    compiled: &Compiled<'_>,
    group_number: usize,
    level: usize,
    problem: &mut Problem,
    rules: &mut BTreeMap<(usize, bool), usize>,
    classes: &mut BTreeMap<(Bits, Vec<Membership>), usize>,
) -> usize {
    let group = &compiled.groups[group_number];
    let mut kinds = Bits::none(compiled.rows.len());
    for rows in levels_at(group, level).iter().flat_map(|level| &level.rows) {
        kinds.join(rows);
    }
    let mut memberships = Vec::new();
    for owned in group.levels[level]
        .owned
        .iter()
        .filter(|owned| compiled.model.is_by_host(**owned))
    {
        let own = group.selected.binary_search(owned).is_ok();
        let limit = match compiled.model.groups[*owned].identity.rule {
            TopologyRule::Spread { max_skew, .. } if own => max_skew,
            TopologyRule::AntiAffinity if own => 1,
            _ => continue,
        };
        let rule = *rules.entry((*owned, own)).or_insert_with(|| {
            problem.rules.push(NodeRule { limit });
            problem.rules.len() - 1
        });
        memberships.push(Membership {
            rule,
            owner: true,
            counted: 1,
        });
    }
    memberships.sort_unstable();
    let next = classes.len();
    let number = *classes
        .entry((kinds.clone(), memberships.clone()))
        .or_insert(next);
    if number == next {
        problem.classes.push(Class { kinds, memberships });
    }
    number
}
