//! Observations of a run, written down as it changes.
//!
//! Nodes get numbers in the order in which their claims appear, so that transcripts do not depend on names.

use std::collections::BTreeMap;

use plimsoll_base::labels;
use plimsoll_base::time::Timestamp;
use plimsoll_model::{NodeClaim, OwnerKind, Pod};
use plimsoll_sim::{Planner, Run};

/// Compares a run with what it was a moment ago.
#[derive(Debug)]
pub struct Observer {
    start: Timestamp,
    numbers: BTreeMap<String, usize>,
    claims: BTreeMap<String, String>,
    pods: BTreeMap<String, String>,
    lines: Vec<String>,
}

impl Observer {
    /// Begins to look.
    pub fn new(start: Timestamp) -> Self {
        Self {
            start,
            numbers: BTreeMap::new(),
            claims: BTreeMap::new(),
            pods: BTreeMap::new(),
            lines: Vec::new(),
        }
    }

    /// Events seen so far, a line each.
    pub fn transcript(&self) -> String {
        let mut text = self.lines.join("\n");
        text.push('\n');
        text
    }

    /// Writes down words of the player's own.
    pub fn say(&mut self, now: Timestamp, words: &str) {
        let since = now.since(self.start);
        self.lines
            .push(format!("{:>8}  {words}", since.to_string()));
    }

    /// Looks at a run and writes down what is new.
    pub fn look<P: Planner>(&mut self, run: &Run<P>) {
        let now = run.now();
        let mut claims = BTreeMap::new();
        for claim in run.claims() {
            let name = claim.name.to_string();
            let next = self.numbers.values().max().map_or(1, |last| last + 1);
            self.numbers.entry(name.clone()).or_insert(next);
            claims.insert(name, state_of(claim));
        }
        // A claim that comes back under its name has a node of another.
        for node in run.nodes() {
            let own = run
                .claims()
                .find(|claim| claim.provider_id == node.provider_id);
            let number = own.and_then(|claim| self.numbers.get(claim.name.as_str()));
            if let Some(number) = number.copied() {
                self.numbers.entry(node.name.to_string()).or_insert(number);
            }
        }
        let mut pods = BTreeMap::new();
        for pod in run
            .pods()
            .filter(|pod| !pod.is_owned_by(OwnerKind::DaemonSet))
        {
            pods.insert(pod.name.name.to_string(), self.place_of(pod));
        }
        let before = std::mem::replace(&mut self.claims, claims.clone());
        for (name, words) in changes(&before, &claims) {
            let number = self.numbers.get(&name).copied().unwrap_or(0);
            self.say(now, &format!("n{number} {words}"));
        }
        let before = std::mem::replace(&mut self.pods, pods.clone());
        for (name, words) in changes(&before, &pods) {
            self.say(now, &format!("{name} {words}"));
        }
    }

    fn place_of(&self, pod: &Pod) -> String {
        let number = |name: &str| self.numbers.get(name).copied().unwrap_or(0);
        match (&pod.node, pod.deleting) {
            (Some(node), None) => format!("runs on n{}", number(node.as_str())),
            (Some(node), Some(_)) => format!("leaves n{}", number(node.as_str())),
            (None, _) => "waits".to_owned(),
        }
    }
}

fn state_of(claim: &NodeClaim) -> String {
    let label = |key: &str| claim.labels.get(key).map_or("?", AsRef::as_ref);
    if claim.deleting.is_some() {
        return "goes".to_owned();
    }
    match claim.provider_id {
        None => "is asked for".to_owned(),
        Some(_) if claim.node.is_none() => format!(
            "is {} {} in {}",
            label(labels::INSTANCE_TYPE),
            label(labels::CAPACITY_TYPE),
            label(labels::ZONE)
        ),
        Some(_) if claim.phase() < plimsoll_model::ClaimPhase::Initialized => "joins".to_owned(),
        Some(_) => "is ready".to_owned(),
    }
}

fn changes(
    before: &BTreeMap<String, String>,
    after: &BTreeMap<String, String>,
) -> Vec<(String, String)> {
    let gone = before
        .keys()
        .filter(|name| !after.contains_key(*name))
        .map(|name| (name.clone(), "is gone".to_owned()));
    let new = after
        .iter()
        .filter(|(name, words)| before.get(*name) != Some(words))
        .map(|(name, words)| (name.clone(), words.clone()));
    gone.chain(new).collect()
}
