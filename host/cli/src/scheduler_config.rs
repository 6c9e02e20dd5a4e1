//! The cluster's scheduler as far as plans follow its settings: spread constraints of pods that have none of their own.
//!
//! They are a document of YAML or JSON as Karpenter 1.15 takes it, which has the fields of the scheduler's own
//! `PodTopologySpreadArgs`: `podTopologySpread.defaultConstraints`. It is read strictly: a field that is not known and a constraint that the
//! scheduler refuses stop the start, since pods would be planned otherwise than they are bound. Selectors are none of it: the scheduler
//! deduces them for each pod, and so does the planner.

use anyhow::{Context, Result, anyhow, bail};
use plimsoll_api::from_value;
use plimsoll_base::labels::{LabelKey, is_qualified};
use plimsoll_model::{DefaultSpread, WhenUnsatisfiable};
use serde::Deserialize;
use serde_json::Value;

/// The list of constraints in the document.
const LIST: &str = "podTopologySpread.defaultConstraints";

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Document {
    pod_topology_spread: Option<PodTopologySpread>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct PodTopologySpread {
    default_constraints: Option<Vec<Constraint>>,
}

/// A constraint as it is written; what it must not say is a field, too, and refused by name.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Constraint {
    max_skew: i64,
    topology_key: String,
    when_unsatisfiable: String,
    min_domains: Option<i64>,
    node_affinity_policy: Option<String>,
    node_taints_policy: Option<String>,
    label_selector: Option<Value>,
    match_label_keys: Option<Vec<String>>,
}

/// Constraints of a document; none where it is empty or has none.
pub(crate) fn read(text: &str) -> Result<Vec<DefaultSpread>> {
    let written = if text.trim().is_empty() {
        Value::Null
    } else {
        serde_saphyr::from_str(text).map_err(|error| {
            let words = error.without_snippet().to_string();
            anyhow!("is no YAML: {}", words.lines().next().unwrap_or_default())
        })?
    };
    let mut unknown = Vec::new();
    let document: Option<Document> =
        from_value(&written, &mut |path| unknown.push(path.to_owned()))?;
    if let Some(path) = unknown.first() {
        bail!("{path} is not known; expected {LIST} alone");
    }
    let list = document.and_then(|own| own.pod_topology_spread);
    let list = list.and_then(|own| own.default_constraints);
    let mut result: Vec<DefaultSpread> = Vec::new();
    for (at, constraint) in list.unwrap_or_default().iter().enumerate() {
        let own = one(constraint).with_context(|| format!("{LIST}[{at}]"))?;
        let is_same = |known: &DefaultSpread| {
            known.topology_key == own.topology_key
                && known.when_unsatisfiable == own.when_unsatisfiable
        };
        if result.iter().any(is_same) {
            bail!(
                "{LIST}[{at}] repeats {} with {:?}; expected each pair once",
                own.topology_key,
                own.when_unsatisfiable
            );
        }
        result.push(own);
    }
    Ok(result)
}

