//! Answers by small dense numbers, each found once.

/// Answers known so far; grows as answers are put in.
#[derive(Clone, Debug)]
pub(crate) struct Memo<T> {
    known: Vec<Option<T>>,
}

impl<T> Default for Memo<T> {
    fn default() -> Self {
        Self { known: Vec::new() }
    }
}

impl<T> Memo<T> {
    /// The answer for a number, if it was found before.
    pub(crate) fn get(&self, number: usize) -> Option<&T> {
        self.known.get(number)?.as_ref()
    }

    /// Keeps the answer for a number.
    pub(crate) fn set(&mut self, number: usize, answer: T) {
        if self.known.len() <= number {
            self.known.resize_with(number + 1, || None);
        }
        self.known[number] = Some(answer);
    }
}
