//! Leadership: of all processes that serve a cluster one acts, the holder of a lease. It writes only as long as no other process can hold it.
//!
//! [`Candidate::lead`] waits until the lease is ours. From then on [`Leadership`] renews it beside all other work; [`Leadership::gate`] keeps
//! writes of a client within the term. A holder that cannot renew has lost: its process ends, and what it had begun is seen on the objects.

mod election;
mod gate;
mod record;

use std::time::{Duration, Instant};

use k8s_openapi::api::coordination::v1::Lease;
use kube::api::{Api, ObjectMeta, PostParams};
use kube::{Client, Error};
use thiserror::Error as ThisError;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{sleep_until, timeout};

use crate::clock::Clock;
use election::{Election, Record};

pub use election::Timings;
pub use gate::{Gate, Gated};

/// How long one request about the lease may take.
const REQUEST: Duration = Duration::from_secs(6);

/// The lease is not ours any more, or that is not known.
#[derive(Debug, ThisError)]
#[error(
    "lease {namespace}/{name} was lost: {cause}; another process may act now, and this one ends"
)]
pub struct Lost {
    namespace: String,
    name: String,
    /// Who holds it, or why it could not be renewed.
    cause: String,
}

/// A process that would lead.
#[derive(Clone)]
pub struct Candidate {
    /// The API server.
    pub client: Client,
    /// Namespace of the lease.
    pub namespace: String,
    /// Name of the lease.
    pub name: String,
    /// Name of this process, which no other has.
    pub identity: String,
    /// Time limits.
    pub timings: Timings,
}

/// A lease that is ours, and is being renewed.
pub struct Leadership {
    terms: watch::Receiver<Instant>,
    stop: watch::Sender<bool>,
    keeping: JoinHandle<Option<Lost>>,
}

impl Candidate {
    /// Waits until the lease is ours. While it is another's, or cannot be read, that is said whenever it changes.
    pub async fn lead(self) -> Leadership {
        let mut keeper = Keeper::new(self);
        let mut said = String::new();
        loop {
            let asked = Instant::now();
            let tried = keeper.attempt().await;
            if let Some(term) = keeper.election.term() {
                return keeper.keep_on(term);
            }
            let words = match (tried, keeper.election.holder()) {
                (Err(error), _) => format!("it cannot be had: {error}"),
                (Ok(()), Some(holder)) => format!("{holder} holds it"),
                (Ok(()), None) => "another was quicker".to_owned(),
            };
            if words != said {
                let (namespace, name) = (&keeper.of.namespace, &keeper.of.name);
                tracing::info!(namespace, name, "waiting for the lease: {words}");
                said = words;
            }
            sleep_until(keeper.election.next_try(asked).into()).await;
        }
    }
}

impl Leadership {
    /// Keeps writes of a client within the term.
    pub fn gate(&self) -> Gate {
        Gate::new(self.terms.clone())
    }

    /// Waits until the lease is lost. Nothing is lost if the wait is given up.
    pub async fn lost(&mut self) -> Lost {
        match (&mut self.keeping).await {
            Ok(Some(lost)) => lost,
            // Its task ends otherwise only when it is told to.
            _ => std::future::pending().await,
        }
    }

    /// Gives the lease up, so that another can take it at once. To be called when nothing is written any more.
    pub async fn release(self) {
        self.stop.send_replace(true);
        // A task that has failed leaves the lease to fall free by itself.
        let _ = self.keeping.await;
    }
}

/// Reads and writes the lease.
struct Keeper {
    of: Candidate,
    api: Api<Lease>,
    clock: Clock,
    election: Election,
    /// The lease as the last answer had it; `None` where the next try has to read it.
    current: Option<Lease>,
}

impl Keeper {
    fn new(of: Candidate) -> Self {
        Self {
            api: Api::namespaced(of.client.clone(), &of.namespace),
            clock: Clock::default(),
            election: Election::new(of.identity.clone(), of.timings),
            current: None,
            of,
        }
    }

