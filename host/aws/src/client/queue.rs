//! The queue that says what EC2 is going to do to instances.

use std::time::Duration;

use aws_sdk_sqs::types::{BatchResultErrorEntry, DeleteMessageBatchRequestEntry};

use super::{CallError, Clients};

/// Messages of one answer, and of one call that deletes some: as many as SQS allows.
const MOST: i32 = 10;
/// A question waits so long for a message: as long as SQS allows.
const WAIT: i32 = 20;
/// A message that was handed out and not deleted is handed out again after so long: Karpenter's time.
const HIDDEN: i32 = 20;
/// The right to delete one is the right to delete several.
const DELETE: &str = "sqs:DeleteMessage";

/// A queue.
#[derive(Clone, Debug)]
pub(crate) struct Queue {
    url: String,
}

/// A message, handed out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Received {
    /// Its id: the same each time that it is handed out.
    pub(crate) id: String,
    /// Its text.
    pub(crate) body: String,
    /// By it the message is deleted.
    pub(crate) receipt: String,
}

/// Outcome of a call that was to delete messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Deletion {
    /// `true` for those that are deleted, in the order of the call.
    pub(crate) are_deleted: Vec<bool>,
    /// Why the first of the others is not; `None` where all are.
    pub(crate) failure: Option<CallError>,
}

impl Queue {
    /// A message that was handed out and not deleted is handed out again after so long.
    pub(crate) const HIDDEN: Duration = Duration::from_secs(HIDDEN.unsigned_abs() as u64);
    /// Messages that one call may delete.
    pub(crate) const BATCH: usize = MOST.unsigned_abs() as usize;
}

impl Queue {
    /// The account that it is of, as its URL says; `None` where that is of another form.
    pub(crate) fn account(&self) -> Option<&str> {
        let account = self.url.rsplit('/').nth(1)?;
        let is_account = account.len() == 12 && account.bytes().all(|byte| byte.is_ascii_digit());
        is_account.then_some(account)
    }
}

impl Clients {
    /// The queue of a name, in this region and account.
    pub(crate) async fn queue(&self, name: &str) -> Result<Queue, CallError> {
        let asked = self.sqs.get_queue_url().queue_name(name).send().await;
        let answer = asked.map_err(CallError::of("sqs:GetQueueUrl"))?;
        Ok(Queue {
            url: answer.queue_url.unwrap_or_default(),
        })
    }

    /// Messages, as soon as there are any; none where none came in time.
    pub(crate) async fn receive(&self, queue: &Queue) -> Result<Vec<Received>, CallError> {
        let ask = self.sqs.receive_message().queue_url(&queue.url);
        let ask = ask.max_number_of_messages(MOST).wait_time_seconds(WAIT);
        let asked = ask.visibility_timeout(HIDDEN).send().await;
        let answer = asked.map_err(CallError::of("sqs:ReceiveMessage"))?;
        let messages = answer.messages.unwrap_or_default().into_iter();
        let read = |message: aws_sdk_sqs::types::Message| {
            let receipt = message.receipt_handle?;
            Some(Received {
                id: message.message_id.unwrap_or_else(|| receipt.clone()),
                body: message.body.unwrap_or_default(),
                receipt,
            })
        };
        Ok(messages.filter_map(read).collect())
    }

    /// Deletes messages that are done with, [`Queue::BATCH`] at most, by their receipts.
    pub(crate) async fn delete_messages(&self, queue: &Queue, receipts: &[String]) -> Deletion {
        let entry = |(number, receipt): (usize, &String)| {
            let entry = DeleteMessageBatchRequestEntry::builder();
            let entry = entry.id(number.to_string()).receipt_handle(receipt);
            entry.build().expect("both fields are set here")
        };
        let entries = receipts.iter().enumerate().map(entry).collect();
        let delete = self.sqs.delete_message_batch().queue_url(&queue.url);
        let asked = delete.set_entries(Some(entries)).send().await;
        match asked.map_err(CallError::of(DELETE)) {
            Ok(answer) => {
                let failed = answer.failed();
                let is_deleted = |number: usize| {
                    let mut failed = failed.iter();
                    !failed.any(|entry| entry.id == number.to_string())
                };
                Deletion {
                    are_deleted: (0..receipts.len()).map(is_deleted).collect(),
                    failure: failed.first().map(refused),
                }
            }
            Err(error) => Deletion {
                are_deleted: vec![false; receipts.len()],
                failure: Some(error),
            },
        }
    }
}

/// The error of one message, where the call itself went well.
fn refused(entry: &BatchResultErrorEntry) -> CallError {
    CallError {
        action: DELETE,
        code: entry.code.clone(),
        message: entry.message.clone().unwrap_or_default(),
        status: None,
    }
}
