//! Policies are told of the last hour and day: evictions and launches that failed.

use std::sync::{Arc, Mutex};

use plimsoll_base::time::{Span, Timestamp};
use plimsoll_model::OwnerKind;
use plimsoll_model::action::ConsiderRequest;
use plimsoll_model::catalogue::{Market, OfferingKey};
use plimsoll_model::snapshot::{Activity, Snapshot};
use plimsoll_oracles::fixture::{Amounts, OnDemand, ZONE_1, cluster, instance_type, pod, pool};
use plimsoll_scenarios::stage;
use plimsoll_sim::{Change, Considered, Planned, Planner, Recording, Run, TimedChange, Which};

/// The questions asked: activity at every pass, and failures listed in the catalogues that plans were made from.
#[derive(Clone, Default)]
struct Heard {
    activity: Arc<Mutex<Vec<Activity>>>,
    listed_failures: Arc<Mutex<Vec<u32>>>,
}

impl Planner for Heard {
    fn plan(&mut self, snapshot: &Snapshot) -> Planned {
        let offerings = snapshot.catalogues.of_others().types().iter();
        let failures = offerings.flat_map(|sold| sold.offerings.iter().map(|it| it.failures_1h));
        self.listed_failures
            .lock()
            .expect("nothing panics while it is held")
            .push(failures.sum());
        plimsoll_schedule::plan(snapshot).into()
    }

    fn consider(&mut self, request: &ConsiderRequest) -> Considered {
        let activity = request.snapshot.activity.clone();
        self.activity
            .lock()
            .expect("nothing panics while it is held")
            .push(activity);
        plimsoll_disrupt::consider(&request.snapshot, &request.question).into()
    }
}

fn at(minutes: i64) -> Timestamp {
    Timestamp::from_millis(minutes * 60_000)
}

/// Six pods fill a large instance, and five of them end after ten minutes; small instances are out of stock to begin with.
fn world() -> Recording {
    let general = pool("general").with(|pool| {
        pool.disruption.consolidate_after = Some(Span::from_secs(60));
        pool.disruption.budgets.clear();
    });
    let sold = |name: &str, cpu: i64, price: f64| {
        let listed = instance_type(name).cpu(cpu).memory_mib(cpu * 4);
        let listed = listed.pods(110).no_overhead().price(price);
        listed.offered(ZONE_1, OnDemand)
    };
    let fixture = cluster().pool(general);
    let fixture = fixture.sells(sold("small", 2_000, 0.1));
    let (objects, catalogues, settings) = fixture.sells(sold("large", 8_000, 0.3)).parts();
    let arrive = |number: i64, when: Timestamp, runs: Span| {
        let name = format!("web-{number}");
        // Each of a workload of its own: several of one would not share an instance.
        let pod = pod(&name).cpu(1_200).memory_mib(100);
        let pod = pod.owned_by(OwnerKind::ReplicaSet, &name);
        let pod = pod.with(|pod| pod.unschedulable = false);
        let (objects, ..) = cluster().pod(pod).parts();
        TimedChange {
            at: when,
            change: Change::Arrive(Arc::clone(&objects.pods[0]), Some(runs)),
        }
    };
    let stock = |when: Timestamp, left: Option<u32>| TimedChange {
        at: when,
        change: Change::Stock(
            Which {
                instance_type: "small".into(),
                zone: Some(ZONE_1.into()),
                capacity_type: OnDemand,
            },
            left,
        ),
    };
    let mut changes = vec![
        stock(at(0), Some(0)),
        arrive(9, at(1), Span::from_secs(60)),
        stock(at(5), None),
    ];
    let short = (0..5).map(|number| arrive(number, at(6), Span::from_secs(600)));
    changes.extend(short);
    changes.push(arrive(5, at(6), Span::from_secs(6 * 3600)));
    stage::recording(
        (objects, catalogues, settings),
        at(0),
        Some(at(5 * 60)),
        changes,
    )
}

#[test]
fn evictions_and_failed_launches_are_told_as_long_as_they_count() {
    let heard = Heard::default();
    let behaviour = stage::uninterrupted();
    let card = Run::new(world(), behaviour, heard.clone()).finish();
    assert_eq!(card.evictions, 1, "the pod that stays alone is moved once");
    let asked = heard.activity.lock().unwrap();
    let failures = |activity: &Activity| activity.failures_hour.values().sum::<u32>();
    let hourly = |activity: &Activity| activity.evictions_hour.values().sum::<u32>();
    let daily = |activity: &Activity| activity.evictions_day.values().sum::<u32>();
    assert_eq!(asked.iter().map(failures).max(), Some(1));
    assert_eq!(asked.iter().map(hourly).max(), Some(1));
    assert_eq!(asked.iter().map(daily).max(), Some(1));
    let listed = heard.listed_failures.lock().unwrap();
    assert_eq!(listed.iter().max(), Some(&1));
}

#[test]
fn an_offering_that_failed_is_avoided_for_minutes_and_told_for_an_hour() {
    let sold = instance_type("small").offered(ZONE_1, OnDemand);
    let (_, catalogues, _) = cluster().sells(sold).parts();
    let mut market = Market::new(Arc::new(catalogues));
    let second = |seconds: i64| Timestamp::from_millis(seconds * 1000);
    let seen = |market: &Market| {
        let offering = &market.catalogues().of_others().types()[0].offerings[0];
        (
            offering.available,
            offering.failures_1h,
            market.next_change(),
        )
    };
    let key = OfferingKey {
        instance_type: "small".into(),
        zone: ZONE_1.into(),
        capacity_type: OnDemand,
        reservation: None,
    };
    market.avoid([key], second(0));
    assert_eq!(seen(&market), (false, 1, Some(second(180))));
    assert!(market.expire_unavailable(second(180)));
    assert_eq!(seen(&market), (true, 1, Some(second(3600))));
    assert!(market.expire_unavailable(second(3600)));
    assert_eq!(seen(&market), (true, 0, None));
    assert!(!market.expire_unavailable(second(3601)));
}
