//! Guards in a finished plan: where they yielded, and what they cost.
//!
//! The first is read off the finished plan, node by node, so that it is true whatever made the plan. The second takes further
//! plans, one for each guard lifted, and is left to callers that have the time; it never changes the plan itself.

use std::collections::BTreeMap;

use plimsoll_base::ids::Uid;
use plimsoll_base::labels::CAPACITY_TYPE;
use plimsoll_base::parallel;
use plimsoll_base::requirement::Requirement;
use plimsoll_base::units::PricePerHour;
use plimsoll_hooks::rank::Prices;
use plimsoll_model::PackingMode;
use plimsoll_model::plan::{Note, Plan};
use plimsoll_model::snapshot::{Guard, Guards};

use super::draft::{self, DraftPlan};
use super::parts::{Part, in_parts};
use crate::batch::compile::Compiled;
use crate::guards::addresses;
use crate::guards::spot_share::{SpotShare, has_own};
use crate::guards::{self, RowGuards};
use crate::offers::size::Size;
use crate::offers::templates::Template;
use crate::place::free_addresses::holds;
use crate::place::new_node::NewNode;
use crate::prepared::Prepared;
use crate::prices::RowPrices;

/// A guard that costs no more than this share of the plan is not worth a word: half a percent.
const WORTH_SAYING: (i64, i64) = (5, 1000);

/// Where a guard does not hold: the guard, the template, and on how many nodes, or for how many volumes or addresses.
type Yielded = BTreeMap<(Guard, usize), usize>;

/// `true` if guards hold in one plan wherever they hold in another.
pub(crate) fn hold_as_in(compiled: &Compiled<'_>, one: &DraftPlan, other: &DraftPlan) -> bool {
    let guards = &compiled.snapshot.settings.guards;
    if !guards.enabled {
        return true;
    }
    let other = yielded(compiled, guards, other);
    let allowed = |(place, nodes): (&(Guard, usize), &usize)| {
        other.get(place).is_some_and(|others| nodes <= others)
    };
    yielded(compiled, guards, one).iter().all(allowed)
}

/// A remark for each guard that had to yield, by pool.
pub(crate) fn notes(compiled: &Compiled<'_>, candidate: &DraftPlan) -> Vec<Note> {
    let guards = &compiled.snapshot.settings.guards;
    if !guards.enabled {
        return Vec::new();
    }
    let note = |((guard, template), count): ((Guard, usize), usize)| {
        let on = match guard {
            Guard::FreeAddresses => format!("for {count} address(es)"),
            _ => format!("on {count} new node(s)"),
        };
        let how_large = match guard {
            Guard::NodeShare => largest_node(compiled, candidate, template).map(|size| {
                let share = compiled.shares.share_of(template, size);
                let allowed = compiled.shares.allowed(guards, template);
                format!("; the largest has {size}, {share}; the pool allows a new node {allowed}")
            }),
            _ => None,
        };
        let pool = compiled.templates[template].pool.name.clone();
        let text = format!(
            "guard on {} yields {on}: nothing else would hold their pods{}",
            guard.as_str(),
            how_large.unwrap_or_default(),
        );
        Note::of_pool(pool, text)
    };
    let yielded = yielded(compiled, guards, candidate).into_iter();
    yielded.map(note).collect()
}

/// The size of the largest new node of a pool, by its cpu.
fn largest_node(compiled: &Compiled<'_>, candidate: &DraftPlan, template: usize) -> Option<Size> {
    let rows = candidate.nodes.iter().map(|node| node.row);
    let own = rows.filter(|row| compiled.rows.rows[*row].template == template);
    let sizes = own.map(|row| Size::of(&compiled.offering(row).0.capacity));
    sizes.max_by_key(|size| (size.cpu_milli, size.memory))
}

fn yielded(compiled: &Compiled<'_>, guards: &Guards, candidate: &DraftPlan) -> Yielded {
    let mut result = Yielded::new();
    let rows = RowGuards::of(compiled, guards);
    let guarded = |template: usize| !compiled.templates[template].is_compatible();
    for node in &candidate.nodes {
        let template = compiled.rows.rows[node.row].template;
        if guarded(template) {
            for guard in broken(compiled, guards, &rows, candidate, node) {
                *result.entry((guard, template)).or_default() += 1;
            }
        }
    }
    for template in (0..compiled.templates.len()).filter(|template| guarded(*template)) {
        let beyond = addresses::beyond_of(compiled, guards, template, &candidate.nodes);
        if beyond > 0 {
            result.insert((Guard::FreeAddresses, template), beyond);
        }
        if !has_own(compiled, template, &candidate.nodes) {
            continue;
        }
        let share = SpotShare::of(compiled, template, &candidate.nodes);
        if let Some(most) = share.most(guards) {
            let beyond = share.planned_beyond(compiled, template, &candidate.nodes, most);
            if beyond > 0 {
                let beyond = usize::try_from(beyond).unwrap_or(usize::MAX);
                result.insert((Guard::SpotShare, template), beyond);
            }
        }
    }
    result
}

