//! Fleets that were bought well and have gone to waste since: workloads came in waves, each packed by price, and were then
//! scaled down at random. The caller says what is sold and by which pool.

use std::sync::Arc;

use plimsoll_base::units::PricePerHour;
use plimsoll_disrupt::moves::{Move, carry_out};
use plimsoll_hooks::score::MoveKind;
use plimsoll_model::snapshot::Snapshot;
use plimsoll_model::{MoveCost, OwnerKind, Pod};

use super::Draw;
use crate::fixture::{Amounts, PodFixture, cluster, pod};

const CPU: [i64; 6] = [100, 250, 500, 1000, 1500, 2000];
const MEMORY_PER_CORE: [i64; 5] = [512, 1024, 2048, 4096, 8192];
/// Waves in which workloads come.
const WAVES: usize = 4;

/// How large a fleet is to be, and how far it goes to waste.
#[derive(Clone, Copy, Debug)]
pub struct Waste {
    /// Pods at the most.
    pub pods: usize,
    /// Of each workload so many percent stay, at least and at most.
    pub stay_percent: (usize, usize),
    /// Where all draws begin.
    pub seed: u64,
}

/// The fleet after its workloads have come and shrunk, on a market of catalogue, pool and settings without nodes or pods.
pub fn fragmented(market: &Snapshot, waste: Waste) -> Snapshot {
    let pods = workloads(waste);
    let mut fleet = market.clone();
    for wave in 0..WAVES {
        let coming = pods.iter().enumerate().filter(|(at, _)| at % WAVES == wave);
        let coming = coming.map(|(_, pod)| pod.clone());
        fleet.pods.extend(cluster().pods(coming).snapshot().pods);
        fleet.pods.sort_by(|a, b| a.name.cmp(&b.name));
        fleet = bought(&fleet);
    }
    let stays = |pod: &Arc<Pod>| {
        let owner = pod.owner.as_ref().map_or("", |owner| &owner.name);
        let (least, most) = waste.stay_percent;
        let own = least + Draw::new(waste.seed, owner, 0).below(most - least + 1);
        Draw::new(waste.seed, &pod.name.name, 1).percent(own)
    };
    fleet.pods.retain(stays);
    fleet
}

/// Replicas of workloads of every size, in the order in which they come.
fn workloads(waste: Waste) -> Vec<PodFixture> {
    let mut pods: Vec<PodFixture> = Vec::with_capacity(waste.pods);
    let mut workload = 0;
    while pods.len() < waste.pods {
        let mut draw = Draw::new(waste.seed, "workload", workload);
        let cpu = draw.one_of(&CPU);
        let memory = cpu * draw.one_of(&MEMORY_PER_CORE) / 1000;
        let count = (5 + draw.below(95)).min(waste.pods - pods.len());
        let name = format!("w{workload:04}");
        let labels = [("app", name.as_str())];
        pods.extend((0..count).map(|at| {
            pod(&format!("{name}-{at:03}"))
                .cpu(cpu)
                .memory_mib(memory)
                .only_labels(&labels)
                .owned_by(OwnerKind::ReplicaSet, &name)
        }));
        workload += 1;
    }
    pods
}

/// The fleet with what its waiting pods need.
fn bought(fleet: &Snapshot) -> Snapshot {
    let plan = plimsoll_schedule::plan(fleet);
    let purchase = Move {
        kind: MoveKind::Replace,
        members: Vec::new(),
        claims: plan.claims,
        placements: plan.placements,
        saving: PricePerHour::ZERO,
        list_saving: PricePerHour::ZERO,
        draws: Vec::new(),
        disruption: MoveCost::ZERO,
    };
    carry_out(fleet, &[purchase])
}
