//! Writes to Nodes: let in, labelled, tainted, let go.

use kube::api::Patch;
use plimsoll_api::Kind;
use plimsoll_base::ids::NodeName;
use plimsoll_model::action::{Answer, Finalizer, NodeChange};

use super::{Failure, Preconditions, Writer, answer, difference, is_status, ours};
use crate::resource::api;

impl Writer {
    /// A node that is not there, or whose name another bears, holds nothing up by our finalizer.
    pub(super) async fn change_node(
        &self,
        name: &NodeName,
        change: &NodeChange,
        only: Preconditions<'_>,
    ) -> Result<Answer, Failure> {
        let api = api(&self.client, Kind::Node);
        let patch = difference::node(change, only);
        let patched = api
            .patch(name.as_str(), &ours(), &Patch::Strategic(&patch))
            .await;
        let is_release = change.finalizer == Finalizer::Removed;
        let failure = match patched {
            Ok(_) if is_release => return Ok(Answer::Nothing),
            Ok(node) => return answer(Kind::Node, node),
            Err(error) if is_status(&error, 404) => Failure::Gone,
            Err(error) => self.conflict(Kind::Node, name.as_str(), only, error).await,
        };
        match failure {
            Failure::Gone if is_release => Ok(Answer::Nothing),
            failure => Err(failure),
        }
    }
}
