//! The queue that says what EC2 is going to do to instances.

use std::time::Duration;

use super::{CallError, Clients};

/// Messages of one answer: as many as SQS gives.
const MOST: i32 = 10;
/// A question waits so long for a message: as long as SQS allows.
const WAIT: i32 = 20;
/// A message that was handed out and not deleted is handed out again after so long: the incumbent's.
const HIDDEN: i32 = 20;

/// A queue.
#[derive(Clone, Debug)]
pub struct Queue {
    url: String,
}

/// A message, handed out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Received {
    /// Its text.
    pub body: String,
    /// By it the message is deleted.
    pub receipt: String,
}

impl Queue {
    /// How long a question may wait for a message.
    pub const WAIT: Duration = Duration::from_secs(WAIT.unsigned_abs() as u64);
}

impl Clients {
    /// The queue of a name, in this region and account.
    pub async fn queue(&self, name: &str) -> Result<Queue, CallError> {
        let asked = self.sqs.get_queue_url().queue_name(name).send().await;
        let answer = asked.map_err(CallError::of("sqs:GetQueueUrl"))?;
        Ok(Queue {
            url: answer.queue_url.unwrap_or_default(),
        })
    }

    /// Messages, as soon as there are any; none where none came in time.
    pub async fn receive(&self, queue: &Queue) -> Result<Vec<Received>, CallError> {
        let ask = self.sqs.receive_message().queue_url(&queue.url);
        let ask = ask.max_number_of_messages(MOST).wait_time_seconds(WAIT);
        let asked = ask.visibility_timeout(HIDDEN).send().await;
        let answer = asked.map_err(CallError::of("sqs:ReceiveMessage"))?;
        let messages = answer.messages.unwrap_or_default().into_iter();
        let read = |message: aws_sdk_sqs::types::Message| {
            Some(Received {
                body: message.body.unwrap_or_default(),
                receipt: message.receipt_handle?,
            })
        };
        Ok(messages.filter_map(read).collect())
    }

    /// Deletes a message that is done with.
    pub async fn delete_message(&self, queue: &Queue, receipt: &str) -> Result<(), CallError> {
        let delete = self.sqs.delete_message().queue_url(&queue.url);
        let asked = delete.receipt_handle(receipt).send().await;
        asked.map(drop).map_err(CallError::of("sqs:DeleteMessage"))
    }
}
