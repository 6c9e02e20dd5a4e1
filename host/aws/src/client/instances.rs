//! Instances.

use aws_sdk_ec2::types::{Filter, Instance as Described, InstanceStateName};
use plimsoll_api::kinds::Tags;
use plimsoll_core::time::Timestamp;

use super::template::tag_list;
use super::{CallError, Clients};
use crate::error::ErrorClass;
use crate::instance::Instance;

/// Entries of a list at once.
const PAGE: i32 = 1_000;
/// States of instances that there are; one that is terminated is no more.
const THERE: [InstanceStateName; 5] = [
    InstanceStateName::Pending,
    InstanceStateName::Running,
    InstanceStateName::Stopping,
    InstanceStateName::Stopped,
    InstanceStateName::ShuttingDown,
];

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
        let pages = self.ec2.describe_instances().set_filters(Some(filters));
        let found = pages.into_paginator().page_size(PAGE).items().send();
        let found: Result<Vec<_>, _> = found.collect().await;
        let reservations = found
            .map_err(CallError::of("ec2:DescribeInstances"))?
            .into_iter();
        let instances =
            reservations.flat_map(|reservation| reservation.instances.unwrap_or_default());
        Ok(instances.filter_map(read).collect())
    }

    /// One instance; `None` where it is no more.
    pub async fn instance(&self, id: &str) -> Result<Option<Instance>, CallError> {
        let asked = self
            .ec2
            .describe_instances()
            .instance_ids(id)
            .filters(state_filter())
            .send()
            .await;
        match asked.map_err(CallError::of("ec2:DescribeInstances")) {
            Ok(answer) => {
                let mut reservations = answer.reservations.unwrap_or_default().into_iter();
                let instances = reservations.next().and_then(|own| own.instances);
                Ok(instances.into_iter().flatten().find_map(read))
            }
            Err(error) if error.class() == ErrorClass::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Asks an instance to end.
    pub async fn terminate(&self, id: &str) -> Result<(), CallError> {
        let asked = self.ec2.terminate_instances().instance_ids(id).send().await;
        match asked.map_err(CallError::of("ec2:TerminateInstances")) {
            Err(error) if error.class() != ErrorClass::NotFound => Err(error),
            _ => Ok(()),
        }
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
