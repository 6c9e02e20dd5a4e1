//! The engine's calls to the cloud, carried out on EC2.
//!
//! A launch is repeated with the same token until it is answered, and EC2 answers the same. Where it refuses the token, since the request is
//! another by now, a call has happened: its instances are read back by the tag that bears the token. A reading that shows fewer than were
//! asked for counts only once EC2 has had time to show all.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Instant;

use plimsoll_core::action::{
    Answer, ClaimLaunch, CloudCall, LAUNCH_TOKEN_ANNOTATION, LaunchAnswer, LaunchRequest,
    LaunchedInstance, ListedInstance, Outcome, Reason,
};
use plimsoll_core::catalogue::CapacityType;
use plimsoll_core::engine::Input;
use plimsoll_core::ids::{ClaimName, NodeName, ProviderId};
use plimsoll_core::model::Object;
use tokio::sync::Notify;

use crate::class::dry_run::{DryRuns, Refusal, content};
use crate::class::queue::QueueStanding;
use crate::class::tags;
use crate::client::{CallError, Clients, Urgency};
use crate::drift::{OfClaim, drift};
use crate::ended::Setbacks;
use crate::error::{ErrorClass, launch_failure};
use crate::failures::{CallFailure, Uncounted, of_fleet, of_instance};
use crate::instance::{Instance, instance_id};
use crate::launch::deal::{dealt, found};
use crate::launch::draft::{Draft, draft};
use crate::launch::fleet::{FleetAnswer, of_one_kind};
use crate::launch::kept::KeptTemplates;
use crate::served::ServedClass;
use crate::unseen::Unseen;
use crate::user_data::ClusterAccess;

mod ended;
mod queue;

/// EC2 for one cluster.
pub struct Ec2 {
    clients: Clients,
    cluster: RwLock<Arc<ClusterAccess>>,
    classes: RwLock<BTreeMap<String, Arc<ServedClass>>>,
    unseen: Unseen,
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
}

