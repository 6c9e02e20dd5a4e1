//! Hash of what a class says of instances for good: one that was made by another hash is drifted.
//!
//! It is Karpenter's under its version `v6`, bit by bit, so that neither side sees drift when one takes over from the other: the
//! [`structure_hash`](plimsoll_base::structure_hash) of the specification, mixed with those of the image family, of the certificate authority
//! in user data, and of the kubelet's settings. Selectors do not enter: what they find is compared itself.
//!
//! `tests/static_hash` holds it to Karpenter's hashing module, on classes that are drawn.

mod json;

use plimsoll_api::kinds::{
    BlockDevice, BlockDeviceMapping, ConnectionTracking, CpuOptions, Ec2NodeClassSpec,
    EnclaveOptions, MetadataOptions, NetworkInterface, PlacementGroupSelector,
};
use plimsoll_base::structure_hash::{
    Structure, of_bytes, of_flag, of_i32, of_i64, of_list, of_map, of_text,
};

use super::family::Family;

/// Annotation of classes and claims: the hash, in decimal digits.
pub const HASH_ANNOTATION: &str = "karpenter.k8s.aws/ec2nodeclass-hash";
/// Annotation of classes and claims: version of the rules of that hash.
pub const HASH_VERSION_ANNOTATION: &str = "karpenter.k8s.aws/ec2nodeclass-hash-version";
/// Version of the rules that [`hash`] follows; hashes of other versions say nothing about drift.
pub const HASH_VERSION: &str = "v6";

/// Hash of a class whose instances are of that family and trust that certificate authority (base64; empty where none is known), in decimal
/// digits.
pub fn hash(spec: &Ec2NodeClassSpec, family: Family, ca_bundle: &str) -> String {
    let kubelet = of_bytes(&json::written(&spec.kubelet));
    let all = of_spec(spec) ^ of_text(family.name()) ^ of_text(ca_bundle) ^ kubelet;
    all.to_string()
}

/// Fields in the order in which Karpenter's type declares them.
fn of_spec(spec: &Ec2NodeClassSpec) -> u64 {
    let tags = spec.tags.as_ref();
    let disks = spec.block_device_mappings.as_ref();
    let interfaces = spec.network_interfaces.as_ref();
    Structure::named("EC2NodeClassSpec")
        .field(
            "PlacementGroupSelector",
            spec.placement_group_selector.as_ref().map(of_placement),
        )
        .field(
            "AssociatePublicIPAddress",
            spec.associate_public_ip_address.map(of_flag),
        )
        .field("UserData", text(spec.user_data.as_ref()))
        .text("Role", spec.role.as_deref().unwrap_or_default())
        .field("InstanceProfile", text(spec.instance_profile.as_ref()))
        .field(
            "Tags",
            tags.map(|tags| of_map(tags.iter().map(|(key, value)| (&**key, &**value)))),
        )
        .field(
            "BlockDeviceMappings",
            disks.map(|disks| of_list(disks.iter().map(of_disk))),
        )
        .field(
            "InstanceStorePolicy",
            text(spec.instance_store_policy.as_ref()),
        )
        .field(
            "NetworkInterfaces",
            interfaces.map(|all| of_list(all.iter().map(of_interface))),
        )
        .field("DetailedMonitoring", spec.detailed_monitoring.map(of_flag))
        .field(
            "MetadataOptions",
            spec.metadata_options.as_ref().map(of_metadata),
        )
        .field(
            "EnclaveOptions",
            spec.enclave_options.as_ref().map(of_enclaves),
        )
        .field(
            "ConnectionTracking",
            spec.connection_tracking.as_ref().map(of_tracking),
        )
        .field("Context", text(spec.context.as_ref()))
        .field("CPUOptions", spec.cpu_options.as_ref().map(of_cpu))
        .hash()
}

/// Text that a pointer leads to: empty text is set, too.
fn text(text: Option<&String>) -> Option<u64> {
    text.map(|text| of_text(text))
}

fn of_placement(selector: &PlacementGroupSelector) -> u64 {
    Structure::named("PlacementGroupSelector")
        .field("Name", text(selector.name.as_ref()))
        .field("ID", text(selector.id.as_ref()))
        .hash()
}

