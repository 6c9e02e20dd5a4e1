//! Launch templates: everything about an instance that its type and subnet do not say.
//!
//! A template is named after its content, so that the same is found again, by whatever process made it.

use plimsoll_api::kinds::{
    BlockDevice, BlockDeviceMapping, ConnectionTracking, MetadataOptions, NetworkInterface, Tags,
};
use plimsoll_base::fixed_hash::hash_of;
use plimsoll_base::quantity::parse_units;
use plimsoll_model::catalogue::CapacityType;

use crate::class::family::Family;
use crate::user_data::IpFamily;

/// Kind of interfaces that have no address.
const EFA_ONLY: &str = "efa-only";
/// Begin of the names of templates; the hash of their content follows.
const NAME: &str = "karpenter.k8s.aws/";
const GIB: i64 = 1 << 30;

/// Content of a launch template.
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a field of its own in the request"
)]
pub struct LaunchTemplate {
    /// The image.
    pub image: String,
    /// User data, in base64; empty for none.
    pub user_data: String,
    /// Instance profile.
    pub profile: String,
    /// Security groups of all network interfaces.
    pub security_groups: Vec<String>,
    /// Network interfaces.
    pub interfaces: Vec<Interface>,
    /// Family of the cluster's addresses: with IPv6, interfaces have such an address, which stays.
    pub ip_family: IpFamily,
    /// Prefixes of addresses of that family, of each interface that has addresses; none where `None`.
    pub prefixes: Option<i32>,
    /// How long security groups remember connections.
    pub tracking: Option<ConnectionTracking>,
    /// Virtual machines inside of the instance, `enabled` or `disabled`; the type decides where `None`.
    pub nested_virtualization: Option<String>,
    /// `true` for an instance that may run enclaves.
    pub enclaves: bool,
    /// A public address, or none; the subnet decides where `None`.
    pub public_address: Option<bool>,
    /// Disks; those of the image where there are none.
    pub disks: Vec<Disk>,
    /// The instance metadata service.
    pub metadata: MetadataOptions,
    /// `true` for metrics every minute.
    pub monitoring: bool,
    /// `true` where instances may fill open capacity reservations, `false` where they leave them.
    pub fills_open_reservations: bool,
    /// `true` for hardware of one's own.
    pub is_dedicated: bool,
    /// `true` for a template of spot instances, whose requests get the tags, too.
    pub is_spot: bool,
    /// Tags of what is launched by it.
    pub tags: Tags,
}

/// A network interface of an instance.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Interface {
    /// Number of its card; the first where `None`.
    pub card: Option<i32>,
    /// Its place on the card.
    pub device: i32,
    /// `interface`, `efa` or `efa-only`; the first where `None`.
    pub kind: Option<String>,
}

impl Interface {
    /// `true` if it has addresses, as all have but those for EFA alone.
    pub fn has_addresses(&self) -> bool {
        self.kind.as_deref() != Some(EFA_ONLY)
    }
}

/// Network interfaces that a class lists; `None` where it leaves them to the type.
pub(crate) fn listed(interfaces: Option<&Vec<NetworkInterface>>) -> Option<&[NetworkInterface]> {
    interfaces
        .map(Vec::as_slice)
        .filter(|listed| !listed.is_empty())
}

/// Network interfaces of an instance: those that its class lists, or one for EFA on each of so many cards, or just one.
pub(crate) fn interfaces(class: Option<&Vec<NetworkInterface>>, efa: u32) -> Vec<Interface> {
    if let Some(listed) = listed(class) {
        let own = listed.iter().map(|own| Interface {
            card: Some(own.network_card_index),
            device: own.device_index,
            kind: Some(own.interface_type.clone()),
        });
        return own.collect();
    }
    if efa == 0 {
        return vec![Interface::default()];
    }
    let of_card = |card: i32| Interface {
        card: Some(card),
        device: i32::from(card > 0),
        kind: Some("efa".to_owned()),
    };
    (0..i32::try_from(efa).unwrap_or(i32::MAX))
        .map(of_card)
        .collect()
}

/// A disk of an instance.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Disk {
    /// Its device.
    pub device: Option<String>,
    /// Its volume; `None` for a device that is left out.
    pub volume: Option<BlockDevice>,
}

impl LaunchTemplate {
    /// Its name.
    pub fn name(&self) -> String {
        format!("{NAME}{}", hash_of(&format!("{self:?}")))
    }
}

impl Disk {
    /// Size of its volume in GiB, rounded up; `None` where it has none of its own.
    pub fn gibibytes(&self) -> Option<i32> {
        let size = self.volume.as_ref()?.volume_size.as_deref()?;
        let bytes = parse_units(size).ok()?;
        i32::try_from(bytes.div_euclid(GIB) + i64::from(bytes.rem_euclid(GIB) > 0)).ok()
    }
}

