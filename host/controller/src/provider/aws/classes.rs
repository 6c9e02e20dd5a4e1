//! EC2NodeClasses, kept up to date: each is looked at when it changes and once a minute, what was found is its status, and what follows is
//! told: which classes can be used, and what they sell.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use kube::Client;
use plimsoll_api::convert::class_status;
use plimsoll_api::kinds::{Condition, Ec2NodeClassStatus};
use plimsoll_aws::{Ec2, Market, NodeSettings, catalogues, reference};
use plimsoll_core::catalogue::Catalogues;
use plimsoll_core::engine::Input;
use plimsoll_core::model::ClassRef;
use plimsoll_core::provider::ClassStatus;
use plimsoll_kube::node_class::WatchedClasses;
use tokio::sync::mpsc::Sender;
use tokio::time::{Instant, sleep_until, timeout};

use super::market::Follower;
use super::reconciler::{Known, Reconciler};
use super::version::Version;
use crate::clock::Clock;

/// The first list of classes is waited for so long; without it nothing is sold until it comes.
const PATIENCE: Duration = Duration::from_secs(10);

/// Classes with what is said of each, by name.
type Told = Vec<(ClassRef, ClassStatus)>;

/// The classes of a cluster.
pub(super) struct Classes {
    ec2: Arc<Ec2>,
    reconciler: Reconciler,
    watched: WatchedClasses,
    known: BTreeMap<String, Known>,
    clock: Clock,
    market: Follower,
    version: Version,
    /// Classes and catalogues as they were told last.
    told: (Option<Told>, Option<Catalogues>),
}

impl Classes {
    pub(super) fn new(
        client: Client,
        ec2: Arc<Ec2>,
        (nodes, is_isolated): (NodeSettings, bool),
        market: Follower,
        version: Version,
    ) -> Self {
        Self {
            watched: WatchedClasses::start(&client),
            reconciler: Reconciler::new(client, Arc::clone(&ec2), nodes, is_isolated),
            ec2,
            known: BTreeMap::new(),
            clock: Clock::default(),
            market,
            version,
            told: (None, None),
        }
    }

    /// Waits for the first list and for what EC2 sells, and looks at all classes, so that the first decision knows what they sell.
    pub(super) async fn first(&mut self) {
        match timeout(PATIENCE, self.watched.changed()).await {
            Ok(Some(Err(error))) => {
                tracing::warn!(%error, "EC2NodeClasses cannot be listed; tried again");
            }
            Ok(_) => {}
            Err(_) => tracing::warn!("EC2NodeClasses were not listed in time"),
        }
        let market = self.market.first().await;
        self.sell(market);
        self.look().await;
    }

    pub(super) fn catalogues(&self) -> Arc<Catalogues> {
        let served = self
            .known
            .values()
            .filter_map(|known| known.served.as_ref());
        let free = self
            .known
            .values()
            .flat_map(|known| known.free.iter().cloned());
        Arc::new(catalogues(served, free))
    }

    /// Looks at classes as they change and as time passes, and tells what follows; ends when nobody listens any more.
    pub(super) async fn follow(mut self, say: Sender<Input>) {
        loop {
            if self.tell(&say).await.is_none() {
                return;
            }
            let due = self.known.values().map(|known| known.due).min();
            let sleep = async {
                match due {
                    Some(due) => sleep_until(due).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                changed = self.watched.changed() => match changed {
                    Some(Ok(())) => {}
                    Some(Err(error)) => {
                        tracing::warn!(%error, "EC2NodeClasses cannot be watched; tried again");
                    }
                    None => return,
                },
                market = self.market.next() => self.sell(market),
                () = self.ec2.news() => self.look_now(),
                () = sleep => {}
            }
            self.look().await;
        }
    }

    /// Tells what has changed; `None` once nobody listens.
    async fn tell(&mut self, say: &Sender<Input>) -> Option<()> {
        let classes = self.watched.all().iter().map(|(name, class)| {
            let status = self.known.get(name).and_then(|known| known.served.as_ref());
            let status = status
                .map(|served| served.status())
                .or(class.status.as_ref());
            let ready = status.and_then(ready);
            (reference(name), class_status(&class.metadata, ready))
        });
        let classes: Told = classes.collect();
        if self.told.0.as_ref() != Some(&classes) {
            self.told.0 = Some(classes.clone());
            say.send(Input::Classes(classes)).await.ok()?;
        }
        let catalogues = self.catalogues();
        if self.told.1.as_ref() != Some(&*catalogues) {
            self.told.1 = Some(Catalogues::clone(&catalogues));
            say.send(Input::Catalogues(catalogues)).await.ok()?;
        }
        Some(())
    }

    /// From now on classes sell what there is on that market: all are looked at anew.
    fn sell(&mut self, market: Market) {
        self.reconciler.market = market;
        for known in self.known.values_mut() {
            known.served = None;
        }
        self.look_now();
    }

    fn look_now(&mut self) {
        for known in self.known.values_mut() {
            known.due = Instant::now();
        }
    }

    /// Looks at every class for which it is time.
    async fn look(&mut self) {
        if self.version.follow(&self.ec2).await {
            self.look_now();
        }
        let classes = self.watched.all().clone();
        self.known.retain(|name, _| classes.contains_key(name));
        for (name, class) in classes {
            let known = self.known.get(&name);
            if known.is_some_and(|known| known.holds(&class, Instant::now())) {
                continue;
            }
            let looked = if class.metadata.deletion_timestamp.is_some() {
                self.reconciler.retire(&name, &class, known).await
            } else {
                let now = self.clock.now();
                Box::pin(self.reconciler.refresh(class, known, now)).await
            };
            self.known.insert(name, looked);
        }
        let served = self.known.values().filter_map(|known| known.served.clone());
        self.ec2.serve(served);
    }
}

fn ready(status: &Ec2NodeClassStatus) -> Option<&Condition> {
    status.conditions.iter().find(|own| own.kind == "Ready")
}
