//! Columns of a recorded question that fit each other, as those of a question that the core made always do.
//!
//! Rows refer to rows of other tables and to names; a file may say anything. What passes here can be put to a module and be shown
//! to people without another look. The first column that does not fit is named.

use plimsoll_hooks::hook::{Column, ExtColumn, Sym, Symbols};
use plimsoll_hooks::rank::Tables;
use plimsoll_hooks::score::ScoreQuestion;

use super::columns;
use super::question::Question;

/// A column that does not fit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Torn {
    /// It has more or fewer rows than its table.
    #[error("column {column} has {found} rows; expected {expected}")]
    Length {
        /// The column.
        column: &'static str,
        /// Its rows.
        found: usize,
        /// Rows of its table.
        expected: usize,
    },
    /// It refers to a row that is not there.
    #[error("column {column} refers to row {row}; expected one below {rows}")]
    Row {
        /// The column.
        column: &'static str,
        /// The row.
        row: u32,
        /// Rows that there are.
        rows: usize,
    },
    /// Ends of parts fall, or do not end with the list that they cut.
    #[error(
        "column {column} does not cut a list of {length} rows; expected ends that rise to {length}"
    )]
    Ends {
        /// The column.
        column: &'static str,
        /// Rows of the list.
        length: usize,
    },
}

pub(super) type Checked = Result<(), Torn>;

pub(super) fn check(question: &Question) -> Checked {
    match question {
        Question::Price(question) => {
            tables(&question.tables)?;
            columns::rank_pools(&question.pools, &question.tables.symbols)?;
            let offerings = question.tables.catalogue.o_type.len();
            below("pools.cand", &question.pools.cand, offerings)
        }
        Question::Order(question) => {
            tables(&question.tables)?;
            columns::rank_claims(&question.claims, &question.tables.symbols)?;
            let offerings = question.tables.catalogue.o_type.len();
            below("claims.cand", &question.claims.cand, offerings)
        }
        Question::Score(question) => score(question),
        Question::Allow(question) => columns::allow_pools(&question.pools, &question.symbols),
    }
}

fn tables(tables: &Tables) -> Checked {
    let Tables { symbols, catalogue } = tables;
    columns::rank_catalog(catalogue, symbols)?;
    below("o_type", &catalogue.o_type, catalogue.t_name.len())
}

fn score(question: &ScoreQuestion) -> Checked {
    let ScoreQuestion {
        symbols,
        nodes,
        moves,
        ..
    } = question;
    columns::score_nodes(nodes, symbols)?;
    columns::score_moves(moves, symbols)?;
    below("moves.member", &moves.member, nodes.name.len())
}

pub(super) fn lengths(expected: usize, columns: &[(&'static str, usize)]) -> Checked {
    match columns.iter().find(|(_, found)| *found != expected) {
        None => Ok(()),
        Some(&(column, found)) => Err(Torn::Length {
            column,
            found,
            expected,
        }),
    }
}

fn below(column: &'static str, values: &[u32], rows: usize) -> Checked {
    match values.iter().find(|row| **row as usize >= rows) {
        None => Ok(()),
        Some(&row) => Err(Torn::Row { column, row, rows }),
    }
}

pub(super) fn names(column: &'static str, values: &[Sym], symbols: &Symbols) -> Checked {
    below(column, values, symbols.len())
}

pub(super) fn ends(column: &'static str, ends: &[u32], length: usize) -> Checked {
    let rises = ends.is_sorted();
    let last = ends.last().map_or(0, |end| *end as usize);
    if rises && last == length {
        Ok(())
    } else {
        Err(Torn::Ends { column, length })
    }
}

pub(super) fn signals(
    column: &'static str,
    all: &[ExtColumn],
    rows: usize,
    symbols: &Symbols,
) -> Checked {
    for signal in all {
        names(column, &[signal.name], symbols)?;
        let found = match &signal.values {
            Column::F64s(values) => values.len(),
            Column::U32s(values) => values.len(),
            Column::U8s(values) => values.len(),
            Column::Syms(values) => {
                names(column, values, symbols)?;
                values.len()
            }
        };
        lengths(rows, &[(column, found)])?;
    }
    Ok(())
}
