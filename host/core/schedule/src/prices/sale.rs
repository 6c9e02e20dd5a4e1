//! Rows that a decision may buy, with the answers about them that later decisions ask for again.

use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use plimsoll_hooks::rank::Prices;
use plimsoll_model::catalogue::{InstanceType, Offering};
use plimsoll_model::snapshot::{Guards, Snapshot};
use plimsoll_model::supply::Supply;

use super::RowPrices;
use super::priced::Priced;
use super::question::QuestionRows;
use super::quoted::Quoted;
use crate::offers::Stock;
use crate::offers::axes::Axes;
use crate::offers::choices::Choices;
use crate::offers::lru::Lru;
use crate::offers::rows::Rows;
use crate::offers::size::Largest;
use crate::offers::table::{Guarded, Table, TableInputs};
use crate::offers::templates::Template;

/// Tables kept: waiting pods and those of nodes that may be removed often ask for different resources.
const MOST_TABLES: usize = 4;

/// Settings of guards for which answers are kept: those that hold, and none.
const MOST_GUARDS: usize = 2;

/// Answers of ranking policies for which prices are kept: of the one that serves, and of one before it or beside it.
const MOST_QUOTED: usize = 2;

/// Offers of every usable pool, with the tables made of them.
pub struct Offers {
    stock: Arc<Stock>,
    tables: Lru<TableInputs, Answers>,
}

impl Deref for Offers {
    type Target = Stock;

    fn deref(&self) -> &Stock {
        &self.stock
    }
}

impl Offers {
    /// Those of an earlier decision if they serve this snapshot too, else new ones.
    pub(crate) fn of(snapshot: &Snapshot, earlier: Option<&Arc<Self>>) -> Arc<Self> {
        let kept = earlier.filter(|offers| offers.is_of(snapshot));
        let read = || {
            Arc::new(Self {
                stock: Arc::new(Stock::read(snapshot)),
                tables: Lru::new(MOST_TABLES),
            })
        };
        kept.map_or_else(read, Arc::clone)
    }
}

/// A table of rows, and what was asked of it.
pub(crate) struct Answers {
    table: Arc<Table>,
    /// Values to choose from of rows whose pools ask for a minimum.
    choices: OnceLock<Choices>,
    /// Prices without a ranking policy.
    listed: OnceLock<Arc<Priced>>,
    /// Prices by the answer of a ranking policy.
    quoted: Lru<Arc<Prices>, Priced>,
    /// Where rows stand in the question to a ranking policy.
    pub(crate) slots: OnceLock<Arc<QuestionRows>>,
    /// Rows under guards, by the guards and, per template, the largest node that they allow.
    pub(crate) guarded: Lru<(Guards, Vec<Largest>), Guarded>,
}

/// Sale of the pools of a snapshot to the pods of a batch.
#[derive(Clone)]
pub(crate) struct Sale<'s> {
    pub(crate) snapshot: &'s Snapshot,
    pub(crate) offers: Arc<Offers>,
    pub(crate) templates: Vec<Template>,
    pub(crate) rows: Rows,
    pub(crate) answers: Arc<Answers>,
    /// Supply that nodes and claims in flight leave.
    pub(crate) supply: Supply,
}

impl<'s> Sale<'s> {
    /// All rows of templates that offers were read for.
    pub(crate) fn new(
        snapshot: &'s Snapshot,
        offers: Arc<Offers>,
        templates: Vec<Template>,
        axes: &Axes,
        supply: Supply,
    ) -> Self {
        let node_cost = snapshot.settings.node_cost;
        let inputs = TableInputs::of(&templates, axes, node_cost, &supply);
        let read = || {
            Arc::new(Answers {
                table: Arc::new(Table::new(&templates, axes, &offers)),
                choices: OnceLock::new(),
                listed: OnceLock::new(),
                quoted: Lru::new(MOST_QUOTED),
                slots: OnceLock::new(),
                guarded: Lru::new(MOST_GUARDS),
            })
        };
        let answers = offers.tables.get(inputs, read);
        Self {
            snapshot,
            rows: Rows::new(Arc::clone(&answers.table), Arc::clone(&offers.stock)),
            answers,
            offers,
            templates,
            supply,
        }
    }

    /// The type and offering behind a row, as its pool sells them.
    pub(crate) fn offering(&self, row: usize) -> (&Arc<InstanceType>, &Offering) {
        let row = &self.rows.rows[row];
        let instance_type = &self.templates[row.template].catalogue.types()[row.instance_type];
        (instance_type, &instance_type.offerings[row.offering])
    }

    /// Values to choose from of rows whose pools ask for a minimum.
    pub(crate) fn choices(&self) -> &Choices {
        let provider = self.snapshot.catalogues.provider();
        let read = || Choices::of(&self.rows, &self.templates, provider);
        self.answers.choices.get_or_init(read)
    }

    /// Rows at list prices.
    pub(crate) fn listed(&self) -> &Arc<Priced> {
        let listed = || Arc::new(Priced::of(RowPrices::listed(self)));
        self.answers.listed.get_or_init(listed)
    }

    /// Rows at the prices that a policy has given, or without them at list prices.
    pub(crate) fn priced(&self, quoted: Option<&Quoted>) -> Arc<Priced> {
        let listed = self.listed();
        let Some((slots, prices)) = quoted.and_then(|quoted| quoted.over(self)) else {
            return Arc::clone(listed);
        };
        let apply = || {
            let rows = RowPrices::new(self, Some((&slots, &prices)));
            let is_list = rows.planned == listed.planned
                && rows.allowed == listed.rows.allowed
                && rows.first.is_empty();
            if is_list {
                Arc::clone(listed)
            } else {
                Arc::new(Priced::of(rows))
            }
        };
        self.answers.quoted.get(Arc::clone(&prices), apply)
    }
}
