//! A module asked what a controller of a large cluster would ask: about every offering of a whole region, under the limits of a running
//! controller. What it uses of each limit is shown, since a small suite says nothing of it.

use std::time::Duration;

use anyhow::{Context as _, Result};
use plimsoll_author::standard;
use plimsoll_hooks::rank::{OrderQuestion, PriceQuestion};
use plimsoll_model::snapshot::Snapshot;
use plimsoll_policy::{AnyModule, CallLimits, Called, Fault, Unit, thread_cpu_time};
use plimsoll_schedule::{Reach, pack, prepare};
use plimsoll_snapshot::Limits;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use crate::failure::Environment;
use crate::output::{counted, percent, thousands};

/// The largest region whose types and prices are compiled in.
const REGION: &str = "us-east-1";
/// Its zones.
const ZONES: [char; 6] = ['a', 'b', 'c', 'd', 'e', 'f'];
/// Nodes that a plan buys there in the question about their order.
const CLAIMS: usize = 100;
/// Nodes and moves, and pools, of the questions of the other hooks: the largest that bars are about.
const MOVES: (u32, u32) = (5_000, 2_000);
const POOLS: u32 = 20;

/// Use of the limits of a call.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LimitUse {
    /// The question, with its size.
    question: String,
    /// Rows of the answer.
    rows: usize,
    /// Fuel used.
    fuel: u64,
    /// Fuel that the call may use.
    fuel_limit: u64,
    /// Linear memory used, bytes.
    memory: usize,
    /// Linear memory that the call may use, bytes.
    memory_limit: usize,
    /// CPU time used, microseconds, that of checking the answer included.
    cpu_us: u64,
    /// CPU time that the call may use, microseconds.
    cpu_limit_us: u64,
}

impl LimitUse {
    /// A line for people: `price 16,140 offerings of us-east-1: 20.0 % of 26,140,000 fuel, ...`.
    pub(crate) fn text(&self) -> String {
        let share = |part: u64, whole: u64| {
            let thousandths = u128::from(part) * 1_000 / u128::from(whole.max(1));
            percent(i64::try_from(thousandths).unwrap_or(i64::MAX))
        };
        format!(
            "{}: {} of {} fuel, {} of {} MiB, {} of {} ms CPU time",
            self.question,
            share(self.fuel, self.fuel_limit),
            thousands(self.fuel_limit),
            share(self.memory as u64, self.memory_limit as u64),
            self.memory_limit >> 20,
            share(self.cpu_us, self.cpu_limit_us),
            self.cpu_limit_us / 1_000,
        )
    }
}

/// Asks a module what its hook would be asked there. Fails on the first question that it gives no answer to, with the reason in words.
pub(crate) fn ask(module: &AnyModule) -> Result<Vec<LimitUse>> {
    Ok(match module {
        AnyModule::Rank(ranking) => {
            let (prices, orders) = questions()?;
            let mut uses = Vec::new();
            if ranking.manifest().unit == Unit::Dollars {
                let rows = prices.pools.cand.len();
                let name = format!("price {} of {REGION}", offerings(rows));
                uses.push(measured(module, (name, rows), || ranking.price(&prices))?);
            }
            if ranking.manifest().orders {
                let rows = orders.claims.cand.len();
                let claims = counted(orders.claims.pool.len(), "NodeClaim");
                let name = format!("order {} for {claims}", offerings(rows));
                uses.push(measured(module, (name, rows), || ranking.order(&orders))?);
            }
            uses
        }
        AnyModule::Consolidate(consolidating) => {
            let (nodes, moves) = MOVES;
            let question = standard::moves(nodes, moves);
            let name = format!(
                "score {} moves of {} nodes",
                thousands(moves.into()),
                thousands(nodes.into())
            );
            let asked = (name, question.moves.len());
            vec![measured(module, asked, || consolidating.score(&question))?]
        }
        AnyModule::Budget(budgeting) => {
            let question = standard::pools(POOLS);
            let name = format!("allow 3 reasons in {POOLS} pools");
            let asked = (name, question.pools.len());
            vec![measured(module, asked, || budgeting.allow(&question))?]
        }
    })
}

fn offerings(rows: usize) -> String {
    format!("{} offerings", thousands(rows as u64))
}

fn measured<T>(
    module: &AnyModule,
    (question, rows): (String, usize),
    call: impl FnOnce() -> Called<T>,
) -> Result<LimitUse> {
    let CallLimits {
        fuel, cpu, memory, ..
    } = module.limits_of_call(rows);
    let begun = thread_cpu_time();
    let called = call();
    let used = thread_cpu_time().saturating_sub(begun);
    if let Err(fault) = called.result {
        return Err(failed(&question, &fault));
    }
    Ok(LimitUse {
        question,
        rows,
        fuel: called.fuel,
        fuel_limit: fuel,
        memory: called.memory_peak,
        memory_limit: memory,
        cpu_us: micros(used),
        cpu_limit_us: micros(cpu),
    })
}

/// The failure of a question; one of the environment where another machine might have answered.
pub(super) fn failed(question: &str, fault: &Fault) -> anyhow::Error {
    let words = format!("{question}: {}: {fault}", fault.outcome);
    if fault.outcome.depends_on_machine() {
        Environment(words).into()
    } else {
        anyhow::Error::msg(words)
    }
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

/// The questions about a plan for pods that each need a node of their own, in a cluster whose one NodePool may buy all that the region sells.
fn questions() -> Result<(PriceQuestion, OrderQuestion)> {
    let snapshot = snapshot()?;
    let prepared = prepare(&snapshot);
    let prices = prepared.question().cloned();
    let orders = pack(&prepared, None, Reach::Far).question();
    prices
        .zip(orders)
        .context("nothing is sold in a whole region")
}

fn snapshot() -> Result<Snapshot> {
    let zones: Vec<String> = ZONES.iter().map(|zone| format!("{REGION}{zone}")).collect();
    let pool = json!({
        "apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": "general"},
        "spec": {"template": {"spec": {
            "requirements": [],
            "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"},
        }}},
    });
    let pod = |number: usize| {
        let cpu = format!("{}m", 250 * (1 + number % 32));
        json!({
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": format!("web-{number}"), "namespace": "default"},
            "spec": {"containers": [{
                "name": "web",
                "ports": [{"containerPort": 80, "hostPort": 80}],
                "resources": {"requests": {"cpu": cpu, "memory": "1Gi"}},
            }]},
        })
    };
    let items: Vec<_> = std::iter::once(pool).chain((0..CLAIMS).map(pod)).collect();
    let list = json!({
        "apiVersion": "v1", "kind": "List", "items": items,
        "plimsoll": {"catalogue": {"region": REGION, "zones": zones}},
    });
    let text = serde_json::to_vec(&list)?;
    let loaded = plimsoll_snapshot::read(&text[..], &Limits::default());
    Ok(loaded.context("a cluster in a whole region")?.snapshot)
}
