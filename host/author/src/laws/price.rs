//! Prices of a ranking policy. Groups may have other numbers in another dress, since only who shares one counts.

use std::collections::BTreeMap;

use plimsoll_hooks::rank::{PriceAnswer, PriceQuestion};
use plimsoll_policy::Module;

use super::{Answer, Held, PLAIN, Question, close, held, shuffle};

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
            "an offering that may not be bought means nothing",
            shuffle::with_a_stranger(question),
        ),
    ];
    held(PLAIN, module.manifest(), question, dresses, |question| {
        module.price(question)
    })
}

impl Question for PriceQuestion {
    fn rows(&self) -> usize {
        self.pools.cand.len()
    }
}

impl Answer for PriceAnswer {
    fn reasons(&self) -> Vec<u16> {
        [self.first_reason.as_slice(), &self.then_reason].concat()
    }

    fn alike(&self, other: &Self, origin: &[usize]) -> Result<(), String> {
        let mut groups: BTreeMap<u32, u32> = BTreeMap::new();
        let mut back: BTreeMap<u32, u32> = BTreeMap::new();
        for (row, &from) in origin.iter().enumerate() {
            let prices = [
                (self.first[from], other.first[row]),
                (self.then[from], other.then[row]),
            ];
            if let Some((was, is)) = prices.into_iter().find(|(was, is)| !close(*was, *is)) {
                return Err(format!("row {from}: {was} became {is}"));
            }
            let same = self.first_count[from] == other.first_count[row]
                && self.first_reason[from] == other.first_reason[row]
                && self.then_reason[from] == other.then_reason[row];
            if !same {
                return Err(format!(
                    "row {from}: its reason or its count became another"
                ));
            }
            let (was, is) = (self.first_group[from], other.first_group[row]);
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
}
