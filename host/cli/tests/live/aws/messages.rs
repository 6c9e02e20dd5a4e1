//! Messages of the queue that end nothing, among many: all are deleted, what they say is told, and the node stays.

use plimsoll_cloud::{Call, Event};

use super::*;

/// Messages of each kind.
const OF_EACH: usize = 60;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn messages_about_nothing_of_ours_are_deleted_and_a_recommendation_is_told() {
    let scene = Scene::start("spot").await;
    scene.run_pods(1).await;
    let own = scene.alive().remove(0);
    let recommended = Event::RebalanceRecommendation { id: own.id.clone() };
    let of_others = |number: usize| {
        let id = format!("i-f{number:016x}");
        [
            Event::SpotInterruption { id: id.clone() },
            Event::RebalanceRecommendation { id: id.clone() },
            Event::ScheduledChange {
                ids: vec![id.clone()],
            },
            Event::StateChange {
                id,
                state: "stopping".to_owned(),
            },
        ]
    };
    // The way up says nothing of an end.
    let starts = Event::StateChange {
        id: own.id.clone(),
        state: "running".to_owned(),
    };
    scene.cloud.with(|world| {
        for number in 0..OF_EACH {
            for event in of_others(number).iter().chain([&recommended, &starts]) {
                world.emit(QUEUE, event);
            }
            world.send(QUEUE, "no event at all {");
            world.send(
                QUEUE,
                r#"{"version":"0","source":"my.app","detail-type":"Hello"}"#,
            );
        }
    });
    let deleted = until("all messages to be deleted", PATIENCE, async || {
        let left = |world: &mut World| world.queues[QUEUE].messages.len();
        Ok((scene.cloud.with(left) == 0).then_some(()))
    });
    deleted.await.expect("deleted");
    scene.until_told("SpotRebalanceRecommendation").await;
    let claims = scene.claims().await;
    assert_eq!(claims.len(), 1);
    assert!(claims[0].metadata.deletion_timestamp.is_none());
    assert_eq!(scene.alive().len(), 1);
    // Each was handed out once: nothing had to be read again. Ten went at a time as a rule.
    let calls = scene.cloud.calls().into_iter();
    let calls: Vec<Call> = calls
        .filter(|call| call.operation == "DeleteMessageBatch")
        .collect();
    let entries = |call: &Call| call.input["Entries"].as_array().map_or(0, Vec::len);
    assert_eq!(calls.iter().map(entries).sum::<usize>(), OF_EACH * 8);
    assert!(calls.len() < OF_EACH * 8 / 2, "{} calls", calls.len());
}
