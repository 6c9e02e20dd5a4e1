//! Changes of the policies that decide, as the loop that asks for decisions hears of them.

use std::sync::Arc;

use plimsoll_engine::Input;
use tokio::sync::{Notify, watch};

/// Changes of policies. Clones are one.
#[derive(Clone, Debug)]
pub struct PolicyChanges(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    changed: Notify,
    replan: Notify,
    /// Seen by the tasks of all Policies, whose shares of the pools may be others now.
    tasks: watch::Sender<()>,
}

impl Default for PolicyChanges {
    fn default() -> Self {
        Self(Arc::new(Inner {
            changed: Notify::new(),
            replan: Notify::new(),
            tasks: watch::Sender::new(()),
        }))
    }
}

impl PolicyChanges {
    /// Other policies decide from now on.
    pub(super) fn changed(&self) {
        self.0.changed.notify_one();
        self.0.tasks.send_replace(());
    }

    /// A policy that failed, and without whose answer nothing is bought, may answer now.
    pub(super) fn replan(&self) {
        self.0.replan.notify_one();
    }

    /// Changes from now on, for the task of a Policy.
    pub(super) fn subscribe(&self) -> watch::Receiver<()> {
        self.0.tasks.subscribe()
    }

    /// The input by which the engine learns of the next change. Changes that come before it is awaited count as one, and none is lost if the wait is given up.
    pub(crate) async fn next(&self) -> Input {
        tokio::select! {
            () = self.0.changed.notified() => Input::PoliciesChanged,
            () = self.0.replan.notified() => Input::Replan,
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    #[tokio::test]
    async fn changes_before_they_are_awaited_are_one_and_are_not_lost() {
        let changes = PolicyChanges::default();
        let clone = changes.clone();
        assert_eq!(changes.next().now_or_never(), None);
        clone.changed();
        clone.changed();
        assert_eq!(changes.next().now_or_never(), Some(Input::PoliciesChanged));
        assert_eq!(changes.next().now_or_never(), None);
        clone.replan();
        assert_eq!(changes.next().now_or_never(), Some(Input::Replan));
    }
}
