//! Lists of lists as columns have them: one joined list, and where each part ends in it; and the same parts in another order.

use super::shuffle::number;

/// Parts of a joined list, and what is within each, in another order.
pub(super) struct Layout {
    /// For each part the place that it had.
    pub(super) order: Vec<usize>,
    /// For each element the place that it had.
    pub(super) origin: Vec<usize>,
    /// Where each part ends now.
    pub(super) ends: Vec<u32>,
}

impl Layout {
    /// The parts of a list that ends so, from last to first.
    pub(super) fn reversed(ends: &[u32]) -> Self {
        Self::of((0..ends.len()).rev().collect(), &blocks(ends))
    }

    /// The parts where they are, each from last to first within.
    pub(super) fn reversed_within(ends: &[u32]) -> Self {
        let mut blocks = blocks(ends);
        for block in &mut blocks {
            block.reverse();
        }
        Self::of((0..blocks.len()).collect(), &blocks)
    }

    /// These parts in that order.
    fn of(order: Vec<usize>, blocks: &[Vec<usize>]) -> Self {
        let (mut origin, mut ends) = (Vec::new(), Vec::new());
        for &part in &order {
            origin.extend_from_slice(&blocks[part]);
            ends.push(number(origin.len()));
        }
        Self {
            order,
            origin,
            ends,
        }
    }
}

/// Places of the parts of a joined list, by where each part ends.
pub(super) fn blocks(ends: &[u32]) -> Vec<Vec<usize>> {
    let starts = std::iter::once(0).chain(ends.iter().copied());
    let blocks = starts.zip(ends);
    blocks
        .map(|(start, &end)| (start as usize..end as usize).collect())
        .collect()
}
