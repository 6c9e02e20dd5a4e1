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
    "PodDisruptionBudget ",
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

    /// Sentences about a team that are not true at this moment, by what they speak of. `left` are the NodeClaims of each team that left first.
    pub(super) fn untrue(
        &self,
        team: &str,
        before: &Seen,
        seen: &Seen,
        refused: &BTreeMap<String, Vec<String>>,
        left: &BTreeMap<&str, BTreeSet<String>>,
    ) -> Vec<(String, String)> {
        let pods = of(&self.pods, team).filter_map(|(pod, said)| {
            let saw = pod_differs(pod, said, before, seen, refused)?;
            let sentence = format!("pod {pod} is explained as {}, and {saw}", shortly(said));
            Some((pod.to_owned(), sentence))
        });
        let mut untrue: Vec<(String, String)> = pods.collect();
        let lacking = self.not_bought(team, before, seen);
        untrue.extend(lacking.map(|sentence| (format!("{team} buys"), sentence)));
        for (claim, said) in of(&self.in_flight, team) {
            let object = seen.claims.get(claim);
            if object.is_none_or(|claim| claim.data["status"]["nodeName"].is_null()) {
                let phase = &said["phase"];
                let sentence =
                    format!("nodeclaim {claim} is explained as {phase}, and has no node");
                untrue.push((claim.to_owned(), sentence));
            }
        }
        let goes = self.now(team);
        if !goes.is_empty() && !left.contains_key(team) {
            let sentence = format!("nodes of {goes:?} were to be disrupted, and none is");
            untrue.push((format!("{team} disrupts"), sentence));
        }
        untrue
    }

    /// NodeClaims of a team whose nodes are disrupted now, as explained.
    fn now(&self, team: &str) -> Vec<&str> {
        let now = of(&self.nodes, team).filter(|(_, said)| said["disruption"]["state"] == "Now");
        now.map(|(claim, _)| claim).collect()
    }

    /// Nodes of a team that `explain` plans. Each pod is explained by a plan of its own, so that the same node may be there several times.
    fn planned(&self, team: &str) -> BTreeSet<(String, Sold)> {
        let pods = of(&self.pods, team);
        let planned = pods.map(|(_, said)| &said["plannedNodeClaim"]);
        let planned = planned.filter(|claim| !claim.is_null()).map(|claim| {
            let best = &claim["options"][0];
            let sold = ["instanceType", "zone", "capacityType"];
            let sold = sold.map(|field| word(&best[field]).to_owned());
            (word(&claim["nodePool"]).to_owned(), sold)
        });
        planned.collect()
    }

    /// Nodes that `explain` plans and the program has not bought.
    fn not_bought(&self, team: &str, before: &Seen, seen: &Seen) -> Option<String> {
        let (planned, bought) = (self.planned(team), seen.bought(before, team));
        let is_whole = planned.is_subset(&bought);
        (!is_whole)
            .then(|| format!("{team}: `explain` plans {planned:?}, and {bought:?} are bought"))
    }

    /// Sentences about what `explain` excludes, of a team of which no node has left yet: nodes that it does not plan, and pods that are bound although
    /// they have no place.
    pub(super) fn excluded(&self, team: &str, before: &Seen, seen: &Seen) -> Vec<String> {
        let (planned, bought) = (self.planned(team), seen.bought(before, team));
        let surplus = bought.difference(&planned);
        let surplus = surplus
            .map(|node| format!("{team}: {node:?} is bought, and `explain` plans {planned:?}"));
        let bound = of(&self.pods, team).filter_map(|(pod, said)| {
            let node = seen.node_of(pod)?;
            let has_none = matches!(word(&said["state"]), "Unschedulable" | "NotPlanned");
            has_none.then(|| {
                format!(
                    "pod {pod} is explained as {}, and is on {node}",
                    shortly(said)
                )
            })
        });
        surplus.chain(bound).collect()
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
        // Of nodes that are on their way the scheduler takes the one that it likes.
        "Nominated" => node.is_some_and(|node| !before.nodes.contains_key(node)),
        "Unschedulable" => {
            let notes = refused.get(pod);
            let is_told = notes.is_some_and(|notes| notes.iter().any(|note| tells(note, said)));
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

/// `true` if an event gives the first reason of an explanation. What would hold the pod is looked for where somebody asks, and told there.
fn tells(note: &str, said: &Value) -> bool {
    let message = word(&said["refusal"]["message"]);
    let reason = message.split("; nearest: ").next().unwrap_or_default();
    note.contains(
        reason
            .split("; pool ")
            .take(2)
            .collect::<Vec<_>>()
            .join("; pool ")
            .as_str(),
    )
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
