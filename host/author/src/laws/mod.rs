//! Laws that every policy keeps, whatever its numbers are: it is a function of what it is shown and of nothing else.
//!
//! The order of rows and the numbers of names are the host's, and an offering that may not be bought has no effect. Numbers may differ in
//! the last digits where a policy adds up rows in another order. Each kind of question has a file that says how it can be dressed
//! otherwise without being another; what laws are is the same for all.

mod allow;
mod columns;
mod layout;
mod order;
mod price;
mod score;
mod shuffle;

use plimsoll_policy::{AnyModule, Called, Checked, Manifest, Unit};
use serde::Serialize;

use self::shuffle::Dressed;
use crate::{market, standard};

/// Difference of two numbers, as a share of the larger, that sums in another order may have.
const ROUNDING: f64 = 1e-9;

/// A law, and how it was broken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Law {
    /// The law, as a sentence.
    pub name: &'static str,
    /// The first thing that does not.
    pub breach: Option<String>,
}

/// A policy held to its laws: each law with its first breach, and the fuel of the question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    /// Every law, or only the first where a question itself gets no answer.
    pub laws: Vec<Law>,
    /// Fuel that the question took, as it stands; where there are two, that for prices.
    pub fuel: u64,
    /// Rows of the question.
    pub rows: usize,
}

/// Holds a policy to every law, on a small question of its hook that has a bit of everything.
pub fn hold(policy: &AnyModule) -> Held {
    match policy {
        AnyModule::Rank(module) => {
            let manifest = module.manifest();
            let orders = (manifest.orders).then(|| order::hold(module, &market::claims()));
            match orders {
                // A host does not ask it for prices.
                Some(orders) if manifest.unit == Unit::Order => orders,
                orders => {
                    let mut held = price::hold(module, &market::market());
                    held.laws
                        .extend(orders.into_iter().flat_map(|held| held.laws));
                    held
                }
            }
        }
        AnyModule::Consolidate(module) => score::hold(module, &standard::moves(60, 90)),
        AnyModule::Budget(module) => allow::hold(module, &standard::pools(7)),
    }
}

/// A question of any hook.
trait Question: Clone {
    /// Rows that an answer has.
    fn rows(&self) -> usize;
}

/// An answer of any hook.
trait Answer: PartialEq + Serialize {
    /// Every reason that it gives.
    fn reasons(&self) -> Vec<u16>;

    /// Fails with the first row of the other whose answer is not the one it has here, where it came from.
    fn alike(&self, other: &Self, origin: &[usize]) -> Result<(), String>;
}

/// An answer of a number and a reason for each row.
trait Numbered: PartialEq + Serialize {
    fn columns(&self) -> (&[f64], &[u16]);
}

impl<A: Numbered> Answer for A {
    fn reasons(&self) -> Vec<u16> {
        self.columns().1.to_vec()
    }

    fn alike(&self, other: &Self, origin: &[usize]) -> Result<(), String> {
        same_rows(self.columns(), other.columns(), origin)
    }
}

/// Names of the laws that hold for every kind of question.
#[derive(Clone, Copy)]
struct Names {
    answered: &'static str,
    same_bytes: &'static str,
    same_fuel: &'static str,
    reasons: &'static str,
}

const PLAIN: Names = Names {
    answered: "every question gets an answer within the rules",
    same_bytes: "the same question gets the same bytes",
    same_fuel: "the same question costs the same fuel",
    reasons: "reasons are in the manifest",
};

/// Holds a policy to the laws of one kind of question: those of all kinds, and that no dress makes it another question.
fn held<Q: Question, Raw: Answer, Typed>(
    names: Names,
    manifest: &Manifest,
    question: &Q,
    dresses: Vec<(&'static str, Dressed<Q>)>,
    ask: impl Fn(&Q) -> Called<Checked<Raw, Typed>>,
) -> Held {
    let rows = question.rows();
    // The answer as the module gave it, or the words of its failure; and the fuel.
    let ask = |question: &Q| {
        let called = ask(question);
        let answer = called.result.map(|checked| checked.raw);
        (answer.map_err(|fault| fault.to_string()), called.fuel)
    };
    let law = |name, held: Result<(), String>| Law {
        name,
        breach: held.err(),
    };
    let (plain, fuel) = ask(question);
    let plain = match plain {
        Ok(plain) => plain,
        Err(breach) => {
            let laws = vec![law(names.answered, Err(breach))];
            return Held { laws, fuel, rows };
        }
    };
    let (again, second_fuel) = ask(question);
    let mut laws = vec![
        law(names.answered, Ok(())),
        law(
            names.same_bytes,
            again.and_then(|again| same_bytes(&plain, &again)),
        ),
        law(names.same_fuel, same_fuel(fuel, second_fuel)),
        law(names.reasons, known(manifest, &plain.reasons())),
    ];
    for (name, dressed) in dresses {
        let (answer, _) = ask(&dressed.question);
        let alike = answer.and_then(|answer| plain.alike(&answer, &dressed.origin));
        laws.push(law(name, alike));
    }
    Held { laws, fuel, rows }
}

/// Checked answers hold no NaN, so that equal texts are equal bytes.
fn same_bytes<A: PartialEq + Serialize>(plain: &A, again: &A) -> Result<(), String> {
    let text = |answer| serde_json::to_string(answer).map_err(|error| error.to_string());
    if plain == again && text(plain)? == text(again)? {
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

fn known(manifest: &Manifest, codes: &[u16]) -> Result<(), String> {
    let known = manifest.reasons.len();
    match codes.iter().find(|code| usize::from(**code) > known) {
        Some(code) => Err(format!("code {code}; the manifest lists {known}")),
        None => Ok(()),
    }
}

/// Equal but for rounding; vetoes equal vetoes.
pub(crate) fn close(was: f64, is: f64) -> bool {
    let near = || (was - is).abs() <= ROUNDING * was.abs().max(is.abs());
    was.to_bits() == is.to_bits() || (was.is_finite() && is.is_finite() && near())
}

/// Fails with the first row of two columns that has not the number and the reason that it had where it came from.
fn same_rows(
    plain: (&[f64], &[u16]),
    other: (&[f64], &[u16]),
    origin: &[usize],
) -> Result<(), String> {
    for (row, &from) in origin.iter().enumerate() {
        let (was, is) = (plain.0[from], other.0[row]);
        if !close(was, is) {
            return Err(format!("row {from}: {was} became {is}"));
        }
        if plain.1[from] != other.1[row] {
            return Err(format!("row {from}: its reason became another"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_veto_that_becomes_a_price_is_a_difference_and_rounding_is_none() {
        assert!(!close(f64::INFINITY, 0.1) && !close(0.1, f64::INFINITY));
        assert!(close(f64::INFINITY, f64::INFINITY) && close(0.3, 0.1 + 0.2));
        assert!(!close(0.3, 0.300_001));
    }
}
