//! Explanations of all pods that wait, of all nodes and of NodeClaims in flight, and what has to follow from each.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::Command;

use futures_util::future::try_join_all;
use serde_json::Value;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

use super::super::served::{Served, program};
use super::seen::{Seen, Sold};

/// Explanations that are made at the same time.
const AT_ONCE: usize = 2;
/// Rules that keep a node whatever happens around it.
const LASTING: [&str; 4] = [
    "do-not-disrupt",
    "pdb ",
    "consolidateAfter: Never",
    "WhenEmpty",
];

/// Explanations of a cluster: of pods, and of nodes and NodeClaims by the name of the claim.
pub(super) struct Foretold {
    pods: BTreeMap<String, Value>,
    nodes: BTreeMap<String, Value>,
    in_flight: BTreeMap<String, Value>,
}

impl Foretold {
    /// Explains a cluster whose program does not run.
    pub(super) async fn all(served: &Served, seen: &Seen) -> Self {
        let kubeconfig = served.lab.kubeconfig().to_owned();
        let waits = seen.pods.keys().filter(|pod| seen.node_of(pod).is_none());
        let claims = seen.claims.iter().map(|(name, claim)| {
            let node = claim.data["status"]["nodeName"].as_str();
            (name.clone(), node.map(str::to_owned))
        });
        let (with_node, without): (Vec<_>, Vec<_>) = claims.partition(|(_, node)| node.is_some());
        let nodes = with_node
            .into_iter()
            .filter_map(|(claim, node)| Some((claim, node?)));
        let same = |name: &String| (name.clone(), name.clone());
        Self {
            pods: explained(&kubeconfig, "pod", waits.map(same).collect()).await,
            nodes: explained(&kubeconfig, "node", nodes.collect()).await,
            in_flight: explained(
                &kubeconfig,
                "nodeclaim",
                without.iter().map(|(name, _)| same(name)).collect(),
            )
            .await,
        }
    }

    /// How many objects were foretold what.
    pub(super) fn states(&self) -> BTreeMap<String, usize> {
        let pods = self
            .pods
            .values()
            .map(|said| format!("pod {}", word(&said["state"])));
        let nodes = self
            .nodes
            .values()
            .map(|said| format!("node {}", word(&said["disruption"]["state"])));
        let claims = self
            .in_flight
            .values()
            .map(|said| format!("nodeclaim {}", word(&said["phase"])));
        let mut states = BTreeMap::new();
        for state in pods.chain(nodes).chain(claims) {
            *states.entry(state).or_default() += 1;
        }
        states
    }

    /// Sentences about a team that have not come true yet. `left` are the NodeClaims of each team that left first.
    pub(super) fn missing(
        &self,
        team: &str,
        before: &Seen,
        seen: &Seen,
        refused: &BTreeMap<String, Vec<String>>,
        left: &BTreeMap<&str, BTreeSet<String>>,
    ) -> Vec<String> {
        let mut missing: Vec<String> = of(&self.pods, team)
            .filter_map(|(pod, said)| {
                let saw = pod_differs(pod, said, before, seen, refused)?;
                Some(format!(
                    "pod {pod} is explained as {}, and {saw}",
                    shortly(said)
                ))
            })
            .collect();
        missing.extend(self.bought_differs(team, before, seen, left.contains_key(team)));
        for (claim, said) in of(&self.in_flight, team) {
            let has_node = seen
                .claims
                .get(claim)
                .is_some_and(|claim| !claim.data["status"]["nodeName"].is_null());
            if !has_node {
                missing.push(format!(
                    "nodeclaim {claim} is explained as {}, and {}",
                    said["phase"],
                    if seen.claims.contains_key(claim) {
                        "has no node"
                    } else {
                        "is gone"
                    }
                ));
            }
        }
        let goes = self.now(team);
        if !goes.is_empty() && !left.contains_key(team) {
            missing.push(format!(
                "nodes of {goes:?} were to be disrupted, and none is"
            ));
        }
        missing
    }

    /// NodeClaims of a team whose nodes are disrupted now, as explained.
    fn now(&self, team: &str) -> Vec<&str> {
        let now = of(&self.nodes, team).filter(|(_, said)| said["disruption"]["state"] == "Now");
        now.map(|(claim, _)| claim).collect()
    }

    fn bought_differs(
        &self,
        team: &str,
        before: &Seen,
        seen: &Seen,
        has_moved: bool,
    ) -> Option<String> {
        let planned = of(&self.pods, team)
            .map(|(_, said)| &said["plannedNodeClaim"])
            .filter(|claim| !claim.is_null());
        let planned: BTreeMap<&str, (String, Sold)> = planned
            .map(|claim| {
                let best = &claim["options"][0];
                let sold = ["instanceType", "zone", "capacityType"]
                    .map(|field| word(&best[field]).to_owned());
                (
                    word(&claim["name"]),
                    (word(&claim["nodePool"]).to_owned(), sold),
                )
            })
            .collect();
        let mut bought = seen.bought(before, team);
        let mut lacking = Vec::new();
        for (pool, sold) in planned.into_values() {
            let found = bought
                .iter()
                .position(|(own, what)| *own == pool && what.as_ref() == Some(&sold));
            match found {
                Some(at) => drop(bought.swap_remove(at)),
                None => lacking.push((pool, sold)),
            }
        }
        let is_too_much = !bought.is_empty() && !has_moved;
        (!lacking.is_empty() || is_too_much)
            .then(|| format!("{team}: planned by `explain` and not bought: {lacking:?}; bought and not planned: {bought:?}"))
    }

