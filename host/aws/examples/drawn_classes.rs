//! EC2NodeClasses at random, one a line: `drawn_classes [classes] [first seed]`, for the program that hashes them (`tests/class-hashes`).

#[path = "../tests/static_hash/classes/mod.rs"]
mod classes;

use std::io::{self, BufWriter, Write};

fn argument(at: usize, otherwise: u64) -> u64 {
    let text = std::env::args().nth(at);
    text.and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

fn main() -> io::Result<()> {
    let first = argument(2, 1);
    let mut lines = BufWriter::new(io::stdout());
    for seed in first..first + argument(1, 1000) {
        writeln!(lines, "{}", classes::drawn(seed))?;
    }
    lines.flush()
}
