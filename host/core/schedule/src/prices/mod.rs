//! Prices of rows: the ranking policy's answer carried back to them.
//!
//! Without a policy a row costs its list price. Either way the node's own cost is added, and nothing is free: the floor is one
//! nano-dollar. A row that the policy vetoes is not bought.

pub mod priced;
pub(crate) mod question;
pub(crate) mod quoted;
pub(crate) mod sale;
pub(crate) mod supplies;
use std::collections::BTreeMap;
use std::sync::Arc;

use plimsoll_base::bits::Bits;
use plimsoll_base::units::PricePerHour;
use plimsoll_hooks::rank::Prices;
use plimsoll_model::catalogue::PriceSource;
use plimsoll_model::plan::Note;

use crate::offers::row_order::RowOrder;
use question::QuestionRows;
use sale::Sale;

/// Prices of rows, in nano-dollars per hour.
#[derive(Clone, Debug)]
pub(crate) struct RowPrices {
    /// Prices that decide, in nano-dollars per hour: the policy's for one more node.
    pub(crate) planned: Vec<i64>,
    /// Prices that are reported, in nano-dollars per hour: the provider's.
    pub(crate) list: Vec<i64>,
    /// Order in which ways to buy are tried: price, list price, type, zone, row.
    pub(crate) order: RowOrder,
    /// Rows that may be bought.
    pub(crate) allowed: Bits,
    /// Cheaper prices of the first nodes: row, price, supply.
    pub(crate) first: Vec<(usize, i64, usize)>,
    /// Nodes in each supply.
    pub(crate) supplies: Vec<u32>,
    /// Supply of each row that draws on a reservation.
    pub(crate) reserved: BTreeMap<usize, usize>,
    /// Rows that are not bought because their policy failed, with the failure in words.
    pub(crate) held: Vec<(Arc<str>, Bits)>,
    /// `true` if every row may be bought at what it costs without a policy.
    pub(crate) at_list: bool,
}

/// Supplies of first prices that are there already.
#[derive(Default)]
struct FirstSupplies {
    /// By the candidate of the question: the rows that share it share its first nodes.
    of_slot: BTreeMap<usize, usize>,
    /// By group, other than 0.
    of_group: BTreeMap<u32, usize>,
}

/// A remark where some price that was weighed is a model's, no quote being at hand.
pub(crate) fn modelled(sale: &Sale<'_>) -> Option<Note> {
    let is_model = |row: usize| sale.offering(row).1.price_source == PriceSource::Model;
    (0..sale.rows.len())
        .any(is_model)
        .then(|| Note::of_plan("spot prices are a model: no quotes were given".to_owned()))
}

/// Cost of a node per hour at an offering's price: the node's own cost is added, and nothing is free.
pub(crate) fn whole(sale: &Sale<'_>, price: PricePerHour) -> PricePerHour {
    (price + sale.snapshot.settings.node_cost).max(PricePerHour::from_nanos(1))
}

impl RowPrices {
    /// Prices of rows: the policy's where it has answered, else the list's.
    pub(crate) fn new(sale: &Sale<'_>, answer: Option<(&QuestionRows, &Prices)>) -> Self {
        let listed = Self::of_list(sale);
        let mut result = listed.clone();
        if let Some((slots, prices)) = answer {
            let node_cost = sale.snapshot.settings.node_cost.nanos();
            let mut firsts = FirstSupplies::default();
            for at in 0..sale.rows.len() {
                if let Some(price) = prices.rows.get(slots.of_row[at]) {
                    result.apply(at, (slots.of_row[at], price), node_cost, &mut firsts);
                }
            }
            result.hold(slots, prices);
            result.rank(sale);
            result.at_list = result.planned == listed.planned && result.allowed == listed.allowed;
        }
        result
    }

    /// Prices of rows without a policy.
    pub(crate) fn of_list<'c>(sale: &'c Sale<'_>) -> &'c Self {
        sale.listed()
    }

