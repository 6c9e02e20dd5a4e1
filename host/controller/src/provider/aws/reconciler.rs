//! A class looked at: what it stands for is asked of AWS and written down, or, where it goes, what was made for it is taken away.

use std::sync::Arc;
use std::time::Duration;

use kube::Client;
use plimsoll_api::kinds::{Ec2NodeClass, Ec2NodeClassStatus};
use plimsoll_aws::{
    CallError, Ec2, HASH_ANNOTATION, HASH_VERSION, HASH_VERSION_ANNOTATION, Market, NodeSettings,
    Reconciled, Refusal, ServedClass, look, retire,
};
use plimsoll_core::catalogue::Subnet;
use plimsoll_core::time::Timestamp;
use plimsoll_core::words::shortened;
use plimsoll_kube::event::{Notice, Publisher};
use plimsoll_kube::node_class;
use tokio::time::Instant;

/// After something that failed at the API server.
const AGAIN: Duration = Duration::from_secs(2);
/// Reason of a class whose specification cannot be read, where nothing else is wrong with it.
const UNREADABLE: &str = "InvalidConfiguration";
/// Reason of the event that a class waits for claims: the incumbent's.
const WAITING: &str = "WaitingOnNodeClaimTermination";
/// A class that goes while claims name it is looked at again after so long.
const WAITS: Duration = Duration::from_secs(5);

/// Whoever looks at classes.
pub(super) struct Reconciler {
    publisher: Publisher,
    client: Client,
    ec2: Arc<Ec2>,
    nodes: NodeSettings,
    /// `true` in a network without a way to IAM.
    is_isolated: bool,
    /// Types and prices of the region, as they were told last.
    pub(super) market: Market,
}

/// A class that was looked at.
pub(super) struct Known {
    uid: Option<String>,
    generation: Option<i64>,
    is_going: bool,
    pub(super) due: Instant,
    pub(super) served: Option<Arc<ServedClass>>,
    pub(super) free: Vec<Subnet>,
    /// Calls that failed.
    failed: Vec<CallError>,
    /// What people were told last of the claims that it waits for, where it goes.
    told: Option<String>,
}

impl Known {
    /// `true` if this is the class that was looked at, and it is not time to do so again.
    pub(super) fn holds(&self, class: &Ec2NodeClass, now: Instant) -> bool {
        let metadata = &class.metadata;
        self.uid == metadata.uid
            && self.generation == metadata.generation
            && self.is_going == metadata.deletion_timestamp.is_some()
            && now < self.due
    }
}

impl Reconciler {
    pub(super) fn new(
        client: Client,
        ec2: Arc<Ec2>,
        nodes: NodeSettings,
        is_isolated: bool,
    ) -> Self {
        let market = Market::of_tables(ec2.clients().region());
        Self {
            publisher: Publisher::new(client.clone()),
            client,
            ec2,
            nodes,
            is_isolated,
            market,
        }
    }

