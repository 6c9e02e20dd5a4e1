//! The engine's calls to the cloud, carried out on EC2.
//!
//! A launch is repeated with the same token until it is answered, and EC2 answers the same. Where it refuses the token, since the request is
//! another by now, a call has happened: its instances are read back by the tag that bears the token. A reading that shows fewer than were
//! asked for counts only once EC2 has had time to show all.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Instant;

use plimsoll_base::ids::ProviderId;
use plimsoll_engine::Input;
use plimsoll_model::Object;
use plimsoll_model::action::{CloudCall, Outcome, Reason};
use tokio::sync::{Notify, watch};

use crate::class::dry_run::{DryRuns, Refusal, content};
use crate::class::queue::QueueStanding;
use crate::class::tags;
use crate::client::{CallError, Clients};
use crate::drift::OfClaim;
use crate::ended::Setbacks;
use crate::error::{ErrorClass, launch_failure};
use crate::failures::{CallFailure, Uncounted};
use crate::instance::instance_id;
use crate::launch::kept::KeptTemplates;
use crate::served::ServedClass;
use crate::unseen::Unseen;
use crate::user_data::ClusterAccess;

mod ended;
mod instances;
mod launching;
mod queue;

/// EC2 for one cluster.
pub struct Ec2 {
    clients: Clients,
    cluster: RwLock<Arc<ClusterAccess>>,
    classes: RwLock<BTreeMap<String, Arc<ServedClass>>>,
    /// Classes that are other ones by now than they were when they were looked at, by name.
    outdated: RwLock<BTreeSet<String>>,
    pub(crate) unseen: Unseen,
    /// The word of claims on their class, by instance.
    claims: Mutex<BTreeMap<ProviderId, OfClaim>>,
    templates: KeptTemplates,
    uncounted: Uncounted,
    /// `None` where classes are not tried out.
    dry_runs: Option<DryRuns>,
    setbacks: Setbacks,
    queue: Mutex<QueueStanding>,
    /// Told where classes are to be looked at, since something has come up about them.
    news: Notify,
    /// `true` once every claim that there is was seen.
    listed: watch::Sender<bool>,
}

impl Ec2 {
    /// EC2 for a cluster, without classes at first.
    pub fn new(clients: Clients, cluster: ClusterAccess) -> Self {
        Self {
            clients,
            cluster: RwLock::new(Arc::new(cluster)),
            classes: RwLock::default(),
            outdated: RwLock::default(),
            unseen: Unseen::default(),
            claims: Mutex::default(),
            templates: KeptTemplates::default(),
            uncounted: Uncounted::default(),
            dry_runs: Some(DryRuns::default()),
            setbacks: Setbacks::default(),
            queue: Mutex::default(),
            news: Notify::new(),
            listed: watch::Sender::default(),
        }
    }

    /// The same without trying classes out.
    #[must_use]
    pub fn without_dry_runs(self) -> Self {
        Self {
            dry_runs: None,
            ..self
        }
    }

    /// Its clients.
    pub fn clients(&self) -> &Clients {
        &self.clients
    }

