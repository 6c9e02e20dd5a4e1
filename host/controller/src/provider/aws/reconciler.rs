//! A class looked at: what it stands for is asked of AWS and written down, or, where it goes, what was made for it is taken away.

#[cfg(test)]
mod tests;
mod unmet;

use std::sync::Arc;
use std::time::Duration;

use kube::Client;
use plimsoll_api::kinds::{Ec2NodeClass, Ec2NodeClassStatus};
use plimsoll_aws::{
    CallError, HASH_ANNOTATION, HASH_VERSION, HASH_VERSION_ANNOTATION, Market, NodeSettings,
    Reconciled, Refusal, ServedClass,
};
use plimsoll_base::event_reason::EventReason;
use plimsoll_base::time::Timestamp;
use plimsoll_base::words::shortened;
use plimsoll_kube::event::Notice;
use plimsoll_kube::node_class;
use plimsoll_model::ConditionType;

use super::class_calls::ClassCalls;
use super::looks::{Ended, Found, Look};
use crate::publish::Notices;

/// After something that failed at the API server.
const AGAIN: Duration = Duration::from_secs(2);
/// Reason of a class whose specification cannot be read, where nothing else is wrong with it.
const UNREADABLE: &str = "InvalidConfiguration";
/// A class that is removed while claims name it is looked at again after so long.
const WAITS: Duration = Duration::from_secs(5);

/// The reconciler of classes, by these calls to AWS.
pub(super) struct Reconciler<C> {
    notices: Notices,
    client: Client,
    calls: Arc<C>,
    nodes: NodeSettings,
    /// `true` in a network without a way to IAM.
    is_isolated: bool,
}

impl<C: ClassCalls> Look for Reconciler<C> {
    async fn refresh(
        &self,
        class: Ec2NodeClass,
        last: Found,
        market: Arc<Market>,
        now: Timestamp,
    ) -> Ended {
        let name = name(&class).to_owned();
        // What is made for it in AWS is taken away when it goes, and it goes unasked without our finalizer.
        let class = match node_class::write_metadata(&self.client, &class, true, &[]).await {
            Ok(class) => class,
            Err(error) => {
                tracing::warn!(class = name, %error, "EC2NodeClass is not held; tried again");
                return nothing_found(AGAIN);
            }
        };
        let looked = self.calls.look(&class, now).await;
        let served = self.served(&class, &looked.status, &last, &market);
        let tried = match &served {
            Ok(served) if looked.is_sound() => self.calls.try_out(served).await,
            Err(words) if looked.is_sound() => Ok(Err(Refusal {
                reason: UNREADABLE,
                message: words.clone(),
            })),
            _ => Ok(Ok(())),
        };
        let Reconciled {
            status,
            free,
            failed,
            again,
        } = looked.conclude(tried);
        let status = naming_ignored(status, &class);
        tell_failures(&name, &failed, &last.failed);
        let (served, written) = self.write_down(&class, served.ok(), status).await;
        let again = match written {
            Ok(()) => again,
            Err(error) => {
                tracing::warn!(class = name, %error, "EC2NodeClass is not written; tried again");
                AGAIN
            }
        };
        Ended {
            found: Some(Found {
                served: served.map(|served| (served, market)),
                free,
                failed,
                told: None,
            }),
            again,
        }
    }

    async fn retire(&self, class: Ec2NodeClass, last: Found) -> Ended {
        let name = name(&class);
        let claims = match node_class::claims_of(&self.client, name).await {
            Ok(claims) => claims,
            Err(error) => {
                tracing::warn!(class = name, %error, "claims cannot be listed; tried again");
                return nothing_found(AGAIN);
            }
        };
        if !claims.is_empty() {
            let claims = claims.iter().map(|claim| claim.name.as_str());
            let words = waits_for(&claims.collect::<Vec<_>>());
            tracing::debug!(class = name, "EC2NodeClass {words}");
            if last.told.as_ref() != Some(&words) {
                let reason = EventReason::WaitingOnNodeClaimTermination;
                let notice = Notice::of_class(&class, reason, words.clone());
                self.notices.publish(notice);
            }
            let found = Some(Found {
                told: Some(words),
                ..Found::default()
            });
            return Ended {
                found,
                again: WAITS,
            };
        }
        if let Err(error) = self.calls.retire(&class, self.is_isolated).await {
            tracing::warn!(class = name, %error, "what was made for the EC2NodeClass cannot be deleted; tried again");
            return nothing_found(AGAIN);
        }
        if let Err(error) = node_class::write_metadata(&self.client, &class, false, &[]).await {
            tracing::warn!(class = name, %error, "EC2NodeClass is not let go; tried again");
        }
        nothing_found(AGAIN)
    }
}

impl<C: ClassCalls> Reconciler<C> {
    pub(super) fn new(
        (client, notices): (Client, Notices),
        calls: Arc<C>,
        nodes: NodeSettings,
        is_isolated: bool,
    ) -> Self {
        Self {
            notices,
            client,
            calls,
            nodes,
            is_isolated,
        }
    }

