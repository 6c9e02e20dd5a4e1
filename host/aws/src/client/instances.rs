//! Instances.

use std::time::Instant;

use aws_sdk_ec2::types::{Filter, Instance as Described, InstanceStateName};
use plimsoll_api::kinds::Tags;
use plimsoll_base::time::Timestamp;
use tokio::time::sleep;

use super::batch::{Asking, Batch, WINDOW};
use super::buckets::{ENDED, Urgency};
use super::paced::{Call, TRIES};
use super::template::tag_list;
use super::{CallError, Clients};
use crate::ended::StateReason;
use crate::error::ErrorClass;
use crate::instance::Instance;

/// Entries of a list at once.
const PAGE: i32 = 1_000;
/// Instances that one question for some may name: as many as a filter takes.
const READ: usize = 200;
/// Instances that one call may end: Karpenter's number.
const END: usize = 500;
/// Instances that one call ends where tokens are short: as many as have theirs in a second.
const END_SLOWLY: usize = 20;
const DESCRIBE: &str = "ec2:DescribeInstances";
const TERMINATE: &str = "ec2:TerminateInstances";
/// States of instances that there are; one that is terminated is no more.
const THERE: [InstanceStateName; 5] = [
    InstanceStateName::Pending,
    InstanceStateName::Running,
    InstanceStateName::Stopping,
    InstanceStateName::Stopped,
    InstanceStateName::ShuttingDown,
];

/// Those who ask about one instance.
pub(super) type Reads = Batch<String, Result<Option<Instance>, CallError>>;
/// Those who ask for the end of one.
pub(super) type Ends = Batch<String, Result<(), CallError>>;
type AskingRead = Asking<String, Result<Option<Instance>, CallError>>;
type AskingEnd = Asking<String, Result<(), CallError>>;

impl Clients {
    /// Instances with all of these tags; a tag without a value may have any.
    pub async fn instances(
        &self,
        tags: &[(&str, Option<&str>)],
        urgency: Urgency,
    ) -> Result<Vec<Instance>, CallError> {
        let filter = |(key, value): &(&str, Option<&str>)| match value {
            Some(value) => Filter::builder()
                .name(format!("tag:{key}"))
                .values(*value)
                .build(),
            None => Filter::builder().name("tag-key").values(*key).build(),
        };
        let mut filters: Vec<Filter> = tags.iter().map(filter).collect();
        filters.push(state_filter());
        let found = self
            .described(Call::new(DESCRIBE, urgency), filters)
            .await?;
        Ok(found.into_iter().filter_map(read).collect())
    }

    /// Those of these instances that there are, by their ids.
    pub(crate) async fn instances_named(&self, ids: &[String]) -> Result<Vec<Instance>, CallError> {
        let mut found = Vec::new();
        for ids in ids.chunks(READ) {
            let by_id = Filter::builder().name("instance-id");
            let by_id = by_id.set_values(Some(ids.to_vec())).build();
            let call = Call::read(DESCRIBE);
            found.extend(self.described(call, vec![by_id, state_filter()]).await?);
        }
        Ok(found.into_iter().filter_map(read).collect())
    }

    /// One instance; `None` where it is no more. Those who ask at once, and are as urgent, are answered by one call.
    pub async fn instance(
        &self,
        id: &str,
        urgency: Urgency,
    ) -> Result<Option<Instance>, CallError> {
        let (answer, is_first) = self.reads_of(urgency).join(id.to_owned());
        if is_first {
            tokio::spawn(self.clone().read_together(urgency));
        }
        let lost = |_| Err(CallError::unanswered(DESCRIBE));
        answer.await.unwrap_or_else(lost)
    }

    fn reads_of(&self, urgency: Urgency) -> &Reads {
        match urgency {
            Urgency::Terminate => &self.reads_before_ends,
            Urgency::Launch | Urgency::Read => &self.reads,
        }
    }

