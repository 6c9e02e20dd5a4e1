//! The queue's word on instances: those that will be taken back are told, and a message is deleted once their claims are seen to go.
//!
//! A message that is not deleted is handed out again, to whoever asks then: so nothing is lost with a process, and a claim that is told twice
//! goes once.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use plimsoll_aws::{CallError, Ec2, ErrorClass, Queue, Received, parse_message};
use plimsoll_core::engine::Input;
use plimsoll_core::ids::ProviderId;
use plimsoll_core::time::{Span, Timestamp};
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
    /// Follows the queue; ends when nobody listens any more.
    pub(super) async fn follow(self) {
        let mut queue: Option<Queue> = None;
        // The failure that was told last: the same is told once.
        let mut told: Option<CallError> = None;
        let clock = Clock::default();
        loop {
            match self.ask(&mut queue).await {
                Ok((queue, messages)) => {
                    told = None;
                    self.telemetry.set(INTERRUPTION_UNUSABLE.name, &[], 0.0);
                    let now = clock.now();
                    let said = messages.iter().map(|message| self.say_of(message, now));
                    let done: Option<Vec<bool>> = join_all(said).await.into_iter().collect();
                    let Some(done) = done else { return };
                    let done = messages.iter().zip(done).filter(|(_, is_done)| *is_done);
                    join_all(done.map(|(message, _)| self.delete(queue, message))).await;
                }
                Err(error) => {
                    self.telemetry.set(INTERRUPTION_UNUSABLE.name, &[], 1.0);
                    if told.as_ref() != Some(&error) {
                        self.tell(&error);
                        told = Some(error);
                    }
                    queue = None;
                    sleep(AGAIN).await;
                }
            }
        }
    }

    async fn ask<'q>(
        &self,
        queue: &'q mut Option<Queue>,
    ) -> Result<(&'q Queue, Vec<Received>), CallError> {
        let clients = self.ec2.clients();
        let known = match queue {
            Some(known) => known,
            None => queue.insert(clients.queue(&self.name).await?),
        };
        let messages = clients.receive(known).await?;
        Ok((known, messages))
    }

    fn tell(&self, error: &CallError) {
        let hint = match error.class() {
            ErrorClass::NotFound => {
                "; expected a queue of this name in this region and account, or no INTERRUPTION_QUEUE"
            }
            _ => "",
        };
        tracing::error!(queue = self.name, %error, "the interruption queue cannot be asked; tried again{hint}");
    }

    /// Tells what a message says; `true` where nothing is left to be done for it, `None` once nobody listens.
    async fn say_of(&self, message: &Received, now: Timestamp) -> Option<bool> {
        let read = match parse_message(&message.body) {
            Ok(read) => read,
            Err(error) => {
                let kind = [("message_type", "malformed")];
                self.telemetry.count(INTERRUPTION_RECEIVED.name, &kind);
                tracing::warn!(%error, "a message of the interruption queue is deleted");
                return Some(true);
            }
        };
        let kind = [("message_type", read.label())];
        self.telemetry.count(INTERRUPTION_RECEIVED.name, &kind);
        if let Some(sent) = read.sent {
            let delay = now.since(sent).max(Span::ZERO);
            self.telemetry.observe(&INTERRUPTION_DELAY, delay);
        }
        let Some(says) = read.says else {
            return Some(true);
        };
        let staying: Vec<ProviderId> = self.ec2.staying(&read.instances);
        for instance in &staying {
            let input = Input::Interrupted(instance.clone(), says);
            self.say.send(input).await.ok()?;
        }
        Some(staying.is_empty() || !says.ends_instance())
    }

    async fn delete(&self, queue: &Queue, message: &Received) {
        let deleted = self.ec2.clients().delete_message(queue, &message.receipt);
        match deleted.await {
            Ok(()) => self.telemetry.count(INTERRUPTION_DELETED.name, &[]),
            Err(error) => {
                tracing::warn!(%error, "a message of the interruption queue is not deleted");
            }
        }
    }
}
