//! The same price question in another dress: rows in another order, names under other numbers, one more offering that may not be bought;
//! and what dresses of other questions are made with.
//!
//! Each dress comes with the way back: for every row of the new question its place in the old one.

use std::sync::Arc;

use plimsoll_hooks::rank::{
    CatalogueColumns, Column, ExtColumn, PriceQuestion, Sym, Symbols, Tables,
};

use super::layout::Layout;
use super::{Question, columns};

/// A question, and for each of its rows the place of the same row in the question it was made from.
pub(super) struct Dressed<Q> {
    pub(super) question: Q,
    pub(super) origin: Vec<usize>,
}

impl<Q: Question> Dressed<Q> {
    /// A question changed so that its rows come from those places of the old one.
    pub(super) fn moved(question: &Q, origin: &[usize], change: impl FnOnce(&mut Q)) -> Self {
        let (mut question, origin) = (question.clone(), origin.to_vec());
        change(&mut question);
        Self { question, origin }
    }

    /// A question changed so that its rows stay where they were.
    pub(super) fn in_place(question: &Q, change: impl FnOnce(&mut Q)) -> Self {
        let rows: Vec<usize> = (0..question.rows()).collect();
        Self::moved(question, &rows, change)
    }
}

/// Every dress looks different, and each of its rows is the one of the plain question where it came from.
#[cfg(test)]
pub(super) fn check_dresses<Q: PartialEq, Row: PartialEq + std::fmt::Debug>(
    question: &Q,
    rows: impl Fn(&Q) -> Vec<Row>,
    dresses: &[fn(&Q) -> Dressed<Q>],
) {
    let plain = rows(question);
    for dress in dresses {
        let dressed = dress(question);
        assert!(dressed.question != *question, "it looks different");
        let found = rows(&dressed.question);
        assert_eq!(found.len(), dressed.origin.len());
        for (row, &from) in found.iter().zip(&dressed.origin) {
            assert_eq!(*row, plain[from]);
        }
    }
}

/// Pools from last to first.
pub(super) fn pools_reversed(question: &PriceQuestion) -> Dressed<PriceQuestion> {
    reordered(question, &Layout::reversed(&question.pools.cand_ends))
}

/// The candidates of each pool from last to first.
pub(super) fn candidates_reversed(question: &PriceQuestion) -> Dressed<PriceQuestion> {
    let layout = Layout::reversed_within(&question.pools.cand_ends);
    reordered(question, &layout)
}

/// Offerings of the catalogue under other row numbers; the candidates stay where they are.
pub(super) fn rows_renumbered(question: &PriceQuestion) -> Dressed<PriceQuestion> {
    Dressed::in_place(question, |question| {
        let tables = Arc::make_mut(&mut question.tables);
        renumber_offerings(tables, &mut question.pools.cand);
    })
}

/// Names under other numbers; the empty one keeps its own, as the interface promises.
pub(super) fn names_renumbered(question: &PriceQuestion) -> Dressed<PriceQuestion> {
    Dressed::in_place(question, |question| {
        let renamed = rename_tables(Arc::make_mut(&mut question.tables));
        columns::rename_rank_pools(&mut question.pools, &renamed);
    })
}

/// Gives the names of a catalogue other numbers, and says which.
pub(super) fn rename_tables(tables: &mut Tables) -> impl Fn(Sym) -> Sym + use<> {
    let renamed = rename_symbols(&mut tables.symbols);
    columns::rename_rank_catalog(&mut tables.catalogue, &renamed);
    renamed
}

/// Puts all names but the empty one from last to first, and says which number each has then.
pub(super) fn rename_symbols(symbols: &mut Symbols) -> impl Fn(Sym) -> Sym + use<> {
    let names = symbols.len();
    *symbols = reversed(symbols);
    move |symbol| {
        if symbol == 0 {
            0
        } else {
            number(names) - symbol
        }
    }
}

/// One offering more, the cheapest of all, which no pool may buy.
pub(super) fn with_a_stranger(question: &PriceQuestion) -> Dressed<PriceQuestion> {
    Dressed::in_place(question, |question| {
        add_stranger(&mut Arc::make_mut(&mut question.tables).catalogue);
    })
}

