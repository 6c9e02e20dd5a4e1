//! Pools that a controller does not serve as written.

use std::collections::BTreeMap;
use std::sync::Arc;

use plimsoll_base::cron::{Schedule, WHOLE};
use plimsoll_base::labels::{self, LabelKey};
use plimsoll_base::requirement::{Operator, Requirement};
use serde_json::Value;

use super::super::finding::{Findings, or, shown};
use super::super::{items, text};
use crate::duration;
use crate::keys::AWS_DOMAIN;
use crate::schema::Pattern;

/// Expiry below which every node is replaced several times a day.
const SHORT_LIFE_S: i64 = 6 * 3600;
/// Keys whose values are a fixed list.
const FIXED: [(&str, &[&str]); 2] = [
    (labels::CAPACITY_TYPE, &["on-demand", "spot", "reserved"]),
    (
        "karpenter.k8s.aws/instance-tenancy",
        &["default", "dedicated"],
    ),
];
/// Domain of the keys of KWOK's provider, and group of its kinds.
const KWOK_DOMAIN: &str = "karpenter.kwok.sh";
/// Begins of the names of the provider's labels, which look alike in other domains.
const LOOK_ALIKE: [&str; 2] = ["instance-", "capacity-reservation-"];

/// Remarks about a pool's specification.
pub(super) fn check(spec: &Value, findings: &mut Findings) {
    let null = Value::Null;
    let template = spec.pointer("/template/spec").unwrap_or(&null);
    taints(template, findings);
    requirements(template, findings);
    budgets(spec, findings);
    let life = template
        .get("expireAfter")
        .and_then(Value::as_str)
        .and_then(seconds);
    if life.is_some_and(|life| life < SHORT_LIFE_S)
        && template.get("terminationGracePeriod").is_none()
    {
        findings.advice(
            "spec.template.spec.expireAfter",
            format!("is {}: expiry does not ask budgets, and without terminationGracePeriod one pod that may not be evicted holds its node for ever", shown(&template["expireAfter"])),
        );
    }
}

fn seconds(text: &str) -> Option<i64> {
    duration::parse(text).map(|span| span.millis() / 1000)
}

fn taints(template: &Value, findings: &mut Findings) {
    let mut seen = BTreeMap::new();
    for field in ["taints", "startupTaints"] {
        for (at, taint) in items(template, field).iter().enumerate() {
            let path = format!("spec.template.spec.{field}[{at}]");
            let pair = (text(taint, "key"), text(taint, "effect"));
            if let Some(first) = seen.insert(pair, path.clone()) {
                findings.fault(
                    path,
                    format!(
                        "is {}:{} like {first}; expected each pair of key and effect once",
                        pair.0, pair.1
                    ),
                );
            }
        }
    }
}

fn requirements(template: &Value, findings: &mut Findings) {
    let mut joined: BTreeMap<&str, Requirement> = BTreeMap::new();
    let class = template.get("nodeClassRef");
    let class = class.map_or("", |class| text(class, "group"));
    for (at, requirement) in items(template, "requirements").iter().enumerate() {
        let path = format!("spec.template.spec.requirements[{at}]");
        let (key, operator) = (text(requirement, "key"), text(requirement, "operator"));
        let values: Vec<&str> = items(requirement, "values")
            .iter()
            .filter_map(Value::as_str)
            .collect();
        of_provider(&path, key, class, findings);
        useless(&path, operator, &values, findings);
        for (at, value) in values.iter().enumerate() {
            if Pattern::named("label-value").is_some_and(|pattern| !pattern.fits(value)) {
                findings.fault(format!("{path}.values[{at}]"), format!("is \"{value}\", which no label can be; expected letters, digits, dashes, underscores and dots"));
            }
        }
        if operator == "In" {
            fixed(&path, key, &values, requirement, findings);
        }
        let texts: Vec<Arc<str>> = values.iter().map(|value| Arc::from(*value)).collect();
        let Some(Ok(one)) = Operator::parse(operator)
            .map(|operator| Requirement::new(LabelKey::from(key), operator, &texts))
        else {
            continue;
        };
        let whole = match joined.get(key) {
            Some(others) => others.intersect(&one),
            None => one,
        };
        if whole
            .listed()
            .is_some_and(std::collections::BTreeSet::is_empty)
            && operator != "DoesNotExist"
        {
            findings.fault(&path, format!("leaves no value of {key}: together with those before it, no instance type can meet it"));
        }
        joined.insert(key, whole);
    }
}

