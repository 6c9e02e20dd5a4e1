//! The whole question at once: every pool with every disruption.

use std::rc::Rc;

use super::answer::{Allowance, AllowanceAnswer};
use super::view::Pool;
use crate::bindings::budgeter::exports::plimsoll::policy::budgeter::Pools;
use crate::bindings::configure::plimsoll::policy::types::{Context, Symbols};
use crate::columns::{Texts, rows_and_time};

/// The columns of one call, owned once and shared by all views of it.
#[derive(Debug)]
pub(super) struct Columns {
    pub(super) context: Context,
    pub(super) texts: Texts,
    pub(super) pools: Pools,
}

/// Every pool with every disruption: by pool, then emptiness, consolidation, drift.
#[derive(Debug)]
pub struct PoolTable {
    columns: Rc<Columns>,
}

impl PoolTable {
    pub(crate) fn new(context: Context, symbols: Symbols, pools: Pools) -> Self {
        Self {
            columns: Rc::new(Columns {
                context,
                texts: Texts::new(symbols),
                pools,
            }),
        }
    }

    rows_and_time!(columns.pools.name, columns.context);

    /// Looks at every row, in order.
    pub fn each(&self, mut look: impl FnMut(&Pool)) {
        let mut pool = Pool::new(&self.columns, 0);
        for row in 0..self.len() {
            pool.row = row;
            look(&pool);
        }
    }

    /// Answers every row, in order.
    pub fn map(&self, mut allow: impl FnMut(&Pool) -> Allowance) -> AllowanceAnswer {
        let mut answer = AllowanceAnswer::with_capacity(self.len());
        self.each(|pool| answer.push(allow(pool)));
        answer
    }

    /// The view of one row; `None` where there is no such row.
    pub fn row(&self, row: usize) -> Option<Pool> {
        (row < self.len()).then(|| Pool::new(&self.columns, row))
    }
}
