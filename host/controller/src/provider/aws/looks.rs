//! Looks at classes: each class is looked at when it changes and when it is time, by itself, so that one that AWS is slow to answer for holds
//! up no other.
//!
//! A class that changes while it is looked at is looked at anew at once; what was begun for it in AWS is found by the next look. One that
//! nothing was found out about stays as it was known; where it is another one by now, that is outdated.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use plimsoll_api::kinds::Ec2NodeClass;
use plimsoll_aws::{CallError, Market, ServedClass};
use plimsoll_base::time::Timestamp;
use plimsoll_model::catalogue::Subnet;
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::{Instant, timeout};

/// The most classes that are asked about at once: Karpenter's number. Those that go are not counted, since somebody waits for them.
const AT_ONCE: usize = 10;
/// A look that takes longer is given up. No call takes so long, so that a class that waits for one says in its conditions that there was no
/// answer.
const LONGEST: Duration = Duration::from_mins(5);
/// After a look that was given up.
const RETRY: Duration = Duration::from_secs(15);

/// Classes by name.
pub(super) type Classes = BTreeMap<String, Ec2NodeClass>;

/// The look at one class; `last` is what the last look has found.
pub(super) trait Look: Send + Sync + 'static {
    /// Asks AWS what a class stands for, and writes it down; it sells what there is on the market.
    fn refresh(
        &self,
        class: Ec2NodeClass,
        last: Found,
        market: Arc<Market>,
        now: Timestamp,
    ) -> impl Future<Output = Ended> + Send;

    /// Lets a class go once no claim names it, with what was made for it.
    fn retire(&self, class: Ec2NodeClass, last: Found) -> impl Future<Output = Ended> + Send;
}

/// The end of a look.
#[derive(Debug)]
pub(super) struct Ended {
    /// `None` where nothing was found out: what was known stands.
    pub(super) found: Option<Found>,
    /// When to look again.
    pub(super) again: Duration,
}

/// Outcome of a look that has found something out.
#[derive(Clone, Debug, Default)]
pub(super) struct Found {
    /// The class as launches see it, with the market that it sells what there is on; `None` where it cannot be launched.
    pub(super) served: Option<(Arc<ServedClass>, Arc<Market>)>,
    /// Free addresses of its subnets.
    pub(super) free: Vec<Subnet>,
    /// Calls that failed.
    pub(super) failed: Vec<CallError>,
    /// Words that people were told last of the claims that it waits for, where it goes; `None` before.
    pub(super) told: Option<String>,
}

/// A class, as far as it is looked at anew where that is another one.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Revision {
    uid: Option<String>,
    generation: Option<i64>,
    is_going: bool,
}

impl Revision {
    fn of(class: &Ec2NodeClass) -> Self {
        let metadata = &class.metadata;
        Self {
            uid: metadata.uid.clone(),
            generation: metadata.generation,
            is_going: metadata.deletion_timestamp.is_some(),
        }
    }
}

/// A class that was looked at.
struct Known {
    /// As it was when it was looked at last.
    revision: Revision,
    /// `true` if something was found out about it as it was then.
    is_found: bool,
    due: Instant,
    found: Found,
}

/// A look under way.
struct Running {
    revision: Revision,
    task: AbortHandle,
    /// `true` if something has come up meanwhile, so that it is looked at once more.
    is_again: bool,
}

/// Looks at the classes of a cluster.
pub(super) struct Looks<L> {
    look: Arc<L>,
    market: Arc<Market>,
    known: BTreeMap<String, Known>,
    running: BTreeMap<String, Running>,
    /// Ends of looks, `None` of those that were given up.
    tasks: JoinSet<Option<Ended>>,
    /// When the next look is due, but for those that wait for others to end.
    next: Option<Instant>,
}

impl<L: Look> Looks<L> {
    pub(super) fn new(look: L, market: Market) -> Self {
        Self {
            look: Arc::new(look),
            market: Arc::new(market),
            known: BTreeMap::new(),
            running: BTreeMap::new(),
            tasks: JoinSet::new(),
            next: None,
        }
    }

    /// Begins to look at those of a cluster's classes for which it is time, and gives up looks at those that are gone or other ones by now.
    pub(super) fn begin(&mut self, classes: &Classes, now: Timestamp) {
        self.known.retain(|name, _| classes.contains_key(name));
        self.running.retain(|name, running| {
            let class = classes.get(name);
            let is_same = class.is_some_and(|class| Revision::of(class) == running.revision);
            if !is_same {
                running.task.abort();
            }
            is_same
        });
        self.next = None;
        for (name, class) in classes {
            if self.running.contains_key(name) {
                continue;
            }
            let revision = Revision::of(class);
            let known = self.known.get(name);
            let known = known.filter(|known| known.revision == revision);
            match known.map(|known| known.due) {
                Some(due) if due > Instant::now() => {
                    self.next = Some(self.next.map_or(due, |next| next.min(due)));
                }
                _ if revision.is_going || self.asked_about() < AT_ONCE => {
                    self.start(name, class.clone(), revision, now);
                }
                // Its turn comes when another look ends.
                _ => {}
            }
        }
    }

