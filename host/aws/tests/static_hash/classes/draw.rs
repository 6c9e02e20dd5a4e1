//! Numbers at random; the same seed gives the same ones everywhere.

/// A source of random numbers.
pub(crate) struct Draw(u64);

impl Draw {
    /// The source of one class.
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Any number (Vigna's splitmix64).
    pub(super) fn any(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`, which is at least 1.
    pub(super) fn below(&mut self, end: usize) -> usize {
        let end = u64::try_from(end).expect("a number of 64 bits");
        usize::try_from(self.any() % end).expect("less than a usize")
    }

    /// `true` once in so many times.
    pub(super) fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    /// One of several.
    pub(super) fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    /// A number of entries: often few, seldom `most`.
    pub(super) fn length(&mut self, most: usize) -> usize {
        let any = self.below(most + 1);
        self.pick(&[0, 1, 1, 2, 2, 3, any, most]).min(most)
    }

    /// The entries in another order.
    pub(super) fn shuffle<T>(&mut self, entries: &mut [T]) {
        for at in (1..entries.len()).rev() {
            entries.swap(at, self.below(at + 1));
        }
    }
}
