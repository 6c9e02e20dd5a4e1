//! `karpenter.sh/v1 NodePool`, with the API's defaults.

use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use plimsoll_base::ids::PoolName;
use plimsoll_base::labels::Labels;
use plimsoll_base::time::{Span, Timestamp};
use plimsoll_base::units::PricePerHour;
use plimsoll_model::{
    Budget, BudgetNodes, BudgetReason, BudgetReasons, Ceilings, ClassRef, ConsolidationPolicy,
    MEMORY, NamedPolicies, NodePool, PackingMode, PoolDisruption, Status,
};
use serde_json::{Map, Value, json};

use super::amounts::amounts;
use super::{condition, metadata, own_annotations, requirement, taint, template, unread};
use crate::error::{FieldError, Within};
use crate::intern::Interner;
use crate::kinds::{self, Condition, NodeClassReference};
use crate::object::Kind;
use crate::{duration, keys, write};

/// Oldest age of a node when nothing is said: 720 hours.
const DEFAULT_EXPIRY: Span = Span::from_secs(720 * 3600);
/// Largest weight the API takes.
const MAX_WEIGHT: i32 = 100;

/// A pool. Without conditions, as in a manifest, it counts as ready.
pub(crate) fn node_pool(
    written: &kinds::NodePool,
    interner: &mut Interner,
) -> Result<NodePool, FieldError> {
    let (metadata, spec) = (&written.metadata, &written.spec);
    let of_template = &spec.template.metadata;
    let template = &spec.template.spec;
    let taints = |list: &Option<Vec<_>>, interner: &mut Interner| {
        taint::of_template(list.as_deref().unwrap_or_default(), interner)
    };
    let inner = "spec.template.spec";
    let limits = spec.limits.as_ref().map(|list| amounts(list, interner));
    let conditions = written.status.as_ref().map(|status| &status.conditions);
    let mut unread = unread::of(metadata);
    let is_understood = unread.problem.is_none();
    let unknown = unknown_reasons(spec).into_iter();
    let unknown = unknown.chain(own_annotations::unknown(metadata));
    let unknown = unknown.filter(|words| !unread.ignored.contains(words));
    let unknown: Vec<Arc<str>> = unknown.collect();
    unread.ignored.extend(unknown);
    Ok(NodePool {
        name: PoolName::from(interner.text(metadata::name(metadata)?)),
        uid: metadata::uid(metadata),
        weight: weight(spec.weight, MAX_WEIGHT)?,
        class: class(&template.node_class_ref, interner)
            .within(format_args!("{inner}.nodeClassRef"))?,
        labels: interner.map(of_template.labels.iter().flatten()),
        annotations: interner.map(of_template.annotations.iter().flatten()),
        requirements: requirement::of_pool(&template.requirements, interner)
            .within(format_args!("{inner}.requirements"))?,
        taints: taints(&template.taints, interner).within(format_args!("{inner}.taints"))?,
        startup_taints: taints(&template.startup_taints, interner)
            .within(format_args!("{inner}.startupTaints"))?,
        limits: limits.transpose().within("spec.limits")?,
        expire_after: expiry(template.expire_after.as_deref()).within(inner)?,
        termination_grace: grace(template.termination_grace_period.as_deref()).within(inner)?,
        replicas: replicas(spec.replicas)?,
        ready: is_understood && conditions.is_none_or(|conditions| is_ready(conditions)),
        deleting: metadata::deleting(metadata),
        disruption: disruption(spec.disruption.as_ref()).within("spec.disruption")?,
        packing: packing(metadata::annotation(metadata, keys::PACKING))?,
        ceilings: ceilings(metadata)?,
        own_labels: own_labels(metadata, interner),
        policies: policies(metadata, interner),
        written: template::text(&spec.template),
        unread,
        status: status(written, interner),
    })
}

/// What a pool's status says. Capacity that cannot be read counts as not said: it is counted anew.
fn status(written: &kinds::NodePool, interner: &mut Interner) -> Status {
    let metadata = &written.metadata;
    let own = MEMORY
        .into_iter()
        .filter_map(|key| Some((key, metadata::annotation(metadata, key)?)));
    let memory: Labels = own.map(|(key, text)| (key.into(), text.into())).collect();
    let Some(status) = &written.status else {
        return Status {
            generation: metadata::generation(metadata),
            memory,
            ..Status::default()
        };
    };
    let created = metadata::created(metadata);
    Status {
        generation: metadata::generation(metadata),
        conditions: condition::conditions_without_ready(&status.conditions, created, interner),
        nodes: status.nodes,
        resources: amounts(&status.resources, interner).unwrap_or_default(),
        class_generation: status.node_class_observed_generation,
        memory,
        ..Status::default()
    }
}