    /// Asks AWS what a class stands for, and writes it down; `last` is what the last look at it came to, with the same prices.
    pub(super) async fn refresh(
        &self,
        mut class: Ec2NodeClass,
        last: Option<&Known>,
        now: Timestamp,
    ) -> Known {
        self.know_cluster().await;
        let looked = look(&class, &self.ec2.cluster(), self.ec2.clients(), now).await;
        let looked = looked.with_queue(&self.ec2.queue());
        let before = class.clone();
        class.status = Some(looked.status.clone());
        let served = self.served(class, last);
        let tried = match &served {
            Ok(served) if looked.is_sound() => self.ec2.try_out(served).await,
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
        let name = before.metadata.name.as_deref().unwrap_or_default();
        // The same failure is told once.
        let told = last.map(|last| last.failed.as_slice()).unwrap_or_default();
        for error in failed.iter().filter(|error| !told.contains(error)) {
            tracing::warn!(class = name, %error, "EC2NodeClass is not brought up to date; tried again");
        }
        let (served, written) = match served {
            Ok(served) => {
                let served = with_status(served, status);
                let written = self.write(&before, &served).await;
                (Some(served), written)
            }
            // Its conditions say why.
            Err(_) => (None, self.write_unserved(&before, &status).await),
        };
        let again = match written {
            Ok(()) => again,
            Err(error) => {
                tracing::warn!(class = name, %error, "EC2NodeClass is not written; tried again");
                AGAIN
            }
        };
        Known {
            served,
            free,
            failed,
            ..Self::looked(&before, again)
        }
    }

    /// The class as launches see it: that of the last look where the class says the same, since what it sells takes some reckoning.
    fn served(
        &self,
        class: Ec2NodeClass,
        last: Option<&Known>,
    ) -> Result<Arc<ServedClass>, String> {
        let last = last.and_then(|last| last.served.as_ref());
        if let Some(same) = last.filter(|last| last.is_of(&class)) {
            return Ok(Arc::clone(same));
        }
        let cluster = self.ec2.cluster();
        let served = ServedClass::new(class, &self.market, &cluster.ca_bundle, self.nodes);
        served.map(Arc::new)
    }

    fn looked(class: &Ec2NodeClass, again: Duration) -> Known {
        Known {
            uid: class.metadata.uid.clone(),
            generation: class.metadata.generation,
            is_going: class.metadata.deletion_timestamp.is_some(),
            due: Instant::now() + again,
            served: None,
            free: Vec::new(),
            failed: Vec::new(),
            told: None,
        }
    }

    /// Addresses of the cluster's services are asked for until they are known: nodes need them, and they stay.
    async fn know_cluster(&self) {
        let mut cluster = (*self.ec2.cluster()).clone();
        if cluster.service_cidr.is_some() {
            return;
        }
        match self.ec2.clients().service_cidr(&cluster.name).await {
            Ok(cidr) => {
                cluster.service_cidr = cidr;
                self.ec2.set_cluster(cluster);
            }
            Err(error) => {
                tracing::warn!(%error, "addresses of the cluster's services are not known");
            }
        }
    }

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
        node_class::write_metadata(&self.client, class, true, &hashes).await?;
        node_class::write_status(&self.client, class, served.status()).await
    }

    /// A class that nothing can be launched of has its finalizer and its conditions, and the hash that it had.
    async fn write_unserved(
        &self,
        class: &Ec2NodeClass,
        status: &Ec2NodeClassStatus,
    ) -> Result<(), kube::Error> {
        node_class::write_metadata(&self.client, class, true, &[]).await?;
        node_class::write_status(&self.client, class, status).await
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

    /// Tells people; an event that cannot be written is in the log.
    async fn publish(&self, notice: Notice) {
        if let Err(error) = self.publisher.publish(&notice).await {
            tracing::warn!(%error, reason = notice.reason, "event not published");
        }
    }

    /// Lets a class go once no claim names it, with what was made for it.
    pub(super) async fn retire(
        &self,
        name: &str,
        class: &Ec2NodeClass,
        last: Option<&Known>,
    ) -> Known {
        let claims = match node_class::claims_of(&self.client, name).await {
            Ok(claims) => claims,
            Err(error) => {
                tracing::warn!(class = name, %error, "claims cannot be listed; tried again");
                return Self::looked(class, AGAIN);
            }
        };
        if !claims.is_empty() {
            let claims = claims.iter().map(|claim| claim.name.as_str());
            let words = waits_for(&claims.collect::<Vec<_>>());
            tracing::debug!(class = name, "EC2NodeClass {words}");
            if last.is_none_or(|last| last.told.as_ref() != Some(&words)) {
                self.publish(Notice::of_class(class, WAITING, words.clone()))
                    .await;
            }
            return Known {
                told: Some(words),
                ..Self::looked(class, WAITS)
            };
        }
        let cluster = self.ec2.cluster();
        let (clients, is_isolated) = (self.ec2.clients(), self.is_isolated);
        if let Err(error) = retire(class, &cluster.name, clients, is_isolated).await {
            tracing::warn!(class = name, %error, "what was made for the EC2NodeClass cannot be deleted; tried again");
            return Self::looked(class, AGAIN);
        }
        if let Err(error) = node_class::write_metadata(&self.client, class, false, &[]).await {
            tracing::warn!(class = name, %error, "EC2NodeClass is not let go; tried again");
        }
        Self::looked(class, AGAIN)
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

/// A class as it was reckoned, with its conditions as they came out.
fn with_status(served: Arc<ServedClass>, status: Ec2NodeClassStatus) -> Arc<ServedClass> {
    if *served.status() == status {
        return served;
    }
    Arc::new(served.with_object(Ec2NodeClass {
        status: Some(status),
        ..served.object.clone()
    }))
}
