//! A number for what a question is about, to tell questions apart that a module fails on.
//!
//! The clock, the seed, and the columns that grow by themselves as time passes are left out: a question that is put again a minute
//! later is the same. The number is kept in memory only and compared with others of the same run.

use std::io::{self, Write};

use plimsoll_hooks::allow::AllowQuestion;
use plimsoll_hooks::rank::{OrderQuestion, PriceQuestion, Tables};
use plimsoll_hooks::score::ScoreQuestion;
use serde::Serialize;
use sha2::{Digest as _, Sha256};

pub(crate) fn of_price(question: &PriceQuestion) -> u64 {
    of(&(timeless(&question.tables), &question.pools))
}

pub(crate) fn of_order(question: &OrderQuestion) -> u64 {
    of(&(timeless(&question.tables), &question.claims))
}

pub(crate) fn of_score(question: &ScoreQuestion) -> u64 {
    let mut nodes = question.nodes.clone();
    for ages in [
        &mut nodes.age_s,
        &mut nodes.since_move_s,
        &mut nodes.youngest_pod_s,
    ] {
        ages.clear();
    }
    of(&(&question.symbols, nodes, &question.moves))
}

pub(crate) fn of_allow(question: &AllowQuestion) -> u64 {
    of(&(&question.symbols, &question.pools))
}

/// The tables without the age of prices.
fn timeless(tables: &Tables) -> Tables {
    let mut timeless = tables.clone();
    timeless.catalogue.o_price_age_s.clear();
    timeless
}

fn of(question: &impl Serialize) -> u64 {
    let mut sink = Sink(Sha256::new());
    // Columns of numbers and texts have a form as JSON, and a digest takes whatever is written.
    let _ = serde_json::to_writer(&mut sink, question);
    let mut first = [0; 8];
    first.copy_from_slice(&sink.0.finalize()[..8]);
    u64::from_le_bytes(first)
}

/// A digest as a place to write to.
struct Sink(Sha256);

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
