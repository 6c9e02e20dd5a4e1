//! How the interruption queue stands, for classes to tell; and the word that they are to be looked at for it.

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

    /// Ends once something has come up that classes are to be looked at for. Nothing is lost if the wait is given up.
    pub async fn news(&self) {
        self.news.notified().await;
    }
}
