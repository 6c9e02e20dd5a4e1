//! `plimsoll.dev/v1alpha1 Policy`.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{LabelSelector, ObjectMeta};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::common::Condition;

/// A module that answers one hook, for the pools that it selects.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct Policy {
    /// Name and generation.
    pub metadata: ObjectMeta,
    /// Desired state.
    pub spec: PolicySpec,
    /// Observed state.
    #[serde(default)]
    pub status: Option<PolicyStatus>,
}

impl Policy {
    /// API group of the kind.
    pub const GROUP: &str = "plimsoll.dev";
    /// Version of the kind.
    pub const VERSION: &str = "v1alpha1";
    /// The kind.
    pub const KIND: &str = "Policy";
    /// Plural of the kind.
    pub const PLURAL: &str = "policies";
}

/// Desired state of a policy.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PolicySpec {
    /// `Rank`, `Consolidate` or `Budget`.
    pub hook: String,
    /// The ConfigMap that holds the module.
    pub config_map_ref: ConfigMapReference,
    /// SHA-256 that the module must have, in hexadecimal digits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// Settings of the module: flags, numbers, texts and lists of them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub settings: BTreeMap<String, Value>,
    /// `Active`, `Shadow` or `Off`; `Active` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// `Fallback` or `Hold`: what is done where the module of a ranking policy fails; `Fallback` when absent. One that vetoes holds either way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure_mode: Option<String>,
    /// Pools that it serves, by their labels: absent selects none, `{}` all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_pool_selector: Option<LabelSelector>,
}

/// A ConfigMap in the controller's own namespace.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct ConfigMapReference {
    /// Its name.
    pub name: String,
}

/// Observed state of a policy.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PolicyStatus {
    /// Conditions.
    pub conditions: Vec<Condition>,
    /// The module that serves: the first digits of its digest and its version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub serving: Option<String>,
    /// SHA-256 of the module that serves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub served_digest: Option<String>,
    /// Modules that served well, the newest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub last_good: Vec<RememberedModule>,
    /// Modules that were set aside since they kept failing, the newest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub quarantined: Vec<RememberedModule>,
    /// Pools that it answers for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub node_pools: Vec<String>,
    /// Number of these.
    pub pools: i64,
    /// Pools of its selection that an older policy of the same hook answers for.
    pub conflicts: i64,
    /// Questions that it was asked by this controller.
    pub calls: i64,
    /// Those that it failed to answer.
    pub faults: i64,
    /// Questions that its answer did not decide, since it failed or was set aside.
    pub fallbacks: i64,
    /// Fuel that 99 of 100 of its last calls took at most; `None` before the first one.
    #[serde(rename = "fuelP99", skip_serializing_if = "Option::is_none")]
    pub fuel_p99: Option<i64>,
    /// Comparison with what decides, of a policy in shadow; `None` of others, and before the first decision.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shadow: Option<ShadowComparison>,
}

/// Comparison of a shadow's answers with the active ones, since this controller began to ask it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ShadowComparison {
    /// Decisions about which both were asked.
    pub decisions: i64,
    /// Those on which they differ.
    pub differing: i64,
    /// Decisions about which the shadow was not asked, since it was behind.
    pub skipped: i64,
    /// Share of launches, consolidations or budgets on which both agree, in percent; `None` where none was compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agreement_percent: Option<i64>,
    /// Cost of the shadow's choices above that of the active ones, in dollars per hour at list prices, for hook Consolidate at the prices that
    /// decide, all decisions together.
    pub regret_dollars_per_hour: String,
    /// Pods that the shadow leaves pending more; negative where it leaves fewer.
    pub more_pending_pods: i64,
    /// Consolidations that only the shadow would make.
    pub extra_consolidations: i64,
    /// Consolidations that only the policy that decides would make.
    pub missing_consolidations: i64,
    /// Budgets that the shadow leaves wider.
    pub wider_budgets: i64,
    /// Budgets that it makes narrower.
    pub narrower_budgets: i64,
    /// The newest difference, both sides in words; `None` where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_difference: Option<String>,
    /// The last failure of the shadow in words; `None` where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_fault: Option<String>,
}

/// A module as a policy's status remembers it: what one controller learned and the next is to know.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RememberedModule {
    /// SHA-256 of the module.
    pub digest: String,
    /// Settings that it served with, as the specification had them.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub settings: BTreeMap<String, String>,
}