    /// Reads list prices. To read them again take those of [`Sale::listed`].
    pub(crate) fn listed(sale: &Sale<'_>) -> Self {
        let rows = sale.rows.len();
        let mut result = Self {
            planned: Vec::with_capacity(rows),
            list: Vec::new(),
            order: RowOrder::default(),
            allowed: Bits::all(rows),
            first: Vec::new(),
            supplies: Vec::new(),
            reserved: BTreeMap::new(),
            held: Vec::new(),
            at_list: true,
        };
        let mut reservations: BTreeMap<&str, usize> = BTreeMap::new();
        for at in 0..rows {
            let (_, offering) = sale.offering(at);
            result.planned.push(whole(sale, offering.price).nanos());
            if let Some(reservation) = &offering.reservation {
                let supply = *reservations
                    .entry(reservation.id.as_str())
                    .or_insert_with(|| {
                        let left = sale.supply.reservation_left(&reservation.id);
                        result.supplies.push(left);
                        result.supplies.len() - 1
                    });
                result.reserved.insert(at, supply);
            }
        }
        result.list.clone_from(&result.planned);
        result.rank(sale);
        result
    }

    /// Ranks rows; types are in name order in the catalogue and offerings in zone order within a type.
    fn rank(&mut self, sale: &Sale<'_>) {
        let mut ranked: Vec<usize> = (0..self.planned.len()).collect();
        ranked.sort_by_cached_key(|at| {
            let row = &sale.rows.rows[*at];
            (
                self.planned[*at],
                self.list[*at],
                row.instance_type,
                row.offering,
                *at,
            )
        });
        self.order = RowOrder::new(&ranked, &sale.rows.of_template);
    }

    /// Sets down which rows are not bought because their policy failed.
    fn hold(&mut self, slots: &QuestionRows, prices: &Prices) {
        if prices.held.is_empty() {
            return;
        }
        let mut of_why: BTreeMap<&Arc<str>, Bits> = BTreeMap::new();
        for (row, slot) in slots.of_row.iter().enumerate() {
            if let Some(why) = prices.held_because(*slot) {
                of_why.entry(why).or_default().insert(row);
            }
        }
        let held = of_why.into_iter();
        self.held = held.map(|(why, rows)| (Arc::clone(why), rows)).collect();
    }

    /// The failure of a policy for which a row is not bought, in words; `None` where it is not for one.
    pub(crate) fn held_because(&self, row: usize) -> Option<&str> {
        let held = self.held.iter().find(|(_, rows)| rows.contains(row));
        held.map(|(why, _)| &**why)
    }

    /// `true` if a row may be bought at all.
    pub(crate) fn buyable(&self, row: usize) -> bool {
        let left = self.reserved.get(&row).map(|supply| self.supplies[*supply]);
        self.allowed.contains(row) && left.is_none_or(|left| left > 0)
    }

    fn apply(
        &mut self,
        row: usize,
        (slot, price): (usize, &plimsoll_hooks::rank::Price),
        node_cost: i64,
        firsts: &mut FirstSupplies,
    ) {
        let nanos = |quote: &plimsoll_hooks::rank::Quote| {
            quote
                .price
                .map(|price| price.nanos().saturating_add(node_cost).max(1))
        };
        let then = nanos(&price.then);
        match then {
            Some(then) => self.planned[row] = then,
            None => self.allowed.remove(row),
        }
        if price.first_count == 0 {
            return;
        }
        let Some(first) = nanos(&price.first).filter(|first| then.is_none_or(|then| *first < then))
        else {
            return;
        };
        // Where the first nodes are all that the reservation has, there are no further ones.
        let reserved = self.reserved.get(&row).map(|supply| self.supplies[*supply]);
        if price.first_group == 0 && reserved.is_some_and(|left| price.first_count >= left) {
            self.planned[row] = first;
            self.allowed.insert(row);
            return;
        }
        let supply = || {
            self.supplies.push(price.first_count);
            self.supplies.len() - 1
        };
        let supply = match price.first_group {
            0 => *firsts.of_slot.entry(slot).or_insert_with(supply),
            group => *firsts.of_group.entry(group).or_insert_with(supply),
        };
        self.first.push((row, first, supply));
    }
}
