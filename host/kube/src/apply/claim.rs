//! Writes to NodeClaims: made, changed, let go.

use kube::Error;
use kube::api::{Patch, PostParams};
use kube::core::DynamicObject;
use plimsoll_api::write::new_claim;
use plimsoll_api::{Kind, claim_refusal};
use plimsoll_base::ids::{ClaimName, Uid};
use plimsoll_base::time::Timestamp;
use plimsoll_model::NodeClaim;
use plimsoll_model::action::{Answer, ClaimChange, Finalizer};

use super::{Failure, Preconditions, Writer, answer, check, difference, is_it, is_status, ours};
use crate::FIELD_MANAGER;
use crate::resource::api;

impl Writer {
    /// A claim of that name that is there already is the one we asked for: names are made from what was decided. One that the server
    /// would refuse is not sent.
    pub(super) async fn create_claim(
        &self,
        claim: &NodeClaim,
        pool: &Uid,
    ) -> Result<Answer, Failure> {
        if let Some(refusal) = claim_refusal(claim, pool) {
            return Err(Failure::Invalid(format!(
                "NodeClaim {}: {refusal}",
                claim.name
            )));
        }
        let api = api(&self.client, Kind::NodeClaim);
        let object = serde_json::from_value(new_claim(claim, pool));
        let object: DynamicObject =
            object.map_err(|error| Failure::Answer(format!("claim {}: {error}", claim.name)))?;
        let parameters = PostParams {
            field_manager: Some(FIELD_MANAGER.to_owned()),
            ..PostParams::default()
        };
        match api.create(&parameters, &object).await {
            Ok(created) => self.claim_answer(&claim.name, created),
            Err(error) if is_status(&error, 409) => {
                answer(Kind::NodeClaim, api.get(claim.name.as_str()).await?)
            }
            Err(error) => Err(error.into()),
        }
    }

    pub(super) async fn read_claim(&self, name: &ClaimName) -> Result<Answer, Failure> {
        let api = api(&self.client, Kind::NodeClaim);
        match api.get_opt(name.as_str()).await? {
            Some(claim) => answer(Kind::NodeClaim, claim),
            None => Ok(Answer::Absent),
        }
    }

    /// Metadata first, status last: a condition says that all that belongs to it stands. A claim that is not there, or whose name
    /// another bears, holds nothing up by our finalizer.
    pub(super) async fn change_claim(
        &self,
        name: &ClaimName,
        change: &ClaimChange,
        only: Preconditions<'_>,
        now: Timestamp,
    ) -> Result<Answer, Failure> {
        let api = api(&self.client, Kind::NodeClaim);
        let seen = match self.claims.take(name, only.version) {
            Some(claim) => Some(claim),
            None => api.get_opt(name.as_str()).await?,
        };
        let mut claim = match seen {
            Some(claim) if is_it(&claim, only.uid) => claim,
            _ if change.finalizer == Finalizer::Removed => return Ok(Answer::Nothing),
            _ => return Err(Failure::Gone),
        };
        check(&claim, only.version)?;
        if let Some(patch) = difference::claim_metadata(&claim, change) {
            let patch = Patch::Merge(&patch);
            match api.patch(name.as_str(), &ours(), &patch).await {
                Ok(patched) => claim = patched,
                Err(error) => return Err(self.claim_conflict(name, only, error).await),
            }
        }
        if change.finalizer == Finalizer::Removed {
            return Ok(Answer::Nothing);
        }
        if let Some(patch) = difference::claim_status(&claim, change, now) {
            let patch = Patch::Merge(&patch);
            match api.patch_status(name.as_str(), &ours(), &patch).await {
                Ok(patched) => claim = patched,
                Err(error) => return Err(self.claim_conflict(name, only, error).await),
            }
        }
        self.claim_answer(name, claim)
    }

    /// The claim that came back, as the engine knows it, and kept for the next write.
    fn claim_answer(&self, name: &ClaimName, claim: DynamicObject) -> Result<Answer, Failure> {
        self.claims.put(name, &claim);
        answer(Kind::NodeClaim, claim)
    }

    async fn claim_conflict(
        &self,
        name: &ClaimName,
        only: Preconditions<'_>,
        error: Error,
    ) -> Failure {
        self.conflict(Kind::NodeClaim, name.as_str(), only, error)
            .await
    }
}
