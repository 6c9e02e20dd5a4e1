//! A launch list in a ranking policy's order, whatever stands for a way to buy in it.
//!
//! First what the policy keeps; then what it took off and may not, because too little would be left to choose from; then what it was not
//! asked about. A policy names positions and no ways to buy, so that nothing comes in that was not there.

use std::collections::BTreeSet;

use plimsoll_hooks::rank::LaunchList;
use plimsoll_model::plan::MAX_LAUNCH_TYPES;

/// A list as a claim names it.
pub(crate) struct Named<'l, T> {
    /// Types that the policy was asked about, in the order of the claim.
    pub(crate) asked: &'l [T],
    /// Types behind them, beyond the number that a launch is handed.
    pub(crate) others: &'l [T],
}

impl<'l, T> Named<'l, T> {
    /// A list parted before the first type that no launch would be handed.
    pub(crate) fn of_list<K: Ord>(list: &'l [T], type_of: impl Fn(&'l T) -> K) -> Self {
        let mut types = BTreeSet::new();
        let beyond = list.iter().position(|way| {
            types.insert(type_of(way));
            types.len() > MAX_LAUNCH_TYPES
        });
        let (asked, others) = list.split_at(beyond.unwrap_or(list.len()));
        Self { asked, others }
    }

    /// The way to buy that the policy puts first.
    pub(crate) fn first(&self, list: &LaunchList) -> Option<&'l T> {
        self.of(&list.kept).next()
    }

    /// The list in the policy's order with at least so many types on spot, where it has so many; `spot_type` is the type of a way to
    /// buy on spot. The rest is as in [`Named::in_order`].
    pub(crate) fn in_order_with_spot<K: Ord>(
        &self,
        list: &LaunchList,
        wanted: usize,
        spot_type: impl Fn(&T) -> Option<K>,
        leaves_enough: impl Fn(&[&T]) -> bool,
        attaches: Option<&dyn Fn(&T) -> bool>,
    ) -> Vec<&'l T> {
        let count = |ways: &mut dyn Iterator<Item = &T>| {
            let types: BTreeSet<K> = ways.filter_map(&spot_type).collect();
            types.len()
        };
        let wanted = wanted.min(count(&mut self.asked.iter().chain(self.others)));
        let is_enough =
            |ways: &[&T]| leaves_enough(ways) && count(&mut ways.iter().copied()) >= wanted;
        self.in_order(list, is_enough, attaches)
    }

    /// The list in the policy's order. What it took off comes back, in its order, until the list `is_enough`. Ways to buy that do not
    /// attach the volumes of all pods are there for the breadth of the list alone: one that `attaches` stays, and the others come last.
    pub(crate) fn in_order(
        &self,
        list: &LaunchList,
        is_enough: impl Fn(&[&T]) -> bool,
        attaches: Option<&dyn Fn(&T) -> bool>,
    ) -> Vec<&'l T> {
        let mut kept: Vec<&T> = self.of(&list.kept).collect();
        let mut all: Vec<&T> = kept.iter().copied().chain(self.others).collect();
        for removed in self.of(&list.removed) {
            let attached = attaches.is_none_or(|attaches| all.iter().any(|way| attaches(way)));
            if !kept.is_empty() && attached && is_enough(&all) {
                break;
            }
            kept.push(removed);
            all.push(removed);
        }
        kept.extend(self.others);
        if let Some(attaches) = attaches {
            kept.sort_by_key(|way| !attaches(way));
        }
        kept
    }

    fn of<'p>(&self, positions: &'p [usize]) -> impl Iterator<Item = &'l T> + use<'l, 'p, T> {
        let asked = self.asked;
        positions
            .iter()
            .filter_map(move |position| asked.get(*position))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [u8; 6] = [10, 11, 12, 13, 14, 15];

    fn named() -> Named<'static, u8> {
        let (asked, others) = ALL.split_at(4);
        Named { asked, others }
    }

    fn list(kept: &[usize], removed: &[usize]) -> LaunchList {
        LaunchList {
            kept: kept.to_vec(),
            removed: removed.to_vec(),
        }
    }

    #[test]
    fn what_is_kept_comes_first_and_what_was_not_asked_about_last() {
        let order = named().in_order(&list(&[2, 0], &[1, 3]), |_| true, None);
        assert_eq!(order, [&12, &10, &14, &15]);
        assert_eq!(named().first(&list(&[2, 0], &[])), Some(&12));
    }

    #[test]
    fn what_was_taken_off_comes_back_until_there_is_enough() {
        let is_enough = |ways: &[&u8]| ways.len() >= 4;
        let order = named().in_order(&list(&[2], &[3, 1, 0]), is_enough, None);
        assert_eq!(order, [&12, &13, &14, &15]);
    }

    #[test]
    fn something_that_launches_are_handed_is_always_left() {
        let order = named().in_order(&list(&[], &[3, 1]), |_| true, None);
        assert_eq!(order, [&13, &14, &15]);
    }

    #[test]
    fn one_that_attaches_stays_and_comes_first() {
        let attaches = |way: &u8| *way == 11;
        let order = named().in_order(&list(&[2, 0], &[3, 1]), |_| true, Some(&attaches));
        assert_eq!(order, [&11, &12, &10, &13, &14, &15]);
    }

    #[test]
    fn positions_that_are_not_there_are_passed_over() {
        let order = named().in_order(&list(&[9, 1], &[7]), |_| true, None);
        assert_eq!(order, [&11, &14, &15]);
    }
}
