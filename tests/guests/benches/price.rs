//! Prints what asking a module costs, with a fresh instance and all limits on, next to the core's own ranking in the
//! same run.
//!
//! The price question is 3 pools x 2,400 offerings of 800 types with 16 labels each; the bar is 200 us at the median and
//! 1 ms at the 99th percentile. The order question is 1,000 claims x 60 offerings; the bar is 2 ms. Times depend on the
//! machine and what else it does; the ratio to the native ranking less so; fuel not at all.

#[path = "../tests/common/mod.rs"]
mod common;

use std::time::{Duration, Instant};

use plimsoll_core::rank::{
    OrderQuestion, PriceQuestion, Settings, check_ordering, check_prices, list_order, list_price,
};
use plimsoll_policy::{Called, Engine, EngineSettings};

const PRICE_CALLS: usize = 3_000;
const ORDER_CALLS: usize = 300;

/// What a number of calls took, shortest first.
struct Times(Vec<Duration>);

impl Times {
    fn of(calls: usize, mut call: impl FnMut()) -> Self {
        let mut times: Vec<Duration> = (0..calls)
            .map(|_| {
                let start = Instant::now();
                call();
                start.elapsed()
            })
            .collect();
        times.sort_unstable();
        Self(times)
    }

    /// Microseconds within which this many of a hundred calls ended.
    fn micros(&self, percent: usize) -> f64 {
        self.0[(self.0.len() - 1) * percent / 100].as_secs_f64() * 1e6
    }
}

#[expect(clippy::print_stdout, reason = "the table is what this program is for")]
fn main() {
    let engine = Engine::new(EngineSettings::default()).expect("the engine starts");
    let (price, order) = (common::question(3, 800, 3), common::claims(1_000, 60));
    println!(
        "{:<26}{:>8}{:>8}{:>8}{:>8}{:>8}{:>12}{:>10}{:>9}{:>8}",
        "call",
        "rows",
        "min us",
        "p50 us",
        "p99 us",
        "ratio",
        "fuel",
        "fuel/row",
        "mem KiB",
        "bytes"
    );
    let native = (native_price(&price), native_order(&order));
    for (name, rows, times) in [
        ("price, native", price.pools.cand.len(), &native.0),
        ("order, native", order.claims.cand.len(), &native.1),
    ] {
        println!("{}", line(name, rows, times, times));
    }
    for shipped in plimsoll_policies::RANKING {
        let module = engine
            .accept(shipped.bytes, &Settings::new())
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

fn line(name: &str, rows: usize, times: &Times, native: &Times) -> String {
    let ratio = times.micros(50) / native.micros(50);
    format!(
        "{name:<26}{rows:>8}{:>8.0}{:>8.0}{:>8.0}{ratio:>8.1}",
        times.micros(0),
        times.micros(50),
        times.micros(99),
    )
}

/// Times of calls that all have to be answered, and what one of them used.
fn asked<T>(calls: usize, rows: usize, call: impl Fn() -> Called<T>) -> (Times, String) {
    let answered = |called: &Called<T>| assert!(called.result.is_ok(), "a shipped module answers");
    let times = Times::of(calls, || answered(&call()));
    let Called {
        fuel, memory_peak, ..
    } = call();
    let per_row = fuel as f64 / rows as f64;
    let used = format!("{fuel:>12}{per_row:>10.1}{:>9}", memory_peak >> 10);
    (times, used)
}

/// What the core's own ranking takes for the same answer, checked the same way.
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
