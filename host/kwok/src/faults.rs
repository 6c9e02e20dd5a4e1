//! The fault plan: what goes wrong with machines, for tests and demonstrations. Without one nothing does.
//!
//! Offerings run out, so that launches give fewer machines than were asked for; answers come late or never; machines end by
//! themselves. Draws hang on the plan's seed and on the launch alone, so that the same launches meet the same fate. What was sold is
//! remembered as long as the process lives; the next one sells the whole stock anew.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use plimsoll_api::duration;
use plimsoll_core::action::{ClaimLaunch, LaunchAnswer, LaunchRequest, Reason};
use plimsoll_core::catalogue::{Catalogue, OfferingKey, TypeOffering};
use plimsoll_core::fixed_hash::hash_of;
use plimsoll_core::ids::{LaunchToken, ProviderId};
use plimsoll_core::plan::LaunchOption;
use plimsoll_core::time::Span;
use serde::Deserialize;
use thiserror::Error;

use crate::machine::{machine, provider_id};

/// The fault of a fault plan.
#[derive(Debug, Error)]
pub enum FaultPlanError {
    /// It is no plan.
    #[error("the fault plan cannot be read")]
    Text(#[from] serde_json::Error),
    /// A time is none.
    #[error(
        "the fault plan: {field} is \"{value}\"; expected {}",
        duration::EXPECTED
    )]
    Duration {
        /// The field.
        field: &'static str,
        /// Its value.
        value: String,
    },
    /// A share is more than all.
    #[error("the fault plan: {field} is {value}; expected 0 to 100")]
    Percent {
        /// The field.
        field: &'static str,
        /// Its value.
        value: u8,
    },
}

/// A plan as it is written.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct Written {
    seed: u64,
    stock: Vec<Stock>,
    answer_delay: Option<String>,
    lost_answers_percent: u8,
    lifetime: Option<String>,
    notice: Option<String>,
    ending_percent: u8,
}

/// How many machines there are of some offerings, in all.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Stock {
    /// The type; any where it is not said.
    instance_type: Option<String>,
    /// The zone; any where it is not said.
    zone: Option<String>,
    /// The capacity type; any where it is not said.
    capacity_type: Option<String>,
    available: u32,
}

impl Stock {
    fn contains(&self, key: &OfferingKey) -> bool {
        let is = |wanted: &Option<String>, value: &str| {
            wanted.as_ref().is_none_or(|wanted| wanted == value)
        };
        is(&self.instance_type, key.instance_type.as_str())
            && is(&self.zone, &key.zone)
            && is(&self.capacity_type, key.capacity_type.as_str())
    }
}

/// A plan, and what has come of it so far.
#[derive(Debug, Default)]
pub struct FaultPlan {
    seed: u64,
    stock: Vec<Stock>,
    answer_delay: Span,
    lost_answers_percent: u8,
    lifetime: Option<Span>,
    notice: Span,
    ending_percent: u8,
    sold: Mutex<Sold>,
}

/// Instances sold, by launch.
#[derive(Debug, Default)]
struct Sold {
    launches: BTreeSet<LaunchToken>,
    machines: BTreeMap<ProviderId, OfferingKey>,
    /// Calls answered.
    answers: u64,
}

