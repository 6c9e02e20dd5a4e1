//! Rows of questions as cases of suites write them: a field per column, and what stands for one that is absent.
//!
//! Generated from the lists of `host/columns`; `make columns` makes it anew.

use plimsoll_hooks::hook::Sym;
use plimsoll_hooks::{allow, rank, score};
use plimsoll_model::DisruptionReason;

use super::field::{Field, Fields, Problem};
use super::market::{architecture, capacity};

pub(super) const RANK_TYPE: [&str; 7] = [
    "family",
    "arch",
    "cpu-milli",
    "mem-mib",
    "pods",
    "gpus",
    "gpu-kind",
];

pub(super) fn rank_type<'a>(
    fields: &Fields<'a>,
    name: &'a str,
    labels: &'a [(&'a str, &'a str)],
) -> Result<rank::InstanceTypeRow<'a>, Problem> {
    let family = fields.or(
        "family",
        name.split_once('.').map_or(name, |(family, _)| family),
        Field::text,
    )?;
    let architecture = architecture(fields)?;
    let cpu_milli = fields.or("cpu-milli", 2_000, Field::count)?;
    let memory_mib = fields.or("mem-mib", 8_192, Field::count)?;
    let pods = fields.or("pods", 29, Field::count)?;
    let gpus = fields.or("gpus", 0, Field::count)?;
    let gpu_kind = fields.or("gpu-kind", "", Field::text)?;
    Ok(rank::InstanceTypeRow {
        name,
        family,
        architecture,
        cpu_milli,
        memory_mib,
        pods,
        gpus,
        gpu_kind,
        labels,
    })
}

pub(super) const RANK_OFFERING: [&str; 8] = [
    "zone",
    "capacity",
    "price",
    "price-age-s",
    "interruptions-per-day",
    "failures-1h",
    "reserved-left",
    "running",
];

pub(super) fn rank_offering<'a>(
    fields: &Fields<'a>,
    instance_type: u32,
) -> Result<rank::OfferingRow<'a>, Problem> {
    let zone = fields.or("zone", "a", Field::text)?;
    let capacity = capacity(fields)?;
    let price = fields.need("price", "dollars per hour")?.amount()?;
    let price_age_s = fields.or("price-age-s", 0, Field::count)?;
    let interruptions_per_day = fields.or("interruptions-per-day", 0.0, Field::rate)?;
    let failures_1h = fields.or("failures-1h", 0, Field::count)?;
    let reserved_left = fields.or("reserved-left", 0, Field::count)?;
    let running = fields.or("running", 0, Field::count)?;
    Ok(rank::OfferingRow {
        instance_type,
        zone,
        capacity,
        price,
        price_age_s,
        interruptions_per_day,
        failures_1h,
        reserved_left,
        running,
    })
}

pub(super) const RANK_POOL: [&str; 3] = ["weight", "nodes", "cost"];

pub(super) fn rank_pool(fields: &Fields<'_>, name: Sym) -> Result<rank::PoolRow, Problem> {
    let weight = fields.or("weight", 0, Field::count)?;
    let nodes = fields.or("nodes", 0, Field::count)?;
    let cost = fields.or("cost", 0.0, Field::amount)?;
    Ok(rank::PoolRow {
        name,
        weight,
        nodes,
        cost,
    })
}

pub(super) const RANK_CLAIM: [&str; 4] = ["cpu-milli", "mem-mib", "pods", "gpus"];

pub(super) fn rank_claim(fields: &Fields<'_>, pool: Sym) -> Result<rank::ClaimRow, Problem> {
    let cpu_milli = fields.or("cpu-milli", 1_000, Field::count)?;
    let mem_mib = fields.or("mem-mib", 1_024, Field::count)?;
    let pods = fields.or("pods", 1, Field::count)?;
    let gpus = fields.or("gpus", 0, Field::count)?;
    Ok(rank::ClaimRow {
        pool,
        cpu_milli,
        mem_mib,
        pods,
        gpus,
    })
}

