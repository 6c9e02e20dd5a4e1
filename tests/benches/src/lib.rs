//! The common parts of benches: a gauge of this process, and the decision that most of them take.

pub mod aws;
pub mod cases;
mod gauge;
pub mod interruption;
pub mod karpenter;
pub mod live;

pub use gauge::{Usage, peak_bytes, processor_time};

use std::time::{Duration, Instant};

use plimsoll_model::plan::Plan;
use plimsoll_model::snapshot::Snapshot;

/// A decision with what it took.
pub struct Timed {
    /// The decision.
    pub plan: Plan,
    /// On the clock, from the snapshot in memory to the plan, grouping included.
    pub wall: Duration,
    /// Of processors, summed over threads.
    pub processor: Duration,
}

/// Decides at list prices.
pub fn timed(snapshot: &Snapshot) -> Timed {
    let (began, before) = (Instant::now(), processor_time());
    let plan = plimsoll_schedule::plan(snapshot);
    Timed {
        plan,
        wall: began.elapsed(),
        processor: processor_time().saturating_sub(before),
    }
}

/// A number from the command line; `default` where there is none. Ends the program, as wrong usage does, where it is no number:
/// figures of another size than was asked for mislead.
pub fn argument(at: usize, default: usize) -> usize {
    number(std::env::args().nth(at).as_deref(), default).unwrap_or_else(|sentence| {
        eprintln!("error: {sentence}");
        std::process::exit(2);
    })
}

fn number(text: Option<&str>, default: usize) -> Result<usize, String> {
    let Some(text) = text else {
        return Ok(default);
    };
    let number = text.parse();
    number.map_err(|_| format!("\"{text}\" is no argument; expected a whole number of at least 0"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_argument_is_read_or_refused() {
        assert_eq!(number(None, 7), Ok(7));
        assert_eq!(number(Some("12"), 7), Ok(12));
        let refused = number(Some("abc"), 7);
        assert!(refused.is_err_and(|sentence| sentence.starts_with("\"abc\" ")));
    }
}
