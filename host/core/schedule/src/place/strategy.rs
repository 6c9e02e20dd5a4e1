//! A packing strategy: choices that rules leave open while pods are placed.

use std::collections::BTreeMap;

use super::address_budget::AddressBudget;
use super::dependents::Dependents;

/// Group, step of relaxation and tier.
pub(crate) type QuotaKey = (usize, usize, usize);

/// How open choices are made.
#[derive(Clone, Debug, Default)]
pub(crate) struct PackingStrategy {
    /// Pods that a tier takes of a group at most at a step of relaxation, where a limit or a supply was found to bind: a wish for a
    /// reservation that is used up does not keep the pod from the tier once it is given up.
    pub(crate) quotas: BTreeMap<QuotaKey, u32>,
    /// `true` if pools whose limits were found to bind are a last choice.
    pub(crate) avoids_limited_pools: bool,
    /// `true` if the cheaper domain comes before the emptier one.
    pub(crate) prefers_cheap_domains: bool,
    /// Where pods go that others follow.
    pub(crate) dependents: Dependents,
    /// Counted work of the packer once pods are placed.
    pub(crate) effort: u32,
    /// `true` if a node takes no more volumes than some row that it may become attaches.
    pub(crate) slots: bool,
    /// Bounds on where pods may go, where zones were found short of addresses.
    pub(crate) budget: AddressBudget,
}
