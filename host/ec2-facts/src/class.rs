//! A class of instances on EC2: the room on its nodes by kubelet settings, image family and disks, and the types that it can launch.
//!
//! A setting that cannot be read is an error, never a default: a node planned too large would never come up as planned.

use plimsoll_base::resources::ResourceName;
use serde_json::Value;

use crate::allocatable::{
    AllocatableSettings, ClassInterfaces, Eviction, ImageFamily, InstanceStorePolicy,
    ReservedSetting,
};
use crate::demands::Demands;
use crate::instance_type::InstanceType;
use crate::share::Share;

/// Millionths in one percent.
const PER_PERCENT: f64 = 10_000.0;

/// Family of the first Arm generation, for which AL2023 has no images.
const TOO_OLD_FOR_AL2023: &str = "a1";

/// All that a class decides of what is sold to its pools.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClassSettings {
    /// Settings that the room on its nodes follows from.
    pub room: AllocatableSettings,
    /// Demands on the hardware of its instances.
    pub demands: Demands,
}

impl ClassSettings {
    /// `true` for a type that its image family boots and that meets its demands.
    pub fn can_launch(&self, facts: &InstanceType) -> bool {
        let is_too_old =
            self.room.family == ImageFamily::Al2023 && facts.family() == TOO_OLD_FOR_AL2023;
        !is_too_old && self.demands.are_met_by(facts)
    }
}

/// The settings of an EC2NodeClass as it is written, or a sentence about the field that cannot be read.
pub fn settings(class: &Value) -> Result<ClassSettings, String> {
    let null = Value::Null;
    let spec = class.get("spec").unwrap_or(&null);
    let kubelet = spec.get("kubelet").unwrap_or(&null);
    let family = family(spec);
    let default = AllocatableSettings::default();
    let hard = |signal: &str| eviction(kubelet, signal);
    let is_joined = spec.get("instanceStorePolicy").and_then(Value::as_str) == Some("RAID0");
    let room = AllocatableSettings {
        family,
        max_pods: count(kubelet, "maxPods")?,
        pods_per_core: count(kubelet, "podsPerCore")?,
        class_interfaces: interfaces(spec),
        kube_reserved: reserved(kubelet, "kubeReserved")?,
        system_reserved: reserved(kubelet, "systemReserved")?,
        memory_eviction: hard("memory.available")?,
        ephemeral_storage_eviction: hard("nodefs.available")?,
        ephemeral_volume_bytes: volume(spec, family)?.unwrap_or(default.ephemeral_volume_bytes),
        instance_store: if is_joined {
            InstanceStorePolicy::Raid0
        } else {
            InstanceStorePolicy::Unused
        },
        node_volumes: node_volumes(spec),
        ..default
    };
    let demands = Demands::of(spec);
    Ok(ClassSettings { room, demands })
}

/// EBS volumes that nodes boot with, where the class lists them.
fn node_volumes(spec: &Value) -> Option<u32> {
    let listed = spec.get("blockDeviceMappings")?.as_array()?;
    let count = u32::try_from(listed.len()).ok()?;
    (count > 0).then_some(count)
}

/// The image family: as named, else as the alias says.
fn family(spec: &Value) -> ImageFamily {
    let alias = spec.pointer("/amiSelectorTerms/0/alias");
    let alias = alias.and_then(Value::as_str).unwrap_or_default();
    let of_alias = alias.split('@').next().unwrap_or_default();
    let named = spec.get("amiFamily").and_then(Value::as_str);
    match named.unwrap_or(of_alias) {
        "AL2" | "al2" => ImageFamily::Al2,
        "Bottlerocket" | "bottlerocket" => ImageFamily::Bottlerocket,
        "AL2023" | "al2023" | "" => ImageFamily::Al2023,
        _ => ImageFamily::Custom,
    }
}

fn count(kubelet: &Value, name: &str) -> Result<Option<u32>, String> {
    match kubelet.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => {
            let number = value.as_u64().and_then(|number| u32::try_from(number).ok());
            let told =
                || format!("spec.kubelet.{name} is {value}; expected a whole number of at least 0");
            number.map(Some).ok_or_else(told)
        }
    }
}

/// A quantity as it stands in a map: text, or a bare number.
fn amount(resource: &ResourceName, path: &str, value: &Value) -> Result<u64, String> {
    let text = value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned);
    let amount = resource
        .parse_amount(&text)
        .map_err(|error| format!("{path} {error}"))?;
    u64::try_from(amount).map_err(|_| format!("{path} is {text}; expected at least 0"))
}

