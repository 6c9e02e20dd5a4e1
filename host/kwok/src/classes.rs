//! The classes that there are, and whether each can be used, told whenever that changes.
//!
//! There are few: whatever happens to one, all are listed anew. Without a list nothing is told, and what was told before stands; where
//! the API server has no such kind there are none.

use std::time::Duration;

use futures_util::StreamExt;
use kube::api::{Api, ListParams, WatchEvent, WatchParams};
use kube::core::DynamicObject;
use kube::{Client, Error, ResourceExt};
use plimsoll_api::{convert, kinds};
use plimsoll_model::ClassRef;
use plimsoll_model::provider::ClassStatus;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::DOMAIN;
use crate::provider::{CLASS, classes};

/// Pause after a failure.
const AGAIN: Duration = Duration::from_secs(2);
/// A watch ends by itself after so many seconds.
const LASTS: u32 = 60;
/// A request without an answer for so long has failed.
const PATIENCE: Duration = Duration::from_secs(75);

/// Classes with what is said of each, by name.
pub type Told = Vec<(ClassRef, ClassStatus)>;

/// Follows the classes. It ends with this value.
pub struct Classes {
    told: Receiver<Told>,
    _task: JoinSet<()>,
}

impl Classes {
    /// Begins to follow.
    pub fn follow(client: &Client) -> Self {
        let (out, told) = channel(1);
        let mut task = JoinSet::new();
        task.spawn(follow(classes(client), out));
        Self { told, _task: task }
    }

    /// All classes, as soon as they are others than were told last. Nothing is lost if the wait is given up.
    pub async fn next(&mut self) -> Option<Told> {
        self.told.recv().await
    }
}

async fn follow(api: Api<DynamicObject>, out: Sender<Told>) {
    let mut last: Option<Told> = None;
    let mut is_failing = false;
    loop {
        let (told, version) = match list(&api).await {
            Ok(listed) => listed,
            Err(error) => {
                if !std::mem::replace(&mut is_failing, true) {
                    tracing::warn!(%error, "{CLASS}es of {DOMAIN} cannot be listed; tried again");
                }
                sleep(AGAIN).await;
                continue;
            }
        };
        is_failing = false;
        if last.as_ref() != Some(&told) {
            last = Some(told.clone());
            if out.send(told).await.is_err() {
                return;
            }
        }
        match version {
            Some(version) if has_changed(&api, &version).await => {}
            _ => sleep(AGAIN).await,
        }
    }
}

/// All classes, and the version from which to watch; `None` where the API server has no such kind.
async fn list(api: &Api<DynamicObject>) -> Result<(Told, Option<String>), Error> {
    match api.list(&ListParams::default()).await {
        Ok(listed) => {
            let told = listed.items.iter().map(told).collect();
            Ok((told, listed.metadata.resource_version))
        }
        Err(Error::Api(status)) if status.code == 404 => Ok((Vec::new(), None)),
        Err(error) => Err(error),
    }
}

/// Waits until a class changes, or the watch ends as it should; `false` where it was cut.
async fn has_changed(api: &Api<DynamicObject>, version: &str) -> bool {
    let parameters = WatchParams::default().timeout(LASTS);
    let Ok(Ok(stream)) = timeout(PATIENCE, api.watch(&parameters, version)).await else {
        return false;
    };
    let mut stream = std::pin::pin!(stream);
    loop {
        match timeout(PATIENCE, stream.next()).await {
            Ok(Some(Ok(WatchEvent::Bookmark(_)))) => {}
            Ok(Some(Ok(WatchEvent::Error(_)) | Err(_))) | Err(_) => return false,
            Ok(Some(Ok(_)) | None) => return true,
        }
    }
}

fn told(class: &DynamicObject) -> (ClassRef, ClassStatus) {
    let conditions = class.data["status"]["conditions"].as_array();
    let ready = conditions
        .into_iter()
        .flatten()
        .find(|condition| condition["type"] == "Ready");
    let ready: Option<kinds::Condition> =
        ready.and_then(|ready| serde_json::from_value(ready.clone()).ok());
    let reference = ClassRef {
        group: DOMAIN.into(),
        kind: CLASS.into(),
        name: class.name_any().into(),
    };
    let status = convert::class_status(&class.metadata, ready.as_ref());
    (reference, status)
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_model::ConditionStatus;
    use serde_json::{Value, json};

    fn read(status: &Value, deleted: Option<&str>) -> ClassStatus {
        let class = json!({
            "apiVersion": "karpenter.kwok.sh/v1alpha1", "kind": "KWOKNodeClass",
            "metadata": {"name": "default", "generation": 3, "deletionTimestamp": deleted},
            "status": status,
        });
        let (reference, status) = told(&serde_json::from_value(class).unwrap());
        assert_eq!(&*reference.name, "default");
        status
    }

    #[test]
    fn a_class_is_told_with_its_generation_and_its_word_on_readiness() {
        let ready = json!({"conditions": [{
            "type": "Ready", "status": "False", "reason": "Broken", "message": "no image",
            "lastTransitionTime": "2026-01-31T09:00:00Z",
        }]});
        let told = read(&ready, Some("2026-01-31T09:00:00Z"));
        assert!(told.deleting);
        assert_eq!(told.generation, 3);
        let said = told.ready.unwrap();
        assert_eq!(said.status, ConditionStatus::False);
        assert_eq!((&*said.reason, &*said.message), ("Broken", "no image"));
        assert_eq!(read(&json!({}), None).ready, None);
    }
}
