//! Queues over the wire: errors as clients of both ages know them, and polls that wait.

use std::time::{Duration, Instant};

use plimsoll_cloud::{Cloud, Event};

use crate::client::{Answer, cloud, json};

async fn sqs(cloud: &Cloud, operation: &str, body: &str) -> Answer {
    json(cloud, "sqs", &format!("AmazonSQS.{operation}"), body).await
}

#[tokio::test]
async fn a_queue_is_found_at_the_address_of_the_cloud() {
    let cloud = cloud().await;
    let told = sqs(&cloud, "GetQueueUrl", r#"{"QueueName":"demo"}"#).await;
    let url = format!(r#"{{"QueueUrl":"{}/111122223333/demo"}}"#, cloud.url());
    assert_eq!((told.status, &*told.body), (200, &*url));
    let told = sqs(&cloud, "GetQueueUrl", r#"{"QueueName":"none"}"#).await;
    assert_eq!(told.status, 400);
    assert!(
        told.body.contains(r#""__type":"QueueDoesNotExist""#),
        "{}",
        told.body
    );
    let old = "x-amzn-query-error: aws.simplequeueservice.nonexistentqueue;sender";
    assert!(told.head.contains(old), "{}", told.head);
}

const POLL: &str = r#"{"QueueUrl":"/demo","WaitTimeSeconds":20,"VisibilityTimeout":20}"#;

/// Waits until a poll waits.
async fn poll_waits(cloud: &Cloud) {
    let deadline = Instant::now() + Duration::from_secs(10);
    while cloud.waiting_polls() == 0 && Instant::now() < deadline {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_poll_that_waits_ends_as_soon_as_a_message_comes() {
    let cloud = cloud().await;
    let id = "i-0abc".to_owned();
    let began = Instant::now();
    let poll = sqs(&cloud, "ReceiveMessage", POLL);
    let put = async {
        poll_waits(&cloud).await;
        cloud.with(|world| world.emit("demo", &Event::SpotInterruption { id }));
    };
    let (told, ()) = tokio::join!(poll, put);
    let warning = "EC2 Spot Instance Interruption Warning";
    assert!(told.body.contains(warning), "{}", told.body);
    assert!(began.elapsed() < Duration::from_secs(10));
    assert_eq!(cloud.waiting_polls(), 0);
}

#[tokio::test]
async fn a_poll_gets_what_another_one_let_go() {
    let cloud = cloud().await;
    cloud.with(|world| world.send("demo", "hello"));
    let short = r#"{"QueueUrl":"/demo","VisibilityTimeout":1}"#;
    assert!(
        sqs(&cloud, "ReceiveMessage", short)
            .await
            .body
            .contains("hello")
    );
    assert_eq!(sqs(&cloud, "ReceiveMessage", short).await.body, "{}");
    let began = Instant::now();
    assert!(
        sqs(&cloud, "ReceiveMessage", POLL)
            .await
            .body
            .contains("hello")
    );
    assert!(began.elapsed() < Duration::from_secs(10));
}

#[tokio::test]
async fn a_message_that_is_sent_ends_a_poll_too() {
    let cloud = cloud().await;
    let began = Instant::now();
    let poll = sqs(&cloud, "ReceiveMessage", POLL);
    let send = async {
        poll_waits(&cloud).await;
        let body = r#"{"QueueUrl":"/demo","MessageBody":"hello"}"#;
        sqs(&cloud, "SendMessage", body).await
    };
    let (told, sent) = tokio::join!(poll, send);
    assert_eq!(sent.status, 200);
    assert!(told.body.contains("hello"));
    assert!(began.elapsed() < Duration::from_secs(10));
}
