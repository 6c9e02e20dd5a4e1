//! Volumes attached to nodes, by node: the end of an instance waits for them.

use std::sync::Arc;

use plimsoll_base::ids::NodeName;
use plimsoll_model::{Version, VolumeAttachment};

use super::Cluster;

impl Cluster {
    /// The volumes attached to a node, by name of the attachment.
    pub fn attached_to(&self, node: &NodeName) -> impl Iterator<Item = &Arc<VolumeAttachment>> {
        let names = self.attached.get(node).into_iter().flatten();
        names.filter_map(|name| self.stores.attachments.get(name))
    }

    pub(super) fn apply_attachment(
        &mut self,
        attachment: &Arc<VolumeAttachment>,
        version: Version,
    ) -> bool {
        let attachments = &mut self.stores.attachments;
        let Some(before) = attachments.apply(Arc::clone(attachment), version) else {
            return false;
        };
        if let Some(before) = before {
            self.unindex_attachment(&before);
        }
        let names = self.attached.entry(attachment.node.clone()).or_default();
        names.insert(Arc::clone(&attachment.name));
        self.touch_by_attachment(&attachment.node);
        true
    }

    pub(super) fn remove_attachment(&mut self, name: &Arc<str>, version: Version) -> bool {
        let Some(attachment) = self.stores.attachments.remove(name, version) else {
            return false;
        };
        self.unindex_attachment(&attachment);
        true
    }

    fn unindex_attachment(&mut self, attachment: &VolumeAttachment) {
        let VolumeAttachment { name, node, .. } = attachment;
        if let Some(names) = self.attached.get_mut(node) {
            names.remove(name);
            if names.is_empty() {
                self.attached.remove(node);
            }
        }
        self.touch_by_attachment(node);
    }

    /// A volume came to a node or left it: of use only where the node goes.
    fn touch_by_attachment(&mut self, node: &NodeName) {
        if self.is_orphan(node) {
            self.touched.orphans.insert(node.clone());
        } else if self.is_deleting(node) {
            let claim = self.claim_on(node).map(|claim| claim.name.clone());
            self.touched.claims_of_pods.extend(claim);
        }
    }
}
