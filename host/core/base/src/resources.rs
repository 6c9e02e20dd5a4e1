//! Amounts of resources: what a pod asks for, what a node has.
//!
//! cpu counts in milli-cores, everything else in whole units (bytes, pods, devices). Arithmetic saturates; comparisons
//! are exact. The rules (which operation keeps which keys) are those of the Kubernetes scheduler.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::quantity::{self, QuantityError};

/// Milli-cores from which cpu is shown in cores: smaller amounts read as pods request them.
const SHOWN_IN_CORES: u64 = 10_000;
const MEBIBYTE: u64 = 1 << 20;
/// Units of bytes, largest first.
const BINARY_UNITS: [(&str, u32); 4] = [("Pi", 50), ("Ti", 40), ("Gi", 30), ("Mi", 20)];

/// Name of a resource. The four that every node has come first, in the order they are shown.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum ResourceName {
    /// `cpu`, in milli-cores.
    Cpu,
    /// `memory`, in bytes.
    Memory,
    /// `ephemeral-storage`, in bytes.
    EphemeralStorage,
    /// `pods`.
    Pods,
    /// `nodes`: one per node, for pool limits.
    Nodes,
    /// Any other: devices, huge pages, attachable volumes.
    Other(Arc<str>),
}

impl ResourceName {
    /// The name as the API spells it.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Cpu => "cpu",
            Self::Memory => "memory",
            Self::EphemeralStorage => "ephemeral-storage",
            Self::Pods => "pods",
            Self::Nodes => "nodes",
            Self::Other(name) => name,
        }
    }

    /// Reads an amount of this resource from a Kubernetes quantity.
    pub fn parse_amount(&self, text: &str) -> Result<i64, QuantityError> {
        if *self == Self::Cpu {
            quantity::parse_milli(text)
        } else {
            quantity::parse_units(text)
        }
    }

    /// An amount as people read it: `2`, `250m` or `15.9` of cpu, `4Gi` or `1536Mi` of bytes, else a plain number.
    pub fn amount_text(&self, amount: i64) -> String {
        match self {
            Self::Cpu => cores(amount),
            Self::Memory | Self::EphemeralStorage => bytes(amount),
            _ => amount.to_string(),
        }
    }
}

/// Milli-cores, always exactly.
fn cores(milli: i64) -> String {
    if milli % 1000 == 0 {
        return (milli / 1000).to_string();
    }
    if milli.unsigned_abs() < SHOWN_IN_CORES {
        return format!("{milli}m");
    }
    let part = format!("{:03}", (milli % 1000).unsigned_abs());
    format!("{}.{}", milli / 1000, part.trim_end_matches('0'))
}

/// Bytes in the largest unit in which they are a whole number; else in mebibytes with a decimal, never as fewer.
fn bytes(amount: i64) -> String {
    let (sign, size) = (if amount < 0 { "-" } else { "" }, amount.unsigned_abs());
    if size == 0 {
        return "0".to_owned();
    }
    let in_units = |size: u64| {
        let mut units = BINARY_UNITS.iter();
        let (unit, shift) = units.find(|(_, shift)| size.trailing_zeros() >= *shift)?;
        Some(format!("{sign}{}{unit}", size >> shift))
    };
    let tenths = (size % MEBIBYTE * 10).div_ceil(MEBIBYTE);
    let (whole, tenth) = (size / MEBIBYTE + tenths / 10, tenths % 10);
    in_units(size).unwrap_or_else(|| match tenth {
        0 => in_units(whole * MEBIBYTE).unwrap_or_default(),
        tenth => format!("{sign}{whole}.{tenth}Mi"),
    })
}

impl From<&str> for ResourceName {
    fn from(name: &str) -> Self {
        match name {
            "cpu" => Self::Cpu,
            "memory" => Self::Memory,
            "ephemeral-storage" => Self::EphemeralStorage,
            "pods" => Self::Pods,
            "nodes" => Self::Nodes,
            other => Self::Other(Arc::from(other)),
        }
    }
}

impl From<String> for ResourceName {
    fn from(name: String) -> Self {
        Self::from(name.as_str())
    }
}

