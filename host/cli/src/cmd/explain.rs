//! `plimsoll explain`: why a pod is pending, why a node or NodeClaim is what it is and whether it goes, what a NodePool may do, or why a
//! planned NodeClaim has its instance types.

use std::sync::Arc;

use anyhow::{Context, Result, bail};
use plimsoll_core::model::{Node, NodePool, Pod};
use plimsoll_core::plan::{Plan, Target};
use plimsoll_core::snapshot::{Objects, Snapshot};
use plimsoll_core::words::shortened;
use plimsoll_snapshot::Loaded;

use crate::explain;
use crate::findings;
use crate::flags::{self, Subject};
use crate::load;
use crate::meant::{closest, question};
use crate::output::{counted, show};
use crate::policy::engine;
use crate::priced::Priced;
use crate::strategy::Strategy;
use crate::view::explanation::{NodeClaimExplanation, PodExplanation, PodState};
use crate::view::node::NodeExplanation;
use crate::view::node_claim::NodeClaimProgress;
use crate::view::node_pool::NodePoolExplanation;
use crate::view::plan::claim_name;

/// Least likeness of two names for one to be suggested.
const LIKENESS: f64 = 0.75;

pub(crate) fn run(flags: &flags::Explain) -> Result<()> {
    let mut loaded = loaded(flags)?;
    let found = load::found(&mut loaded);
    let mut strategy = Strategy::parse(&flags.policy, &engine()?)?;
    strategy.check(&loaded.snapshot.catalogues)?;
    // Trials are decisions of their own, whose prices say nothing of the plan.
    let unobserved = strategy.clone();
    let priced: Arc<Priced> = Arc::default();
    if let Some(policies) = strategy.policies_mut() {
        policies.observers.push(priced.clone());
    }
    let snapshot = &loaded.snapshot;
    let running = || found.disruption_snapshot(snapshot.now);
    match flags.subject {
        Subject::Node => {
            let (snapshot, row) = (running(), node_row(snapshot, &flags.name)?);
            let outlook = strategy.outlook(&snapshot, row)?;
            let mut node = NodeExplanation::of(&snapshot, &outlook, &priced, row);
            node.findings = of_row(&loaded, &snapshot, row);
            let text = || node.text() + &findings::lines(&node.findings);
            show(flags.output, || &node, text)
        }
        Subject::Pool => {
            let found = pool(&loaded.objects, &flags.name)?;
            let mut pool = NodePoolExplanation::of(snapshot, found);
            pool.findings = findings::of_pools(&loaded, |name| name == found.name.as_str());
            let text = || pool.text() + &findings::lines(&pool.findings);
            show(flags.output, || &pool, text)
        }
        Subject::Pod => {
            let mut plan = strategy.plan(snapshot)?.plan;
            let row = pod_row(snapshot, &flags.name)?;
            unobserved.tell_nearest(snapshot, &mut plan, |pod| pod == row);
            let mut explained = PodExplanation::of(snapshot, &plan, &priced, row);
            explained.findings = findings::of_pod(&loaded, &plan, row);
            let lines = findings::lines(&explained.findings);
            let text = || pod(snapshot, &plan, &priced, row) + &lines;
            show(flags.output, || &explained, text)
        }
        Subject::Claim if claim_row(snapshot, &flags.name).is_some() => {
            let snapshot = running();
            let row = claim_row(&snapshot, &flags.name).context("a NodeClaim")?;
            let outlook = strategy.outlook(&snapshot, row)?;
            let claim = NodeClaimProgress::of(&snapshot, &outlook, &priced, row);
            let mut claim = claim.context("a NodeClaim")?;
            claim.findings = of_row(&loaded, &snapshot, row);
            let text = || claim.text() + &findings::lines(&claim.findings);
            show(flags.output, || &claim, text)
        }
        Subject::Claim => {
            let plan = strategy.plan(snapshot)?.plan;
            let number = claim_number(snapshot, &plan, &flags.name)?;
            let mut explained = NodeClaimExplanation::of(snapshot, &plan, &priced, number);
            let own = plan.claims[number].pool.as_str();
            explained.findings = findings::of_pools(&loaded, |name| name == own);
            let lines = findings::lines(&explained.findings);
            let text = || claim(snapshot, &plan, &priced, number) + &lines;
            show(flags.output, || &explained, text)
        }
    }
}

