//! Input of a consolidation policy's case: nodes, and moves that take some of them away.
//!
//! Fields are the columns of the interface by name; what is absent is as in the SDK's `testing::Fleet`: a day old, quiet for an hour,
//! half used, with two ordinary pods and a daemon.

use plimsoll_core::hook::{Capacity, Context};
use plimsoll_core::score::{
    MoveKind, MoveRow, NodeRow, Replacement, ScoreQuestion, ScoreQuestionBuilder,
};

use super::answer::Names;
use super::field::{Field, Fields, Problem};
use super::market::capacity;
use super::place;
use super::signal::Signals;

const NODE: [&str; 17] = [
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
    "signals",
];
const KINDS: [(&str, MoveKind); 3] = [
    ("empty", MoveKind::Empty),
    ("delete", MoveKind::Delete),
    ("replace", MoveKind::Replace),
];
const HOUR: u32 = 3_600;

/// A consolidation policy's question of a case.
#[derive(Debug, Clone)]
pub(super) struct Fleet {
    pub(super) score: ScoreQuestion,
    /// Names of the moves.
    pub(super) moves: Names,
}

/// A move as it is read, before it has its row.
struct Proposed<'v> {
    name: &'v str,
    field: Field<'v>,
    kind: MoveKind,
    members: Vec<u32>,
    bought: Vec<Replacement<'v>>,
    pods_moved: Option<u32>,
}

impl Fleet {
    /// Fields that an input has besides the context.
    pub(super) const FIELDS: [&'static str; 2] = ["nodes", "moves"];

    pub(super) fn read(fields: &Fields<'_>, context: Context) -> Result<Self, Problem> {
        let mut builder = ScoreQuestionBuilder::new(context);
        let mut signals = Signals::default();
        let (mut nodes, mut evicted) = (Vec::new(), Vec::new());
        let field = fields.need("nodes", "nodes by name, each with its price")?;
        for (name, field) in field.named()? {
            let (row, of_row) = node(name, &field)?;
            let added = builder.node(&row);
            added.map_err(|error| field.problem(format!("cannot be: {error}")))?;
            signals.add(&field, of_row.as_ref())?;
            nodes.push(name);
            evicted.push(row.pods.saturating_sub(row.pods_daemon));
        }
        let field = fields.need("moves", "moves by name, each with the nodes that go")?;
        let mut moves = Vec::new();
        for (name, field) in field.named()? {
            moves.push(proposed(name, field, &nodes)?);
        }
        moves.sort_by(|left, right| (&left.members, left.name).cmp(&(&right.members, right.name)));
        let mut names = Names::default();
        for proposed in &moves {
            let ours = proposed.members.iter().map(|&row| evicted[row as usize]);
            let pods = if proposed.kind == MoveKind::Empty {
                0
            } else {
                ours.sum()
            };
            let added = builder.propose(&MoveRow {
                kind: proposed.kind,
                members: &proposed.members,
                replacements: &proposed.bought,
                pods_moved: proposed.pods_moved.unwrap_or(pods),
            });
            added.map_err(|error| proposed.field.problem(format!("cannot be: {error}")))?;
            names.0.push((String::new(), proposed.name.to_owned()));
        }
        let mut score = builder.finish();
        score.nodes.ext = signals.columns(&mut score.symbols);
        Ok(Self {
            score,
            moves: names,
        })
    }
}

/// A node's row, and its signals.
fn node<'v>(name: &'v str, field: &Field<'v>) -> Result<(NodeRow<'v>, Option<Field<'v>>), Problem> {
    let fields = field.object(&NODE)?;
    let count = |name, absent| fields.or(name, absent, Field::count);
    let row = NodeRow {
        name,
        pool: fields.or("pool", "general", Field::text)?,
        type_name: fields.or("type", "m5.large", Field::text)?,
        zone: fields.or("zone", "a", Field::text)?,
        capacity: capacity(&fields)?,
        price: fields.need("price", "dollars per hour")?.amount()?,
        age_s: count("age-s", 24 * HOUR)?,
        since_move_s: count("since-move-s", HOUR)?,
        cpu_used: fields.or("cpu-used", 0.5, Field::rate)?,
        mem_used: fields.or("mem-used", 0.5, Field::rate)?,
        pods: count("pods", 3)?,
        pods_daemon: count("pods-daemon", 1)?,
        pods_no_evict: count("pods-no-evict", 0)?,
        pods_last_replica: count("pods-last-replica", 0)?,
        youngest_pod_s: count("youngest-pod-s", HOUR)?,
        evictions_day: count("evictions-day", 0)?,
        eviction_cost: fields.or("eviction-cost", 2.0, Field::amount)?,
    };
    Ok((row, fields.get("signals")))
}

fn proposed<'v>(name: &'v str, field: Field<'v>, nodes: &[&str]) -> Result<Proposed<'v>, Problem> {
    let fields = field.object(&["kind", "nodes", "buys", "pods-moved"])?;
    let mut members = Vec::new();
    for field in fields.need("nodes", "a list of nodes that go")?.list()? {
        members.push(place(&field, "node", nodes)?);
    }
    members.sort_unstable();
    members.dedup();
    let mut bought = Vec::new();
    for field in fields
        .get("buys")
        .map_or(Ok(Vec::new()), |field| field.list())?
    {
        bought.push(replacement(&field)?);
    }
    let plain = if bought.is_empty() {
        MoveKind::Delete
    } else {
        MoveKind::Replace
    };
    Ok(Proposed {
        name,
        kind: fields.or("kind", plain, |field| field.choice(&KINDS))?,
        members,
        bought,
        pods_moved: fields.or("pods-moved", None, |field| field.count().map(Some))?,
        field,
    })
}

/// A machine that a move buys, read from its price alone or from its fields.
fn replacement<'v>(field: &Field<'v>) -> Result<Replacement<'v>, Problem> {
    if field.is_number() {
        return Ok(Replacement {
            type_name: "m5.large",
            zone: "a",
            capacity: Capacity::OnDemand,
            price: field.amount()?,
        });
    }
    let fields = field.object(&["type", "zone", "capacity", "price"])?;
    Ok(Replacement {
        type_name: fields.or("type", "m5.large", Field::text)?,
        zone: fields.or("zone", "a", Field::text)?,
        capacity: capacity(&fields)?,
        price: fields.need("price", "dollars per hour")?.amount()?,
    })
}
