//! Instances.

use aws_sdk_ec2::types::{Filter, Instance as Described, InstanceStateName};
use plimsoll_api::kinds::Tags;
use plimsoll_core::time::Timestamp;
use tokio::time::sleep;

use super::batch::{Batch, WINDOW};
use super::template::tag_list;
use super::{CallError, Clients};
use crate::error::ErrorClass;
use crate::instance::Instance;

/// Entries of a list at once.
const PAGE: i32 = 1_000;
/// Instances that one question for some may name: as many as a filter takes.
const READ: usize = 200;
/// Instances that one call may end: the incumbent's number.
const END: usize = 500;
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

impl Clients {
    /// Instances with all of these tags; a tag without a value may have any.
    pub async fn instances(
        &self,
        tags: &[(&str, Option<&str>)],
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
        self.described(filters).await
    }

    /// One instance; `None` where it is no more. Those who ask at once are answered by one call.
    pub async fn instance(&self, id: &str) -> Result<Option<Instance>, CallError> {
        let (answer, is_first) = self.reads.join(id.to_owned());
        if is_first {
            let own = self.clone();
            tokio::spawn(async move { own.read_together().await });
        }
        let lost = |_| Err(CallError::unanswered(DESCRIBE));
        answer.await.unwrap_or_else(lost)
    }

    async fn read_together(self) {
        sleep(WINDOW).await;
        for asking in self.reads.take(READ) {
            let ids: Vec<String> = asking.iter().map(|(id, _)| id.clone()).collect();
            let found = self.instances_of(ids).await;
            for (id, answer) in asking {
                let own = found.as_ref().map_err(CallError::clone).map(|found| {
                    let mut found = found.iter();
                    found.find(|own| own.id == id).cloned()
                });
                // Whoever has given up waiting needs no answer.
                drop(answer.send(own));
            }
        }
    }

    /// Those of these instances that are there. Unlike a question for ids, one that filters by them does not fail for those that are not.
    async fn instances_of(&self, ids: Vec<String>) -> Result<Vec<Instance>, CallError> {
        let by_id = Filter::builder().name("instance-id").set_values(Some(ids));
        self.described(vec![by_id.build(), state_filter()]).await
    }

    async fn described(&self, filters: Vec<Filter>) -> Result<Vec<Instance>, CallError> {
        let pages = self.ec2.describe_instances().set_filters(Some(filters));
        let found = pages.into_paginator().page_size(PAGE).items().send();
        let found: Result<Vec<_>, _> = found.collect().await;
        let reservations = found.map_err(CallError::of(DESCRIBE))?.into_iter();
        let instances =
            reservations.flat_map(|reservation| reservation.instances.unwrap_or_default());
        Ok(instances.filter_map(read).collect())
    }

    /// Asks an instance to end. Those who ask at once are answered by one call.
    pub async fn terminate(&self, id: &str) -> Result<(), CallError> {
        let (answer, is_first) = self.ends.join(id.to_owned());
        if is_first {
            let own = self.clone();
            tokio::spawn(async move { own.end_together().await });
        }
        let lost = |_| Err(CallError::unanswered(TERMINATE));
        answer.await.unwrap_or_else(lost)
    }

    async fn end_together(self) {
        sleep(WINDOW).await;
        for asking in self.ends.take(END) {
            let ids: Vec<String> = asking.iter().map(|(id, _)| id.clone()).collect();
            let ended = self.end(ids).await;
            // One that may not be ended, or is no more, fails the call for all: then each is asked for by itself.
            let is_refused = ended.as_ref().is_err_and(|error| error.status.is_some());
            let by_itself = is_refused && asking.len() > 1;
            for (id, answer) in asking {
                let own = if by_itself {
                    self.end(vec![id]).await
                } else {
                    ended.clone()
                };
                let own = match own {
                    Err(error) if error.class() != ErrorClass::NotFound => Err(error),
                    _ => Ok(()),
                };
                drop(answer.send(own));
            }
        }
    }

    async fn end(&self, ids: Vec<String>) -> Result<(), CallError> {
        let end = self.ec2.terminate_instances();
        let asked = end.set_instance_ids(Some(ids)).send().await;
        asked.map(drop).map_err(CallError::of(TERMINATE))
    }

    /// Puts tags on an instance.
    pub async fn tag(&self, id: &str, tags: &Tags) -> Result<(), CallError> {
        let create = self
            .ec2
            .create_tags()
            .resources(id)
            .set_tags(Some(tag_list(tags)));
        create
            .send()
            .await
            .map(drop)
            .map_err(CallError::of("ec2:CreateTags"))
    }
}

fn state_filter() -> Filter {
    let states = THERE.iter().map(|state| state.as_str().to_owned());
    Filter::builder()
        .name("instance-state-name")
        .set_values(Some(states.collect()))
        .build()
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
        launched: instance
            .launch_time
            .and_then(|time| time.to_millis().ok())
            .map(Timestamp::from_millis),
        tags: tags
            .filter_map(|tag| Some((tag.key?, tag.value?)))
            .collect(),
    })
}
