//! Tables of questions in another dress: the rows of one list in another order, the names of a table under other numbers.
//!
//! Generated from the lists of `host/columns`; `make columns` makes it anew.

use plimsoll_hooks::hook::Sym;
use plimsoll_hooks::{allow, rank, score};

use super::shuffle::{pick, pick_signals, rename_signals};

pub(super) fn reorder_rank_offering(table: &mut rank::CatalogueColumns, order: &[usize]) {
    table.o_type = pick(&table.o_type, order);
    table.o_zone = pick(&table.o_zone, order);
    table.o_capacity = pick(&table.o_capacity, order);
    table.o_price = pick(&table.o_price, order);
    table.o_price_age_s = pick(&table.o_price_age_s, order);
    table.o_interruptions_per_day = pick(&table.o_interruptions_per_day, order);
    table.o_failures_1h = pick(&table.o_failures_1h, order);
    table.o_reserved_left = pick(&table.o_reserved_left, order);
    table.o_running = pick(&table.o_running, order);
    table.o_ext = pick_signals(&table.o_ext, order);
}

pub(super) fn rename_rank_catalog(
    table: &mut rank::CatalogueColumns,
    renamed: &impl Fn(Sym) -> Sym,
) {
    for symbol in &mut table.t_name {
        *symbol = renamed(*symbol);
    }
    for symbol in &mut table.t_family {
        *symbol = renamed(*symbol);
    }
    for symbol in &mut table.t_gpu_kind {
        *symbol = renamed(*symbol);
    }
    for symbol in &mut table.t_label_key {
        *symbol = renamed(*symbol);
    }
    for symbol in &mut table.t_label_value {
        *symbol = renamed(*symbol);
    }
    for symbol in &mut table.o_zone {
        *symbol = renamed(*symbol);
    }
    rename_signals(&mut table.t_ext, renamed);
    rename_signals(&mut table.o_ext, renamed);
}

pub(super) fn reorder_rank_pool(table: &mut rank::Pools, order: &[usize]) {
    table.name = pick(&table.name, order);
    table.weight = pick(&table.weight, order);
    table.nodes = pick(&table.nodes, order);
    table.cost = pick(&table.cost, order);
    table.p_ext = pick_signals(&table.p_ext, order);
}

pub(super) fn reorder_rank_candidate(table: &mut rank::Pools, order: &[usize]) {
    table.cand = pick(&table.cand, order);
    table.cand_ext = pick_signals(&table.cand_ext, order);
}

pub(super) fn rename_rank_pools(table: &mut rank::Pools, renamed: &impl Fn(Sym) -> Sym) {
    for symbol in &mut table.name {
        *symbol = renamed(*symbol);
    }
    rename_signals(&mut table.p_ext, renamed);
    rename_signals(&mut table.cand_ext, renamed);
}

pub(super) fn reorder_rank_claim(table: &mut rank::Claims, order: &[usize]) {
    table.pool = pick(&table.pool, order);
    table.cpu_milli = pick(&table.cpu_milli, order);
    table.mem_mib = pick(&table.mem_mib, order);
    table.pods = pick(&table.pods, order);
    table.gpus = pick(&table.gpus, order);
    table.ext = pick_signals(&table.ext, order);
}

pub(super) fn reorder_rank_holder(table: &mut rank::Claims, order: &[usize]) {
    table.cand = pick(&table.cand, order);
}

pub(super) fn rename_rank_claims(table: &mut rank::Claims, renamed: &impl Fn(Sym) -> Sym) {
    for symbol in &mut table.pool {
        *symbol = renamed(*symbol);
    }
    rename_signals(&mut table.ext, renamed);
}

pub(super) fn reorder_score_node(table: &mut score::Nodes, order: &[usize]) {
    table.name = pick(&table.name, order);
    table.pool = pick(&table.pool, order);
    table.type_name = pick(&table.type_name, order);
    table.zone = pick(&table.zone, order);
    table.capacity = pick(&table.capacity, order);
    table.price = pick(&table.price, order);
    table.age_s = pick(&table.age_s, order);
    table.since_move_s = pick(&table.since_move_s, order);
    table.cpu_used = pick(&table.cpu_used, order);
    table.mem_used = pick(&table.mem_used, order);
    table.pods = pick(&table.pods, order);
    table.pods_daemon = pick(&table.pods_daemon, order);
    table.pods_no_evict = pick(&table.pods_no_evict, order);
    table.pods_last_replica = pick(&table.pods_last_replica, order);
    table.youngest_pod_s = pick(&table.youngest_pod_s, order);
    table.evictions_day = pick(&table.evictions_day, order);
    table.eviction_cost = pick(&table.eviction_cost, order);
    table.ext = pick_signals(&table.ext, order);
}

pub(super) fn rename_score_nodes(table: &mut score::Nodes, renamed: &impl Fn(Sym) -> Sym) {
    for symbol in &mut table.name {
        *symbol = renamed(*symbol);
    }
    for symbol in &mut table.pool {
        *symbol = renamed(*symbol);
    }
    for symbol in &mut table.type_name {
        *symbol = renamed(*symbol);
    }
    for symbol in &mut table.zone {
        *symbol = renamed(*symbol);
    }
    rename_signals(&mut table.ext, renamed);
}

pub(super) fn reorder_score_move(table: &mut score::Moves, order: &[usize]) {
    table.kind = pick(&table.kind, order);
    table.pods_moved = pick(&table.pods_moved, order);
    table.ext = pick_signals(&table.ext, order);
}

pub(super) fn reorder_score_member(table: &mut score::Moves, order: &[usize]) {
    table.member = pick(&table.member, order);
}

pub(super) fn reorder_score_replacement(table: &mut score::Moves, order: &[usize]) {
    table.repl_type = pick(&table.repl_type, order);
    table.repl_zone = pick(&table.repl_zone, order);
    table.repl_capacity = pick(&table.repl_capacity, order);
    table.repl_price = pick(&table.repl_price, order);
}

pub(super) fn rename_score_moves(table: &mut score::Moves, renamed: &impl Fn(Sym) -> Sym) {
    for symbol in &mut table.repl_type {
        *symbol = renamed(*symbol);
    }
    for symbol in &mut table.repl_zone {
        *symbol = renamed(*symbol);
    }
    rename_signals(&mut table.ext, renamed);
}

pub(super) fn reorder_allow_pool(table: &mut allow::BudgetRows, order: &[usize]) {
    table.name = pick(&table.name, order);
    table.reason = pick(&table.reason, order);
    table.nodes = pick(&table.nodes, order);
    table.not_ready = pick(&table.not_ready, order);
    table.disrupting = pick(&table.disrupting, order);
    table.ceiling = pick(&table.ceiling, order);
    table.pending_pods = pick(&table.pending_pods, order);
    table.recent_evictions = pick(&table.recent_evictions, order);
    table.recent_failures = pick(&table.recent_failures, order);
    table.ext = pick_signals(&table.ext, order);
}

pub(super) fn rename_allow_pools(table: &mut allow::BudgetRows, renamed: &impl Fn(Sym) -> Sym) {
    for symbol in &mut table.name {
        *symbol = renamed(*symbol);
    }
    rename_signals(&mut table.ext, renamed);
}
