//! Of the rows that the same pods may use, those that no other beats: as cheap, and as large on every axis.
//!
//! Neither a cheapest fleet nor a bound needs any other row, where nodes draw on nothing but their price. A catalogue has
//! thousands of rows and a few hundred such, the same ones for all decisions that its prices do not change between.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use plimsoll_base::bits::Bits;

use super::axes::fits;
use super::lru::Lru;

/// Parts of the rows that overlapping sets have, by which sets they are in, beyond which all of those rows are looked at.
const MOST_PARTS: usize = 32;
/// Sets of rows whose best are kept: those of two kinds of decision in a cluster of some hundred pools. Small clusters have one or
/// two.
const MOST_SETS: usize = 1024;

/// The best of sets of rows at the same prices. Callers give the same prices and amounts of room every time.
pub(crate) struct Best {
    of_rows: Lru<Bits, [usize]>,
}

impl Default for Best {
    fn default() -> Self {
        Self {
            of_rows: Lru::new(MOST_SETS),
        }
    }
}

impl Best {
    /// Rows, ascending, among which every set has its best: what beats a row is in all sets that the row is in.
    pub(crate) fn of_sets<'b>(
        &self,
        sets: impl Iterator<Item = &'b Bits>,
        price: impl Fn(usize) -> i64 + Copy,
        room: impl Fn(usize) -> Box<[i64]> + Copy,
    ) -> Vec<usize> {
        let mut result = Vec::new();
        for Overlapping { rows, sets } in overlapping(sets) {
            let Some(parts) = parts(sets.into_iter()) else {
                result.extend(rows.iter());
                continue;
            };
            for part in parts {
                let rows: Vec<usize> = part.iter().collect();
                let best = self.of_rows.get(part, || best(rows, price, room).into());
                result.extend_from_slice(&best);
            }
        }
        result.sort_unstable();
        result
    }
}

/// Sets of which none has a row with a set of another group.
struct Overlapping<'b> {
    /// All of their rows.
    rows: Bits,
    sets: BTreeSet<&'b Bits>,
}

/// Groups sets by the rows that they share.
fn overlapping<'b>(sets: impl Iterator<Item = &'b Bits>) -> Vec<Overlapping<'b>> {
    let mut groups: Vec<Overlapping<'b>> = Vec::new();
    let sets: BTreeSet<&Bits> = sets.collect();
    for set in sets {
        let mut joined = Overlapping {
            rows: set.clone(),
            sets: BTreeSet::from([set]),
        };
        for mut group in groups.extract_if(.., |group| group.rows.meets(set)) {
            joined.rows.join(&group.rows);
            joined.sets.append(&mut group.sets);
        }
        groups.push(joined);
    }
    groups
}

/// Splits rows by the sets that they are in; `None` where there are too many parts.
fn parts<'b>(sets: impl Iterator<Item = &'b Bits>) -> Option<Vec<Bits>> {
    let mut parts: Vec<Bits> = Vec::new();
    for set in sets {
        let mut rest = set.clone();
        let mut split = Vec::new();
        for mut part in parts {
            let both = part.and(&rest);
            rest.drop_all(&both);
            part.drop_all(&both);
            split.extend([part, both].into_iter().filter(|part| !part.is_empty()));
        }
        split.extend(Some(rest).filter(|rest| !rest.is_empty()));
        parts = split;
        if parts.len() > MOST_PARTS {
            return None;
        }
    }
    Some(parts)
}

fn best(
    rows: Vec<usize>,
    price: impl Fn(usize) -> i64,
    room: impl Fn(usize) -> Box<[i64]>,
) -> Vec<usize> {
    let sold = rows.into_iter().map(|row| (price(row), room(row), row));
    let mut sold: Vec<(i64, Box<[i64]>, usize)> = sold.collect();
    // A row that beats another stands before it; of equals the first row.
    sold.sort_by(|a, b| (a.0, Reverse(&a.1), a.2).cmp(&(b.0, Reverse(&b.1), b.2)));
    let mut kept: Vec<(Box<[i64]>, usize)> = Vec::new();
    for (_, room, row) in sold {
        if !kept.iter().any(|(other, _)| fits(&room, other)) {
            kept.push((room, row));
        }
    }
    kept.into_iter().map(|(_, row)| row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_equals_the_first_is_kept_and_what_is_dearer_and_smaller_goes() {
        let prices = [5, 3, 3, 4, 9];
        let rooms = [[4, 4], [2, 2], [2, 2], [2, 8], [4, 4]];
        let kept = best((0..5).collect(), |row| prices[row], |row| rooms[row].into());
        assert_eq!(kept, [1, 3, 0]);
    }

    #[test]
    fn sets_without_a_common_row_are_no_more_parts_of_one_another() {
        let set = |first: usize| (first..first + 2).collect::<Bits>();
        let apart: Vec<Bits> = (0..100).map(|at| set(10 * at)).collect();
        let best = Best::default().of_sets(apart.iter(), |_| 1, |_| [1].into());
        let firsts: Vec<usize> = (0..100).map(|at| 10 * at).collect();
        assert_eq!(best, firsts, "of two equal rows of each set one");
    }

    #[test]
    fn rows_are_told_apart_by_the_sets_they_are_in() {
        let bits = |rows: &[usize]| {
            let mut result = Bits::none(8);
            for row in rows {
                result.insert(*row);
            }
            result
        };
        let sets = [bits(&[0, 1, 2]), bits(&[2, 3]), bits(&[0, 1, 2])];
        let parts = parts(sets.iter()).unwrap();
        assert_eq!(parts, [bits(&[0, 1]), bits(&[2]), bits(&[3])]);
    }
}
