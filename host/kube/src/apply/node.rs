//! Writes to Nodes: let in, labelled, tainted, let go.

use kube::api::Patch;
use plimsoll_api::Kind;
use plimsoll_core::action::{Answer, Finalizer, NodeChange};
use plimsoll_core::ids::NodeName;
use plimsoll_core::model::Version;

use super::{Failure, Writer, answer, difference, is_status, ours};
use crate::resource::api;

impl Writer {
    /// A node that is not there holds nothing up by our finalizer.
    pub(super) async fn change_node(
        &self,
        name: &NodeName,
        change: &NodeChange,
        version: Option<Version>,
    ) -> Result<Answer, Failure> {
        let api = api(&self.client, Kind::Node);
        let patch = difference::node(change, version);
        let patched = api
            .patch(name.as_str(), &ours(), &Patch::Strategic(&patch))
            .await;
        let is_release = change.finalizer == Finalizer::Removed;
        match patched {
            Ok(_) if is_release => Ok(Answer::Nothing),
            Err(error) if is_release && is_status(&error, 404) => Ok(Answer::Nothing),
            Ok(node) => answer(Kind::Node, &node),
            Err(error) => Err(error.into()),
        }
    }
}
