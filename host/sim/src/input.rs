//! The input of a run: the world at the start, what happens to it, and how its instances behave.

use std::sync::Arc;

use plimsoll_base::ids::{NodeName, ObjectName, TypeName};
use plimsoll_base::labels::Labels;
use plimsoll_base::time::{Span, Timestamp};
use plimsoll_base::units::PricePerHour;
use plimsoll_model::catalogue::{CapacityType, Catalogues, Offering, Overlaid};
use plimsoll_model::snapshot::{Objects, Settings, Snapshot};
use plimsoll_model::{
    LabelSelector, Object, Owner, OwnerKind, Pod, PodShape, PodSpec, Replicated, WorkloadKind,
};

use crate::random::Random;

/// A world at an instant, followed by timed changes.
#[derive(Clone, Debug)]
pub struct Recording {
    /// When it begins.
    pub start: Timestamp,
    /// When it ends; `None` for when nothing is left to happen.
    pub end: Option<Timestamp>,
    /// Objects at the start.
    pub objects: Objects,
    /// How long pods that are there at the start go on running; those not named run for ever.
    pub running: Vec<(ObjectName, Span)>,
    /// Types and offerings at the start, by class.
    pub catalogues: Arc<Catalogues>,
    /// How to decide.
    pub settings: Arc<Settings>,
    /// Changes of the world, in any order.
    pub changes: Vec<TimedChange>,
}

impl Recording {
    /// A recording that begins as a snapshot is, but for its attachments of volumes: nothing detaches them here, and they would
    /// hold slots and drained instances for ever.
    pub fn from_snapshot(snapshot: &Snapshot, changes: Vec<TimedChange>) -> Self {
        let mut objects = snapshot.objects();
        objects.attachments.clear();
        Self {
            start: snapshot.now,
            end: None,
            objects,
            running: Vec::new(),
            catalogues: Arc::clone(&snapshot.catalogues),
            settings: Arc::clone(&snapshot.settings),
            changes,
        }
    }

    /// Catalogues of the pools with the overlays of the start applied, where they are in use.
    pub(crate) fn overlaid(&self) -> Overlaid {
        let pools = &self.objects.pools;
        if self.settings.node_overlays {
            Overlaid::new(&self.catalogues, pools, &self.objects.overlays)
        } else {
            Overlaid::plain(&self.catalogues, pools)
        }
    }
}

/// A change and its instant.
#[derive(Clone, Debug, PartialEq)]
pub struct Timed<Change> {
    /// When it happens.
    pub at: Timestamp,
    /// The change itself.
    pub change: Change,
}

/// A change of the world, and its instant.
pub type TimedChange = Timed<Change>;

/// Something that happens to the world from outside.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// A pod arrives, and runs for so long once it has started; for ever when `None`.
    Arrive(Arc<Pod>, Option<Span>),
    /// An object that is no pod, node or claim appears or changes.
    Apply(Object),
    /// A volume is detached: the VolumeAttachment of this name is no more.
    Detach(Arc<str>),
    /// A pod is deleted by its owner; it does not come back.
    DeletePod(ObjectName),
    /// A deployment appears, or changes its template or number of replicas.
    Deploy(Deployment),
    /// A deployment is given another number of replicas.
    Scale(ObjectName, u32),
    /// A deployment's load in all, in the unit of its rule's target.
    Load(ObjectName, u64),
    /// Use of each pod of a deployment from now on.
    Uses(ObjectName, Usage),
    /// An offering's price changes; every zone when none is named.
    Price(Which, PricePerHour),
    /// How many more instances of an offering the cloud has; `None` for as many as anyone wants.
    Stock(Which, Option<u32>),
    /// The cloud announces that it takes a node back.
    Interrupt(NodeName),
    /// A plugin of the scheduler, of which no plan knows, binds no more than so many pods of a workload; as many as fit when `None`.
    Admit(ObjectName, Option<usize>),
}

