//! Laws that every ranking policy keeps, whatever its prices are: it is a function of what it is shown and of nothing else.
//!
//! The order of rows and the numbers of names are the host's, and an offering that nobody may buy is nobody's. Prices may differ in the
//! last digits where a policy adds up rows in another order; groups may have other numbers, since only who shares one counts.

mod shuffle;

use std::collections::BTreeMap;

use plimsoll_core::rank::{PriceAnswer, PriceQuestion};
use plimsoll_policy::Module;

use self::shuffle::Dressed;

/// Difference of two prices, as a share of the larger, that sums in another order may have.
const ROUNDING: f64 = 1e-9;

/// A law, and how it was broken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Law {
    /// What holds.
    pub name: &'static str,
    /// The first thing that does not.
    pub breach: Option<String>,
}

/// What came of holding a module to its laws.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    /// Every law, or only the first where the question itself gets no answer.
    pub laws: Vec<Law>,
    /// Fuel that the question took, as it stands.
    pub fuel: u64,
}

/// Holds a module's prices to every law on one question. Its order of launch lists, where it has one, is not asked for.
pub fn rank(module: &Module, question: &PriceQuestion) -> Held {
    let law = |name, held: Result<(), String>| Law {
        name,
        breach: held.err(),
    };
    let (plain, fuel) = ask(module, question);
    let plain = match plain {
        Ok(plain) => plain,
        Err(breach) => {
            let laws = vec![law(
                "every question gets an answer within the rules",
                Err(breach),
            )];
            return Held { laws, fuel };
        }
    };
    let (again, second_fuel) = ask(module, question);
    let dressed = |dressed: Dressed| {
        let (answer, _) = ask(module, &dressed.question);
        alike(&plain, &answer?, &dressed.origin)
    };
    let laws = vec![
        law("every question gets an answer within the rules", Ok(())),
        law(
            "the same question gets the same bytes",
            again.and_then(|again| same_bytes(&plain, &again)),
        ),
        law(
            "the same question costs the same fuel",
            same_fuel(fuel, second_fuel),
        ),
        law("reasons are in the manifest", reasons_known(module, &plain)),
        law(
            "the order of pools means nothing",
            dressed(shuffle::pools_reversed(question)),
        ),
        law(
            "the order of candidates means nothing",
            dressed(shuffle::candidates_reversed(question)),
        ),
        law(
            "numbers of rows mean nothing",
            dressed(shuffle::rows_renumbered(question)),
        ),
        law(
            "numbers of names mean nothing",
            dressed(shuffle::names_renumbered(question)),
        ),
        law(
            "an offering that nobody may buy means nothing",
            dressed(shuffle::with_a_stranger(question)),
        ),
    ];
    Held { laws, fuel }
}

/// The answer, or why there is none, and the fuel that it took.
fn ask(module: &Module, question: &PriceQuestion) -> (Result<PriceAnswer, String>, u64) {
    let called = module.price(question);
    let answer = called.result.map(|checked| checked.raw);
    (answer.map_err(|fault| fault.to_string()), called.fuel)
}

fn same_bytes(plain: &PriceAnswer, again: &PriceAnswer) -> Result<(), String> {
    let bits = |column: &[f64]| {
        column
            .iter()
            .map(|value| value.to_bits())
            .collect::<Vec<_>>()
    };
    let same = plain == again
        && bits(&plain.first) == bits(&again.first)
        && bits(&plain.then) == bits(&again.then);
    if same {
        Ok(())
    } else {
        Err("the second answer differs from the first".to_owned())
    }
}

fn same_fuel(first: u64, second: u64) -> Result<(), String> {
    if first == second {
        return Ok(());
    }
    Err(format!("{first} the first time, {second} the second"))
}

fn reasons_known(module: &Module, answer: &PriceAnswer) -> Result<(), String> {
    let known = module.manifest().reasons.len();
    let mut codes = answer.first_reason.iter().chain(&answer.then_reason);
    match codes.find(|code| usize::from(**code) > known) {
        Some(code) => Err(format!("code {code}; the manifest lists {known}")),
        None => Ok(()),
    }
}

/// Whether every candidate has the answer that it had where it came from.
fn alike(plain: &PriceAnswer, other: &PriceAnswer, origin: &[usize]) -> Result<(), String> {
    let mut groups: BTreeMap<u32, u32> = BTreeMap::new();
    let mut back: BTreeMap<u32, u32> = BTreeMap::new();
    for (row, &from) in origin.iter().enumerate() {
        let prices = [
            (plain.first[from], other.first[row]),
            (plain.then[from], other.then[row]),
        ];
        if let Some((was, is)) = prices.into_iter().find(|(was, is)| !close(*was, *is)) {
            return Err(format!("row {from}: {was} became {is}"));
        }
        let same = plain.first_count[from] == other.first_count[row]
            && plain.first_reason[from] == other.first_reason[row]
            && plain.then_reason[from] == other.then_reason[row];
        if !same {
            return Err(format!(
                "row {from}: its reason or its count became another"
            ));
        }
        let (was, is) = (plain.first_group[from], other.first_group[row]);
        let shared =
            *groups.entry(was).or_insert(is) == is && *back.entry(is).or_insert(was) == was;
        if !shared || (was == 0) != (is == 0) {
            return Err(format!(
                "row {from}: it shares its count with others than before"
            ));
        }
    }
    Ok(())
}

/// Equal but for rounding; vetoes equal vetoes.
fn close(was: f64, is: f64) -> bool {
    was.to_bits() == is.to_bits() || (was - is).abs() <= ROUNDING * was.abs().max(is.abs())
}