fn reserved(kubelet: &Value, name: &str) -> Result<ReservedSetting, String> {
    let of = |key: &str, resource: &ResourceName| {
        let value = kubelet.get(name).and_then(|amounts| amounts.get(key));
        let path = format!("spec.kubelet.{name}.{key}");
        value
            .map(|value| amount(resource, &path, value))
            .transpose()
    };
    Ok(ReservedSetting {
        cpu_milli: of("cpu", &ResourceName::Cpu)?,
        memory_bytes: of("memory", &ResourceName::Memory)?,
        ephemeral_storage_bytes: of("ephemeral-storage", &ResourceName::EphemeralStorage)?,
    })
}

/// A hard threshold: an amount, or percents of what there is.
fn eviction(kubelet: &Value, signal: &str) -> Result<Option<Eviction>, String> {
    let Some(value) = kubelet
        .get("evictionHard")
        .and_then(|hard| hard.get(signal))
    else {
        return Ok(None);
    };
    let path = format!("spec.kubelet.evictionHard.{signal}");
    let percents = value.as_str().and_then(|text| text.strip_suffix('%'));
    let Some(text) = percents else {
        return Ok(Some(Eviction::Bytes(amount(
            &ResourceName::Memory,
            &path,
            value,
        )?)));
    };
    let percents: Option<f64> = text
        .parse()
        .ok()
        .filter(|percents| (0.0..=100.0).contains(percents));
    let percents =
        percents.ok_or_else(|| format!("{path} is {value}; expected percents up to 100%"))?;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the range was checked: 0 to 1,000,000"
    )]
    let millionths = (percents * PER_PERCENT).round() as u32;
    Ok(Some(Eviction::Share(Share::from_parts_per_million(
        millionths,
    ))))
}

fn interfaces(spec: &Value) -> Option<ClassInterfaces> {
    let listed = spec.get("networkInterfaces")?.as_array()?;
    let efa = listed
        .iter()
        .filter(|one| one.get("interfaceType").and_then(Value::as_str) == Some("efa-only"));
    let mut result = ClassInterfaces::default();
    for one in efa {
        result.efa_only += 1;
        result.efa_only_on_first_card +=
            u32::from(one.get("networkCardIndex").and_then(Value::as_u64) == Some(0));
    }
    (!listed.is_empty()).then_some(result)
}

/// The size of the volume that holds ephemeral storage, where the class says one.
fn volume(spec: &Value, family: ImageFamily) -> Result<Option<u64>, String> {
    let null = Vec::new();
    let devices = spec
        .get("blockDeviceMappings")
        .and_then(Value::as_array)
        .unwrap_or(&null);
    let device = match family {
        ImageFamily::Bottlerocket => "/dev/xvdb",
        _ => "/dev/xvda",
    };
    let is_named = |one: &&Value| one.get("deviceName").and_then(Value::as_str) == Some(device);
    let root = devices
        .iter()
        .find(|one| one.get("rootVolume") == Some(&Value::Bool(true)));
    let chosen = root.or_else(|| match family {
        ImageFamily::Custom => devices.last(),
        _ => devices.iter().find(is_named),
    });
    let size = chosen.and_then(|one| one.pointer("/ebs/volumeSize"));
    let path = "spec.blockDeviceMappings: ebs.volumeSize";
    size.map(|size| amount(&ResourceName::EphemeralStorage, path, size))
        .transpose()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const GIB: u64 = 1 << 30;

    /// GiB of the volume that pods write on, for a class with this alias and a disk of each of these sizes.
    fn gibibytes(alias: &str, disks: &[(&str, &str)]) -> u64 {
        let disks = disks
            .iter()
            .map(|(device, size)| json!({"deviceName": device, "ebs": {"volumeSize": size}}));
        let class = json!({"spec": {
            "amiSelectorTerms": [{"alias": alias}], "blockDeviceMappings": disks.collect::<Vec<_>>(),
        }});
        settings(&class).unwrap().room.ephemeral_volume_bytes / GIB
    }

    #[test]
    fn pods_of_bottlerocket_write_on_its_second_disk() {
        let both = [("/dev/xvda", "4Gi"), ("/dev/xvdb", "50Gi")];
        assert_eq!(gibibytes("bottlerocket@latest", &both), 50);
        assert_eq!(gibibytes("al2@latest", &both), 4);
        assert_eq!(gibibytes("al2023@latest", &both), 4);
        for family in ["bottlerocket", "al2"] {
            assert_eq!(gibibytes(&format!("{family}@latest"), &[]), 20);
        }
    }
}
