//! Images, and the parameters that name them.

use k8s_openapi::jiff::Timestamp;

use super::network::filters;
use super::paced::Call;
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
