//! Queues and the events that are put on them.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use super::World;
use crate::event::Event;

/// A queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Queue {
    /// A message that was handed out is hidden for so long, where the call does not say.
    pub visibility: Duration,
    /// Messages that are not deleted, by id, and so the oldest first.
    pub messages: BTreeMap<String, Message>,
}

impl Default for Queue {
    fn default() -> Self {
        Self {
            visibility: Duration::from_secs(30),
            messages: BTreeMap::new(),
        }
    }
}

/// A message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Its id.
    pub id: String,
    /// Its text.
    pub body: String,
    /// When it was sent.
    pub sent: SystemTime,
    /// From when on it can be handed out.
    pub visible: SystemTime,
    /// How often it was handed out.
    pub received: u32,
}

impl Queue {
    /// Messages that can be handed out at a time.
    pub fn due(&self, now: SystemTime) -> impl Iterator<Item = &Message> {
        let all = self.messages.values();
        all.filter(move |message| message.visible <= now)
    }
}

impl World {
    /// Puts a text on a queue, which is made if it is not there.
    pub fn send(&mut self, queue: &str, body: impl Into<String>) -> String {
        self.send_at(queue, body.into(), self.now())
    }

    /// Puts an event on a queue as EventBridge does.
    pub fn emit(&mut self, queue: &str, event: &Event) {
        self.emit_at(queue, event, self.now());
    }

    /// The same for an event that happens at a time.
    pub(super) fn emit_at(&mut self, queue: &str, event: &Event, at: SystemTime) {
        let id = self.next_uuid();
        let body = event.envelope(&id, &self.account, &self.region, at);
        self.send_at(queue, body.to_string(), at);
    }

    fn send_at(&mut self, queue: &str, body: String, at: SystemTime) -> String {
        let id = self.next_uuid();
        let queue = self.queues.entry(queue.to_owned()).or_default();
        let message = Message {
            id: id.clone(),
            body,
            sent: at,
            visible: at,
            received: 0,
        };
        queue.messages.insert(id.clone(), message);
        id
    }

    /// An id that nothing else has, in the form of a UUID, and after all that were given before.
    pub(crate) fn next_uuid(&mut self) -> String {
        self.last_id += 1;
        format!("00000000-0000-4000-8000-{:012x}", self.last_id)
    }
}
