//! Runs fuzz targets for a time: `plimsoll-fuzz all|NAME [SECONDS] [SEED]`. Ends with 1 and the seed where a rule is broken.

use std::io::{self, Write};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use plimsoll_fuzz::{TARGETS, Target};

const USAGE: &str = "usage: plimsoll-fuzz all|NAME [SECONDS] [SEED]; NAME is acceptance, vectors, prices, orders, scores, allowances, snapshots or schedules";
/// Inputs between two looks at the clock.
const BATCH: u64 = 16;

fn main() -> Result<()> {
    let mut words = std::env::args().skip(1);
    let asked = words.next().context(USAGE)?;
    let seconds: u64 = words
        .next()
        .map_or(Ok(30), |word| word.parse())
        .context(USAGE)?;
    let seed: u64 = words
        .next()
        .map_or(Ok(1), |word| word.parse())
        .context(USAGE)?;
    let is_asked = |target: &&Target| asked == "all" || asked == target.name;
    let targets: Vec<&Target> = TARGETS.iter().filter(is_asked).collect();
    if targets.is_empty() {
        bail!(USAGE);
    }
    for target in targets {
        let count = run(target, Duration::from_secs(seconds), seed)?;
        let name = target.name;
        writeln!(
            io::stdout(),
            "{name}: {count} inputs in {seconds} s, seed {seed}, no rule broken"
        )?;
    }
    Ok(())
}

/// Runs a target for a time; how many inputs there were.
fn run(target: &Target, time: Duration, seed: u64) -> Result<u64> {
    let (start, mut number) = (Instant::now(), 0);
    while start.elapsed() < time {
        for _ in 0..BATCH {
            target.case(seed, number).map_err(anyhow::Error::msg)?;
            number += 1;
        }
    }
    Ok(number)
}
