//! Settings of the provider by flag and environment, under Karpenter's names. A value of the environment that cannot be parsed gives the
//! default, as with Karpenter, and a warning; one that is parsed and out of range is refused.

use std::str::FromStr;

use anyhow::{Result, anyhow, bail};
use k8s_openapi::jiff::SignedDuration;
use plimsoll_api::duration;
use plimsoll_aws::{NodeSettings, RefreshIntervals};
use plimsoll_base::time::Span;
use plimsoll_ec2_facts::Share;
use plimsoll_model::snapshot::Settings;

use crate::flags;
use crate::leader::{is_false, is_true};

/// Share of memory taken to be kept by hypervisor and firmware, unless said: Karpenter's share.
const MEMORY_OVERHEAD: f64 = 0.075;
const MILLION: f64 = 1_000_000.0;

/// Settings that change what nodes have. Open capacity reservations are filled while the gate `ReservedCapacity` is shut.
pub(super) fn nodes(
    flags: &flags::Aws,
    settings: &Settings,
    said: &impl Fn(&str) -> Option<String>,
) -> Result<NodeSettings> {
    Ok(NodeSettings {
        memory_overhead: overhead(flags, said)?,
        reserved_interfaces: reserved(flags, said),
        fills_open_reservations: !settings.reserved_capacity,
    })
}

/// The share of memory that is kept. Text of the environment that is no number gives the default, as Karpenter has it; a number that is no
/// share is refused.
fn overhead(flags: &flags::Aws, said: &impl Fn(&str) -> Option<String>) -> Result<Share> {
    let name = "VM_MEMORY_OVERHEAD_PERCENT";
    let written = said(name).filter(|text| is_read::<f64>(name, text, "a share such as 0.075"));
    let share = match (flags.vm_memory_overhead_percent, written) {
        (Some(share), _) => share,
        (None, Some(text)) => {
            flags::share(&text).map_err(|words| anyhow!("{name} is \"{text}\"; {words}"))?
        }
        (None, None) => MEMORY_OVERHEAD,
    };
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between nothing and a million"
    )]
    let millionths = (share * MILLION).round() as u32;
    Ok(Share::from_parts_per_million(millionths))
}

fn reserved(flags: &flags::Aws, said: &impl Fn(&str) -> Option<String>) -> u32 {
    let name = "RESERVED_ENIS";
    let text = || said(name).filter(|text| is_read::<u32>(name, text, "a number such as 1"));
    let written = || text()?.parse().ok();
    flags.reserved_enis.or_else(written).unwrap_or(0)
}

/// `true` if a variable can be read; otherwise the log says that it is ignored.
fn is_read<T: FromStr>(name: &str, text: &str, expected: &str) -> bool {
    let is_read = text.parse::<T>().is_ok();
    if !is_read {
        ignored(name, text, expected);
    }
    is_read
}

fn ignored(name: &str, text: &str, expected: &str) {
    tracing::warn!("{name} is \"{text}\", which is ignored; expected {expected}");
}

/// A switch by its flag, or else by its variable; off where neither says.
pub(super) fn is_set(
    flag: Option<bool>,
    name: &str,
    said: &impl Fn(&str) -> Option<String>,
) -> bool {
    let written = || {
        said(name).is_some_and(|text| {
            if !is_true(&text) && !is_false(&text) {
                tracing::warn!(
                    "{name} is \"{text}\", which is taken for false; expected true or false"
                );
            }
            is_true(&text)
        })
    };
    flag.unwrap_or_else(written)
}

/// Times between two questions for what classes name.
pub(super) fn intervals(
    flags: &flags::Aws,
    said: &impl Fn(&str) -> Option<String>,
) -> Result<RefreshIntervals> {
    let default = RefreshIntervals::default();
    let chosen = |flag: Option<Span>, name: &str, default| {
        anyhow::Ok(match flag {
            Some(span) => SignedDuration::from_millis(span.millis()),
            None => written(name, said)?.unwrap_or(default),
        })
    };
    Ok(RefreshIntervals {
        images: chosen(
            flags.ami_refresh_interval,
            "AMI_REFRESH_INTERVAL",
            default.images,
        )?,
        subnets: chosen(
            flags.subnet_refresh_interval,
            "SUBNET_REFRESH_INTERVAL",
            default.subnets,
        )?,
        security_groups: chosen(
            flags.security_group_refresh_interval,
            "SECURITY_GROUP_REFRESH_INTERVAL",
            default.security_groups,
        )?,
    })
}

/// A time between two questions by its variable; `None` where it says none.
fn written(name: &str, said: &impl Fn(&str) -> Option<String>) -> Result<Option<SignedDuration>> {
    let Some(text) = said(name) else {
        return Ok(None);
    };
    if duration::parse(&text).is_none() {
        ignored(name, &text, duration::EXPECTED);
        return Ok(None);
    }
    let span = flags::interval(&text).map_err(|words| anyhow!("{name} is \"{text}\"; {words}"))?;
    Ok(Some(SignedDuration::from_millis(span.millis())))
}

/// Fails where zonal shifts are to be followed: instances would stay in a zone that traffic was shifted away from.
pub(super) fn refuse_zonal_shifts(
    flags: &flags::Aws,
    said: &impl Fn(&str) -> Option<String>,
) -> Result<()> {
    if is_set(flags.enable_zonal_shift, "ENABLE_ZONAL_SHIFT", said) {
        bail!(
            "--enable-zonal-shift is \"true\"; expected false, the only value served: zonal shifts are not followed, and a zone is avoided by a \
             requirement of the NodePool or by the subnets of the class"
        );
    }
    Ok(())
}