    /// Sentences about NodeClaims of a team that left first and were explained as staying.
    pub(super) fn wrong(&self, team: &str, first_left: &BTreeSet<String>) -> Vec<String> {
        let is_settled = of(&self.pods, team)
            .all(|(_, said)| said["state"] == "Unschedulable" || said["state"] == "NotPlanned")
            && of(&self.in_flight, team).next().is_none();
        let left = first_left
            .iter()
            .filter_map(|claim| Some((claim, self.nodes.get(claim)?)));
        let wrong = left.filter(|(_, said)| stays(&said["disruption"], is_settled));
        wrong
            .map(|(claim, said)| {
                format!(
                    "nodeclaim {claim} left, and was explained as {}",
                    said["disruption"]
                )
            })
            .collect()
    }
}

/// `true` if a node that is explained like this may not be the first of its team to leave. In a team that is settled no pod waits for
/// a node, so that nothing else changes what holds.
fn stays(disruption: &Value, is_settled: bool) -> bool {
    let message = word(&disruption["message"]);
    if LASTING.iter().any(|rule| message.contains(rule)) {
        return true;
    }
    let is_lasting = matches!(
        word(&disruption["state"]),
        "Budget" | "Declined" | "NoSaving" | "NoPlace"
    );
    is_settled && is_lasting && disruption["until"].is_null()
}

/// Sight of a pod instead of what was foretold; `None` where that has come true.
fn pod_differs(
    pod: &str,
    said: &Value,
    before: &Seen,
    seen: &Seen,
    refused: &BTreeMap<String, Vec<String>>,
) -> Option<String> {
    let node = seen.node_of(pod);
    let is_as_said = match word(&said["state"]) {
        "NeedsNewNode" => node.is_some_and(|node| !before.nodes.contains_key(node)),
        "FitsExistingNode" => node.is_some_and(|node| before.nodes.contains_key(node)),
        "Nominated" => node.is_some_and(|node| {
            let claim = said["nodeClaim"]
                .as_str()
                .and_then(|name| seen.claims.get(name));
            claim.is_some_and(|claim| claim.data["status"]["nodeName"] == node)
        }),
        "Unschedulable" => {
            let message = word(&said["refusal"]["message"]);
            let notes = refused.get(pod);
            let is_told =
                notes.is_some_and(|notes| notes.iter().any(|note| note.contains(message)));
            if node.is_none() && !is_told {
                return Some(format!("its events say {notes:?}"));
            }
            node.is_none()
        }
        "NotPlanned" => node.is_none(),
        _ => false,
    };
    (!is_as_said).then(|| format!("it is on {node:?}"))
}

/// The explanation of a pod in a few words.
fn shortly(said: &Value) -> String {
    let parts = ["state", "node", "nodeClaim"].map(|field| word(&said[field]));
    let refusal = word(&said["refusal"]["message"]);
    format!("{} {refusal}", parts.join(" "))
}

/// Entries of one team.
fn of<'a>(
    all: &'a BTreeMap<String, Value>,
    team: &str,
) -> impl Iterator<Item = (&'a str, &'a Value)> {
    let prefix = format!("{team}-");
    let own = all
        .iter()
        .filter(move |(name, _)| name.starts_with(&prefix));
    own.map(|(name, said)| (name.as_str(), said))
}

fn word(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Explanations of a subject: by key, of the objects of these names.
async fn explained(
    kubeconfig: &std::path::Path,
    subject: &'static str,
    names: Vec<(String, String)>,
) -> BTreeMap<String, Value> {
    let at_once = Semaphore::new(AT_ONCE);
    let each = names.into_iter().map(async |(key, name)| {
        let _turn = at_once.acquire().await.expect("it is open");
        let kubeconfig = kubeconfig.to_owned();
        let said = spawn_blocking(move || explain(kubeconfig, subject, &name)).await;
        said.map(|said| (key, said))
    });
    let all = try_join_all(each).await.expect("they are explained");
    all.into_iter().collect()
}

fn explain(kubeconfig: PathBuf, subject: &str, name: &str) -> Value {
    let mut command = Command::new(program());
    let command = command
        .args(["explain", subject, name, "-o", "json", "--kubeconfig"])
        .arg(kubeconfig);
    let ran = command.output().expect("it runs");
    assert!(
        ran.status.success(),
        "{subject} {name}: {}",
        String::from_utf8_lossy(&ran.stderr)
    );
    serde_json::from_slice(&ran.stdout).expect("a document")
}
