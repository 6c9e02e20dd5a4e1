//! The engine's writes, as requests to the API server, and how each ended.
//!
//! A write is done as ordered or not at all: the uid and the version that an order names go with the request, so that the
//! server refuses what was decided on an older object, or on another of its name, which counts as the object being gone. What may have been done although no answer came is unknown, never failed.

mod claim;
mod difference;
mod last_answers;
mod node;
mod pod;
mod status;

use std::sync::Arc;

use kube::api::{DeleteParams, PatchParams};
use kube::core::{DynamicObject, Status};
use kube::{Client, Error, ResourceExt};
use plimsoll_api::{FailedRequest, Interner, Kind, Object};
use plimsoll_base::ids::Uid;
use plimsoll_base::time::Timestamp;
use plimsoll_model::Version;
use plimsoll_model::action::{Answer, Order, Outcome, Reason, Write};

use self::last_answers::LastAnswers;
use crate::FIELD_MANAGER;
use crate::resource::{api, to_object, version};

/// Carries writes out.
#[derive(Clone)]
pub struct Writer {
    client: Client,
    /// Shared by clones.
    claims: Arc<LastAnswers>,
}

/// Conditions of a write on the object as it is.
#[derive(Clone, Copy, Debug, Default)]
pub struct Preconditions<'a> {
    /// The uid that it must have; another object of its name counts as its being gone. `None` where any will do.
    pub uid: Option<&'a Uid>,
    /// The version that it must still have; `None` where any will do.
    pub version: Option<Version>,
}

impl<'a> Preconditions<'a> {
    /// The conditions that an order names.
    pub fn of(order: &'a Order) -> Self {
        Self {
            uid: order.uid.as_ref(),
            version: order.version,
        }
    }
}

/// Why a write has no answer.
enum Failure {
    Request(Box<Error>),
    /// The object has another version than the order names.
    Changed,
    /// There is no such object, or only another of its name.
    Gone,
    /// The object breaks the server's own rules and was not sent: the field and the rule, in words.
    Invalid(String),
    /// The server's answer makes no sense, in words.
    Answer(String),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Request(Box::new(error))
    }
}

impl Writer {
    /// A writer with a client's rights.
    pub fn new(client: Client) -> Self {
        Self {
            client,
            claims: Arc::default(),
        }
    }

    /// Carries out one write on these conditions; `now` is the time written into conditions of statuses.
    pub async fn write(&self, write: &Write, only: Preconditions<'_>, now: Timestamp) -> Outcome {
        match self.attempt(write, only, now).await {
            Ok(answer) => Outcome::Done(answer),
            Err(Failure::Changed) => Outcome::Conflict,
            Err(Failure::Gone) => Outcome::Refused(Reason::NotFound),
            Err(Failure::Invalid(words)) => Outcome::Refused(Reason::Rejected(words)),
            Err(Failure::Answer(words)) => Outcome::Refused(Reason::Other(words)),
            Err(Failure::Request(error)) => outcome(&error),
        }
    }

    async fn attempt(
        &self,
        write: &Write,
        only: Preconditions<'_>,
        now: Timestamp,
    ) -> Result<Answer, Failure> {
        match write {
            Write::CreateClaim { claim, pool } => self.create_claim(claim, pool).await,
            Write::ReadClaim(name) => self.read_claim(name).await,
            Write::ChangeClaim(name, change) => self.change_claim(name, change, only, now).await,
            Write::DeleteClaim(name) => self.delete(Kind::NodeClaim, name.as_str(), only.uid).await,
            Write::ChangeNode(name, change) => self.change_node(name, change, only).await,
            Write::ChangeStatus(object, change) => {
                self.change_status(object, change, only, now).await
            }
            Write::DeleteNode(name) => self.delete(Kind::Node, name.as_str(), only.uid).await,
            Write::Nominate { pod, uid, node } => self.nominate(pod, uid, node.as_ref()).await,
            Write::Evict { pod, uid, within } => self.evict(pod, uid, *within).await,
        }
    }

    async fn delete(&self, kind: Kind, name: &str, uid: Option<&Uid>) -> Result<Answer, Failure> {
        let api = api(&self.client, kind);
        let parameters = DeleteParams {
            preconditions: uid.map(|uid| kube::api::Preconditions {
                uid: Some(uid.as_str().to_owned()),
                resource_version: None,
            }),
            ..DeleteParams::default()
        };
        match api.delete(name, &parameters).await {
            Ok(deleted) => deleted
                .left()
                .map_or(Ok(Answer::Nothing), |object| answer(kind, object)),
            Err(error) => {
                let only = Preconditions { uid, version: None };
                Err(self.conflict(kind, name, only, error).await)
            }
        }
    }

    /// A conflict, or a refusal of what is written, may say that the object has changed or that another bears its name: which of both
    /// is read, but where a version was asked for: that is of no other object, and what there is now is about to be seen.
    async fn conflict(
        &self,
        kind: Kind,
        name: &str,
        only: Preconditions<'_>,
        error: Error,
    ) -> Failure {
        let uid = only.uid;
        if only.version.is_some() && is_status(&error, 409) {
            return Failure::Changed;
        }
        if uid.is_none() || !(is_status(&error, 409) || is_status(&error, 422)) {
            return error.into();
        }
        match api(&self.client, kind).get_opt(name).await {
            Ok(Some(object)) if is_it(&object, uid) => error.into(),
            Ok(_) => Failure::Gone,
            Err(_) => error.into(),
        }
    }
}

/// The object that came back, as the engine knows it.
fn answer(kind: Kind, object: DynamicObject) -> Result<Answer, Failure> {
    let version = version(&object);
    let read = to_object(kind, object, &mut Interner::new());
    let read = read.map_err(|error| Failure::Answer(format!("{kind} {error}")))?;
    Ok(match read {
        Object::Whole(known) => Answer::Object(known, version),
        Object::Part(_) | Object::Defaults(_) => Answer::Nothing,
    })
}

fn ours() -> PatchParams {
    PatchParams {
        field_manager: Some(FIELD_MANAGER.to_owned()),
        ..PatchParams::default()
    }
}

/// The version that a patch must find, as the server writes versions.
fn written(version: Option<Version>) -> Option<String> {
    version.map(|version| version.0.to_string())
}

/// `true` if an object has the uid that is asked for.
fn is_it(object: &DynamicObject, uid: Option<&Uid>) -> bool {
    uid.is_none_or(|uid| object.metadata.uid.as_deref() == Some(uid.as_str()))
}

fn check(object: &DynamicObject, expected: Option<Version>) -> Result<(), Failure> {
    match expected {
        Some(expected) if object.resource_version() != written(Some(expected)) => {
            Err(Failure::Changed)
        }
        _ => Ok(()),
    }
}

fn is_status(error: &Error, code: u16) -> bool {
    matches!(error, Error::Api(status) if status.code == code)
}

/// How a failed request ended, by what is to be done next.
fn outcome(error: &Error) -> Outcome {
    match error {
        Error::Api(status) => refusal(status).outcome(),
        _ => Outcome::Unknown,
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
