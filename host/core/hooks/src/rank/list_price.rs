//! The built-in ranking: a node costs its list price. What every fallback uses, and the twin of `rank-list-price`.

use super::answer::{OrderAnswer, PriceAnswer};
use super::catalogue::Tables;
use super::question::{OrderQuestion, PriceQuestion};

/// Code of the only reason this ranking gives, "list price".
pub const LIST_PRICE: u16 = 1;

/// Every candidate at its list price, for as many nodes as wanted.
pub fn list_price(question: &PriceQuestion) -> PriceAnswer {
    let prices = catalogue_prices(&question.tables, &question.pools.cand);
    let rows = prices.len();
    PriceAnswer {
        first: prices.clone(),
        first_count: vec![0; rows],
        first_group: vec![0; rows],
        first_reason: vec![LIST_PRICE; rows],
        then: prices,
        then_reason: vec![LIST_PRICE; rows],
    }
}

/// Every candidate scored by its list price: cheapest first.
pub fn list_order(question: &OrderQuestion) -> OrderAnswer {
    let score = catalogue_prices(&question.tables, &question.claims.cand);
    let reason = vec![LIST_PRICE; score.len()];
    OrderAnswer { score, reason }
}

/// A candidate row outside the catalogue is vetoed rather than guessed at.
fn catalogue_prices(tables: &Tables, candidates: &[u32]) -> Vec<f64> {
    candidates.iter().map(|&row| tables.price(row)).collect()
}
