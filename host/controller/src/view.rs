//! The cluster as it is seen: watches taken into an index, read against the API server, and told of where they fail.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use kube::Client;
use plimsoll_api::{Kind, ResizeRule};
use plimsoll_base::event_reason::EventReason;
use plimsoll_base::ids::{ObjectName, Uid};
use plimsoll_engine::Input;
use plimsoll_kube::event::Notice;
use plimsoll_kube::watch::{Failure, Ignored, Index, Watches};
use plimsoll_model::action::{ObjectKey, Order, Request};

use crate::freshness::{Freshness, Reads, failure};
use crate::notices::WaitingNotices;
use crate::telemetry::Telemetry;
use crate::trouble::{Troubles, on_pools};

/// Figures that only grow with time are set down again after this.
const SHOWN_AGAIN: Duration = Duration::from_secs(1);

/// All that is seen of a cluster, and how old it may be.
pub(crate) struct View {
    watches: Watches,
    index: Index,
    reads: Reads,
    freshness: Freshness,
    troubles: Troubles,
    /// Whether the engine takes the view to be fresh; `None` before it has been told.
    told: Option<bool>,
    notices: WaitingNotices,
    telemetry: Telemetry,
    /// Figures and health as they were set down last, and when.
    shown: Option<(Instant, State)>,
    /// NodeClaims of which nothing is known, as the engine has been told.
    unreadable: usize,
}

/// State that figures and health depend on.
#[derive(PartialEq, Eq)]
struct State {
    stale: Vec<Kind>,
    failing: Vec<Kind>,
    unlisted: usize,
    unreadable: BTreeMap<Kind, usize>,
}

impl View {
    /// Begins to watch these kinds; pods that are being resized count as the scheduler counts them.
    pub(crate) fn start(
        client: &Client,
        kinds: &[Kind],
        resizes: ResizeRule,
        telemetry: Telemetry,
    ) -> Self {
        Self {
            watches: Watches::start(client, kinds),
            index: Index::new(kinds).counting_resizes(resizes),
            reads: Reads::new(client.clone()),
            freshness: Freshness::new(kinds),
            troubles: Troubles::default(),
            told: None,
            notices: WaitingNotices::default(),
            telemetry,
            shown: None,
            unreadable: 0,
        }
    }

    /// The next news, as inputs of the engine; `None` when every watch has ended. Nothing is lost if the wait is given up.
    pub(crate) async fn next(&mut self) -> Option<Vec<Input>> {
        let mut inputs = Vec::new();
        let now = Instant::now();
        let wake = self.freshness.next_wake(now);
        let wake = wake.into_iter().chain(self.troubles.next_wake(now));
        let wake = wake.chain(self.notices.next_wake()).min();
        tokio::select! {
            event = self.watches.next() => {
                let (kind, change) = event?;
                let failure = failure(&change);
                inputs.extend(self.index.take((kind, change)));
                inputs.extend(self.index.flush());
                self.freshness.hear(kind, failure, &self.index, Instant::now());
            }
            Some(answered) = self.reads.next() => {
                self.freshness.answer(answered, &self.index, Instant::now());
            }
            () = until(wake) => {}
        }
        let now = Instant::now();
        for asked in self.freshness.ask(&self.index, now) {
            self.reads.begin(asked, now);
        }
        if let Some(unreadable) = self.unreadable_claims() {
            inputs.insert(0, unreadable);
        }
        inputs.extend(self.judge());
        let mut notices = Troubles::unreadable(self.index.take_unreadable());
        for Ignored { kind, name, words } in self.index.take_ignored() {
            tracing::warn!(kind = kind.as_str(), name, "{words}");
        }
        let stale = self.freshness.stale(now);
        self.show_changes(&stale, now);
        let pools: Vec<&str> = self.index.names(Kind::NodePool).collect();
        let told = self
            .troubles
            .of_view(&stale, self.freshness.failures(), &pools, now);
        notices.extend(told);
        self.tell(notices);
        Some(inputs)
    }

    /// An order has ended: what it wrote is not seen until the watch has caught up with a read that began after this.
    pub(crate) fn wrote(&mut self, order: &Order) -> Option<Input> {
        let now = Instant::now();
        for kind in written(order) {
            self.freshness.wrote(*kind, now);
        }
        self.judge()
    }

    /// The same for every pool, but for the many.
    pub(crate) fn on_pools(&self, reason: EventReason, words: &str) -> Vec<Notice> {
        let pools: Vec<&str> = self.index.names(Kind::NodePool).collect();
        on_pools(&pools, reason, words)
    }

