//! Images, and the parameters that name them.

use k8s_openapi::jiff::Timestamp;

use super::network::filters;
use super::{CallError, Clients};
use crate::error::ErrorClass;
use crate::resolve::Query;
use crate::resolve::images::Image;

/// Entries of a list at once.
const PAGE: i32 = 1_000;

impl Clients {
    /// Images that a query finds, deprecated ones among them.
    pub async fn images(&self, query: &Query) -> Result<Vec<Image>, CallError> {
        let owners = (!query.owners.is_empty()).then(|| query.owners.clone());
        let pages = self.ec2.describe_images().set_filters(Some(filters(query)));
        let pages = pages.set_owners(owners).include_deprecated(true);
        let found = pages.into_paginator().page_size(PAGE).items().send();
        let found: Result<Vec<_>, _> = found.collect().await;
        let found = found.map_err(CallError::of("ec2:DescribeImages"))?;
        let time = |text: Option<String>| text.and_then(|text| text.parse::<Timestamp>().ok());
        let read = |image: aws_sdk_ec2::types::Image| {
            Some(Image {
                id: image.image_id?,
                name: image.name.unwrap_or_default(),
                architecture: image.architecture?.as_str().to_owned(),
                created: time(image.creation_date),
                deprecated: time(image.deprecation_time),
            })
        };
        Ok(found.into_iter().filter_map(read).collect())
    }

    /// Value of a parameter, by name or ARN; `None` where there is none.
    pub async fn parameter(&self, name: &str) -> Result<Option<String>, CallError> {
        let asked = self.ssm.get_parameter().name(name).send().await;
        match asked.map_err(CallError::of("ssm:GetParameter")) {
            Ok(answer) => Ok(answer.parameter.and_then(|parameter| parameter.value)),
            Err(error) if error.class() == ErrorClass::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }
}
