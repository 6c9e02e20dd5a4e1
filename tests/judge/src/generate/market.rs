//! Offerings and the pools that sell them: instance types with offerings, NodePools, overlays.

use plimsoll_oracles::generate::Draw;
use serde_json::{Value, json};

use super::storage::DRIVERS;
use super::{CREATED, PoolSketch, Sketch, TEAM, TEAMS, ZONE, ZONES};
use crate::feature::Feature;

/// Resource that some types have and some pods ask for.
pub(super) const DEVICE: &str = "example.com/device";
const CAPACITY_TYPE: &str = "karpenter.sh/capacity-type";
const FAMILY: &str = "karpenter.k8s.aws/instance-family";
const INSTANCE_TYPE: &str = "node.kubernetes.io/instance-type";
const FAMILIES: [(&str, i64); 3] = [("c9", 2), ("m9", 4), ("r9", 8)];

pub(super) fn draw(sketch: &mut Sketch) {
    let mut draw = sketch.draw("market", 0);
    let limited = sketch.has(Feature::AttachLimits, &mut draw, 100);
    let devices = sketch.has(Feature::Devices, &mut draw, 100);
    let reserved = sketch.has(Feature::Reservations, &mut draw, 100);
    let mut types = Vec::new();
    for (family, memory_per_cpu) in FAMILIES {
        for cpus in [2, 4, 8, 16] {
            if draw.percent(15) {
                continue;
            }
            let mut made = instance_type(&mut draw, family, cpus, memory_per_cpu, sketch.zones);
            if limited && draw.percent(70) {
                made["attachLimits"] = json!({DRIVERS[0]: 1 + draw.below(4)});
            }
            if devices && cpus >= 8 {
                made["capacity"][DEVICE] = json!(cpus / 4);
            }
            if made["offerings"] == json!([]) {
                continue;
            }
            if reserved && draw.percent(20) {
                reserve(&mut draw, &mut made, sketch.zones);
            }
            types.push(made);
        }
    }
    sketch.section["catalogue"] = json!({"instanceTypes": types});
    let pools = 3 + draw.below(3);
    for at in 0..pools {
        let made = pool(sketch, at, pools);
        sketch.objects.push(made);
    }
    overlays(sketch);
}

fn instance_type(draw: &mut Draw, family: &str, cpus: i64, memory: i64, zones: usize) -> Value {
    let mut offerings = Vec::new();
    for zone in &ZONES[..zones] {
        if draw.percent(12) {
            continue;
        }
        let price = (cpus * (10 + memory)) as f64 / 400.0;
        offerings.push(json!({"zone": zone, "price": price}));
        if draw.percent(60) {
            offerings.push(json!({"zone": zone, "capacityType": "spot", "price": price * 0.4}));
        }
    }
    json!({
        "name": format!("{family}.{cpus}x"),
        "labels": {
            FAMILY: family,
            "karpenter.k8s.aws/instance-category": &family[..1],
            "karpenter.k8s.aws/instance-cpu": cpus.to_string(),
            "karpenter.k8s.aws/instance-generation": "9",
        },
        "capacity": {"cpu": cpus.to_string(), "memory": format!("{}Gi", cpus * memory), "pods": 6 + 3 * cpus, "ephemeral-storage": "20Gi"},
        "overhead": {"cpu": "100m", "memory": "256Mi"},
        "offerings": offerings,
    })
}

fn reserve(draw: &mut Draw, made: &mut Value, zones: usize) {
    let id = format!(
        "cr-{}",
        made["name"].as_str().unwrap_or_default().replace('.', "-")
    );
    let offering = json!({
        "zone": ZONES[draw.below(zones)], "capacityType": "reserved", "price": 0.0,
        "reservation": {"id": id, "remaining": 1 + draw.below(2)},
        "labels": {"karpenter.k8s.aws/capacity-reservation-id": id},
    });
    if let Some(offerings) = made["offerings"].as_array_mut() {
        offerings.push(offering);
    }
}

