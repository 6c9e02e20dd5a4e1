//! Remarks on claims that leave their launch fewer values to choose from than their pools want (`minValues`, best effort).

use std::collections::BTreeMap;

use plimsoll_base::ids::PoolName;
use plimsoll_base::labels::LabelKey;
use plimsoll_base::requirement::Requirement;
use plimsoll_model::plan::{Note, PlannedClaim};
use plimsoll_model::snapshot::Snapshot;

/// A remark for each pool and label of which some claim asks for fewer values than its pool.
pub(crate) fn notes(snapshot: &Snapshot, claims: &[PlannedClaim]) -> Vec<Note> {
    // The least that a claim keeps, and on how many claims the minimum is lower than the pool's.
    let mut lowered: BTreeMap<(&PoolName, &LabelKey), (u32, u32, usize)> = BTreeMap::new();
    for claim in claims {
        let Some(pool) = snapshot.pool(claim.pool.as_str()) else {
            continue;
        };
        for asked in &pool.requirements {
            let own = claim.requirements.get(asked.key().as_str());
            let kept = own.and_then(Requirement::min_values).unwrap_or(0);
            if let Some(wanted) = asked.min_values().filter(|wanted| kept < *wanted) {
                let entry = lowered.entry((&pool.name, asked.key()));
                let (_, least, count) = entry.or_insert((wanted, kept, 0));
                *least = kept.min(*least);
                *count += 1;
            }
        }
    }
    let note = |((pool, key), (wanted, least, count)): (
        (&PoolName, &LabelKey),
        (u32, u32, usize),
    )| {
        let text = format!(
            "minValues of {key} is lowered from {wanted} to {least} on {count} new node(s): their pods leave no more values (best effort)"
        );
        Note::of_pool(pool.clone(), text)
    };
    lowered.into_iter().map(note).collect()
}
