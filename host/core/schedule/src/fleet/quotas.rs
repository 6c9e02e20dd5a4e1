//! Quotas of a packing that is tried again: how many pods of a group a tier of pools may take, once limits or supplies left it
//! without nodes for some.

use std::collections::BTreeMap;

use crate::place::Placer;
use crate::place::strategy::QuotaKey;

/// Takes as many pods of each group and step from a tier as it had nodes for; on the last round, none.
pub(super) fn lowered_quotas(
    placer: &Placer<'_, '_>,
    unplaced: &[usize],
    last: bool,
) -> BTreeMap<QuotaKey, u32> {
    let mut missing: BTreeMap<QuotaKey, u32> = BTreeMap::new();
    let mut taken: BTreeMap<QuotaKey, u32> = BTreeMap::new();
    let count = |into: &mut BTreeMap<QuotaKey, u32>, bin: usize| {
        for step in &placer.bins[bin].steps {
            let step = &placer.steps[*step];
            let group = placer.compiled.pods[step.pod].group;
            let key = (group, step.level, placer.bins[bin].tier);
            *into.entry(key).or_default() += 1;
        }
    };
    for bin in unplaced {
        count(&mut missing, *bin);
    }
    for bin in 0..placer.bins.len() {
        count(&mut taken, bin);
    }
    let lowered = |(key, missing): (QuotaKey, u32)| {
        let all = taken.get(&key).copied().unwrap_or(0);
        (key, if last { 0 } else { all.saturating_sub(missing) })
    };
    missing.into_iter().map(lowered).collect()
}
