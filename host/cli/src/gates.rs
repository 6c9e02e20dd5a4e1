//! Gates of features as Karpenter writes them, `NodeOverlay=true,StaticCapacity=true`, and the settings behind them.

use anyhow::{Result, bail};
use plimsoll_model::snapshot::Settings;

/// A setting that is on or off.
type Setting = fn(&mut Settings) -> &mut bool;

/// Gates and their settings.
const GATES: [(&str, Setting); 6] = [
    ("CapacityBuffer", |settings| &mut settings.capacity_buffers),
    ("NodeOverlay", |settings| &mut settings.node_overlays),
    ("NodeRepair", |settings| &mut settings.node_repair),
    ("ReservedCapacity", |settings| {
        &mut settings.reserved_capacity
    }),
    ("SpotToSpotConsolidation", |settings| {
        &mut settings.churn.spot_to_spot
    }),
    ("StaticCapacity", |settings| &mut settings.static_capacity),
];

/// Gates of Karpenter 1.15 that are shut there by default and have no effect here, with what is done instead.
const SHUT: [(&str, &str); 3] = [
    (
        "PodDeletionCostManagement",
        "costs of deletion are written on no pod",
    ),
    (
        "TerminateFirstDrift",
        "a drifted node is replaced once there is room for its pods elsewhere",
    ),
    (
        "TerminateFirstRepair",
        "nodes are repaired as by the legacy controller",
    ),
];

/// Enables and disables feature gates; those that are not named stay as they are. Warns of each that has no effect here, and of unknown
/// names, which other versions may have.
pub(crate) fn set(settings: &mut Settings, text: &str) -> Result<Vec<String>> {
    let mut warnings = Vec::new();
    for entry in text.split(',').map(str::trim).filter(|it| !it.is_empty()) {
        let (name, open) = match entry.split_once('=') {
            Some((name, "true")) => (name, true),
            Some((name, "false")) => (name, false),
            _ => bail!("--feature-gates has \"{entry}\"; expected NAME=true or NAME=false"),
        };
        if let Some((_, instead)) = SHUT.iter().find(|(known, _)| *known == name) {
            if open {
                warnings.push(format!(
                    "--feature-gates opens {name}, which has no effect: {instead}"
                ));
            }
        } else if let Some((_, setting)) = GATES.iter().find(|(known, _)| *known == name) {
            *setting(settings) = open;
        } else {
            let known: Vec<&str> = GATES.iter().map(|(known, _)| *known).collect();
            let known = known.join(", ");
            warnings.push(format!(
                "--feature-gates names {name}, which is ignored; known are {known}"
            ));
        }
    }
    Ok(warnings)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set_to(text: &str) -> Result<Settings, String> {
        let mut settings = Settings::default();
        let warnings = set(&mut settings, text).map_err(|error| error.to_string())?;
        assert!(warnings.is_empty(), "{warnings:?}");
        Ok(settings)
    }

    #[test]
    fn gates_are_opened_and_shut_by_name() {
        let set = set_to("StaticCapacity=true, ReservedCapacity=false,NodeRepair=true").unwrap();
        assert!(set.static_capacity && set.node_repair && !set.reserved_capacity);
        assert_eq!(set_to(""), Ok(Settings::default()));
    }

    #[test]
    fn what_makes_no_sense_is_named() {
        let refused = |text: &str| set_to(text).unwrap_err();
        assert_eq!(
            refused("StaticCapacity"),
            "--feature-gates has \"StaticCapacity\"; expected NAME=true or NAME=false"
        );
        assert_eq!(
            refused("Drift=yes"),
            "--feature-gates has \"Drift=yes\"; expected NAME=true or NAME=false"
        );
    }

    #[test]
    fn newer_gates_are_passed_over_in_silence_while_they_are_shut() {
        let mut settings = Settings::default();
        let shut =
            "TerminateFirstDrift=false,TerminateFirstRepair=false,PodDeletionCostManagement=false";
        assert_eq!(set(&mut settings, shut).unwrap(), Vec::<String>::new());
        let told = set(&mut settings, "TerminateFirstDrift=true").unwrap();
        assert!(
            told[0].starts_with("--feature-gates opens TerminateFirstDrift, which has no effect"),
            "{told:?}"
        );
        assert_eq!(settings, Settings::default());
    }

    #[test]
    fn gates_that_nobody_knows_are_passed_over_with_a_warning() {
        let mut settings = Settings::default();
        let warnings = set(&mut settings, "Drift=true,StaticCapacity=true,Static=false").unwrap();
        assert!(settings.static_capacity);
        let known = "CapacityBuffer, NodeOverlay, NodeRepair, ReservedCapacity, SpotToSpotConsolidation, StaticCapacity";
        let warning =
            |name| format!("--feature-gates names {name}, which is ignored; known are {known}");
        assert_eq!(warnings, ["Drift", "Static"].map(warning));
    }
}
