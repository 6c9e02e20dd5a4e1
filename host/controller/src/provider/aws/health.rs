//! Status checks of instances, looked at every minute: nodes whose instances fail them, or for which EC2 has scheduled work, go. No queue is needed
//! for it.

use std::sync::Arc;
use std::time::Duration;

use plimsoll_aws::{Ec2, ErrorClass, Impaired};
use plimsoll_engine::Input;
use plimsoll_lifecycle::Interruption;
use tokio::sync::mpsc::Sender;
use tokio::time::{MissedTickBehavior, interval};

use crate::Telemetry;
use crate::clock::Clock;
use crate::metrics::families::INSTANCE_UNHEALTHY;

/// From one look to the next: Karpenter's time.
const EVERY: Duration = Duration::from_mins(1);

/// Follows the checks; ends when the receiver is gone, or where they may not be read.
pub(super) async fn follow(ec2: Arc<Ec2>, say: Sender<Input>, telemetry: Telemetry) {
    let mut ticks = interval(EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let (clock, mut impaired) = (Clock::default(), Impaired::default());
    loop {
        ticks.tick().await;
        let all = match ec2.clients().impairments().await {
            Ok(all) => all,
            Err(error) if error.class() == ErrorClass::Denied => {
                tracing::warn!(%error, "status checks of instances are not followed until the next start");
                return;
            }
            Err(error) => {
                tracing::warn!(%error, "status checks of instances cannot be read; tried again");
                continue;
            }
        };
        for (own, is_new) in impaired.due(all, clock.now()) {
            for instance in ec2.staying(std::slice::from_ref(&own.instance)) {
                if is_new {
                    let category = [("category", category(own.says))];
                    telemetry.count(INSTANCE_UNHEALTHY.name, &category);
                }
                let input = Input::Interrupted(instance, own.says);
                if say.send(input).await.is_err() {
                    return;
                }
            }
        }
    }
}

/// The check's name in Karpenter's metric.
const fn category(says: Interruption) -> &'static str {
    match says {
        Interruption::InstanceImpaired => "InstanceStatus",
        Interruption::SystemImpaired => "SystemStatus",
        _ => "EventStatus",
    }
}
