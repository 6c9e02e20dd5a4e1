//! Edits of a sorted list: rows that take the place of others, go, or come in between, all made in one pass.

use std::collections::BTreeMap;

/// Edits of a list by position, in ascending order.
#[derive(Debug)]
pub(super) struct Edits<K, R> {
    replaced: Vec<(usize, R)>,
    removed: Vec<usize>,
    /// Each with the position of the row that it comes to stand before.
    inserted: Vec<(usize, K, R)>,
}

impl<K: Ord, R> Edits<K, R> {
    /// Edits that bring a list up to date with rows by key, `None` for those that are no more. `find` gives the position of a key,
    /// or as an error the position where it belongs.
    pub(super) fn of(
        news: BTreeMap<K, Option<R>>,
        find: impl Fn(&K) -> Result<usize, usize>,
    ) -> Self {
        let mut edits = Self {
            replaced: Vec::new(),
            removed: Vec::new(),
            inserted: Vec::new(),
        };
        for (key, row) in news {
            match (find(&key), row) {
                (Ok(at), Some(row)) => edits.replaced.push((at, row)),
                (Ok(at), None) => edits.removed.push(at),
                (Err(at), Some(row)) => edits.inserted.push((at, key, row)),
                (Err(_), None) => {}
            }
        }
        edits
    }

    /// Makes the edits in a list of rows, and in the list of their keys.
    pub(super) fn make_keyed(self, keys: &mut Vec<K>, rows: &mut Vec<R>) {
        let (places, inserted): (Vec<_>, Vec<_>) = self
            .inserted
            .into_iter()
            .map(|(at, key, row)| ((at, key), (at, row)))
            .unzip();
        splice(keys, &self.removed, places);
        replace(rows, self.replaced);
        splice(rows, &self.removed, inserted);
    }

    /// Makes the edits in a list of rows that carry their keys themselves.
    pub(super) fn make(self, rows: &mut Vec<R>) {
        let inserted = self.inserted.into_iter();
        replace(rows, self.replaced);
        splice(
            rows,
            &self.removed,
            inserted.map(|(at, _, row)| (at, row)).collect(),
        );
    }
}

fn replace<R>(rows: &mut [R], replaced: Vec<(usize, R)>) {
    for (at, row) in replaced {
        if let Some(have) = rows.get_mut(at) {
            *have = row;
        }
    }
}

/// Takes rows out and puts others in, by positions before either.
fn splice<R>(rows: &mut Vec<R>, removed: &[usize], inserted: Vec<(usize, R)>) {
    if removed.is_empty() && inserted.is_empty() {
        return;
    }
    let count = rows.len() + inserted.len();
    let old = std::mem::replace(rows, Vec::with_capacity(count));
    let mut removed = removed.iter().copied().peekable();
    let mut inserted = inserted.into_iter().peekable();
    for (at, row) in old.into_iter().enumerate() {
        while let Some((_, new)) = inserted.next_if(|(place, _)| *place <= at) {
            rows.push(new);
        }
        if removed.next_if_eq(&at).is_none() {
            rows.push(row);
        }
    }
    rows.extend(inserted.map(|(_, row)| row));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edited(list: &[u32], news: &[(u32, bool)]) -> Vec<u32> {
        let news = news
            .iter()
            .map(|(key, stays)| (*key, stays.then_some(*key)));
        let (mut keys, mut rows) = (list.to_vec(), list.to_vec());
        let edits = Edits::of(news.collect(), |key| keys.binary_search(key));
        edits.make_keyed(&mut keys, &mut rows);
        assert_eq!(keys, rows);
        rows
    }

    #[test]
    fn rows_come_go_and_stay_in_order() {
        for (list, news, expected) in [
            (
                &[][..],
                &[(2, true), (1, true), (3, false)][..],
                &[1, 2][..],
            ),
            (
                &[1, 3, 5],
                &[(0, true), (2, true), (6, true)],
                &[0, 1, 2, 3, 5, 6],
            ),
            (&[1, 3, 5], &[(1, false), (5, false)], &[3]),
            (
                &[1, 3, 5],
                &[(3, false), (2, true), (4, true)],
                &[1, 2, 4, 5],
            ),
            (&[1, 3, 5], &[(3, true), (4, false)], &[1, 3, 5]),
        ] {
            assert_eq!(edited(list, news), expected, "{list:?} {news:?}");
        }
    }
}
