//! Instances that end before they have joined: looked for between what the provider says and the loop, so that people are told EC2's reason
//! before the claim goes.
//!
//! A word on the end of an instance waits while EC2 is asked why. Without such a word claims that join slowly are looked at once a minute.

use std::sync::Arc;
use std::time::Duration;

use kube::Client;
use plimsoll_api::Kind;
use plimsoll_aws::{CallError, Ec2, EndedEarly};
use plimsoll_core::engine::Input;
use plimsoll_core::ids::ProviderId;
use plimsoll_core::lifecycle::Interruption;
use plimsoll_kube::event::{Notice, Publisher};
use tokio::sync::mpsc::{Receiver, Sender};
use tokio::time::{MissedTickBehavior, interval, timeout};

/// From one look at instances that have not joined to the next; most join within one.
const EVERY: Duration = Duration::from_mins(1);
/// The longest that a word waits for the reason.
const PATIENCE: Duration = Duration::from_secs(10);
/// Reason of the event on the claim.
const REASON: &str = "InstanceEndedEarly";

/// Somebody between what the provider says and the loop.
pub(super) struct Ended {
    ec2: Arc<Ec2>,
    publisher: Publisher,
    heard: Receiver<Input>,
    say: Sender<Input>,
    /// Instances that had not joined at the last look: younger ones are left in peace.
    slow: Vec<ProviderId>,
    /// The failure that was told last: the same is told once.
    told: Option<CallError>,
}

impl Ended {
    pub(super) fn new(
        ec2: Arc<Ec2>,
        client: Client,
        heard: Receiver<Input>,
        say: Sender<Input>,
    ) -> Self {
        Self {
            ec2,
            publisher: Publisher::new(client),
            heard,
            say,
            slow: Vec::new(),
            told: None,
        }
    }

    /// Passes on what is heard; ends when nobody says or hears any more.
    pub(super) async fn follow(mut self) {
        let mut ticks = interval(EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let passed = tokio::select! {
                heard = self.heard.recv() => match heard {
                    Some(input) => self.pass(input).await,
                    None => return,
                },
                _ = ticks.tick() => self.look_at_slow().await,
            };
            if passed.is_none() {
                return;
            }
        }
    }

    /// Passes a word on, after the reason where it is on the end of an instance that has not joined; `None` once nobody listens.
    async fn pass(&mut self, input: Input) -> Option<()> {
        let ends = |says: &Interruption| {
            matches!(says, Interruption::Terminating | Interruption::Stopping)
        };
        if let Input::Interrupted(instance, says) = &input
            && ends(says)
        {
            self.look(std::slice::from_ref(instance)).await;
        }
        self.say.send(input).await.ok()
    }

    /// Looks at instances that have not joined since the last look, and says that those which have ended end.
    async fn look_at_slow(&mut self) -> Option<()> {
        let joining = self.ec2.joining();
        let slow = joining.iter().filter(|id| self.slow.contains(id));
        let slow: Vec<ProviderId> = slow.cloned().collect();
        self.slow = joining;
        if slow.is_empty() {
            return Some(());
        }
        for own in self.look(&slow).await {
            let input = Input::Interrupted(own.instance, Interruption::Terminating);
            self.say.send(input).await.ok()?;
        }
        Some(())
    }

    /// Those of these instances that have ended before they joined, which people are told.
    async fn look(&mut self, ids: &[ProviderId]) -> Vec<EndedEarly> {
        let ended = match timeout(PATIENCE, self.ec2.ended_early(ids)).await {
            Ok(Ok(ended)) => ended,
            Ok(Err(error)) => {
                if self.told.as_ref() != Some(&error) {
                    tracing::warn!(%error, "why an instance has ended cannot be read; tried again");
                    self.told = Some(error);
                }
                return Vec::new();
            }
            Err(_) => {
                tracing::warn!("EC2 does not say in time why an instance has ended; tried again");
                return Vec::new();
            }
        };
        self.told = None;
        for own in &ended {
            let (claim, instance) = (own.claim.as_str(), own.instance.as_str());
            tracing::error!(
                NodeClaim = claim,
                instance,
                reason = own.sentence,
                "instance has ended before it joined"
            );
            let words = format!("its instance has ended before it joined: {}", own.sentence);
            let notice = Notice::warning(Kind::NodeClaim, "", claim, REASON, words);
            if let Err(error) = self.publisher.publish(&notice).await {
                tracing::warn!(%error, reason = REASON, "event not published");
            }
        }
        ended
    }
}
