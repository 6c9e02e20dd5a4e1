//! The last step of a decision: finished instances become claims, each with its launch list in the order of price or of the
//! ranking policy.
//!
//! A policy may put any way to buy first that the host has named, and take others off; it cannot name any. What it takes off
//! comes back where minimum values or the variety of spot capacity want more to choose from.

pub(crate) mod launch_list;
pub(crate) mod relist;

use plimsoll_base::resources::{ResourceName, Resources};
use plimsoll_base::units::PricePerHour;
use plimsoll_hooks::rank::{ClaimRow, Claims, LaunchList, LaunchLists, OrderQuestion};
use plimsoll_model::catalogue::CapacityType;
use plimsoll_model::plan::{Plan, PlanCost, PlannedClaim};
use plimsoll_model::provider::ProviderFacts;

use super::batch::attach_slots::AttachSlots;
use super::batch::compile::Compiled;
use super::batch::minimum;
use super::claims::claim::requests;
use super::claims::lowered;
use super::claims::named::{Reach, capacity_type, close, named_rows, wanted_spot};
use super::explain::refusal;
use super::fleet::bound;
use super::fleet::draft::DraftPlan;
use super::fleet::guarded;
use super::guards;
use super::place::PlacementStep;
use super::prepared::Prepared;
use super::prices::{self, RowPrices};
use crate::place::new_node::NewNode;
use launch_list::Named;

/// A decision all but made: every pod has its instance, and each instance the ways to buy it, in order of price.
pub struct Packed<'p, 's> {
    pub(super) prepared: &'p Prepared<'s>,
    pub(super) prices: RowPrices,
    pub(super) best: DraftPlan,
    pub(super) first_fit: PricePerHour,
    /// Rows that each node's claim names.
    named: Vec<Vec<usize>>,
    reach: Reach,
}

impl<'p, 's> Packed<'p, 's> {
    pub(super) fn new(
        prepared: &'p Prepared<'s>,
        prices: RowPrices,
        best: DraftPlan,
        first_fit: PricePerHour,
        reach: Reach,
    ) -> Self {
        let mut result = Self {
            prepared,
            prices,
            best,
            first_fit,
            named: Vec::new(),
            reach,
        };
        result.named = result.named(reach);
        result
    }

    /// The decision as it was prepared.
    pub fn prepared(&self) -> &'p Prepared<'s> {
        self.prepared
    }

    fn named(&self, reach: Reach) -> Vec<Vec<usize>> {
        let compiled = &self.prepared.compiled;
        let guarded = guards::guard_excluded(compiled, &compiled.snapshot.settings.guards);
        let named =
            |node: &NewNode| named_rows(compiled, &self.prices, node, reach, Some(&guarded));
        self.best.nodes.iter().map(named).collect()
    }

    /// Question to the ranking policy about the order of each claim's launch list; `None` when nothing is bought.
    pub fn question(&self) -> Option<OrderQuestion> {
        if self.best.nodes.is_empty() {
            return None;
        }
        let compiled = &self.prepared.compiled;
        let question = self.prepared.question()?;
        let slots = self.prepared.question_rows()?;
        let provider = compiled.snapshot.catalogues.provider();
        let mut claims = Claims::default();
        for (node, named) in self.best.nodes.iter().zip(&self.named) {
            let asked = parted(compiled, named).asked;
            let row = |row: &usize| question.pools.cand[slots.of_row[*row]];
            let steps = steps_of(node, &self.best.steps);
            let candidates: Vec<u32> = asked.iter().map(row).collect();
            let template = compiled.rows.rows[node.row].template;
            let requests = requests(compiled, named, &steps);
            let pool = question.pools.name[template];
            let claim = claim_row(provider, pool, &requests, steps.len());
            claims.push(claim, &candidates);
        }
        Some(OrderQuestion {
            context: question.context,
            tables: std::sync::Arc::clone(&question.tables),
            claims,
        })
    }
}

