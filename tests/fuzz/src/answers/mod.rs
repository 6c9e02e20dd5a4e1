//! Answers of guests, a file for each of the four: what the core takes is what its rules allow, told once more in plain words; and a guest whose
//! answer is any memory at all ends in a class, with words.

pub(crate) mod allowances;
pub(crate) mod orders;
pub(crate) mod prices;
pub(crate) mod scores;

use std::fmt::{Debug, Display};
use std::sync::LazyLock;

use plimsoll_guests::handmade;
use plimsoll_hooks::rank::Context;
use plimsoll_policy::{Called, Engine, EngineSettings, Outcome};

use crate::Draw;
use crate::acceptance::judge_words;

static ENGINE: LazyLock<Engine> =
    LazyLock::new(|| Engine::new(EngineSettings::default()).expect("the engine starts"));

/// Rows that the handmade guests answer about.
const ROWS: u8 = 18;
/// Once in so many inputs a guest is compiled and called.
const CALLED: usize = 50;

fn context() -> Context {
    Context {
        now_unix_s: 1_800_000_000,
        seed: 1,
        generation: 1,
    }
}

/// Gives the columns of an answer lengths that differ: one of four ways, by their number.
fn misshape<T>(way: usize, row: usize, values: &mut Vec<T>, more: T, reasons: &mut Vec<u16>) {
    match way {
        0 => values.truncate(row),
        1 => values.push(more),
        2 => drop(reasons.pop()),
        _ => reasons.push(9),
    }
}

/// Holds the core's check of an answer against the rule: a legal one is read, and judged; any other is refused with words.
fn hold<Answer: Debug, Typed: Debug, Error: Display + Debug>(
    answer: &Answer,
    checked: Result<Typed, Error>,
    is_legal: bool,
    judge: impl FnOnce(&Answer, &Typed),
) {
    assert_eq!(checked.is_ok(), is_legal, "{checked:?}: {answer:?}");
    match checked {
        Err(error) => judge_words(&error.to_string()),
        Ok(typed) => judge(answer, &typed),
    }
}

/// A number that a guest might answer with: at an edge, or any at all.
fn number(draw: &mut Draw) -> f64 {
    let odd = [
        0.0,
        -0.0,
        1.0,
        -1e-300,
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        100_000.0,
        -100_000.0,
        100_000.000_1,
        f64::MIN_POSITIVE,
        f64::from_bits(draw.any()),
    ];
    *draw.pick(&odd)
}

/// A guest of that name whose answer is made of any bytes: where lists lie, how long they are, and whether it declines.
fn guest(draw: &mut Draw, name: &str) -> Vec<u8> {
    let mut guest = handmade(name).expect("it is there").to_vec();
    // Its answer: whether there is one, and six lists of as many rows as there are, from the same address on.
    let list = [0, 0x10, 0, 0, ROWS, 0, 0, 0];
    let told = [&[0; 4][..], &list.repeat(6)].concat();
    let at = guest.windows(told.len()).position(|window| window == told);
    let at = at.expect("the guest keeps its answer in its data");
    for _ in 0..=draw.below(6) {
        guest[at + draw.below(told.len())] = draw.byte();
    }
    guest
}

/// Holds how a call of such a guest ended against what can come of it: whatever it answers, it does nothing else.
fn judge_call<T>(called: &Called<T>) {
    let outcome = called.outcome();
    assert!(
        !matches!(
            outcome,
            Outcome::Trap | Outcome::Memory | Outcome::Quarantined
        ),
        "{outcome}"
    );
    if let Err(fault) = &called.result {
        judge_words(&fault.sentence);
    }
}
