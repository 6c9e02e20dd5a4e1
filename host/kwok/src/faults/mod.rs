//! The fault plan: what goes wrong with instances, for tests and demonstrations. Without one nothing does.
//!
//! Offerings run out, so that launches give fewer instances than were asked for; answers come late or never; instances end by
//! themselves. Draws depend on the plan's seed and on the launch alone, so that the same launches meet the same fate. What was sold is
//! remembered as long as the process lives; the next one sells the whole stock anew.

mod read;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use plimsoll_base::fixed_hash::hash_of;
use plimsoll_base::ids::{LaunchToken, ProviderId};
use plimsoll_base::time::Span;
use plimsoll_model::ClassRef;
use plimsoll_model::action::{ClaimLaunch, LaunchAnswer, LaunchRequest, Reason};
use plimsoll_model::catalogue::{Catalogue, OfferingKey, TypeOffering};
use plimsoll_model::plan::LaunchOption;
use plimsoll_model::provider::ProviderFacts;

use crate::machine::{machine, provider_id};

pub use read::FaultPlanError;
use read::{LaunchError, Stock};

/// A plan, and what has come of it so far.
#[derive(Debug, Default)]
pub struct FaultPlan {
    seed: u64,
    stock: Vec<Stock>,
    launch_errors: Vec<LaunchError>,
    launch_batch: Option<usize>,
    answer_delay: Span,
    lost_answers_percent: u8,
    /// The least and the most.
    boot_delay: Option<(Span, Span)>,
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
    /// Calls for a launch that failed, by class.
    failed: BTreeMap<Arc<str>, u64>,
}

impl FaultPlan {
    /// Facts of the provider, with as many claims in a launch as this plan lets it have.
    #[must_use]
    pub fn limit(&self, mut facts: ProviderFacts) -> ProviderFacts {
        facts.launch.size = self.launch_batch.unwrap_or(facts.launch.size);
        facts
    }

    /// Why the next launch of a class fails, in the cloud's words; `None` if it does not.
    pub(crate) fn launch_error(&self, class: &ClassRef) -> Option<String> {
        let mut errors = self.launch_errors.iter();
        let error = errors.find(|error| error.class == class.name.as_ref())?;
        let mut sold = self.sold();
        let failed = sold.failed.entry(Arc::clone(&class.name)).or_default();
        if error.calls.is_some_and(|calls| *failed >= calls) {
            return None;
        }
        *failed += 1;
        Some(error.message.clone())
    }

    /// How much longer than its class says a node takes to come up.
    pub(crate) fn boot_delay(&self, instance: &ProviderId) -> Span {
        let Some((least, most)) = self.boot_delay else {
            return Span::ZERO;
        };
        let spread = (most.millis() - least.millis()).unsigned_abs() + 1;
        let drawn = hash_of(&(self.seed, "boot", instance)) % spread;
        Span::from_millis(least.millis().saturating_add_unsigned(drawn))
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

    /// How long after its launch an instance ends by itself; `None` for one that does not.
    pub(crate) fn lifetime(&self, instance: &ProviderId) -> Option<Span> {
        let ends = self.happens(("end", instance), self.ending_percent);
        self.lifetime.filter(|_| ends)
    }

    /// How long before its end an instance is announced to end.
    pub(crate) fn notice(&self) -> Span {
        self.notice
    }

    fn happens(&self, what: impl std::hash::Hash, percent: u8) -> bool {
        hash_of(&(self.seed, what)) % 100 < u64::from(percent)
    }

    fn sold(&self) -> std::sync::MutexGuard<'_, Sold> {
        self.sold.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sells an instance for each claim of a launch, by the first option that there is one of; a launch that was made before gives what
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
                ClaimLaunch::Refused(Reason::out_of_stock(tried.collect()))
            });
        }
        LaunchAnswer {
            claims,
            exhausted: exhausted.into_iter().collect(),
        }
    }

    /// The first option that there is an instance of; those skipped are found exhausted.
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

    /// An instance has ended: its offering has one more.
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
    use plimsoll_base::ids::Uid;
    use plimsoll_base::units::PricePerHour;
    use plimsoll_model::action::LaunchBatch;

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
    fn draws_depend_on_the_seed() {
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
    fn a_class_fails_as_often_as_is_said() {
        let text = r#"{"launchErrors": [
            {"class": "default", "message": "no quota", "calls": 2}, {"class": "broken", "message": "no role"}
        ]}"#;
        let plan = FaultPlan::read(text).unwrap();
        let class = launched().class;
        let other = |name: &str| ClassRef {
            name: name.into(),
            ..class.clone()
        };
        let told = |class: &ClassRef| plan.launch_error(class);
        let words = Some("no quota".to_owned());
        assert_eq!(
            [told(&class), told(&class), told(&class)],
            [words.clone(), words, None]
        );
        assert!((0..9).all(|_| told(&other("broken")).is_some()));
        assert_eq!(told(&other("sound")), None);
    }

    #[test]
    fn boots_take_their_time_between_the_least_and_the_most() {
        let text = r#"{"seed": 7, "bootDelay": {"least": "2s", "most": "5s"}}"#;
        let plan = FaultPlan::read(text).unwrap();
        let delay = |number: usize| plan.boot_delay(&ProviderId::from(format!("kwok://{number}")));
        let (least, most) = (Span::from_secs(2), Span::from_secs(5));
        assert!((0..99).all(|number| (least..=most).contains(&delay(number))));
        assert!((0..99).any(|number| delay(number) != delay(number + 1)));
        assert_eq!(delay(1), delay(1));
    }

    #[test]
    fn a_launch_has_as_many_claims_as_the_plan_lets_it() {
        let size = |text: &str| {
            let facts = ProviderFacts::clone(&crate::provider());
            FaultPlan::read(text).unwrap().limit(facts).launch.size
        };
        assert_eq!(size(r#"{"launchBatch": 5}"#), 5);
        assert_eq!(size("{}"), crate::provider().launch.size);
    }
}