/// Makes the plan, with launch lists in the ranking policy's order or, without one, by price. `order` must answer the
/// question of the same [`Packed`]; lists beyond its claims stay as they are.
pub fn launch(packed: &Packed<'_, '_>, order: Option<&LaunchLists>) -> Plan {
    let compiled = &packed.prepared.compiled;
    let best = &packed.best;
    let named = match (order, packed.reach) {
        (Some(order), _) => {
            let lists = packed.named.iter().enumerate();
            let node = |(at, named): (usize, &Vec<usize>)| match order.claims.get(at) {
                Some(list) => reordered(compiled, &best.nodes[at], named, list),
                None => named.clone(),
            };
            lists.map(node).collect()
        }
        (None, Reach::Near) => packed.named.clone(),
        (None, Reach::Far) => packed.named(Reach::Near),
    };
    let claim = |(node, named): (&NewNode, &Vec<usize>)| {
        let steps = steps_of(node, &best.steps);
        close(compiled, &packed.prices, node, named, &steps)
    };
    let claims: Vec<PlannedClaim> = best.nodes.iter().zip(&named).map(claim).collect();
    let mut unplaced = compiled.refused.clone();
    unplaced.extend(refusal::refusals(compiled, &packed.prices, &best.failed));
    unplaced.sort_by_key(|unplaced| unplaced.pod);
    let mut notes = compiled.notes.clone();
    notes.extend(lowered::notes(compiled.snapshot, &claims));
    let modelled = prices::modelled(compiled).into_iter();
    notes.extend(modelled.filter(|_| !claims.is_empty()));
    notes.extend(guarded::notes(compiled, best));
    notes.extend(best.notes.iter().cloned());
    Plan {
        placements: best.placements(compiled),
        cost: cost(packed, &claims),
        claims,
        unplaced,
        notes,
    }
}

fn cost(packed: &Packed<'_, '_>, claims: &[PlannedClaim]) -> PlanCost {
    let compiled = &packed.prepared.compiled;
    let whole = |price| prices::whole(compiled, price);
    let chosen = || claims.iter().filter_map(PlannedClaim::chosen);
    let dearest = |claim: &PlannedClaim| claim.options.iter().map(|option| option.list_price).max();
    PlanCost {
        planned: chosen().map(|option| option.price).sum(),
        list: chosen().map(|option| whole(option.list_price)).sum(),
        dearest: claims.iter().filter_map(dearest).map(whole).sum(),
        bound: bound::bound(compiled, &packed.best),
        first_fit: packed.first_fit,
    }
}

fn steps_of<'c>(node: &NewNode, steps: &'c [PlacementStep]) -> Vec<&'c PlacementStep> {
    node.steps.iter().map(|step| &steps[*step]).collect()
}

/// A list of rows, parted where the policy is not asked any more.
fn parted<'l>(compiled: &Compiled<'_>, rows: &'l [usize]) -> Named<'l, usize> {
    Named::of_list(rows, |row| compiled.rows.rows[*row].instance_type)
}

/// A node's rows in the policy's order.
fn reordered(
    compiled: &Compiled<'_>,
    node: &NewNode,
    named: &[usize],
    list: &LaunchList,
) -> Vec<usize> {
    let ways = parted(compiled, named);
    let type_of = |row: &usize| compiled.rows.rows[*row].instance_type;
    let spot_type =
        |row: &usize| (capacity_type(compiled, *row) == CapacityType::Spot).then(|| type_of(row));
    let first = ways.first(list).copied().unwrap_or(node.row);
    let wanted = wanted_spot(compiled, first);
    let template = compiled.rows.rows[node.row].template;
    let leaves_enough = |rows: &[&usize]| {
        minimum::is_met(
            compiled,
            template,
            &node.minimum,
            rows.iter().map(|row| **row),
        )
    };
    let guards = &compiled.snapshot.settings.guards;
    let attaches = |row: &usize| AttachSlots::has(compiled, guards, *row, &node.attached);
    let attaches: Option<&dyn Fn(&usize) -> bool> = if attaches(&node.row) {
        Some(&attaches)
    } else {
        None
    };
    let order = ways.in_order_with_spot(list, wanted, spot_type, leaves_enough, attaches);
    order.into_iter().copied().collect()
}

/// Amounts beyond what a column holds are the most it can hold.
pub(super) fn claim_row(
    provider: &ProviderFacts,
    pool: plimsoll_hooks::rank::Sym,
    requests: &Resources,
    pods: usize,
) -> ClaimRow {
    let count = |amount: i64| u32::try_from(amount.max(0)).unwrap_or(u32::MAX);
    let memory = requests.get(&ResourceName::Memory);
    let is_accelerator = |name: &ResourceName| provider.accelerators.contains(name);
    let devices = requests.iter().filter(|(name, _)| is_accelerator(name));
    ClaimRow {
        pool,
        cpu_milli: count(requests.get(&ResourceName::Cpu)),
        mem_mib: count(memory.saturating_add((1 << 20) - 1) >> 20),
        pods: u32::try_from(pods).unwrap_or(u32::MAX),
        gpus: count(devices.map(|(_, amount)| amount).sum()),
    }
}
