//! Images, and the parameters that name them. What was answered lately is not asked again.

use std::collections::BTreeSet;

use k8s_openapi::jiff::Timestamp;

use super::network::filters;
use super::paced::Call;
use super::{CallError, Clients};
use crate::error::ErrorClass;
use crate::resolve::Query;
use crate::resolve::alias::AliasParameter;
use crate::resolve::images::Image;

/// Entries of a list at once.
const PAGE: i32 = 1_000;

impl Clients {
    /// Images that a query of a class finds, deprecated ones among them. `latest` has the names of parameters that have named some of them and
    /// may come to name others: they are read again once none but images that are deprecated or gone are left of them.
    pub(crate) async fn images_of(
        &self,
        class: &str,
        query: &Query,
        latest: &BTreeSet<String>,
        now: Timestamp,
    ) -> Result<Vec<Image>, CallError> {
        if let Some(known) = self.kept.images(class, query, now) {
            return Ok(known);
        }
        let found = self.images(query).await?;
        let moves = !latest.is_empty();
        self.kept.keep_images((class, query), &found, moves, now);
        Ok(found)
    }

    /// Parameters of these names whose images are not among those that were found, or deprecated, are read again.
    pub(crate) fn forget_outdated(
        &self,
        latest: &BTreeSet<String>,
        found: &[Image],
        now: Timestamp,
    ) {
        self.kept.forget_outdated(latest, found, now);
    }

    /// Value of a parameter that AWS publishes; `None` where it has not.
    pub(crate) async fn published_parameter(
        &self,
        parameter: &AliasParameter,
        now: Timestamp,
    ) -> Result<Option<String>, CallError> {
        let name = &parameter.name;
        if let Some(known) = self.kept.parameter(name, now) {
            return Ok(known.value);
        }
        let value = self.parameter(name).await?;
        self.kept.published(name, value.as_ref(), now);
        Ok(value)
    }

    /// Value of a parameter of the user's, by name or ARN; `None` where there is none, which is asked again.
    pub(crate) async fn own_parameter(
        &self,
        name: &str,
        now: Timestamp,
    ) -> Result<Option<String>, CallError> {
        if let Some(known) = self.kept.parameter(name, now) {
            return Ok(known.value);
        }
        let value = self.parameter(name).await?;
        if let Some(value) = &value {
            self.kept.own(name, value, now);
        }
        Ok(value)
    }

    async fn images(&self, query: &Query) -> Result<Vec<Image>, CallError> {
        let owners = (!query.owners().is_empty()).then(|| query.owners().to_vec());
        let ask = self.ec2.describe_images().set_filters(Some(filters(query)));
        let ask = ask.set_owners(owners).include_deprecated(true);
        let ask = ask.max_results(PAGE);
        let pages = self.pages(
            Call::read("ec2:DescribeImages"),
            |token| ask.clone().set_next_token(token).send(),
            |page| page.next_token.as_deref(),
        );
        let found = pages.await?.into_iter();
        let found = found.flat_map(|page| page.images.unwrap_or_default());
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
        Ok(found.filter_map(read).collect())
    }

    async fn parameter(&self, name: &str) -> Result<Option<String>, CallError> {
        let asked = self.ssm.get_parameter().name(name).send().await;
        match asked.map_err(CallError::of("ssm:GetParameter")) {
            Ok(answer) => Ok(answer.parameter.and_then(|parameter| parameter.value)),
            Err(error) if error.class() == ErrorClass::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }
}
