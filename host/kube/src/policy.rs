//! Policy objects: those there are, as they change, and their statuses.

use std::collections::BTreeSet;

use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use kube::api::{Api, ListParams, Patch, PatchParams};
use kube::core::{ApiResource, DynamicObject, GroupVersionKind};
use kube::runtime::watcher::Event;
use kube::runtime::{WatchStreamExt, watcher};
use kube::{Client, Error, ResourceExt};
use plimsoll_api::kinds::{Policy, PolicyStatus};
use serde_json::{Value, json};

use crate::resource::with_nulls;

/// A change among the Policies.
#[derive(Debug)]
pub enum PolicyChange {
    /// There is one, or it has changed.
    Applied(Box<Policy>),
    /// One that cannot be read, with the fault in words; what was said of it before holds.
    Unreadable(String, String),
    /// The one of that name is gone.
    Gone(String),
}

/// Policies that are watched. A watch that breaks is begun again with growing pauses.
pub struct WatchedPolicies {
    changes: BoxStream<'static, watcher::Result<Event<DynamicObject>>>,
    known: BTreeSet<String>,
    /// Those of a list that is being read.
    listed: BTreeSet<String>,
    waiting: Vec<PolicyChange>,
}

/// The Policies of a cluster, as far as it serves them.
#[derive(Debug)]
pub enum Listed {
    /// Those that there are and that can be read, the oldest first.
    Policies(Vec<Policy>),
    /// The API server does not serve the kind.
    NotServed,
    /// There is no right to list them.
    Forbidden,
}

/// Lists the Policies. Fails where the API server gives no answer.
pub async fn list(client: &Client) -> Result<Listed, Error> {
    match each(client).await {
        Ok(listed) => Ok(Listed::Policies(listed.into_iter().flatten().collect())),
        Err(Error::Api(status)) if status.code == 404 => Ok(Listed::NotServed),
        Err(Error::Api(status)) if status.code == 403 => Ok(Listed::Forbidden),
        Err(error) => Err(error),
    }
}

/// Each Policy, the oldest first; of one that cannot be read its name, and the fault in words.
pub async fn each(client: &Client) -> Result<Vec<Result<Policy, (String, String)>>, Error> {
    let mut listed = api(client).list(&ListParams::default()).await?.items;
    listed.sort_by_cached_key(|policy| (policy.creation_timestamp(), policy.name_any()));
    let one = |object: DynamicObject| {
        let name = object.name_any();
        read(object).map_err(|error| (name, error.to_string()))
    };
    Ok(listed.into_iter().map(one).collect())
}

/// Digests of modules that the statuses of Policies name, those of Policies included that cannot be read; `None` where the API server does
/// not serve the kind.
pub async fn remembered_digests(client: &Client) -> Result<Option<BTreeSet<String>>, Error> {
    let listed = match api(client).list(&ListParams::default()).await {
        Ok(listed) => listed.items,
        Err(Error::Api(status)) if status.code == 404 => return Ok(None),
        Err(error) => return Err(error),
    };
    let statuses = listed.iter().map(|policy| &policy.data["status"]);
    Ok(Some(statuses.flat_map(digests_in).collect()))
}

fn digests_in(status: &Value) -> Vec<String> {
    let good = status["lastGood"].as_array().into_iter().flatten();
    let good = good.map(|module| &module["digest"]);
    let named = good.chain([&status["servedDigest"]]);
    named.filter_map(Value::as_str).map(str::to_owned).collect()
}

/// Fields of a status that may be left out.
const FIELDS: [&str; 7] = [
    "serving",
    "servedDigest",
    "nodePools",
    "lastGood",
    "quarantined",
    "fuelP99",
    "shadow",
];

/// Writes what is said of a Policy.
pub async fn write_status(client: &Client, name: &str, status: &PolicyStatus) -> Result<(), Error> {
    let status = serde_json::to_value(status).map_err(Error::SerdeError)?;
    let patch = Patch::Merge(json!({"status": with_nulls(status, &FIELDS)}));
    let (policies, params) = (api(client), PatchParams::default());
    policies
        .patch_status(name, &params, &patch)
        .await
        .map(|_| ())
}

fn api(client: &Client) -> Api<DynamicObject> {
    let kind = GroupVersionKind::gvk(Policy::GROUP, Policy::VERSION, Policy::KIND);
    Api::all_with(
        client.clone(),
        &ApiResource::from_gvk_with_plural(&kind, Policy::PLURAL),
    )
}

fn read(object: DynamicObject) -> Result<Policy, serde_json::Error> {
    serde_json::from_value(serde_json::to_value(object)?)
}

