//! SQS: queues whose messages are handed out, hidden for a while, and deleted by their receipt.

use std::collections::BTreeSet;
use std::time::{Duration, UNIX_EPOCH};

use md5::{Digest as _, Md5};
use serde_json::{Map, Value, json};

use crate::fault::Fault;
use crate::world::{Message, Queue, World};

/// Most entries of a call about several messages.
const MOST_OF_BATCH: usize = 10;

/// Answers an operation; `host` is where the client believes the server to be.
pub(crate) fn answer(
    world: &mut World,
    operation: &str,
    input: &Value,
    host: &str,
) -> Result<Value, Fault> {
    match operation {
        "GetQueueUrl" => {
            let name = input["QueueName"].as_str().unwrap_or_default();
            found(world, name)?;
            Ok(json!({"QueueUrl": format!("http://{host}/{}/{name}", world.account)}))
        }
        "ReceiveMessage" => receive(world, input),
        "DeleteMessage" => delete(world, input),
        "DeleteMessageBatch" => delete_batch(world, input),
        "SendMessage" => {
            let name = queue_name(input).to_owned();
            found(world, &name)?;
            let body = input["MessageBody"].as_str();
            let body = body.ok_or_else(|| Fault::missing("MessageBody"))?;
            let id = world.send(&name, body);
            Ok(json!({"MessageId": id, "MD5OfMessageBody": digest(body.as_bytes())}))
        }
        "GetQueueAttributes" => attributes(world, input),
        other => Err(Fault::unknown(other)),
    }
}

/// The digest by which clients check that a message came as it was sent, in hexadecimal.
fn digest(bytes: &[u8]) -> String {
    format!("{:032x}", u128::from_be_bytes(Md5::digest(bytes).into()))
}

/// How long a call may wait for a message.
pub(crate) fn wait(operation: &str, input: &Value) -> Duration {
    match operation {
        "ReceiveMessage" => Duration::from_secs(input["WaitTimeSeconds"].as_u64().unwrap_or(0)),
        _ => Duration::ZERO,
    }
}

/// `true` for the answer of a call that found no message.
pub(crate) fn is_empty(answer: &Value) -> bool {
    answer["Messages"].is_null()
}

/// How long from now until a message of the queue can be handed out that cannot be now; `None` if there is none.
pub(crate) fn next_due(world: &World, input: &Value) -> Option<Duration> {
    let queue = world.queues.get(queue_name(input))?;
    let (now, times) = (world.now(), queue.messages.values());
    let next = times.map(|message| message.visible).filter(|at| now <= *at);
    next.min()?.duration_since(now).ok()
}

/// The name at the end of a queue's URL.
pub(crate) fn queue_name(input: &Value) -> &str {
    let url = input["QueueUrl"].as_str().unwrap_or_default();
    url.rsplit('/').next().unwrap_or_default()
}

fn found<'w>(world: &'w mut World, name: &str) -> Result<&'w mut Queue, Fault> {
    world.queues.get_mut(name).ok_or_else(|| {
        let message = "The specified queue does not exist.";
        Fault::new("QueueDoesNotExist", message)
    })
}

/// A number of the input that is to be within a range.
fn number(input: &Value, key: &str, least: u64, most: u64) -> Result<Option<u64>, Fault> {
    let number = match &input[key] {
        Value::Null => return Ok(None),
        own => own.as_u64().filter(|own| (least..=most).contains(own)),
    };
    let message = || {
        let own = &input[key];
        format!(
            "Value {own} for parameter {key} is invalid. Reason: Must be >= {least} and <= {most}, if provided."
        )
    };
    number.map(Some).ok_or_else(|| Fault::invalid(message()))
}

