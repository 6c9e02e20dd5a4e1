//! An order of all rows, and the rows of a set in that order.
//!
//! Rows of one template stand together, so what a set has is found among the rows of its own templates, however many pools
//! there are.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use plimsoll_base::bits::Bits;

/// An order of all rows.
#[derive(Clone, Debug, Default)]
pub(crate) struct RowOrder {
    /// Position of each row.
    position: Vec<u32>,
    /// By template: its first row.
    first: Vec<usize>,
    /// By template: its rows in order.
    rows: Vec<Vec<usize>>,
}

impl RowOrder {
    /// From all rows in order, and the rows of each template.
    pub(crate) fn new(ordered: &[usize], of_template: &[Bits]) -> Self {
        let first = |rows: &Bits| rows.first().unwrap_or(usize::MAX);
        let mut result = Self {
            position: vec![0; ordered.len()],
            first: of_template.iter().map(first).collect(),
            rows: of_template.iter().map(|_| Vec::new()).collect(),
        };
        // A template without rows begins where the next one does.
        let mut next = ordered.len();
        for first in result.first.iter_mut().rev() {
            *first = (*first).min(next);
            next = *first;
        }
        for (position, row) in (0_u32..).zip(ordered) {
            result.position[*row] = position;
            let template = result.template(*row);
            result.rows[template].push(*row);
        }
        result
    }

    /// Position of a row.
    pub(crate) fn position(&self, row: usize) -> u32 {
        self.position[row]
    }

    /// The rows of a set, in order.
    pub(crate) fn among<'o>(&'o self, set: &'o Bits) -> impl Iterator<Item = usize> + use<'o> {
        let ends = set.first().zip(set.last());
        let lists = ends.map_or(&[][..], |(first, last)| {
            &self.rows[self.template(first)..=self.template(last)]
        });
        let mut only = if let [only] = lists {
            Some(only.iter().copied())
        } else {
            None
        };
        let next = move |list: usize, at: usize| {
            let row = *lists[list].get(at)?;
            Some(Reverse((self.position[row], list, at, row)))
        };
        let several = 0..if only.is_some() { 0 } else { lists.len() };
        let mut heads: BinaryHeap<_> = several.filter_map(|list| next(list, 0)).collect();
        let all = std::iter::from_fn(move || {
            if let Some(only) = &mut only {
                return only.next();
            }
            let Reverse((_, list, at, row)) = heads.pop()?;
            heads.extend(next(list, at + 1));
            Some(row)
        });
        all.filter(|row| set.contains(*row))
    }

    /// The template of a row: the last that begins no later, of which those without rows begin where the next does.
    fn template(&self, row: usize) -> usize {
        self.first
            .partition_point(|first| *first <= row)
            .saturating_sub(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_several_templates_come_in_one_order() {
        let of_template: [Bits; 4] = [
            (0..3).collect(),
            Bits::default(),
            (3..5).collect(),
            (5..6).collect(),
        ];
        let order = RowOrder::new(&[4, 0, 5, 2, 1, 3], &of_template);
        let among = |set: &[usize]| {
            let set: Bits = set.iter().copied().collect();
            order.among(&set).collect::<Vec<_>>()
        };
        assert_eq!(among(&[0, 1, 2]), [0, 2, 1]);
        assert_eq!(among(&[1, 3, 4]), [4, 1, 3]);
        assert_eq!(among(&[0, 5]), [0, 5]);
        assert_eq!(among(&[]), [0_usize; 0]);
        assert_eq!(order.position(5), 2);
    }
}
