//! Answers that later decisions ask for again with the same key.
//!
//! What is kept here is a function of its key alone, so that a decision is the same whether an answer was kept or is made
//! anew, whatever other callers ask at the same time.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// The last few answers, with their keys.
pub(crate) struct Lru<Key, Answer: ?Sized> {
    last: Mutex<VecDeque<(Key, Arc<Answer>)>>,
    most: usize,
}

impl<Key: PartialEq, Answer: ?Sized> Lru<Key, Answer> {
    /// Room for so many answers; the one that was asked for least lately makes room for the next.
    pub(crate) fn new(most: usize) -> Self {
        Self {
            last: Mutex::default(),
            most,
        }
    }

    /// The answer for this key, kept or made.
    pub(crate) fn get(&self, key: Key, make: impl FnOnce() -> Arc<Answer>) -> Arc<Answer> {
        if let Some(answer) = self.find(&key) {
            return answer;
        }
        // Others may ask meanwhile; at worst the same answer is made twice.
        let answer = make();
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        last.push_front((key, Arc::clone(&answer)));
        last.truncate(self.most);
        answer
    }

    fn find(&self, key: &Key) -> Option<Arc<Answer>> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let at = last.iter().position(|(own, _)| own == key)?;
        let found = last.remove(at)?;
        let answer = Arc::clone(&found.1);
        last.push_front(found);
        Some(answer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_asked_for_lately_is_not_made_again() {
        let kept = Lru::new(2);
        let mut made = Vec::new();
        for key in [1, 2, 1, 3, 1, 2] {
            let answer = kept.get(key, || {
                made.push(key);
                Arc::new(key * 10)
            });
            assert_eq!(*answer, key * 10);
        }
        assert_eq!(made, [1, 2, 3, 2]);
    }
}
