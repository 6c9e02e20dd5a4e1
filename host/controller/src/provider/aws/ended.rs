//! Instances that end before they have joined: looked for between what the provider says and the loop, so that people are told EC2's reason
//! before the claim goes.
//!
//! A word on the end of an instance waits while EC2 is asked why. Without such a word claims that join slowly are looked at once a minute.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use plimsoll_api::Kind;
use plimsoll_aws::{CallError, Ec2, EndedEarly};
use plimsoll_base::event_reason::EventReason;
use plimsoll_base::ids::ProviderId;
use plimsoll_engine::Input;
use plimsoll_kube::event::Notice;
use plimsoll_lifecycle::Interruption;
use tokio::sync::mpsc::{Receiver, Sender};
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval, timeout};

use crate::publish::Notices;

/// From one look at instances that have not joined to the next; most join within one.
const EVERY: Duration = Duration::from_mins(1);
/// The longest that a word waits for the reason.
const PATIENCE: Duration = Duration::from_secs(10);

/// Words that are looked at together.
const TOGETHER: usize = 100;

/// Somebody between what the provider says and the loop. Nothing but a word that waits for its reason waits.
pub(super) struct Ended {
    ec2: Arc<Ec2>,
    teller: Arc<Teller>,
    heard: Receiver<Input>,
    say: Sender<Input>,
    /// Instances that had not joined at the last look: younger ones are left in peace.
    slow: BTreeSet<ProviderId>,
    /// Looks that are under way.
    looking: JoinSet<()>,
}

impl Ended {
    pub(super) fn new(
        ec2: Arc<Ec2>,
        notices: Notices,
        heard: Receiver<Input>,
        say: Sender<Input>,
    ) -> Self {
        let teller = Teller {
            ec2: Arc::clone(&ec2),
            notices,
            told: Mutex::default(),
        };
        Self {
            ec2,
            teller: Arc::new(teller),
            heard,
            say,
            slow: BTreeSet::new(),
            looking: JoinSet::new(),
        }
    }

    /// Passes on what is heard; ends when sender or receiver is gone.
    pub(super) async fn follow(mut self) {
        let mut ticks = interval(EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut words = Vec::new();
        loop {
            tokio::select! {
                count = self.heard.recv_many(&mut words, TOGETHER) => {
                    let words = words.drain(..);
                    if count == 0 || self.pass(words.collect()).await.is_none() {
                        return;
                    }
                }
                _ = ticks.tick() => self.look_at_slow(),
                Some(_) = self.looking.join_next() => {}
            }
        }
    }

    /// Passes words on, those on the end of instances that have not joined after the reason; `None` once the receiver is gone.
    async fn pass(&mut self, words: Vec<Input>) -> Option<()> {
        let joining = self.ec2.joining();
        let (mut waiting, mut asked) = (Vec::new(), BTreeSet::new());
        for input in words {
            match &input {
                Input::Interrupted(
                    instance,
                    Interruption::Terminating | Interruption::Stopping,
                ) if joining.contains(instance) => {
                    asked.insert(instance.clone());
                    waiting.push(input);
                }
                _ => self.say.send(input).await.ok()?,
            }
        }
        if asked.is_empty() {
            return Some(());
        }
        let (teller, say) = (Arc::clone(&self.teller), self.say.clone());
        self.looking.spawn(async move {
            teller.look(&asked).await;
            send_all(&say, waiting).await;
        });
        Some(())
    }

    /// Looks at instances that have not joined since the last look, and says that those which have ended end.
    fn look_at_slow(&mut self) {
        let joining = self.ec2.joining();
        let slow: BTreeSet<ProviderId> = joining.intersection(&self.slow).cloned().collect();
        self.slow = joining;
        if slow.is_empty() {
            return;
        }
        let (teller, say) = (Arc::clone(&self.teller), self.say.clone());
        self.looking.spawn(async move {
            let ended = teller.look(&slow).await.into_iter();
            let says =
                |own: EndedEarly| Input::Interrupted(own.instance, Interruption::Terminating);
            send_all(&say, ended.map(says).collect()).await;
        });
    }
}

/// Sends words as long as somebody listens.
async fn send_all(say: &Sender<Input>, words: Vec<Input>) {
    for input in words {
        if say.send(input).await.is_err() {
            return;
        }
    }
}

/// Somebody who asks EC2 why instances have ended, and tells people.
struct Teller {
    ec2: Arc<Ec2>,
    notices: Notices,
    /// The failure that was told last: the same is told once.
    told: Mutex<Option<CallError>>,
}

impl Teller {
    /// Those of these instances that have ended before they joined, which people are told.
    async fn look(&self, ids: &BTreeSet<ProviderId>) -> Vec<EndedEarly> {
        let ended = match timeout(PATIENCE, self.ec2.ended_early(ids)).await {
            Ok(Ok(ended)) => ended,
            Ok(Err(error)) => {
                let again = Some(error.clone());
                if self.replace_told(again.clone()) != again {
                    tracing::warn!(%error, "why an instance has ended cannot be read; tried again");
                }
                return Vec::new();
            }
            Err(_) => {
                tracing::warn!("EC2 does not say in time why an instance has ended; tried again");
                return Vec::new();
            }
        };
        self.replace_told(None);
        for own in &ended {
            self.tell(own);
        }
        ended
    }

    /// The failure that was told last, before this one.
    fn replace_told(&self, error: Option<CallError>) -> Option<CallError> {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut told, error)
    }

    fn tell(&self, own: &EndedEarly) {
        let (claim, instance) = (own.claim.as_str(), own.instance.as_str());
        tracing::error!(
            NodeClaim = claim,
            instance,
            reason = own.sentence,
            "instance has ended before it joined"
        );
        let words = format!("its instance has ended before it joined: {}", own.sentence);
        let reason = EventReason::InstanceEndedEarly;
        let notice = Notice::new(Kind::NodeClaim, ("", claim), reason, words);
        self.notices.publish(notice);
    }
}
