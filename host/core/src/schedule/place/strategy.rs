//! A packing strategy: choices that rules leave open while pods are placed.

use std::collections::BTreeMap;

use super::address_budget::Budget;
use super::dependents::Company;

/// How open choices are made.
#[derive(Clone, Debug, Default)]
pub(crate) struct Manner {
    /// Pods that a tier takes of a group at most, where a limit was found to bind; by group and tier.
    pub(crate) quotas: BTreeMap<(usize, usize), u32>,
    /// Whether pools whose limits were found to bind are a last choice.
    pub(crate) wary: bool,
    /// Whether the cheaper domain comes before the emptier one.
    pub(crate) thrifty: bool,
    /// Where pods go that others follow.
    pub(crate) company: Company,
    /// Bounds on where pods may go, where zones were found short of addresses.
    pub(crate) budget: Budget,
}
