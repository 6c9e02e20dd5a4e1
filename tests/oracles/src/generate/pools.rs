//! Teams with a pool each: pods that share nothing but the offerings they are bought from.
//!
//! A team's nodes are tainted and labelled with its name, its pods tolerate the one and select the other. Shapes are drawn
//! without regard to teams, so that every number of teams has the same pods. Pods of one team and one shape are a workload.

use super::Draw;
use crate::fixture::{Amounts, ClusterFixture, NoSchedule, PodFixture, ZONE, pod, pool};
use plimsoll_model::OwnerKind;

const CPU: [i64; 5] = [100, 250, 500, 1000, 1500];
const MEMORY: [i64; 7] = [100, 256, 512, 1024, 2048, 4096, 8192];
/// Label and taint of a team's nodes.
const TEAM: &str = "team";

/// Teams whose pods are drawn from a seed.
#[derive(Clone, Copy, Debug)]
pub struct Teams {
    /// How many teams there are.
    pub teams: usize,
    /// Pods of all teams together; they belong to the teams in turn.
    pub pods: usize,
    /// `true` if every workload spreads over zones.
    pub spread: bool,
    /// Seed of the shapes.
    pub seed: u64,
}

impl Teams {
    /// A cluster with the pools and pods of all teams.
    pub fn all(self, cluster: ClusterFixture) -> ClusterFixture {
        (0..self.teams).fold(cluster, |cluster, team| self.one(cluster, team))
    }

    /// A cluster with the pool and the pods of one team.
    pub fn one(self, cluster: ClusterFixture, team: usize) -> ClusterFixture {
        let name = format!("team-{team:03}");
        let own = pool(&name)
            .label(TEAM, &name)
            .taint(TEAM, &name, NoSchedule);
        let pods = (team..self.pods).step_by(self.teams.max(1));
        cluster.pool(own).pods(pods.map(|at| self.pod(&name, at)))
    }

    fn pod(self, team: &str, at: usize) -> PodFixture {
        let mut draw = Draw::new(self.seed, "teams", at);
        let (cpu, memory) = (draw.one_of(&CPU), draw.one_of(&MEMORY));
        let app = format!("{team}-{cpu}-{memory}");
        let one = pod(&format!("pod-{at:05}"))
            .only_labels(&[("app", &app)])
            .owned_by(OwnerKind::ReplicaSet, &app)
            .cpu(cpu)
            .memory_mib(memory)
            .select(TEAM, team)
            .tolerates(TEAM, team, NoSchedule);
        if self.spread {
            one.spread(ZONE, 1).selecting(&[("app", &app)])
        } else {
            one
        }
    }
}
