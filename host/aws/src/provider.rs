//! The engine's calls to the cloud, carried out on EC2.
//!
//! A launch is repeated with the same token until it is answered, and EC2 answers the same. Where it refuses the token, since the request is
//! another by now, a call has happened: its instances are read back by the tag that bears the token. A reading that shows fewer than were
//! asked for counts only once EC2 has had time to show all.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant};

use plimsoll_core::action::{
    Answer, ClaimLaunch, CloudCall, LAUNCH_TOKEN_ANNOTATION, LaunchAnswer, LaunchRequest,
    LaunchedInstance, ListedInstance, Outcome, Reason,
};
use plimsoll_core::catalogue::CapacityType;
use plimsoll_core::engine::Input;
use plimsoll_core::ids::{ClaimName, LaunchToken, NodeName, ProviderId};
use plimsoll_core::model::Object;

use crate::class::tags;
use crate::client::{CallError, Clients};
use crate::drift::{OfClaim, drift};
use crate::error::{ErrorClass, launch_failure};
use crate::instance::{Instance, instance_id};
use crate::launch::deal::{dealt, found};
use crate::launch::draft::{Draft, draft};
use crate::launch::fleet::{FleetAnswer, of_one_kind};
use crate::served::ServedClass;
use crate::user_data::ClusterAccess;

/// How long after a call EC2 may take to show what it gave (its documentation names no bound; the incumbent allows half of it).
const VISIBLE_AFTER: Duration = Duration::from_mins(1);

/// EC2 for one cluster.
pub struct Ec2 {
    clients: Clients,
    cluster: RwLock<Arc<ClusterAccess>>,
    classes: RwLock<BTreeMap<String, Arc<ServedClass>>>,
    /// Launches that were looked for without all being seen, and since when nothing was asked for under their token.
    sought: Mutex<BTreeMap<LaunchToken, Instant>>,
    /// The word of claims on their class, by instance.
    claims: Mutex<BTreeMap<ProviderId, OfClaim>>,
}

impl Ec2 {
    /// EC2 for a cluster, without classes at first.
    pub fn new(clients: Clients, cluster: ClusterAccess) -> Self {
        Self {
            clients,
            cluster: RwLock::new(Arc::new(cluster)),
            classes: RwLock::default(),
            sought: Mutex::default(),
            claims: Mutex::default(),
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

    /// Follows what claims say of the class that they were launched of.
    pub fn observe(&self, input: &Input) {
        let (claim, is_there) = match input {
            Input::Applied(Object::Claim(claim), _) => (claim, true),
            Input::Deleted(Object::Claim(claim), _) => (claim, false),
            _ => return,
        };
        let Some(id) = &claim.provider_id else { return };
        let mut claims = self.claims.lock().unwrap_or_else(PoisonError::into_inner);
        if is_there {
            claims.insert(id.clone(), OfClaim::read(claim));
        } else {
            claims.remove(id);
        }
    }

    /// Of these instances, by their own ids, those with claims that nobody has asked to go.
    pub fn staying(&self, ids: &[String]) -> Vec<ProviderId> {
        let claims = self.claims.lock().unwrap_or_else(PoisonError::into_inner);
        let is_named = |id: &ProviderId| {
            instance_id(id).is_some_and(|own| ids.iter().any(|named| named == own))
        };
        let staying = claims
            .iter()
            .filter(|(id, claim)| !claim.is_going && is_named(id));
        staying.map(|(id, _)| id.clone()).collect()
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
            None => Ok(class),
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
                self.forget(token);
                let machine = |own: Instance| own.machine(&class, first);
                let instances = instances(&answer, &draft).map(machine).collect();
                let (options, _) = of_one_kind(&request.options);
                let dealt = dealt(request, options, instances, &answer.errors);
                Outcome::Done(Answer::Launched(dealt))
            }
            // The token was used for another request: that call has happened, and this one has not.
            Err(error) if error.code == "IdempotentParameterMismatch" => self.find(request).await,
            Err(error) => {
                self.note_asked(token);
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
        let mut is_second = false;
        loop {
            for (template, _) in &draft.templates {
                self.clients.ensure_template(template).await?;
            }
            match self.clients.create_fleet(&fleet).await {
                Err(error) if error.class() == ErrorClass::LaunchTemplateGone && !is_second => {
                    is_second = true;
                }
                answered => return answered,
            }
        }
    }

    /// The instances that a launch has given, by the tag with its token.
    async fn find(&self, request: &LaunchRequest) -> Outcome {
        let token = &request.batch.token;
        let cluster = self.cluster();
        let by = [
            (tags::CLUSTER, Some(cluster.name.as_str())),
            (LAUNCH_TOKEN_ANNOTATION, Some(token.as_str())),
        ];
        let seen = match self.clients.instances(&by).await {
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
            self.forget(token);
        } else if !self.has_had_time(token) {
            for claim in answer.claims.iter_mut().filter(|claim| is_absent(claim)) {
                *claim = ClaimLaunch::Unknown;
            }
        }
        Outcome::Done(Answer::Launched(answer))
    }

    /// `true` once EC2 has had time to show all instances of a launch, which are sought from the first question on.
    fn has_had_time(&self, token: &LaunchToken) -> bool {
        let mut sought = self.sought.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        let since = *sought.entry(token.clone()).or_insert(now);
        let has_had = now.saturating_duration_since(since) >= VISIBLE_AFTER;
        if has_had {
            sought.remove(token);
        }
        has_had
    }

    /// Something was asked for just now under a token, and may have been given.
    fn note_asked(&self, token: &LaunchToken) {
        let mut sought = self.sought.lock().unwrap_or_else(PoisonError::into_inner);
        sought.insert(token.clone(), Instant::now());
    }

    fn forget(&self, token: &LaunchToken) {
        let mut sought = self.sought.lock().unwrap_or_else(PoisonError::into_inner);
        sought.remove(token);
    }

    async fn get(&self, instance: &ProviderId) -> Outcome {
        let Some(id) = instance_id(instance) else {
            return Outcome::Done(Answer::Absent);
        };
        match self.clients.instance(id).await {
            Ok(Some(own)) if !own.is_ending => {
                let class = own.tags.get(tags::CLASS).and_then(|name| self.class(name));
                let machine = own.machine_of(class.as_deref());
                Outcome::Done(Answer::Instance(Box::new(machine)))
            }
            Ok(_) => Outcome::Done(Answer::Absent),
            Err(error) => refused(&error),
        }
    }

    /// Only what bears the tag of the cluster is ended.
    async fn terminate(&self, instance: &ProviderId) -> Outcome {
        let Some(id) = instance_id(instance) else {
            return Outcome::Done(Answer::Gone);
        };
        let own = match self.clients.instance(id).await {
            Ok(Some(own)) => own,
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
            Err(error) => refused(&error),
        }
    }

    async fn list(&self) -> Outcome {
        let cluster = self.cluster();
        let by = [
            (tags::NODE_POOL, None),
            (tags::CLASS, None),
            (tags::CLUSTER, Some(cluster.name.as_str())),
        ];
        match self.clients.instances(&by).await {
            Ok(instances) => {
                let listed = instances.iter().map(|own| self.listed(own));
                Outcome::Done(Answer::Listed(listed.collect()))
            }
            Err(error) => refused(&error),
        }
    }

    fn listed(&self, own: &Instance) -> ListedInstance {
        let instance = own.provider_id();
        let claims = self.claims.lock().unwrap_or_else(PoisonError::into_inner);
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
        let own = match self.clients.instance(id).await {
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
