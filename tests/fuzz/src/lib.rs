//! Malformed and hostile input, for all that reads what others wrote: modules and their vectors, answers of guests, snapshots, schedules of budgets.
//!
//! A [`Target`] makes one input of what a [`Draw`] gives and judges what became of it; it panics where a rule is broken. Every input is made
//! anew of a seed and a number, so that these two are all that is needed to see a failure again. It runs on the stable toolchain: inputs
//! are real ones, changed at random, and no coverage is looked at. The tests run some inputs of each target, the program as many as it is
//! given time for.

mod acceptance;
mod answers;
mod draw;
mod schedules;
mod snapshots;
mod vectors;

use std::panic::{self, AssertUnwindSafe};

pub use draw::Draw;

/// One kind of input.
#[derive(Clone, Copy)]
pub struct Target {
    /// Name of the target, as `fuzz` is told it.
    pub name: &'static str,
    /// Makes an input and judges what became of it.
    pub run: fn(&mut Draw),
}

/// All kinds of input.
pub const TARGETS: [Target; 8] = [
    Target {
        name: "acceptance",
        run: acceptance::run,
    },
    Target {
        name: "vectors",
        run: vectors::run,
    },
    Target {
        name: "prices",
        run: answers::prices::run,
    },
    Target {
        name: "orders",
        run: answers::orders::run,
    },
    Target {
        name: "scores",
        run: answers::scores::run,
    },
    Target {
        name: "allowances",
        run: answers::allowances::run,
    },
    Target {
        name: "snapshots",
        run: snapshots::run,
    },
    Target {
        name: "schedules",
        run: schedules::run,
    },
];

impl Target {
    /// Runs one input; what broke, where something did.
    pub fn case(&self, seed: u64, number: u64) -> Result<(), String> {
        let mut draw = Draw::new(seed, number);
        let run = AssertUnwindSafe(|| (self.run)(&mut draw));
        panic::catch_unwind(run).map_err(|cause| {
            let words = cause.downcast_ref::<String>().cloned();
            let words = words.or_else(|| cause.downcast_ref::<&str>().map(|&text| text.to_owned()));
            format!(
                "{} broke on seed {seed}, input {number}: {}",
                self.name,
                words.unwrap_or_default()
            )
        })
    }
}
