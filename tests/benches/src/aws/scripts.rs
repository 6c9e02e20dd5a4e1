//! The scripts, in the order in which they run.

use plimsoll_cloud::{CapacityPool, Fault, Image, ScriptedFault, World, usual_rates};
use plimsoll_model::catalogue::CapacityType::{self, OnDemand, Spot};
use serde_json::{Value, json};

use super::script::{CLUSTER, Pods, Scale, Script, Step, is};

/// Processor time and memory of most pods: one of them fills most of a small instance.
const SHAPE: (&str, &str) = ("1500m", "2Gi");
/// Families of which one fleet request can name every type.
const FAMILIES: [&str; 2] = ["m5", "m6i"];
const AMD64: &[&str] = &["amd64"];
const ARCHITECTURE: &str = "kubernetes.io/arch";

/// Names of those that may be drawn where one stands for all, as on every change that is taken in: each is short and ends the same in
/// every run.
const DRAWN: [&str; 7] = [
    "plain",
    "fallback",
    "zone",
    "architectures",
    "addresses",
    "throttling",
    "role",
];

/// The name of the one that a seed draws.
pub fn drawn(seed: usize) -> &'static str {
    DRAWN[seed % DRAWN.len()]
}

/// All of them, but for those that are played by their names alone.
pub fn scripts() -> Vec<Script> {
    vec![
        plain(),
        fallback(),
        zone(),
        recovery(),
        architectures(),
        apart(),
        addresses(),
        image(),
        interruption(),
        ended(),
        throttling(),
        role(),
    ]
}

/// Requirements of a pool that buys current Linux instances, paid for in one of these ways.
fn pool(capacity_types: &[&str], architectures: &[&str]) -> Vec<Value> {
    vec![
        is("karpenter.sh/capacity-type", capacity_types),
        is(ARCHITECTURE, architectures),
        is("kubernetes.io/os", &["linux"]),
        is("karpenter.k8s.aws/instance-category", &["c", "m", "r"]),
        json!({"key": "karpenter.k8s.aws/instance-generation", "operator": "Gt", "values": ["4"]}),
    ]
}

/// The same of a few families.
pub(super) fn small_pool(capacity_types: &[&str]) -> Vec<Value> {
    let mut requirements = pool(capacity_types, AMD64);
    requirements.push(is("karpenter.k8s.aws/instance-family", &FAMILIES));
    requirements
}

fn ordinary(_: &mut World) {}

/// Leaves nothing in all zones whose names end so.
fn sell_out(world: &mut World, capacity_type: CapacityType, zone_end: &str) {
    let types: Vec<&str> = world.instance_types().map(|own| own.name).collect();
    let zones = world.zones.clone().into_iter();
    for zone in zones.filter(|zone| zone.ends_with(zone_end)) {
        for name in &types {
            world.set_stock(CapacityPool::new(name, &zone, capacity_type), 0);
        }
    }
}

fn plain() -> Script {
    Script {
        name: "plain",
        title: "six pods on demand, and then none",
        scale: Scale::Small,
        world: ordinary,
        requirements: pool(&["on-demand"], AMD64),
        steps: vec![
            Step::Come(Pods::new("web", 6, SHAPE)),
            Step::Settled,
            Step::Scale("web", 0),
            Step::Gone,
        ],
    }
}

fn fallback() -> Script {
    Script {
        name: "fallback",
        title: "spot before on demand, and there is no spot",
        scale: Scale::Small,
        world: |world| sell_out(world, Spot, ""),
        requirements: small_pool(&["spot", "on-demand"]),
        steps: vec![Step::Come(Pods::new("web", 6, SHAPE)), Step::Settled],
    }
}

fn zone() -> Script {
    Script {
        name: "zone",
        title: "on demand, and a zone of three has nothing",
        scale: Scale::Small,
        world: |world| sell_out(world, OnDemand, "a"),
        requirements: pool(&["on-demand"], AMD64),
        steps: vec![Step::Come(Pods::new("web", 6, SHAPE)), Step::Settled],
    }
}

/// One request names all of its few offerings, so that pods wait until a controller asks again for what it was refused.
fn recovery() -> Script {
    let mut requirements = small_pool(&["spot"]);
    requirements.push(is("karpenter.k8s.aws/instance-size", &["2xlarge"]));
    Script {
        name: "recovery",
        title: "spot alone, and there is none until fleets were asked for in vain",
        scale: Scale::Small,
        world: |world| sell_out(world, Spot, ""),
        requirements,
        steps: vec![
            Step::Come(Pods::new("web", 6, SHAPE)),
            Step::Refused(1),
            Step::Happens(|world| world.stock.clear()),
            Step::Settled,
        ],
    }
}

fn architectures() -> Script {
    Script {
        name: "architectures",
        title: "pods for amd64 and pods for arm64, on demand",
        scale: Scale::Small,
        world: ordinary,
        requirements: pool(&["on-demand"], &["amd64", "arm64"]),
        steps: vec![
            Step::Come(Pods::new("intel", 3, SHAPE).on(ARCHITECTURE, "amd64")),
            Step::Come(Pods::new("graviton", 3, SHAPE).on(ARCHITECTURE, "arm64")),
            Step::Settled,
        ],
    }
}

fn apart() -> Script {
    Script {
        name: "apart",
        title: "30 pods, each on a node of its own, on demand",
        scale: Scale::Small,
        world: ordinary,
        requirements: pool(&["on-demand"], AMD64),
        steps: vec![
            Step::Come(Pods::new("web", 30, ("500m", "512Mi")).apart()),
            Step::Settled,
        ],
    }
}