/// A key that no node of the pool's class has, though it is one of a provider or looks like one. What the classes of other providers
/// give their nodes is theirs to say.
fn of_provider(path: &str, key: &str, class: &str, findings: &mut Findings) {
    let Some((domain, name)) = key.split_once('/') else {
        return;
    };
    if !["", AWS_DOMAIN, KWOK_DOMAIN].contains(&class) {
        if [AWS_DOMAIN, KWOK_DOMAIN].contains(&domain) {
            findings.fault(format!("{path}.key"), format!("is {key}, a label of another provider than that of {class}: it is taken for a label of your own and chooses nothing"));
        }
        return;
    }
    let meant = format!("{AWS_DOMAIN}/{name}");
    let is_theirs = domain == AWS_DOMAIN || name == "instance-type" || domain == KWOK_DOMAIN;
    if !is_theirs && LOOK_ALIKE.iter().any(|begin| name.starts_with(begin)) {
        findings.fault(format!("{path}.key"), format!("is {key}, which no instance type has: it is taken for a label of your own and chooses nothing; did you mean {meant}?"));
    }
}

fn useless(path: &str, operator: &str, values: &[&str], findings: &mut Findings) {
    match operator {
        "Exists" | "DoesNotExist" if !values.is_empty() => findings.advice(
            format!("{path}.values"),
            format!("is ignored: operator {operator} takes no values"),
        ),
        "NotIn" if values.is_empty() => {
            findings.advice(
                format!("{path}.values"),
                "is empty: NotIn without values excludes nothing",
            );
        }
        _ => {}
    }
}

/// Values of a key that has a fixed list of them.
fn fixed(path: &str, key: &str, values: &[&str], requirement: &Value, findings: &mut Findings) {
    let Some((_, known)) = FIXED.iter().find(|(fixed, _)| *fixed == key) else {
        return;
    };
    let strangers: Vec<&str> = values
        .iter()
        .filter(|value| !known.contains(value))
        .copied()
        .collect();
    if strangers.is_empty() {
        return;
    }
    let left = values.len() - strangers.len();
    let least = requirement
        .get("minValues")
        .and_then(Value::as_u64)
        .unwrap_or(1);
    let what = if (left as u64) < least {
        "; too few known ones are left, and the pool is not served"
    } else {
        ""
    };
    findings.fault(
        format!("{path}.values"),
        format!("has {}; {key} is {}{what}", strangers.join(", "), or(known)),
    );
}

fn budgets(spec: &Value, findings: &mut Findings) {
    let null = Value::Null;
    let disruption = spec.get("disruption").unwrap_or(&null);
    for (at, budget) in items(disruption, "budgets").iter().enumerate() {
        let schedule = text(budget, "schedule");
        if let Some(fault) = schedule_fault(schedule) {
            findings.fault(format!("spec.disruption.budgets[{at}].schedule"), fault);
        }
        let reasons = budget.get("reasons").filter(|list| !list.is_null());
        if reasons.and_then(Value::as_array).is_some_and(Vec::is_empty) {
            findings.fault(
                format!("spec.disruption.budgets[{at}].reasons"),
                "is an empty list: the budget limits nothing; leave the field out to limit every reason. A client that writes the pool back and drops empty lists, as those in Go do, turns the one into the other",
            );
        }
        let is_shut = ["0", "0%"].contains(&text(budget, "nodes"))
            && schedule.is_empty()
            && reasons.is_none();
        if is_shut && text(disruption, "consolidateAfter") == "0s" {
            findings.advice(
                "spec.disruption.consolidateAfter",
                "is 0s without effect: a budget of 0 always holds",
            );
        }
    }
}

/// Fault of a budget's schedule; `None` where it can be read, or where there is none.
fn schedule_fault(schedule: &str) -> Option<String> {
    let fault = Schedule::parse(schedule).err();
    let fault = fault.filter(|_| !schedule.is_empty())?;
    let (field, found, expected) = (fault.field, fault.found, fault.expected);
    let part = match field {
        WHOLE => String::new(),
        field => format!(" ({field} is \"{found}\", expected {expected})"),
    };
    Some(format!(
        "is \"{schedule}\", which is not a valid cron expression{part}: the budget counts as 0, and no node of the NodePool is disrupted voluntarily; expected five fields in UTC such as 0 9 * * 1-5, or a macro such as @daily"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schedule_is_held_to_the_grammar_that_decisions_read_it_by() {
        for valid in ["", "@daily", "0 9 * * 1-5", "*/5 0 1 jan SUN"] {
            assert_eq!(schedule_fault(valid), None, "{valid}");
        }
        let effect = "the budget counts as 0, and no node of the NodePool is disrupted voluntarily; expected five fields in UTC such as 0 9 * * 1-5, or a macro such as @daily";
        for (schedule, part) in [
            ("61 25 * * *", " (the minute is \"61\", expected 0 to 59)"),
            // Karpenter does not take Sunday for 7, nor do budgets.
            (
                "0 9 * * 7",
                " (the day of the week is \"7\", expected 0 to 6)",
            ),
            ("@dailyX", ""),
        ] {
            assert_eq!(
                schedule_fault(schedule),
                Some(format!(
                    "is \"{schedule}\", which is not a valid cron expression{part}: {effect}"
                ))
            );
        }
    }
}
