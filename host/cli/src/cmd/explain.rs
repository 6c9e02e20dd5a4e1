//! `plimsoll explain`: why a pod is pending, or why a planned NodeClaim has its instance types.

use std::sync::Arc;

use anyhow::{Result, bail};
use plimsoll_core::ids::NodeName;
use plimsoll_core::model::Pod;
use plimsoll_core::plan::{Plan, Target};
use plimsoll_core::snapshot::Snapshot;
use plimsoll_core::words::shortened;

use crate::explain;
use crate::flags::{self, Subject};
use crate::load;
use crate::meant::{closest, question};
use crate::output::{counted, print};
use crate::policy::engine;
use crate::priced::Priced;
use crate::strategy::Strategy;
use crate::view::plan::claim_name;

/// Least likeness of two names for one to be suggested.
const LIKENESS: f64 = 0.75;

pub(crate) fn run(flags: &flags::Explain) -> Result<()> {
    let mut loaded = load::snapshot(&flags.snapshot, &flags.planning.deciding)?;
    load::found(&mut loaded);
    let mut strategy = Strategy::ranking(&flags.planning.policy, &engine()?)?;
    strategy.check(&loaded.snapshot.catalogues)?;
    let priced: Arc<Priced> = Arc::default();
    if let Some(policies) = strategy.policies_mut() {
        policies.observers.push(priced.clone());
    }
    let plan = strategy.plan(&loaded.snapshot)?.plan;
    let text = match flags.subject {
        Subject::Pod => pod(&loaded.snapshot, &plan, &priced, &flags.name)?,
        Subject::Claim => claim(&loaded.snapshot, &plan, &priced, &flags.name)?,
    };
    print(&text)
}

fn pod(snapshot: &Snapshot, plan: &Plan, priced: &Priced, name: &str) -> Result<String> {
    let matches = |row: &usize| {
        let pod = &snapshot.pods[*row];
        pod.name.to_string() == name || pod.name.name.as_ref() == name
    };
    let rows: Vec<usize> = (0..snapshot.pods.len()).filter(matches).collect();
    let row = match rows.as_slice() {
        [row] => *row,
        [] => bail!(
            "there is no pod {name} in the snapshot{}",
            meant(snapshot, name)
        ),
        several => {
            let names = several
                .iter()
                .map(|row| snapshot.pods[*row].name.to_string());
            bail!(
                "there are several pods called {name}: {}; expected namespace/name",
                shortened(names)
            );
        }
    };
    if let Some(unplaced) = plan.unplaced.iter().find(|unplaced| unplaced.pod == row) {
        return Ok(explain::refusal(snapshot, unplaced));
    }
    if let Some(placement) = plan
        .placements
        .iter()
        .find(|placement| placement.pod == row)
    {
        return Ok(match placement.target {
            Target::Existing(node) => {
                format!(
                    "{} fits on the existing node {}\n",
                    snapshot.pods[row].name,
                    snapshot.nodes[node].name()
                )
            }
            Target::New(claim) => {
                format!(
                    "{} gets a new node\n{}",
                    snapshot.pods[row].name,
                    explain::claim(snapshot, plan, claim, priced)
                )
            }
        });
    }
    let pod = &snapshot.pods[row];
    Ok(match &pod.node {
        Some(node) if is_to_come(snapshot, node) => {
            format!(
                "{} is expected on NodeClaim {node}, whose node has not come up\n",
                pod.name
            )
        }
        Some(node) => format!("{} runs on {node}\n", pod.name),
        None => format!(
            "{} needs no node: the scheduler has not marked it unschedulable\n",
            pod.name
        ),
    })
}

/// `true` if a node is one on its way, to which pods are promised.
fn is_to_come(snapshot: &Snapshot, node: &NodeName) -> bool {
    let row = snapshot.rows_by_node().get(node.as_str());
    row.is_some_and(|row| !snapshot.nodes[row].is_registered())
}

/// The pod that was probably meant, as a question.
fn meant(snapshot: &Snapshot, name: &str) -> String {
    let likeness = |pod: &Pod| {
        let whole = strsim::jaro_winkler(&pod.name.to_string(), name);
        whole.max(strsim::jaro_winkler(&pod.name.name, name))
    };
    let best = snapshot
        .pods
        .iter()
        .map(|pod| (likeness(pod), pod))
        .filter(|(likeness, _)| *likeness >= LIKENESS)
        .max_by(|left, right| left.0.total_cmp(&right.0));
    best.map_or_else(String::new, |(_, pod)| {
        format!("; did you mean {}?", pod.name)
    })
}

fn claim(snapshot: &Snapshot, plan: &Plan, priced: &Priced, name: &str) -> Result<String> {
    let names: Vec<String> = (0..plan.claims.len())
        .map(|row| claim_name(snapshot, plan, row).to_string())
        .collect();
    let named = names.iter().position(|known| known == name);
    let numbered = || {
        name.parse::<usize>()
            .ok()
            .filter(|number| *number < names.len())
    };
    let Some(number) = named.or_else(numbered) else {
        let has = match names.len() {
            0 => "has none".to_owned(),
            count => format!("has {count}, numbered from 0"),
        };
        bail!(
            "there is no NodeClaim {name} in the plan, which {has}{}",
            question(closest(name, names.iter().map(String::as_str)))
        );
    };
    let mut text = explain::claim(snapshot, plan, number, priced);
    for note in plan.notes.iter().filter(|note| note.pool.is_none()) {
        text.push_str(&format!("  note: {}\n", note.text));
    }
    let pods: Vec<String> = plan
        .placements
        .iter()
        .filter(|placement| placement.target == Target::New(number))
        .map(|placement| snapshot.pods[placement.pod].name.to_string())
        .collect();
    text.push_str(&format!(
        "  for {}: {}\n",
        counted(pods.len(), "pod"),
        shortened(&pods)
    ));
    Ok(text)
}
