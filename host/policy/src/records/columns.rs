//! Checks that each table of a question is whole in itself: its columns of one length, its names known, its parts cut where they end.
//!
//! Generated from the lists of `host/columns`; `make columns` makes it anew.

use plimsoll_hooks::hook::Symbols;
use plimsoll_hooks::{allow, rank, score};

use super::whole::{Checked, ends, lengths, names, signals};

pub(super) fn rank_catalog(table: &rank::CatalogueColumns, symbols: &Symbols) -> Checked {
    names("t_name", &table.t_name, symbols)?;
    names("t_family", &table.t_family, symbols)?;
    names("t_gpu_kind", &table.t_gpu_kind, symbols)?;
    names("t_label_key", &table.t_label_key, symbols)?;
    names("t_label_value", &table.t_label_value, symbols)?;
    names("o_zone", &table.o_zone, symbols)?;
    lengths(
        table.t_name.len(),
        &[
            ("t_family", table.t_family.len()),
            ("t_arch", table.t_arch.len()),
            ("t_cpu_milli", table.t_cpu_milli.len()),
            ("t_mem_mib", table.t_mem_mib.len()),
            ("t_pods", table.t_pods.len()),
            ("t_gpus", table.t_gpus.len()),
            ("t_gpu_kind", table.t_gpu_kind.len()),
            ("t_label_ends", table.t_label_ends.len()),
        ],
    )?;
    lengths(
        table.t_label_key.len(),
        &[("t_label_value", table.t_label_value.len())],
    )?;
    lengths(
        table.o_type.len(),
        &[
            ("o_zone", table.o_zone.len()),
            ("o_capacity", table.o_capacity.len()),
            ("o_price", table.o_price.len()),
            ("o_price_age_s", table.o_price_age_s.len()),
            (
                "o_interruptions_per_day",
                table.o_interruptions_per_day.len(),
            ),
            ("o_failures_1h", table.o_failures_1h.len()),
            ("o_reserved_left", table.o_reserved_left.len()),
            ("o_running", table.o_running.len()),
        ],
    )?;
    ends("t_label_ends", &table.t_label_ends, table.t_label_key.len())?;
    signals("t_ext", &table.t_ext, table.t_name.len(), symbols)?;
    signals("o_ext", &table.o_ext, table.o_type.len(), symbols)?;
    Ok(())
}

pub(super) fn rank_pools(table: &rank::Pools, symbols: &Symbols) -> Checked {
    names("pools.name", &table.name, symbols)?;
    lengths(
        table.name.len(),
        &[
            ("pools.weight", table.weight.len()),
            ("pools.nodes", table.nodes.len()),
            ("pools.cost", table.cost.len()),
            ("pools.cand_ends", table.cand_ends.len()),
        ],
    )?;
    ends("pools.cand_ends", &table.cand_ends, table.cand.len())?;
    signals("pools.p_ext", &table.p_ext, table.name.len(), symbols)?;
    signals("pools.cand_ext", &table.cand_ext, table.cand.len(), symbols)?;
    Ok(())
}

pub(super) fn rank_claims(table: &rank::Claims, symbols: &Symbols) -> Checked {
    names("claims.pool", &table.pool, symbols)?;
    lengths(
        table.pool.len(),
        &[
            ("claims.cpu_milli", table.cpu_milli.len()),
            ("claims.mem_mib", table.mem_mib.len()),
            ("claims.pods", table.pods.len()),
            ("claims.gpus", table.gpus.len()),
            ("claims.cand_ends", table.cand_ends.len()),
        ],
    )?;
    ends("claims.cand_ends", &table.cand_ends, table.cand.len())?;
    signals("claims.ext", &table.ext, table.pool.len(), symbols)?;
    Ok(())
}

pub(super) fn score_nodes(table: &score::Nodes, symbols: &Symbols) -> Checked {
    names("nodes.name", &table.name, symbols)?;
    names("nodes.pool", &table.pool, symbols)?;
    names("nodes.type_name", &table.type_name, symbols)?;
    names("nodes.zone", &table.zone, symbols)?;
    lengths(
        table.name.len(),
        &[
            ("nodes.pool", table.pool.len()),
            ("nodes.type_name", table.type_name.len()),
            ("nodes.zone", table.zone.len()),
            ("nodes.capacity", table.capacity.len()),
            ("nodes.price", table.price.len()),
            ("nodes.age_s", table.age_s.len()),
            ("nodes.since_move_s", table.since_move_s.len()),
            ("nodes.cpu_used", table.cpu_used.len()),
            ("nodes.mem_used", table.mem_used.len()),
            ("nodes.pods", table.pods.len()),
            ("nodes.pods_daemon", table.pods_daemon.len()),
            ("nodes.pods_no_evict", table.pods_no_evict.len()),
            ("nodes.pods_last_replica", table.pods_last_replica.len()),
            ("nodes.youngest_pod_s", table.youngest_pod_s.len()),
            ("nodes.evictions_day", table.evictions_day.len()),
            ("nodes.eviction_cost", table.eviction_cost.len()),
        ],
    )?;
    signals("nodes.ext", &table.ext, table.name.len(), symbols)?;
    Ok(())
}

pub(super) fn score_moves(table: &score::Moves, symbols: &Symbols) -> Checked {
    names("moves.repl_type", &table.repl_type, symbols)?;
    names("moves.repl_zone", &table.repl_zone, symbols)?;
    lengths(
        table.kind.len(),
        &[
            ("moves.member_ends", table.member_ends.len()),
            ("moves.repl_ends", table.repl_ends.len()),
            ("moves.pods_moved", table.pods_moved.len()),
        ],
    )?;
    lengths(
        table.repl_type.len(),
        &[
            ("moves.repl_zone", table.repl_zone.len()),
            ("moves.repl_capacity", table.repl_capacity.len()),
            ("moves.repl_price", table.repl_price.len()),
        ],
    )?;
    ends("moves.member_ends", &table.member_ends, table.member.len())?;
    ends("moves.repl_ends", &table.repl_ends, table.repl_type.len())?;
    signals("moves.ext", &table.ext, table.kind.len(), symbols)?;
    Ok(())
}

pub(super) fn allow_pools(table: &allow::BudgetRows, symbols: &Symbols) -> Checked {
    names("pools.name", &table.name, symbols)?;
    lengths(
        table.name.len(),
        &[
            ("pools.reason", table.reason.len()),
            ("pools.nodes", table.nodes.len()),
            ("pools.not_ready", table.not_ready.len()),
            ("pools.disrupting", table.disrupting.len()),
            ("pools.ceiling", table.ceiling.len()),
            ("pools.pending_pods", table.pending_pods.len()),
            ("pools.recent_evictions", table.recent_evictions.len()),
            ("pools.recent_failures", table.recent_failures.len()),
        ],
    )?;
    signals("pools.ext", &table.ext, table.name.len(), symbols)?;
    Ok(())
}
