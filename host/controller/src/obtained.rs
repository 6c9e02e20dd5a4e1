//! Instances that launches gave, against those that were planned: the cloud takes the order of what it is asked for as a wish.

use plimsoll_base::labels;
use plimsoll_model::NodeClaim;
use plimsoll_model::action::{
    Answer, ClaimLaunch, CloudCall, LaunchRequest, LaunchedInstance, Order, Outcome, Request,
};
use plimsoll_model::plan::LaunchOption;

/// An instance that a launch gave a claim.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Obtained<'o> {
    /// The claim.
    pub(crate) claim: &'o NodeClaim,
    /// The first way to buy of those that were asked for.
    pub(crate) planned: &'o LaunchOption,
    /// The way in which it was bought; `None` where it is none of those that were asked for.
    pub(crate) bought: Option<&'o LaunchOption>,
}

impl Obtained<'_> {
    /// `true` if it is what was planned.
    pub(crate) fn is_as_planned(&self) -> bool {
        let bought = self.bought.map(LaunchOption::offering);
        bought == Some(self.planned.offering())
    }

    /// Tells of it where it is not.
    pub(crate) fn tell(&self) {
        if self.is_as_planned() {
            return;
        }
        let Self {
            claim,
            planned,
            bought,
        } = self;
        let price = |option: &LaunchOption| option.list_price.dollars();
        tracing::info!(
            NodePool = claim.pool.as_str(),
            NodeClaim = claim.name.as_str(),
            planned = %planned.offering(),
            "planned-dollars-per-hour" = price(planned),
            obtained = bought.map(|own| own.offering().to_string()),
            "obtained-dollars-per-hour" = bought.map(price),
            "launched otherwise than planned"
        );
    }
}

/// The instances that an order gave, claim by claim.
pub(crate) fn obtained<'o>(order: &'o Order, outcome: &'o Outcome) -> Vec<Obtained<'o>> {
    let Request::Cloud(CloudCall::Launch(request) | CloudCall::Find(request)) = &order.request
    else {
        return Vec::new();
    };
    let Outcome::Done(Answer::Launched(answer)) = outcome else {
        return Vec::new();
    };
    let Some(planned) = request.options.first() else {
        return Vec::new();
    };
    let given = request.claims.iter().zip(&answer.claims);
    let given = given.filter_map(|(claim, became)| match became {
        ClaimLaunch::Instance(machine) => Some(Obtained {
            claim,
            planned,
            bought: bought(request, machine),
        }),
        _ => None,
    });
    given.collect()
}

/// The offering that an instance's labels name. They do not distinguish reservations of one type and zone: the first counts.
fn bought<'o>(request: &'o LaunchRequest, machine: &LaunchedInstance) -> Option<&'o LaunchOption> {
    let label = |key: &str| machine.labels.get(key).map_or("", AsRef::as_ref);
    let (name, zone) = (label(labels::INSTANCE_TYPE), label(labels::ZONE));
    let capacity_type = label(labels::CAPACITY_TYPE);
    request.options.iter().find(|option| {
        option.instance_type.as_str() == name
            && *option.zone == *zone
            && option.capacity_type.as_str() == capacity_type
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::Arc;

    use plimsoll_base::ids::ProviderId;
    use plimsoll_base::resources::Resources;
    use plimsoll_base::units::PricePerHour;
    use plimsoll_model::action::{ActionId, LaunchAnswer, LaunchBatch, ObjectKey, Purpose, Reason};
    use plimsoll_model::catalogue::CapacityType;
    use plimsoll_oracles::fixture::{cluster, node};

    use super::*;

    fn option(name: &str, nanos: i64) -> LaunchOption {
        LaunchOption {
            instance_type: name.into(),
            zone: "zone-a".into(),
            capacity_type: CapacityType::Spot,
            reservation: None,
            price: PricePerHour::from_nanos(nanos),
            list_price: PricePerHour::from_nanos(nanos),
        }
    }

    fn machine(name: &str) -> ClaimLaunch {
        let labels = [
            (labels::INSTANCE_TYPE, name),
            (labels::ZONE, "zone-a"),
            (labels::CAPACITY_TYPE, "spot"),
        ];
        let labels = labels.map(|(key, value)| (Arc::from(key), Arc::from(value)));
        ClaimLaunch::Instance(Box::new(LaunchedInstance {
            provider_id: ProviderId::from("x"),
            labels: labels.into(),
            annotations: [].into(),
            capacity: Resources::new(),
            allocatable: Resources::new(),
            image: None,
            launched: None,
        }))
    }

    fn launch() -> Order {
        let (objects, ..) = cluster()
            .node(node("n1").managed("general"))
            .node(node("n2").managed("general"))
            .node(node("n3").managed("general"))
            .node(node("n4").managed("general"))
            .parts();
        let request = LaunchRequest {
            batch: LaunchBatch {
                token: "a-0".into(),
                size: 4,
            },
            claims: objects.claims,
            taken: BTreeSet::new(),
            options: vec![option("small", 1), option("large", 2)],
        };
        let object = ObjectKey::Launch("a-0".into());
        Order {
            id: ActionId::of(&object, None, Purpose::Launch, 0),
            object,
            purpose: Purpose::Launch,
            attempt: 0,
            uid: None,
            version: None,
            request: Request::Cloud(CloudCall::Launch(request)),
        }
    }

    #[test]
    fn machines_are_held_against_the_first_way_to_buy_that_was_asked_for() {
        let order = launch();
        let none = ClaimLaunch::Refused(Reason::out_of_stock(Vec::new()));
        let outcome = Outcome::Done(Answer::Launched(LaunchAnswer {
            claims: vec![machine("small"), machine("large"), none, machine("other")],
            exhausted: Vec::new(),
        }));
        let given = obtained(&order, &outcome);
        let is_planned: Vec<bool> = given.iter().map(Obtained::is_as_planned).collect();
        assert_eq!(is_planned, [true, false, false]);
        let bought = given
            .iter()
            .map(|own| own.bought.map(LaunchOption::offering));
        let bought: Vec<Option<String>> = bought.map(|own| Some(own?.to_string())).collect();
        let small = Some("small/zone-a/spot".to_owned());
        assert_eq!(bought, [small, Some("large/zone-a/spot".to_owned()), None]);
        assert!(obtained(&order, &Outcome::Unknown).is_empty());
    }
}
