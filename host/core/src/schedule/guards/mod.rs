//! Bounds on what cheap packing may do, as far as they shape the packing problem. Every one yields rather than leave a pod
//! without a machine. What becomes of them in a plan is told by [`self::guarded`].

pub(crate) mod addresses;
pub(crate) mod guarded;
pub(crate) mod spot_share;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::batch::compile::Compiled;
use super::offers::best::Best;
use super::offers::table::Guarded;
use crate::bits::Bits;
use crate::catalogue::CapacityType;
use crate::ids::Uid;
use crate::labels;
use crate::requirement::Requirement;
use crate::resources::ResourceName;
use crate::snapshot::Guards;

/// Families that share a core's time.
const BURSTABLE: [&str; 4] = ["t2", "t3", "t3a", "t4g"];
/// Generations up to this one are previous ones.
const PREVIOUS_GENERATION: i64 = 2;
/// Keys by which a requirement names types.
const NAMING: [&str; 3] = [
    labels::INSTANCE_TYPE,
    "karpenter.k8s.aws/instance-family",
    "karpenter.k8s.aws/instance-category",
];

/// The rows under some guards.
pub(crate) fn guarded(compiled: &Compiled<'_>, guards: &Guards) -> Arc<Guarded> {
    let read = || {
        let mut kept_back = too_large(compiled, guards);
        kept_back.join(&exotic(compiled, guards));
        kept_back.join(&unasked_spot(compiled, guards));
        Arc::new(Guarded {
            kept_back,
            best: Best::default(),
        })
    };
    compiled.rows.table().guarded.get(guards.clone(), read)
}

/// Rows that guards keep from being bought while there are others.
pub(crate) fn kept_back(compiled: &Compiled<'_>, guards: &Guards) -> Bits {
    guarded(compiled, guards).kept_back.clone()
}

/// Rows of machines larger than any pod should need.
pub(crate) fn too_large(compiled: &Compiled<'_>, guards: &Guards) -> Bits {
    let types = compiled.snapshot.catalogue.types().iter();
    let large: Vec<bool> = types
        .map(|sold| sold.capacity.get(&ResourceName::Cpu) > guards.largest_node_cpu_milli)
        .collect();
    compiled
        .rows
        .select(|row| guards.enabled && large[row.instance_type])
}

/// Rows of burstable, previous-generation and bare-metal machines, unless their pool names what it wants.
pub(crate) fn exotic(compiled: &Compiled<'_>, guards: &Guards) -> Bits {
    let exotic = &compiled.offers.exotic;
    let named: Vec<bool> = compiled
        .templates
        .iter()
        .map(|template| template.pool.requirements.iter().any(names_types))
        .collect();
    compiled.rows.select(|row| {
        guards.enabled && !guards.exotic_types && !named[row.template] && exotic[row.instance_type]
    })
}

/// Rows of spot machines, unless their pool says something of capacity types: who says nothing is not interrupted.
pub(crate) fn unasked_spot(compiled: &Compiled<'_>, guards: &Guards) -> Bits {
    let silent: Vec<bool> = compiled
        .templates
        .iter()
        .map(|template| !template.pool.requirements.iter().any(names_terms))
        .collect();
    compiled.rows.select(|row| {
        let types = compiled.templates[row.template].catalogue.types();
        let offering = &types[row.instance_type].offerings[row.offering];
        guards.enabled
            && !guards.unasked_spot
            && silent[row.template]
            && offering.capacity_type == CapacityType::Spot
    })
}

/// Whether a requirement speaks of capacity types.
pub(crate) fn names_terms(requirement: &Requirement) -> bool {
    requirement.key().as_str() == labels::CAPACITY_TYPE
}

/// Whether a requirement says by name which types are wanted.
pub(crate) fn names_types(requirement: &Requirement) -> bool {
    let listed = requirement.listed();
    NAMING.contains(&requirement.key().as_str()) && listed.is_some_and(|values| !values.is_empty())
}

/// Whether a type is burstable, of a previous generation or bare metal.
pub(crate) fn is_exotic(instance_type: &crate::catalogue::InstanceType) -> bool {
    let label = |key: &str| {
        instance_type
            .requirements
            .get(key)
            .and_then(|requirement| requirement.single())
            .map(AsRef::as_ref)
    };
    let family = label("karpenter.k8s.aws/instance-family").unwrap_or("");
    let generation = label("karpenter.k8s.aws/instance-generation")
        .and_then(|text: &str| text.parse::<i64>().ok());
    BURSTABLE.contains(&family)
        || generation.is_some_and(|generation| generation <= PREVIOUS_GENERATION)
        || label("karpenter.k8s.aws/instance-size")
            .is_some_and(|size: &str| size.starts_with("metal"))
}

/// The most pods that may be planned on a new node of a row.
pub(crate) fn most_pods(compiled: &Compiled<'_>, row: usize, guards: &Guards) -> usize {
    if !guards.enabled {
        return usize::MAX;
    }
    let (instance_type, _) = compiled.offering(row);
    let small = instance_type.capacity.get(&ResourceName::Cpu) <= guards.small_node_cpu_milli;
    let most = if small {
        guards.pods_small_node
    } else {
        guards.pods_large_node
    };
    usize::try_from(most).unwrap_or(usize::MAX)
}

/// Room for pods on a node of a row, with the bound on their number; the bound yields to `fullest`, the most pods that
/// must share a host.
pub(crate) fn capacity(
    compiled: &Compiled<'_>,
    row: usize,
    guards: &Guards,
    fullest: usize,
) -> Box<[i64]> {
    let mut result: Box<[i64]> = compiled.rows.capacity(row).into();
    let most = most_pods(compiled, row, guards).max(fullest);
    let most = i64::try_from(most).unwrap_or(i64::MAX);
    for (axis, amount) in result.iter_mut().enumerate() {
        if *compiled.axes.name(axis) == ResourceName::Pods {
            *amount = (*amount).min(most);
        }
    }
    result
}

/// The most replicas of each workload that one new node may get, by owner; workloads with few replicas are not in it.
/// Replicas that run already count among all of them.
pub(crate) fn replicas_per_node(compiled: &Compiled<'_>, guards: &Guards) -> BTreeMap<Uid, u32> {
    let mut replicas: BTreeMap<&Uid, u32> = BTreeMap::new();
    if guards.enabled && guards.replicas_apart > 0 {
        let pods = &compiled.snapshot.pods;
        for pod in pods.iter().filter(|pod| pod.is_active() && !pod.is_spare()) {
            if let Some(owner) = &pod.owner {
                *replicas.entry(&owner.uid).or_default() += 1;
            }
        }
    }
    replicas
        .into_iter()
        .filter(|(_, count)| *count >= guards.replicas_apart)
        .map(|(uid, count)| (uid.clone(), (count / guards.replicas_apart).max(1)))
        .collect()
}
