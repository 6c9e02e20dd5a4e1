//! Settings of a controller's decisions, by flag and environment under Karpenter's names. A flag wins over the environment, which wins
//! over the default; a duration or boolean that the environment says in no way that is understood gives the default, as with Karpenter.

use anyhow::{Context, Result, bail};
use plimsoll_api::duration;
use plimsoll_base::time::Span;
use plimsoll_model::snapshot::{MinValuesPolicy, PreferencePolicy, Settings};

use crate::flags::Decisions;
use crate::gates;
use crate::leader::{is_false, is_true};
use crate::scheduler_config;

/// The settings, and warnings about what is ignored.
pub(crate) fn read(
    flags: &Decisions,
    environment: &impl Fn(&str) -> Option<String>,
) -> Result<(Settings, Vec<String>)> {
    let environment = |name: &str| environment(name).filter(|text| !text.is_empty());
    let default = Settings::default();
    let span = |flag: &Option<String>, name: &str, default: Span| -> Result<Span> {
        let Some(text) = flag else {
            let said = environment(name).and_then(|text| duration::parse(&text));
            return Ok(said.unwrap_or(default));
        };
        duration::parse(text).with_context(|| {
            format!(
                "{} is \"{text}\"; expected {}",
                typed(name),
                duration::EXPECTED
            )
        })
    };
    let text = |flag: &Option<String>, name: &str| flag.clone().or_else(|| environment(name));
    let (preferences, min_values) = policies(flags, &text)?;
    let mut settings = Settings {
        batch_idle: span(
            &flags.batch_idle_duration,
            "BATCH_IDLE_DURATION",
            default.batch_idle,
        )?,
        batch_max: span(
            &flags.batch_max_duration,
            "BATCH_MAX_DURATION",
            default.batch_max,
        )?,
        preferences,
        min_values,
        ..default
    };
    let device_claims = || environment("IGNORE_DRA_REQUESTS")?.parse().ok();
    let ignores = flags.ignore_dra_requests.or_else(device_claims);
    if ignores == Some(false) {
        return unexpected(
            "IGNORE_DRA_REQUESTS",
            "false",
            "true, the only value served",
        );
    }
    if let Some(config) = text(&flags.scheduler_config, "SCHEDULER_CONFIG") {
        let read = scheduler_config::read(&config);
        settings.default_spread = read.context(typed("SCHEDULER_CONFIG"))?;
    }
    let gates = text(&flags.feature_gates, "FEATURE_GATES").unwrap_or_default();
    let warnings = gates::set(&mut settings, &gates)?;
    let legacy = || is_true_or_false(&environment("LEGACY_NODE_REPAIR")?);
    if settings.node_repair && flags.legacy_node_repair.or_else(legacy) == Some(false) {
        bail!(NOT_LEGACY);
    }
    Ok((settings, warnings))
}

/// The refusal of node repair in another way than ours.
const NOT_LEGACY: &str = "--legacy-node-repair is \"false\" while the gate NodeRepair is open; expected true, or the gate shut: nodes are repaired at once and past budgets";

/// Preferences of pods and minimums of values, as flags and environment say.
fn policies(
    flags: &Decisions,
    text: &impl Fn(&Option<String>, &str) -> Option<String>,
) -> Result<(PreferencePolicy, MinValuesPolicy)> {
    let preferences = match text(&flags.preference_policy, "PREFERENCE_POLICY").as_deref() {
        None | Some("Respect") => PreferencePolicy::Respect,
        Some("Ignore") => PreferencePolicy::Ignore,
        Some(other) => return unexpected("PREFERENCE_POLICY", other, "Respect or Ignore"),
    };
    let min_values = match text(&flags.min_values_policy, "MIN_VALUES_POLICY").as_deref() {
        None | Some("Strict") => MinValuesPolicy::Strict,
        Some("BestEffort") => MinValuesPolicy::BestEffort,
        Some(other) => return unexpected("MIN_VALUES_POLICY", other, "Strict or BestEffort"),
    };
    Ok((preferences, min_values))
}

/// A switch as it stands in the environment; `None` for text that is neither, which is as if it were not there.
fn is_true_or_false(text: &str) -> Option<bool> {
    let is_true = is_true(text);
    (is_true || is_false(text)).then_some(is_true)
}

fn unexpected<T>(name: &str, value: &str, expected: &str) -> Result<T> {
    bail!("{} is \"{value}\"; expected {expected}", typed(name))
}

