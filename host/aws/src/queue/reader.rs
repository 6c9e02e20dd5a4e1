//! The queue, read: each message is heard once, and deleted once nothing is left to be done for it.
//!
//! A message about claims that stay is deleted when all of them are seen to go, so that nothing is lost with a process: the next one is handed
//! it. Meanwhile, and until a call has deleted it, it may be handed out again; then it is no other message. Where answers bring several messages
//! at once, more questions are under way beside the first, and fewer again once they bring none.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use plimsoll_base::ids::ProviderId;
use plimsoll_lifecycle::Interruption;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout_at};

use super::message::{MalformedMessage, Message, parse};
use crate::client::{CallError, Deletion, Queue, Received};
use crate::instance::instance_id;
use crate::provider::Ec2;

/// Questions that are under way at most, and likewise calls that delete.
const MOST: usize = 8;
/// From one look at whether claims go, for which messages wait, to the next.
const LOOK: Duration = Duration::from_millis(500);
/// A message that is not handed out again for so long is no longer in the queue.
const FORGOTTEN: Duration = Duration::from_secs(3 * Queue::HIDDEN.as_secs());

/// News of a queue.
#[derive(Debug)]
pub enum Heard {
    /// A message.
    Message {
        /// Its content.
        message: Message,
        /// Those of its instances whose claims are not deleting.
        staying: Vec<ProviderId>,
        /// `true` if it was heard before, and its claims still stay.
        is_repeated: bool,
    },
    /// Text that is no event; it is deleted.
    Malformed(MalformedMessage),
    /// The queue has answered, and there was nothing in it.
    Nothing,
    /// So many messages were deleted.
    Deleted(usize),
    /// Messages could not be deleted; they are handed out again.
    NotDeleted(CallError),
}

/// Somebody who reads a queue.
pub struct QueueReader {
    ec2: Arc<Ec2>,
    name: String,
    /// `None` until it is found, and after a question that failed.
    queue: Option<Queue>,
    /// Questions that are to be under way.
    wanted: usize,
    asking: JoinSet<Result<Vec<Received>, CallError>>,
    deleting: JoinSet<(Vec<String>, Deletion)>,
    /// Messages that were heard and not deleted yet, by id.
    kept: BTreeMap<String, Kept>,
    /// The next look at claims.
    look: Instant,
    /// News that was not asked for yet, the last first.
    news: Vec<Heard>,
}

/// A message that was heard and not deleted yet.
struct Kept {
    message: Message,
    receipt: String,
    /// When it was handed out last.
    handed: Instant,
    stage: Stage,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// It waits for claims to go.
    Waits,
    /// No claim names its instance yet, which was given just now.
    Unclaimed,
    /// Nothing is left to be done for it.
    Done,
    /// A call that deletes it is under way.
    Deleting,
    /// That call failed: it is deleted when it is handed out again.
    Failed,
}

impl Stage {
    /// `true` while it is for claims to go on.
    const fn waits(self) -> bool {
        matches!(self, Self::Waits | Self::Unclaimed)
    }
}

impl QueueReader {
    /// A reader of the queue of a name.
    pub fn new(ec2: Arc<Ec2>, name: String) -> Self {
        Self {
            ec2,
            name,
            queue: None,
            wanted: 1,
            asking: JoinSet::new(),
            deleting: JoinSet::new(),
            kept: BTreeMap::new(),
            look: Instant::now(),
            news: Vec::new(),
        }
    }

    /// The next news. The caller has dealt with those before: the message that they were of may be deleted. An error is that of a question
    /// that failed; to ask for more asks again. May be dropped while it waits; nothing is lost then.
    pub async fn next(&mut self) -> Result<Heard, CallError> {
        loop {
            let now = Instant::now();
            if self.look <= now {
                self.look_at_claims(now);
                self.look = now + LOOK;
            }
            if let Some(heard) = self.news.pop() {
                return Ok(heard);
            }
            self.call().await?;
            let mut kept = self.kept.values();
            let deadline = if kept.any(|own| own.stage.waits()) {
                self.look
            } else {
                now + Queue::HIDDEN
            };
            // Past the time, claims are looked at.
            if let Ok(ended) = timeout_at(deadline, self.ended()).await {
                self.take(ended)?;
            }
        }
    }

    /// Makes the calls that are due: those that delete, and questions.
    async fn call(&mut self) -> Result<(), CallError> {
        let clients = self.ec2.clients();
        let queue = match &self.queue {
            Some(queue) => queue.clone(),
            None => self.queue.insert(clients.queue(&self.name).await?).clone(),
        };
        let done = self.kept.iter_mut();
        let mut done: Vec<_> = done.filter(|(_, own)| own.stage == Stage::Done).collect();
        for batch in done.chunks_mut(Queue::BATCH) {
            if self.deleting.len() == MOST {
                break;
            }
            let ids: Vec<String> = batch.iter().map(|(id, _)| (*id).clone()).collect();
            let receipts: Vec<String> = batch.iter().map(|(_, own)| own.receipt.clone()).collect();
            for (_, own) in batch {
                own.stage = Stage::Deleting;
            }
            let (clients, queue) = (clients.clone(), queue.clone());
            self.deleting
                .spawn(async move { (ids, clients.delete_messages(&queue, &receipts).await) });
        }
        while self.asking.len() < self.wanted && self.deleting.len() < MOST {
            let (clients, queue) = (clients.clone(), queue.clone());
            self.asking
                .spawn(async move { clients.receive(&queue).await });
        }
        Ok(())
    }