pub(super) const SCORE_NODE: [&str; 16] = [
    "pool",
    "type",
    "zone",
    "capacity",
    "price",
    "age-s",
    "since-move-s",
    "cpu-used",
    "mem-used",
    "pods",
    "pods-daemon",
    "pods-no-evict",
    "pods-last-replica",
    "youngest-pod-s",
    "evictions-day",
    "eviction-cost",
];

pub(super) fn score_node<'a>(
    fields: &Fields<'a>,
    name: &'a str,
) -> Result<score::NodeRow<'a>, Problem> {
    let pool = fields.or("pool", "general", Field::text)?;
    let type_name = fields.or("type", "m5.large", Field::text)?;
    let zone = fields.or("zone", "a", Field::text)?;
    let capacity = capacity(fields)?;
    let price = fields.need("price", "dollars per hour")?.amount()?;
    let age_s = fields.or("age-s", 24 * 3_600, Field::count)?;
    let since_move_s = fields.or("since-move-s", 3_600, Field::count)?;
    let cpu_used = fields.or("cpu-used", 0.5, Field::rate)?;
    let mem_used = fields.or("mem-used", 0.5, Field::rate)?;
    let pods = fields.or("pods", 3, Field::count)?;
    let pods_daemon = fields.or("pods-daemon", 1, Field::count)?;
    let pods_no_evict = fields.or("pods-no-evict", 0, Field::count)?;
    let pods_last_replica = fields.or("pods-last-replica", 0, Field::count)?;
    let youngest_pod_s = fields.or("youngest-pod-s", 3_600, Field::count)?;
    let evictions_day = fields.or("evictions-day", 0, Field::count)?;
    let eviction_cost = fields.or("eviction-cost", 2.0, Field::amount)?;
    Ok(score::NodeRow {
        name,
        pool,
        type_name,
        zone,
        capacity,
        price,
        age_s,
        since_move_s,
        cpu_used,
        mem_used,
        pods,
        pods_daemon,
        pods_no_evict,
        pods_last_replica,
        youngest_pod_s,
        evictions_day,
        eviction_cost,
    })
}

pub(super) const SCORE_REPLACEMENT: [&str; 4] = ["type", "zone", "capacity", "price"];

pub(super) fn score_replacement<'a>(
    fields: &Fields<'a>,
) -> Result<score::Replacement<'a>, Problem> {
    let type_name = fields.or("type", "m5.large", Field::text)?;
    let zone = fields.or("zone", "a", Field::text)?;
    let capacity = capacity(fields)?;
    let price = fields.need("price", "dollars per hour")?.amount()?;
    Ok(score::Replacement {
        type_name,
        zone,
        capacity,
        price,
    })
}

pub(super) const ALLOW_POOL: [&str; 7] = [
    "nodes",
    "not-ready",
    "disrupting",
    "ceiling",
    "pending-pods",
    "recent-evictions",
    "recent-failures",
];

pub(super) fn allow_pool<'a>(
    fields: &Fields<'a>,
    name: &'a str,
    reason: DisruptionReason,
) -> Result<allow::BudgetRow<'a>, Problem> {
    let nodes = fields.need("nodes", "how many there are")?.count()?;
    let not_ready = fields.or("not-ready", 0, Field::count)?;
    let disrupting = fields.or("disrupting", 0, Field::count)?;
    let ceiling = fields.or("ceiling", nodes.div_ceil(10), Field::count)?;
    let pending_pods = fields.or("pending-pods", 0, Field::count)?;
    let recent_evictions = fields.or("recent-evictions", 0, Field::count)?;
    let recent_failures = fields.or("recent-failures", 0, Field::count)?;
    Ok(allow::BudgetRow {
        name,
        reason,
        nodes,
        not_ready,
        disrupting,
        ceiling,
        pending_pods,
        recent_evictions,
        recent_failures,
    })
}