fn pool(sketch: &mut Sketch, at: usize, pools: usize) -> Value {
    let mut draw = sketch.draw("pool", at);
    let team = TEAMS[at % TEAMS.len()];
    let name = format!("pool-{at}");
    // The last pool takes everybody, so that most pods find a place somewhere.
    let last = at + 1 == pools;
    let tainted = !last && sketch.has(Feature::TaintedPools, &mut draw, 60);
    let mut requirements =
        vec![json!({"key": CAPACITY_TYPE, "operator": "In", "values": ["on-demand"]})];
    if draw.percent(50) {
        requirements[0]["values"] = json!(["on-demand", "spot", "reserved"]);
    }
    if !last && draw.percent(40) {
        let zone = ZONES[draw.below(sketch.zones)];
        let operator = draw.one_of(&["In", "NotIn"]);
        requirements.push(json!({"key": ZONE, "operator": operator, "values": [zone]}));
    }
    if draw.percent(30) {
        let families: Vec<&str> = FAMILIES.iter().map(|(family, _)| *family).collect();
        let dropped = draw.one_of(&families);
        requirements.push(json!({"key": FAMILY, "operator": "NotIn", "values": [dropped]}));
    }
    let mut spec = json!({
        "template": {
            "metadata": {"labels": {TEAM: team}},
            "spec": {
                "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"},
                "requirements": requirements, "expireAfter": "Never",
            },
        },
        "disruption": {"consolidationPolicy": "WhenEmptyOrUnderutilized", "consolidateAfter": "0s"},
        "weight": 1 + draw.below(50),
    });
    if tainted {
        spec["template"]["spec"]["taints"] =
            json!([{"key": TEAM, "value": team, "effect": "NoSchedule"}]);
    }
    if sketch.has(Feature::MinimumValues, &mut draw, 40) {
        let (key, least) = draw.one_of(&[(FAMILY, 2), (INSTANCE_TYPE, 2), (INSTANCE_TYPE, 5)]);
        requirements_of(&mut spec)
            .push(json!({"key": key, "operator": "Exists", "minValues": least}));
    }
    if sketch.has(Feature::MinimumZones, &mut draw, 30) {
        requirements_of(&mut spec).push(json!({"key": ZONE, "operator": "Exists", "minValues": 2}));
    }
    if sketch.has(Feature::Limits, &mut draw, 50) {
        spec["limits"] = json!({"cpu": (4 + draw.below(40)).to_string()});
    }
    sketch.pools.push(PoolSketch { team, tainted });
    json!({
        "apiVersion": "karpenter.sh/v1", "kind": "NodePool",
        "metadata": {"name": name, "uid": format!("uid-{name}"), "creationTimestamp": CREATED, "generation": 1},
        "spec": spec,
    })
}

fn requirements_of(spec: &mut Value) -> &mut Vec<Value> {
    spec["template"]["spec"]["requirements"]
        .as_array_mut()
        .expect("a pool is written with requirements")
}

/// Overlays: another price for a family, more of a device on another.
fn overlays(sketch: &mut Sketch) {
    let mut draw = sketch.draw("overlays", 0);
    if !sketch.has(Feature::Overlays, &mut draw, 100) {
        return;
    }
    let (family, _) = draw.one_of(&FAMILIES);
    let requirements = json!([{"key": FAMILY, "operator": "In", "values": [family]}]);
    let mut spec =
        json!({"requirements": requirements, "priceAdjustment": draw.one_of(&["-30%", "+20%"])});
    if draw.percent(40) {
        spec["capacity"] = json!({"example.com/licence": "2"});
    }
    sketch.objects.push(json!({
        "apiVersion": "karpenter.sh/v1alpha1", "kind": "NodeOverlay",
        "metadata": {"name": "overlay", "uid": "uid-overlay", "creationTimestamp": CREATED},
        "spec": spec,
    }));
}