/// Some offerings.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Which {
    /// The type.
    pub instance_type: TypeName,
    /// The zone; every zone when absent.
    pub zone: Option<Arc<str>>,
    /// The terms.
    pub capacity_type: CapacityType,
}

impl Which {
    /// `true` if an offering of the type is one of them.
    pub(crate) fn contains(&self, offering: &Offering) -> bool {
        let zone = self.zone.as_ref();
        self.capacity_type == offering.capacity_type
            && zone.is_none_or(|zone| *zone == offering.zone)
    }
}

/// A workload that keeps replicas.
#[derive(Clone, Debug, PartialEq)]
pub struct Deployment {
    /// Namespace and name.
    pub name: ObjectName,
    /// Labels of its pods.
    pub labels: Arc<Labels>,
    /// Requests and constraints of its pods.
    pub spec: Arc<PodSpec>,
    /// How many it keeps.
    pub replicas: u32,
    /// How its replicas follow its load, if they do.
    pub follows: Option<ReplicaRule>,
    /// Use of each of its pods, whatever they request; `None` where it is not known.
    pub uses: Option<Usage>,
}

/// Processor time and memory that a pod uses. Nothing is decided by it; score cards hold it against what pods ask for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Milli-cores.
    pub cpu_milli: i64,
    /// Bytes.
    pub memory_bytes: i64,
}

impl Deployment {
    /// The object that an API server shows of it.
    pub(crate) fn object(&self) -> Replicated {
        Replicated {
            kind: WorkloadKind::Deployment,
            name: self.name.clone(),
            uid: format!("deployment/{}", self.name).into(),
            selector: LabelSelector::match_labels(self.labels.as_ref()),
            replicas: self.replicas,
            shape: Some(PodShape {
                labels: Arc::clone(&self.labels),
                spec: Arc::clone(&self.spec),
            }),
        }
    }

    /// The controller of its pods.
    pub(crate) fn owner(&self) -> Owner {
        Owner {
            kind: OwnerKind::ReplicaSet,
            name: Arc::clone(&self.name.name),
            uid: format!("deployment/{}", self.name).into(),
        }
    }
}

/// Replicas in proportion to load: desired = ceil(current x metric / target), left alone within the tolerance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplicaRule {
    /// Load per replica that is aimed at.
    pub target: u64,
    /// Fewest replicas.
    pub least: u32,
    /// Most replicas.
    pub most: u32,
}

/// How instances and the world around them behave.
#[derive(Clone, Debug)]
pub struct Behaviour {
    /// Seed of every draw.
    pub seed: u64,
    /// From launch to the node's object.
    pub boot: Delay,
    /// From the node's object to ready.
    pub ready: Span,
    /// Time that an API write takes.
    pub write: Span,
    /// Time that a call to the cloud takes.
    pub call: Span,
    /// From asking a pod to go to its end.
    pub grace: Span,
    /// From asking an instance to end to its end.
    pub ending: Span,
    /// From the announcement to the loss of a spot instance.
    pub notice: Span,
    /// `true` if spot instances are taken back at the rate that their offering states.
    pub interruptions: bool,
    /// Likelihoods of faults.
    pub faults: Faults,
    /// `true` if the scheduler honours nominations (it does from Kubernetes 1.35 on).
    pub nominations: bool,
    /// How much less memory nodes have than was computed for their type.
    pub shortfall: Shortfall,
}

/// A part of memory that nodes lack, in thousandths of what was computed: drawn once for each type, between both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shortfall {
    /// The least that is lacking.
    pub least: u32,
    /// The most that is lacking, up to 1,000.
    pub most: u32,
}

impl Shortfall {
    /// The same for every type.
    pub fn always(thousandths: u32) -> Self {
        Self {
            least: thousandths,
            most: thousandths,
        }
    }

