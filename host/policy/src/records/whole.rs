//! Whether the columns of a question fit each other, as those of a question that the core made always do.
//!
//! Rows refer to rows of other tables and to names; a file may say anything. What passes here can be put to a module and be shown
//! to people without another look. The first column that does not fit is named.

use plimsoll_core::allow::AllowQuestion;
use plimsoll_core::hook::{Column, ExtColumn, Sym, Symbols};
use plimsoll_core::rank::{CatalogueColumns, Claims, Pools, Tables};
use plimsoll_core::score::ScoreQuestion;

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

type Checked = Result<(), Torn>;

pub(super) fn check(question: &Question) -> Checked {
    match question {
        Question::Price(question) => {
            tables(&question.tables)?;
            let offerings = question.tables.catalogue.o_type.len();
            pools(&question.tables.symbols, offerings, &question.pools)
        }
        Question::Order(question) => {
            tables(&question.tables)?;
            let offerings = question.tables.catalogue.o_type.len();
            claims(&question.tables.symbols, offerings, &question.claims)
        }
        Question::Score(question) => score(question),
        Question::Allow(question) => allow(question),
    }
}

fn tables(tables: &Tables) -> Checked {
    let Tables { symbols, catalogue } = tables;
    types(symbols, catalogue)?;
    let rows = catalogue.o_type.len();
    below("o_type", &catalogue.o_type, catalogue.t_name.len())?;
    names("o_zone", &catalogue.o_zone, symbols)?;
    lengths(
        rows,
        &[
            ("o_zone", catalogue.o_zone.len()),
            ("o_capacity", catalogue.o_capacity.len()),
            ("o_price", catalogue.o_price.len()),
            ("o_price_age_s", catalogue.o_price_age_s.len()),
            (
                "o_interruptions_per_day",
                catalogue.o_interruptions_per_day.len(),
            ),
            ("o_failures_1h", catalogue.o_failures_1h.len()),
            ("o_reserved_left", catalogue.o_reserved_left.len()),
            ("o_running", catalogue.o_running.len()),
        ],
    )?;
    signals("o_ext", &catalogue.o_ext, rows, symbols)
}

fn types(symbols: &Symbols, catalogue: &CatalogueColumns) -> Checked {
    let rows = catalogue.t_name.len();
    for (column, values) in [
        ("t_name", &catalogue.t_name),
        ("t_family", &catalogue.t_family),
        ("t_gpu_kind", &catalogue.t_gpu_kind),
        ("t_label_key", &catalogue.t_label_key),
        ("t_label_value", &catalogue.t_label_value),
    ] {
        names(column, values, symbols)?;
    }
    lengths(
        rows,
        &[
            ("t_family", catalogue.t_family.len()),
            ("t_arch", catalogue.t_arch.len()),
            ("t_cpu_milli", catalogue.t_cpu_milli.len()),
            ("t_mem_mib", catalogue.t_mem_mib.len()),
            ("t_pods", catalogue.t_pods.len()),
            ("t_gpus", catalogue.t_gpus.len()),
            ("t_gpu_kind", catalogue.t_gpu_kind.len()),
            ("t_label_ends", catalogue.t_label_ends.len()),
        ],
    )?;
    let labels = catalogue.t_label_key.len();
    lengths(labels, &[("t_label_value", catalogue.t_label_value.len())])?;
    ends("t_label_ends", &catalogue.t_label_ends, labels)?;
    signals("t_ext", &catalogue.t_ext, rows, symbols)
}

fn pools(symbols: &Symbols, offerings: usize, pools: &Pools) -> Checked {
    let (rows, candidates) = (pools.name.len(), pools.cand.len());
    names("pools.name", &pools.name, symbols)?;
    lengths(
        rows,
        &[
            ("pools.weight", pools.weight.len()),
            ("pools.nodes", pools.nodes.len()),
            ("pools.cost", pools.cost.len()),
            ("pools.cand_ends", pools.cand_ends.len()),
        ],
    )?;
    ends("pools.cand_ends", &pools.cand_ends, candidates)?;
    below("pools.cand", &pools.cand, offerings)?;
    signals("pools.p_ext", &pools.p_ext, rows, symbols)?;
    signals("pools.cand_ext", &pools.cand_ext, candidates, symbols)
}