/// Findings about the node class of a node or NodeClaim; what itself waits for is told in its explanation.
fn of_row(loaded: &Loaded, snapshot: &Snapshot, row: usize) -> Vec<String> {
    let pool = snapshot.nodes[row].pool();
    let is_meant = |name: &str| pool.as_ref().is_some_and(|pool| pool.as_str() == name);
    findings::of_classes(loaded, is_meant)
}

/// The file, or the cluster where none is named.
#[cfg(feature = "live")]
fn loaded(flags: &flags::Explain) -> Result<Loaded> {
    let deciding = &flags.deciding;
    if let Some(path) = &flags.snapshot {
        return load::snapshot(path, deciding);
    }
    let recorded = crate::cluster::recorded(&flags.access, &flags.sold, true)?;
    Ok(load::with_settings(recorded, deciding))
}

#[cfg(not(feature = "live"))]
fn loaded(flags: &flags::Explain) -> Result<Loaded> {
    load::snapshot(&flags.snapshot, &flags.deciding)
}

/// The row of the node of that name.
fn node_row(snapshot: &Snapshot, name: &str) -> Result<usize> {
    let objects = || snapshot.nodes.iter().map(|row| row.node.as_ref());
    let is_meant = |node: Option<&Arc<Node>>| node.is_some_and(|it| it.name.as_str() == name);
    objects().position(is_meant).with_context(|| {
        let names = objects().flatten().map(|node| node.name.as_str());
        format!(
            "there is no node {name} in the snapshot{}",
            question(closest(name, names))
        )
    })
}

/// The row of the NodeClaim of that name; `None` where the cluster has none.
fn claim_row(snapshot: &Snapshot, name: &str) -> Option<usize> {
    let mut claims = snapshot.nodes.iter().map(|row| row.claim.as_ref());
    claims.position(|claim| claim.is_some_and(|it| it.name.as_str() == name))
}

/// The NodePool of that name, with its conditions, which no decision reads and a snapshot does not have.
fn pool<'o>(objects: &'o Objects, name: &str) -> Result<&'o NodePool> {
    let mut pools = objects.pools.iter();
    let pool = pools.find(|pool| pool.name.as_str() == name);
    pool.map(|pool| &**pool).with_context(|| {
        let names = objects.pools.iter().map(|pool| pool.name.as_str());
        format!(
            "there is no NodePool {name} in the snapshot{}",
            question(closest(name, names))
        )
    })
}

/// The row of the pod of that name.
fn pod_row(snapshot: &Snapshot, name: &str) -> Result<usize> {
    let matches = |row: &usize| {
        let pod = &snapshot.pods[*row];
        pod.name.to_string() == name || pod.name.name.as_ref() == name
    };
    let rows: Vec<usize> = (0..snapshot.pods.len()).filter(matches).collect();
    match rows.as_slice() {
        [row] => Ok(*row),
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
    }
}

fn pod(snapshot: &Snapshot, plan: &Plan, priced: &Priced, row: usize) -> String {
    let name = &snapshot.pods[row].name;
    match PodState::of(snapshot, plan, row) {
        PodState::Unschedulable(unplaced) => explain::refusal(snapshot, unplaced),
        PodState::FitsExistingNode(node) => {
            let node = snapshot.nodes[node].name();
            format!("{name} fits on the existing node {node}\n")
        }
        PodState::NeedsNewNode(number) => {
            let claim = explain::claim(snapshot, plan, number, priced);
            format!("{name} gets a new node\n{claim}")
        }
        PodState::Nominated(claim) => {
            format!("{name} is expected on NodeClaim {claim}, whose node has not come up\n")
        }
        PodState::Bound(node) => format!("{name} runs on {node}\n"),
        PodState::NotPlanned(outside) => format!("{name} {outside}\n"),
        PodState::Ended => format!("{name} has ended\n"),
    }
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

/// The number of the planned claim of that name, or of that number.
fn claim_number(snapshot: &Snapshot, plan: &Plan, name: &str) -> Result<usize> {
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
        let known = snapshot.nodes.iter().filter_map(|row| row.claim.as_ref());
        let known = known.map(|claim| claim.name.as_str());
        let names = names.iter().map(String::as_str).chain(known);
        bail!(
            "there is no NodeClaim {name} in the snapshot, nor in its plan, which {has}{}",
            question(closest(name, names))
        );
    };
    Ok(number)
}

fn claim(snapshot: &Snapshot, plan: &Plan, priced: &Priced, number: usize) -> String {
    let mut text = explain::claim(snapshot, plan, number, priced);
    for note in plan.notes_for(&plan.claims[number].pool) {
        text.push_str(&format!("  note: {note}\n"));
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
    text
}