    /// Bytes that a node of a type lacks.
    pub(crate) fn draw(self, random: Random, instance_type: &TypeName, computed: i64) -> i64 {
        let span = u64::from(self.most.saturating_sub(self.least)) + 1;
        let thousandths = u64::from(self.least) + random.below("shortfall", instance_type, span);
        let lacking = i128::from(computed) * i128::from(thousandths.min(1000)) / 1000;
        i64::try_from(lacking).unwrap_or(computed)
    }
}

/// A span drawn from a distribution: the least, and the quantiles above it, in equal steps of likelihood.
#[derive(Clone, Debug)]
pub struct Delay {
    /// Ascending; a draw falls between two neighbours, each pair equally likely. One entry is always that.
    pub quantiles: Vec<Span>,
}

/// Likelihoods in millionths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// A launch fails for no stated reason.
    pub launch: u64,
    /// An outcome is lost after the thing was done.
    pub lost_after: u64,
    /// An outcome is lost and the thing was not done.
    pub lost_before: u64,
    /// A write meets a conflict.
    pub conflict: u64,
    /// A watch event comes twice, the second time late.
    pub repeated: u64,
}

impl Delay {
    /// Always the same.
    pub fn always(span: Span) -> Self {
        Self {
            quantiles: vec![span],
        }
    }

    /// The span for a draw.
    pub(crate) fn draw(&self, number: u64) -> Span {
        let steps = self.quantiles.len().saturating_sub(1) as u64;
        let Some(first) = self.quantiles.first() else {
            return Span::ZERO;
        };
        if steps == 0 {
            return *first;
        }
        let scaled = u128::from(number) * u128::from(steps);
        let step = usize::try_from(scaled >> 64).unwrap_or_default();
        let within = u64::try_from((scaled & u128::from(u64::MAX)) >> 32).unwrap_or_default();
        let (low, high) = (self.quantiles[step], self.quantiles[step + 1]);
        let width = high.millis().saturating_sub(low.millis());
        let part = (i128::from(width) * i128::from(within)) >> 32;
        low + Span::from_millis(i64::try_from(part).unwrap_or_default())
    }
}

impl Default for Behaviour {
    /// Boots between 25 and 60 seconds, ready 5 seconds later, spot notice of two minutes, no faults.
    fn default() -> Self {
        let quantiles = [25, 32, 36, 42, 60].map(Span::from_secs).to_vec();
        Self {
            seed: 1,
            boot: Delay { quantiles },
            ready: Span::from_secs(5),
            write: Span::from_millis(10),
            call: Span::from_millis(1500),
            grace: Span::from_secs(2),
            ending: Span::from_secs(30),
            notice: Span::from_secs(120),
            interruptions: true,
            faults: Faults::default(),
            nominations: true,
            shortfall: Shortfall::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_lack_their_own_part_of_memory_each_time_the_same() {
        let some = Shortfall { least: 5, most: 40 };
        let draw = |name: &str| some.draw(Random::new(3), &TypeName::from(name), 1_000_000);
        let drawn: Vec<i64> = ["a", "b", "c", "d", "e"].map(draw).to_vec();
        assert!(
            drawn
                .iter()
                .all(|lacking| (5_000..=40_000).contains(lacking))
        );
        assert!(
            drawn.iter().any(|lacking| *lacking != drawn[0]),
            "{drawn:?}"
        );
        assert_eq!(draw("a"), draw("a"));
        let none = Shortfall::default();
        assert_eq!(none.draw(Random::new(3), &TypeName::from("a"), 1_000), 0);
    }

    #[test]
    fn draws_of_a_delay_stay_between_its_ends() {
        let boot = Behaviour::default().boot;
        assert_eq!(boot.draw(0), Span::from_secs(25));
        assert!(boot.draw(u64::MAX) <= Span::from_secs(60));
        assert!(boot.draw(u64::MAX / 2) >= Span::from_secs(35));
        assert_eq!(
            Delay::always(Span::from_secs(9)).draw(77),
            Span::from_secs(9)
        );
    }
}