/// Disks of a class, or those of its image family where it lists none: encrypted, for Bottlerocket a second one for what pods write. A family
/// without disks of its own leaves them to the image.
pub(crate) fn disks(mappings: Option<&[BlockDeviceMapping]>, family: Family) -> Vec<Disk> {
    let Some(mappings) = mappings else {
        let own = family_disks(family).iter();
        return own.map(|(device, size)| gp3(device, size)).collect();
    };
    let disk = |own: &BlockDeviceMapping| Disk {
        device: own.device_name.clone(),
        volume: own.ebs.clone(),
    };
    mappings.iter().map(disk).collect()
}

/// Devices of a family's disks and their sizes; none where the image decides. Of Bottlerocket's the first holds the system.
const fn family_disks(family: Family) -> &'static [(&'static str, &'static str)] {
    match family {
        Family::Al2 | Family::Al2023 => &[("/dev/xvda", "20Gi")],
        Family::Bottlerocket => &[("/dev/xvda", "6Gi"), ("/dev/xvdb", "20Gi")],
        Family::Custom | Family::Windows2019 | Family::Windows2022 | Family::Windows2025 => &[],
    }
}

fn gp3(device: &str, size: &str) -> Disk {
    Disk {
        device: Some(device.to_owned()),
        volume: Some(BlockDevice {
            encrypted: Some(true),
            volume_size: Some(size.to_owned()),
            volume_type: Some("gp3".to_owned()),
            ..BlockDevice::default()
        }),
    }
}

/// Settings of the metadata service, with those of a class that says nothing of it: sessions with tokens, one hop.
pub(crate) fn metadata(options: Option<&MetadataOptions>) -> MetadataOptions {
    let or = |own: &Option<String>, default: &str| {
        Some(own.clone().unwrap_or_else(|| default.to_owned()))
    };
    let own = options.cloned().unwrap_or_default();
    MetadataOptions {
        http_endpoint: or(&own.http_endpoint, "enabled"),
        http_protocol_ipv6: or(&own.http_protocol_ipv6, "disabled"),
        http_put_response_hop_limit: Some(own.http_put_response_hop_limit.unwrap_or(1)),
        http_tokens: or(&own.http_tokens, "required"),
    }
}

/// Name of a capacity type in fleets.
pub(crate) const fn is_spot(capacity_type: CapacityType) -> bool {
    matches!(capacity_type, CapacityType::Spot)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_is_named_after_its_content() {
        let template = LaunchTemplate {
            image: "ami-1".to_owned(),
            ..LaunchTemplate::default()
        };
        let name = template.name();
        assert!(
            name.starts_with("karpenter.k8s.aws/") && name == template.clone().name(),
            "{name}"
        );
        let other = LaunchTemplate {
            is_spot: true,
            ..template
        };
        assert_ne!(other.name(), name);
    }

    #[test]
    fn volumes_are_sized_in_whole_gibibytes_at_least_what_was_asked_for() {
        let sized = |size: &str| Disk {
            volume: Some(BlockDevice {
                volume_size: Some(size.to_owned()),
                ..BlockDevice::default()
            }),
            device: None,
        };
        for (size, gibibytes) in [("20Gi", 20), ("20G", 19), ("1Ti", 1024), ("1T", 932)] {
            assert_eq!(sized(size).gibibytes(), Some(gibibytes), "{size}");
        }
    }

    #[test]
    fn disks_are_those_of_the_class_or_else_of_its_family() {
        let sizes = |mappings: Option<&[BlockDeviceMapping]>, family| {
            let disks = disks(mappings, family).into_iter();
            let size = |disk: Disk| {
                let volume = disk.volume.clone().unwrap_or_default();
                let is_usual =
                    volume.encrypted == Some(true) && volume.volume_type.as_deref() == Some("gp3");
                assert!(is_usual || mappings.is_some(), "{disk:?}");
                (disk.device.clone().unwrap_or_default(), disk.gibibytes())
            };
            disks.map(size).collect::<Vec<_>>()
        };
        let of = |device: &str, size: i32| (device.to_owned(), Some(size));
        let root = [of("/dev/xvda", 20)];
        assert_eq!(sizes(None, Family::Al2023), root);
        assert_eq!(sizes(None, Family::Al2), root);
        let both = [of("/dev/xvda", 6), of("/dev/xvdb", 20)];
        assert_eq!(sizes(None, Family::Bottlerocket), both);
        assert_eq!(sizes(None, Family::Custom), []);
        assert_eq!(sizes(Some(&[]), Family::Al2023), []);
        let own = BlockDeviceMapping {
            device_name: Some("/dev/xvdb".to_owned()),
            ..BlockDeviceMapping::default()
        };
        let only = [("/dev/xvdb".to_owned(), None)];
        assert_eq!(sizes(Some(&[own]), Family::Bottlerocket), only);
    }
}