fn of_disk(disk: &BlockDeviceMapping) -> u64 {
    Structure::named("BlockDeviceMapping")
        .field("DeviceName", text(disk.device_name.as_ref()))
        .field("EBS", disk.ebs.as_ref().map(of_volume))
        .field("RootVolume", disk.root_volume.then(|| of_flag(true)))
        .hash()
}

fn of_volume(volume: &BlockDevice) -> u64 {
    let size = volume.volume_size.as_deref().map(canonical);
    Structure::named("BlockDevice")
        .field(
            "DeleteOnTermination",
            volume.delete_on_termination.map(of_flag),
        )
        .field("Encrypted", volume.encrypted.map(of_flag))
        .field("IOPS", volume.iops.map(of_i64))
        .field("KMSKeyID", text(volume.kms_key_id.as_ref()))
        .field("SnapshotID", text(volume.snapshot_id.as_ref()))
        .field("Throughput", volume.throughput.map(of_i64))
        .field(
            "VolumeInitializationRate",
            volume.volume_initialization_rate.map(of_i32),
        )
        .field("VolumeSize", text(size.as_ref()))
        .field("VolumeType", text(volume.volume_type.as_ref()))
        .hash()
}

/// A whole number of G, Gi, T or Ti as the API server's library writes it: in the largest unit of its kind that leaves it whole, and
/// without a unit where it is none, as where a unit stands alone.
fn canonical(size: &str) -> String {
    let end = size
        .find(|digit: char| !digit.is_ascii_digit())
        .unwrap_or(size.len());
    let (number, unit) = size.split_at(end);
    let (step, units): (u64, &[&str]) = if unit.ends_with('i') {
        (1 << 10, &["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"])
    } else {
        (1_000, &["k", "M", "G", "T", "P", "E"])
    };
    let Some(mut at) = units.iter().position(|own| *own == unit) else {
        return size.to_owned();
    };
    if number.bytes().all(|digit| digit == b'0') {
        return "0".to_owned();
    }
    let Ok(mut number) = number.parse::<u64>() else {
        return size.to_owned();
    };
    while number.is_multiple_of(step) && at + 1 < units.len() {
        number /= step;
        at += 1;
    }
    format!("{number}{}", units[at])
}

fn of_interface(interface: &NetworkInterface) -> u64 {
    let index = |index: i32| (index != 0).then(|| of_i32(index));
    Structure::named("NetworkInterface")
        .field("NetworkCardIndex", index(interface.network_card_index))
        .field("DeviceIndex", index(interface.device_index))
        .text("InterfaceType", &interface.interface_type)
        .hash()
}

fn of_metadata(options: &MetadataOptions) -> u64 {
    Structure::named("MetadataOptions")
        .field("HTTPEndpoint", text(options.http_endpoint.as_ref()))
        .field(
            "HTTPProtocolIPv6",
            text(options.http_protocol_ipv6.as_ref()),
        )
        .field(
            "HTTPPutResponseHopLimit",
            options.http_put_response_hop_limit.map(of_i64),
        )
        .field("HTTPTokens", text(options.http_tokens.as_ref()))
        .hash()
}

fn of_tracking(tracking: &ConnectionTracking) -> u64 {
    Structure::named("ConnectionTracking")
        .field(
            "TCPEstablishedTimeout",
            tracking.tcp_established_timeout.map(of_i32),
        )
        .field("UDPStreamTimeout", tracking.udp_stream_timeout.map(of_i32))
        .field("UDPTimeout", tracking.udp_timeout.map(of_i32))
        .hash()
}

fn of_cpu(options: &CpuOptions) -> u64 {
    Structure::named("CPUOptions")
        .field(
            "NestedVirtualization",
            text(options.nested_virtualization.as_ref()),
        )
        .hash()
}

