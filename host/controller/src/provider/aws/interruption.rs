//! The queue's word on instances: those that will be taken back are told, and a message is deleted once their claims are seen to go.
//!
//! A message that is not deleted is handed out again, to the next process: so nothing is lost with a process, and a claim that is told twice
//! goes once.

use std::sync::Arc;
use std::time::Duration;

use plimsoll_aws::{CallError, Ec2, Heard, Message, QueueReader, QueueStanding};
use plimsoll_base::time::{Span, Timestamp};
use plimsoll_engine::Input;
use tokio::sync::mpsc::Sender;
use tokio::time::sleep;

use crate::Telemetry;
use crate::clock::Clock;
use crate::metrics::families::{
    INTERRUPTION_DELAY, INTERRUPTION_DELETED, INTERRUPTION_RECEIVED, INTERRUPTION_UNUSABLE,
};

/// After a question that failed.
const AGAIN: Duration = Duration::from_secs(5);

/// Somebody who follows a queue.
pub(super) struct Interruptions {
    pub(super) ec2: Arc<Ec2>,
    /// Name of the queue.
    pub(super) name: String,
    pub(super) say: Sender<Input>,
    pub(super) telemetry: Telemetry,
}

impl Interruptions {
    /// Follows the queue; ends when the receiver is gone.
    pub(super) async fn follow(self) {
        // A message about a claim that is not seen yet would be taken for one about nothing of ours, and deleted.
        self.ec2.listed().await;
        let mut reader = QueueReader::new(Arc::clone(&self.ec2), self.name.clone());
        // The failure that was told last: the same is told once.
        let mut told: Option<CallError> = None;
        let clock = Clock::default();
        loop {
            match reader.next().await {
                Ok(heard) => {
                    told = None;
                    self.ec2.set_queue(self.standing(&heard));
                    self.telemetry.set(INTERRUPTION_UNUSABLE.name, &[], 0.0);
                    if self.take(heard, clock.now()).await.is_none() {
                        return;
                    }
                }
                Err(error) => {
                    self.telemetry.set(INTERRUPTION_UNUSABLE.name, &[], 1.0);
                    self.ec2.set_queue(self.after(&error));
                    if told.as_ref() != Some(&error) {
                        self.tell(&error);
                        told = Some(error);
                    }
                    sleep(AGAIN).await;
                }
            }
        }
    }

    /// How the queue stands after news of it: one whose messages may not be deleted hands them out for ever, until some are.
    fn standing(&self, heard: &Heard) -> QueueStanding {
        match heard {
            Heard::NotDeleted(error) => self.after(error),
            Heard::Deleted(_) => QueueStanding::Heard,
            _ => match self.ec2.queue() {
                before @ QueueStanding::Unusable { .. } if before.is_of_deletion() => before,
                _ => QueueStanding::Heard,
            },
        }
    }

    fn after(&self, error: &CallError) -> QueueStanding {
        QueueStanding::after(&self.name, self.ec2.clients().region(), error)
    }

    fn tell(&self, error: &CallError) {
        let hint = match self.after(error) {
            QueueStanding::Unusable { message, .. } => message,
            _ => String::new(),
        };
        tracing::error!(queue = self.name, %error, hint, "the interruption queue cannot be asked; tried again");
    }

    /// Counts what is heard, and reports what it says; `None` once the receiver is gone.
    async fn take(&self, heard: Heard, now: Timestamp) -> Option<()> {
        match heard {
            Heard::Message {
                message,
                staying,
                is_repeated,
            } => {
                if !is_repeated {
                    self.count(&message, now);
                }
                if let Some(says) = message.says {
                    for instance in staying {
                        let input = Input::Interrupted(instance, says);
                        self.say.send(input).await.ok()?;
                    }
                }
            }
            Heard::Malformed(error) => {
                let kind = [("message_type", "malformed")];
                self.telemetry.count(INTERRUPTION_RECEIVED.name, &kind);
                tracing::warn!(%error, "a message of the interruption queue is deleted");
            }
            Heard::Nothing => {}
            Heard::Deleted(count) => {
                for _ in 0..count {
                    self.telemetry.count(INTERRUPTION_DELETED.name, &[]);
                }
            }
            Heard::NotDeleted(error) => {
                tracing::warn!(%error, "messages of the interruption queue are not deleted; tried again");
            }
        }
        Some(())
    }

    fn count(&self, message: &Message, now: Timestamp) {
        let kind = [("message_type", message.label())];
        self.telemetry.count(INTERRUPTION_RECEIVED.name, &kind);
        if let Some(sent) = message.sent {
            let delay = now.since(sent).max(Span::ZERO);
            self.telemetry.observe(&INTERRUPTION_DELAY, delay);
        }
    }
}
