//! Time in stretches of one width, which double as a run goes on, so that there are never more than so many.

use plimsoll_base::time::{Span, Timestamp};

/// A sum over a stretch of time.
pub(crate) trait Sum: Clone + Default {
    /// Adds the sum of the stretch that follows.
    fn join(&mut self, next: &Self);
}

/// Sums of stretches that follow each other from a start on.
#[derive(Clone, Debug)]
pub(crate) struct Stretches<T> {
    start: Timestamp,
    width: i64,
    most: i64,
    sums: Vec<T>,
}

impl<T: Sum> Stretches<T> {
    /// Stretches of a first width, in milliseconds; when there would be more than `most`, neighbours are joined.
    pub(crate) fn new(start: Timestamp, width: i64, most: i64) -> Self {
        Self {
            start,
            width,
            most,
            sums: Vec::new(),
        }
    }

    /// Widens the stretches until an instant lies in one of them.
    pub(crate) fn reach(&mut self, instant: Timestamp) {
        while instant.millis() - self.start.millis() > self.width * self.most {
            self.widen();
        }
    }

    /// Hands out the sum of each stretch between two instants, with the milliseconds of it that lie between them.
    pub(crate) fn each(
        &mut self,
        from: Timestamp,
        to: Timestamp,
        mut add: impl FnMut(&mut T, i64),
    ) {
        self.reach(to);
        let mut at = from.millis() - self.start.millis();
        let end = to.millis() - self.start.millis();
        while at < end {
            let stretch = at / self.width;
            let until = ((stretch + 1) * self.width).min(end);
            let row = usize::try_from(stretch).unwrap_or_default();
            if self.sums.len() <= row {
                self.sums.resize_with(row + 1, T::default);
            }
            add(&mut self.sums[row], until - at);
            at = until;
        }
    }

    fn widen(&mut self) {
        self.width *= 2;
        let halves = std::mem::take(&mut self.sums);
        for pair in halves.chunks(2) {
            let mut joined = pair[0].clone();
            if let Some(next) = pair.get(1) {
                joined.join(next);
            }
            self.sums.push(joined);
        }
    }

    /// The sums, first stretch first.
    pub(crate) fn sums(&self) -> &[T] {
        &self.sums
    }

    /// Start of the first stretch.
    pub(crate) fn start(&self) -> Timestamp {
        self.start
    }

    /// Width of every stretch.
    pub(crate) fn width(&self) -> Span {
        Span::from_millis(self.width)
    }
}