    /// Tries once to take the lease or to renew it. That it is another's is no error.
    async fn attempt(&mut self) -> Result<(), Error> {
        if self.current.is_none() {
            self.current = in_time(self.api.get_opt(&self.of.name)).await?;
            match &self.current {
                Some(lease) => {
                    let record = Record::read(lease);
                    self.election.observe(record, Instant::now());
                }
                None => self.election.observe_none(),
            }
        }
        let asked = Instant::now();
        let current = self.current.take();
        let Some(record) = self.election.bid(asked, self.clock.now()) else {
            return Ok(());
        };
        match in_time(self.write(current, &record)).await {
            Ok(written) => {
                self.current = Some(written);
                self.election.won(record, asked, Instant::now());
                Ok(())
            }
            // Another was quicker: read again at the next try.
            Err(Error::Api(status)) if status.code == 409 => Ok(()),
            Err(error) => Err(error),
        }
    }

    async fn write(&self, current: Option<Lease>, record: &Record) -> Result<Lease, Error> {
        let parameters = PostParams::default();
        if let Some(mut lease) = current {
            lease.spec = Some(record.written());
            return self.api.replace(&self.of.name, &parameters, &lease).await;
        }
        let lease = Lease {
            metadata: ObjectMeta {
                name: Some(self.of.name.clone()),
                ..ObjectMeta::default()
            },
            spec: Some(record.written()),
        };
        self.api.create(&parameters, &lease).await
    }

    /// Renews in a task of its own, so that no other work delays it.
    fn keep_on(self, term: Instant) -> Leadership {
        let (namespace, name) = (&self.of.namespace, &self.of.name);
        tracing::info!(namespace, name, identity = self.of.identity, "leading");
        let (sender, terms) = watch::channel(term);
        let (stop, stopped) = watch::channel(false);
        Leadership {
            terms,
            stop,
            keeping: tokio::spawn(self.keep(sender, stopped)),
        }
    }

    /// Renews until told to stop, or the term ends.
    async fn keep(
        mut self,
        terms: watch::Sender<Instant>,
        mut stopped: watch::Receiver<bool>,
    ) -> Option<Lost> {
        let mut cause = "it was not renewed in time".to_owned();
        let mut asked = Instant::now();
        loop {
            let term = *terms.borrow();
            tokio::select! {
                biased;
                // A leadership that was dropped gives nothing up: the process is ending.
                is_told = told_to_stop(&mut stopped) => {
                    if is_told {
                        self.release().await;
                    }
                    return None;
                }
                () = sleep_until(term.into()) => return Some(self.lost(cause)),
                () = sleep_until(self.election.next_try(asked).into()) => {}
            }
            asked = Instant::now();
            if asked >= term {
                return Some(self.lost(cause));
            }
            match timeout(term - asked, self.attempt()).await {
                Ok(Ok(())) => {}
                Ok(Err(error)) => cause = error.to_string(),
                Err(_) => "the API server does not answer".clone_into(&mut cause),
            }
            match self.election.holder() {
                Some(holder) if holder != self.of.identity => {
                    let cause = format!("{holder} holds it");
                    return Some(self.lost(cause));
                }
                _ => {}
            }
            if let Some(term) = self.election.term() {
                terms.send_replace(term);
            }
        }
    }

    async fn release(&mut self) {
        let Some(lease) = self.current.take() else {
            return;
        };
        let record = Record {
            holder: String::new(),
            duration: Duration::from_secs(1),
            renewed: self.clock.now(),
            ..Record::read(&lease)
        };
        // A lease that is not given up falls free by itself.
        if let Err(error) = in_time(self.write(Some(lease), &record)).await {
            tracing::warn!(%error, "lease not released");
        }
    }

    fn lost(&self, cause: String) -> Lost {
        Lost {
            namespace: self.of.namespace.clone(),
            name: self.of.name.clone(),
            cause,
        }
    }
}

/// Waits for the word; `false` where the sender is gone.
async fn told_to_stop(stopped: &mut watch::Receiver<bool>) -> bool {
    stopped.wait_for(|stop| *stop).await.is_ok()
}

async fn in_time<T>(request: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
    let late = || Error::Service("the API server does not answer".into());
    timeout(REQUEST, request)
        .await
        .unwrap_or_else(|_| Err(late()))
}
