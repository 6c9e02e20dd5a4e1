//! Prints how many calls two threads make for each that one makes, with a fresh instance and all limits on: the price question of 3 pools x
//! 2,400 offerings. The bar is 1.5.
//!
//! Runs of one thread and of two alternate, so that what else the machine does falls on both alike; the ratio is that of each pair, and the
//! median of all pairs counts. On a machine whose cores others use two threads get no more than one does, whatever they do; so the ratio is
//! given once more without the time in which a thread was ready to run and no core was free, as the kernel counts it.

#[path = "../tests/common/mod.rs"]
mod common;

use std::fs;
use std::thread::{self, ScopedJoinHandle};
use std::time::{Duration, Instant};

use plimsoll_hooks::rank::{PolicySettings, PriceQuestion};
use plimsoll_policy::{Engine, EngineSettings, Module};

const PAIRS: usize = 21;
const CALLS: u32 = 200;

#[expect(clippy::print_stdout, reason = "the table is what this program is for")]
fn main() {
    let engine = Engine::new(EngineSettings::default()).expect("the engine starts");
    let question = common::question(3, 800, 3);
    println!(
        "{:<28}{:>14}{:>14}{:>8}{:>8}{:>8}{:>14}",
        "call", "1 thread /s", "2 threads /s", "least", "median", "most", "cores free"
    );
    for name in ["list-price", "spot-diversified"] {
        let shipped = plimsoll_policies::ranking(name).expect("a shipped module");
        let accepted = engine.accept(shipped.bytes, &PolicySettings::new());
        let module = accepted.expect("a shipped module is accepted");
        let rates = |threads| Rates::of(&module, &question, threads);
        // The first run finds nothing warm.
        rates(2);
        let pairs: Vec<(Rates, Rates)> = (0..PAIRS).map(|_| (rates(1), rates(2))).collect();
        let [_, one, _] = spread(pairs.iter().map(|(one, _)| one.wall));
        let [_, two, _] = spread(pairs.iter().map(|(_, two)| two.wall));
        let [least, median, most] = spread(pairs.iter().map(|(one, two)| two.wall / one.wall));
        let [_, free, _] = spread(pairs.iter().map(|(one, two)| two.free / one.free));
        println!(
            "{:<28}{one:>14.0}{two:>14.0}{least:>8.2}{median:>8.2}{most:>8.2}{free:>14.2}",
            format!("price, {name}")
        );
    }
}

/// Calls a second of all threads together.
struct Rates {
    /// By the clock.
    wall: f64,
    /// Without the time in which no core was free.
    free: f64,
}

impl Rates {
    fn of(module: &Module, question: &PriceQuestion, threads: u32) -> Self {
        let start = Instant::now();
        let own: f64 = thread::scope(|scope| {
            let started: Vec<_> = (0..threads)
                .map(|_| scope.spawn(|| calls_per_own_second(module, question)))
                .collect();
            let ended = started.into_iter().map(ScopedJoinHandle::join);
            ended
                .map(|rate| rate.expect("a shipped module answers"))
                .sum()
        });
        Self {
            wall: f64::from(CALLS * threads) / start.elapsed().as_secs_f64(),
            free: own,
        }
    }
}

/// Calls a second of this thread, where only the time counts in which it ran or waited for another thread of ours.
fn calls_per_own_second(module: &Module, question: &PriceQuestion) -> f64 {
    let (start, held_up) = (Instant::now(), held_up());
    for _ in 0..CALLS {
        assert!(
            module.price(question).result.is_ok(),
            "a shipped module answers"
        );
    }
    let held_up = self::held_up().saturating_sub(held_up);
    f64::from(CALLS) / start.elapsed().saturating_sub(held_up).as_secs_f64()
}

/// How long this thread has been ready to run while no core was free; nothing where the kernel does not count it.
fn held_up() -> Duration {
    let told = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanos = told.split(' ').nth(1).and_then(|word| word.parse().ok());
    Duration::from_nanos(nanos.unwrap_or_default())
}

/// The least, the one in the middle, and the most.
fn spread(numbers: impl Iterator<Item = f64>) -> [f64; 3] {
    let mut sorted: Vec<f64> = numbers.collect();
    sorted.sort_by(f64::total_cmp);
    [
        sorted[0],
        sorted[sorted.len() / 2],
        sorted[sorted.len() - 1],
    ]
}
