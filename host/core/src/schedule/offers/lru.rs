//! Answers that later decisions ask for again on the same terms.
//!
//! What is kept here is a function of its terms alone, so that a decision is the same whether an answer was kept or is made
//! anew, and whoever else asks at the same time.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// The last few answers, with their terms.
pub(crate) struct Lru<Terms, Answer: ?Sized> {
    last: Mutex<VecDeque<(Terms, Arc<Answer>)>>,
    most: usize,
}

impl<Terms: PartialEq, Answer: ?Sized> Lru<Terms, Answer> {
    /// Room for so many answers; the one that was asked for least lately makes room for the next.
    pub(crate) fn new(most: usize) -> Self {
        Self {
            last: Mutex::default(),
            most,
        }
    }

    /// The answer on these terms, kept or made.
    pub(crate) fn get(&self, terms: Terms, make: impl FnOnce() -> Arc<Answer>) -> Arc<Answer> {
        if let Some(answer) = self.find(&terms) {
            return answer;
        }
        // Others may ask meanwhile; at worst the same answer is made twice.
        let answer = make();
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        last.push_front((terms, Arc::clone(&answer)));
        last.truncate(self.most);
        answer
    }

    fn find(&self, terms: &Terms) -> Option<Arc<Answer>> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let at = last.iter().position(|(own, _)| own == terms)?;
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
        for terms in [1, 2, 1, 3, 1, 2] {
            let answer = kept.get(terms, || {
                made.push(terms);
                Arc::new(terms * 10)
            });
            assert_eq!(*answer, terms * 10);
        }
        assert_eq!(made, [1, 2, 3, 2]);
    }
}
