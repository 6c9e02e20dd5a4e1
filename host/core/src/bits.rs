//! Sets of small numbers as bits: the currency of every feasibility test, a few words of AND instead of string work.

/// A set of numbers below a fixed size.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bits {
    words: Box<[u64]>,
}

const WORD: usize = 64;

impl Bits {
    /// The empty set, for numbers below `size`.
    pub fn none(size: usize) -> Self {
        Self {
            words: vec![0; size.div_ceil(WORD)].into_boxed_slice(),
        }
    }

    /// Every number below `size`.
    pub fn all(size: usize) -> Self {
        let mut words = vec![u64::MAX; size.div_ceil(WORD)].into_boxed_slice();
        if let Some(last) = words.last_mut()
            && !size.is_multiple_of(WORD)
        {
            *last = (1 << (size % WORD)) - 1;
        }
        Self { words }
    }

    /// Puts a number in.
    pub fn insert(&mut self, number: usize) {
        self.words[number / WORD] |= 1 << (number % WORD);
    }

    /// Takes a number out.
    pub fn remove(&mut self, number: usize) {
        self.words[number / WORD] &= !(1 << (number % WORD));
    }

    /// `true` if a number is in.
    pub fn contains(&self, number: usize) -> bool {
        self.words
            .get(number / WORD)
            .is_some_and(|word| word >> (number % WORD) & 1 == 1)
    }

    /// `true` if nothing is in.
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|word| *word == 0)
    }

    /// How many numbers are in.
    pub fn len(&self) -> usize {
        self.words
            .iter()
            .map(|word| word.count_ones() as usize)
            .sum()
    }

    /// Keeps what is in `other` too.
    pub fn keep(&mut self, other: &Self) {
        for (word, other) in self.words.iter_mut().zip(&other.words) {
            *word &= other;
        }
    }

    /// Adds what is in `other`.
    pub fn join(&mut self, other: &Self) {
        for (word, other) in self.words.iter_mut().zip(&other.words) {
            *word |= other;
        }
    }

    /// Takes out what is in `other`.
    pub fn drop_all(&mut self, other: &Self) {
        for (word, other) in self.words.iter_mut().zip(&other.words) {
            *word &= !other;
        }
    }

    /// The positions that are set in both.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        Self {
            words: self
                .words
                .iter()
                .zip(&other.words)
                .map(|(a, b)| a & b)
                .collect(),
        }
    }

    /// `true` if anything is in both.
    pub fn meets(&self, other: &Self) -> bool {
        self.words.iter().zip(&other.words).any(|(a, b)| a & b != 0)
    }

    /// The smallest number in both.
    pub fn first_in_both(&self, other: &Self) -> Option<usize> {
        let both = self.words.iter().zip(&other.words).map(|(a, b)| a & b);
        let (at, word) = both.enumerate().find(|(_, word)| *word != 0)?;
        Some(at * WORD + word.trailing_zeros() as usize)
    }

    /// `true` if all that is in here is in `other`.
    pub fn is_within(&self, other: &Self) -> bool {
        self.words
            .iter()
            .zip(&other.words)
            .all(|(a, b)| a & !b == 0)
    }

    /// The numbers, ascending.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.words.iter().enumerate().flat_map(|(at, word)| {
            let mut rest = *word;
            std::iter::from_fn(move || {
                if rest == 0 {
                    return None;
                }
                let bit = rest.trailing_zeros() as usize;
                rest &= rest - 1;
                Some(at * WORD + bit)
            })
        })
    }

    /// The smallest number in.
    pub fn first(&self) -> Option<usize> {
        self.iter().next()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_in_order() {
        let mut bits = Bits::none(130);
        for number in [129, 0, 64, 63] {
            bits.insert(number);
        }
        assert_eq!(bits.iter().collect::<Vec<_>>(), [0, 63, 64, 129]);
        bits.remove(0);
        assert_eq!((bits.len(), bits.first()), (3, Some(63)));
    }

    #[test]
    fn everything_ends_at_the_size() {
        for size in [0, 1, 63, 64, 65, 130] {
            assert_eq!(Bits::all(size).len(), size);
        }
    }
}