/// A warning for each gate of AWS that is open or unknown.
pub(super) fn gates(
    flags: &flags::Aws,
    said: &impl Fn(&str) -> Option<String>,
) -> Result<Vec<String>> {
    let text = flags.gates.clone();
    let text = text.or_else(|| said("AWS_FEATURE_GATES"));
    let text = text.unwrap_or_default();
    let mut warnings = Vec::new();
    for entry in text.split(',').map(str::trim).filter(|it| !it.is_empty()) {
        let (name, is_open) = match entry.split_once('=') {
            Some((name, "true")) => (name, true),
            Some((name, "false")) => (name, false),
            _ => bail!("--aws-feature-gates has \"{entry}\"; expected NAME=true or NAME=false"),
        };
        match GATES.iter().find(|(known, _)| *known == name) {
            Some((_, instead)) if is_open => warnings.push(format!(
                "--aws-feature-gates opens {name}, which has no effect: {instead}"
            )),
            Some(_) => {}
            None => {
                let known = GATES.map(|(known, _)| known).join(", ");
                warnings.push(format!(
                    "--aws-feature-gates names {name}, which is ignored; known are {known}"
                ));
            }
        }
    }
    Ok(warnings)
}

/// Gates of Karpenter on AWS, all of which are shut there by default, with what is done instead.
const GATES: [(&str, &str); 4] = [
    (
        "NodeClassCEL",
        "kubelet settings of EC2NodeClasses are values and no expressions",
    ),
    ("DRANVIDIAGPU", "no node is planned for device claims"),
    ("DRAEFA", "no node is planned for device claims"),
    ("RebootForRepair", "a node is repaired by another one"),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn from<T>(
        pairs: &[(&str, &str)],
        read: impl Fn(&flags::Aws, &dyn Fn(&str) -> Option<String>) -> Result<T>,
    ) -> Result<T, String> {
        let said = |name: &str| {
            let mut pairs = pairs.iter();
            let found = pairs.find(|(key, _)| *key == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        read(&flags::Aws::default(), &said).map_err(|error| error.to_string())
    }

    #[test]
    fn images_subnets_and_security_groups_are_asked_for_at_intervals_of_at_least_a_minute() {
        let read = |pairs: &[(&str, &str)]| from(pairs, |flags, said| intervals(flags, &said));
        let told = read(&[
            ("AMI_REFRESH_INTERVAL", "1h30m"),
            ("SUBNET_REFRESH_INTERVAL", "soon"),
            ("SECURITY_GROUP_REFRESH_INTERVAL", "5m"),
        ]);
        let expected = RefreshIntervals {
            images: SignedDuration::from_mins(90),
            security_groups: SignedDuration::from_mins(5),
            ..RefreshIntervals::default()
        };
        assert_eq!(told, Ok(expected));
        let refused = read(&[("SUBNET_REFRESH_INTERVAL", "59s")]);
        let words = "SUBNET_REFRESH_INTERVAL is \"59s\"; expected a duration of at least 1m, such as 5m or 1h30m";
        assert_eq!(refused, Err(words.to_owned()));
        let refused = read(&[("SECURITY_GROUP_REFRESH_INTERVAL", "30s")]);
        assert_eq!(
            refused,
            Err(format!(
                "SECURITY_GROUP_REFRESH_INTERVAL is \"30s\"; {}",
                "expected a duration of at least 1m, such as 5m or 1h30m"
            ))
        );
        let flags = flags::Aws {
            subnet_refresh_interval: Some(Span::from_secs(120)),
            ..flags::Aws::default()
        };
        let subnets = intervals(&flags, &|_| None).map(|own| own.subnets);
        assert_eq!(subnets.ok(), Some(SignedDuration::from_mins(2)));
    }

    #[test]
    fn open_reservations_are_filled_while_the_gate_of_reserved_capacity_is_shut() {
        for (gates, fills) in [
            ("", false),
            ("ReservedCapacity=true", false),
            ("ReservedCapacity=false", true),
        ] {
            let mut settings = Settings::default();
            crate::gates::set(&mut settings, gates).expect("gates");
            let nodes = from(&[], |flags, said| nodes(flags, &settings, &said)).expect("settings");
            assert_eq!(nodes.fills_open_reservations, fills, "{gates}");
        }
    }

    #[test]
    fn zonal_shifts_are_refused_and_not_ignored() {
        let read = |text| {
            from(&[("ENABLE_ZONAL_SHIFT", text)], |flags, said| {
                refuse_zonal_shifts(flags, &said)
            })
        };
        assert_eq!(read("false"), Ok(()));
        let refused = read("true").expect_err("refused");
        assert!(
            refused.starts_with("--enable-zonal-shift is \"true\"; expected false"),
            "{refused}"
        );
    }

    #[test]
    fn gates_that_are_open_are_told_to_have_no_effect() {
        let read = |text| {
            from(&[("AWS_FEATURE_GATES", text)], |flags, said| {
                gates(flags, &said)
            })
        };
        let shut = "NodeClassCEL=false,DRANVIDIAGPU=false,DRAEFA=false,RebootForRepair=false, ";
        assert_eq!(read(shut), Ok(Vec::new()));
        let told = read("RebootForRepair=true").expect("read");
        assert!(
            told[0].contains("opens RebootForRepair, which has no effect"),
            "{told:?}"
        );
        let told = read("NodeClassCEL=true,Other=false").expect("read");
        assert!(
            told[0].contains("opens NodeClassCEL, which has no effect"),
            "{told:?}"
        );
        assert!(
            told[1].contains("names Other, which is ignored"),
            "{told:?}"
        );
        let words = "--aws-feature-gates has \"NodeClassCEL\"; expected NAME=true or NAME=false";
        assert_eq!(read("NodeClassCEL"), Err(words.to_owned()));
    }
}