    /// Name of a pod; `None` where there is none of this uid.
    pub(crate) fn pod(&self, uid: &Uid) -> Option<&ObjectName> {
        self.index.pod(uid)
    }

    /// Takes in events, to be published once their objects are seen.
    pub(crate) fn tell(&mut self, notices: impl IntoIterator<Item = Notice>) {
        for notice in notices {
            self.notices.add(notice, Instant::now());
        }
    }

    /// Events that are to be published now.
    pub(crate) fn take_notices(&mut self) -> Vec<Notice> {
        self.notices.take(&self.index, Instant::now())
    }

    /// Sets figures and health down where they have changed, and once a second.
    fn show_changes(&mut self, stale: &[Kind], now: Instant) {
        let failing = self.freshness.failures().map(Failure::kind);
        let state = State {
            stale: stale.to_vec(),
            failing: failing.collect(),
            unlisted: self.index.unlisted().count(),
            unreadable: self.index.unreadable(),
        };
        let is_due = self
            .shown
            .as_ref()
            .is_none_or(|(at, shown)| now >= *at + SHOWN_AGAIN || *shown != state);
        if is_due {
            self.show(stale, now);
            self.shown = Some((now, state));
        }
    }

    fn show(&self, stale: &[Kind], now: Instant) {
        let telemetry = &self.telemetry;
        telemetry.see(stale.is_empty(), now);
        let failures = self.freshness.failures();
        let lasting = failures.filter(|failure| failure.needs_people());
        let mut unready: Vec<String> = lasting.map(ToString::to_string).collect();
        for kind in self.index.unlisted() {
            unready.push(format!("{} have not been listed yet", kind.plural()));
        }
        telemetry.unready(unready);
        for (kind, health) in self.freshness.health(now) {
            let labels = [("kind", kind.as_str())];
            let flag = |is: bool| if is { 1.0 } else { 0.0 };
            telemetry.set("plimsoll_watch_stale", &labels, flag(stale.contains(&kind)));
            telemetry.set("plimsoll_watch_failing", &labels, flag(health.is_failing));
            if let Some(silent) = health.silent {
                let name = "plimsoll_watch_silent_seconds";
                telemetry.set(name, &labels, silent.as_secs_f64());
            }
        }
        telemetry.clear("plimsoll_unreadable_objects");
        for (kind, count) in self.index.unreadable() {
            let count = f64::from(u32::try_from(count).unwrap_or(u32::MAX));
            telemetry.set(
                "plimsoll_unreadable_objects",
                &[("kind", kind.as_str())],
                count,
            );
        }
    }

    /// How many claims there are of which nothing can be read, where that has changed.
    fn unreadable_claims(&mut self) -> Option<Input> {
        let count = self.index.unknown(Kind::NodeClaim);
        let before = std::mem::replace(&mut self.unreadable, count);
        (before != count).then_some(Input::UnreadableClaims(count))
    }

    /// Whether the view is fresh, where that has changed.
    fn judge(&mut self) -> Option<Input> {
        let stale = self.freshness.stale(Instant::now());
        let is_fresh = stale.is_empty();
        if self.told.replace(is_fresh) == Some(is_fresh) {
            return None;
        }
        Some(if is_fresh {
            Input::Fresh
        } else {
            let names = stale.into_iter().map(|kind| Arc::from(kind.as_str()));
            Input::Stale(names.collect())
        })
    }
}

/// Kinds that an order changes.
fn written(order: &Order) -> &'static [Kind] {
    match (&order.object, &order.request) {
        // A provider may keep its instances as nodes.
        (ObjectKey::Claim(_) | ObjectKey::Launch(_), Request::Cloud(_)) => {
            &[Kind::NodeClaim, Kind::Node]
        }
        (ObjectKey::Claim(_) | ObjectKey::Launch(_), Request::Write(_)) => &[Kind::NodeClaim],
        (ObjectKey::Node(_) | ObjectKey::Instance(_), _) => &[Kind::Node],
        (ObjectKey::Pod(_), _) => &[Kind::Pod],
        // Nothing is written, or only statuses, which decisions do not read.
        (
            ObjectKey::Cloud | ObjectKey::Buffer(_) | ObjectKey::Pool(_) | ObjectKey::Overlay(_),
            _,
        ) => &[],
    }
}

async fn until(wake: Option<Instant>) {
    match wake {
        Some(wake) => tokio::time::sleep_until(wake.into()).await,
        None => std::future::pending().await,
    }
}