/// The class that a pool or claim names.
pub(super) fn class(
    reference: &NodeClassReference,
    interner: &mut Interner,
) -> Result<ClassRef, FieldError> {
    for (field, value) in [
        ("group", &reference.group),
        ("kind", &reference.kind),
        ("name", &reference.name),
    ] {
        if value.is_empty() {
            return Err(FieldError::unexpected(field, value, "some text"));
        }
    }
    Ok(ClassRef {
        group: interner.text(&reference.group),
        kind: interner.text(&reference.kind),
        name: interner.text(&reference.name),
    })
}

/// `expireAfter` of a pool or claim.
pub(super) fn expiry(text: Option<&str>) -> Result<Option<Span>, FieldError> {
    text.map_or(Ok(Some(DEFAULT_EXPIRY)), |text| {
        duration::read_or_never("expireAfter", text)
    })
}

/// `terminationGracePeriod` of a pool or claim.
pub(super) fn grace(text: Option<&str>) -> Result<Option<Span>, FieldError> {
    text.map(|text| duration::read("terminationGracePeriod", text))
        .transpose()
}

/// A weight from 1 to `most`; 0 when absent.
pub(super) fn weight(written: Option<i32>, most: i32) -> Result<u32, FieldError> {
    let written = written.unwrap_or(0);
    u32::try_from(written)
        .ok()
        .filter(|_| written <= most)
        .ok_or_else(|| {
            let expected = if most == MAX_WEIGHT {
                "a number from 1 to 100"
            } else {
                "a number from 1 to 10000"
            };
            FieldError::unexpected("spec.weight", written, expected)
        })
}

fn replicas(written: Option<i64>) -> Result<Option<u32>, FieldError> {
    let one = |count: i64| {
        u32::try_from(count)
            .map_err(|_| FieldError::unexpected("spec.replicas", count, "a number of at least 0"))
    };
    written.map(one).transpose()
}

fn is_ready(conditions: &[Condition]) -> bool {
    conditions
        .iter()
        .find(|condition| condition.kind == "Ready")
        .is_none_or(|condition| condition.status == "True")
}

fn packing(annotation: Option<&str>) -> Result<PackingMode, FieldError> {
    match annotation {
        None | Some("price") => Ok(PackingMode::Price),
        Some("compatible") => Ok(PackingMode::Compatible),
        Some(other) => Err(FieldError::unexpected(
            "metadata.annotations[plimsoll.dev/packing]",
            other,
            "price or compatible",
        )),
    }
}

fn own_labels(metadata: &ObjectMeta, interner: &mut Interner) -> Labels {
    let labels = metadata.labels.as_ref();
    labels
        .map(|labels| interner.map(labels))
        .unwrap_or_default()
}

/// Policies that a pool's annotations name.
fn policies(metadata: &ObjectMeta, interner: &mut Interner) -> NamedPolicies {
    let mut named = |key| {
        let name = metadata::annotation(metadata, key)?;
        Some(interner.text(name))
    };
    NamedPolicies {
        rank: named(NamedPolicies::RANK),
        consolidate: named(NamedPolicies::CONSOLIDATE),
        budget: named(NamedPolicies::BUDGET),
    }
}

/// Ceilings on buying that a pool's annotations set.
fn ceilings(metadata: &ObjectMeta) -> Result<Ceilings, FieldError> {
    let count = "a number of nodes of at least 0";
    let dollars = "dollars per hour of at least 0";
    Ok(Ceilings {
        nodes_in_flight: read(metadata, Ceilings::NODES_IN_FLIGHT, count, |text| {
            text.parse().ok()
        })?,
        nodes_per_minute: read(metadata, Ceilings::NODES_PER_MINUTE, count, |text| {
            text.parse().ok()
        })?,
        dollars_per_hour: read(metadata, Ceilings::DOLLARS_PER_HOUR, dollars, |text| {
            let price = PricePerHour::from_dollars(text.parse().ok()?)?;
            (price >= PricePerHour::ZERO).then_some(price)
        })?,
    })
}