impl From<ResourceName> for String {
    fn from(name: ResourceName) -> Self {
        name.as_str().to_owned()
    }
}

impl fmt::Display for ResourceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Amounts by resource, sorted by name. A resource that is absent counts as none.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Resources {
    amounts: Vec<(ResourceName, i64)>,
}

impl Resources {
    /// Nothing.
    pub const fn new() -> Self {
        Self {
            amounts: Vec::new(),
        }
    }

    /// With one amount set, replacing what was there.
    #[must_use]
    pub fn with(mut self, name: ResourceName, amount: i64) -> Self {
        self.set(name, amount);
        self
    }

    /// The amount of a resource; none when absent.
    pub fn get(&self, name: &ResourceName) -> i64 {
        self.position(name).map_or(0, |at| self.amounts[at].1)
    }

    /// `true` if the resource is named at all.
    pub fn contains(&self, name: &ResourceName) -> bool {
        self.position(name).is_ok()
    }

    /// Sets one amount.
    pub fn set(&mut self, name: ResourceName, amount: i64) {
        match self.position(&name) {
            Ok(at) => self.amounts[at].1 = amount,
            Err(at) => self.amounts.insert(at, (name, amount)),
        }
    }

    /// Adds every amount of `other`; keys of both remain.
    pub fn add(&mut self, other: &Self) {
        for (name, amount) in &other.amounts {
            match self.position(name) {
                Ok(at) => self.amounts[at].1 = self.amounts[at].1.saturating_add(*amount),
                Err(at) => self.amounts.insert(at, (name.clone(), *amount)),
            }
        }
    }

    /// `self` minus `other`, with the keys of `self` only; may go below zero.
    #[must_use]
    pub fn minus(&self, other: &Self) -> Self {
        self.map(|name, amount| amount.saturating_sub(other.get(name)))
    }

    /// The larger of each amount, over the keys of both.
    #[must_use]
    pub fn larger(&self, other: &Self) -> Self {
        let mut result = self.clone();
        for (name, amount) in &other.amounts {
            match result.position(name) {
                Ok(at) => result.amounts[at].1 = result.amounts[at].1.max(*amount),
                Err(at) => result.amounts.insert(at, (name.clone(), *amount)),
            }
        }
        result
    }

    /// The smaller of each amount, over the keys that both have.
    #[must_use]
    pub fn smaller(&self, other: &Self) -> Self {
        let shared = self.amounts.iter().filter(|(name, _)| other.contains(name));
        Self {
            amounts: shared
                .map(|(name, amount)| (name.clone(), (*amount).min(other.get(name))))
                .collect(),
        }
    }

    /// Each amount changed by `change`.
    #[must_use]
    pub fn map(&self, change: impl Fn(&ResourceName, i64) -> i64) -> Self {
        let changed = self
            .amounts
            .iter()
            .map(|(name, amount)| (name.clone(), change(name, *amount)));
        Self {
            amounts: changed.collect(),
        }
    }

    /// The first resource, in name order, of which `requests` wants more than `self` has; `None` when all fit.
    ///
    /// Nothing fits where any amount is negative: a node that is overcommitted in memory refuses even a pod that asks for none.
    pub fn first_short_of(&self, requests: &Self) -> Option<ResourceName> {
        if let Some((name, _)) = self.amounts.iter().find(|(_, amount)| *amount < 0) {
            return Some(name.clone());
        }
        requests
            .amounts
            .iter()
            .find(|(name, amount)| *amount > self.get(name))
            .map(|(name, _)| name.clone())
    }

    /// `true` if `requests` fits into `self`.
    pub fn fits(&self, requests: &Self) -> bool {
        self.first_short_of(requests).is_none()
    }

    /// Names and amounts in name order.
    pub fn iter(&self) -> impl Iterator<Item = (&ResourceName, i64)> {
        self.amounts.iter().map(|(name, amount)| (name, *amount))
    }

    /// `true` if no resource is named.
    pub fn is_empty(&self) -> bool {
        self.amounts.is_empty()
    }

    fn position(&self, name: &ResourceName) -> Result<usize, usize> {
        self.amounts.binary_search_by(|(have, _)| have.cmp(name))
    }
}

