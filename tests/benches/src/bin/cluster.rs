//! Writes the cluster on which memory is measured: 5,000 nodes with 50,000 running pods, and 15,000 pods that wait.
//!
//! Usage: `cluster FILE`; then `plimsoll plan FILE --timings` says what reading and planning took at most.

use anyhow::{Context, Result};
use plimsoll_benches::cases::general_types;
use plimsoll_oracles::fixture::{Amounts, PodFixture, cluster, node, pod, pool};
use plimsoll_snapshot::write::json;

const NODES: usize = 5_000;
const RUNNING_ON_EACH: usize = 10;
const WAITING: usize = 15_000;
/// Workloads; pods of one share labels and requests.
const WORKLOADS: usize = 400;

fn main() -> Result<()> {
    let path = std::env::args()
        .nth(1)
        .context("expected the path of a file")?;
    let mut built = cluster().pool(pool("default"));
    for at in 0..NODES {
        let name = format!("node-{at:05}");
        let sized = node(&name).cpu(16_000).memory_mib(64 << 10);
        built = built.node(sized.of_type("m6i.4xlarge").zone("us-east-1a"));
        let running =
            (0..RUNNING_ON_EACH).map(|slot| replica(at * RUNNING_ON_EACH + slot).on(&name));
        built = built.pods(running);
    }
    let waiting = (0..WAITING).map(|at| replica(NODES * RUNNING_ON_EACH + at));
    let mut snapshot = built.pods(waiting).snapshot();
    snapshot.catalogues = std::sync::Arc::new(general_types()?.into());
    std::fs::write(&path, json(&snapshot)?).with_context(|| path.clone())
}

fn replica(at: usize) -> PodFixture {
    let workload = at % WORKLOADS;
    let cpu = [100, 250, 500, 1000][workload % 4];
    let memory = [256, 512, 1024, 2048, 4096][workload % 5];
    pod(&format!("pod-{at:05}"))
        .cpu(cpu)
        .memory_mib(memory)
        .only_labels(&[("app", &format!("app-{workload}"))])
}