/// A constraint that the scheduler takes.
fn one(written: &Constraint) -> Result<DefaultSpread> {
    let positive = |name: &str, number: i64| {
        let read = u32::try_from(number).ok().filter(|number| *number > 0);
        read.ok_or_else(|| anyhow!("{name} is {number}; expected a whole number of at least 1"))
    };
    let key = written.topology_key.as_str();
    if !is_qualified(key) {
        bail!("topologyKey is \"{key}\"; expected a label key of nodes");
    }
    if written.label_selector.is_some() {
        bail!("labelSelector is given; expected none: selectors are deduced for each pod");
    }
    if written
        .match_label_keys
        .as_ref()
        .is_some_and(|keys| !keys.is_empty())
    {
        bail!("matchLabelKeys is given; expected none: it has no effect on default constraints");
    }
    for (name, policy, served) in [
        ("nodeAffinityPolicy", &written.node_affinity_policy, "Honor"),
        ("nodeTaintsPolicy", &written.node_taints_policy, "Ignore"),
    ] {
        if let Some(other) = policy.as_ref().filter(|policy| *policy != served) {
            bail!("{name} is \"{other}\"; expected {served}, the only value served here");
        }
    }
    Ok(DefaultSpread {
        max_skew: positive("maxSkew", written.max_skew)?,
        topology_key: LabelKey::from(key),
        when_unsatisfiable: match written.when_unsatisfiable.as_str() {
            "DoNotSchedule" => WhenUnsatisfiable::DoNotSchedule,
            "ScheduleAnyway" => WhenUnsatisfiable::ScheduleAnyway,
            other => {
                bail!("whenUnsatisfiable is \"{other}\"; expected DoNotSchedule or ScheduleAnyway")
            }
        },
        min_domains: written
            .min_domains
            .map(|number| positive("minDomains", number))
            .transpose()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const ZONES: &str = "podTopologySpread:\n  defaultConstraints:\n  - {maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: ScheduleAnyway}\n";

    #[test]
    fn constraints_are_read_as_yaml_and_as_json() {
        let read = |text: &str| read(text).expect("a document");
        let expected = DefaultSpread {
            max_skew: 1,
            topology_key: "topology.kubernetes.io/zone".into(),
            when_unsatisfiable: WhenUnsatisfiable::ScheduleAnyway,
            min_domains: None,
        };
        assert_eq!(read(ZONES), [expected]);
        let json = r#"{"podTopologySpread": {"defaultConstraints": [{"maxSkew": 2, "topologyKey": "kubernetes.io/hostname",
            "whenUnsatisfiable": "DoNotSchedule", "minDomains": 3, "nodeAffinityPolicy": "Honor", "nodeTaintsPolicy": "Ignore"}]}}"#;
        let [host] = &*read(json) else {
            unreachable!("one constraint")
        };
        assert_eq!((host.max_skew, host.min_domains), (2, Some(3)));
        for nothing in [
            "",
            "\n# none\n",
            "{}",
            "podTopologySpread: {}",
            "podTopologySpread: {defaultConstraints: []}",
        ] {
            assert_eq!(read(nothing), [], "{nothing}");
        }
    }

    #[test]
    fn faults_name_the_field_and_what_was_expected() {
        let refused = |text: &str| format!("{:#}", read(text).expect_err(text));
        let with = |field: &str| ZONES.replace("{maxSkew: 1,", &format!("{{{field},"));
        let at = "podTopologySpread.defaultConstraints[0]";
        for (field, words) in [
            (
                "maxSkew: 0",
                "maxSkew is 0; expected a whole number of at least 1",
            ),
            (
                "minDomains: 1",
                "maxSkew is 0; expected a whole number of at least 1",
            ),
            (
                "maxSkew: 1, minDomains: 0",
                "minDomains is 0; expected a whole number of at least 1",
            ),
            (
                "maxSkew: 1, labelSelector: {}",
                "labelSelector is given; expected none",
            ),
            (
                "maxSkew: 1, matchLabelKeys: [a]",
                "matchLabelKeys is given; expected none",
            ),
            (
                "maxSkew: 1, nodeTaintsPolicy: Honor",
                "nodeTaintsPolicy is \"Honor\"; expected Ignore",
            ),
        ] {
            let told = refused(&with(field));
            assert!(told.starts_with(&format!("{at}: {words}")), "{told}");
        }
        for (text, words) in [
            (ZONES.replace("topology.kubernetes.io/zone", "\"a b\""), format!("{at}: topologyKey is \"a b\"; expected a label key")),
            (ZONES.replace("ScheduleAnyway", "Maybe"), format!("{at}: whenUnsatisfiable is \"Maybe\"; expected DoNotSchedule or ScheduleAnyway")),
            (ZONES.replace("maxSkew: 1", "maxSkew: 1, skew: 2"), format!("{at}.skew is not known")),
            ("profiles: []".to_owned(), "profiles is not known; expected podTopologySpread.defaultConstraints alone".to_owned()),
            (ZONES.replace("maxSkew: 1", "maxSkew: one"), format!("{at}.maxSkew")),
            ("podTopologySpread: [".to_owned(), "is no YAML: ".to_owned()),
            (format!("{ZONES}{}", ZONES.lines().last().unwrap_or_default()), "podTopologySpread.defaultConstraints[1] repeats topology.kubernetes.io/zone with ScheduleAnyway".to_owned()),
        ] {
            let told = refused(&text);
            assert!(told.starts_with(&words), "{told}");
        }
    }
}
