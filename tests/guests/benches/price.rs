//! Prints what asking a module costs, with a fresh instance and all limits on, next to the core's own ranking in the
//! same run.
//!
//! The price question is 3 pools x 2,400 offerings of 800 types with 16 labels each; the bar is 200 us at the median and
//! 1 ms at the 99th percentile. The order question is 1,000 claims x 60 offerings; the bar is 2 ms. Times depend on the
//! machine and what else it does; the ratio to the native ranking less so; fuel not at all.

#[path = "../tests/common/mod.rs"]
mod common;
mod table;

use plimsoll_hooks::hook::Setting;
use plimsoll_hooks::rank::{
    OrderQuestion, PolicySettings, PriceQuestion, check_ordering, check_prices, list_order,
    list_price,
};
use plimsoll_policy::{Engine, EngineSettings};

use self::table::{Times, asked, line};

const PRICE_CALLS: usize = 3_000;
const ORDER_CALLS: usize = 300;

#[expect(clippy::print_stdout, reason = "the table is what this program is for")]
fn main() {
    let engine = Engine::new(EngineSettings::default()).expect("the engine starts");
    let (price, order) = (common::question(3, 800, 3), common::claims(1_000, 60));
    println!("{}", table::head());
    let native = (native_price(&price), native_order(&order));
    for (name, rows, times) in [
        ("price, native", price.pools.cand.len(), &native.0),
        ("order, native", order.claims.cand.len(), &native.1),
    ] {
        println!("{}", line(name, rows, times, times));
    }
    // A name on the command line asks that module alone.
    let only = std::env::args().skip(1).find(|word| !word.starts_with('-'));
    let is_asked = |name: &str| only.as_ref().is_none_or(|only| only == name);
    for shipped in plimsoll_policies::RANKING {
        if !is_asked(shipped.name) {
            continue;
        }
        let module = engine
            .accept(shipped.bytes, &needed(shipped.name))
            .expect("a shipped module is accepted");
        let (name, bytes) = (shipped.name, shipped.bytes.len());
        let rows = price.pools.cand.len();
        let (times, used) = asked(PRICE_CALLS, rows, || module.price(&price));
        let start = line(&format!("price, {name}"), rows, &times, &native.0);
        println!("{start}{used}{bytes:>8}");
        let rows = order.claims.cand.len();
        let (times, used) = asked(ORDER_CALLS, rows, || module.order(&order));
        let start = line(&format!("order, {name}"), rows, &times, &native.1);
        println!("{start}{used}{bytes:>8}");
    }
}

/// The settings that a module does not do without.
fn needed(policy: &str) -> PolicySettings {
    let needed = match policy {
        "priority" => Some(("priorities", "10=m5.large")),
        "priority-list" => Some(("types", "m5.large")),
        _ => None,
    };
    let texts = |text: &str| Setting::Texts(vec![text.to_owned()]);
    let needed = needed.map(|(name, text)| (name.to_owned(), texts(text)));
    needed.into_iter().collect()
}

/// Times of the core's own ranking for the same answer, checked the same way.
fn native_price(question: &PriceQuestion) -> Times {
    Times::of(PRICE_CALLS, || {
        let prices = check_prices(question, &list_price(question));
        assert!(std::hint::black_box(prices).is_ok(), "list prices pass");
    })
}

/// The same for orders.
fn native_order(question: &OrderQuestion) -> Times {
    Times::of(ORDER_CALLS, || {
        let order = std::hint::black_box(list_order(question));
        assert!(check_ordering(question, &order).is_ok(), "list prices pass");
    })
}
