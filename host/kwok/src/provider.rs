//! The engine's calls to the cloud, answered out of the catalogue and the API server's nodes.

use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::api::core::v1::Node;
use kube::api::{Api, DeleteParams, ListParams, Preconditions};
use kube::core::{ApiResource, DynamicObject, GroupVersionKind, Status};
use kube::{Client, Error, ResourceExt};
use plimsoll_api::{FailedRequest, Interner, convert, duration};
use plimsoll_base::ids::ProviderId;
use plimsoll_base::labels::Labels;
use plimsoll_base::time::Span;
use plimsoll_model::ClassRef;
use plimsoll_model::action::{
    Answer, ClaimLaunch, CloudCall, LaunchAnswer, LaunchRequest, LaunchedInstance, ListedInstance,
    Outcome, Reason,
};
use plimsoll_model::catalogue::Catalogues;
use plimsoll_model::plan::LaunchOption;

use crate::faults::FaultPlan;
use crate::machine::{machine, provider_id};
use crate::{DOMAIN, PROVIDER_PREFIX};

/// The kind of class that this provider serves.
pub(crate) const CLASS: &str = "KWOKNodeClass";

/// Selects the nodes that KWOK keeps.
const FAKE: &str = "kwok.x-k8s.io/node=fake";
/// Nodes that are listed at once.
const PAGE: u32 = 500;

/// The provider.
#[derive(Clone)]
pub struct Kwok {
    client: Client,
    catalogues: Arc<Catalogues>,
    faults: Option<Arc<FaultPlan>>,
}

/// Why a class gives no instances.
pub(crate) enum ClassFault {
    /// There is no such class, in words.
    Missing(String),
    /// It cannot be used, in words.
    Unusable(String),
    /// The API server did not say whether it can be used.
    Unknown,
}

impl Kwok {
    /// A provider that sells each class what its catalogue lists.
    pub fn new(client: Client, catalogues: Arc<Catalogues>) -> Self {
        Self {
            client,
            catalogues,
            faults: None,
        }
    }

    /// The same with what goes wrong.
    #[must_use]
    pub fn with_faults(mut self, plan: FaultPlan) -> Self {
        self.faults = Some(Arc::new(plan));
        self
    }

    /// Answers a call, as late as the fault plan says, if at all.
    pub async fn call(&self, call: &CloudCall) -> Outcome {
        let outcome = self.answer(call).await;
        let Some(plan) = &self.faults else {
            return outcome;
        };
        let delay = u64::try_from(plan.answer_delay().millis()).unwrap_or(0);
        tokio::time::sleep(Duration::from_millis(delay)).await;
        if plan.loses_answer() {
            return Outcome::Unknown;
        }
        outcome
    }

    async fn answer(&self, call: &CloudCall) -> Outcome {
        match call {
            CloudCall::Launch(request) => self.launch(request).await,
            CloudCall::Find(request) => self.find(request).await,
            CloudCall::List => self.list().await,
            // Its nodes have their claims' names already.
            CloudCall::Tag { .. } => Outcome::Done(Answer::Nothing),
            CloudCall::Get { instance } => self.get(instance).await,
            CloudCall::Terminate { instance } => self.terminate(instance).await,
        }
    }

    /// To each claim the first option that there is. Nothing is written: a node comes up once its claim says that it is launched.
    async fn launch(&self, request: &LaunchRequest) -> Outcome {
        let Some(class) = request.claims.first().map(|claim| &claim.class) else {
            return Outcome::Done(Answer::Launched(LaunchAnswer::default()));
        };
        match self.registration_delay(class).await {
            Ok(_) => {}
            Err(ClassFault::Missing(words)) => {
                return Outcome::Refused(Reason::ClassMissing(words));
            }
            Err(ClassFault::Unusable(words)) => {
                return Outcome::Refused(Reason::ClassNotReady(words));
            }
            Err(ClassFault::Unknown) => return Outcome::Unknown,
        }
        let faults = self.faults.as_ref();
        if let Some(words) = faults.and_then(|plan| plan.launch_error(class)) {
            return Outcome::Refused(Reason::Other(words));
        }
        let catalogue = self.catalogues.of(class);
        if let Some(plan) = &self.faults {
            return Outcome::Done(Answer::Launched(plan.launch(request, catalogue)));
        }
        let offerings = request.options.iter().map(LaunchOption::offering);
        let mut sold = offerings.filter_map(|key| catalogue.offering(&key));
        let Some(sold) = sold.find(|sold| sold.offering.available) else {
            let tried = request.options.iter().map(LaunchOption::offering).collect();
            return Outcome::Refused(Reason::out_of_stock(tried));
        };
        let claims = request.claims.iter();
        let launched = claims.map(|claim| ClaimLaunch::Instance(Box::new(machine(claim, sold))));
        Outcome::Done(Answer::Launched(LaunchAnswer {
            claims: launched.collect(),
            exhausted: Vec::new(),
        }))
    }