    /// The cluster, as nodes have to know it.
    pub fn cluster(&self) -> Arc<ClusterAccess> {
        Arc::clone(&self.cluster.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Changes what nodes are told of the cluster from now on.
    pub fn change_cluster(&self, change: impl FnOnce(&mut ClusterAccess)) {
        let mut cluster = self.cluster.write().unwrap_or_else(PoisonError::into_inner);
        change(Arc::make_mut(&mut cluster));
    }

    /// From now on these are the classes that can be launched.
    pub fn serve(&self, classes: impl IntoIterator<Item = Arc<ServedClass>>) {
        let classes = classes
            .into_iter()
            .map(|class| (class.name().to_owned(), class));
        *self.classes.write().unwrap_or_else(PoisonError::into_inner) = classes.collect();
    }

    /// From now on these classes, by name, are not as they were when they were looked at, or were not looked at yet: nothing is launched of
    /// them. Instances of theirs are told of as long as they are served.
    pub fn set_outdated(&self, classes: impl IntoIterator<Item = String>) {
        let mut outdated = self
            .outdated
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        *outdated = classes.into_iter().collect();
    }

    fn is_outdated(&self, class: &str) -> bool {
        let outdated = self.outdated.read().unwrap_or_else(PoisonError::into_inner);
        outdated.contains(class)
    }

    fn claims(&self) -> MutexGuard<'_, BTreeMap<ProviderId, OfClaim>> {
        self.claims.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Follows what claims say of the class that they were launched of, and the pools that classes are tried out for.
    pub fn observe(&self, input: &Input) {
        if let Some(dry_runs) = &self.dry_runs {
            dry_runs.observe(input);
        }
        let (claim, is_there) = match input {
            Input::Applied(Object::Claim(claim), _) => (claim, true),
            Input::Deleted(Object::Claim(claim), _) => (claim, false),
            Input::Synced => {
                self.listed.send_replace(true);
                return;
            }
            _ => return,
        };
        let Some(id) = &claim.provider_id else { return };
        let mut claims = self.claims();
        if !is_there {
            claims.remove(id);
            return;
        }
        let own = OfClaim::read(claim);
        let class = own.has_joined.then(|| own.class.clone());
        let before = claims.insert(id.clone(), own);
        let is_new = before.is_none_or(|before| !before.has_joined);
        if let Some(class) = class.filter(|_| is_new) {
            self.setbacks.forgive(&class);
        }
    }

    /// Of these instances, by their own ids, those with claims that are not deleting.
    pub fn staying(&self, ids: &[String]) -> Vec<ProviderId> {
        let claims = self.claims();
        let ids: BTreeSet<&str> = ids.iter().map(String::as_str).collect();
        let is_named = |id: &ProviderId| instance_id(id).is_some_and(|own| ids.contains(own));
        let staying = claims
            .iter()
            .filter(|(id, claim)| !claim.is_going && is_named(id));
        staying.map(|(id, _)| id.clone()).collect()
    }

    /// Instances that EC2 did not give or did not end since this was asked last.
    pub fn take_failures(&self) -> Vec<CallFailure> {
        self.uncounted.take()
    }

    /// Carries out a call.
    pub async fn call(&self, call: &CloudCall) -> Outcome {
        match call {
            CloudCall::Launch(request) => self.launch(request).await,
            CloudCall::Find(request) => self.find(request).await,
            CloudCall::Get { instance } => self.get(instance).await,
            CloudCall::Terminate { instance } => self.terminate(instance).await,
            CloudCall::List => self.list().await,
            CloudCall::Tag {
                instance,
                claim,
                node,
            } => self.tag(instance, claim, node).await,
        }
    }

    /// All classes that can be launched.
    fn served(&self) -> Vec<Arc<ServedClass>> {
        let classes = self.classes.read().unwrap_or_else(PoisonError::into_inner);
        classes.values().cloned().collect()
    }

    fn class(&self, name: &str) -> Option<Arc<ServedClass>> {
        let classes = self.classes.read().unwrap_or_else(PoisonError::into_inner);
        classes.get(name).cloned()
    }

    /// The class of a launch, if it can be launched.
    fn ready(&self, name: &str) -> Result<Arc<ServedClass>, Reason> {
        if self.is_outdated(name) {
            // Karpenter gives up claims of a class that has just changed; it is being looked at, and they wait for that.
            let words = "AWS was not asked yet what it stands for as it is now";
            return Err(readiness_unknown(name, words));
        }
        let Some(class) = self.class(name) else {
            let words = format!("EC2NodeClass {name} does not exist, or was not resolved yet");
            return Err(Reason::ClassMissing(words));
        };
        if class.object.metadata.deletion_timestamp.is_some() {
            return Err(Reason::ClassMissing(format!(
                "EC2NodeClass {name} is being deleted"
            )));
        }
        let ready = class
            .status()
            .conditions
            .iter()
            .find(|own| own.kind == "Ready");
        match ready.filter(|ready| ready.status != "True") {
            // AWS has not said so far: the claim waits.
            Some(ready) if ready.status == "Unknown" => {
                Err(readiness_unknown(name, &ready.message))
            }
            Some(ready) => {
                let words = format!("EC2NodeClass {name} is not ready: {}", ready.message);
                Err(Reason::ClassNotReady(words))
            }
            None => match self.setback(&class) {
                Some(setback) => Err(Reason::ClassNotReady(format!(
                    "EC2NodeClass {name}: {}",
                    setback.message
                ))),
                None => Ok(class),
            },
        }
    }

    /// Tries out whether a class could be launched, without launching it, unless that was done lately. An error where AWS said neither.
    pub async fn try_out(&self, class: &ServedClass) -> Result<Result<(), Refusal>, CallError> {
        if let Some(setback) = self.setback(class) {
            return Ok(Err(setback));
        }
        let Some(dry_runs) = &self.dry_runs else {
            return Ok(Ok(()));
        };
        let calls = (&self.clients, &self.templates);
        let (cluster, now) = (self.cluster(), self.unseen.now());
        dry_runs.try_out(class, &cluster, calls, now).await
    }

    /// Takes note of launch templates of the cluster that a process before this one has made, so that they are deleted in their turn.
    pub async fn find_templates(&self) -> Result<(), CallError> {
        let cluster = self.cluster();
        let own = [(tags::CLUSTER, cluster.name.as_str())];
        for name in self.clients.templates(&own).await? {
            self.templates.found(name, self.unseen.now());
        }
        Ok(())
    }

    /// Deletes launch templates that no launch has used for a minute at an instant. One that cannot be deleted is tried again a minute later.
    pub async fn delete_unused_templates(&self, now: Instant) -> Result<(), CallError> {
        let mut failed = Ok(());
        for name in self.templates.give_up(now) {
            let deleted = self.clients.delete_template(&name).await;
            if deleted.is_err() {
                self.templates.found(name, now);
                failed = deleted;
            }
        }
        failed
    }
}

/// Why a claim waits for its class, with Karpenter's reason.
fn readiness_unknown(class: &str, why: &str) -> Reason {
    Reason::LaunchFailed {
        reason: Arc::from("NodeClassReadinessUnknown"),
        words: format!("EC2NodeClass {class} is not known to be ready: {why}"),
    }
}

/// How a call that failed has ended: unknown, not now, or not at all and why.
fn refused(error: &CallError) -> Outcome {
    match error.class() {
        ErrorClass::Throttled => Outcome::Refused(Reason::Throttled(None)),
        _ if !error.is_refusal() => unknown(error),
        _ => {
            let failure = launch_failure(&error.code, &error.message);
            Outcome::Refused(Reason::Other(format!(
                "{}: {}",
                error.action, failure.sentence
            )))
        }
    }
}

/// The same for a call of a launch, under the reason by which its claims tell it.
fn launch_refused(error: &CallError) -> Outcome {
    match refused(error) {
        Outcome::Refused(Reason::Other(words)) => Outcome::Refused(Reason::LaunchFailed {
            reason: launch_failure(&error.code, &error.message).reason.into(),
            words,
        }),
        other => other,
    }
}

fn unknown(error: &CallError) -> Outcome {
    tracing::warn!(%error, "a call to AWS has no answer");
    Outcome::Unknown
}

#[cfg(test)]
mod tests;
