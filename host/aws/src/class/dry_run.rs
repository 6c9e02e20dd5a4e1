//! A class tried out: the calls of a launch are made without launching anything, so that a right that is missing, or user data that is too long,
//! is told before pods wait for it.
//!
//! The launch template is really made, since it can be had in no other way; it is deleted once it has not been used for a minute.
//!
//! An instance profile that EC2 does not know yet is no result that lasts: one that was just made appears after some seconds.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use plimsoll_base::fixed_hash::hash_of;
use plimsoll_engine::Input;

use super::hash::{HASH_ANNOTATION, HASH_VERSION_ANNOTATION};
use super::trial::{Pools, Trial, in_all_subnets};
use crate::client::{CallError, Clients};
use crate::error::{ErrorClass, launch_failure};
use crate::launch::draft::{Draft, draft};
use crate::launch::draft_error::DraftError;
use crate::launch::kept::KeptTemplates;
use crate::served::ServedClass;
use crate::user_data::ClusterAccess;

/// A result holds for so long, unless the class changes: Karpenter's time.
const HOLDS: Duration = Duration::from_mins(30);

/// Reason of a class whose instance profile is not there.
const NO_PROFILE: &str = "InstanceProfileNotFound";

/// Why launches of a class would fail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// In Pascal case, as the class's condition names it.
    pub reason: &'static str,
    /// A sentence, with the way out.
    pub message: String,
}

/// Results by class, with what was tried out.
#[derive(Debug, Default)]
pub(crate) struct DryRuns {
    by_class: Mutex<BTreeMap<String, Tried>>,
    pools: Pools,
}

#[derive(Clone, Debug)]
struct Tried {
    content: u64,
    at: Instant,
    result: Result<(), Refusal>,
}

impl DryRuns {
    /// Follows the pools that launch of classes.
    pub(crate) fn observe(&self, input: &Input) {
        self.pools.observe(input);
    }

    /// The result for a class, where the same was tried out less than half an hour before.
    fn known(&self, class: &str, content: u64, now: Instant) -> Option<Result<(), Refusal>> {
        let by_class = self.by_class.lock().unwrap_or_else(PoisonError::into_inner);
        let tried = by_class.get(class)?;
        let holds = tried.content == content && now.saturating_duration_since(tried.at) < HOLDS;
        holds.then(|| tried.result.clone())
    }

    fn note(&self, class: &str, tried: Tried) {
        let mut by_class = self.by_class.lock().unwrap_or_else(PoisonError::into_inner);
        by_class.insert(class.to_owned(), tried);
    }

    /// Tries a class out, or says what came of it lately. An error where AWS said neither; nothing follows from that.
    pub(crate) async fn try_out(
        &self,
        class: &ServedClass,
        cluster: &ClusterAccess,
        (clients, templates): (&Clients, &KeptTemplates),
        now: Instant,
    ) -> Result<Result<(), Refusal>, CallError> {
        let Some(trial) = Trial::of(class, &self.pools) else {
            return Ok(Ok(()));
        };
        let content = hash_of(&format!("{} {:?}", content(class), trial.key()));
        if let Some(known) = self.known(class.name(), content, now) {
            return Ok(known);
        }
        let draft = match draft(class, cluster, &trial.request(class)) {
            Ok(draft) => draft,
            Err(DraftError::Class { fault, .. }) => {
                let (reason, message) = (fault.reason(), fault.to_string());
                return Ok(Err(Refusal { reason, message }));
            }
            // There is nothing to try out.
            Err(DraftError::NoClaims | DraftError::NothingToBuy(_)) => return Ok(Ok(())),
        };
        let names = draft.templates.iter().map(|(template, _)| template.name());
        let _in_use = templates.begin(names.collect(), now);
        let result = try_calls(&draft, class, clients).await?;
        if result.as_ref().is_err_and(|own| own.reason == NO_PROFILE) {
            return Ok(result);
        }
        let tried = Tried {
            content,
            at: now,
            result: result.clone(),
        };
        self.note(class.name(), tried);
        Ok(result)
    }
}

/// All that decides what is asked for: an annotation that somebody adds has it tried out again. Subnets are listed by their free
/// addresses, whose order says nothing of the class.
pub(crate) fn content(class: &ServedClass) -> u64 {
    let object = &class.object;
    let status = class.status();
    let annotations = object.metadata.annotations.iter().flatten();
    let annotations = annotations
        .filter(|(key, _)| ![HASH_ANNOTATION, HASH_VERSION_ANNOTATION].contains(&key.as_str()));
    let subnets: BTreeSet<&str> = status.subnets.iter().map(|own| own.id.as_str()).collect();
    hash_of(&format!(
        "{:?} {:?} {:?} {:?} {:?} {:?} {:?}",
        object.metadata.uid,
        annotations.collect::<Vec<_>>(),
        object.spec,
        subnets,
        status.security_groups,
        status.amis,
        status.instance_profile
    ))
}

/// The calls of a launch of one type, which has one template.
async fn try_calls(
    draft: &Draft,
    class: &ServedClass,
    clients: &Clients,
) -> Result<Result<(), Refusal>, CallError> {
    let Some((template, ways)) = draft.templates.first() else {
        return Ok(Ok(()));
    };
    let read = |error, reason| read(error, reason, class);
    if let Err(error) = clients.ensure_template(template).await {
        return read(error, "CreateLaunchTemplateAuthCheckFailed").map(Err);
    }
    // A fleet takes one subnet of each zone for a type.
    let fleet = draft.fleet("", 1, class.object.spec.context.as_ref());
    if let Err(error) = clients.try_fleet(&fleet).await {
        return read(error, "CreateFleetAuthCheckFailed").map(Err);
    }
    // One subnet in which instances may run is enough; of several refusals the first is told.
    let mut refused = None;
    for way in &in_all_subnets(ways, class) {
        match clients.try_run(template, way, &fleet.tags).await {
            Ok(()) => return Ok(Ok(())),
            // Nothing follows, and the others would only be throttled as well.
            Err(error) if error.class() == ErrorClass::Throttled => return Err(error),
            Err(error) => refused = refused.or(Some(error)),
        }
    }
    match refused {
        Some(error) => read(error, "RunInstancesAuthCheckFailed").map(Err),
        None => Ok(Ok(())),
    }
}

/// The refusal that an error means; the error itself where it means none.
fn read(error: CallError, reason: &'static str, class: &ServedClass) -> Result<Refusal, CallError> {
    let known = launch_failure(&error.code, &error.message);
    let is_named = class.object.spec.instance_profile.is_some();
    let reason = match (error.class(), known.reason) {
        (_, "UserDataSizeLimitExceeded") => "UserDataSizeLimitExceeded",
        (_, "InstanceProfileNameInvalid") if is_named => NO_PROFILE,
        (ErrorClass::Denied, _) => reason,
        _ => return Err(error),
    };
    Ok(Refusal {
        reason,
        message: format!("{}: {}", error.action, known.sentence),
    })
}
