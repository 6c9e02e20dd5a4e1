//! The table of rows: what usable pools can buy, with what is asked of it again and again.
//!
//! It depends on what pools sell, on what their limits leave, on the resources that pods ask for and on the labels they
//! choose by, not on the pods themselves. Decisions for which those are the same share one.

use std::collections::BTreeMap;
use std::sync::Arc;

use plimsoll_base::bits::Bits;
use plimsoll_base::ids::ReservationId;
use plimsoll_base::requirement::Requirements;
use plimsoll_base::resources::{ResourceName, Resources};
use plimsoll_base::units::PricePerHour;
use plimsoll_model::catalogue::InstanceType;
use plimsoll_model::supply::Supply;

use super::axes::Axes;
use super::best::Best;
use super::daemons::Overhead;
use super::row_order::RowOrder;
use super::rows::agree;
use super::size::{Size, Sizes};
use super::templates::Template;
use super::{Offer, Stock};

/// One way to buy a node.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    /// Template, in order of preference.
    pub(crate) template: usize,
    /// Label state of the template.
    pub(crate) state: usize,
    /// Instance type in the catalogue.
    pub(crate) instance_type: usize,
    /// Offering of the type.
    pub(crate) offering: usize,
    /// Requirements that the offering adds to those of the type, as a position in [`Stock::own`].
    pub(crate) own: usize,
    /// Daemons of its nodes.
    pub(crate) overhead: Arc<Overhead>,
}

/// Inputs of a table besides offers; equal ones give equal tables.
#[derive(PartialEq)]
pub(crate) struct TableInputs {
    axes: Axes,
    /// By template: what limits leave, and the label states.
    templates: Vec<(Option<Resources>, Vec<Requirements>)>,
    node_cost: PricePerHour,
    /// Nodes left of each reservation.
    reservations: BTreeMap<ReservationId, u32>,
}

impl TableInputs {
    pub(crate) fn of(
        templates: &[Template],
        axes: &Axes,
        node_cost: PricePerHour,
        supply: &Supply,
    ) -> Self {
        let templates = templates.iter();
        Self {
            axes: axes.clone(),
            templates: templates
                .map(|template| (template.remaining.clone(), template.states.clone()))
                .collect(),
            node_cost,
            reservations: supply.reservations().clone(),
        }
    }
}

/// Rows under some guards.
pub(crate) struct Guarded {
    /// Those kept from being bought while there are others.
    pub(crate) guard_excluded: Bits,
    /// The best of the rows at list price, with the room that guards leave.
    pub(crate) best: Best,
}

/// All rows.
pub(crate) struct Table {
    pub(crate) rows: Vec<Row>,
    /// Room for pods, `axes` amounts per row.
    capacity: Vec<i64>,
    axes: usize,
    /// Amounts that one node takes of its pool's limits, per row.
    spends: Vec<Arc<[i64]>>,
    /// Rows by template.
    pub(crate) of_template: Vec<Bits>,
    /// Order with the largest first: whichever exceeds another on every axis stands before it.
    pub(crate) by_size: RowOrder,
    /// Sizes of what pools sell.
    pub(crate) sizes: Sizes,
}

impl Table {
    /// Reads what pools sell.
    pub(crate) fn new(templates: &[Template], axes: &Axes, offers: &Stock) -> Self {
        let mut result = Self {
            rows: Vec::new(),
            capacity: Vec::new(),
            axes: axes.len(),
            spends: Vec::new(),
            of_template: Vec::new(),
            by_size: RowOrder::default(),
            sizes: Sizes::default(),
        };
        for (number, template) in templates.iter().enumerate() {
            let first = result.rows.len();
            for offer in &offers.by_pool[number].offers {
                let sold = &template.catalogue.types()[offer.instance_type];
                if let Some(spends) = spends(template, sold, offer) {
                    result.add_states(template, number, offer, axes, sold, &spends);
                }
            }
            let own = first..result.rows.len();
            result.of_template.push(own.collect());
        }
        result.by_size = RowOrder::new(&result.sorted_by_size(), &result.of_template);
        let sold = templates
            .iter()
            .flat_map(|template| template.catalogue.types());
        result.sizes = Sizes::of(sold.map(|sold| Size::of(&sold.capacity)));
        result
    }

    fn add_states(
        &mut self,
        template: &Template,
        number: usize,
        offer: &Offer,
        axes: &Axes,
        sold: &InstanceType,
        spends: &Arc<[i64]>,
    ) {
        for (state, chosen) in template.states.iter().enumerate() {
            let possible = chosen.iter().all(|requirement| {
                agree(
                    sold.requirements.get(requirement.key().as_str()),
                    &template.narrowed(requirement),
                )
            });
            if possible {
                self.rows.push(Row {
                    template: number,
                    state,
                    instance_type: offer.instance_type,
                    offering: offer.offering,
                    own: offer.own,
                    overhead: Arc::clone(&offer.overhead),
                });
                self.capacity.extend(axes.amounts(&offer.room));
                self.spends.push(Arc::clone(spends));
            }
        }
    }

    fn sorted_by_size(&self) -> Vec<usize> {
        let mut rows: Vec<usize> = (0..self.rows.len()).collect();
        let total = |row: &usize| -> i128 {
            let amounts = self.capacity(*row).iter();
            amounts.map(|amount| i128::from(*amount)).sum()
        };
        rows.sort_by_cached_key(|row| (std::cmp::Reverse(total(row)), *row));
        rows
    }

    /// How many rows there are.
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Room for pods on a node of this row.
    pub(crate) fn capacity(&self, row: usize) -> &[i64] {
        &self.capacity[row * self.axes..(row + 1) * self.axes]
    }

    /// Amounts that one node of a row takes of its pool's limits, by limited resource; empty where the pool has none.
    pub(crate) fn spends(&self, row: usize) -> &[i64] {
        &self.spends[row]
    }

    /// The rows for which `condition` holds.
    pub(crate) fn select(&self, condition: impl Fn(&Row) -> bool) -> Bits {
        let mut result = Bits::none(self.rows.len());
        for (at, row) in self.rows.iter().enumerate() {
            if condition(row) {
                result.insert(at);
            }
        }
        result
    }
}

/// Amounts that one node takes of each resource that the pool limits; `None` where the limits leave less.
fn spends(template: &Template, sold: &InstanceType, offer: &Offer) -> Option<Arc<[i64]>> {
    let Some(remaining) = &template.remaining else {
        return Some(Arc::default());
    };
    let one = sold
        .capacity_of(&sold.offerings[offer.offering])
        .with(ResourceName::Nodes, 1);
    let limits = remaining.iter();
    limits
        .map(|(name, left)| Some(one.get(name)).filter(|taken| *taken <= left))
        .collect()
}
