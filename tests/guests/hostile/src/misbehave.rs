//! Misbehaviour that a guest of any hook is capable of.

use plimsoll_sdk::diag::{Level, log};
use plimsoll_sdk::ranking::PolicyError;

/// Misbehaves before the answer, if that is the behaviour asked for.
pub(crate) fn misbehave(behaviour: &str, rows: usize) -> Result<(), PolicyError> {
    match behaviour {
        "decline" => {
            return Err(PolicyError {
                code: 7,
                message: "no\u{1b}[31m idea".to_owned(),
            });
        }
        "decline-in-html" => return Err(declined("<script>alert(1)</script>\u{202e}\r\n\u{7}")),
        "decline-at-length" => return Err(declined(&"long ".repeat(6 << 10))),
        "decline-without-end" => return Err(declined(&"x".repeat(1 << 20))),
        "panic" => stop(rows),
        "slow" => work(),
        "loop" => spin(),
        "recurse" => log(Level::Info, &recurse(rows as u64).to_string()),
        "memory" => log(Level::Info, &hoard().to_string()),
        "log-flood" => flood("line"),
        "log-bomb" => flood(&"x".repeat(1 << 20)),
        _ => {}
    }
    Ok(())
}

fn declined(message: &str) -> PolicyError {
    PolicyError {
        code: 8,
        message: message.to_owned(),
    }
}

/// Panics.
#[expect(clippy::panic, reason = "this is what it is for")]
pub(crate) fn stop(rows: usize) -> ! {
    panic!("cannot answer {rows} rows");
}

/// Most of the fuel of a call, and then an answer.
fn work() {
    for turn in 0..600_000_u32 {
        std::hint::black_box(turn);
    }
}

fn spin() {
    let mut turns = 0_u64;
    loop {
        turns = std::hint::black_box(turns.wrapping_add(1));
    }
}

fn recurse(depth: u64) -> u64 {
    let frame = std::hint::black_box([depth; 64]);
    if depth == u64::MAX {
        0
    } else {
        recurse(depth + 1) + frame[7]
    }
}

fn hoard() -> usize {
    let mut held = Vec::new();
    loop {
        held.push(std::hint::black_box(vec![0_u8; 1 << 20]));
        if held.len() > 4_096 {
            return held.len();
        }
    }
}

fn flood(line: &str) {
    loop {
        log(Level::Info, line);
    }
}
