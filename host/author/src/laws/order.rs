//! Launch lists of a ranking policy that orders.

use std::sync::Arc;

use plimsoll_core::rank::{OrderAnswer, OrderQuestion};
use plimsoll_policy::Module;

use super::layout::Layout;
use super::shuffle::{self, Dressed, number};
use super::{Held, Kind, Names, columns, held, same_rows};

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
    let asked = (question, question.claims.cand.len());
    let kind = Kind {
        names: Names {
            answered: "every claim gets scores within the rules",
            same_bytes: "the same claims get the same bytes",
            same_fuel: "the same claims cost the same fuel",
            reasons: "reasons of scores are in the manifest",
        },
        manifest: module.manifest(),
        ask: &|question| module.order(question),
        reasons: |answer| answer.reason.clone(),
        alike,
    };
    held(&kind, asked, dresses)
}

/// Fails with the first row whose answer is not the one it had where it came from.
fn alike(plain: &OrderAnswer, other: &OrderAnswer, origin: &[usize]) -> Result<(), String> {
    let (was, is) = (
        (&*plain.score, &*plain.reason),
        (&*other.score, &*other.reason),
    );
    same_rows(was, is, origin)
}

fn claims_reversed(question: &OrderQuestion) -> Dressed<OrderQuestion> {
    reordered(question, &Layout::reversed(&question.claims.cand_ends))
}

fn candidates_reversed(question: &OrderQuestion) -> Dressed<OrderQuestion> {
    let layout = Layout::reversed_within(&question.claims.cand_ends);
    reordered(question, &layout)
}

fn rows_renumbered(question: &OrderQuestion) -> Dressed<OrderQuestion> {
    let mut question = question.clone();
    let catalogue = &mut Arc::make_mut(&mut question.tables).catalogue;
    let rows = catalogue.o_type.len();
    shuffle::reverse_offerings(catalogue);
    for row in &mut question.claims.cand {
        *row = number(rows - 1 - *row as usize);
    }
    as_it_stands(question)
}

fn names_renumbered(question: &OrderQuestion) -> Dressed<OrderQuestion> {
    let mut question = question.clone();
    let renamed = shuffle::rename_tables(Arc::make_mut(&mut question.tables));
    columns::rename_rank_claims(&mut question.claims, &renamed);
    as_it_stands(question)
}

/// One offering more, the cheapest of all, which no claim names.
fn with_a_stranger(question: &OrderQuestion) -> Dressed<OrderQuestion> {
    let mut question = question.clone();
    shuffle::add_stranger(&mut Arc::make_mut(&mut question.tables).catalogue);
    as_it_stands(question)
}

fn as_it_stands(question: OrderQuestion) -> Dressed<OrderQuestion> {
    let rows = question.claims.cand.len();
    Dressed::in_place(question, rows)
}

/// The claims in that order, each with its candidates in theirs.
fn reordered(question: &OrderQuestion, layout: &Layout) -> Dressed<OrderQuestion> {
    let mut question = question.clone();
    columns::reorder_rank_claim(&mut question.claims, &layout.order);
    columns::reorder_rank_holder(&mut question.claims, &layout.origin);
    question.claims.cand_ends.clone_from(&layout.ends);
    Dressed {
        question,
        origin: layout.origin.clone(),
    }
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