    /// The nodes of a launch's claims: where there is none yet, there is no instance.
    async fn find(&self, request: &LaunchRequest) -> Outcome {
        let mut answer = LaunchAnswer::default();
        for claim in &request.claims {
            let instance = ProviderId::from(provider_id(claim));
            answer.claims.push(match self.get(&instance).await {
                Outcome::Done(Answer::Instance(machine)) => ClaimLaunch::Instance(machine),
                Outcome::Done(_) => {
                    self.ended(&instance);
                    ClaimLaunch::Absent
                }
                _ => ClaimLaunch::Unknown,
            });
        }
        Outcome::Done(Answer::Launched(answer))
    }

    /// Every node that is not deleting, page by page.
    async fn list(&self) -> Outcome {
        let nodes: Api<Node> = Api::all(self.client.clone());
        let mut pages = ListParams::default().labels(FAKE).limit(PAGE);
        let mut listed = Vec::new();
        loop {
            let page = match nodes.list(&pages).await {
                Ok(page) => page,
                Err(error) => return failed("the nodes cannot be listed", &error),
            };
            listed.extend(page.items.iter().filter_map(listed_of));
            match page.metadata.continue_.filter(|more| !more.is_empty()) {
                Some(more) => pages.continue_token = Some(more),
                None => return Outcome::Done(Answer::Listed(listed)),
            }
        }
    }

    async fn get(&self, instance: &ProviderId) -> Outcome {
        let found = match self.node_of(instance).await {
            Ok(node) => node.as_ref().and_then(machine_of),
            Err(error) => return failed(&format!("instance {instance} cannot be read"), &error),
        };
        Outcome::Done(found.map_or(Answer::Absent, |machine| {
            Answer::Instance(Box::new(machine))
        }))
    }

    /// The node of an instance; another that bears its name is none.
    async fn node_of(&self, instance: &ProviderId) -> Result<Option<Node>, Error> {
        let Some(name) = instance.as_str().strip_prefix(PROVIDER_PREFIX) else {
            return Ok(None);
        };
        let nodes: Api<Node> = Api::all(self.client.clone());
        let node = nodes.get_opt(name).await?;
        Ok(node.filter(|node| {
            let spec = node.spec.as_ref();
            spec.and_then(|spec| spec.provider_id.as_deref()) == Some(instance.as_str())
        }))
    }

    /// An instance ends with its node: one that is deleting has none any more, and what another provider made is none of ours.
    async fn terminate(&self, instance: &ProviderId) -> Outcome {
        let node = match self.node_of(instance).await {
            Ok(node) => node.filter(|node| node.metadata.deletion_timestamp.is_none()),
            Err(error) => return failed(&format!("instance {instance} cannot be read"), &error),
        };
        let Some(node) = node else {
            self.ended(instance);
            return Outcome::Done(Answer::Gone);
        };
        let name = node.name_any();
        let only = DeleteParams {
            preconditions: Some(Preconditions {
                uid: node.uid(),
                resource_version: None,
            }),
            ..DeleteParams::default()
        };
        let nodes: Api<Node> = Api::all(self.client.clone());
        match nodes.delete(&name, &only).await {
            Ok(_) => Outcome::Done(Answer::Ending),
            Err(Error::Api(status)) if status.code == 404 => Outcome::Done(Answer::Gone),
            // Another bears the name by now: looked at again.
            Err(Error::Api(status)) if status.code == 409 => Outcome::Unknown,
            Err(error) => failed(&format!("node {name} cannot be deleted"), &error),
        }
    }

    /// How long a class's nodes take to come up, if it can be used at all.
    pub(crate) async fn registration_delay(&self, class: &ClassRef) -> Result<Span, ClassFault> {
        if class.group.as_ref() != DOMAIN || class.kind.as_ref() != CLASS {
            let words = format!(
                "class {}/{} {}: expected a {CLASS} of {DOMAIN}",
                class.group, class.kind, class.name
            );
            return Err(ClassFault::Unusable(words));
        }
        match classes(&self.client).get_opt(&class.name).await {
            Ok(Some(class)) => delay(&class).map_err(ClassFault::Unusable),
            Ok(None) => {
                let words = format!("{CLASS} {} does not exist", class.name);
                Err(ClassFault::Missing(words))
            }
            Err(error) => {
                let what = format!("{CLASS} {} cannot be read", class.name);
                Err(match failed(&what, &error) {
                    Outcome::Refused(Reason::Other(words)) => ClassFault::Unusable(words),
                    // Too many requests say nothing about the class.
                    Outcome::Refused(_) => {
                        tracing::warn!(%error, "{what}");
                        ClassFault::Unknown
                    }
                    _ => ClassFault::Unknown,
                })
            }
        }
    }

