//! Bounds on what cheap packing may do, as far as they shape the packing problem. Every one yields rather than leave a pod
//! without a machine.

use super::compile::Compiled;
use crate::bits::Bits;
use crate::labels;
use crate::model::NodePool;
use crate::resources::ResourceName;
use crate::snapshot::Guards;

/// Families that share a core's time.
const BURSTABLE: [&str; 4] = ["t2", "t3", "t3a", "t4g"];
/// Generations up to this one are previous ones.
const PREVIOUS_GENERATION: i64 = 2;

/// Rows that guards keep from being bought: machines too large, burstable, of a previous generation, or bare metal, unless
/// the pool names the property.
pub(super) fn exotic(compiled: &Compiled<'_>, guards: &Guards) -> Bits {
    let rows = &compiled.rows;
    if !guards.enabled {
        return Bits::none(rows.len());
    }
    let types = compiled.snapshot.catalogue.types().iter();
    let of_type: Vec<(bool, bool)> = types
        .map(|sold| {
            let cpu = sold.capacity.get(&ResourceName::Cpu);
            (cpu > guards.largest_node_cpu_milli, is_exotic(sold))
        })
        .collect();
    let templates = compiled.templates.iter();
    let named: Vec<bool> = templates
        .map(|template| names_types(&template.pool))
        .collect();
    rows.select(|row| {
        let (large, exotic) = of_type[row.instance_type];
        large || (!guards.exotic_types && !named[row.template] && exotic)
    })
}

/// Whether a pool says which types it wants.
fn names_types(pool: &NodePool) -> bool {
    pool.requirements.iter().any(|requirement| {
        let key = requirement.key().as_str();
        [
            labels::INSTANCE_TYPE,
            "karpenter.k8s.aws/instance-family",
            "karpenter.k8s.aws/instance-category",
        ]
        .contains(&key)
            && requirement
                .listed()
                .is_some_and(|values| !values.is_empty())
    })
}

fn is_exotic(instance_type: &crate::catalog::InstanceType) -> bool {
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

/// Room for pods on a node of a row, with the bound on their number; the bound yields to `fullest`, the most pods that
/// must share a host.
pub(super) fn capacity(
    compiled: &Compiled<'_>,
    row: usize,
    guards: &Guards,
    fullest: usize,
) -> Box<[i64]> {
    let mut result: Box<[i64]> = compiled.rows.capacity(row).into();
    if guards.enabled {
        let (instance_type, _) = compiled.offering(row);
        let small = instance_type.capacity.get(&ResourceName::Cpu) <= guards.small_node_cpu_milli;
        let most = i64::from(if small {
            guards.pods_small_node
        } else {
            guards.pods_large_node
        });
        let most = most.max(i64::try_from(fullest).unwrap_or(i64::MAX));
        for (axis, amount) in result.iter_mut().enumerate() {
            if *compiled.axes.name(axis) == ResourceName::Pods {
                *amount = (*amount).min(most);
            }
        }
    }
    result
}
