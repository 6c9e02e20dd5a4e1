//! A launch: claims that ask for the same, in one call, under one token.
//!
//! The token and the number of claims are written on each of them before the call, so that a later process, after a crash or a
//! lost answer, repeats the same call instead of making another. Once a launch has ended for a claim without an instance, the next
//! one is another attempt, with a token of its own.

use std::collections::BTreeSet;
use std::sync::Arc;

use plimsoll_base::fixed_hash::hash_of;
use plimsoll_base::ids::{LaunchToken, ProviderId, Uid};
use plimsoll_base::labels::Labels;
use serde::{Deserialize, Serialize};

use super::{LaunchedInstance, Reason};
use crate::NodeClaim;
use crate::catalogue::OfferingKey;
use crate::plan::LaunchOption;

/// Annotation of a claim with the token of its launch.
pub const LAUNCH_TOKEN_ANNOTATION: &str = "plimsoll.dev/launch-token";
/// Annotation of a claim with the number of claims that are launched under its token.
pub const LAUNCH_BATCH_ANNOTATION: &str = "plimsoll.dev/launch-batch";

/// The launch that a claim takes part in, as it is written on it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaunchBatch {
    /// Token of the launch.
    pub token: LaunchToken,
    /// Number of claims that are launched under it, at least one.
    pub size: usize,
}

impl LaunchBatch {
    /// The batch of claims with these uids, in any order, that ask for the same ([`launch_digest`]), at an attempt from 0.
    pub fn new<'a>(uids: impl IntoIterator<Item = &'a Uid>, digest: u64, attempt: u32) -> Self {
        let uids: BTreeSet<&Uid> = uids.into_iter().collect();
        let number = hash_of(&(&uids, digest, attempt));
        Self {
            token: LaunchToken::from(format!("{number:016x}-{attempt}")),
            size: uids.len(),
        }
    }

    /// The batch written on a claim; `None` where there is none, or none that makes sense.
    pub fn of(claim: &NodeClaim) -> Option<Self> {
        let token = claim.annotations.get(LAUNCH_TOKEN_ANNOTATION)?;
        let size = claim.annotations.get(LAUNCH_BATCH_ANNOTATION)?;
        Some(Self {
            token: LaunchToken::from(Arc::clone(token)),
            size: size.parse().ok().filter(|size| *size > 0)?,
        })
    }

    /// Number of the attempt, from 0; 0 where the token does not say.
    pub fn attempt(&self) -> u32 {
        let attempt = self.token.as_str().rsplit_once('-');
        attempt.map_or(0, |(_, attempt)| attempt.parse().unwrap_or(0))
    }

    /// The batch as annotations.
    pub fn to_annotations(&self) -> Labels {
        let size = Arc::from(self.size.to_string());
        [
            (LAUNCH_TOKEN_ANNOTATION, self.token.clone().into()),
            (LAUNCH_BATCH_ANNOTATION, size),
        ]
        .map(|(key, value)| (Arc::from(key), value))
        .into()
    }
}

/// Instances that are asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LaunchRequest {
    /// Token, and the number of instances that are launched under it in all.
    pub batch: LaunchBatch,
    /// Claims whose instance is not known yet, by uid: alike in pool, class, requirements, labels and taints. At least one, and at
    /// most as many as the batch has.
    pub claims: Vec<Arc<NodeClaim>>,
    /// Instances of this launch that other claims have.
    pub taken: BTreeSet<ProviderId>,
    /// The ways to buy each of them, best first; at most 60.
    pub options: Vec<LaunchOption>,
}

/// Outcome of a launch.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LaunchAnswer {
    /// Outcome for each claim of the request, in its order.
    pub claims: Vec<ClaimLaunch>,
    /// Offerings that were found exhausted on the way, whether or not others gave instances.
    pub exhausted: Vec<OfferingKey>,
}

/// Outcome of a launch for one of its claims.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ClaimLaunch {
    /// It has an instance.
    Instance(Box<LaunchedInstance>),
    /// It has none, and why.
    Refused(Reason),
    /// It has none, as far as was looked ([`CloudCall::Find`](super::CloudCall::Find)).
    Absent,
    /// It may have one: asked again.
    Unknown,
}

/// Digest of all that a launch of a claim asks for, bought in one of these ways: claims with equal ones differ in number alone.
pub fn launch_digest(claim: &NodeClaim, options: &[LaunchOption]) -> u64 {
    let offerings: Vec<OfferingKey> = options.iter().map(LaunchOption::offering).collect();
    let taints = (&claim.taints, &claim.startup_taints);
    let selected = (&claim.labels, &claim.requirements);
    hash_of(&(&claim.pool, &claim.class, selected, taints, offerings))
}

/// Digest of the instance that a claim asks for, in whatever way it is bought.
pub fn machine_digest(claim: &NodeClaim) -> u64 {
    let taints = (&claim.taints, &claim.startup_taints);
    let selected = (&claim.labels, &claim.requirements);
    hash_of(&(&claim.pool, &claim.class, selected, taints))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batch(uids: &[&str], digest: u64, attempt: u32) -> LaunchBatch {
        let uids: Vec<Uid> = uids.iter().map(|uid| Uid::from(*uid)).collect();
        LaunchBatch::new(&uids, digest, attempt)
    }

    #[test]
    fn a_token_tells_claims_request_and_attempt_apart_and_no_order() {
        let own = batch(&["a", "b"], 1, 0);
        assert_eq!(own, batch(&["b", "a"], 1, 0));
        assert_eq!(own.size, 2);
        for other in [
            batch(&["a", "c"], 1, 0),
            batch(&["a"], 1, 0),
            batch(&["a", "b"], 2, 0),
            batch(&["a", "b"], 1, 1),
        ] {
            assert_ne!(own.token, other.token);
        }
        assert_eq!(batch(&["a"], 1, 12).attempt(), 12);
    }
}
