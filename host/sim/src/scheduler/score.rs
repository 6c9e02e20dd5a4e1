//! The best of the feasible nodes: the scheduler's default scoring, least allocated and balanced.
//!
//! It spreads pods over nodes. Pods that ask for nothing count with the scheduler's own defaults; ties are broken by lot.

use std::sync::Arc;

use plimsoll_base::ids::NodeName;
use plimsoll_base::resources::{ResourceName, Resources};
use plimsoll_model::{Node, Pod};

use crate::api::Api;
use crate::random::Random;

/// Requests assumed in scoring for a pod without any: 100 milli-cores and 200 MiB.
const DEFAULT: [(ResourceName, i64); 2] =
    [(ResourceName::Cpu, 100), (ResourceName::Memory, 200 << 20)];

/// The best node by score.
pub(crate) fn best<'a>(
    pod: &Pod,
    candidates: &[&'a Arc<Node>],
    api: &Api,
    random: Random,
) -> Option<&'a NodeName> {
    let scored = candidates.iter().map(|node| {
        let lot = random.number("tie", (&pod.uid, &node.name));
        (score(pod, node, api), lot, &node.name)
    });
    scored.max().map(|(_, _, name)| name)
}

/// 0 to 200: the share left free and the balance of cpu and memory, 100 each.
fn score(pod: &Pod, node: &Node, api: &Api) -> i64 {
    let used = api.used(&node.name);
    let mut free = 0;
    let mut shares = [0_i64; 2];
    for (at, (name, default)) in DEFAULT.iter().enumerate() {
        let total = node.allocatable.get(name).max(1);
        let asked = match pod.spec.requests.get(name) {
            0 => *default,
            asked => asked,
        };
        let taken = (used.map_or(0, |used: &Resources| used.get(name)) + asked).min(total);
        free += permille(total - taken, total) / 10;
        shares[at] = permille(taken, total);
    }
    let spread = (shares[0] - shares[1]).abs();
    free / 2 + (1000 - spread / 2) / 10
}

fn permille(part: i64, whole: i64) -> i64 {
    let value = i128::from(part) * 1000 / i128::from(whole);
    i64::try_from(value).unwrap_or(1000)
}
