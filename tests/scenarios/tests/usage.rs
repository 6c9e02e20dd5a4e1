//! Usage beside requests on a score card: load alone launches nothing, requests alone launch though that is not needed.

use plimsoll_base::ids::ObjectName;
use plimsoll_base::time::{Span, Timestamp};
use plimsoll_oracles::fixture::{Amounts, OnDemand, ZONE_1, cluster, instance_type, pod, pool};
use plimsoll_scenarios::stage;
use plimsoll_sim::{BusySpan, Change, Deployment, ScoreCard, TimedChange, Usage};

const HOUR: i64 = 3600;
const MEBIBYTE: i64 = 1 << 20;

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_millis(seconds * 1000)
}

fn usage(cpu_milli: i64, mebibytes: i64) -> Usage {
    Usage {
        cpu_milli,
        memory_bytes: mebibytes * MEBIBYTE,
    }
}

fn name() -> ObjectName {
    ObjectName::new("default", "web")
}

/// So many pods of so many milli-cores and 512 MiB, which use as much as stated where anything is.
fn web(replicas: u32, cpu: i64, uses: Option<Usage>) -> Change {
    let template = pod("web").cpu(cpu).memory_mib(512);
    Change::Deploy(Deployment {
        uses,
        ..stage::deployment(&template, replicas)
    })
}

/// An hour of a pool that buys nodes of four cores, which are there 45 seconds after they are bought.
fn hour(changes: Vec<(i64, Change)>) -> ScoreCard {
    let four = instance_type("four").cpu(4000).memory_mib(16_384);
    let four = four.pods(110).no_overhead().price(0.2);
    let fixture = cluster()
        .pool(pool("general").with(|pool| pool.disruption.consolidate_after = None))
        .sells(four.offered(ZONE_1, OnDemand))
        .settings(|settings| settings.guards.enabled = false);
    let changes = changes.into_iter().map(|(seconds, change)| TimedChange {
        at: at(seconds),
        change,
    });
    let recording = stage::recording(fixture.parts(), at(0), Some(at(HOUR)), changes.collect());
    stage::run(recording, stage::uninterrupted()).finish()
}

/// C16: high use without a waiting pod launches nothing, and the card says when nodes were busy.
#[test]
fn high_use_with_no_pod_waiting_launches_nothing_and_shows_busy_nodes() {
    let card = hour(vec![
        (0, web(3, 1000, Some(usage(300, 256)))),
        (600, Change::Uses(name(), usage(1300, 256))),
        (1500, Change::Uses(name(), usage(300, 256))),
        (2400, Change::Uses(name(), usage(1100, 256))),
    ]);
    assert_eq!((card.launches, card.unplaced_count), (1, 0));
    let usage = card.usage.expect("the recording says what pods use");
    let span = |from, to| BusySpan {
        from: at(from),
        to: at(to),
        nodes: 1,
    };
    assert_eq!(usage.busy, [span(600, 1500), span(2400, HOUR)]);
    assert_eq!(
        (usage.busy_count, usage.busy_for),
        (2, Span::from_secs(2100))
    );
    let advice = usage.advice().join("\n");
    assert!(advice.contains("busy nodes, none pending"), "{advice}");
    assert!(!advice.contains("VerticalPodAutoscaler"), "{advice}");
}

#[test]
fn use_of_just_four_fifths_is_not_busy() {
    // Three pods of 1066m are 3198m of 4000m.
    let card = hour(vec![(0, web(3, 1000, Some(usage(1066, 256))))]);
    assert_eq!(card.usage.map(|usage| usage.busy_count), Some(0));
}

#[test]
fn busy_nodes_do_not_count_while_a_pod_waits() {
    let card = hour(vec![
        (0, web(3, 1000, Some(usage(1300, 256)))),
        // One more than anything that is sold can hold.
        (1800, web(3, 9000, None)),
        (1900, Change::Scale(name(), 4)),
    ]);
    let busy = card.usage.map(|usage| usage.busy).unwrap_or_default();
    assert_eq!(busy.last().map(|span| span.to), Some(at(1900)));
}

/// C16: inflated requests launch nodes that are not needed; the card holds requests against use and names the remedy.
#[test]
fn inflated_requests_launch_and_the_card_holds_them_against_use() {
    let card = hour(vec![(0, web(4, 3500, Some(usage(200, 128))))]);
    assert_eq!(card.launches, 4);
    let usage = card.usage.expect("the recording says what pods use");
    assert_eq!(usage.busy_count, 0);
    let [inflated] = usage.inflated.as_slice() else {
        panic!("{:?}", usage.inflated);
    };
    assert_eq!(inflated.workload, "default/web");
    assert_eq!(
        (inflated.of_pod.cpu_requested, inflated.of_pod.cpu_used),
        (3500, 200)
    );
    let mebibytes = (
        inflated.of_pod.memory_requested,
        inflated.of_pod.memory_used,
    );
    assert_eq!(mebibytes, (512 * MEBIBYTE, 128 * MEBIBYTE));
    // Four pods for an hour less the start of their nodes.
    assert!(
        (13_000..14_000).contains(&usage.hours.cpu_requested),
        "{usage:?}"
    );
    assert_eq!(usage.hours.cpu_used, usage.hours.cpu_requested * 200 / 3500);
    let advice = usage.advice().join("\n");
    assert!(
        advice.contains("requests cpu 3500m, memory 512Mi and uses cpu 200m, memory 128Mi"),
        "{advice}"
    );
    assert!(advice.contains("VerticalPodAutoscaler (VPA)"), "{advice}");
}

#[test]
fn recording_that_says_nothing_of_use_has_no_card_of_it() {
    assert_eq!(hour(vec![(0, web(3, 1000, None))]).usage, None);
}
