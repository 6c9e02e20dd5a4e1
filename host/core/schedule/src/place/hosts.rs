//! Sets of hosts that grow while a decision goes on, and the search for the first host that several sets agree on,
//! 64 hosts at a time.

use std::cmp::Ordering;

use super::super::topology::Allowed;

const WORD: usize = 64;

/// A set of hosts by number; grows as hosts are put in.
#[derive(Clone, Debug, Default)]
pub(crate) struct HostSet {
    words: Vec<u64>,
}

impl HostSet {
    /// Puts a host in.
    pub(crate) fn insert(&mut self, host: usize) {
        if self.words.len() <= host / WORD {
            self.words.resize(host / WORD + 1, 0);
        }
        self.words[host / WORD] |= 1 << (host % WORD);
    }

    /// Takes a host out.
    pub(crate) fn remove(&mut self, host: usize) {
        if let Some(word) = self.words.get_mut(host / WORD) {
            *word &= !(1 << (host % WORD));
        }
    }

    /// `true` if a host is in.
    pub(crate) fn has(&self, host: usize) -> bool {
        self.word(host / WORD) >> (host % WORD) & 1 == 1
    }

    /// Hosts `64 * at` and the 63 after it, as bits.
    pub(crate) fn word(&self, at: usize) -> u64 {
        self.words.get(at).copied().unwrap_or(0)
    }

    /// The first host from `from` on that is in here and that `passes` lets through; it is asked for 64 hosts at once,
    /// and only where some of them are in here.
    pub(crate) fn first(&self, from: usize, passes: impl Fn(usize) -> u64) -> Option<usize> {
        let after = |at: usize| match (from / WORD).cmp(&at) {
            Ordering::Less => u64::MAX,
            Ordering::Equal => u64::MAX << (from % WORD),
            Ordering::Greater => 0,
        };
        let words = from / WORD..self.words.len();
        let (at, found) = self.first_word(words, after, passes)?;
        Some(at * WORD + found.trailing_zeros() as usize)
    }

    /// The same from the other end: the last host before `until`.
    pub(crate) fn last(&self, until: usize, passes: impl Fn(usize) -> u64) -> Option<usize> {
        let before = |at: usize| match (until / WORD).cmp(&at) {
            Ordering::Less => 0,
            Ordering::Equal => (1 << (until % WORD)) - 1,
            Ordering::Greater => u64::MAX,
        };
        let words = (0..self.words.len()).rev();
        let (at, found) = self.first_word(words, before, passes)?;
        Some(at * WORD + found.ilog2() as usize)
    }

    /// The first of some words with hosts that are in here, within `bounds`, and that `passes` lets through; with those hosts.
    fn first_word(
        &self,
        mut words: impl Iterator<Item = usize>,
        bounds: impl Fn(usize) -> u64,
        passes: impl Fn(usize) -> u64,
    ) -> Option<(usize, u64)> {
        words.find_map(|at| {
            let here = self.words[at] & bounds(at);
            let found = if here == 0 { 0 } else { here & passes(at) };
            (found != 0).then_some((at, found))
        })
    }
}

/// Hosts of a word that lie in an open domain of a key, or in none where that is as good; `by_domain` has the hosts of each
/// domain, and last those that lie in none.
pub(super) fn within(allowed: &Allowed, by_domain: &[HostSet], at: usize) -> u64 {
    let undecided = by_domain.last().filter(|_| !allowed.required);
    let domains = allowed.domains.iter().map(|domain| &by_domain[domain]);
    domains
        .chain(undecided)
        .fold(0, |word, hosts| word | hosts.word(at))
}

impl FromIterator<usize> for HostSet {
    fn from_iter<I: IntoIterator<Item = usize>>(hosts: I) -> Self {
        let mut result = Self::default();
        hosts.into_iter().for_each(|host| result.insert(host));
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_host_that_another_set_does_not_hold() {
        let all: HostSet = [3, 64, 65, 200].into_iter().collect();
        let full: HostSet = [3, 64].into_iter().collect();
        let not_full = |at: usize| !full.word(at);
        assert_eq!(all.first(0, not_full), Some(65));
        assert_eq!(all.first(66, not_full), Some(200));
        assert_eq!(all.first(201, not_full), None);
        assert_eq!(all.first(4, |_| u64::MAX), Some(64));
    }

    #[test]
    fn the_last_host_before_another_that_a_set_does_not_hold() {
        let all: HostSet = [3, 64, 65, 200].into_iter().collect();
        let full: HostSet = [64, 200].into_iter().collect();
        let not_full = |at: usize| !full.word(at);
        assert_eq!(all.last(usize::MAX, not_full), Some(65));
        assert_eq!(all.last(65, not_full), Some(3));
        assert_eq!(all.last(3, not_full), None);
        assert_eq!(all.last(200, |_| u64::MAX), Some(65));
    }
}
