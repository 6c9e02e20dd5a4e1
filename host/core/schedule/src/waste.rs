//! The unrequested part of what a plan buys: the cpu and memory of new nodes beyond their pods and daemons.
//!
//! Every claim counts as the instance that the plan counts on; what the system keeps for itself is not the pods' to use and
//! does not count.

use plimsoll_base::resources::{ResourceName, Resources};
use plimsoll_model::plan::PlannedClaim;
use plimsoll_model::snapshot::Snapshot;
use serde::{Deserialize, Serialize};

/// Shares of what new nodes can give pods that no pod requests, in thousandths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waste {
    /// Of cpu.
    pub cpu: i64,
    /// Of memory.
    pub memory: i64,
}

/// Unused share of the capacity of some claims together, in permille; 0 where there are none.
pub fn waste<'p>(snapshot: &Snapshot, claims: impl IntoIterator<Item = &'p PlannedClaim>) -> Waste {
    let (mut asked, mut there) = (Resources::new(), Resources::new());
    for claim in claims {
        if let Some(allocatable) = allocatable(snapshot, claim) {
            asked.add(&claim.requests);
            there.add(&allocatable);
        }
    }
    let share = |name: ResourceName| {
        let (asked, there) = (asked.get(&name), there.get(&name));
        let unused = i128::from(there.saturating_sub(asked).max(0));
        let whole = i128::from(there.max(1));
        i64::try_from((unused * 1000 + whole / 2) / whole).unwrap_or(0)
    };
    Waste {
        cpu: share(ResourceName::Cpu),
        memory: share(ResourceName::Memory),
    }
}

/// Allocatable resources of the instance that a claim counts on; `None` where the catalogue does not have it.
fn allocatable(snapshot: &Snapshot, claim: &PlannedClaim) -> Option<Resources> {
    let option = claim.chosen()?;
    let sold = snapshot
        .catalogues
        .of(&claim.class)
        .offering(&option.offering())?;
    Some(sold.resources().allocatable)
}
