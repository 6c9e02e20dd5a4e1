//! All objects of a cluster that decisions read, as they are at one time.

use kube::api::ListParams;
use kube::{Client, Error};
use plimsoll_api::Kind;
use serde_json::Value;

use crate::patience::Patience;
use crate::resource::{CheckError, api, unlisted};

/// Objects that are listed at once.
const PAGE: u32 = 500;

/// Objects of all kinds as `kubectl get -o json` shows them, kind by kind; those that the API server does not serve have none.
pub async fn list_all<Tell: FnMut(&str)>(
    client: &Client,
    patience: &mut Patience<Tell>,
) -> Result<Vec<Value>, CheckError> {
    let mut all = Vec::new();
    for kind in Kind::ALL {
        all.extend(list(client, *kind, patience).await?);
    }
    Ok(all)
}

async fn list<Tell: FnMut(&str)>(
    client: &Client,
    kind: Kind,
    patience: &mut Patience<Tell>,
) -> Result<Vec<Value>, CheckError> {
    let objects = api(client, kind);
    let mut page = ListParams::default().limit(PAGE);
    let mut listed = Vec::new();
    loop {
        let answer = match patience.ask(async || objects.list(&page).await).await {
            Ok(answer) => answer,
            Err(Error::Api(status)) if status.code == 404 => return Ok(listed),
            Err(error) => return Err(unlisted(kind, error)),
        };
        for mut object in answer.items {
            object.metadata.managed_fields = None;
            let mut value = serde_json::to_value(object)
                .map_err(|error| unlisted(kind, Error::SerdeError(error)))?;
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
