//! Ranking policies side by side: prices and orders by pool.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use plimsoll_hooks::rank::{
    LaunchList, LaunchLists, OrderQuestion, Price, PriceQuestion, Prices, check_prices, list_price,
};

use super::Together;
use crate::decide::{Ranker, RankerFacts};
use crate::manifest::Unit;
use crate::module::invalid;
use crate::named::Named;
use crate::outcome::Fault;
use crate::slot::WithFallback;

/// Consequence for the pools of a policy that forbids offerings.
const HOLD: &str = "nothing is bought for them without its answer";
/// Consequence for the pools of any other.
const LIST: &str = "list prices were taken for them";
/// Consequence for launch lists.
const UNORDERED: &str = "their launch lists are in order of price";

impl<M: Ranker> Together<'_, M>
where
    for<'s> WithFallback<'s, M>: Ranker,
{
    fn any(&self, holds: impl Fn(RankerFacts) -> bool) -> bool {
        let mut facts = self.parts.iter().map(|part| part.asked.facts());
        facts.any(holds)
    }
}

impl<M: Ranker> Ranker for Together<'_, M>
where
    for<'s> WithFallback<'s, M>: Ranker,
{
    /// Prices are asked for where one of them gives any: all others then have list prices.
    fn facts(&self) -> RankerFacts {
        RankerFacts {
            unit: if self.any(|facts| facts.unit == Unit::Dollars) {
                Unit::Dollars
            } else {
                Unit::Order
            },
            orders: self.any(|facts| facts.orders),
            vetoes: self.any(|facts| facts.vetoes),
        }
    }

    fn price(&self, question: &PriceQuestion) -> Result<Prices, Fault> {
        let listed = check_prices(question, &list_price(question));
        let mut prices = listed.map_err(|error| invalid(&error))?;
        let mut groups = Groups::default();
        let rows = candidates(question);
        for (number, part) in self.parts.iter().enumerate() {
            let own = rows.iter().filter(|(pool, _)| part.pools.contains(*pool));
            let own: Vec<Range<usize>> = own.map(|(_, rows)| rows.clone()).collect();
            if let Some(why) = self.unordered.borrow().get(&number) {
                for rows in own {
                    prices.hold(rows, why);
                }
                continue;
            }
            if own.is_empty() || part.asked.facts().unit == Unit::Order {
                continue;
            }
            match part.asked.price(question) {
                Ok(answer) => {
                    for row in own.into_iter().flatten() {
                        prices.rows[row] = groups.apart(number, answer.rows[row]);
                    }
                }
                Err(fault) => {
                    let vetoes = part.asked.facts().vetoes;
                    if vetoes {
                        let why = Arc::from(fault.of_policy(part.asked.name()));
                        for rows in own {
                            prices.hold(rows, &why);
                        }
                    }
                    let instead = if vetoes { HOLD } else { LIST };
                    self.failures.add(part.asked.name(), fault, instead);
                }
            }
        }
        Ok(prices)
    }

    /// Fails where a policy that forbids offerings does: a list must not be left with what it would have taken off. Prices that are asked for
    /// after that hold its pools.
    fn order(&self, question: &OrderQuestion) -> Result<LaunchLists, Fault> {
        let mut lists = as_named(question);
        let pools = &question.claims.pool;
        let names: Vec<&str> = (0..pools.len())
            .map(|claim| {
                let row = u32::try_from(claim).unwrap_or(u32::MAX);
                question.tables.symbols.of_row(pools, row)
            })
            .collect();
        for (number, part) in self.parts.iter().enumerate() {
            let claims = names.iter().enumerate();
            let own = claims.filter(|(_, pool)| part.pools.contains(**pool));
            let own: Vec<usize> = own.map(|(claim, _)| claim).collect();
            let RankerFacts { orders, vetoes, .. } = part.asked.facts();
            if own.is_empty() || !orders {
                continue;
            }
            match part.asked.order(question) {
                Ok(mut answer) => {
                    for claim in own {
                        lists.claims[claim] = std::mem::take(&mut answer.claims[claim]);
                    }
                }
                Err(fault) if vetoes => {
                    let why = Arc::from(fault.of_policy(part.asked.name()));
                    self.unordered.borrow_mut().insert(number, why);
                    self.failures.add(part.asked.name(), fault.clone(), HOLD);
                    return Err(fault);
                }
                Err(fault) => self.failures.add(part.asked.name(), fault, UNORDERED),
            }
        }
        Ok(lists)
    }

    fn holds_unordered(&self) -> bool {
        !self.unordered.borrow().is_empty()
    }
}

/// Rows of the candidates of each pool, with the pool's name.
fn candidates(question: &PriceQuestion) -> Vec<(&str, Range<usize>)> {
    let pools = &question.pools;
    let mut start = 0;
    let ends = pools.cand_ends.iter().zip(0..);
    ends.map(|(&end, pool)| {
        let rows = start..end as usize;
        start = end as usize;
        (question.tables.symbols.of_row(&pools.name, pool), rows)
    })
    .collect()
}

/// Every claim's candidates as the host named them: the planned one first, then by price.
fn as_named(question: &OrderQuestion) -> LaunchLists {
    let mut start = 0;
    let lists = question.claims.cand_ends.iter().map(|&end| {
        let count = end as usize - start;
        start = end as usize;
        LaunchList {
            kept: (0..count).collect(),
            removed: Vec::new(),
        }
    });
    LaunchLists {
        claims: lists.collect(),
    }
}

/// Numbers of groups of rows, which two policies may give alike and which must not become one.
#[derive(Default)]
struct Groups(BTreeMap<(usize, u32), u32>);

impl Groups {
    fn apart(&mut self, part: usize, mut price: Price) -> Price {
        if price.first_group != 0 {
            let next = u32::try_from(self.0.len() + 1).unwrap_or(u32::MAX);
            price.first_group = *self.0.entry((part, price.first_group)).or_insert(next);
        }
        price
    }
}
