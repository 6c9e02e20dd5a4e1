//! The engine's writes, as requests to the API server, and how each ended.
//!
//! A write is done as ordered or not at all: the version that an order names goes with the request, so that the server
//! refuses what was decided on an older object. What may have been done although no answer came is unknown, never failed.

mod claim;
mod difference;
mod node;
mod pod;

use kube::api::{DeleteParams, PatchParams};
use kube::core::{DynamicObject, Status};
use kube::{Client, Error, ResourceExt};
use plimsoll_api::{FailedRequest, Interner, Kind, Object};
use plimsoll_core::action::{Answer, Outcome, Reason, Write};
use plimsoll_core::model::Version;
use plimsoll_core::time::Timestamp;

use crate::FIELD_MANAGER;
use crate::resource::{api, to_object, version};

/// Carries writes out.
#[derive(Clone)]
pub struct Writer {
    client: Client,
}

/// Why a write has no answer.
enum Failure {
    Request(Box<Error>),
    /// The object has another version than the order names.
    Changed,
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
        Self { client }
    }

    /// Carries out one write. `version` is what its object must still have; `now` is the time written into conditions.
    pub async fn write(&self, write: &Write, version: Option<Version>, now: Timestamp) -> Outcome {
        match self.attempt(write, version, now).await {
            Ok(answer) => Outcome::Done(answer),
            Err(Failure::Changed) => Outcome::Conflict,
            Err(Failure::Answer(words)) => Outcome::Refused(Reason::Other(words)),
            Err(Failure::Request(error)) => outcome(&error),
        }
    }

    async fn attempt(
        &self,
        write: &Write,
        version: Option<Version>,
        now: Timestamp,
    ) -> Result<Answer, Failure> {
        match write {
            Write::CreateClaim { claim, pool } => self.create_claim(claim, pool).await,
            Write::ReadClaim(name) => self.read_claim(name).await,
            Write::ChangeClaim(name, change) => self.change_claim(name, change, version, now).await,
            Write::DeleteClaim(name) => self.delete(Kind::NodeClaim, name.as_str()).await,
            Write::ChangeNode(name, change) => self.change_node(name, change, version).await,
            Write::DeleteNode(name) => self.delete(Kind::Node, name.as_str()).await,
            Write::Nominate { pod, uid, node } => self.nominate(pod, uid, node.as_ref()).await,
            Write::Evict { pod, uid, within } => self.evict(pod, uid, *within).await,
        }
    }

    async fn delete(&self, kind: Kind, name: &str) -> Result<Answer, Failure> {
        let api = api(&self.client, kind);
        let deleted = api.delete(name, &DeleteParams::default()).await?;
        deleted
            .left()
            .map_or(Ok(Answer::Nothing), |object| answer(kind, &object))
    }
}

/// The object that came back, as the engine knows it.
fn answer(kind: Kind, object: &DynamicObject) -> Result<Answer, Failure> {
    let read = to_object(kind, object, &mut Interner::new());
    let read = read.map_err(|error| Failure::Answer(format!("{kind} {error}")))?;
    Ok(match read {
        Object::Whole(known) => Answer::Object(known, version(object)),
        Object::Part(_) => Answer::Nothing,
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