/// The guards that do not hold on a node.
fn broken(
    compiled: &Compiled<'_>,
    guards: &Guards,
    rows: &RowGuards<'_, '_>,
    candidate: &DraftPlan,
    node: &NewNode,
) -> Vec<Guard> {
    let pods = || {
        node.steps
            .iter()
            .map(|step| compiled.pods[candidate.steps[*step].pod])
    };
    let mut replicas: BTreeMap<&Uid, u32> = BTreeMap::new();
    for pod in pods() {
        if let Some(owner) = &compiled.snapshot.pods[pod.row].owner {
            *replicas.entry(&owner.uid).or_default() += 1;
        }
    }
    let crowds = |(uid, count): (&&Uid, &u32)| {
        let most = guards::replica_limit(compiled, guards, uid);
        most.is_some_and(|most| *count > most)
    };
    let provider = compiled.snapshot.catalogues.provider();
    let names_types = |asked: &Requirement| provider.names_types(asked);
    let names_capacity_types = |asked: &Requirement| asked.key().as_str() == CAPACITY_TYPE;
    let asked_for = |names: &dyn Fn(&Requirement) -> bool| {
        node.steps.iter().any(|step| {
            let step = &candidate.steps[*step];
            let group = &compiled.groups[compiled.pods[step.pod].group];
            let mut requirements = group.levels[step.level].requirements.iter();
            requirements.any(names)
        })
    };
    let checks = [
        (
            Guard::PodsPerNode,
            node.steps.len() > guards::most_pods(compiled, node.row, guards),
        ),
        (Guard::ReplicasPerNode, replicas.iter().any(crowds)),
        (
            Guard::NodeShare,
            rows.is_too_large(node.row) && !asked_for(&names_types),
        ),
        (
            Guard::ExoticTypes,
            rows.is_exotic(node.row) && !asked_for(&names_types),
        ),
        (
            Guard::UnrequestedSpot,
            rows.is_unrequested_spot(node.row) && !asked_for(&names_capacity_types),
        ),
    ];
    let broken = checks.into_iter().filter(|(_, broken)| *broken);
    broken.map(|(guard, _)| guard).collect()
}

/// Cost of one guard, or of all of them, in a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GuardCost {
    /// The guard; `None` for all of them together.
    pub guard: Option<Guard>,
    /// Cost per hour that the plan would save without it, at the ranking policy's prices.
    pub cost: PricePerHour,
}

impl GuardCost {
    /// The remark on a plan that says so.
    fn note(&self, compiled: &Compiled<'_>, plan: &Plan) -> Note {
        let what = self
            .guard
            .map_or("all guards together", |guard| guard.as_str());
        let whole = plan.cost.planned.nanos().max(1);
        let permille = self.cost.nanos().saturating_mul(1000) / whole;
        let (percent, tenths) = (permille / 10, permille % 10);
        let lead = if self.guard.is_some() {
            "guard on "
        } else {
            ""
        };
        let verb = if self.guard.is_some() {
            "costs"
        } else {
            "cost"
        };
        Note::of_plan(format!(
            "{lead}{what} {verb} {} more than without ({percent}.{tenths} % of the plan){}",
            self.cost,
            match self.guard {
                Some(Guard::NodeShare) => allowed_sizes(compiled),
                _ => String::new(),
            }
        ))
    }
}

/// How large new nodes may be in pools of which the guard on their share keeps some instance from being bought.
fn allowed_sizes(compiled: &Compiled<'_>) -> String {
    let guards = &compiled.snapshot.settings.guards;
    let rows = RowGuards::of(compiled, guards);
    let templates = compiled.templates.iter().enumerate();
    let holds = |(number, template): &(usize, &Template)| {
        let mut own = compiled.rows.of_template[*number].iter();
        !template.is_compatible() && own.any(|row| rows.is_too_large(row))
    };
    let pools = templates.filter(holds).map(|(number, template)| {
        let allowed = compiled.shares.allowed(guards, number);
        format!("; pool {} allows a new node {allowed}", template.pool.name)
    });
    pools.collect()
}

/// Costs of the guards in a plan made from these: each that costs more than half a percent, most expensive first, and before them
/// all together where they do. Takes up to ten further plans.
pub fn guard_costs(
    prepared: &Prepared<'_>,
    answer: Option<&Prices>,
    plan: &Plan,
) -> Vec<GuardCost> {
    let compiled = &prepared.compiled;
    let guards = &compiled.snapshot.settings.guards;
    let by_price = compiled
        .templates
        .iter()
        .any(|template| template.packing == PackingMode::Price);
    if !guards.enabled || !by_price || plan.claims.is_empty() {
        return Vec::new();
    }
    let slots = prepared.question_rows();
    let prices = RowPrices::new(compiled, slots.as_deref().zip(answer));
    let planned = |guards: &Guards| {
        let plan = |part: &Part| {
            let plan = draft::by_price(compiled, &prices, guards, part);
            (plan, PricePerHour::ZERO)
        };
        let (plan, _) = in_parts(compiled, &prices, &compiled.all(), |parts| {
            parallel::map(parts, plan)
        });
        plan.planned()
    };
    let guarded = planned(guards);
    let cost = |guard: Option<Guard>| -> Option<GuardCost> {
        let lifted = match guard {
            Some(guard) => guards.without(guard),
            None => Guards {
                enabled: false,
                ..guards.clone()
            },
        };
        let cost = guarded - planned(&lifted);
        let (share, of) = WORTH_SAYING;
        let worth = cost.nanos().saturating_mul(of) > guarded.nanos().saturating_mul(share);
        worth.then_some(GuardCost { guard, cost })
    };
    let Some(together) = cost(None) else {
        return Vec::new();
    };
    let mut single: Vec<GuardCost> = Guard::ALL
        .into_iter()
        .filter(|guard| *guard != Guard::FreeAddresses || holds(compiled, guards))
        .filter_map(|guard| cost(Some(guard)))
        .collect();
    single.sort_by_key(|one| (std::cmp::Reverse(one.cost), one.guard));
    std::iter::once(together).chain(single).collect()
}

/// Adds to a plan what its guards cost, as remarks.
pub fn note_guards(prepared: &Prepared<'_>, answer: Option<&Prices>, plan: &mut Plan) {
    let costs = guard_costs(prepared, answer, plan);
    let notes: Vec<Note> = costs
        .iter()
        .map(|cost| cost.note(&prepared.compiled, plan))
        .collect();
    plan.notes.extend(notes);
}
