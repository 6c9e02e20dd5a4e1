//! Events that were written, so that the same once more is found again.

use std::collections::HashMap;

use k8s_openapi::jiff::Timestamp;

use super::{Notice, cut};

/// The most events that are remembered, as client-go's.
const MOST: usize = 4096;
/// The longest name of an object.
const LONGEST_NAME: usize = 253;

/// An event that is new, or was said before.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Said {
    /// It is new, and to be written under this name.
    First { event: String },
    /// It was written under this name, and is said so often by now.
    Again { event: String, count: i32 },
}

/// An event but for its time: the object, the reason, which also decides its type, and the text as it is written.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Key {
    kind: Option<String>,
    namespace: Option<String>,
    name: Option<String>,
    uid: Option<String>,
    reason: &'static str,
    message: String,
}

#[derive(Debug)]
struct Entry {
    event: String,
    count: i32,
    /// The turn in which it was said last.
    said: u64,
}

/// The events that were said last.
#[derive(Debug, Default)]
pub(super) struct Memory {
    entries: HashMap<Key, Entry>,
    turn: u64,
}

impl Memory {
    /// Counts an event.
    pub(super) fn say(&mut self, notice: &Notice, now: Timestamp) -> Said {
        self.turn += 1;
        if let Some(entry) = self.entries.get_mut(&key(notice)) {
            entry.said = self.turn;
            entry.count = entry.count.saturating_add(1);
            return Said::Again {
                event: entry.event.clone(),
                count: entry.count,
            };
        }
        let event = self.begin(notice, now);
        Said::First { event }
    }

    /// Counts an event from one, and names it.
    pub(super) fn begin(&mut self, notice: &Notice, now: Timestamp) -> String {
        if self.entries.len() >= MOST {
            self.forget_oldest();
        }
        let event = name(notice, now);
        let entry = Entry {
            event: event.clone(),
            count: 1,
            said: self.turn,
        };
        self.entries.insert(key(notice), entry);
        event
    }

    /// An event was not written.
    pub(super) fn forget(&mut self, notice: &Notice) {
        self.entries.remove(&key(notice));
    }

    fn forget_oldest(&mut self) {
        let oldest = self.entries.iter().min_by_key(|(_, entry)| entry.said);
        if let Some(key) = oldest.map(|(key, _)| key.clone()) {
            self.entries.remove(&key);
        }
    }
}

fn key(notice: &Notice) -> Key {
    let about = &notice.about;
    Key {
        kind: about.kind.clone(),
        namespace: about.namespace.clone(),
        name: about.name.clone(),
        uid: about.uid.clone(),
        reason: notice.reason.as_str(),
        message: cut(&notice.message).to_owned(),
    }
}

/// The name of a new event: that of its object and the time, as client-go has it.
fn name(notice: &Notice, now: Timestamp) -> String {
    let object = notice.about.name.as_deref().unwrap_or_default();
    let time = format!(".{:x}", now.as_nanosecond());
    let room = object.floor_char_boundary(LONGEST_NAME - time.len());
    let object = object[..room].trim_end_matches(['.', '-']);
    format!("{object}{time}")
}

#[cfg(test)]
mod tests {
    use plimsoll_api::Kind;
    use plimsoll_base::event_reason::EventReason;
    use plimsoll_model::Version;

    use super::super::LONGEST;
    use super::*;

    fn notice(message: &str) -> Notice {
        let (reason, object) = (EventReason::FailedScheduling, ("default", "web"));
        Notice::new(Kind::Pod, object, reason, message.to_owned()).seen("uid", Version(7))
    }

    fn at(nanos: i128) -> Timestamp {
        Timestamp::from_nanosecond(nanos).expect("a time")
    }

    #[test]
    fn the_same_words_are_counted_and_others_are_an_event_of_their_own() {
        let mut memory = Memory::default();
        let first = |event: &str| Said::First {
            event: event.to_owned(),
        };
        let again = |event: &str, count| Said::Again {
            event: event.to_owned(),
            count,
        };
        assert_eq!(memory.say(&notice("a"), at(16)), first("web.10"));
        assert_eq!(memory.say(&notice("b"), at(17)), first("web.11"));
        assert_eq!(memory.say(&notice("a"), at(18)), again("web.10", 2));
        // Another version is the same object, and another uid is not.
        let newer = notice("a").seen("uid", Version(8));
        assert_eq!(memory.say(&newer, at(19)), again("web.10", 3));
        let successor = notice("a").seen("other", Version(8));
        assert_eq!(memory.say(&successor, at(20)), first("web.14"));
        memory.forget(&newer);
        assert_eq!(memory.say(&notice("a"), at(21)), first("web.15"));
    }

    #[test]
    fn words_that_differ_only_where_they_are_cut_are_the_same_event() {
        let mut memory = Memory::default();
        let long = |end: &str| notice(&("a".repeat(LONGEST) + end));
        let first = memory.say(&long("b"), at(16));
        assert!(matches!(first, Said::First { .. }), "{first:?}");
        let again = memory.say(&long("c"), at(17));
        assert!(matches!(again, Said::Again { count: 2, .. }), "{again:?}");
    }

    #[test]
    fn only_the_last_events_are_remembered() {
        let mut memory = Memory::default();
        memory.say(&notice("kept"), at(0));
        for number in 0..2 * MOST {
            memory.say(&notice(&number.to_string()), at(1));
            memory.say(&notice("kept"), at(2));
        }
        assert_eq!(memory.entries.len(), MOST);
        let said = memory.say(&notice("kept"), at(3));
        assert!(matches!(said, Said::Again { .. }), "{said:?}");
        let said = memory.say(&notice("0"), at(3));
        assert!(matches!(said, Said::First { .. }), "{said:?}");
    }

    #[test]
    fn a_long_name_is_cut_to_one_that_may_be_written() {
        let mut long = notice("a");
        long.about.name = Some(format!("{}-.{}", "a".repeat(235), "b".repeat(16)));
        let name = name(&long, at(i128::from(i64::MAX)));
        assert_eq!(name, format!("{}.7fffffffffffffff", "a".repeat(235)));
    }
}
