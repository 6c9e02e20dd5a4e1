//! The cost cap: how dear a policy may make what is bought.

use super::answer::Prices;
use super::check::check_prices;
use super::list_price::list_price;
use super::question::PriceQuestion;

/// How many times what it would cost at list prices something bought may cost, whatever a policy says: the interface's section
/// on failures.
pub const COST_CAP: i64 = 3;

/// List prices, with the policy's vetoes: also where only further nodes are vetoed. `None` where a list price is none that an
/// answer may hold.
pub fn list_where_allowed(question: &PriceQuestion, prices: &Prices) -> Option<Prices> {
    let mut listed = check_prices(question, &list_price(question)).ok()?;
    for (row, given) in listed.rows.iter_mut().zip(&prices.rows) {
        if given.then.price.is_none() {
            let price = given.first.price.and(row.then.price);
            *row = *given;
            row.first.price = price;
        }
    }
    Some(listed)
}