impl FromIterator<(ResourceName, i64)> for Resources {
    /// A name given twice keeps its last amount.
    fn from_iter<I: IntoIterator<Item = (ResourceName, i64)>>(amounts: I) -> Self {
        let mut result = Self::new();
        for (name, amount) in amounts {
            result.set(name, amount);
        }
        result
    }
}

impl fmt::Display for Resources {
    /// `cpu 1500m, memory 2Gi, pods 3`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (name, amount)) in self.amounts.iter().enumerate() {
            if at > 0 {
                f.write_str(", ")?;
            }
            write!(f, "{name} {}", name.amount_text(*amount))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resources(amounts: &[(&str, i64)]) -> Resources {
        amounts
            .iter()
            .map(|(name, amount)| (ResourceName::from(*name), *amount))
            .collect()
    }

    #[test]
    fn subtraction_keeps_only_the_keys_of_the_left_side() {
        let left = resources(&[("cpu", 4000), ("pods", 10)]);
        let right = resources(&[("cpu", 500), ("memory", 7)]);
        assert_eq!(
            left.minus(&right),
            resources(&[("cpu", 3500), ("pods", 10)])
        );
    }

    #[test]
    fn minimum_is_over_shared_keys_and_maximum_over_all() {
        let left = resources(&[("cpu", 4), ("memory", 7)]);
        let right = resources(&[("cpu", 5), ("pods", 1)]);
        assert_eq!(left.smaller(&right), resources(&[("cpu", 4)]));
        assert_eq!(
            left.larger(&right),
            resources(&[("cpu", 5), ("memory", 7), ("pods", 1)])
        );
    }

    #[test]
    fn an_overcommitted_node_refuses_a_pod_that_asks_for_nothing() {
        let room = resources(&[("cpu", 1000), ("memory", -1), ("pods", 5)]);
        assert_eq!(
            room.first_short_of(&resources(&[("pods", 1)])),
            Some(ResourceName::Memory)
        );
    }

    #[test]
    fn a_zero_request_for_an_unknown_resource_fits() {
        let room = resources(&[("cpu", 1000)]);
        assert!(room.fits(&resources(&[("example.com/gpu", 0)])));
        assert!(!room.fits(&resources(&[("example.com/gpu", 1)])));
    }

    #[test]
    fn amounts_read_as_people_write_them() {
        let shown = resources(&[("memory", 2048 << 20), ("cpu", 1500), ("pods", 3)]).to_string();
        assert_eq!(shown, "cpu 1500m, memory 2Gi, pods 3");
    }

    #[test]
    fn cpu_is_shown_in_cores_where_that_is_shorter_and_always_exactly() {
        let shown = [
            0, 250, 1900, 6000, 9999, 10_000, 15_890, 255_900, -500, -255_905,
        ];
        let shown = shown.map(|milli| ResourceName::Cpu.amount_text(milli));
        let expected = [
            "0", "250m", "1900m", "6", "9999m", "10", "15.89", "255.9", "-500m", "-255.905",
        ];
        assert_eq!(shown, expected);
    }

    #[test]
    fn bytes_are_shown_in_the_largest_exact_unit_and_never_as_fewer() {
        let mebibytes = |count: i64| count << 20;
        let shown = [
            mebibytes(0),
            mebibytes(1),
            mebibytes(1536),
            mebibytes(2048),
            mebibytes(4_194_304),
            -mebibytes(1024),
            1,
            mebibytes(1) + 1,
            mebibytes(2) - 1,
            i64::MAX,
        ];
        let shown = shown.map(|bytes| ResourceName::Memory.amount_text(bytes));
        let expected = [
            "0", "1Mi", "1536Mi", "2Gi", "4Ti", "-1Gi", "0.1Mi", "1.1Mi", "2Mi", "8192Pi",
        ];
        assert_eq!(shown, expected);
        assert_eq!(ResourceName::EphemeralStorage.amount_text(20 << 30), "20Gi");
        assert_eq!(ResourceName::Pods.amount_text(1024), "1024");
    }
}