fn of_enclaves(options: &EnclaveOptions) -> u64 {
    Structure::named("EnclaveOptions")
        .field("Enabled", options.enabled.then(|| of_flag(true)))
        .hash()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// The class of Karpenter's own test of its hash.
    fn golden() -> Value {
        json!({
            "role": "role-1",
            "tags": {"keyTag-1": "valueTag-1", "keyTag-2": "valueTag-2"},
            "context": "fake-context",
            "detailedMonitoring": false,
            "associatePublicIPAddress": false,
            "metadataOptions": {
                "httpEndpoint": "disabled", "httpProtocolIPv6": "disabled",
                "httpPutResponseHopLimit": 1, "httpTokens": "optional",
            },
            "blockDeviceMappings": [
                {"deviceName": "map-device-1", "ebs": {
                    "deleteOnTermination": false, "encrypted": false, "iops": 0, "kmsKeyID": "fakeKMSKeyID",
                    "snapshotID": "fakeSnapshot", "throughput": 0, "volumeSize": "2G", "volumeType": "standard",
                }},
                {"deviceName": "map-device-2"},
            ],
            "userData": "userdata-test-1",
            "amiFamily": "Custom",
        })
    }

    fn hashed(spec: &Value) -> String {
        let spec = serde_json::from_value(spec.clone()).expect("a spec");
        hash(&spec, Family::Custom, "test-ca-bundle")
    }

    fn with(field: &str, value: Value) -> Value {
        let mut spec = golden();
        spec[field] = value;
        spec
    }

    #[test]
    fn hashes_are_karpenters() {
        assert_eq!(hashed(&golden()), "11148166120438674859");
        let other = with("userData", "userdata-test-2".into());
        assert_eq!(hashed(&other), "11774429238106843388");
        let other = with("enclaveOptions", json!({"enabled": true}));
        assert_eq!(hashed(&other), "7236976372141148292");
        let other = with("enclaveOptions", json!({"enabled": false}));
        assert_eq!(hashed(&other), "12655667132181172925");
        let mut other = with("instanceProfile", "test-instance-profile".into());
        other.as_object_mut().expect("a map").remove("role");
        assert_eq!(hashed(&other), "10323991363677716244");
    }

    #[test]
    fn selectors_and_the_order_of_disks_and_tags_do_not_count_and_all_else_does() {
        let same = hashed(&golden());
        let mut disks = golden()["blockDeviceMappings"].clone();
        disks.as_array_mut().expect("a list").reverse();
        for (field, value) in [
            ("subnetSelectorTerms", json!([{"id": "subnet-1"}])),
            ("amiSelectorTerms", json!([{"id": "ami-1"}])),
            ("securityGroupSelectorTerms", json!([{"name": "nodes"}])),
            ("ipPrefixCount", json!(3)),
            ("capacityReservationSelectorTerms", json!([{"id": "cr-1"}])),
            ("blockDeviceMappings", disks),
        ] {
            assert_eq!(hashed(&with(field, value)), same, "{field}");
        }
        for (field, value) in [
            ("kubelet", json!({"maxPods": 5})),
            ("tags", json!({})),
            ("instanceStorePolicy", json!("RAID0")),
            (
                "networkInterfaces",
                json!([{"networkCardIndex": 0, "deviceIndex": 0, "interfaceType": "interface"}]),
            ),
            ("connectionTracking", json!({"udpTimeout": 30})),
            ("cpuOptions", json!({"nestedVirtualization": "enabled"})),
            ("enclaveOptions", json!({"enabled": false})),
            ("placementGroupSelector", json!({"name": "close"})),
            ("context", json!("")),
            ("detailedMonitoring", json!(true)),
            (
                "blockDeviceMappings",
                json!([{"deviceName": "map-device-2", "rootVolume": true}]),
            ),
        ] {
            assert_ne!(hashed(&with(field, value)), same, "{field}");
        }
    }

    #[test]
    fn sizes_are_hashed_as_they_would_be_written() {
        for (written, canonical_form) in [
            ("2G", "2G"),
            ("1024Gi", "1Ti"),
            ("1000G", "1T"),
            ("1536Gi", "1536Gi"),
            ("64T", "64T"),
            ("Ti", "0"),
            ("T", "0"),
            ("00G", "0"),
        ] {
            assert_eq!(canonical(written), canonical_form);
        }
    }
}
