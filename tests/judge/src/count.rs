//! Room that a pool has left to buy once a plan is carried out: limits, reservations and `minValues`, counted from the manifests.
//!
//! It shares nothing with the planner, and explains refusals that are none of the scheduler's business.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::case::{Case, items, text};
use crate::defect::{Defect, Rule};
use crate::market::{Purchase, amounts};
use crate::planned::Planned;

/// Capacity in use by pool, and instances left by reservation.
#[derive(Debug, Default)]
pub struct Ledger {
    limits: BTreeMap<String, BTreeMap<String, i64>>,
    used: BTreeMap<String, BTreeMap<String, i64>>,
    reserved: BTreeMap<String, i64>,
    wants: BTreeMap<String, Vec<(String, usize)>>,
}

impl Ledger {
    /// The ledger before a plan.
    pub fn of(case: &Case) -> Self {
        let mut ledger = Self::default();
        for pool in case.of_kind("NodePool") {
            let name = text(pool, "/metadata/name").to_owned();
            ledger
                .limits
                .insert(name.clone(), amounts(&pool["spec"]["limits"]));
            let rules = items(pool, "/spec/template/spec/requirements").iter();
            let wants = rules.filter_map(|rule| {
                let least = rule["minValues"].as_u64()?;
                Some((text(rule, "/key").to_owned(), usize::try_from(least).ok()?))
            });
            ledger.wants.insert(name, wants.collect());
        }
        for claim in case.of_kind("NodeClaim") {
            let pool = text(claim, "/metadata/labels/karpenter.sh~1nodepool");
            ledger.take(pool, &amounts(&claim["status"]["capacity"]));
        }
        for instance_type in items(&case.section, "/catalogue/instanceTypes") {
            for reservation in items(instance_type, "/offerings")
                .iter()
                .map(|offering| &offering["reservation"])
            {
                if let Some(left) = reservation["remaining"].as_i64() {
                    ledger
                        .reserved
                        .insert(text(reservation, "/id").to_owned(), left);
                }
            }
        }
        ledger
    }

    /// Books the nodes of a plan, each as the largest that may be launched for it, and tells what that oversteps.
    pub fn book(&mut self, planned: &Planned, purchases: &[Purchase]) -> Vec<Defect> {
        for claim in &planned.claims {
            let options = claim
                .options
                .iter()
                .map(|option| option.of(&claim.pool, purchases));
            let options: Vec<&Purchase> = options.flatten().collect();
            let mut largest: BTreeMap<String, i64> = BTreeMap::new();
            for (name, amount) in options.iter().flat_map(|one| &one.capacity) {
                let most = largest.entry(name.clone()).or_default();
                *most = (*most).max(*amount);
            }
            self.take(&claim.pool, &largest);
            let Some(purchase) = options.first() else {
                continue;
            };
            if let Some(left) = purchase
                .reservation
                .as_ref()
                .and_then(|id| self.reserved.get_mut(id))
            {
                *left -= 1;
            }
        }
        let grown: BTreeSet<&str> = planned
            .claims
            .iter()
            .map(|claim| claim.pool.as_str())
            .collect();
        let mut defects = Vec::new();
        for pool in grown {
            if let Some(name) = self.overstepped(pool, &BTreeMap::new()) {
                let text = format!(
                    "pool {pool} has more {name} than its limit once the plan is carried out"
                );
                defects.push(Defect::new(Rule::Limit, text));
            }
        }
        for (id, left) in self.reserved.iter().filter(|(_, left)| **left < 0) {
            let text = format!(
                "reservation {id} is drawn on {} times more often than it has instances",
                -left
            );
            defects.push(Defect::new(Rule::Limit, text));
        }
        defects
    }

    /// `true` if the purchase is within its pool's limits and its reservation.
    pub fn allows(&self, purchase: &Purchase) -> bool {
        let left = purchase
            .reservation
            .as_ref()
            .and_then(|id| self.reserved.get(id));
        left.is_none_or(|left| *left > 0)
            && self
                .overstepped(&purchase.pool, &purchase.capacity)
                .is_none()
    }

    /// `true` if these purchases of one pool are enough to choose from, be it within any one zone. A claim draws on a reservation or
    /// does not, so its choice is of the one kind or of the other.
    pub fn is_choice(&self, pool: &str, purchases: &[&Purchase], one_zone: bool) -> bool {
        let zones: BTreeSet<&str> = purchases.iter().map(|one| one.zone.as_str()).collect();
        if !one_zone {
            return self.has_values(pool, purchases);
        }
        zones.into_iter().any(|zone| {
            let there = purchases.iter().copied().filter(|one| one.zone == zone);
            self.has_values(pool, &there.collect::<Vec<_>>())
        })
    }

    /// `true` if a pool wants more than one zone to choose from.
    pub fn wants_zones(&self, pool: &str) -> bool {
        let mut wants = self.wants.get(pool).into_iter().flatten();
        wants.any(|(key, least)| key == "topology.kubernetes.io/zone" && *least > 1)
    }

    fn has_values(&self, pool: &str, purchases: &[&Purchase]) -> bool {
        let wants = self.wants.get(pool).map_or(&[][..], Vec::as_slice);
        [true, false].into_iter().any(|reserved| {
            let of_kind = purchases
                .iter()
                .filter(|one| one.reservation.is_some() == reserved);
            let of_kind: Vec<&&Purchase> = of_kind.collect();
            !of_kind.is_empty()
                && wants.iter().all(|(key, least)| {
                    let values = of_kind.iter().filter_map(|one| one.labels.get(key));
                    values.collect::<BTreeSet<_>>().len() >= *least
                })
        })
    }

    fn take(&mut self, pool: &str, capacity: &BTreeMap<String, i64>) {
        let used = self.used.entry(pool.to_owned()).or_default();
        for (name, amount) in capacity {
            *used.entry(name.clone()).or_default() += amount;
        }
        *used.entry("nodes".to_owned()).or_default() += 1;
    }

    /// The resource of which the pool would have too much with so much more.
    fn overstepped(&self, pool: &str, more: &BTreeMap<String, i64>) -> Option<&String> {
        let limits = self.limits.get(pool)?;
        let used = self.used.get(pool);
        let (name, _) = limits.iter().find(|(name, limit)| {
            let used = used
                .and_then(|used| used.get(*name))
                .copied()
                .unwrap_or_default();
            used + more.get(*name).copied().unwrap_or_default() > **limit
        })?;
        Some(name)
    }
}

/// Requests that a namespace gives containers which name none, as its LimitRanges say; daemons' templates are written without them.
pub fn with_default_requests(case: &Case, set: &Value) -> Value {
    let mut set = set.clone();
    let namespace = text(&set, "/metadata/namespace").to_owned();
    let ranges = case
        .of_kind("LimitRange")
        .filter(|range| text(range, "/metadata/namespace") == namespace);
    for limit in ranges.flat_map(|range| items(range, "/spec/limits")) {
        let containers = set
            .pointer_mut("/spec/template/spec/containers")
            .and_then(Value::as_array_mut);
        for container in containers.into_iter().flatten() {
            for (name, amount) in limit["defaultRequest"].as_object().into_iter().flatten() {
                let requests = &mut container["resources"]["requests"];
                if requests.get(name).is_none() {
                    requests[name] = amount.clone();
                }
            }
        }
    }
    set
}
