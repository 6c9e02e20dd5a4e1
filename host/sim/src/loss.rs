//! Losses that a fleet stands to suffer at any moment: the share of its work that goes with one node, one zone, or one kind of spot
//! capacity. Guards on purchases cost money to keep these small; beside the bill they say what that money buys.

use std::collections::BTreeMap;

use plimsoll_base::labels;
use plimsoll_model::OwnerKind;
use plimsoll_model::catalogue::CapacityType;
use plimsoll_model::snapshot::{Snapshot, StateNode};
use serde::{Deserialize, Serialize};

use crate::share::thousandths;

/// Replicas from which a workload counts: of fewer, a node holds a large share whatever is bought.
const FEWEST: i64 = 10;

/// A share of the work at risk, in thousandths, over the samples of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Loss {
    /// The mean.
    pub mean: i64,
    /// The largest at any sample.
    pub most: i64,
}

/// The largest losses by what is lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Losses {
    /// One node: its replicas of a workload, of all replicas of it, for the workload that loses most. Workloads of at least ten replicas
    /// count; `None` where there never was one.
    pub node: Option<Loss>,
    /// One zone: its pods, of all.
    pub zone: Option<Loss>,
    /// Spot capacity of one instance type in one zone: its pods, of all. Zero where none is on spot.
    pub spot: Option<Loss>,
}

/// Losses, summed up sample by sample.
#[derive(Clone, Debug, Default)]
pub(crate) struct LossSums {
    node: Sum,
    zone: Sum,
    spot: Sum,
}

/// Shares seen so far.
#[derive(Clone, Debug, Default)]
struct Sum {
    samples: i64,
    total: i64,
    most: i64,
}

impl Sum {
    fn add(&mut self, share: Option<i64>) {
        if let Some(share) = share {
            self.samples += 1;
            self.total += share;
            self.most = self.most.max(share);
        }
    }

    fn finish(&self) -> Option<Loss> {
        Some(Loss {
            mean: self.total.checked_div(self.samples)?,
            most: self.most,
        })
    }
}

impl LossSums {
    /// Adds what the bound pods of a snapshot stand to lose; DaemonSet pods go with their nodes and count for nothing.
    pub(crate) fn sample(&mut self, snapshot: &Snapshot) {
        let nodes = snapshot.nodes.iter().map(|node| (node.name(), node));
        let nodes: BTreeMap<&str, &StateNode> = nodes.collect();
        let mut replicas: BTreeMap<&str, BTreeMap<&str, i64>> = BTreeMap::new();
        let mut zones: BTreeMap<&str, i64> = BTreeMap::new();
        let mut spots: BTreeMap<(&str, &str), i64> = BTreeMap::new();
        let mut pods: i64 = 0;
        for pod in &snapshot.pods {
            let owner = pod.owner.as_ref();
            let kind = owner.map(|owner| owner.kind);
            let node = pod.node.as_ref().and_then(|name| nodes.get(name.as_str()));
            let Some(node) = node.filter(|_| kind != Some(OwnerKind::DaemonSet)) else {
                continue;
            };
            pods += 1;
            let label = |key: &str| node.labels().get(key).map_or("", AsRef::as_ref);
            *zones.entry(label(labels::ZONE)).or_default() += 1;
            if label(labels::CAPACITY_TYPE) == CapacityType::Spot.as_str() {
                let pool = (label(labels::INSTANCE_TYPE), label(labels::ZONE));
                *spots.entry(pool).or_default() += 1;
            }
            if let Some(owner) = owner.filter(|owner| owner.kind != OwnerKind::Job) {
                let own = replicas.entry(owner.uid.as_str()).or_default();
                *own.entry(node.name()).or_default() += 1;
            }
        }
        let of_all = |most: Option<&i64>| thousandths(most.copied().unwrap_or(0), pods);
        self.zone.add(of_all(zones.values().max()));
        self.spot.add(of_all(spots.values().max()));
        let shares = replicas.values().filter_map(|own| {
            let all: i64 = own.values().sum();
            let most = own.values().max()?;
            thousandths(*most, all).filter(|_| all >= FEWEST)
        });
        self.node.add(shares.max());
    }

    /// The losses over the run.
    pub(crate) fn finish(&self) -> Losses {
        Losses {
            node: self.node.finish(),
            zone: self.zone.finish(),
            spot: self.spot.finish(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_is_over_the_samples_that_had_something_to_lose() {
        let mut sum = Sum::default();
        assert_eq!(sum.finish(), None);
        for share in [Some(200), None, Some(400)] {
            sum.add(share);
        }
        let loss = Loss {
            mean: 300,
            most: 400,
        };
        assert_eq!(sum.finish(), Some(loss));
    }
}
