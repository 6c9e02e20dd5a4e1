//! Random clusters as manifests: the same seed gives the same cluster everywhere.
//!
//! A cluster first draws which features it may have, then its market, its pools and what stands, then its workloads; each object
//! draws from a sequence of its own, so that one more of a kind leaves the others as they were.

mod market;
mod pods;
mod rules;
mod standing;
mod storage;

use plimsoll_oracles::generate::Draw;
use serde_json::{Value, json};

use crate::case::Case;
use crate::feature::{Feature, Features};

/// The instant of every cluster.
const NOW: &str = "2026-11-28T09:30:00Z";
/// When all objects were made.
const CREATED: &str = "2026-11-28T08:00:00Z";
const ZONES: [&str; 3] = ["zone-a", "zone-b", "zone-c"];
const ZONE: &str = "topology.kubernetes.io/zone";
const HOSTNAME: &str = "kubernetes.io/hostname";
const TEAM: &str = "example.com/team";
const TEAMS: [&str; 4] = ["red", "blue", "green", "grey"];
const NAMESPACES: [&str; 2] = ["shop", "bank"];
const APPS: [&str; 6] = ["web", "db", "cache", "batch", "api", "edge"];

/// Share of clusters, in percent, that may have a feature.
const FEATURE_SHARE: usize = 45;

/// A cluster while it is drawn.
pub(crate) struct Sketch {
    seed: u64,
    /// Features that this cluster may have.
    wanted: Features,
    met: Features,
    section: Value,
    objects: Vec<Value>,
    zones: usize,
    pools: Vec<PoolSketch>,
    daemons: Vec<Value>,
}

/// What the rest of a cluster has to know of a pool.
struct PoolSketch {
    team: &'static str,
    tainted: bool,
}

impl Sketch {
    fn draw(&self, purpose: &str, at: usize) -> Draw {
        Draw::new(self.seed, purpose, at)
    }

    /// `true` if the feature may occur and is drawn here; it counts as met from then on.
    fn has(&mut self, feature: Feature, draw: &mut Draw, share: usize) -> bool {
        let drawn = draw.percent(share) && self.wanted.has(feature);
        if drawn {
            self.met.add(feature);
        }
        drawn
    }
}

/// The cluster of a seed, with features among those allowed.
pub fn cluster(seed: u64, allowed: Features) -> Case {
    let mut draw = Draw::new(seed, "features", 0);
    let wanted = allowed
        .iter()
        .filter(|_| draw.percent(FEATURE_SHARE))
        .collect();
    let zones = 2 + draw.below(2);
    let mut sketch = Sketch {
        seed,
        wanted,
        met: Features::default(),
        section: json!({"time": NOW, "seed": 1}),
        objects: NAMESPACES
            .iter()
            .chain(&["kube-system"])
            .map(|name| namespace(name))
            .collect(),
        zones,
        pools: Vec::new(),
        daemons: Vec::new(),
    };
    market::draw(&mut sketch);
    storage::draw(&mut sketch);
    standing::daemons(&mut sketch);
    standing::nodes(&mut sketch);
    pods::draw(&mut sketch);
    Case {
        seed,
        section: sketch.section,
        objects: sketch.objects,
        features: sketch.met,
    }
}

fn namespace(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {
        "name": name, "uid": format!("ns-{name}"),
        "labels": {"kubernetes.io/metadata.name": name},
    }})
}