fn receive(world: &mut World, input: &Value) -> Result<Value, Fault> {
    let (now, name) = (world.now(), queue_name(input).to_owned());
    let most = number(input, "MaxNumberOfMessages", 1, 10)?.unwrap_or(1);
    number(input, "WaitTimeSeconds", 0, 20)?;
    let hidden = number(input, "VisibilityTimeout", 0, 43_200)?.map(Duration::from_secs);
    let queue = found(world, &name)?;
    let hidden = hidden.unwrap_or(queue.visibility);
    let asks = |what: &str| {
        let keys = ["AttributeNames", "MessageSystemAttributeNames"];
        let mut asked = keys
            .iter()
            .filter_map(|key| input[key].as_array())
            .flatten();
        asked.any(|own| own == what || own == "All")
    };
    let (asks_sent, asks_count) = (asks("SentTimestamp"), asks("ApproximateReceiveCount"));
    let due = queue
        .messages
        .values_mut()
        .filter(|message| message.visible <= now);
    let given = due.take(usize::try_from(most).unwrap_or(1)).map(|message| {
        message.visible = now + hidden;
        message.received += 1;
        let mut attributes = Map::new();
        if asks_sent {
            let sent = message.sent.duration_since(UNIX_EPOCH).unwrap_or_default();
            attributes.insert(
                "SentTimestamp".to_owned(),
                json!(sent.as_millis().to_string()),
            );
        }
        if asks_count {
            let count = json!(message.received.to_string());
            attributes.insert("ApproximateReceiveCount".to_owned(), count);
        }
        json!({
            "MessageId": message.id,
            "ReceiptHandle": receipt(message),
            "MD5OfBody": digest(message.body.as_bytes()),
            "Body": message.body,
            "Attributes": attributes,
        })
    });
    let given: Vec<Value> = given.collect();
    Ok(if given.is_empty() {
        json!({})
    } else {
        json!({"Messages": given})
    })
}

/// The receipt of a message as it was handed out last.
fn receipt(message: &Message) -> String {
    format!("{}#{}", message.id, message.received)
}

/// Deletes by any receipt of the message, as SQS does for some time; one that is deleted stays so.
fn delete(world: &mut World, input: &Value) -> Result<Value, Fault> {
    let queue = found(world, queue_name(input))?;
    let handle = input["ReceiptHandle"].as_str().unwrap_or_default();
    let Some((id, _)) = handle.split_once('#') else {
        let message = "The input receipt handle is invalid.";
        return Err(Fault::new("ReceiptHandleIsInvalid", message).with_status(404));
    };
    queue.messages.remove(id);
    Ok(json!({}))
}

/// Deletes each of up to ten likewise; one that cannot be does not keep the others.
fn delete_batch(world: &mut World, input: &Value) -> Result<Value, Fault> {
    let queue = found(world, queue_name(input))?;
    let entries = input["Entries"].as_array().cloned().unwrap_or_default();
    let refused = |code: &str, message: &str| Err(Fault::new(code, message));
    if entries.is_empty() {
        return refused("EmptyBatchRequest", "There should be at least one entry.");
    }
    if entries.len() > MOST_OF_BATCH {
        let message = "Maximum number of entries per request are 10.";
        return refused("TooManyEntriesInBatchRequest", message);
    }
    let names: BTreeSet<_> = entries.iter().map(|entry| entry["Id"].as_str()).collect();
    if names.len() < entries.len() || names.contains(&None) {
        let message = "Two or more batch entries in the request have the same Id.";
        return refused("BatchEntryIdsNotDistinct", message);
    }
    let (mut done, mut failed) = (Vec::new(), Vec::new());
    for entry in &entries {
        let handle = entry["ReceiptHandle"].as_str().unwrap_or_default();
        let name = &entry["Id"];
        match handle.split_once('#') {
            Some((id, _)) => {
                queue.messages.remove(id);
                done.push(json!({"Id": name}));
            }
            None => failed.push(json!({
                "Id": name, "SenderFault": true, "Code": "ReceiptHandleIsInvalid",
                "Message": "The input receipt handle is invalid.",
            })),
        }
    }
    Ok(json!({"Successful": done, "Failed": failed}))
}