impl WatchedPolicies {
    /// Begins to watch; the first that it tells is what there is, and which of those that are `known` already have gone.
    pub fn start(client: &Client, known: impl IntoIterator<Item = String>) -> Self {
        let changes = watcher::watcher(api(client), watcher::Config::default()).default_backoff();
        Self {
            changes: changes.boxed(),
            known: known.into_iter().collect(),
            listed: BTreeSet::new(),
            waiting: Vec::new(),
        }
    }

    /// The next change, or an error after which it goes on; `None` once the watch has ended for good.
    pub async fn next(&mut self) -> Option<Result<PolicyChange, watcher::Error>> {
        loop {
            if let Some(change) = self.waiting.pop() {
                return Some(Ok(change));
            }
            match self.changes.next().await? {
                Ok(event) => self.take(event),
                Err(error) => return Some(Err(error)),
            }
        }
    }

    fn take(&mut self, event: Event<DynamicObject>) {
        match event {
            Event::Init => self.listed.clear(),
            Event::InitApply(object) => {
                self.listed.insert(object.name_any());
                self.applied(object);
            }
            Event::InitDone => {
                let gone = self.known.difference(&self.listed).cloned();
                self.waiting.extend(gone.map(PolicyChange::Gone));
                self.known = std::mem::take(&mut self.listed);
            }
            Event::Apply(object) => self.applied(object),
            Event::Delete(object) => {
                let name = object.name_any();
                self.known.remove(&name);
                self.waiting.push(PolicyChange::Gone(name));
            }
        }
    }

    fn applied(&mut self, object: DynamicObject) {
        let name = object.name_any();
        self.known.insert(name.clone());
        self.waiting.push(match read(object) {
            Ok(policy) => PolicyChange::Applied(Box::new(policy)),
            Err(error) => PolicyChange::Unreadable(name, error.to_string()),
        });
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_api::kinds::{RememberedModule, ShadowComparison};

    use super::*;

    fn object(name: &str, hook: &Value) -> DynamicObject {
        let object = json!({
            "apiVersion": "plimsoll.dev/v1alpha1", "kind": "Policy", "metadata": {"name": name},
            "spec": {"hook": hook, "configMapRef": {"name": "x"}},
        });
        serde_json::from_value(object).unwrap()
    }

    fn told(watched: &mut WatchedPolicies, event: Event<DynamicObject>) -> Vec<String> {
        watched.take(event);
        let told = watched.waiting.drain(..).map(|change| match change {
            PolicyChange::Applied(policy) => format!("+{}", policy.metadata.name.unwrap()),
            PolicyChange::Unreadable(name, _) => format!("?{name}"),
            PolicyChange::Gone(name) => format!("-{name}"),
        });
        told.collect()
    }

    #[test]
    fn what_a_status_does_not_say_any_more_is_taken_off() {
        let said = serde_json::to_value(PolicyStatus::default()).unwrap();
        let full = PolicyStatus {
            serving: Some("x".to_owned()),
            served_digest: Some("x".to_owned()),
            last_good: vec![RememberedModule::default()],
            quarantined: vec![RememberedModule::default()],
            node_pools: vec!["x".to_owned()],
            fuel_p99: Some(1),
            shadow: Some(ShadowComparison::default()),
            ..PolicyStatus::default()
        };
        let full = serde_json::to_value(full).unwrap();
        let written = with_nulls(said, &FIELDS);
        for field in full.as_object().unwrap().keys() {
            assert!(written.get(field).is_some(), "{field} would stay");
        }
    }

    #[test]
    fn digests_are_read_of_whatever_status_there_is() {
        let status = json!({"servedDigest": "a", "lastGood": [{"digest": "b"}, {"digest": 7}, 8]});
        assert_eq!(digests_in(&status), ["b", "a"]);
        assert!(digests_in(&Value::Null).is_empty());
    }

    #[test]
    fn what_went_while_the_watch_was_broken_is_told_by_the_next_list() {
        let mut watched = WatchedPolicies {
            changes: futures_util::stream::empty().boxed(),
            known: BTreeSet::from(["before".to_owned()]),
            listed: BTreeSet::new(),
            waiting: Vec::new(),
        };
        let rank = |name: &str| object(name, &"Rank".into());
        assert!(told(&mut watched, Event::Init).is_empty());
        assert_eq!(told(&mut watched, Event::InitApply(rank("a"))), ["+a"]);
        assert_eq!(told(&mut watched, Event::InitApply(rank("b"))), ["+b"]);
        assert_eq!(told(&mut watched, Event::InitDone), ["-before"]);
        let broken = object("c", &json!(7));
        assert_eq!(told(&mut watched, Event::Apply(broken)), ["?c"]);
        assert_eq!(told(&mut watched, Event::Delete(rank("a"))), ["-a"]);
        told(&mut watched, Event::Init);
        told(&mut watched, Event::InitApply(rank("b")));
        assert_eq!(told(&mut watched, Event::InitDone), ["-c"]);
    }
}