/// The value of an annotation, if there is one.
fn read<T>(
    metadata: &ObjectMeta,
    key: &str,
    expected: &'static str,
    parse: impl Fn(&str) -> Option<T>,
) -> Result<Option<T>, FieldError> {
    let one = |text: &str| {
        let path = format!("metadata.annotations[{key}]");
        parse(text).ok_or_else(|| FieldError::unexpected(&path, text, expected))
    };
    metadata::annotation(metadata, key).map(one).transpose()
}

fn disruption(written: Option<&kinds::Disruption>) -> Result<PoolDisruption, FieldError> {
    let mut result = PoolDisruption::default();
    let Some(written) = written else {
        return Ok(result);
    };
    if let Some(policy) = written.consolidation_policy.as_deref() {
        result.policy = match policy {
            "WhenEmpty" => ConsolidationPolicy::WhenEmpty,
            "WhenEmptyOrUnderutilized" => ConsolidationPolicy::WhenEmptyOrUnderutilized,
            "Balanced" => ConsolidationPolicy::Balanced,
            other => {
                let expected = "WhenEmpty, WhenEmptyOrUnderutilized or Balanced";
                return Err(FieldError::unexpected(
                    "consolidationPolicy",
                    other,
                    expected,
                ));
            }
        };
    }
    if let Some(after) = written.consolidate_after.as_deref() {
        result.consolidate_after = duration::read_or_never("consolidateAfter", after)?;
    }
    if let Some(budgets) = &written.budgets {
        let one = |(at, entry): (usize, &kinds::BudgetEntry)| {
            budget(entry).within(format_args!("budgets[{at}]"))
        };
        result.budgets = budgets
            .iter()
            .enumerate()
            .map(one)
            .collect::<Result<_, _>>()?;
    }
    Ok(result)
}

/// Reasons of budgets that this version does not know, in words.
fn unknown_reasons(spec: &kinds::NodePoolSpec) -> Vec<Arc<str>> {
    let budgets = spec.disruption.iter().flat_map(|own| &own.budgets);
    let budgets = budgets.flatten().enumerate();
    let reasons = budgets.flat_map(|(at, budget)| {
        let reasons = budget.reasons.iter().flatten().enumerate();
        reasons.map(move |(place, name)| (at, place, name))
    });
    let unknown =
        reasons.filter(|(_, _, name)| matches!(BudgetReason::of(name), BudgetReason::Unknown(_)));
    let words = unknown.map(|(at, place, name)| {
        let path = format!("spec.disruption.budgets[{at}].reasons[{place}]");
        Arc::from(format!(
            "{path} is \"{name}\", which is not known to this version; the budget limits every reason"
        ))
    });
    words.collect()
}

fn budget(written: &kinds::BudgetEntry) -> Result<Budget, FieldError> {
    match (&written.schedule, &written.duration) {
        (Some(_), None) => {
            return Err(FieldError::missing(
                "duration",
                "a duration beside the schedule",
            ));
        }
        (None, Some(_)) => {
            return Err(FieldError::missing(
                "schedule",
                "a schedule beside the duration",
            ));
        }
        _ => {}
    }
    Ok(Budget {
        nodes: budget_nodes(written.nodes.as_deref().unwrap_or("10%"))?,
        reasons: match &written.reasons {
            None => BudgetReasons::All,
            Some(list) => {
                BudgetReasons::Listed(list.iter().map(|name| BudgetReason::of(name)).collect())
            }
        },
        schedule: written.schedule.as_deref().map(Arc::from),
        duration: written
            .duration
            .as_deref()
            .map(|text| duration::read("duration", text))
            .transpose()?,
    })
}

/// Reads `nodes` of a budget: a count such as `5`, or a share from `0%` to `100%`.
pub fn budget_nodes(text: &str) -> Result<BudgetNodes, FieldError> {
    let parsed = match text.strip_suffix('%') {
        Some(percent) => percent
            .parse()
            .ok()
            .filter(|percent| *percent <= 100)
            .map(BudgetNodes::Percent),
        None => text.parse().ok().map(BudgetNodes::Count),
    };
    parsed.ok_or_else(|| {
        FieldError::unexpected("nodes", text, "a count such as 5 or a share such as 10%")
    })
}