/// Adds an offering like the last one, for nothing.
pub(super) fn add_stranger(catalogue: &mut CatalogueColumns) {
    if let Some(last) = catalogue.o_type.len().checked_sub(1) {
        let order: Vec<usize> = (0..=last).chain([last]).collect();
        columns::reorder_rank_offering(catalogue, &order);
        if let Some(price) = catalogue.o_price.last_mut() {
            *price = 0.0;
        }
    }
}

/// The pools in that order, each with its candidates in theirs.
fn reordered(question: &PriceQuestion, layout: &Layout) -> Dressed<PriceQuestion> {
    Dressed::moved(
        question,
        &layout.origin,
        |PriceQuestion { pools, .. }| {
            columns::reorder_rank_pool(pools, &layout.order);
            columns::reorder_rank_candidate(pools, &layout.origin);
            pools.cand_ends.clone_from(&layout.ends);
        },
    )
}

/// Puts the offerings of a catalogue from last to first, and gives candidates that name them the numbers that they have then.
pub(super) fn renumber_offerings(tables: &mut Tables, candidates: &mut [u32]) {
    let rows = tables.catalogue.o_type.len();
    let order: Vec<usize> = (0..rows).rev().collect();
    columns::reorder_rank_offering(&mut tables.catalogue, &order);
    for row in candidates {
        *row = number(rows - 1 - *row as usize);
    }
}

pub(super) fn pick<T: Clone>(column: &[T], order: &[usize]) -> Vec<T> {
    order.iter().map(|&row| column[row].clone()).collect()
}

pub(super) fn pick_signals(columns: &[ExtColumn], order: &[usize]) -> Vec<ExtColumn> {
    let picked = |column: &ExtColumn| ExtColumn {
        name: column.name,
        values: match &column.values {
            Column::F64s(values) => Column::F64s(pick(values, order)),
            Column::U32s(values) => Column::U32s(pick(values, order)),
            Column::U8s(values) => Column::U8s(pick(values, order)),
            Column::Syms(values) => Column::Syms(pick(values, order)),
        },
    };
    columns.iter().map(picked).collect()
}

pub(super) fn rename_signals(columns: &mut [ExtColumn], renamed: impl Fn(u32) -> u32) {
    for column in columns {
        column.name = renamed(column.name);
        if let Column::Syms(values) = &mut column.values {
            for symbol in values {
                *symbol = renamed(*symbol);
            }
        }
    }
}

/// All names but the empty one, from last to first.
fn reversed(symbols: &Symbols) -> Symbols {
    let mut reversed = Symbols {
        blob: Vec::new(),
        ends: vec![0],
    };
    for symbol in (1..symbols.len()).rev() {
        let text = symbols.get(number(symbol)).unwrap_or_default();
        reversed.blob.extend_from_slice(text.as_bytes());
        reversed.ends.push(number(reversed.blob.len()));
    }
    reversed
}

pub(super) fn number(rows: usize) -> u32 {
    u32::try_from(rows).expect("a question has fewer than 2^32 rows")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laws::layout::blocks;
    use crate::market::market;

    /// Pool, type, zone, way and price of every candidate.
    fn candidates(question: &PriceQuestion) -> Vec<String> {
        let (tables, pools) = (&question.tables, &question.pools);
        let blocks = blocks(&pools.cand_ends);
        let named = |pool: usize| tables.symbols.get(pools.name[pool]).unwrap().to_owned();
        let candidate = |pool: usize, place: usize| {
            let row = pools.cand[place];
            let (name, zone, price) = (tables.type_name(row), tables.zone(row), tables.price(row));
            let way = tables.catalogue.o_capacity[row as usize];
            format!("{} {name} {zone} {way} {price}", named(pool))
        };
        let pools = blocks.iter().enumerate();
        pools
            .flat_map(|(pool, places)| places.iter().map(move |&place| (pool, place)))
            .map(|(pool, place)| candidate(pool, place))
            .collect()
    }

    #[test]
    fn every_dress_is_the_same_question() {
        let question = market();
        check_dresses(
            &question,
            candidates,
            &[
                pools_reversed,
                candidates_reversed,
                rows_renumbered,
                names_renumbered,
                with_a_stranger,
            ],
        );
    }
}
