//! All objects of a cluster that decisions read, as they are at one time.

use kube::api::ListParams;
use kube::{Client, Error};
use plimsoll_api::Kind;
use serde_json::Value;
use thiserror::Error;

use crate::resource::api;

/// Objects that are listed at once.
const PAGE: u32 = 500;

/// A kind that could not be listed.
#[derive(Debug, Error)]
pub enum ListError {
    /// There is no right to.
    #[error("no right to list {plural} of {api_version}; expected the verb list on them")]
    Forbidden {
        /// The plural of the kind.
        plural: &'static str,
        /// Group and version.
        api_version: String,
    },
    /// The API server gave no list.
    #[error("{plural} of {api_version} cannot be listed")]
    Unlisted {
        /// The plural of the kind.
        plural: &'static str,
        /// Group and version.
        api_version: String,
        /// The API server's error.
        #[source]
        source: Box<Error>,
    },
}

/// Objects of all kinds as `kubectl get -o json` shows them, kind by kind; those that the API server does not serve have none.
pub async fn list_all(client: &Client) -> Result<Vec<Value>, ListError> {
    let mut all = Vec::new();
    for kind in Kind::ALL {
        all.extend(list(client, *kind).await?);
    }
    Ok(all)
}

async fn list(client: &Client, kind: Kind) -> Result<Vec<Value>, ListError> {
    let objects = api(client, kind);
    let mut page = ListParams::default().limit(PAGE);
    let mut listed = Vec::new();
    loop {
        let answer = match objects.list(&page).await {
            Ok(answer) => answer,
            Err(Error::Api(status)) if status.code == 404 => return Ok(listed),
            Err(error) => return Err(failed(kind, error)),
        };
        for mut object in answer.items {
            object.metadata.managed_fields = None;
            let mut value = serde_json::to_value(object)
                .map_err(|error| failed(kind, Error::SerdeError(error)))?;
            // Items of a list do not say what they are.
            value["apiVersion"] = kind.api_version().into();
            value["kind"] = kind.as_str().into();
            listed.push(value);
        }
        match answer.metadata.continue_.filter(|more| !more.is_empty()) {
            Some(more) => page.continue_token = Some(more),
            None => return Ok(listed),
        }
    }
}

fn failed(kind: Kind, error: Error) -> ListError {
    let (plural, api_version) = (kind.plural(), kind.api_version());
    match error {
        Error::Api(status) if status.code == 403 => ListError::Forbidden {
            plural,
            api_version,
        },
        source => ListError::Unlisted {
            plural,
            api_version,
            source: Box::new(source),
        },
    }
}
