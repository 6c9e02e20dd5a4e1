//! Sets of small numbers as bits: the currency of every feasibility test, a few words of AND instead of string work.
//!
//! Only the words from the first to the last that hold anything are kept. Rows of one pool stand together, so that what
//! concerns one pool of many costs what that pool has, and not what all of them have.

use std::cmp::Ordering;

/// A set of numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Bits {
    /// Words before the first that is kept, all of them empty; 0 where none is kept.
    skipped: usize,
    /// Words of which neither the first nor the last is empty.
    words: Vec<u64>,
}

const WORD: usize = 64;

impl Bits {
    /// The empty set, for numbers below `size`.
    pub fn none(_size: usize) -> Self {
        Self::default()
    }

    /// Every number below `size`.
    pub fn all(size: usize) -> Self {
        let mut words = vec![u64::MAX; size.div_ceil(WORD)];
        if let Some(last) = words.last_mut()
            && !size.is_multiple_of(WORD)
        {
            *last = (1 << (size % WORD)) - 1;
        }
        Self { skipped: 0, words }
    }

    /// Puts a number in.
    pub fn insert(&mut self, number: usize) {
        let at = number / WORD;
        self.cover(at, at + 1);
        self.words[at - self.skipped] |= 1 << (number % WORD);
    }

    /// Takes a number out.
    pub fn remove(&mut self, number: usize) {
        let at = (number / WORD).checked_sub(self.skipped);
        if let Some(word) = at.and_then(|at| self.words.get_mut(at)) {
            *word &= !(1 << (number % WORD));
            self.trim();
        }
    }

    /// `true` if a number is in.
    pub fn contains(&self, number: usize) -> bool {
        self.word(number / WORD) >> (number % WORD) & 1 == 1
    }

    /// `true` if nothing is in.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
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
        let (first, end) = self.shared(other);
        self.words.truncate(end.saturating_sub(self.skipped));
        self.words
            .drain(..first.saturating_sub(self.skipped).min(self.words.len()));
        self.skipped = first;
        for (word, other) in self.words.iter_mut().zip(other.tail(first)) {
            *word &= other;
        }
        self.trim();
    }

    /// Adds what is in `other`.
    pub fn join(&mut self, other: &Self) {
        if other.is_empty() {
            return;
        }
        self.cover(other.skipped, other.end());
        let own = &mut self.words[other.skipped - self.skipped..];
        for (word, other) in own.iter_mut().zip(&other.words) {
            *word |= other;
        }
    }

    /// Takes out what is in `other`.
    pub fn drop_all(&mut self, other: &Self) {
        let (first, _) = self.shared(other);
        let own = first.saturating_sub(self.skipped).min(self.words.len());
        for (word, other) in self.words[own..].iter_mut().zip(other.tail(first)) {
            *word &= !other;
        }
        self.trim();
    }

    /// The positions that are set in both.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        let (first, _) = self.shared(other);
        let mut both = Self {
            skipped: first,
            words: self.both(other).map(|(_, word)| word).collect(),
        };
        both.trim();
        both
    }

    /// `true` if anything is in both.
    pub fn meets(&self, other: &Self) -> bool {
        self.both(other).any(|(_, word)| word != 0)
    }

    /// The smallest number in both.
    pub fn first_in_both(&self, other: &Self) -> Option<usize> {
        let (at, word) = self.both(other).find(|(_, word)| *word != 0)?;
        Some(at * WORD + word.trailing_zeros() as usize)
    }

    /// `true` if all that is in here is in `other`.
    pub fn is_within(&self, other: &Self) -> bool {
        let is_covered =
            self.is_empty() || (self.skipped >= other.skipped && self.end() <= other.end());
        is_covered
            && (self.words.iter().zip(other.tail(self.skipped)))
                .all(|(own, other)| own & !other == 0)
    }

    /// The numbers, ascending.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        let numbered = self.words.iter().enumerate();
        numbered.flat_map(move |(at, word)| {
            let mut rest = *word;
            std::iter::from_fn(move || {
                if rest == 0 {
                    return None;
                }
                let bit = rest.trailing_zeros() as usize;
                rest &= rest - 1;
                Some((self.skipped + at) * WORD + bit)
            })
        })
    }

    /// The smallest number in.
    pub fn first(&self) -> Option<usize> {
        self.iter().next()
    }

    /// The largest number in.
    pub fn last(&self) -> Option<usize> {
        let word = self.words.last()?;
        Some((self.end() - 1) * WORD + word.ilog2() as usize)
    }

    fn word(&self, at: usize) -> u64 {
        let kept = at.checked_sub(self.skipped);
        kept.and_then(|kept| self.words.get(kept))
            .copied()
            .unwrap_or(0)
    }

    /// The end of the words that are kept.
    fn end(&self) -> usize {
        self.skipped + self.words.len()
    }

    /// First and end of the words that both keep; the end is no less than the first.
    fn shared(&self, other: &Self) -> (usize, usize) {
        let first = self.skipped.max(other.skipped);
        (first, self.end().min(other.end()).max(first))
    }

    /// The words from one on.
    fn tail(&self, first: usize) -> &[u64] {
        let before = first.saturating_sub(self.skipped);
        self.words.get(before..).unwrap_or_default()
    }

    /// What both have of each word that both keep, with its position.
    fn both<'b>(&'b self, other: &'b Self) -> impl Iterator<Item = (usize, u64)> + 'b {
        let (first, end) = self.shared(other);
        let words = self.tail(first).iter().zip(other.tail(first));
        (first..end).zip(words.map(|(own, other)| own & other))
    }

    /// Keeps at least the words from `first` to `end`.
    fn cover(&mut self, first: usize, end: usize) {
        if self.words.is_empty() {
            self.skipped = first;
        }
        if first < self.skipped {
            let before = std::iter::repeat_n(0, self.skipped - first);
            self.words.splice(..0, before);
            self.skipped = first;
        }
        if end > self.end() {
            self.words.resize(end - self.skipped, 0);
        }
    }

    /// Forgets empty words at both ends.
    fn trim(&mut self) {
        let used = self.words.iter().rposition(|word| *word != 0);
        self.words.truncate(used.map_or(0, |last| last + 1));
        let empty = self.words.iter().position(|word| *word != 0).unwrap_or(0);
        self.words.drain(..empty);
        self.skipped = if self.words.is_empty() {
            0
        } else {
            self.skipped + empty
        };
    }
}