    /// How much longer than its class says a node takes to come up.
    pub(crate) fn boot_delay(&self, instance: &ProviderId) -> Span {
        let faults = self.faults.as_ref();
        faults.map_or(Span::ZERO, |plan| plan.boot_delay(instance))
    }

    /// How long after its launch an instance ends by itself; `None` for one that does not.
    pub(crate) fn lifetime(&self, instance: &ProviderId) -> Option<Span> {
        self.faults.as_ref()?.lifetime(instance)
    }

    /// How long before its end an instance that ends by itself is announced to.
    pub(crate) fn notice(&self) -> Span {
        self.faults
            .as_ref()
            .map_or(Span::ZERO, |plan| plan.notice())
    }

    /// An instance is no more: there may be another in its place.
    fn ended(&self, instance: &ProviderId) {
        if let Some(plan) = &self.faults {
            plan.ended(instance);
        }
    }

    pub(crate) fn client(&self) -> &Client {
        &self.client
    }
}

/// The classes at an API server.
pub(crate) fn classes(client: &Client) -> Api<DynamicObject> {
    let kind = GroupVersionKind::gvk(DOMAIN, "v1alpha1", CLASS);
    let resource = ApiResource::from_gvk_with_plural(&kind, "kwoknodeclasses");
    Api::all_with(client.clone(), &resource)
}

/// How a failed request ended, by what is to be done next. The cause of what stays unknown is only in the log.
fn failed(what: &str, error: &Error) -> Outcome {
    let outcome = match error {
        Error::Api(status) => refusal(status).outcome(),
        _ => Outcome::Unknown,
    };
    match outcome {
        Outcome::Refused(Reason::Rejected(said)) => {
            Outcome::Refused(Reason::Other(format!("{what}: {said}")))
        }
        Outcome::Unknown => {
            tracing::warn!(%error, "{what}");
            Outcome::Unknown
        }
        other => other,
    }
}

/// An API server's refusal, as far as it says what is to be done next.
fn refusal(status: &Status) -> FailedRequest<'_> {
    let details = status.details.as_ref();
    let causes = details.into_iter().flat_map(|details| &details.causes);
    FailedRequest {
        code: status.code,
        message: &status.message,
        causes: causes.map(|cause| cause.reason.as_str()).collect(),
        retry_after: details.map_or(0, |details| details.retry_after_seconds),
    }
}

fn delay(class: &DynamicObject) -> Result<Span, String> {
    let name = class.name_any();
    let conditions = class.data["status"]["conditions"].as_array();
    let ready = conditions
        .into_iter()
        .flatten()
        .find(|condition| condition["type"] == "Ready");
    if let Some(ready) = ready.filter(|ready| ready["status"] != "True") {
        let said = ready["message"].as_str().unwrap_or_default();
        return Err(format!("{CLASS} {name} is not ready: {said}"));
    }
    match class.data["spec"]["nodeRegistrationDelay"].as_str() {
        None => Ok(Span::ZERO),
        Some(text) => duration::parse(text).ok_or_else(|| {
            format!(
                "{CLASS} {name}: spec.nodeRegistrationDelay is \"{text}\"; expected {}",
                duration::EXPECTED
            )
        }),
    }
}

/// A node as it is listed; `None` for one that is deleting, and for one of another provider.
fn listed_of(node: &Node) -> Option<ListedInstance> {
    let id = node.spec.as_ref()?.provider_id.as_ref()?;
    let stays = node.metadata.deletion_timestamp.is_none();
    (stays && id.starts_with(PROVIDER_PREFIX)).then(|| ListedInstance {
        instance: ProviderId::from(id.as_str()),
        token: None,
        ending: None,
        drift: None,
    })
}

/// The instance behind a node; a node that is deleting has none any more.
fn machine_of(node: &Node) -> Option<LaunchedInstance> {
    let node = convert::node(node, &mut Interner::new()).ok()?;
    let id = node.provider_id.filter(|_| node.deleting.is_none())?;
    id.as_str()
        .starts_with(PROVIDER_PREFIX)
        .then_some(LaunchedInstance {
            provider_id: id,
            labels: node.labels,
            annotations: Labels::new(),
            capacity: node.capacity,
            allocatable: node.allocatable,
            image: None,
            launched: Some(node.created),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends(code: u16) -> Outcome {
        let status = Status {
            code,
            message: "no".to_owned(),
            ..Status::default()
        };
        failed("it cannot be read", &Error::Api(status.boxed()))
    }

    #[test]
    fn what_the_server_refuses_is_told_with_what_was_asked() {
        let words = "it cannot be read: no".to_owned();
        assert_eq!(ends(403), Outcome::Refused(Reason::Other(words)));
        assert_eq!(ends(429), Outcome::Refused(Reason::Throttled(None)));
        assert_eq!(ends(500), Outcome::Unknown);
    }
}
