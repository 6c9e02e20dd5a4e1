//! The question for the ranking policy: what does one more node of each offering cost in each pool?
//!
//! What can be asked about is listed once for many decisions; a decision adds which of it its pools may buy now, and what
//! runs already.

use std::sync::Arc;

use plimsoll_base::units::PricePerHour;
use plimsoll_hooks::rank::{Context, PoolRow, Pools, PriceQuestion};
use plimsoll_model::snapshot::Snapshot;
use plimsoll_model::supply::Supply;

use super::sale::Sale;
use crate::offers::listed::Listed;
use crate::offers::templates::Template;

/// Where the rows of a table stand in the question.
pub(crate) struct QuestionRows {
    /// Position among the question's candidates, by row.
    pub(crate) of_row: Vec<usize>,
    /// By template, what of the listed its pool may buy, ascending.
    pub(crate) of_template: Vec<Vec<u32>>,
}

impl QuestionRows {
    fn new(sale: &Sale<'_>, listed: &Listed) -> Self {
        let mut result = Self {
            of_row: vec![0; sale.rows.len()],
            of_template: Vec::new(),
        };
        let mut before = 0;
        for (number, template) in sale.templates.iter().enumerate() {
            let mut candidates: Vec<u32> = Vec::new();
            for at in sale.rows.of_template[number].iter() {
                let row = &sale.rows.rows[at];
                let position = listed.position(template, (row.instance_type, row.offering));
                let position = position.expect("rows are made of what is listed");
                // Label states of one offering stand together.
                if candidates.last() != Some(&position) {
                    candidates.push(position);
                }
                result.of_row[at] = before + candidates.len() - 1;
            }
            before += candidates.len();
            result.of_template.push(candidates);
        }
        result
    }
}

/// Where the rows of a decision stand in the question about them; `None` when there is nothing to buy.
pub(crate) fn slots(sale: &Sale<'_>) -> Option<Arc<QuestionRows>> {
    let listed = sale.offers.listed.as_ref()?;
    if sale.rows.len() == 0 {
        return None;
    }
    let slots = &sale.answers.slots;
    let slots = slots.get_or_init(|| Arc::new(QuestionRows::new(sale, listed)));
    Some(Arc::clone(slots))
}

/// Asks what one more node of each offering costs in each pool; `None` when there is nothing to buy.
pub(crate) fn question(sale: &Sale<'_>) -> Option<PriceQuestion> {
    let listed = sale.offers.listed.as_ref()?;
    let slots = slots(sale)?;
    let (snapshot, templates) = (sale.snapshot, &sale.templates);
    Some(put(
        snapshot,
        &sale.supply,
        templates,
        listed,
        &slots.of_template,
    ))
}

/// The question for templates about what of the listed each may buy.
pub(crate) fn put(
    snapshot: &Snapshot,
    supply: &Supply,
    templates: &[Template],
    listed: &Listed,
    candidates: &[Vec<u32>],
) -> PriceQuestion {
    let mut pools = Pools::default();
    for (number, template) in templates.iter().enumerate() {
        let (nodes, cost) = standing(snapshot, template);
        let row = PoolRow {
            name: listed.pool(number),
            weight: template.pool.weight,
            nodes,
            cost,
        };
        pools.push(row, &candidates[number]);
    }
    PriceQuestion {
        context: Context::of(snapshot),
        tables: listed.tables(snapshot, supply),
        pools,
    }
}

/// Nodes of a pool, and their cost at the prices it buys at; a claim in flight costs what it was planned as.
fn standing(snapshot: &Snapshot, template: &Template) -> (u32, f64) {
    let own = snapshot.nodes.iter().filter(|node| {
        node.is_managed()
            && !node.is_deleting()
            && node.pool().is_some_and(|name| name == template.pool.name)
    });
    let mut count = 0;
    let mut cost = PricePerHour::ZERO;
    for node in own {
        count += 1;
        let catalogue = &template.catalogue;
        let promised = || catalogue.planned(node.claim.as_deref()?);
        let sold = catalogue.of_labels(node.labels()).or_else(promised);
        cost += sold.map_or(PricePerHour::ZERO, |sold| sold.offering.price);
    }
    (count, cost.dollars())
}