impl FromIterator<usize> for Bits {
    fn from_iter<I: IntoIterator<Item = usize>>(numbers: I) -> Self {
        let mut bits = Self::default();
        numbers.into_iter().for_each(|number| bits.insert(number));
        bits
    }
}

/// By words, as if those that are not kept were there.
impl Ord for Bits {
    fn cmp(&self, other: &Self) -> Ordering {
        // Of two sets the one that begins in an earlier word is the larger; the empty set is the smallest.
        let begins =
            (self.is_empty().cmp(&other.is_empty())).then(self.skipped.cmp(&other.skipped));
        begins.reverse().then_with(|| self.words.cmp(&other.words))
    }
}

impl PartialOrd for Bits {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

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

    /// A set and the same as a plain one.
    fn sets() -> impl Strategy<Value = BTreeSet<usize>> {
        (0..300_usize, 0..200_usize)
            .prop_flat_map(|(first, span)| prop::collection::btree_set(first..=first + span, 0..20))
    }

    fn bits(numbers: &BTreeSet<usize>) -> Bits {
        let mut bits = Bits::none(600);
        // From the last to the first, so that words are put before others.
        numbers.iter().rev().for_each(|number| bits.insert(*number));
        bits
    }

    fn numbers(bits: &Bits) -> BTreeSet<usize> {
        bits.iter().collect()
    }

    /// A set word by word, those in which nothing is included.
    fn all_words(bits: &Bits) -> Vec<u64> {
        (0..10).map(|at| bits.word(at)).collect()
    }

    proptest! {
        #[test]
        fn sets_with_few_words_are_as_sets_with_all(left in sets(), right in sets(), number in 0..500_usize) {
            let (a, b) = (bits(&left), bits(&right));
            prop_assert_eq!(numbers(&a), left.clone());
            prop_assert_eq!(a.len(), left.len());
            prop_assert_eq!(a.is_empty(), left.is_empty());
            prop_assert_eq!((a.first(), a.last()), (left.first().copied(), left.last().copied()));
            prop_assert_eq!(a.contains(number), left.contains(&number));
            let both: BTreeSet<usize> = left.intersection(&right).copied().collect();
            prop_assert_eq!(&a.and(&b), &bits(&both));
            prop_assert_eq!(a.meets(&b), !both.is_empty());
            prop_assert_eq!(a.first_in_both(&b), both.first().copied());
            prop_assert_eq!(a.is_within(&b), left.is_subset(&right));
            let mut kept = a.clone();
            kept.keep(&b);
            prop_assert_eq!(&kept, &bits(&both));
            let mut joined = a.clone();
            joined.join(&b);
            prop_assert_eq!(&joined, &bits(&left.union(&right).copied().collect()));
            let mut rest = a.clone();
            rest.drop_all(&b);
            prop_assert_eq!(&rest, &bits(&left.difference(&right).copied().collect()));
            let mut without = a.clone();
            without.remove(number);
            let mut fewer = left.clone();
            fewer.remove(&number);
            prop_assert_eq!(&without, &bits(&fewer));
            prop_assert_eq!(a.cmp(&b), all_words(&a).cmp(&all_words(&b)));
        }
    }

    #[test]
    fn everything_ends_at_the_size() {
        for size in [0, 1, 63, 64, 65, 130] {
            assert_eq!(Bits::all(size).len(), size);
        }
    }
}
