//! User data: what an instance is told when it boots, so that it joins the cluster as the node that was planned.

mod al2;
mod bottlerocket;
pub(crate) mod labels;
pub(crate) mod mime;
pub(crate) mod node_config;
pub(crate) mod release;

use std::collections::BTreeMap;
use std::net::Ipv6Addr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use plimsoll_base::labels::Labels;
use plimsoll_model::Taint;
use serde_json::Value;
use thiserror::Error;

use crate::class::family::{Family, LAUNCHED_FAMILIES};
use release::Release;

/// Most bytes of user data, before they are encoded (EC2's limit).
pub(crate) const MOST_BYTES: usize = 16 << 10;
/// From so many bytes on people are warned: nine tenths of the most.
const MANY_BYTES: usize = MOST_BYTES * 9 / 10;

/// A family of addresses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IpFamily {
    /// Those of four bytes.
    #[default]
    Ipv4,
    /// Those of sixteen bytes.
    Ipv6,
}

/// A cluster, as its nodes have to know it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClusterAccess {
    /// Its name.
    pub name: String,
    /// Version of its API server, such as `1.34`.
    pub kubernetes: String,
    /// URL of its API server.
    pub endpoint: String,
    /// Certificate authority of the API server, in base64.
    pub ca_bundle: String,
    /// Addresses of its services, such as `10.100.0.0/16`; `None` while unknown.
    pub service_cidr: Option<String>,
    /// Address of its DNS service; `None` where it is not known, and nodes find it themselves.
    pub dns: Option<String>,
}

impl ClusterAccess {
    /// Family of the addresses of its services, and so of its pods: its DNS service tells.
    pub(crate) fn ip_family(&self) -> IpFamily {
        let dns = self.dns.as_deref().unwrap_or_default();
        match dns.parse::<Ipv6Addr>() {
            Ok(_) => IpFamily::Ipv6,
            Err(_) => IpFamily::Ipv4,
        }
    }
}

/// A node, as its instance is told to set itself up.
#[derive(Clone, Debug, Default)]
pub(crate) struct NodeSetup {
    /// Labels of the node; those that a kubelet may not give itself are left out.
    pub labels: Labels,
    /// Its taints, start-up taints behind them.
    pub taints: Vec<Taint>,
    /// The kubelet's settings of the class, with what was resolved: maxPods, clusterDNS, reserved resources.
    pub kubelet: BTreeMap<String, Value>,
    /// The kubelet's settings as the class has them.
    pub class_kubelet: BTreeMap<String, Value>,
    /// Release of its image, as far as names say it.
    pub release: Release,
    /// `true` if local disks are joined into one.
    pub joins_local_disks: bool,
    /// User data of the class.
    pub custom: Option<String>,
}

/// Why there is no user data.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(crate) enum UserDataError {
    /// A node of this family needs the addresses of services.
    #[error("the addresses of the cluster's services are not known yet")]
    NoServiceCidr,
    /// The class's own user data is no MIME archive although it begins like one.
    #[error("spec.userData begins as a MIME archive and is none: {0}")]
    MalformedMime(String),
    /// The class's own user data is no TOML.
    #[error("spec.userData {0}; expected settings of Bottlerocket in TOML")]
    MalformedToml(String),
    /// The class's own user data has settings that would be lost, each in a sentence.
    #[error("spec.userData: {}", .0.join("; "))]
    Settings(Vec<String>),
    /// EC2 takes no more.
    #[error(
        "user data has {0} bytes with what is added for the node; expected at most {MOST_BYTES}: shorten spec.userData"
    )]
    TooLong(usize),
    /// Nodes of this family are not made.
    #[error("spec.amiFamily is \"{0}\"; expected {LAUNCHED_FAMILIES}")]
    UnsupportedFamily(&'static str),
}

/// User data of an instance, in base64; empty where there is none.
pub(crate) fn user_data(
    family: Family,
    cluster: &ClusterAccess,
    node: &NodeSetup,
) -> Result<String, UserDataError> {
    let text = match family {
        Family::Custom => node.custom.clone().unwrap_or_default(),
        Family::Al2 => al2::text(cluster, node)?,
        Family::Al2023 => node_config::text(cluster, node)?,
        Family::Bottlerocket => bottlerocket::text(cluster, node)?,
        other => return Err(UserDataError::UnsupportedFamily(other.name())),
    };
    if text.len() > MOST_BYTES {
        return Err(UserDataError::TooLong(text.len()));
    }
    Ok(STANDARD.encode(text))
}

/// Bytes of user data in base64 that has nearly as many as EC2 takes; `None` where it has less than nine tenths of them.
pub(crate) fn nearly_too_long(encoded: &str) -> Option<usize> {
    let bytes = encoded.trim_end_matches('=').len() * 3 / 4;
    (bytes >= MANY_BYTES).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_are_warned_from_nine_tenths_of_the_most_on() {
        let told = |bytes: usize| nearly_too_long(&STANDARD.encode("x".repeat(bytes)));
        for (bytes, expected) in [
            (0, None),
            (14_744, None),
            (14_745, Some(14_745)),
            (14_746, Some(14_746)),
            (MOST_BYTES, Some(16_384)),
        ] {
            assert_eq!(told(bytes), expected);
        }
    }

    #[test]
    fn a_cluster_has_the_addresses_of_its_dns() {
        for (dns, family) in [
            (None, IpFamily::Ipv4),
            (Some("10.100.0.10"), IpFamily::Ipv4),
            (Some("fd12:3456::a"), IpFamily::Ipv6),
        ] {
            let cluster = ClusterAccess {
                dns: dns.map(str::to_owned),
                ..ClusterAccess::default()
            };
            assert_eq!(cluster.ip_family(), family, "{dns:?}");
        }
    }
}
