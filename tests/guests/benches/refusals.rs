//! Prints how long it takes to refuse modules that are small or cheap to write and dear to parse, to check or to compile. The bar is 100 ms
//! of work each; that none of them comes as far as a compiler is a test.

use std::time::Instant;

use plimsoll_guests::BOMBS;
use plimsoll_hooks::hook::PolicySettings;
use plimsoll_policy::{Engine, EngineSettings};

const TIMES: usize = 21;

#[expect(clippy::print_stdout, reason = "the table is what this program is for")]
fn main() {
    let engine = Engine::new(EngineSettings::default()).expect("the engine starts");
    println!("{:<20}{:>10}{:>10}  refused", "module", "bytes", "p50 us");
    for (name, _) in BOMBS {
        let bytes = plimsoll_guests::handmade(name).expect("a bomb has a name");
        let mut reason = "";
        let mut times: Vec<f64> = (0..TIMES)
            .map(|_| {
                let start = Instant::now();
                let refusal = engine
                    .accept(bytes, &PolicySettings::new())
                    .expect_err("it is refused");
                reason = refusal.reason();
                start.elapsed().as_secs_f64() * 1e6
            })
            .collect();
        times.sort_by(f64::total_cmp);
        println!(
            "{name:<20}{:>10}{:>10.0}  {reason}",
            bytes.len(),
            times[TIMES / 2]
        );
    }
}
