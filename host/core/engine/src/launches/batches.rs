//! Batches: claims that wait to be launched together, and launches that are written on claims.
//!
//! Nothing is decided here; the table says who waits for whom, who bears which token, and when to look again.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use plimsoll_base::ids::{ClaimName, LaunchToken};
use plimsoll_base::time::{Span, Timestamp};
use plimsoll_model::NodeClaim;
use plimsoll_model::action::{LaunchBatch, Reason, machine_digest};
use plimsoll_model::plan::LaunchOption;
use plimsoll_model::provider::LaunchWindow;

/// How long a batch that was found, and that is not whole, is left alone: who wrote it may be about to go on, or its view may.
const TORN_PATIENCE: Span = Span::from_secs(5);

/// Launches that are being gathered, and those that are written on claims.
#[derive(Clone, Debug, Default)]
pub(crate) struct Launches {
    /// Claims that wait for others, by what they ask for.
    pub(super) windows: BTreeMap<u64, Gathering>,
    /// Claims that are being created, by the instance that they will ask for.
    coming: BTreeMap<u64, BTreeSet<ClaimName>>,
    pub(super) batches: BTreeMap<LaunchToken, OpenBatch>,
    /// Batches to be looked at now.
    due: BTreeSet<LaunchToken>,
    /// Batches to be looked at later.
    pub(super) timers: BTreeSet<(Timestamp, LaunchToken)>,
}

/// Claims that wait to be launched together.
#[derive(Clone, Debug)]
pub(super) struct Gathering {
    first: Timestamp,
    last: Timestamp,
    /// The instance that they ask for.
    machine: u64,
    pub(super) options: Arc<Vec<LaunchOption>>,
    pub(super) claims: BTreeSet<ClaimName>,
}

impl Gathering {
    /// When it is over, however few have come; as long as more are being created only its longest time ends it.
    fn end(&self, setting: LaunchWindow, are_coming: bool) -> Timestamp {
        let longest = self.first + setting.longest;
        if are_coming {
            return longest;
        }
        longest.min(self.last + setting.idle)
    }
}

/// Claims with one token.
#[derive(Clone, Debug, Default)]
pub(super) struct OpenBatch {
    pub(super) size: usize,
    /// Claims that bear it.
    pub(super) bearers: BTreeSet<ClaimName>,
    /// Claims that are to bear it: the call was not made.
    pub(super) unwritten: BTreeSet<ClaimName>,
    /// `true` once one of its claims was asked to go.
    pub(super) goes: bool,
    /// Since when claims of it are missing that this process will not write.
    torn: Option<Timestamp>,
    /// `true` if a call may have been made whose answer this process has not heard.
    is_unsure: bool,
    /// Why the last call was refused, where an earlier one may have been carried out: it is read back first.
    pub(super) refused: Option<Reason>,
}

impl OpenBatch {
    /// A batch of these claims, whose token is on none of them yet.
    pub(super) fn of(claims: &[Arc<NodeClaim>]) -> Self {
        Self {
            size: claims.len(),
            unwritten: claims.iter().map(|claim| claim.name.clone()).collect(),
            goes: claims.iter().any(|claim| claim.deleting.is_some()),
            ..Self::default()
        }
    }
}

impl Launches {
    /// When a window ends, or a batch is to be looked at again.
    pub(crate) fn next_wake(&self, setting: LaunchWindow) -> Option<Timestamp> {
        let windows = self.windows.values();
        let windows = windows.map(|window| window.end(setting, self.are_coming(window)));
        let batches = self.timers.first().map(|(at, _)| *at);
        windows.chain(batches).min()
    }