    /// The next call that ends.
    async fn ended(&mut self) -> EndedCall {
        tokio::select! {
            Some(asked) = self.asking.join_next() => EndedCall::Asked(asked.ok()),
            Some(deleted) = self.deleting.join_next() => EndedCall::Deleted(deleted.ok()),
        }
    }

    fn take(&mut self, ended: EndedCall) -> Result<(), CallError> {
        match ended {
            EndedCall::Asked(Some(Ok(messages))) => {
                match messages.len() {
                    0 => {
                        self.wanted = self.wanted.saturating_sub(1).max(1);
                        self.news.push(Heard::Nothing);
                    }
                    1 => {}
                    _ => self.wanted = (self.wanted + 1).min(MOST),
                }
                let now = Instant::now();
                for message in messages.into_iter().rev() {
                    self.hear(message, now);
                }
                Ok(())
            }
            EndedCall::Asked(Some(Err(error))) => {
                // What other questions bring meanwhile is handed out again.
                self.asking = JoinSet::new();
                self.wanted = 1;
                self.queue = None;
                Err(error)
            }
            EndedCall::Deleted(Some((ids, deletion))) => {
                self.take_deletion(&ids, deletion);
                Ok(())
            }
            // Only a runtime that ends ends calls so.
            EndedCall::Asked(None) | EndedCall::Deleted(None) => Ok(()),
        }
    }

    fn hear(&mut self, received: Received, now: Instant) {
        if let Some(known) = self.kept.get_mut(&received.id) {
            known.receipt = received.receipt;
            known.handed = now;
            match known.stage {
                Stage::Waits => self.news.push(Heard::Message {
                    staying: self.ec2.staying(&known.message.instances),
                    message: known.message.clone(),
                    is_repeated: true,
                }),
                Stage::Failed => known.stage = Stage::Done,
                // It is looked at by itself.
                Stage::Unclaimed | Stage::Done | Stage::Deleting => {}
            }
            return;
        }
        let mut message = Message::default();
        let mut stage = Stage::Done;
        match parse(&received.body) {
            Ok(read) => {
                let account = self.queue.as_ref().and_then(Queue::account);
                let read = read.heard_in(account, self.ec2.clients().region());
                let staying = self.ec2.staying(&read.instances);
                let is_of_end = read.says.is_some_and(Interruption::ends_instance);
                if is_of_end && !staying.is_empty() {
                    stage = Stage::Waits;
                } else if is_of_end && self.ec2.may_be_claimed(&read.instances) {
                    stage = Stage::Unclaimed;
                }
                message = read.clone();
                self.news.push(Heard::Message {
                    message: read,
                    staying,
                    is_repeated: false,
                });
            }
            Err(error) => self.news.push(Heard::Malformed(error)),
        }
        let kept = Kept {
            message,
            receipt: received.receipt,
            handed: now,
            stage,
        };
        self.kept.insert(received.id, kept);
    }

    /// Messages whose claims all go are done with; those that are no longer handed out are forgotten.
    fn look_at_claims(&mut self, now: Instant) {
        self.kept.retain(|_, own| {
            own.stage == Stage::Deleting || now.duration_since(own.handed) < FORGOTTEN
        });
        self.look_at_unclaimed();
        let waiting = || self.kept.values().filter(|own| own.stage == Stage::Waits);
        let ids = waiting().flat_map(|own| own.message.instances.iter().cloned());
        let ids: Vec<String> = ids.collect();
        if ids.is_empty() {
            return;
        }
        let staying = self.ec2.staying(&ids);
        let staying: BTreeSet<&str> = staying.iter().filter_map(instance_id).collect();
        for own in self.kept.values_mut() {
            let mut instances = own.message.instances.iter();
            if own.stage == Stage::Waits && !instances.any(|id| staying.contains(id.as_str())) {
                own.stage = Stage::Done;
            }
        }
    }

    /// Messages whose instances claims name by now are said; where none ever will, nothing is left to be done.
    fn look_at_unclaimed(&mut self) {
        let unclaimed = self.kept.values_mut();
        for own in unclaimed.filter(|own| own.stage == Stage::Unclaimed) {
            let staying = self.ec2.staying(&own.message.instances);
            if !staying.is_empty() {
                own.stage = Stage::Waits;
                self.news.push(Heard::Message {
                    message: own.message.clone(),
                    staying,
                    is_repeated: true,
                });
            } else if !self.ec2.may_be_claimed(&own.message.instances) {
                own.stage = Stage::Done;
            }
        }
    }

    fn take_deletion(&mut self, ids: &[String], deletion: Deletion) {
        for (id, is_deleted) in ids.iter().zip(&deletion.are_deleted) {
            if *is_deleted {
                self.kept.remove(id);
            } else if let Some(own) = self.kept.get_mut(id) {
                own.stage = Stage::Failed;
            }
        }
        let deleted = deletion.are_deleted.iter().filter(|own| **own).count();
        if let Some(error) = deletion.failure {
            self.news.push(Heard::NotDeleted(error));
        }
        if deleted > 0 {
            self.news.push(Heard::Deleted(deleted));
        }
    }
}

/// A call that has ended; `None` where it was given up.
enum EndedCall {
    Asked(Option<Result<Vec<Received>, CallError>>),
    Deleted(Option<(Vec<String>, Deletion)>),
}

#[cfg(test)]
mod tests;