fn attributes(world: &mut World, input: &Value) -> Result<Value, Fault> {
    let (now, name) = (world.now(), queue_name(input).to_owned());
    let arn = format!("arn:aws:sqs:{}:{}:{name}", world.region, world.account);
    let queue = found(world, &name)?;
    let hidden = queue.messages.len() - queue.due(now).count();
    let all = [
        (
            "ApproximateNumberOfMessages",
            queue.due(now).count().to_string(),
        ),
        ("ApproximateNumberOfMessagesNotVisible", hidden.to_string()),
        ("QueueArn", arn),
        ("VisibilityTimeout", queue.visibility.as_secs().to_string()),
    ];
    let asked = input["AttributeNames"].as_array();
    let is_asked =
        |name: &str| asked.is_some_and(|asked| asked.iter().any(|own| own == name || own == "All"));
    let given = all.into_iter().filter(|(name, _)| is_asked(name));
    let given: Map<String, Value> = given
        .map(|(name, value)| (name.to_owned(), Value::String(value)))
        .collect();
    Ok(json!({"Attributes": given}))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Clock;

    fn world(bodies: &[&str]) -> World {
        let mut world = World::new();
        world.clock = Clock::standing_at(UNIX_EPOCH + Duration::from_secs(1_000));
        world.queues.entry("demo".to_owned()).or_default();
        for body in bodies {
            world.send("demo", *body);
        }
        world
    }

    fn ask(world: &mut World, operation: &str, mut input: Value) -> Result<Value, Fault> {
        input["QueueUrl"] = json!("http://127.0.0.1/111122223333/demo");
        answer(world, operation, &input, "127.0.0.1")
    }

    fn bodies(world: &mut World, input: Value) -> Vec<String> {
        let given = ask(world, "ReceiveMessage", input).expect("messages");
        let messages = given["Messages"].as_array().cloned().unwrap_or_default();
        let bodies = messages
            .iter()
            .filter_map(|message| message["Body"].as_str());
        bodies.map(str::to_owned).collect()
    }

    #[test]
    fn a_queue_that_is_not_there_has_no_url() {
        let mut world = world(&[]);
        let name = |name: &str| json!({"QueueName": name});
        let url = answer(&mut world, "GetQueueUrl", &name("demo"), "127.0.0.1:9");
        assert_eq!(
            url,
            Ok(json!({"QueueUrl": "http://127.0.0.1:9/111122223333/demo"}))
        );
        let refused = answer(&mut world, "GetQueueUrl", &name("other"), "127.0.0.1:9");
        assert_eq!(refused.expect_err("none").code, "QueueDoesNotExist");
    }

    #[test]
    fn a_message_is_hidden_once_handed_out_and_comes_again_unless_deleted() {
        let mut world = world(&["a", "b", "c"]);
        let two = json!({"MaxNumberOfMessages": 2, "VisibilityTimeout": 20});
        assert_eq!(bodies(&mut world, two.clone()), ["a", "b"]);
        assert_eq!(bodies(&mut world, two.clone()), ["c"]);
        assert_eq!(bodies(&mut world, two.clone()), [""; 0]);
        let first = world.queues["demo"].messages.values().next();
        let receipt = receipt(first.expect("a message"));
        let deleted = ask(
            &mut world,
            "DeleteMessage",
            json!({"ReceiptHandle": receipt}),
        );
        assert_eq!(deleted, Ok(json!({})));
        world.clock.advance(Duration::from_secs(20));
        assert_eq!(bodies(&mut world, two), ["b", "c"]);
    }

    #[test]
    fn ten_messages_go_at_once_and_a_strange_receipt_keeps_none_of_them() {
        let mut world = world(&["a", "b", "c"]);
        assert_eq!(
            bodies(&mut world, json!({"MaxNumberOfMessages": 2})),
            ["a", "b"]
        );
        let held = world.queues["demo"].messages.values();
        let receipts: Vec<String> = held.map(receipt).collect();
        let [first, second] = [&*receipts[0], &*receipts[1]];
        let entry = |id: &str, receipt: &str| json!({"Id": id, "ReceiptHandle": receipt});
        let mut delete = |entries: Value| {
            ask(
                &mut world,
                "DeleteMessageBatch",
                json!({"Entries": entries}),
            )
        };
        let told = delete(json!([
            entry("0", first),
            entry("1", "x"),
            entry("2", second)
        ]));
        let told = told.expect("an answer");
        assert_eq!(told["Successful"], json!([{"Id": "0"}, {"Id": "2"}]));
        assert_eq!(told["Failed"][0]["Id"], "1");
        let many: Vec<Value> = (0..11).map(|id| entry(&id.to_string(), first)).collect();
        for (entries, code) in [
            (json!([]), "EmptyBatchRequest"),
            (many.into(), "TooManyEntriesInBatchRequest"),
            (
                json!([entry("0", first), entry("0", second)]),
                "BatchEntryIdsNotDistinct",
            ),
        ] {
            assert_eq!(delete(entries).expect_err("refused").code, code);
        }
        assert_eq!(
            bodies(&mut world, json!({"MaxNumberOfMessages": 10})),
            ["c"]
        );
    }

    #[test]
    fn one_message_is_given_and_hidden_by_the_queue_where_the_call_does_not_say() {
        let mut world = world(&["a", "b"]);
        assert_eq!(bodies(&mut world, json!({})), ["a"]);
        world.clock.advance(Duration::from_secs(29));
        assert_eq!(bodies(&mut world, json!({})), ["b"]);
        world.clock.advance(Duration::from_secs(1));
        assert_eq!(bodies(&mut world, json!({})), ["a"]);
    }

    #[test]
    fn messages_say_when_they_were_sent_if_asked() {
        let mut world = world(&["a", "b"]);
        let asked = json!({"MessageSystemAttributeNames": ["SentTimestamp"]});
        let told = ask(&mut world, "ReceiveMessage", asked).expect("a message");
        let message = &told["Messages"][0];
        assert_eq!(message["Attributes"], json!({"SentTimestamp": "1000000"}));
        assert_eq!(message["MD5OfBody"], "0cc175b9c0f1b6a831c399e269772661");
        let told = ask(&mut world, "ReceiveMessage", json!({})).expect("a message");
        assert_eq!(told["Messages"][0]["Attributes"], json!({}));
    }

    #[test]
    fn numbers_out_of_range_and_strange_receipts_are_refused() {
        let mut world = world(&["a"]);
        for input in [
            json!({"MaxNumberOfMessages": 11}),
            json!({"MaxNumberOfMessages": 0}),
            json!({"WaitTimeSeconds": 21}),
            json!({"VisibilityTimeout": "20"}),
        ] {
            let refused = ask(&mut world, "ReceiveMessage", input).expect_err("refused");
            assert_eq!(refused.code, "InvalidParameterValue");
        }
        let refused = ask(&mut world, "DeleteMessage", json!({"ReceiptHandle": "x"}));
        assert_eq!(refused.expect_err("refused").code, "ReceiptHandleIsInvalid");
    }

    #[test]
    fn attributes_count_what_is_there_and_what_is_hidden() {
        let mut world = world(&["a", "b", "c"]);
        bodies(&mut world, json!({}));
        let asked = json!({"AttributeNames": ["All"]});
        let told = ask(&mut world, "GetQueueAttributes", asked).expect("attributes");
        let told = &told["Attributes"];
        assert_eq!(told["ApproximateNumberOfMessages"], "2");
        assert_eq!(told["ApproximateNumberOfMessagesNotVisible"], "1");
        assert_eq!(told["QueueArn"], "arn:aws:sqs:us-east-1:111122223333:demo");
    }
}
