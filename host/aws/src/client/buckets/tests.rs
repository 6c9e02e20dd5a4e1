//! Those who wait are served in their order, also where some give up.

use std::pin::pin;
use std::sync::mpsc::channel;
use std::task::{Context, Waker};

use plimsoll_cloud::{usual_instance_rates, usual_rates};

use super::*;

#[tokio::test]
async fn the_more_urgent_passes_those_who_wait_and_who_gives_up_holds_up_nobody() {
    let buckets = Arc::new(Buckets::default());
    buckets.turn(ENDED, Urgency::Read, 1_000).await;
    // The first in the line gives up once it has begun to wait.
    {
        let mut given_up = pin!(buckets.turn(ENDED, Urgency::Read, 4));
        let mut context = Context::from_waker(Waker::noop());
        assert!(given_up.as_mut().poll(&mut context).is_pending());
    }
    let (served, order) = channel();
    let wait = |name: &'static str, urgency: Urgency| {
        let (buckets, served) = (Arc::clone(&buckets), served.clone());
        tokio::spawn(async move {
            buckets.turn(ENDED, urgency, 4).await;
            served.send(name).expect("somebody listens");
        })
    };
    // They come in this order, since one thread runs them in turn.
    let waiting = [
        wait("list", Urgency::Read),
        wait("dry run", Urgency::Read),
        wait("fleet", Urgency::Launch),
        wait("end", Urgency::Terminate),
    ];
    for one in waiting {
        one.await.expect("served");
    }
    let order: Vec<&str> = order.try_iter().collect();
    assert_eq!(order, ["end", "fleet", "list", "dry run"]);
}

#[test]
fn none_holds_more_or_refills_faster_than_the_accounts_own() {
    let own = usual_rates().into_iter();
    let own = own.map(|(operation, rate)| (format!("ec2:{operation}"), rate));
    let instances = usual_instance_rates().into_iter();
    let instances =
        instances.map(|(operation, rate)| (format!("instances of ec2:{operation}"), rate));
    for (name, theirs) in own.chain(instances) {
        let ours = rate(&name);
        let [full, burst, per_second] =
            [published(&name).burst, ours.burst, ours.per_second].map(f64::from);
        let is_the_same = |own: f64, other: f64| own.total_cmp(&other).is_eq();
        assert!(is_the_same(full, theirs.burst), "{name}");
        assert!(is_the_same(per_second, theirs.per_second), "{name}");
        assert!(burst < theirs.burst, "{name}");
    }
}
