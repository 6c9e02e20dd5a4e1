//! How the interruption queue stands, for classes to tell; the word that they are to be looked at for it; and when it may be read.

use std::sync::PoisonError;

use super::{Ec2, QueueStanding};

impl Ec2 {
    /// The state of the interruption queue, as far as it is known.
    pub fn queue(&self) -> QueueStanding {
        let queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        queue.clone()
    }

    /// From now on the interruption queue stands so.
    pub fn set_queue(&self, standing: QueueStanding) {
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        if *queue != standing {
            *queue = standing;
            self.news.notify_one();
        }
    }

    /// Ends once every claim that there is was seen: until then it is not known whether a message is about one.
    pub async fn listed(&self) {
        let mut listed = self.listed.subscribe();
        // The sender is this one's own.
        let _ = listed.wait_for(|is_so| *is_so).await;
    }

    /// `true` if one of these instances was given so short a time ago that its claim may not name it yet.
    pub(crate) fn may_be_claimed(&self, ids: &[String]) -> bool {
        ids.iter().any(|id| self.unseen.may_appear(id))
    }

    /// Ends once something has come up that classes are to be looked at for. Nothing is lost if the wait is given up.
    pub async fn news(&self) {
        self.news.notified().await;
    }
}
