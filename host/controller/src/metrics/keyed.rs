//! Counters, histograms and summaries by the values of their labels.

use std::collections::BTreeMap;
use std::sync::Arc;

use plimsoll_base::time::Timestamp;

use super::family::Family;
use super::histogram::Histogram;
use super::summary::Summary;

/// Values of labels, in the order of their family.
pub(crate) type LabelValues<const N: usize> = [Arc<str>; N];

/// Counters of one family.
#[derive(Clone, Debug)]
pub(crate) struct Counters<const N: usize>(BTreeMap<LabelValues<N>, u64>);

impl<const N: usize> Default for Counters<N> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<const N: usize> Counters<N> {
    /// Counts so many more; none at all makes the series be there.
    pub(crate) fn add(&mut self, labels: LabelValues<N>, more: u64) {
        *self.0.entry(labels).or_default() += more;
    }

    /// Keeps the series whose labels are wanted.
    pub(crate) fn retain(&mut self, is_kept: impl Fn(&LabelValues<N>) -> bool) {
        self.0.retain(|labels, _| is_kept(labels));
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&LabelValues<N>, u64)> {
        self.0.iter().map(|(labels, count)| (labels, *count))
    }
}

/// Histograms of one family.
#[derive(Clone, Debug)]
pub(crate) struct Histograms<const N: usize> {
    family: &'static Family,
    histograms: BTreeMap<LabelValues<N>, Histogram>,
}

impl<const N: usize> Histograms<N> {
    pub(crate) fn new(family: &'static Family) -> Self {
        Self {
            family,
            histograms: BTreeMap::new(),
        }
    }

    /// Adds one observation.
    pub(crate) fn observe(&mut self, labels: LabelValues<N>, value: f64) {
        let bounds = self.family.bounds();
        let own = self.histograms.entry(labels);
        own.or_insert_with(|| Histogram::new(bounds)).observe(value);
    }

    /// Keeps the series whose labels are wanted.
    pub(crate) fn retain(&mut self, is_kept: impl Fn(&LabelValues<N>) -> bool) {
        self.histograms.retain(|labels, _| is_kept(labels));
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&LabelValues<N>, &Histogram)> {
        self.histograms.iter()
    }
}

/// Summaries of one family.
#[derive(Clone, Debug)]
pub(crate) struct Summaries<const N: usize>(BTreeMap<LabelValues<N>, Summary>);

impl<const N: usize> Default for Summaries<N> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<const N: usize> Summaries<N> {
    /// Adds one observation.
    pub(crate) fn observe(&mut self, labels: LabelValues<N>, value: f64, now: Timestamp) {
        self.0.entry(labels).or_default().observe(value, now);
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&LabelValues<N>, &Summary)> {
        self.0.iter()
    }
}
