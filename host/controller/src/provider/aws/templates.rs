//! Unused launch templates: deleted a minute or two after the last launch by them, those of processes before this one
//! among them.

use std::sync::Arc;
use std::time::{Duration, Instant};

use plimsoll_aws::Ec2;
use tokio::time::{MissedTickBehavior, interval};

/// From one look at them to the next: Karpenter's time.
const EVERY: Duration = Duration::from_mins(1);

/// Deletes unused templates for ever.
pub(super) async fn tidy(ec2: Arc<Ec2>) {
    let mut ticks = interval(EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut are_found = false;
    loop {
        ticks.tick().await;
        if !are_found {
            match ec2.find_templates().await {
                Ok(()) => are_found = true,
                Err(error) => {
                    tracing::warn!(%error, "launch templates of earlier processes are not known; tried again");
                }
            }
        }
        if let Err(error) = ec2.delete_unused_templates(Instant::now()).await {
            tracing::warn!(%error, "an unused launch template is not deleted; tried again");
        }
    }
}
