//! Words out of answers of EC2, such as names of types that the tables do not have, each kept once for as long as the process lives.
//!
//! Facts are copied often and their words are few: EC2 has some thousands of types and makers in all, so what is kept stays small.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

static WORDS: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());

/// The same text, for as long as the process lives; equal texts are kept once.
pub fn word(text: &str) -> &'static str {
    let mut words = WORDS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = words.get(text) {
        return known;
    }
    let kept: &'static str = String::leak(text.to_owned());
    words.insert(kept);
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_are_kept_once() {
        let first = word(&["z9", "large"].join("."));
        let second = word(&String::from("z9.large"));
        assert_eq!(first, "z9.large");
        assert!(std::ptr::eq(first, second));
        assert!(!std::ptr::eq(first, word("z9.xlarge")));
    }
}