    /// The class as launches see it, with this status: that of the last look where the class says the same, since what it sells takes some
    /// reckoning. A sentence where its specification cannot be read.
    fn served(
        &self,
        class: &Ec2NodeClass,
        status: &Ec2NodeClassStatus,
        last: &Found,
        market: &Arc<Market>,
    ) -> Result<Arc<ServedClass>, String> {
        let class = Ec2NodeClass {
            status: Some(status.clone()),
            ..class.clone()
        };
        if let Some((served, its)) = &last.served
            && Arc::ptr_eq(its, market)
            && served.is_of(&class)
        {
            return Ok(Arc::clone(served));
        }
        if let Some(problem) = &class.unread.problem {
            return Err(problem.to_string());
        }
        let ca_bundle = self.calls.ca_bundle();
        let served = ServedClass::new(class, market, &ca_bundle, self.nodes);
        served.map(Arc::new)
    }

    /// Writes down how a class stands, and returns it as launches see it from now on. Of one that nothing can be launched of, the conditions
    /// say why; it has the hash that it had. Events tell of what was written, and of nothing else: what was not is found again.
    async fn write_down(
        &self,
        class: &Ec2NodeClass,
        served: Option<Arc<ServedClass>>,
        status: Ec2NodeClassStatus,
    ) -> (Option<Arc<ServedClass>>, Result<(), kube::Error>) {
        let served = served.map(|served| with_status(served, class, status.clone()));
        let written = match &served {
            Some(served) => self.write(class, served).await,
            None => node_class::write_status(&self.client, class, &status).await,
        };
        if written.is_ok() {
            self.tell_unmet(class, &status);
        }
        (served, written)
    }

    /// Tells of conditions that a class begins not to meet, in the log and in events on the class.
    fn tell_unmet(&self, class: &Ec2NodeClass, status: &Ec2NodeClassStatus) {
        let name = name(class);
        for condition in unmet::newly(class, status) {
            let (reason, words) = (&condition.reason, unmet::words(condition));
            tracing::warn!(class = name, reason, "EC2NodeClass is not ready: {words}");
            self.notices.publish(unmet::notice(class, condition));
        }
    }

    /// Writes the hash of a class, and its status.
    async fn write(&self, class: &Ec2NodeClass, served: &ServedClass) -> Result<(), kube::Error> {
        let hashes = [
            (HASH_ANNOTATION, served.hash.as_str()),
            (HASH_VERSION_ANNOTATION, HASH_VERSION),
        ];
        let own = class.metadata.annotations.as_ref();
        let version = own.and_then(|own| own.get(HASH_VERSION_ANNOTATION));
        if version.is_none_or(|version| version != HASH_VERSION) {
            self.carry_over(served, &hashes).await?;
        }
        let class = node_class::write_metadata(&self.client, class, true, &hashes).await?;
        node_class::write_status(&self.client, &class, served.status()).await
    }

    /// Hashes by other rules say nothing of drift: the claims of the class get its own, unless they are drifted already.
    async fn carry_over(
        &self,
        class: &ServedClass,
        hashes: &[(&str, &str)],
    ) -> Result<(), kube::Error> {
        for claim in node_class::claims_of(&self.client, class.name()).await? {
            let version = claim.annotations.get(HASH_VERSION_ANNOTATION);
            if version.is_some_and(|version| version == HASH_VERSION) {
                continue;
            }
            let hashes = if claim.is_drifted {
                &hashes[1..]
            } else {
                hashes
            };
            node_class::annotate_claim(&self.client, &claim.name, hashes).await?;
        }
        Ok(())
    }
}

fn name(class: &Ec2NodeClass) -> &str {
    class.metadata.name.as_deref().unwrap_or_default()
}

fn nothing_found(again: Duration) -> Ended {
    Ended { found: None, again }
}

/// A status whose condition of validity names what of the class was ignored.
fn naming_ignored(mut status: Ec2NodeClassStatus, class: &Ec2NodeClass) -> Ec2NodeClassStatus {
    let valid = ConditionType::ValidationSucceeded.as_str();
    let conditions = status.conditions.iter_mut();
    for condition in conditions.filter(|own| own.kind == valid && own.status == "True") {
        condition.message = shortened(&class.unread.ignored);
    }
    status
}

/// Tells of calls that failed; the same failure is told once.
fn tell_failures(class: &str, failed: &[CallError], told: &[CallError]) {
    for error in failed.iter().filter(|error| !told.contains(error)) {
        tracing::warn!(class, %error, "EC2NodeClass is not brought up to date; tried again");
    }
}

/// A sentence: the claims that a class waits for, by name.
fn waits_for(claims: &[&str]) -> String {
    format!(
        "is asked to go and waits for {}, which use it: {}",
        match claims.len() {
            1 => "1 NodeClaim".to_owned(),
            many => format!("{many} NodeClaims"),
        },
        shortened(claims)
    )
}

/// A class as it was reckoned, as the object is now, with its conditions as they came out.
fn with_status(
    served: Arc<ServedClass>,
    class: &Ec2NodeClass,
    status: Ec2NodeClassStatus,
) -> Arc<ServedClass> {
    let is_same = served.object.metadata.generation == class.metadata.generation;
    if is_same && *served.status() == status {
        return served;
    }
    Arc::new(served.with_object(Ec2NodeClass {
        status: Some(status),
        ..class.clone()
    }))
}