    async fn read_together(self, urgency: Urgency) {
        sleep(WINDOW).await;
        loop {
            // A caller that comes before it is the call's turn is answered by it, too: fewer tokens make larger calls.
            self.buckets.turn(DESCRIBE, urgency, 1).await;
            let (asking, are_more) = self.reads_of(urgency).take(READ);
            let call = Call::due(DESCRIBE, urgency);
            tokio::spawn(self.clone().answer_reads(call, asking));
            if !are_more {
                return;
            }
        }
    }

    /// Unlike a question for ids, one that filters by them does not fail for those that are not there.
    async fn answer_reads(self, call: Call, asking: Vec<AskingRead>) {
        let by_id = Filter::builder().name("instance-id");
        let by_id = by_id.set_values(Some(ids(&asking)));
        let filters = vec![by_id.build(), state_filter()];
        let found = self.described(call, filters).await;
        let found: Result<Vec<Instance>, CallError> =
            found.map(|found| found.into_iter().filter_map(read).collect());
        for (id, answer) in asking {
            let own = found.as_ref().map_err(CallError::clone).map(|found| {
                let mut found = found.iter();
                found.find(|own| own.id == id).cloned()
            });
            // A caller that has given up needs no answer.
            drop(answer.send(own));
        }
    }

    async fn described(
        &self,
        call: Call,
        filters: Vec<Filter>,
    ) -> Result<Vec<Described>, CallError> {
        let ask = self.ec2.describe_instances().max_results(PAGE);
        let ask = ask.set_filters(Some(filters));
        let pages = self.pages(
            call,
            |token| ask.clone().set_next_token(token).send(),
            |page| page.next_token.as_deref(),
        );
        let found = pages.await?.into_iter();
        let reservations = found.flat_map(|page| page.reservations.unwrap_or_default());
        let instances = reservations.flat_map(|own| own.instances.unwrap_or_default());
        Ok(instances.collect())
    }

    /// Those of these instances that are ending or have ended, with EC2's reason; an empty one where it says none.
    pub async fn ended(&self, ids: Vec<String>) -> Result<Vec<(String, StateReason)>, CallError> {
        let by_id = Filter::builder().name("instance-id").set_values(Some(ids));
        let found = self
            .described(Call::read(DESCRIBE), vec![by_id.build()])
            .await?;
        Ok(found.into_iter().filter_map(end).collect())
    }

    /// Asks an instance to end. Those who ask at once are answered by one call.
    pub async fn terminate(&self, id: &str) -> Result<(), CallError> {
        let (answer, is_first) = self.ends.join(id.to_owned());
        if is_first {
            tokio::spawn(self.clone().end_together());
        }
        let lost = |_| Err(CallError::unanswered(TERMINATE));
        answer.await.unwrap_or_else(lost)
    }

    async fn end_together(self) {
        sleep(WINDOW).await;
        loop {
            self.buckets.turn(TERMINATE, Urgency::Terminate, 1).await;
            let most = self.buckets.left(ENDED).clamp(END_SLOWLY, END);
            let (asking, are_more) = self.ends.take(most);
            tokio::spawn(self.clone().answer_ends(asking));
            if !are_more {
                return;
            }
        }
    }

    /// Ends instances by one call whose turn has come. One that may not be ended, or is no more, fails a call for all: then each half is asked
    /// for by itself. Where EC2 throttles, they are ended as slowly as it can only be for want of tokens.
    async fn answer_ends(self, asking: Vec<AskingEnd>) {
        let mut call = Call::due(TERMINATE, Urgency::Terminate);
        let mut parts = vec![(asking, 1)];
        while let Some((mut part, tries)) = parts.pop() {
            let ended = self.end(call, ids(&part)).await;
            call = Call::new(TERMINATE, Urgency::Terminate);
            let (size, tries) = match &ended {
                Err(error) if error.class() == ErrorClass::Throttled && tries < TRIES => {
                    (END_SLOWLY, tries + 1)
                }
                Err(error) if is_about_an_instance(error) && part.len() > 1 => {
                    (part.len().div_ceil(2), tries)
                }
                _ => {
                    let ended = match ended {
                        Err(error) if error.class() != ErrorClass::NotFound => Err(error),
                        _ => Ok(()),
                    };
                    for (_, answer) in part {
                        drop(answer.send(ended.clone()));
                    }
                    continue;
                }
            };
            while part.len() > size {
                let rest = part.split_off(size);
                parts.push((std::mem::replace(&mut part, rest), tries));
            }
            parts.push((part, tries));
        }
    }

