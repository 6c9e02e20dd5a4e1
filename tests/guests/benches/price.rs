//! What does asking a module cost, with a fresh instance and all limits on: 3 pools x 2,400 offerings, 800 types with
//! 16 labels each? The bar is 200 us at the median and 1 ms at the 99th percentile.

#[path = "../tests/common/mod.rs"]
mod common;

use std::time::{Duration, Instant};

use plimsoll_core::rank::Settings;
use plimsoll_policy::{Engine, EngineSettings};

const CALLS: usize = 3_000;

fn main() {
    let engine = Engine::new(EngineSettings::default()).expect("the engine starts");
    let question = common::question(3, 800, 3);
    for shipped in plimsoll_policies::RANKING {
        let module = engine
            .accept(shipped.bytes, &Settings::new())
            .expect("a shipped module is accepted");
        let mut times: Vec<Duration> = Vec::with_capacity(CALLS);
        let mut used = (0, 0);
        for _ in 0..CALLS {
            let start = Instant::now();
            let called = module.price(&question);
            times.push(start.elapsed());
            assert!(called.result.is_ok(), "{:?}", called.result);
            used = (called.fuel, called.memory_peak >> 10);
        }
        times.sort_unstable();
        let (median, tail) = (times[CALLS / 2], times[CALLS * 99 / 100]);
        let (rows, bytes) = (question.pools.cand.len(), shipped.bytes.len());
        eprintln!(
            "{:18} {rows} rows  p50 {median:?}  p99 {tail:?}  fuel {}  memory {} KiB  module {bytes} bytes",
            shipped.name, used.0, used.1
        );
    }
}
