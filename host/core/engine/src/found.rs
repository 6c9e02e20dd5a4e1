//! The knowledge that follows from objects alone: what an engine that has just found them decides on, and what it would buy.
//!
//! Beside the objects an engine knows what nodes have taught of their types, which pods are promised a place on a claim, what
//! reservations have lost, and what counts against ceilings. All of it is written on objects, or follows from them, so that a
//! snapshot of them is planned as a cluster is (`tests/scenarios/tests/found.rs`). What only memory has is not here: failed
//! launches, commands under way.

use std::collections::BTreeMap;
use std::sync::Arc;

use plimsoll_base::time::Timestamp;
use plimsoll_cluster::{Assignment, Frozen, assignments};
use plimsoll_model::Version;
use plimsoll_model::catalogue::Catalogues;
use plimsoll_model::plan::Plan;
use plimsoll_model::snapshot::{Objects, Settings, Snapshot};

use super::Engine;
use super::commit::CommitVerdict;
use super::runaway::Tally;
use super::spare::for_spare_alone;

impl Engine {
    /// An engine that finds these objects at an instant, and has done nothing yet.
    pub fn finding(
        objects: &Objects,
        catalogues: Arc<Catalogues>,
        settings: Arc<Settings>,
        seed: u64,
        now: Timestamp,
    ) -> Self {
        let mut engine = Self::new(settings, catalogues, seed);
        for object in objects.iter() {
            engine.see(object, Version::default());
        }
        engine.absorb_touched(now);
        engine.sync(now);
        engine.absorb_touched(now);
        engine.lapse_promises(now);
        engine
    }

    /// The snapshot on which it would plan pods that wait now.
    pub fn snapshot(&self, now: Timestamp) -> Snapshot {
        let mut frozen = Frozen::default();
        let assigned = self.promised_pods(now);
        Snapshot {
            unused_nodes: self.pods_with_unused_nodes(),
            ..Snapshot::clone(frozen.freeze(None, &self.world(), &assigned, now))
        }
    }

    /// The snapshot on which it would decide about disruption now.
    pub fn disruption_snapshot(&self, now: Timestamp) -> Snapshot {
        Snapshot {
            activity: self.activity(now),
            ..self.snapshot(now)
        }
    }

    /// Pods that stand for places promised on claims and nodes: they are not planned again.
    pub fn promised_pods(&self, now: Timestamp) -> Assignment {
        assignments(&self.promises, &self.cluster, now)
    }

    /// Claims of a plan, by row, that ceilings on buying would hold back if it were carried out now, with the ceiling in words.
    pub fn held_by_ceilings(
        &mut self,
        snapshot: &Snapshot,
        plan: &Plan,
        now: Timestamp,
    ) -> BTreeMap<usize, String> {
        // Spare room comes last where ceilings leave no room for all.
        let spare = for_spare_alone(snapshot, plan);
        let for_pods = (0..plan.claims.len()).filter(|row| !spare.contains(row));
        let mut tally = Tally::default();
        let mut held = BTreeMap::new();
        for row in for_pods.chain(spare.iter().copied()) {
            let verdict = self.may_buy(&plan.claims[row], &mut tally, now);
            if let CommitVerdict::Held(words) = verdict {
                held.insert(row, words);
            }
        }
        held
    }
}
