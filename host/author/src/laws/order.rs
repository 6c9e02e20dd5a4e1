//! Launch lists of a ranking policy that orders.

use std::sync::Arc;

use plimsoll_hooks::rank::{OrderAnswer, OrderQuestion};
use plimsoll_policy::Module;

use super::layout::Layout;
use super::shuffle::{self, Dressed};
use super::{Held, Names, Numbered, Question, columns, held};

/// Holds a module's scores for launch lists to every law on one question.
pub(super) fn hold(module: &Module, question: &OrderQuestion) -> Held {
    let dresses = vec![
        (
            "the order of claims means nothing to their lists",
            claims_reversed(question),
        ),
        (
            "the order of candidates means nothing to launch lists",
            candidates_reversed(question),
        ),
        (
            "numbers of rows mean nothing to launch lists",
            rows_renumbered(question),
        ),
        (
            "numbers of names mean nothing to launch lists",
            names_renumbered(question),
        ),
        (
            "an offering that holds no claim means nothing to launch lists",
            with_a_stranger(question),
        ),
    ];
    let names = Names {
        answered: "every claim gets scores within the rules",
        same_bytes: "the same claims get the same bytes",
        same_fuel: "the same claims cost the same fuel",
        reasons: "reasons of scores are in the manifest",
    };
    held(names, module.manifest(), question, dresses, |question| {
        module.order(question)
    })
}

impl Question for OrderQuestion {
    fn rows(&self) -> usize {
        self.claims.cand.len()
    }
}

impl Numbered for OrderAnswer {
    fn columns(&self) -> (&[f64], &[u16]) {
        (&self.score, &self.reason)
    }
}

fn claims_reversed(question: &OrderQuestion) -> Dressed<OrderQuestion> {
    reordered(question, &Layout::reversed(&question.claims.cand_ends))
}

fn candidates_reversed(question: &OrderQuestion) -> Dressed<OrderQuestion> {
    let layout = Layout::reversed_within(&question.claims.cand_ends);
    reordered(question, &layout)
}

fn rows_renumbered(question: &OrderQuestion) -> Dressed<OrderQuestion> {
    Dressed::in_place(question, |question| {
        let tables = Arc::make_mut(&mut question.tables);
        shuffle::renumber_offerings(tables, &mut question.claims.cand);
    })
}

fn names_renumbered(question: &OrderQuestion) -> Dressed<OrderQuestion> {
    Dressed::in_place(question, |question| {
        let renamed = shuffle::rename_tables(Arc::make_mut(&mut question.tables));
        columns::rename_rank_claims(&mut question.claims, &renamed);
    })
}

/// One offering more, the cheapest of all, which no claim names.
fn with_a_stranger(question: &OrderQuestion) -> Dressed<OrderQuestion> {
    Dressed::in_place(question, |question| {
        shuffle::add_stranger(&mut Arc::make_mut(&mut question.tables).catalogue);
    })
}

/// The claims in that order, each with its candidates in theirs.
fn reordered(question: &OrderQuestion, layout: &Layout) -> Dressed<OrderQuestion> {
    Dressed::moved(
        question,
        &layout.origin,
        |OrderQuestion { claims, .. }| {
            columns::reorder_rank_claim(claims, &layout.order);
            columns::reorder_rank_holder(claims, &layout.origin);
            claims.cand_ends.clone_from(&layout.ends);
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laws::layout::blocks;
    use crate::market;

    /// Pool, requests, type, zone and price of every row.
    fn rows(question: &OrderQuestion) -> Vec<String> {
        let (tables, claims) = (&question.tables, &question.claims);
        let blocks = blocks(&claims.cand_ends);
        let row = |claim: usize, place: usize| {
            let row = claims.cand[place];
            let pool = tables.symbols.get(claims.pool[claim]).unwrap();
            let (cpu, memory) = (claims.cpu_milli[claim], claims.mem_mib[claim]);
            let (name, zone, price) = (tables.type_name(row), tables.zone(row), tables.price(row));
            format!("{pool} {cpu} {memory} {name} {zone} {price}")
        };
        let claims = blocks.iter().enumerate();
        let places = claims.flat_map(|(claim, places)| places.iter().map(move |&at| (claim, at)));
        places.map(|(claim, place)| row(claim, place)).collect()
    }

    #[test]
    fn every_dress_of_claims_is_the_same_question() {
        let question = market::claims();
        shuffle::check_dresses(
            &question,
            rows,
            &[
                claims_reversed,
                candidates_reversed,
                rows_renumbered,
                names_renumbered,
                with_a_stranger,
            ],
        );
    }
}
