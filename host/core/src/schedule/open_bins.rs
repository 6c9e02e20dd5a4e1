//! Order of new nodes that are still open: fewest pods first, then the older one; and which of them have refused a group
//! for good.

use std::collections::BTreeMap;

const WORD: usize = 64;

/// A set of bins that grows.
#[derive(Clone, Debug, Default)]
pub(super) struct BinSet {
    words: Vec<u64>,
}

impl BinSet {
    /// Puts a bin in.
    pub(super) fn insert(&mut self, bin: usize) {
        if self.words.len() <= bin / WORD {
            self.words.resize(bin / WORD + 1, 0);
        }
        self.words[bin / WORD] |= 1 << (bin % WORD);
    }

    fn remove(&mut self, bin: usize) {
        if let Some(word) = self.words.get_mut(bin / WORD) {
            *word &= !(1 << (bin % WORD));
        }
    }

    /// The first bin from `from` on that is in here and not in `without`.
    fn next(&self, from: usize, without: Option<&Self>) -> Option<usize> {
        let mut at = from / WORD;
        let mut mask = u64::MAX << (from % WORD);
        while let Some(word) = self.words.get(at) {
            let refused = without
                .and_then(|set| set.words.get(at))
                .copied()
                .unwrap_or(0);
            let left = word & !refused & mask;
            if left != 0 {
                return Some(at * WORD + left.trailing_zeros() as usize);
            }
            mask = u64::MAX;
            at += 1;
        }
        None
    }
}

/// Open bins by number of pods.
#[derive(Clone, Debug, Default)]
pub(super) struct OpenBins {
    by_pods: BTreeMap<u32, BinSet>,
}

impl OpenBins {
    /// Adds a bin, or moves it from its former number of pods.
    pub(super) fn set(&mut self, bin: usize, former: Option<u32>, pods: u32) {
        if let Some(set) = former.and_then(|former| self.by_pods.get_mut(&former)) {
            set.remove(bin);
        }
        self.by_pods.entry(pods).or_default().insert(bin);
    }

    /// The first bin in order, after `after`, that is not in `without`; with its number of pods.
    pub(super) fn next(
        &self,
        after: Option<(u32, usize)>,
        without: Option<&BinSet>,
    ) -> Option<(u32, usize)> {
        let (pods, bin) = after.map_or((0, 0), |(pods, bin)| (pods, bin + 1));
        self.by_pods.range(pods..).find_map(|(count, set)| {
            let from = if *count == pods { bin } else { 0 };
            set.next(from, without).map(|found| (*count, found))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fewest_pods_first_then_the_older_bin() {
        let mut bins = OpenBins::default();
        for (bin, pods) in [(0, 2), (1, 1), (70, 1), (3, 5)] {
            bins.set(bin, None, pods);
        }
        bins.set(3, Some(5), 1);
        let mut refused = BinSet::default();
        refused.insert(1);
        let mut order = Vec::new();
        let mut at = None;
        while let Some(next) = bins.next(at, Some(&refused)) {
            order.push(next);
            at = Some(next);
        }
        assert_eq!(order, [(1, 3), (1, 70), (2, 0)]);
    }
}
