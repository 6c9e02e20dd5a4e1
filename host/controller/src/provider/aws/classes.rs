//! EC2NodeClasses, kept up to date: each is looked at when it changes and once a minute, what was found is its status, and what follows is
//! told: which classes can be used, and what they sell.

use std::sync::Arc;
use std::time::Duration;

use kube::Client;
use plimsoll_api::convert::class_status;
use plimsoll_api::kinds::{Condition, Ec2NodeClassStatus};
use plimsoll_aws::{Ec2, Market, NodeSettings, ServedClass, catalogues, reference};
use plimsoll_engine::Input;
use plimsoll_kube::node_class::WatchedClasses;
use plimsoll_model::ClassRef;
use plimsoll_model::catalogue::Catalogues;
use plimsoll_model::provider::ClassStatus;
use tokio::sync::mpsc::Sender;
use tokio::time::{Instant, sleep_until, timeout};

use super::looks::{Found, Looks};
use super::market::Follower;
use super::reconciler::Reconciler;
use super::version::Version;
use crate::clock::Clock;
use crate::publish::Notices;

/// The first list of classes is waited for so long, and then the first look at all of them; what is not known then is not sold until it is.
const PATIENCE: Duration = Duration::from_secs(10);
/// News of classes is told once no look is under way, and after so long at the latest: each word of what is sold has plans made anew.
const GATHERED: Duration = Duration::from_secs(1);

/// Classes with what is said of each, by name.
type Told = Vec<(ClassRef, ClassStatus)>;

/// The classes of a cluster.
pub(super) struct Classes {
    ec2: Arc<Ec2>,
    looks: Looks<Reconciler<Ec2>>,
    watched: WatchedClasses,
    clock: Clock,
    market: Follower,
    version: Version,
    /// Classes and catalogues as they were told last.
    told: (Option<Told>, Option<Catalogues>),
    /// When something that may be news is told at the latest.
    tell_at: Option<Instant>,
}

impl Classes {
    pub(super) fn new(
        (client, notices): (Client, Notices),
        ec2: Arc<Ec2>,
        (nodes, is_isolated): (NodeSettings, bool),
        market: Follower,
        version: Version,
    ) -> Self {
        let watched = WatchedClasses::start(&client);
        let reconciler = Reconciler::new((client, notices), Arc::clone(&ec2), nodes, is_isolated);
        let nothing_told = Market::of_tables(ec2.clients().region());
        Self {
            watched,
            looks: Looks::new(reconciler, nothing_told),
            ec2,
            clock: Clock::default(),
            market,
            version,
            told: (None, None),
            tell_at: None,
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
        self.looks.sell(market);
        self.look();
        let all = async {
            while !self.looks.is_idle() {
                self.looks.ended().await;
                self.look();
            }
        };
        if timeout(PATIENCE, all).await.is_err() {
            tracing::warn!("AWS has not said in time what all EC2NodeClasses stand for");
        }
    }

    /// Outcomes of the last looks at classes that stay.
    fn found(&self) -> impl Iterator<Item = &Found> {
        let classes = self.watched.all().iter();
        classes.filter_map(|(name, class)| self.looks.found(name, class))
    }

    fn served(&self) -> impl Iterator<Item = &Arc<ServedClass>> {
        self.found()
            .filter_map(|found| found.served.as_ref().map(|(served, _)| served))
    }

    pub(super) fn catalogues(&self) -> Arc<Catalogues> {
        let free = self.found().flat_map(|found| found.free.iter().cloned());
        Arc::new(catalogues(self.served(), free))
    }

    /// Looks at classes as they change and as time passes, and tells what follows; ends when the receiver is gone.
    pub(super) async fn follow(mut self, say: Sender<Input>) {
        loop {
            if self.is_time_to_tell() && self.tell(&say).await.is_none() {
                return;
            }
            let next = [self.looks.next(), self.tell_at].into_iter().flatten();
            let sleep = sleep_to(next.min());
            tokio::select! {
                changed = self.watched.changed() => match changed {
                    Some(Ok(())) => {}
                    Some(Err(error)) => {
                        tracing::warn!(%error, "EC2NodeClasses cannot be watched; tried again");
                    }
                    None => return,
                },
                () = self.looks.ended() => {}
                market = self.market.next() => self.looks.sell(market),
                () = self.ec2.news() => self.looks.look_now(),
                () = sleep => {}
            }
            self.look();
            if self.version.follow(&self.ec2).await {
                self.looks.look_now();
                self.look();
            }
        }
    }

    /// Looks at every class for which it is time; classes are launched as they are known, and those that have changed since are not.
    fn look(&mut self) {
        let classes = self.watched.all();
        self.looks.begin(classes, self.clock.now());
        self.ec2.serve(self.served().cloned());
        self.ec2.set_outdated(self.looks.outdated(classes));
    }

    /// `true` if what has come up meanwhile is told now.
    fn is_time_to_tell(&mut self) -> bool {
        let now = Instant::now();
        let latest = *self.tell_at.get_or_insert(now + GATHERED);
        let is_time = self.looks.is_idle() || latest <= now;
        if is_time {
            self.tell_at = None;
        }
        is_time
    }

    /// Reports what has changed; `None` once the receiver is gone.
    async fn tell(&mut self, say: &Sender<Input>) -> Option<()> {
        let classes = self.watched.all().iter().map(|(name, class)| {
            let found = self.looks.found(name, class);
            let served = found.and_then(|found| found.served.as_ref());
            let status = served.map(|(served, _)| served.status());
            let ready = status.or(class.status.as_ref()).and_then(ready);
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
}

async fn sleep_to(instant: Option<Instant>) {
    match instant {
        Some(instant) => sleep_until(instant).await,
        None => std::future::pending().await,
    }
}

fn ready(status: &Ec2NodeClassStatus) -> Option<&Condition> {
    status.conditions.iter().find(|own| own.kind == "Ready")
}