fn claims(symbols: &Symbols, offerings: usize, claims: &Claims) -> Checked {
    let rows = claims.pool.len();
    names("claims.pool", &claims.pool, symbols)?;
    lengths(
        rows,
        &[
            ("claims.cpu_milli", claims.cpu_milli.len()),
            ("claims.mem_mib", claims.mem_mib.len()),
            ("claims.pods", claims.pods.len()),
            ("claims.gpus", claims.gpus.len()),
            ("claims.cand_ends", claims.cand_ends.len()),
        ],
    )?;
    ends("claims.cand_ends", &claims.cand_ends, claims.cand.len())?;
    below("claims.cand", &claims.cand, offerings)?;
    signals("claims.ext", &claims.ext, rows, symbols)
}

fn score(question: &ScoreQuestion) -> Checked {
    let ScoreQuestion {
        symbols,
        nodes,
        moves,
        ..
    } = question;
    let rows = nodes.name.len();
    for (column, values) in [
        ("nodes.name", &nodes.name),
        ("nodes.pool", &nodes.pool),
        ("nodes.type_name", &nodes.type_name),
        ("nodes.zone", &nodes.zone),
        ("moves.repl_type", &moves.repl_type),
        ("moves.repl_zone", &moves.repl_zone),
    ] {
        names(column, values, symbols)?;
    }
    lengths(
        rows,
        &[
            ("nodes.pool", nodes.pool.len()),
            ("nodes.type_name", nodes.type_name.len()),
            ("nodes.zone", nodes.zone.len()),
            ("nodes.capacity", nodes.capacity.len()),
            ("nodes.price", nodes.price.len()),
            ("nodes.age_s", nodes.age_s.len()),
            ("nodes.since_move_s", nodes.since_move_s.len()),
            ("nodes.cpu_used", nodes.cpu_used.len()),
            ("nodes.mem_used", nodes.mem_used.len()),
            ("nodes.pods", nodes.pods.len()),
            ("nodes.pods_daemon", nodes.pods_daemon.len()),
            ("nodes.pods_no_evict", nodes.pods_no_evict.len()),
            ("nodes.pods_last_replica", nodes.pods_last_replica.len()),
            ("nodes.youngest_pod_s", nodes.youngest_pod_s.len()),
            ("nodes.evictions_day", nodes.evictions_day.len()),
            ("nodes.eviction_cost", nodes.eviction_cost.len()),
        ],
    )?;
    signals("nodes.ext", &nodes.ext, rows, symbols)?;
    let bought = moves.repl_type.len();
    lengths(
        bought,
        &[
            ("moves.repl_zone", moves.repl_zone.len()),
            ("moves.repl_capacity", moves.repl_capacity.len()),
            ("moves.repl_price", moves.repl_price.len()),
        ],
    )?;
    lengths(
        moves.len(),
        &[
            ("moves.member_ends", moves.member_ends.len()),
            ("moves.repl_ends", moves.repl_ends.len()),
            ("moves.pods_moved", moves.pods_moved.len()),
        ],
    )?;
    ends("moves.member_ends", &moves.member_ends, moves.member.len())?;
    ends("moves.repl_ends", &moves.repl_ends, bought)?;
    below("moves.member", &moves.member, rows)?;
    signals("moves.ext", &moves.ext, moves.len(), symbols)
}

fn allow(question: &AllowQuestion) -> Checked {
    let AllowQuestion { symbols, pools, .. } = question;
    names("pools.name", &pools.name, symbols)?;
    lengths(
        pools.len(),
        &[
            ("pools.reason", pools.reason.len()),
            ("pools.nodes", pools.nodes.len()),
            ("pools.not_ready", pools.not_ready.len()),
            ("pools.disrupting", pools.disrupting.len()),
            ("pools.ceiling", pools.ceiling.len()),
            ("pools.pending_pods", pools.pending_pods.len()),
            ("pools.recent_evictions", pools.recent_evictions.len()),
            ("pools.recent_failures", pools.recent_failures.len()),
        ],
    )?;
    signals("pools.ext", &pools.ext, pools.len(), symbols)
}

fn lengths(expected: usize, columns: &[(&'static str, usize)]) -> Checked {
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

fn names(column: &'static str, values: &[Sym], symbols: &Symbols) -> Checked {
    below(column, values, symbols.len())
}

fn ends(column: &'static str, ends: &[u32], length: usize) -> Checked {
    let rises = ends.is_sorted();
    let last = ends.last().map_or(0, |end| *end as usize);
    if rises && last == length {
        Ok(())
    } else {
        Err(Torn::Ends { column, length })
    }
}

fn signals(column: &'static str, all: &[ExtColumn], rows: usize, symbols: &Symbols) -> Checked {
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
