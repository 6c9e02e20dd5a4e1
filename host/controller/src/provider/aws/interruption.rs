//! The queue's word on instances: those that will be taken back are told, and a message is deleted once their claims are seen to go.
//!
//! A message that is not deleted is handed out again, to whoever asks then: so nothing is lost with a process, and a claim that is told twice
//! goes once.

use std::sync::Arc;
use std::time::Duration;

use plimsoll_aws::{CallError, Ec2, ErrorClass, Queue, Received, parse_message};
use plimsoll_core::engine::Input;
use plimsoll_core::ids::ProviderId;
use tokio::sync::mpsc::Sender;
use tokio::time::sleep;

use crate::Telemetry;
use crate::metrics::families::{
    INTERRUPTION_DELETED, INTERRUPTION_RECEIVED, INTERRUPTION_UNUSABLE,
};

/// After a question that failed.
const AGAIN: Duration = Duration::from_secs(5);

/// Follows a queue; ends when nobody listens any more.
pub(super) async fn follow(ec2: Arc<Ec2>, name: String, say: Sender<Input>, telemetry: Telemetry) {
    let mut queue: Option<Queue> = None;
    // The failure that was told last: the same is told once.
    let mut told: Option<CallError> = None;
    loop {
        match ask(&ec2, &name, &mut queue).await {
            Ok(messages) => {
                told = None;
                telemetry.set(INTERRUPTION_UNUSABLE.name, &[], 0.0);
                for message in messages {
                    if say_of(&ec2, queue.as_ref(), &message, &say, &telemetry)
                        .await
                        .is_none()
                    {
                        return;
                    }
                }
            }
            Err(error) => {
                telemetry.set(INTERRUPTION_UNUSABLE.name, &[], 1.0);
                if told.as_ref() != Some(&error) {
                    let hint = match error.class() {
                        ErrorClass::NotFound => {
                            "; expected a queue of this name in this region and account, or no INTERRUPTION_QUEUE"
                        }
                        _ => "",
                    };
                    tracing::error!(queue = name, %error, "the interruption queue cannot be asked; tried again{hint}");
                    told = Some(error);
                }
                queue = None;
                sleep(AGAIN).await;
            }
        }
    }
}

async fn ask(ec2: &Ec2, name: &str, queue: &mut Option<Queue>) -> Result<Vec<Received>, CallError> {
    let known = match queue {
        Some(known) => known,
        None => queue.insert(ec2.clients().queue(name).await?),
    };
    ec2.clients().receive(known).await
}

/// Tells what a message says, and deletes it where nothing is left to be done; `None` once nobody listens.
async fn say_of(
    ec2: &Ec2,
    queue: Option<&Queue>,
    message: &Received,
    say: &Sender<Input>,
    telemetry: &Telemetry,
) -> Option<()> {
    let ending = match parse_message(&message.body) {
        Ok(read) => {
            telemetry.count(
                INTERRUPTION_RECEIVED.name,
                &[("message_type", read.kind.label())],
            );
            let is_end = read.kind.ends_instance();
            read.instances.into_iter().filter(|_| is_end).collect()
        }
        Err(error) => {
            telemetry.count(INTERRUPTION_RECEIVED.name, &[("message_type", "malformed")]);
            tracing::warn!(%error, "a message of the interruption queue is deleted");
            Vec::new()
        }
    };
    let staying: Vec<ProviderId> = ec2.staying(&ending);
    for instance in &staying {
        say.send(Input::Interrupted(instance.clone())).await.ok()?;
    }
    if !staying.is_empty() {
        return Some(());
    }
    if let Some(queue) = queue {
        match ec2.clients().delete_message(queue, &message.receipt).await {
            Ok(()) => telemetry.count(INTERRUPTION_DELETED.name, &[]),
            Err(error) => {
                tracing::warn!(%error, "a message of the interruption queue is not deleted");
            }
        }
    }
    Some(())
}