impl FaultPlan {
    /// Reads a plan from JSON: `seed`, `stock` (a list of `instanceType`, `zone`, `capacityType`, `available`), `answerDelay`,
    /// `lostAnswersPercent`, `lifetime`, `endingPercent` and `notice` (so many machines end after so long, announced so long before), each
    /// of which may be absent.
    pub fn read(text: &str) -> Result<Self, FaultPlanError> {
        let written: Written = serde_json::from_str(text)?;
        let span = |field, text: Option<String>| {
            let parse = |value: String| {
                duration::parse(&value).ok_or(FaultPlanError::Duration { field, value })
            };
            text.map(parse).transpose()
        };
        let percent = |field, value: u8| {
            let is_share = value <= 100;
            is_share
                .then_some(value)
                .ok_or(FaultPlanError::Percent { field, value })
        };
        Ok(Self {
            seed: written.seed,
            stock: written.stock,
            answer_delay: span("answerDelay", written.answer_delay)?.unwrap_or(Span::ZERO),
            lost_answers_percent: percent("lostAnswersPercent", written.lost_answers_percent)?,
            lifetime: span("lifetime", written.lifetime)?,
            notice: span("notice", written.notice)?.unwrap_or(Span::ZERO),
            ending_percent: percent("endingPercent", written.ending_percent)?,
            sold: Mutex::default(),
        })
    }

    /// How long an answer takes.
    pub(crate) fn answer_delay(&self) -> Span {
        self.answer_delay
    }

    /// `true` if the answer to the next call is lost.
    pub(crate) fn loses_answer(&self) -> bool {
        let mut sold = self.sold();
        sold.answers += 1;
        self.happens(("answer", sold.answers), self.lost_answers_percent)
    }

    /// How long after its launch a machine ends by itself; `None` for one that does not.
    pub(crate) fn lifetime(&self, instance: &ProviderId) -> Option<Span> {
        let ends = self.happens(("end", instance), self.ending_percent);
        self.lifetime.filter(|_| ends)
    }

    /// How long before its end a machine is announced to end.
    pub(crate) fn notice(&self) -> Span {
        self.notice
    }

    fn happens(&self, what: impl std::hash::Hash, percent: u8) -> bool {
        hash_of(&(self.seed, what)) % 100 < u64::from(percent)
    }

    fn sold(&self) -> std::sync::MutexGuard<'_, Sold> {
        self.sold.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sells a machine for each claim of a launch, by the first option that there is one of; a launch that was made before gives what
    /// it gave then.
    pub(crate) fn launch(&self, request: &LaunchRequest, catalogue: &Catalogue) -> LaunchAnswer {
        let mut sold = self.sold();
        let is_new = sold.launches.insert(request.batch.token.clone());
        let mut exhausted = BTreeSet::new();
        let mut claims = Vec::new();
        for claim in &request.claims {
            let id = ProviderId::from(provider_id(claim));
            let given = sold
                .machines
                .get(&id)
                .and_then(|key| catalogue.offering(key));
            let found = match given {
                None if is_new => self.first(request, catalogue, &sold, &mut exhausted),
                given => given,
            };
            claims.push(if let Some(offering) = found {
                sold.machines.insert(id, offering.key());
                ClaimLaunch::Instance(Box::new(machine(claim, offering)))
            } else {
                let tried = request.options.iter().map(LaunchOption::offering);
                ClaimLaunch::Refused(Reason::InsufficientCapacity(tried.collect()))
            });
        }
        LaunchAnswer {
            claims,
            exhausted: exhausted.into_iter().collect(),
        }
    }

