//! A class tried out: the calls of a launch are made without launching anything, so that a right that is missing, or user data that is too long,
//! is told before pods wait for it.
//!
//! The launch template is really made, since it can be had in no other way; it goes once nobody has used it for a minute.
//!
//! An instance profile that EC2 does not know yet is no result that lasts: one that was just made appears after some seconds.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use plimsoll_core::action::{LaunchBatch, LaunchRequest, Reason};
use plimsoll_core::catalogue::{CapacityType, InstanceType};
use plimsoll_core::fixed_hash::hash_of;
use plimsoll_core::model::NodeClaim;
use plimsoll_core::plan::LaunchOption;

use super::hash::{HASH_ANNOTATION, HASH_VERSION_ANNOTATION};
use crate::client::{CallError, Clients};
use crate::error::{ErrorClass, launch_failure};
use crate::launch::draft::{Draft, draft};
use crate::launch::kept::KeptTemplates;
use crate::served::ServedClass;
use crate::user_data::ClusterAccess;

/// A result holds for so long, unless the class changes: the incumbent's time.
const HOLDS: Duration = Duration::from_mins(30);
/// Types that are tried out where the class has an image for them: the incumbent's.
const USUAL: [&str; 2] = ["m5.large", "m6g.large"];

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
}

#[derive(Clone, Debug)]
struct Tried {
    content: u64,
    at: Instant,
    result: Result<(), Refusal>,
}

impl DryRuns {
    /// The result for a class as it is, where it was tried out less than half an hour before.
    fn known(&self, class: &ServedClass, now: Instant) -> Option<Result<(), Refusal>> {
        let by_class = self.by_class.lock().unwrap_or_else(PoisonError::into_inner);
        let tried = by_class.get(class.name())?;
        let holds =
            tried.content == content(class) && now.saturating_duration_since(tried.at) < HOLDS;
        holds.then(|| tried.result.clone())
    }

    fn note(&self, class: &ServedClass, now: Instant, result: &Result<(), Refusal>) {
        let tried = Tried {
            content: content(class),
            at: now,
            result: result.clone(),
        };
        let mut by_class = self.by_class.lock().unwrap_or_else(PoisonError::into_inner);
        by_class.insert(class.name().to_owned(), tried);
    }

    /// Tries a class out, or says what came of it lately. An error where AWS said neither; nothing follows from that.
    pub(crate) async fn try_out(
        &self,
        class: &ServedClass,
        cluster: &ClusterAccess,
        (clients, templates): (&Clients, &KeptTemplates),
        now: Instant,
    ) -> Result<Result<(), Refusal>, CallError> {
        if let Some(known) = self.known(class, now) {
            return Ok(known);
        }
        let Some(request) = request(class) else {
            return Ok(Ok(()));
        };
        let draft = match draft(class, cluster, &request) {
            Ok(draft) => draft,
            Err(Reason::ClassNotReady(message)) => {
                let reason = reason_of(&message);
                return Ok(Err(Refusal { reason, message }));
            }
            // There is nothing to try out.
            Err(_) => return Ok(Ok(())),
        };
        let names = draft.templates.iter().map(|(template, _)| template.name());
        let _in_use = templates.begin(names.collect(), now);
        let result = try_calls(&draft, class, clients).await?;
        if result.as_ref().is_err_and(|own| own.reason == NO_PROFILE) {
            return Ok(result);
        }
        self.note(class, now, &result);
        Ok(result)
    }
}

/// The condition's reason for what the class itself says wrong, which only its user data may by now.
fn reason_of(message: &str) -> &'static str {
    if message.contains("user data has") {
        "UserDataSizeLimitExceeded"
    } else {
        "UserDataInvalid"
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

/// A launch of one instance on demand, of a usual type where the class has one; `None` where it has none at all.
fn request(class: &ServedClass) -> Option<LaunchRequest> {
    let has_image = |own: &&Arc<InstanceType>| class.image_of(own).is_some();
    let usual = USUAL.iter().filter_map(|name| class.catalogue.get(name));
    let all = class.catalogue.types().iter();
    let chosen = usual
        .filter(has_image)
        .chain(all.filter(has_image))
        .next()?;
    let on_demand = chosen.offerings.iter();
    let on_demand = on_demand.filter(|own| own.capacity_type == CapacityType::OnDemand);
    let options: Vec<LaunchOption> = on_demand
        .map(|own| LaunchOption {
            instance_type: chosen.name.clone(),
            zone: own.zone.clone(),
            capacity_type: own.capacity_type,
            reservation: None,
            price: own.price,
            list_price: own.price,
        })
        .collect();
    // Nobody's: it asks for nothing.
    let claim = Arc::new(NodeClaim {
        class: class.reference(),
        ..NodeClaim::default()
    });
    (!options.is_empty()).then(|| LaunchRequest {
        batch: LaunchBatch::new([&claim.uid], 0, 0),
        claims: vec![claim],
        taken: [].into(),
        options,
    })
}

async fn try_calls(
    draft: &Draft,
    class: &ServedClass,
    clients: &Clients,
) -> Result<Result<(), Refusal>, CallError> {
    let mut fleet = draft.fleet("", 1, class.object.spec.context.as_ref());
    let read = |error, reason| read(error, reason, class);
    for (template, _) in &draft.templates {
        if let Err(error) = clients.ensure_template(template).await {
            return read(error, "CreateLaunchTemplateAuthCheckFailed").map(Err);
        }
    }
    fleet.templates.truncate(1);
    let Some((template, ways)) = fleet.templates.first() else {
        return Ok(Ok(()));
    };
    if let Err(error) = clients.try_fleet(&fleet).await {
        return read(error, "CreateFleetAuthCheckFailed").map(Err);
    }
    // One subnet in which instances may run is enough; of several refusals the first is told.
    let mut refused = None;
    for way in ways {
        let run = clients.try_run(template, &way.instance_type, &way.subnet, &fleet.tags);
        match run.await {
            Ok(()) => return Ok(Ok(())),
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
