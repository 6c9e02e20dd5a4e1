//! Tables without rows, and rows as they are where a test says nothing else.
//!
//! Generated from the lists of `host/columns`; `make columns` makes it anew.

use super::Names;
use crate::bindings::budgeter::exports::plimsoll::policy::budgeter;
use crate::bindings::consolidator::exports::plimsoll::policy::consolidator;
use crate::bindings::ranker::exports::plimsoll::policy::ranker;

pub(super) fn no_rank_catalog() -> ranker::Catalog {
    ranker::Catalog {
        t_name: Vec::new(),
        t_family: Vec::new(),
        t_arch: Vec::new(),
        t_cpu_milli: Vec::new(),
        t_mem_mib: Vec::new(),
        t_pods: Vec::new(),
        t_gpus: Vec::new(),
        t_gpu_kind: Vec::new(),
        t_label_ends: Vec::new(),
        t_label_key: Vec::new(),
        t_label_value: Vec::new(),
        o_type: Vec::new(),
        o_zone: Vec::new(),
        o_capacity: Vec::new(),
        o_price: Vec::new(),
        o_price_age_s: Vec::new(),
        o_interruptions_per_day: Vec::new(),
        o_failures_1h: Vec::new(),
        o_reserved_left: Vec::new(),
        o_running: Vec::new(),
        t_ext: Vec::new(),
        o_ext: Vec::new(),
    }
}

pub(super) fn push_rank_type(table: &mut ranker::Catalog, names: &mut Names, name: &str) {
    table.t_name.push(names.symbol(name));
    table
        .t_family
        .push(names.symbol(name.split_once('.').map_or(name, |(family, _)| family)));
    table.t_arch.push(0);
    table.t_cpu_milli.push(2_000);
    table.t_mem_mib.push(8_192);
    table.t_pods.push(29);
    table.t_gpus.push(0);
    table.t_gpu_kind.push(names.symbol(""));
}

pub(super) fn push_rank_offering(
    table: &mut ranker::Catalog,
    names: &mut Names,
    instance_type: u32,
    price: f64,
) {
    table.o_type.push(instance_type);
    table.o_zone.push(names.symbol("a"));
    table.o_capacity.push(0);
    table.o_price.push(price);
    table.o_price_age_s.push(0);
    table.o_interruptions_per_day.push(0.0);
    table.o_failures_1h.push(0);
    table.o_reserved_left.push(0);
    table.o_running.push(0);
}

pub(super) fn no_rank_pools() -> ranker::Pools {
    ranker::Pools {
        name: Vec::new(),
        weight: Vec::new(),
        nodes: Vec::new(),
        cost: Vec::new(),
        cand_ends: Vec::new(),
        cand: Vec::new(),
        p_ext: Vec::new(),
        cand_ext: Vec::new(),
    }
}

pub(super) fn push_rank_pool(table: &mut ranker::Pools, name: u32) {
    table.name.push(name);
    table.weight.push(0);
    table.nodes.push(0);
    table.cost.push(0.0);
}

pub(super) fn no_rank_claims() -> ranker::Claims {
    ranker::Claims {
        pool: Vec::new(),
        cpu_milli: Vec::new(),
        mem_mib: Vec::new(),
        pods: Vec::new(),
        gpus: Vec::new(),
        cand_ends: Vec::new(),
        cand: Vec::new(),
        ext: Vec::new(),
    }
}

pub(super) fn push_rank_claim(table: &mut ranker::Claims, pool: u32) {
    table.pool.push(pool);
    table.cpu_milli.push(1_000);
    table.mem_mib.push(1_024);
    table.pods.push(1);
    table.gpus.push(0);
}

pub(super) fn no_score_nodes() -> consolidator::Nodes {
    consolidator::Nodes {
        name: Vec::new(),
        pool: Vec::new(),
        type_name: Vec::new(),
        zone: Vec::new(),
        capacity: Vec::new(),
        price: Vec::new(),
        age_s: Vec::new(),
        since_move_s: Vec::new(),
        cpu_used: Vec::new(),
        mem_used: Vec::new(),
        pods: Vec::new(),
        pods_daemon: Vec::new(),
        pods_no_evict: Vec::new(),
        pods_last_replica: Vec::new(),
        youngest_pod_s: Vec::new(),
        evictions_day: Vec::new(),
        eviction_cost: Vec::new(),
        ext: Vec::new(),
    }
}

pub(super) fn push_score_node(
    table: &mut consolidator::Nodes,
    names: &mut Names,
    name: &str,
    price: f64,
) {
    table.name.push(names.symbol(name));
    table.pool.push(names.symbol("general"));
    table.type_name.push(names.symbol("m5.large"));
    table.zone.push(names.symbol("a"));
    table.capacity.push(0);
    table.price.push(price);
    table.age_s.push(24 * 3_600);
    table.since_move_s.push(3_600);
    table.cpu_used.push(0.5);
    table.mem_used.push(0.5);
    table.pods.push(3);
    table.pods_daemon.push(1);
    table.pods_no_evict.push(0);
    table.pods_last_replica.push(0);
    table.youngest_pod_s.push(3_600);
    table.evictions_day.push(0);
    table.eviction_cost.push(2.0);
}

pub(super) fn no_score_moves() -> consolidator::Moves {
    consolidator::Moves {
        kind: Vec::new(),
        member_ends: Vec::new(),
        repl_ends: Vec::new(),
        pods_moved: Vec::new(),
        member: Vec::new(),
        repl_type: Vec::new(),
        repl_zone: Vec::new(),
        repl_capacity: Vec::new(),
        repl_price: Vec::new(),
        ext: Vec::new(),
    }
}

pub(super) fn push_score_replacement(
    table: &mut consolidator::Moves,
    names: &mut Names,
    price: f64,
) {
    table.repl_type.push(names.symbol("m5.large"));
    table.repl_zone.push(names.symbol("a"));
    table.repl_capacity.push(0);
    table.repl_price.push(price);
}

pub(super) fn no_allow_pools() -> budgeter::Pools {
    budgeter::Pools {
        name: Vec::new(),
        reason: Vec::new(),
        nodes: Vec::new(),
        not_ready: Vec::new(),
        disrupting: Vec::new(),
        ceiling: Vec::new(),
        pending_pods: Vec::new(),
        recent_evictions: Vec::new(),
        recent_failures: Vec::new(),
        ext: Vec::new(),
    }
}

pub(super) fn push_allow_pool(
    table: &mut budgeter::Pools,
    names: &mut Names,
    name: &str,
    reason: u8,
    nodes: u32,
) {
    table.name.push(names.symbol(name));
    table.reason.push(reason);
    table.nodes.push(nodes);
    table.not_ready.push(0);
    table.disrupting.push(0);
    table.ceiling.push(nodes.div_ceil(10));
    table.pending_pods.push(0);
    table.recent_evictions.push(0);
    table.recent_failures.push(0);
}
