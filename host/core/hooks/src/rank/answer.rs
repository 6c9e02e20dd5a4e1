//! A ranking policy's answer, as it comes and once checked.
//!
//! Raw answers are columns of floats that are not to be trusted. Checked prices are integers of nano-dollars, so that their
//! sums depend on no order.

use std::ops::Range;
use std::sync::Arc;

use plimsoll_base::units::PricePerHour;
use serde::{Deserialize, Serialize};

/// Answer to a price question: columns parallel to the candidates of its pools. Untrusted.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PriceAnswer {
    /// Dollars per hour of each of the first `first_count` nodes; +inf vetoes.
    pub first: Vec<f64>,
    /// How many nodes of this plan `first` is good for.
    pub first_count: Vec<u32>,
    /// Rows of one group other than 0 share one count.
    pub first_group: Vec<u32>,
    /// Code of the reason for `first`, from the policy's own table.
    pub first_reason: Vec<u16>,
    /// Dollars per hour of every further node; +inf vetoes.
    pub then: Vec<f64>,
    /// Code of the reason for `then`.
    pub then_reason: Vec<u16>,
}

impl PriceAnswer {
    /// Columns with their rows, in the words of the interface.
    pub(super) fn lengths(&self) -> [(&'static str, usize); 6] {
        [
            ("first", self.first.len()),
            ("first-count", self.first_count.len()),
            ("first-group", self.first_group.len()),
            ("first-reason", self.first_reason.len()),
            ("then", self.then.len()),
            ("then-reason", self.then_reason.len()),
        ]
    }
}

/// Answer to an order question: columns parallel to the candidates of its claims. Untrusted.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct OrderAnswer {
    /// Lower is tried first; +inf removes the candidate from the claim's list.
    pub score: Vec<f64>,
    /// Code of the reason, from the policy's own table.
    pub reason: Vec<u16>,
}

impl OrderAnswer {
    /// Columns with their rows, in the words of the interface.
    pub(super) fn lengths(&self) -> [(&'static str, usize); 2] {
        [("score", self.score.len()), ("reason", self.reason.len())]
    }
}

/// A price with the reason the policy gave for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quote {
    /// Price per hour of one more node; `None` where the policy vetoes it.
    pub price: Option<PricePerHour>,
    /// Code of the reason, from the policy's own table.
    pub reason: u16,
}

/// Checked price of one candidate. `first` is never dearer than `then`, so buying in order of price is right.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Price {
    /// Price of each of the first `first_count` nodes.
    pub first: Quote,
    /// How many nodes of this plan `first` is good for.
    pub first_count: u32,
    /// Rows of one group other than 0 share their `first_count`, which is equal on all of them.
    pub first_group: u32,
    /// Price of every further node.
    pub then: Quote,
}

/// Price of what is never bought.
const VETO: Price = {
    let veto = Quote {
        price: None,
        reason: 0,
    };
    Price {
        first: veto,
        first_count: 0,
        first_group: 0,
        then: veto,
    }
};

/// Checked prices, parallel to the candidates of the question's pools.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prices {
    /// One per candidate.
    pub rows: Vec<Price>,
    /// Candidates that are not bought because of their policy, in order of rows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub held: Vec<HeldRows>,
}

/// Candidates of which nothing is bought because the policy that prices them failed, and holds then, or has a plan that is too dear.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeldRows {
    /// Their rows.
    pub rows: Range<usize>,
    /// The policy and its fault, in words: `policy paid-first failed (fuel: ...)`.
    pub why: Arc<str>,
}

impl Prices {
    /// A hold on every candidate, since the policy failed as the words say.
    pub fn all_held(candidates: usize, why: &str) -> Self {
        let mut prices = Self::all_vetoed(candidates);
        prices.hold(0..candidates, &Arc::from(why));
        prices
    }

    /// Holds candidates, since their policy failed as the words say.
    pub fn hold(&mut self, rows: Range<usize>, why: &Arc<str>) {
        for price in self.rows.get_mut(rows.clone()).into_iter().flatten() {
            *price = VETO;
        }
        let at = self.held.partition_point(|own| own.rows.start < rows.start);
        let before = at.checked_sub(1).map(|before| &mut self.held[before]);
        match before {
            Some(last) if last.rows.end == rows.start && last.why == *why => {
                last.rows.end = rows.end;
            }
            _ => {
                let why = Arc::clone(why);
                self.held.insert(at, HeldRows { rows, why });
            }
        }
    }

    /// Words on the failure for which a candidate is not bought; `None` where it is not for one.
    pub fn held_because(&self, row: usize) -> Option<&Arc<str>> {
        let at = self.held.partition_point(|own| own.rows.end <= row);
        let own = self.held.get(at).filter(|own| own.rows.contains(&row));
        own.map(|own| &own.why)
    }

    /// A veto on every candidate: nothing may be bought.
    pub fn all_vetoed(candidates: usize) -> Self {
        Self {
            rows: vec![VETO; candidates],
            held: Vec::new(),
        }
    }
}