    /// The first option that there is a machine of; those passed over are found exhausted.
    fn first<'c>(
        &self,
        request: &LaunchRequest,
        catalogue: &'c Catalogue,
        sold: &Sold,
        exhausted: &mut BTreeSet<OfferingKey>,
    ) -> Option<TypeOffering<'c>> {
        for key in request.options.iter().map(LaunchOption::offering) {
            let offering = catalogue.offering(&key);
            let offering = offering.filter(|own| own.offering.available);
            if let Some(offering) = offering.filter(|_| self.has(&key, sold)) {
                return Some(offering);
            }
            exhausted.insert(key);
        }
        None
    }

    fn has(&self, key: &OfferingKey, sold: &Sold) -> bool {
        let mut stock = self.stock.iter().filter(|stock| stock.contains(key));
        stock.all(|stock| {
            let of_it = sold.machines.values().filter(|key| stock.contains(key));
            of_it.count() < stock.available as usize
        })
    }

    /// A machine has ended: its offering has one more.
    pub(crate) fn ended(&self, instance: &ProviderId) {
        self.sold().machines.remove(instance);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::boot::tests::launched;
    use crate::catalogue;
    use plimsoll_core::action::LaunchBatch;
    use plimsoll_core::ids::Uid;
    use plimsoll_core::units::PricePerHour;

    const TWO_LEFT: &str = r#"{"stock": [{"zone": "test-zone-a", "available": 2}]}"#;

    /// A launch for so many claims, of a type in two zones.
    fn request(prefix: &str, count: usize) -> LaunchRequest {
        let one = |number: usize| {
            let mut claim = launched();
            claim.uid = Uid::from(format!("{prefix}{number}"));
            claim.labels.clear();
            Arc::new(claim)
        };
        let claims: Vec<_> = (0..count).map(one).collect();
        let options = ["test-zone-a", "test-zone-b"].map(|zone| {
            let key = OfferingKey::parse(&format!("c-2x-amd64-linux/{zone}/on-demand")).unwrap();
            LaunchOption {
                instance_type: key.instance_type,
                zone: key.zone,
                capacity_type: key.capacity_type,
                reservation: None,
                price: PricePerHour::default(),
                list_price: PricePerHour::default(),
            }
        });
        LaunchRequest {
            batch: LaunchBatch::new(claims.iter().map(|claim| &claim.uid), 1, 0),
            claims,
            taken: BTreeSet::new(),
            options: options.into(),
        }
    }

    fn zones(answer: &LaunchAnswer) -> Vec<String> {
        let zone = |became: &ClaimLaunch| match became {
            ClaimLaunch::Instance(machine) => {
                machine.labels["topology.kubernetes.io/zone"].to_string()
            }
            other => format!("{other:?}").chars().take(7).collect(),
        };
        answer.claims.iter().map(zone).collect()
    }

    #[test]
    fn a_stock_that_ends_within_a_launch_is_said_and_the_rest_is_bought_elsewhere() {
        let (plan, list) = (
            FaultPlan::read(TWO_LEFT).unwrap(),
            catalogue::builtin().unwrap(),
        );
        let first = plan.launch(&request("a", 5), &list);
        let (a, b) = ("test-zone-a", "test-zone-b");
        assert_eq!(zones(&first), [a, a, b, b, b]);
        assert_eq!(first.exhausted.len(), 1);
        assert_eq!(
            plan.launch(&request("a", 5), &list).claims,
            first.claims,
            "the same again"
        );
        let mut only = request("b", 2);
        only.options.truncate(1);
        assert_eq!(zones(&plan.launch(&only, &list)), ["Refused"; 2]);
        plan.ended(&ProviderId::from(provider_id(&request("a", 1).claims[0])));
        let mut next = request("c", 2);
        next.options.truncate(1);
        assert_eq!(zones(&plan.launch(&next, &list)), [a, "Refused"]);
    }

    #[test]
    fn draws_hang_on_the_seed() {
        let plan = |seed: u64| {
            let text = format!(r#"{{"seed": {seed}, "lostAnswersPercent": 50}}"#);
            let plan = FaultPlan::read(&text).unwrap();
            (0..20).map(|_| plan.loses_answer()).collect::<Vec<_>>()
        };
        assert_eq!(plan(1), plan(1));
        assert_ne!(plan(1), plan(2));
        assert!(plan(1).contains(&true) && plan(1).contains(&false));
    }

    #[test]
    fn what_is_no_plan_is_told_by_field() {
        let told = |text: &str| FaultPlan::read(text).unwrap_err().to_string();
        assert!(told(r#"{"lifetime": "soon"}"#).contains("lifetime is \"soon\""));
        assert!(told(r#"{"endingPercent": 101}"#).contains("expected 0 to 100"));
        assert!(FaultPlan::read(r#"{"stocks": []}"#).is_err());
    }
}
