//! The core's tables in the types of the interface, lent and not copied.
//!
//! Generated from the lists of `host/columns`; `make columns` makes it anew.

use plimsoll_hooks::{allow, rank, score};

use super::bindings::budget::exports::plimsoll::policy::budgeter;
use super::bindings::consolidation::exports::plimsoll::policy::consolidator;
use super::bindings::exports::plimsoll::policy::ranker;
use super::bindings::plimsoll::policy::types::ExtColumn;

pub(super) fn rank_catalog<'a>(
    table: &'a rank::CatalogueColumns,
    t_ext: &'a [ExtColumn<'a>],
    o_ext: &'a [ExtColumn<'a>],
) -> ranker::Catalog<'a> {
    ranker::Catalog {
        t_name: &table.t_name,
        t_family: &table.t_family,
        t_arch: &table.t_arch,
        t_cpu_milli: &table.t_cpu_milli,
        t_mem_mib: &table.t_mem_mib,
        t_pods: &table.t_pods,
        t_gpus: &table.t_gpus,
        t_gpu_kind: &table.t_gpu_kind,
        t_label_ends: &table.t_label_ends,
        t_label_key: &table.t_label_key,
        t_label_value: &table.t_label_value,
        o_type: &table.o_type,
        o_zone: &table.o_zone,
        o_capacity: &table.o_capacity,
        o_price: &table.o_price,
        o_price_age_s: &table.o_price_age_s,
        o_interruptions_per_day: &table.o_interruptions_per_day,
        o_failures_1h: &table.o_failures_1h,
        o_reserved_left: &table.o_reserved_left,
        o_running: &table.o_running,
        t_ext,
        o_ext,
    }
}

pub(super) fn rank_pools<'a>(
    table: &'a rank::Pools,
    p_ext: &'a [ExtColumn<'a>],
    cand_ext: &'a [ExtColumn<'a>],
) -> ranker::Pools<'a> {
    ranker::Pools {
        name: &table.name,
        weight: &table.weight,
        nodes: &table.nodes,
        cost: &table.cost,
        cand_ends: &table.cand_ends,
        cand: &table.cand,
        p_ext,
        cand_ext,
    }
}

pub(super) fn rank_claims<'a>(
    table: &'a rank::Claims,
    ext: &'a [ExtColumn<'a>],
) -> ranker::Claims<'a> {
    ranker::Claims {
        pool: &table.pool,
        cpu_milli: &table.cpu_milli,
        mem_mib: &table.mem_mib,
        pods: &table.pods,
        gpus: &table.gpus,
        cand_ends: &table.cand_ends,
        cand: &table.cand,
        ext,
    }
}

pub(super) fn score_nodes<'a>(
    table: &'a score::Nodes,
    ext: &'a [ExtColumn<'a>],
) -> consolidator::Nodes<'a> {
    consolidator::Nodes {
        name: &table.name,
        pool: &table.pool,
        type_name: &table.type_name,
        zone: &table.zone,
        capacity: &table.capacity,
        price: &table.price,
        age_s: &table.age_s,
        since_move_s: &table.since_move_s,
        cpu_used: &table.cpu_used,
        mem_used: &table.mem_used,
        pods: &table.pods,
        pods_daemon: &table.pods_daemon,
        pods_no_evict: &table.pods_no_evict,
        pods_last_replica: &table.pods_last_replica,
        youngest_pod_s: &table.youngest_pod_s,
        evictions_day: &table.evictions_day,
        eviction_cost: &table.eviction_cost,
        ext,
    }
}

pub(super) fn score_moves<'a>(
    table: &'a score::Moves,
    ext: &'a [ExtColumn<'a>],
) -> consolidator::Moves<'a> {
    consolidator::Moves {
        kind: &table.kind,
        member_ends: &table.member_ends,
        repl_ends: &table.repl_ends,
        pods_moved: &table.pods_moved,
        member: &table.member,
        repl_type: &table.repl_type,
        repl_zone: &table.repl_zone,
        repl_capacity: &table.repl_capacity,
        repl_price: &table.repl_price,
        ext,
    }
}

pub(super) fn allow_pools<'a>(
    table: &'a allow::BudgetRows,
    ext: &'a [ExtColumn<'a>],
) -> budgeter::Pools<'a> {
    budgeter::Pools {
        name: &table.name,
        reason: &table.reason,
        nodes: &table.nodes,
        not_ready: &table.not_ready,
        disrupting: &table.disrupting,
        ceiling: &table.ceiling,
        pending_pods: &table.pending_pods,
        recent_evictions: &table.recent_evictions,
        recent_failures: &table.recent_failures,
        ext,
    }
}