impl Ec2 {
    /// EC2 for a cluster, without classes at first.
    pub fn new(clients: Clients, cluster: ClusterAccess) -> Self {
        Self {
            clients,
            cluster: RwLock::new(Arc::new(cluster)),
            classes: RwLock::default(),
            unseen: Unseen::default(),
            claims: Mutex::default(),
            templates: KeptTemplates::default(),
            uncounted: Uncounted::default(),
            dry_runs: Some(DryRuns::default()),
            setbacks: Setbacks::default(),
            queue: Mutex::default(),
            news: Notify::new(),
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

    /// From now on nodes are told so of the cluster.
    pub fn set_cluster(&self, cluster: ClusterAccess) {
        *self.cluster.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(cluster);
    }

    /// From now on these are the classes that can be launched.
    pub fn serve(&self, classes: impl IntoIterator<Item = Arc<ServedClass>>) {
        let classes = classes
            .into_iter()
            .map(|class| (class.name().to_owned(), class));
        *self.classes.write().unwrap_or_else(PoisonError::into_inner) = classes.collect();
    }

    fn claims(&self) -> MutexGuard<'_, BTreeMap<ProviderId, OfClaim>> {
        self.claims.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Follows what claims say of the class that they were launched of.
    pub fn observe(&self, input: &Input) {
        let (claim, is_there) = match input {
            Input::Applied(Object::Claim(claim), _) => (claim, true),
            Input::Deleted(Object::Claim(claim), _) => (claim, false),
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

    /// Of these instances, by their own ids, those with claims that nobody has asked to go.
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

    fn class(&self, name: &str) -> Option<Arc<ServedClass>> {
        let classes = self.classes.read().unwrap_or_else(PoisonError::into_inner);
        classes.get(name).cloned()
    }

    /// The class of a launch, if it can be launched.
    fn ready(&self, name: &str) -> Result<Arc<ServedClass>, Reason> {
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

    async fn launch(&self, request: &LaunchRequest) -> Outcome {
        let Some(first) = request.claims.first() else {
            return Outcome::Done(Answer::Launched(LaunchAnswer::default()));
        };
        let prepared = self.ready(&first.class.name);
        let prepared = prepared.and_then(|class| {
            let draft = draft(&class, &self.cluster(), request)?;
            Ok((class, draft))
        });
        let (class, draft) = match prepared {
            Ok(prepared) => prepared,
            Err(reason) => return Outcome::Refused(reason),
        };
        let token = &request.batch.token;
        match self.fleet(&class, &draft, request).await {
            Ok(answer) => {
                self.unseen.forget(token);
                let given = answer.instances.iter();
                self.unseen.note_given(given.map(|given| given.id.as_str()));
                let machine = |own: Instance| own.machine(&class, first);
                let instances = instances(&answer, &draft).map(machine).collect();
                let (options, capacity_type) = of_one_kind(&request.options);
                for error in &answer.errors {
                    self.uncounted.note(of_fleet(error, &class, capacity_type));
                }
                let dealt = dealt(
                    request,
                    options,
                    &class.catalogue,
                    instances,
                    &answer.errors,
                );
                Outcome::Done(Answer::Launched(dealt))
            }
            // The token was used for another request: that call has happened, and this one has not.
            Err(error) if error.code == "IdempotentParameterMismatch" => self.find(request).await,
            Err(error) => {
                self.unseen.note_asked(token);
                refused(&error)
            }
        }
    }

    /// The call for a fleet, with its templates made before. A template that somebody deleted meanwhile is made once more.
    async fn fleet(
        &self,
        class: &ServedClass,
        draft: &Draft,
        request: &LaunchRequest,
    ) -> Result<FleetAnswer, CallError> {
        let token = request.batch.token.as_str();
        let fleet = draft.fleet(
            token,
            request.batch.size,
            class.object.spec.context.as_ref(),
        );
        let named = || fleet.templates.iter().map(|(name, _)| name);
        let _in_use = self
            .templates
            .begin(named().cloned().collect(), self.unseen.now());
        let mut is_second = false;
        loop {
            let making = self.templates.making.lock().await;
            for (name, (template, _)) in named().zip(&draft.templates) {
                if !self.templates.is_there(name) {
                    self.clients.ensure_template(template).await?;
                    self.templates.found(name.clone(), self.unseen.now());
                }
            }
            drop(making);
            match self.clients.create_fleet(&fleet).await {
                Err(error) if error.class() == ErrorClass::LaunchTemplateGone && !is_second => {
                    named().for_each(|name| self.templates.lost(name));
                    is_second = true;
                }
                answered => return answered,
            }
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

    /// The instances that a launch has given, by the tag with its token.
    async fn find(&self, request: &LaunchRequest) -> Outcome {
        let token = &request.batch.token;
        let cluster = self.cluster();
        let by = [
            (tags::CLUSTER, Some(cluster.name.as_str())),
            (LAUNCH_TOKEN_ANNOTATION, Some(token.as_str())),
        ];
        let seen = match self.clients.instances(&by, Urgency::Launch).await {
            Ok(seen) => seen,
            Err(error) => return refused(&error),
        };
        let alive = seen.into_iter().filter(|own| !own.is_ending);
        let machines: Vec<LaunchedInstance> = match request.claims.first() {
            Some(first) => match self.class(&first.class.name) {
                Some(class) => alive.map(|own| own.machine(&class, first)).collect(),
                None => return Outcome::Unknown,
            },
            None => Vec::new(),
        };
        let mut answer = found(request, machines);
        let is_absent = |claim: &ClaimLaunch| matches!(claim, ClaimLaunch::Absent);
        if !answer.claims.iter().any(is_absent) {
            self.unseen.forget(token);
        } else if !self.unseen.has_had_time(token) {
            for claim in answer.claims.iter_mut().filter(|claim| is_absent(claim)) {
                *claim = ClaimLaunch::Unknown;
            }
        }
        Outcome::Done(Answer::Launched(answer))
    }

    async fn instance(&self, id: &str, urgency: Urgency) -> Result<Option<Instance>, CallError> {
        let found = self.clients.instance(id, urgency).await?;
        if found.is_some() {
            self.unseen.seen(id);
        }
        Ok(found)
    }

    async fn get(&self, instance: &ProviderId) -> Outcome {
        let Some(id) = instance_id(instance) else {
            return Outcome::Done(Answer::Absent);
        };
        match self.instance(id, Urgency::Read).await {
            Ok(Some(own)) if !own.is_ending => {
                let class = own.tags.get(tags::CLASS).and_then(|name| self.class(name));
                let machine = own.machine_of(class.as_deref());
                Outcome::Done(Answer::Instance(Box::new(machine)))
            }
            Ok(None) if self.unseen.may_appear(id) => Outcome::Unknown,
            Ok(_) => Outcome::Done(Answer::Absent),
            Err(error) => refused(&error),
        }
    }

    /// Only what bears the tag of the cluster is ended.
    async fn terminate(&self, instance: &ProviderId) -> Outcome {
        let Some(id) = instance_id(instance) else {
            return Outcome::Done(Answer::Gone);
        };
        let own = match self.instance(id, Urgency::Terminate).await {
            Ok(Some(own)) => own,
            // It is there, and ends once EC2 knows of it.
            Ok(None) if self.unseen.may_appear(id) => return Outcome::Unknown,
            Ok(None) => return Outcome::Done(Answer::Gone),
            Err(error) => return refused(&error),
        };
        if own.is_ending {
            return Outcome::Done(Answer::Ending);
        }
        if own.tags.get(tags::CLUSTER) != Some(&self.cluster().name) {
            let words = format!(
                "instance {id} is not tagged {}={}; it is left as it is",
                tags::CLUSTER,
                self.cluster().name
            );
            return Outcome::Refused(Reason::Other(words));
        }
        match self.clients.terminate(id).await {
            Ok(()) => Outcome::Done(Answer::Ending),
            Err(error) => {
                let class = own.tags.get(tags::CLASS).and_then(|name| self.class(name));
                self.uncounted.note(of_instance(&own, class.as_deref()));
                refused(&error)
            }
        }
    }

    async fn list(&self) -> Outcome {
        let cluster = self.cluster();
        let by = [
            (tags::NODE_POOL, None),
            (tags::CLASS, None),
            (tags::CLUSTER, Some(cluster.name.as_str())),
        ];
        match self.clients.instances(&by, Urgency::Read).await {
            Ok(instances) => {
                for own in &instances {
                    self.unseen.seen(&own.id);
                }
                let listed = instances.iter().map(|own| self.listed(own));
                Outcome::Done(Answer::Listed(listed.collect()))
            }
            Err(error) => refused(&error),
        }
    }

    fn listed(&self, own: &Instance) -> ListedInstance {
        let instance = own.provider_id();
        let claims = self.claims();
        let class = own.tags.get(tags::CLASS).and_then(|name| self.class(name));
        let drift = class.and_then(|class| drift(own, &class, claims.get(&instance)));
        ListedInstance {
            token: own
                .tags
                .get(LAUNCH_TOKEN_ANNOTATION)
                .map(|token| token.as_str().into()),
            ending: own.is_ending.then(|| own.launched.unwrap_or_default()),
            drift: drift.map(Arc::from),
            instance,
        }
    }

    async fn tag(&self, instance: &ProviderId, claim: &ClaimName, node: &NodeName) -> Outcome {
        let Some(id) = instance_id(instance) else {
            return Outcome::Done(Answer::Nothing);
        };
        let own = match self.instance(id, Urgency::Read).await {
            Ok(Some(own)) => own,
            Ok(None) => return Outcome::Done(Answer::Nothing),
            Err(error) => return refused(&error),
        };
        let cluster = self.cluster();
        let missing = tags::of_instance(&own.tags, &cluster.name, claim.as_str(), node.as_str());
        if missing.is_empty() {
            return Outcome::Done(Answer::Nothing);
        }
        match self.clients.tag(id, &missing).await {
            Ok(()) => Outcome::Done(Answer::Nothing),
            Err(error) if error.class() == ErrorClass::NotFound => Outcome::Done(Answer::Nothing),
            Err(error) => refused(&error),
        }
    }
}

/// Instances that a fleet has given, as far as its answer says.
fn instances<'a>(answer: &'a FleetAnswer, draft: &'a Draft) -> impl Iterator<Item = Instance> + 'a {
    answer.instances.iter().map(|given| Instance {
        id: given.id.clone(),
        instance_type: given.instance_type.clone(),
        zone: given.zone.clone(),
        is_spot: draft.capacity_type == CapacityType::Spot,
        image: given.image.clone(),
        ..Instance::default()
    })
}

/// How a call that failed has ended: nobody knows, not now, or not at all and why.
fn refused(error: &CallError) -> Outcome {
    match error.class() {
        ErrorClass::Throttled => Outcome::Refused(Reason::Throttled(None)),
        ErrorClass::ServerFault => unknown(error),
        _ if error.status.is_none() => unknown(error),
        _ => {
            let failure = launch_failure(&error.code, &error.message);
            Outcome::Refused(Reason::Other(format!(
                "{}: {}",
                error.action, failure.sentence
            )))
        }
    }
}

fn unknown(error: &CallError) -> Outcome {
    tracing::warn!(%error, "a call to AWS has no answer");
    Outcome::Unknown
}

#[cfg(test)]
mod tests;