    async fn end(&self, call: Call, ids: Vec<String>) -> Result<(), CallError> {
        let tokens = u32::try_from(ids.len()).unwrap_or(u32::MAX);
        self.buckets.turn(ENDED, Urgency::Terminate, tokens).await;
        let (end, sent) = (self.ec2.terminate_instances(), Instant::now());
        let ended = self.paced_once(call, end.set_instance_ids(Some(ids)).send());
        let ended = ended.await.map(drop);
        if let Err(error) = &ended
            && error.class() == ErrorClass::Throttled
        {
            // Which of its two buckets is empty EC2 does not say.
            self.buckets.throttled(ENDED, sent);
        }
        ended
    }

    /// Puts tags on an instance.
    pub async fn tag(&self, id: &str, tags: &Tags) -> Result<(), CallError> {
        let create = self
            .ec2
            .create_tags()
            .resources(id)
            .set_tags(Some(tag_list(tags)));
        let call = Call::read("ec2:CreateTags");
        let tagged = self.paced(call, || create.clone().send());
        tagged.await.map(drop)
    }
}

/// EC2 has refused a call for something that it asks for, rather than for want of time or tokens.
fn is_about_an_instance(error: &CallError) -> bool {
    let class = error.class();
    error.status.is_some() && !matches!(class, ErrorClass::Throttled | ErrorClass::ServerFault)
}

fn ids<A>(asking: &[Asking<String, A>]) -> Vec<String> {
    asking.iter().map(|(id, _)| id.clone()).collect()
}

fn state_filter() -> Filter {
    let states = THERE.iter().map(|state| state.as_str().to_owned());
    Filter::builder()
        .name("instance-state-name")
        .set_values(Some(states.collect()))
        .build()
}

/// The end of an instance that is ending or has ended.
fn end(instance: Described) -> Option<(String, StateReason)> {
    let state = instance.state.and_then(|state| state.name);
    let is_ended = matches!(
        state,
        Some(InstanceStateName::ShuttingDown | InstanceStateName::Terminated)
    );
    let reason = instance.state_reason.map(|own| StateReason {
        code: own.code.unwrap_or_default(),
        message: own.message.unwrap_or_default(),
    });
    let id = instance.instance_id.filter(|_| is_ended)?;
    Some((id, reason.unwrap_or_default()))
}

fn read(instance: Described) -> Option<Instance> {
    let tags = instance.tags.unwrap_or_default().into_iter();
    let state = instance.state.and_then(|state| state.name);
    Some(Instance {
        id: instance.instance_id?,
        instance_type: instance.instance_type?.as_str().to_owned(),
        zone: instance
            .placement
            .and_then(|placement| placement.availability_zone)?,
        is_spot: instance.spot_instance_request_id.is_some(),
        is_ending: state == Some(InstanceStateName::ShuttingDown),
        image: instance.image_id,
        subnet: instance.subnet_id,
        security_groups: instance
            .security_groups
            .unwrap_or_default()
            .into_iter()
            .filter_map(|group| group.group_id)
            .collect(),
        efa: instance
            .network_interfaces
            .unwrap_or_default()
            .iter()
            .filter(|own| matches!(own.interface_type(), Some("efa" | "efa-only")))
            .map(|_| 1)
            .sum(),
        launched: instance
            .launch_time
            .and_then(|time| time.to_millis().ok())
            .map(Timestamp::from_millis),
        tags: tags
            .filter_map(|tag| Some((tag.key?, tag.value?)))
            .collect(),
    })
}
