//! Pods for which guards on kinds of instances yield: all that would hold one of them is kept back.
//!
//! Such a pod has been given an instance in spite of a guard. If guards did not yield to moves too it would stay where it happens to be,
//! however much dearer that is than what would be bought for it now.

use plimsoll_base::bits::Bits;

use crate::batch::compile::Compiled;
use crate::offers::axes::fits;

/// Groups of pods that fit nothing but rows that guards keep back, with those rows.
pub(super) struct GuardExempt {
    of_group: Vec<bool>,
    /// Rows that guards keep back and that hold a pod of these groups.
    pub(super) rows: Bits,
}

impl GuardExempt {
    /// `guard_excluded` are the rows that guards keep from being bought. What is sold out or beyond a limit just now counts as there: guards
    /// do not yield for want of something that may come back.
    pub(super) fn of(compiled: &Compiled<'_>, guard_excluded: &Bits) -> Self {
        let mut rows = Bits::none(compiled.rows.len());
        let of_group = compiled.groups.iter().map(|group| {
            if guard_excluded.is_empty() {
                return false;
            }
            let holds = |row: &usize| fits(&group.request, compiled.rows.capacity(*row));
            let open = group.open(compiled.rows.len());
            let mut plain = open.clone();
            plain.drop_all(guard_excluded);
            if plain.iter().any(|row| holds(&row)) {
                return false;
            }
            let kept = open.and(guard_excluded);
            let mut found = kept.iter().filter(holds).peekable();
            let any = found.peek().is_some();
            found.for_each(|row| rows.insert(row));
            any
        });
        let of_group = of_group.collect();
        Self { of_group, rows }
    }

    /// `true` if one of these pods, given as positions in the batch, is such a pod.
    pub(super) fn are_among(
        &self,
        compiled: &Compiled<'_>,
        pods: impl IntoIterator<Item = usize>,
    ) -> bool {
        let mut pods = pods.into_iter();
        !self.rows.is_empty() && pods.any(|pod| self.of_group[compiled.pods[pod].group])
    }
}
