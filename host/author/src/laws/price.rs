//! Prices of a ranking policy. Groups may have other numbers in another dress, since only who shares one counts.

use std::collections::BTreeMap;

use plimsoll_core::rank::{PriceAnswer, PriceQuestion};
use plimsoll_policy::Module;

use super::{Held, Kind, PLAIN, close, held, shuffle};

/// Holds a module's prices to every law on one question.
pub(super) fn hold(module: &Module, question: &PriceQuestion) -> Held {
    let dresses = vec![
        (
            "the order of pools means nothing",
            shuffle::pools_reversed(question),
        ),
        (
            "the order of candidates means nothing",
            shuffle::candidates_reversed(question),
        ),
        (
            "numbers of rows mean nothing",
            shuffle::rows_renumbered(question),
        ),
        (
            "numbers of names mean nothing",
            shuffle::names_renumbered(question),
        ),
        (
            "an offering that nobody may buy means nothing",
            shuffle::with_a_stranger(question),
        ),
    ];
    let asked = (question, question.pools.cand.len());
    let kind = Kind {
        names: PLAIN,
        manifest: module.manifest(),
        ask: &|question| module.price(question),
        reasons: |answer| [answer.first_reason.as_slice(), &answer.then_reason].concat(),
        alike,
    };
    held(&kind, asked, dresses)
}

/// Fails with the first row whose answer is not the one it had where it came from.
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
