//! Input of a consolidation policy's case: nodes, and moves that take some of them away.
//!
//! Fields are the columns of the interface by name; what is absent is as in the SDK's `testing::Fleet`: a day old, its pods unchanged for an hour,
//! half used, with two ordinary pods and a daemon.

use plimsoll_hooks::hook::{Capacity, Context};
use plimsoll_hooks::score::{
    MoveKind, MoveRow, NodeRow, Replacement, ScoreQuestion, ScoreQuestionBuilder,
};

use super::answer::Names;
use super::columns;
use super::field::{Field, Fields, Problem};
use super::place;
use super::signal::Signals;

const KINDS: [(&str, MoveKind); 3] = [
    ("empty", MoveKind::Empty),
    ("delete", MoveKind::Delete),
    ("replace", MoveKind::Replace),
];

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
    let fields = field.object(&[&columns::SCORE_NODE[..], &["signals"]].concat())?;
    let row = columns::score_node(&fields, name)?;
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

/// An instance that a move buys, read from its price alone or from its fields.
fn replacement<'v>(field: &Field<'v>) -> Result<Replacement<'v>, Problem> {
    if field.is_number() {
        return Ok(Replacement {
            type_name: "m5.large",
            zone: "a",
            capacity: Capacity::OnDemand,
            price: field.amount()?,
        });
    }
    columns::score_replacement(&field.object(&columns::SCORE_REPLACEMENT)?)
}