    /// Number of classes that are asked about.
    fn asked_about(&self) -> usize {
        let running = self.running.values();
        running.filter(|own| !own.revision.is_going).count()
    }

    fn start(&mut self, name: &str, class: Ec2NodeClass, revision: Revision, now: Timestamp) {
        let (look, market) = (Arc::clone(&self.look), Arc::clone(&self.market));
        let last = self.last(name, &revision).map(|last| last.found.clone());
        let (last, is_going) = (last.unwrap_or_default(), revision.is_going);
        let looking = Box::pin(async move {
            if is_going {
                look.retire(class, last).await
            } else {
                look.refresh(class, last, market, now).await
            }
        });
        let task = async { timeout(LONGEST, looking).await.ok() };
        let running = Running {
            revision,
            task: self.tasks.spawn(task),
            is_again: false,
        };
        self.running.insert(name.to_owned(), running);
    }

    /// The last look at a class; `None` where that was at another one of the same name.
    fn last(&self, name: &str, revision: &Revision) -> Option<&Known> {
        let known = self.known.get(name);
        known.filter(|known| known.revision.uid == revision.uid)
    }

    /// Waits until a look ends, for ever where none is under way. Nothing is lost if the wait is given up.
    pub(super) async fn ended(&mut self) {
        while let Some(ended) = self.tasks.join_next_with_id().await {
            let (id, ended) = match ended {
                Ok((id, ended)) => (id, ended),
                Err(error) => (error.id(), None),
            };
            let mut running = self.running.iter();
            let own = running.find(|(_, running)| running.task.id() == id);
            // Others are of classes that were other ones then.
            if let Some(name) = own.map(|(name, _)| name.clone())
                && let Some(running) = self.running.remove(&name)
            {
                self.note(name, running, ended);
                return;
            }
        }
        std::future::pending::<()>().await;
    }

    fn note(&mut self, name: String, running: Running, ended: Option<Ended>) {
        let Ended { found, again } = ended.unwrap_or_else(|| {
            tracing::warn!(
                class = name,
                "the look at the EC2NodeClass was given up; tried again"
            );
            Ended {
                found: None,
                again: RETRY,
            }
        });
        let Running {
            revision, is_again, ..
        } = running;
        let last = self.last(&name, &revision);
        let was_found = last.is_some_and(|last| last.is_found && last.revision == revision);
        let is_found = found.is_some() || was_found;
        let found = found.or_else(|| last.map(|last| last.found.clone()));
        let again = if is_again { Duration::ZERO } else { again };
        let known = Known {
            revision,
            is_found,
            due: Instant::now() + again,
            found: found.unwrap_or_default(),
        };
        self.known.insert(name, known);
    }

    /// `true` if no look is under way.
    pub(super) fn is_idle(&self) -> bool {
        self.running.is_empty()
    }

    /// When the next look is due that waits for no other; `None` where there is none.
    pub(super) fn next(&self) -> Option<Instant> {
        self.next
    }

    /// All classes are looked at as soon as it can be.
    pub(super) fn look_now(&mut self) {
        for known in self.known.values_mut() {
            known.due = Instant::now();
        }
        for running in self.running.values_mut() {
            running.is_again = true;
        }
    }

    /// From now on classes sell what there is on that market: all are looked at anew.
    pub(super) fn sell(&mut self, market: Market) {
        self.market = Arc::new(market);
        self.look_now();
    }

    /// Names of classes that are not as they were when they were looked at, or were not looked at yet. Those that go are not among them.
    pub(super) fn outdated(&self, classes: &Classes) -> Vec<String> {
        let outdated = classes.iter().filter(|(name, class)| {
            let revision = Revision::of(class);
            let known = self.known.get(*name);
            let known = known.filter(|known| known.is_found && known.revision == revision);
            known.is_none() && !revision.is_going
        });
        outdated.map(|(name, _)| name.clone()).collect()
    }

    /// Outcome of the last look at a class that stays; `None` before the first.
    pub(super) fn found(&self, name: &str, class: &Ec2NodeClass) -> Option<&Found> {
        let revision = Revision::of(class);
        let known = self.last(name, &revision);
        known
            .filter(|_| !revision.is_going)
            .map(|known| &known.found)
    }
}