/// A setting as it is typed on the command line.
fn typed(name: &str) -> String {
    format!("--{}", name.to_lowercase().replace('_', "-"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from(pairs: &'static [(&str, &str)]) -> Result<Settings, String> {
        let environment = move |name: &str| {
            let mut pairs = pairs.iter();
            let found = pairs.find(|(key, _)| *key == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        let read = read(&Decisions::default(), &environment);
        read.map(|(settings, _)| settings)
            .map_err(|error| format!("{error:#}"))
    }

    #[test]
    fn the_environment_says_what_flags_leave_open() {
        let settings = from(&[
            ("BATCH_IDLE_DURATION", "2s"),
            ("BATCH_MAX_DURATION", "soon"),
            ("FEATURE_GATES", "NodeRepair=true"),
            ("PREFERENCE_POLICY", "Ignore"),
            ("MIN_VALUES_POLICY", "BestEffort"),
        ])
        .unwrap();
        assert_eq!(settings.batch_idle, Span::from_secs(2));
        assert_eq!(settings.batch_max, Settings::default().batch_max);
        assert!(settings.node_repair);
        assert_eq!(settings.preferences, PreferencePolicy::Ignore);
        assert_eq!(settings.min_values, MinValuesPolicy::BestEffort);
        let flags = Decisions {
            batch_idle_duration: Some("3s".to_owned()),
            ..Decisions::default()
        };
        let two = |_: &str| Some("2s".to_owned());
        let only = |name: &str| (name == "BATCH_IDLE_DURATION").then(|| two(name)).flatten();
        let read = read(&flags, &only).unwrap().0;
        assert_eq!(read.batch_idle, Span::from_secs(3));
    }

    #[test]
    fn default_spread_is_what_the_schedulers_settings_say() {
        let zones = "podTopologySpread: {defaultConstraints: [{maxSkew: 2, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule}]}";
        let said = |name: &str| (name == "SCHEDULER_CONFIG").then(|| zones.to_owned());
        let unsaid = read(&Decisions::default(), &said).unwrap().0;
        let [own] = &*unsaid.default_spread else {
            unreachable!("{unsaid:?}")
        };
        assert_eq!(own.max_skew, 2);
        let flags = Decisions {
            scheduler_config: Some("{}".to_owned()),
            ..Decisions::default()
        };
        let read = read(&flags, &said).unwrap().0;
        assert_eq!(read.default_spread, [], "the flag wins");
    }

    #[test]
    fn nodes_are_repaired_as_by_the_legacy_controller_or_not_at_all() {
        let open = ("FEATURE_GATES", "NodeRepair=true");
        let shut = ("FEATURE_GATES", "NodeRepair=false");
        let legacy = |text: &'static str| ("LEGACY_NODE_REPAIR", text);
        for (pairs, starts) in [
            (vec![open], true),
            (vec![open, legacy("true")], true),
            (vec![open, legacy("maybe")], true),
            (vec![open, legacy("False")], false),
            (vec![shut, legacy("false")], true),
            (vec![legacy("false")], true),
        ] {
            let said = |name: &str| {
                let found = pairs.iter().find(|(key, _)| *key == name);
                found.map(|(_, value)| (*value).to_owned())
            };
            let read = read(&Decisions::default(), &said);
            assert_eq!(read.is_ok(), starts, "{pairs:?}");
            if let Err(error) = read {
                let words = error.to_string();
                assert!(
                    words.starts_with("--legacy-node-repair is \"false\""),
                    "{words}"
                );
            }
        }
    }

    #[test]
    fn what_stops_the_start_is_named_as_it_is_typed() {
        for (pairs, words) in [
            (
                &[("PREFERENCE_POLICY", "Maybe")],
                "--preference-policy is \"Maybe\"; expected Respect or Ignore",
            ),
            (
                &[("MIN_VALUES_POLICY", "None")],
                "--min-values-policy is \"None\"; expected Strict or BestEffort",
            ),
            (
                &[("IGNORE_DRA_REQUESTS", "false")],
                "--ignore-dra-requests is \"false\"; expected true, the only value served",
            ),
            (
                &[("FEATURE_GATES", "NodeRepair=yes")],
                "--feature-gates has \"NodeRepair=yes\"; expected NAME=true or NAME=false",
            ),
        ] {
            assert_eq!(from(pairs).unwrap_err(), words);
        }
        let unspread = from(&[("SCHEDULER_CONFIG", "podTopologySpread: {constraints: []}")]);
        assert_eq!(
            unspread.unwrap_err(),
            "--scheduler-config: podTopologySpread.constraints is not known; expected podTopologySpread.defaultConstraints alone"
        );
        let flags = Decisions {
            batch_max_duration: Some("soon".to_owned()),
            ..Decisions::default()
        };
        let error = read(&flags, &|_: &str| None).unwrap_err().to_string();
        assert!(
            error.starts_with("--batch-max-duration is \"soon\"; expected "),
            "{error}"
        );
    }
}