/// A pool as it is written.
pub(crate) fn to_value(pool: &NodePool) -> Value {
    let mut meta = write::metadata(pool.name.as_str(), Some(&pool.uid), Timestamp::default());
    write::deleting(&mut meta, pool.deleting);
    write::generation(&mut meta, pool.status.generation);
    let mut annotations = Map::new();
    if pool.packing == PackingMode::Compatible {
        annotations.insert(keys::PACKING.to_owned(), "compatible".into());
    }
    write_ceilings(&pool.ceilings, &mut annotations);
    write_policies(&pool.policies, &mut annotations);
    unread::write(&pool.unread, &mut annotations);
    for (key, text) in &pool.status.memory {
        annotations.insert(key.as_ref().to_owned(), text.as_ref().into());
    }
    write::put(&mut meta, "annotations", Value::Object(annotations));
    write::put(&mut meta, "labels", write::map(&pool.own_labels));
    let mut spec = json!({
        "template": template::to_value(pool),
        "disruption": write_disruption(pool),
    });
    if pool.weight > 0 {
        spec["weight"] = pool.weight.into();
    }
    if let Some(replicas) = pool.replicas {
        spec["replicas"] = replicas.into();
    }
    if let Some(limits) = &pool.limits {
        spec["limits"] = write::amounts(limits);
    }
    let ready = if pool.ready { "True" } else { "False" };
    let mut conditions = vec![json!({"type": "Ready", "status": ready})];
    conditions.extend(condition::conditions_value(&pool.status.conditions));
    let mut status = Map::new();
    status.insert("conditions".to_owned(), conditions.into());
    write::put(
        &mut status,
        "resources",
        write::amounts(&pool.status.resources),
    );
    write::put(&mut status, "nodes", pool.status.nodes.into());
    let class = pool.status.class_generation;
    write::put(&mut status, "nodeClassObservedGeneration", class.into());
    write::framed(
        Kind::NodePool,
        Value::Object(meta),
        json!({"spec": spec, "status": status}),
    )
}

/// Annotations for the ceilings that a pool sets.
fn write_ceilings(ceilings: &Ceilings, annotations: &mut Map<String, Value>) {
    let nodes = |most: Option<u32>| most.map(|most| most.to_string());
    let dollars = ceilings.dollars_per_hour.map(PricePerHour::dollars);
    let written = [
        (Ceilings::NODES_IN_FLIGHT, nodes(ceilings.nodes_in_flight)),
        (Ceilings::NODES_PER_MINUTE, nodes(ceilings.nodes_per_minute)),
        (
            Ceilings::DOLLARS_PER_HOUR,
            dollars.map(|most| most.to_string()),
        ),
    ];
    for (key, most) in written {
        if let Some(most) = most {
            annotations.insert(key.to_owned(), most.into());
        }
    }
}

/// Annotations for the policies that a pool asks for by name.
fn write_policies(policies: &NamedPolicies, annotations: &mut Map<String, Value>) {
    let written = [
        (NamedPolicies::RANK, &policies.rank),
        (NamedPolicies::CONSOLIDATE, &policies.consolidate),
        (NamedPolicies::BUDGET, &policies.budget),
    ];
    for (key, name) in written {
        if let Some(name) = name {
            annotations.insert(key.to_owned(), name.as_ref().into());
        }
    }
}

fn write_disruption(pool: &NodePool) -> Value {
    let budget = |budget: &Budget| {
        let nodes = match budget.nodes {
            BudgetNodes::Count(count) => count.to_string(),
            BudgetNodes::Percent(percent) => format!("{percent}%"),
        };
        let mut entry = json!({"nodes": nodes});
        if let BudgetReasons::Listed(list) = &budget.reasons {
            let names = list.iter().map(BudgetReason::as_str);
            entry["reasons"] = names.collect::<Vec<_>>().into();
        }
        if let (Some(schedule), Some(length)) = (&budget.schedule, budget.duration) {
            entry["schedule"] = schedule.as_ref().into();
            entry["duration"] = duration::write(length).into();
        }
        entry
    };
    json!({
        "consolidationPolicy": format!("{:?}", pool.disruption.policy),
        "consolidateAfter": write::or_never(pool.disruption.consolidate_after),
        "budgets": pool.disruption.budgets.iter().map(budget).collect::<Vec<_>>(),
    })
}