    /// Claims that wait for others.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = &ClaimName> {
        self.windows.values().flat_map(|window| &window.claims)
    }

    /// The outcome of a call for a batch is unknown.
    pub(crate) fn doubt(&mut self, token: &LaunchToken) {
        if let Some(batch) = self.batches.get_mut(token) {
            batch.is_unsure = true;
        }
    }

    /// A call for a batch was refused; `true` if an earlier one may have been carried out, so that it must be read back.
    pub(crate) fn refuse(&mut self, token: &LaunchToken, reason: &Reason) -> bool {
        let batch = self.batches.get_mut(token).filter(|batch| batch.is_unsure);
        let is_unsure = batch.is_some();
        if let Some(batch) = batch {
            batch.refused = Some(reason.clone());
        }
        is_unsure
    }

    /// A batch was read back: why it was refused before that, if it was.
    pub(crate) fn take_refusal(&mut self, token: &LaunchToken) -> Option<Reason> {
        self.batches.get_mut(token)?.refused.take()
    }

    /// Looks at a batch in this round.
    pub(crate) fn look_at(&mut self, token: &LaunchToken) {
        self.due.insert(token.clone());
    }

    pub(super) fn take_due(&mut self, now: Timestamp) -> BTreeSet<LaunchToken> {
        while let Some((at, _)) = self.timers.first()
            && *at <= now
        {
            self.due
                .extend(self.timers.pop_first().map(|(_, token)| token));
        }
        std::mem::take(&mut self.due)
    }

    /// Windows that are over, or have as many claims as one call may have.
    pub(super) fn take_over(&mut self, setting: LaunchWindow, now: Timestamp) -> Vec<Gathering> {
        let Self {
            windows, coming, ..
        } = self;
        let is_over = |window: &Gathering| {
            let end = window.end(setting, coming.contains_key(&window.machine));
            window.claims.len() >= setting.size.max(1) || now >= end
        };
        let over = windows.extract_if(.., |_, window| is_over(window));
        over.map(|(_, window)| window).collect()
    }

    /// A claim is being created.
    pub(crate) fn expect(&mut self, claim: &NodeClaim) {
        let coming = self.coming.entry(machine_digest(claim)).or_default();
        coming.insert(claim.name.clone());
    }

    /// A claim that was being created is there, or will not come.
    pub(crate) fn settle(&mut self, claim: &NodeClaim) {
        if let Entry::Occupied(mut coming) = self.coming.entry(machine_digest(claim)) {
            coming.get_mut().remove(&claim.name);
            if coming.get().is_empty() {
                coming.remove();
            }
        }
    }

    fn are_coming(&self, window: &Gathering) -> bool {
        self.coming.contains_key(&window.machine)
    }

    pub(super) fn join(
        &mut self,
        claim: &NodeClaim,
        digest: u64,
        options: Vec<LaunchOption>,
        now: Timestamp,
    ) {
        let window = self.windows.entry(digest).or_insert_with(|| Gathering {
            first: now,
            last: now,
            machine: machine_digest(claim),
            options: Arc::new(options),
            claims: BTreeSet::new(),
        });
        if window.claims.insert(claim.name.clone()) {
            window.last = now;
        }
    }

    pub(super) fn leave(&mut self, claim: &ClaimName, digest: u64) {
        if let Some(window) = self.windows.get_mut(&digest) {
            window.claims.remove(claim);
            if window.claims.is_empty() {
                self.windows.remove(&digest);
            }
        }
    }

    /// A claim bears a batch.
    pub(super) fn bear(&mut self, claim: &ClaimName, own: &LaunchBatch) {
        let found = || OpenBatch {
            is_unsure: true,
            ..OpenBatch::default()
        };
        let batch = self.batches.entry(own.token.clone()).or_insert_with(found);
        batch.size = own.size;
        batch.unwritten.remove(claim);
        batch.bearers.insert(claim.clone());
        self.due.insert(own.token.clone());
    }

    /// A claim of a batch was asked to go.
    pub(super) fn note_going(&mut self, token: &LaunchToken) {
        if let Some(batch) = self.batches.get_mut(token).filter(|batch| !batch.goes) {
            batch.goes = true;
            self.due.insert(token.clone());
        }
    }

    /// A claim has no part in a batch any more; whether that was its last claim.
    pub(super) fn drop_out(&mut self, claim: &ClaimName, token: &LaunchToken) -> bool {
        let Some(batch) = self.batches.get_mut(token) else {
            return false;
        };
        batch.bearers.remove(claim);
        batch.unwritten.remove(claim);
        self.due.insert(token.clone());
        let is_last = batch.bearers.is_empty() && batch.unwritten.is_empty();
        if is_last {
            self.batches.remove(token);
            self.due.remove(token);
        }
        is_last
    }

    pub(super) fn untear(&mut self, token: &LaunchToken) {
        if let Some(batch) = self.batches.get_mut(token) {
            batch.torn = None;
        }
    }

    /// Until when a batch that is not whole is left alone; `None` once that is over.
    pub(super) fn torn_until(&mut self, token: &LaunchToken, now: Timestamp) -> Option<Timestamp> {
        let batch = self.batches.get_mut(token)?;
        let until = *batch.torn.get_or_insert(now) + TORN_PATIENCE;
        (until > now).then_some(until)
    }
}
