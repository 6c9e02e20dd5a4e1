//! The work that ran: how long pods of each kind ran, in stretches of time of one width.
//!
//! A pod counts from the moment it is bound to the moment it is gone, to the millisecond; daemons come with nodes and do
//! not count. Stretches widen as the run goes on, so that there are never more than [`MOST_STRETCHES`].

use std::collections::BTreeMap;
use std::sync::Arc;

use plimsoll_base::fixed_hash::hash_of;
use plimsoll_base::ids::Uid;
use plimsoll_base::time::{Span, Timestamp};
use plimsoll_model::{OwnerKind, Pod};

use crate::stretches::{Stretches, Sum};

/// Stretches at most; when there would be more, neighbours are joined.
const MOST_STRETCHES: i64 = 360;
/// Width of the first stretches.
const NARROWEST: i64 = 15_000;

/// Milliseconds of pods by kind, per stretch.
#[derive(Clone, Debug)]
pub(crate) struct Work {
    kinds: BTreeMap<u64, usize>,
    examples: Vec<Arc<Pod>>,
    running: Vec<Running>,
    kind_of: BTreeMap<Uid, usize>,
    stretches: Stretches<Kinds>,
}

/// Milliseconds by kind.
type Kinds = BTreeMap<usize, u64>;

impl Sum for Kinds {
    fn join(&mut self, next: &Self) {
        for (kind, millis) in next {
            *self.entry(*kind).or_default() += millis;
        }
    }
}

/// Pods of a kind that run now, and until when their work is counted.
#[derive(Clone, Copy, Debug)]
struct Running {
    count: u64,
    counted: Timestamp,
}

impl Work {
    pub(crate) fn new(start: Timestamp) -> Self {
        Self {
            kinds: BTreeMap::new(),
            examples: Vec::new(),
            running: Vec::new(),
            kind_of: BTreeMap::new(),
            stretches: Stretches::new(start, NARROWEST, MOST_STRETCHES),
        }
    }

    /// A pod runs from now on.
    pub(crate) fn begins(&mut self, pod: &Pod, now: Timestamp) {
        if pod.is_owned_by(OwnerKind::DaemonSet) || self.kind_of.contains_key(&pod.uid) {
            return;
        }
        let key = hash_of(&(&pod.name.namespace, &*pod.labels, &*pod.spec));
        let next = self.examples.len();
        let kind = *self.kinds.entry(key).or_insert(next);
        if kind == next {
            self.examples.push(Arc::new(pod.clone()));
            self.running.push(Running {
                count: 0,
                counted: now,
            });
        }
        self.count_until(kind, now);
        self.running[kind].count += 1;
        self.kind_of.insert(pod.uid.clone(), kind);
    }

    /// A pod is no more; nothing if it never ran.
    pub(crate) fn ends(&mut self, pod: &Uid, now: Timestamp) {
        if let Some(kind) = self.kind_of.remove(pod) {
            self.count_until(kind, now);
            self.running[kind].count -= 1;
        }
    }

    fn count_until(&mut self, kind: usize, now: Timestamp) {
        let Running { count, counted } = self.running[kind];
        self.running[kind].counted = now;
        self.stretches.reach(now);
        if count > 0 {
            self.stretches.each(counted, now, |kinds, millis| {
                let millis = u64::try_from(millis).unwrap_or_default();
                *kinds.entry(kind).or_default() += count * millis;
            });
        }
    }

    /// Counts what still runs up to now.
    pub(crate) fn close(&mut self, now: Timestamp) {
        for kind in 0..self.running.len() {
            self.count_until(kind, now);
        }
    }

    /// A pod of each kind.
    pub(crate) fn examples(&self) -> &[Arc<Pod>] {
        &self.examples
    }

    /// When a stretch begins.
    pub(crate) fn begin_of(&self, stretch: usize) -> Timestamp {
        let stretch = i64::try_from(stretch).unwrap_or(i64::MAX);
        let width = self.stretches.width().millis();
        self.stretches.start() + Span::from_millis(width.saturating_mul(stretch))
    }

    /// Per stretch, milliseconds by kind.
    pub(crate) fn stretches(&self) -> &[Kinds] {
        self.stretches.sums()
    }
}