fn addresses() -> Script {
    Script {
        name: "addresses",
        title: "on demand, and two of three subnets have no address left",
        scale: Scale::Small,
        world: ordinary,
        requirements: pool(&["on-demand"], AMD64),
        steps: vec![
            Step::Happens(|world| {
                for subnet in world.subnets.iter_mut().take(2) {
                    subnet.free_addresses = 0;
                }
            }),
            Step::Come(Pods::new("web", 6, SHAPE)),
            Step::Settled,
        ],
    }
}

fn image() -> Script {
    Script {
        name: "image",
        title: "the alias names other images when the controller starts anew",
        scale: Scale::Small,
        world: ordinary,
        requirements: pool(&["on-demand"], AMD64),
        steps: vec![
            Step::Come(Pods::new("web", 3, SHAPE)),
            Step::Settled,
            Step::Happens(release),
            Step::Restart,
            Step::Replaced(usize::MAX),
            Step::Settled,
        ],
    }
}

/// Another release of every image, to which the parameters of its alias point from now on.
fn release(world: &mut World) {
    for old in world.images.clone() {
        let id = old.id.replace("ami-0", "ami-1");
        let name = old.name.replace("v20260601", "v20260701");
        for (parameter, value) in &mut world.parameters {
            if *value == old.id && parameter.contains("/recommended/") {
                value.clone_from(&id);
            }
        }
        world.images.push(Image {
            id,
            name,
            created: "2026-07-01T00:00:00.000Z".to_owned(),
            ..old
        });
    }
}

fn interruption() -> Script {
    Script {
        name: "interruption",
        title: "a spot instance is taken back",
        scale: Scale::Small,
        world: ordinary,
        requirements: pool(&["spot"], AMD64),
        steps: vec![
            Step::Come(Pods::new("web", 3, SHAPE)),
            Step::Settled,
            Step::Happens(|world| {
                if let Some(id) = first(world) {
                    world.interrupt(CLUSTER, &id);
                }
            }),
            Step::Replaced(1),
            Step::Settled,
        ],
    }
}

fn ended() -> Script {
    Script {
        name: "ended",
        title: "an instance is ended by hand",
        scale: Scale::Small,
        world: ordinary,
        requirements: pool(&["on-demand"], AMD64),
        steps: vec![
            Step::Come(Pods::new("web", 3, SHAPE)),
            Step::Settled,
            Step::Happens(|world| {
                let now = world.now();
                if let Some(id) = first(world) {
                    world.end(&id, now);
                }
            }),
            Step::Replaced(1),
            Step::Settled,
        ],
    }
}

/// The instance that was launched first of those that are there.
fn first(world: &World) -> Option<String> {
    world.alive().next().map(|own| own.id.clone())
}

fn throttling() -> Script {
    let throttle = |world: &mut World| {
        for (operation, times) in [
            ("CreateFleet", 2),
            ("CreateLaunchTemplate", 1),
            ("DescribeInstances", 2),
            ("CreateTags", 1),
        ] {
            let fault = Fault::new("RequestLimitExceeded", "Request limit exceeded.");
            let scripted = ScriptedFault::error(operation, fault.with_status(503));
            world.faults.push(scripted.times(times));
        }
    };
    Script {
        name: "throttling",
        title: "calls are refused as too many, and rates are an ordinary account's",
        scale: Scale::Small,
        world: |world| world.rates = usual_rates(),
        requirements: pool(&["on-demand"], AMD64),
        steps: vec![
            Step::Happens(throttle),
            Step::Come(Pods::new("web", 6, SHAPE)),
            Step::Settled,
        ],
    }
}

fn role() -> Script {
    Script {
        name: "role",
        title: "spot before on demand, and the account may not make the role for spot",
        scale: Scale::Small,
        world: |world| {
            let code = "AuthFailure.ServiceLinkedRoleCreationNotPermitted";
            let words = "The provided credentials do not have permission to create the service-linked role for EC2 Spot Instances.";
            let scripted = ScriptedFault::error("CreateFleet", Fault::new(code, words));
            world.faults.push(scripted.paid_for(Spot).times(u32::MAX));
        },
        requirements: small_pool(&["spot", "on-demand"]),
        steps: vec![Step::Come(Pods::new("web", 6, SHAPE)), Step::Settled],
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::explained::explanations;
    use super::*;

    #[test]
    fn scripts_have_names_of_their_own_and_end_settled_or_with_nothing_left() {
        let all = scripts();
        let names: Vec<&str> = all.iter().map(|script| script.name).collect();
        let different: BTreeSet<&&str> = names.iter().collect();
        assert_eq!(different.len(), 12);
        for script in &all {
            let last = script.steps.last().expect("a step");
            assert!(
                matches!(last, Step::Settled | Step::Gone),
                "{}",
                script.name
            );
        }
        explanations(&names).expect("the page names scripts that there are");
        let mut draws = (0..DRAWN.len()).map(drawn);
        assert!(draws.all(|name| names.contains(&name)));
    }

    #[test]
    fn a_release_moves_the_alias_and_leaves_the_old_images() {
        let mut world = World::demo(CLUSTER);
        let before = world.clone();
        release(&mut world);
        assert_eq!(world.images.len(), 2 * before.images.len());
        for (name, id) in &world.parameters {
            let is_moved = *id != before.parameters[name];
            assert_eq!(is_moved, name.contains("/recommended/"), "{name}");
            assert!(world.images.iter().any(|image| image.id == *id), "{id}");
        }
    }

    #[test]
    fn a_zone_is_sold_out_alone() {
        let mut world = World::demo(CLUSTER);
        sell_out(&mut world, Spot, "b");
        let zones: BTreeSet<&str> = world.stock.keys().map(|pool| &*pool.zone).collect();
        assert_eq!(zones, ["us-east-1b"].into());
        assert_eq!(world.stock.len(), world.instance_types().count());
    }
}
