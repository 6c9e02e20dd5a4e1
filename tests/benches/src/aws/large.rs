//! The script of many nodes, which is played where it is named and at no other time, and its size.

use anyhow::{Result, bail};
use plimsoll_cloud::{World, usual_instance_rates, usual_rates};

use super::script::{Pods, Scale, Script, Step, is};
use super::scripts::small_pool;

/// Variable of the environment that says of how many nodes a large script is.
const NODES: &str = "PLIMSOLL_BENCH_NODES";
/// Nodes where it is not set.
const USUAL_NODES: usize = 1_000;
/// Pods that one node has room for: by their processor time, a 21st has none on four cores less what the system keeps.
const PODS_OF_NODE: usize = 20;
const SHAPE: (&str, &str) = ("190m", "512Mi");
const SIZE: &str = "xlarge";
/// Deployments, each with as many pods as the others: whatever counts the pods of one has fewer to count each time.
const DEPLOYMENTS: [&str; 10] = [
    "web-0", "web-1", "web-2", "web-3", "web-4", "web-5", "web-6", "web-7", "web-8", "web-9",
];
/// From the call to terminate an instance until it is terminated.
const ENDING_SECONDS: u64 = 10;

/// Scripts that are played by their names alone: too long to be among all of them. Fails where the environment has no size for them.
pub fn by_name() -> Result<Vec<Script>> {
    let nodes = nodes(std::env::var(NODES).ok().as_deref())?;
    Ok(vec![large(nodes)])
}

/// The number of nodes that a text says, or the usual one.
fn nodes(text: Option<&str>) -> Result<usize> {
    let Some(text) = text else {
        return Ok(USUAL_NODES);
    };
    match text.parse() {
        Ok(nodes) if nodes > 0 => Ok(nodes),
        _ => bail!("{NODES} is \"{text}\"; expected a whole number of at least 1"),
    }
}

/// As many pods as fill so many nodes, of types of one size, and then none, within the default rates of an account.
fn large(nodes: usize) -> Script {
    let mut requirements = small_pool(&["on-demand"]);
    requirements.push(is("karpenter.k8s.aws/instance-size", &[SIZE]));
    let (all, parts) = (nodes * PODS_OF_NODE, DEPLOYMENTS.len());
    let sized = DEPLOYMENTS.iter().enumerate().map(|(number, name)| {
        let count = all / parts + usize::from(number < all % parts);
        (*name, count)
    });
    let come = sized.clone();
    let come = come.map(|(name, count)| Step::Come(Pods::new(name, count, SHAPE)));
    let go = sized.map(|(name, _)| Step::Scale(name, 0));
    let mut steps: Vec<Step> = come.collect();
    steps.extend([Step::Running, Step::Settled]);
    steps.extend(go);
    steps.push(Step::Gone);
    Script {
        name: "large",
        title: "pods that fill many nodes, within the rates of an ordinary account, and then none",
        scale: Scale::Large,
        world: within_rates,
        requirements,
        steps,
    }
}

fn within_rates(world: &mut World) {
    world.rates = usual_rates();
    world.instance_rates = usual_instance_rates();
    world.delays.terminated = std::time::Duration::from_secs(ENDING_SECONDS);
}

#[cfg(test)]
mod tests {
    use plimsoll_base::resources::ResourceName;
    use plimsoll_ec2_facts::{AllocatableSettings, instance_type};

    use super::super::scripts::{drawn, scripts};
    use super::*;

    #[test]
    fn a_size_is_a_whole_number_of_nodes_and_a_thousand_where_nothing_is_said() {
        assert_eq!(nodes(None).ok(), Some(1_000));
        assert_eq!(nodes(Some("20")).ok(), Some(20));
        for text in ["", "0", "-1", "2.5", "many"] {
            let refused = nodes(Some(text)).expect_err(text).to_string();
            let words = format!("{NODES} is \"{text}\"; expected a whole number of at least 1");
            assert_eq!(refused, words);
        }
    }

    #[test]
    fn its_pods_fill_its_nodes() {
        let cpu = ResourceName::Cpu;
        let pod = cpu.parse_amount(SHAPE.0).expect("an amount");
        for family in ["m5", "m6i"] {
            let facts = instance_type(&format!("{family}.{SIZE}")).expect("a type");
            let room = facts.room(&AllocatableSettings::default()).expect("a room");
            let most = room.allocatable().get(&cpu) / pod;
            assert_eq!(usize::try_from(most).ok(), Some(PODS_OF_NODE), "{family}");
        }
        for nodes in [1, 3, 1_000] {
            let script = large(nodes);
            let running = |step: &Step| matches!(step, Step::Running);
            let at = script.steps.iter().position(running).expect("a step");
            assert_eq!(Script::pods(&script.steps[..at]), nodes * PODS_OF_NODE);
            assert_eq!(Script::pods(&script.steps), 0);
        }
    }

    #[test]
    fn it_is_neither_drawn_nor_among_all_of_them() {
        let names: Vec<&str> = scripts().iter().map(|own| own.name).collect();
        assert!(!names.contains(&large(1).name));
        assert!((0..100).all(|seed| drawn(seed) != large(1).name));
    }
}
