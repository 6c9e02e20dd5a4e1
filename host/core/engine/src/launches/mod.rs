//! Launches: claims that ask for the same wait for one another, get a token together, and are asked for in one call.
//!
//! ```text
//! claim wants an instance -> window of those that ask for the same -> batch with a token -> token written on each -> one call
//! ```
//!
//! The call is made only while all claims of the batch are there and stay: then it can be repeated as it is, by the next process,
//! and gives no second instance. A batch that is not whole any more is read back instead, and claims that got nothing from it wait
//! for the next. What was found written at the start is as good as what was written since.

mod batches;

use std::collections::BTreeSet;
use std::sync::Arc;

pub(super) use batches::Launches;

use plimsoll_base::ids::{ClaimName, LaunchToken, ProviderId, Uid};
use plimsoll_base::time::Timestamp;
use plimsoll_lifecycle::{LaunchWish, PendingLaunch, Want, written_options};
use plimsoll_model::NodeClaim;
use plimsoll_model::action::{
    Action, CloudCall, LaunchBatch, LaunchRequest, ObjectKey, Purpose, Request, launch_digest,
};
use plimsoll_model::provider::LaunchWindow;

use self::batches::{Gathering, OpenBatch};
use super::Engine;

/// A claim's part in launches.
#[derive(Clone, Debug, Default)]
pub(super) struct LaunchNotes {
    /// What it asks for while it waits for others.
    window: Option<u64>,
    /// The launch that it was given a place in.
    pub(super) pending: Option<PendingLaunch>,
    /// The launch that is written on it.
    written: Option<LaunchToken>,
    /// The last that ended for it without an instance.
    pub(super) ended: Option<LaunchToken>,
}

impl LaunchNotes {
    /// `true` if a launch may give it an instance, or may have.
    pub(super) fn is_open(&self) -> bool {
        let is_open = |token: &LaunchToken| self.ended.as_ref() != Some(token);
        self.written.as_ref().is_some_and(is_open)
    }
}

/// A batch as it stands.
struct BatchClaims {
    /// Claims without an instance that is known, and for which the launch has not ended; by uid.
    claims: Vec<Arc<NodeClaim>>,
    /// Instances that its other claims have.
    taken: BTreeSet<ProviderId>,
}

impl Engine {
    /// Follows the launch that is written on a claim.
    pub(super) fn follow_launch(&mut self, claim: &NodeClaim) {
        let own = LaunchBatch::of(claim);
        let notes = &mut self.notes.of(&claim.name).launch;
        if claim.deleting.is_some() {
            let pending = notes.pending.as_ref();
            let pending = pending.map(|pending| &pending.batch.token);
            for token in pending.into_iter().chain(&notes.written) {
                self.launches.note_going(token);
            }
        }
        let token = own.as_ref().map(|own| &own.token);
        if notes.written.as_ref() == token {
            return;
        }
        let before = std::mem::replace(&mut notes.written, token.cloned());
        // Somebody else has written another: theirs may have been called, ours was not.
        let is_other =
            |pending: &mut PendingLaunch| own.is_some() && own.as_ref() != Some(&pending.batch);
        let outrun = notes.pending.take_if(is_other);
        if let Some(before) = before {
            self.drop_out(&claim.name, &before);
        }
        if let Some(pending) = outrun {
            self.drop_out(&claim.name, &pending.batch.token);
        }
        if let Some(own) = own {
            self.launches.bear(&claim.name, &own);
        }
    }

    /// A claim is no more: it takes part in no launch.
    pub(super) fn forget_launch(&mut self, claim: &ClaimName) {
        self.leave_window(claim);
        let Some(notes) = self.notes.get(claim) else {
            return;
        };
        let pending = notes.launch.pending.as_ref();
        let pending = pending.map(|pending| pending.batch.token.clone());
        for token in pending.into_iter().chain(notes.launch.written.clone()) {
            self.drop_out(claim, &token);
        }
    }

    fn drop_out(&mut self, claim: &ClaimName, token: &LaunchToken) {
        if self.launches.drop_out(claim, token) {
            self.retry.forget(&ObjectKey::Launch(token.clone()));
        }
    }

    fn leave_window(&mut self, claim: &ClaimName) {
        if self
            .notes
            .get(claim)
            .is_some_and(|notes| notes.launch.window.is_some())
            && let Some(digest) = self.notes.of(claim).launch.window.take()
        {
            self.launches.leave(claim, digest);
        }
    }

    /// Takes in what a claim needs of a launch; when to look at it again, where it is held back.
    pub(super) fn wish_launch(
        &mut self,
        claim: &NodeClaim,
        wish: Option<LaunchWish>,
        now: Timestamp,
    ) -> Option<Timestamp> {
        let name = &claim.name;
        match wish {
            Some(LaunchWish::Join(options)) => {
                let object = ObjectKey::Claim(name.clone());
                let held = self
                    .retry
                    .not_before(&object, Some(&claim.uid), Purpose::Launch);
                if let Some(at) = held.filter(|at| *at > now) {
                    self.leave_window(name);
                    return Some(at);
                }
                let digest = launch_digest(claim, &options);
                if self.notes.of(name).launch.window != Some(digest) {
                    self.leave_window(name);
                    self.notes.of(name).launch.window = Some(digest);
                    self.launches.join(claim, digest, options, now);
                }
            }
            Some(LaunchWish::Ask(token)) => {
                self.leave_window(name);
                self.launches.look_at(&token);
            }
            None => {
                self.leave_window(name);
                let pending = self.notes.get(name);
                let pending = pending.and_then(|notes| notes.launch.pending.as_ref());
                if let Some(token) = pending.map(|pending| pending.batch.token.clone()) {
                    self.launches.look_at(&token);
                }
            }
        }
        None
    }

    /// Gives tokens to those that have waited for one another, and makes the calls that can be made.
    pub(super) fn step_launches(&mut self, now: Timestamp, actions: &mut Vec<Action>) {
        let setting = self.market.catalogues().provider().launch;
        loop {
            for window in self.launches.take_over(setting, now) {
                self.gather(&window, setting, now, actions);
            }
            for token in self.launches.take_due(now) {
                self.step_batch(&token, now, actions);
            }
            // Of a batch that came apart, those that stay begin anew.
            if self.dirty_claims.is_empty() {
                break;
            }
            self.step_claims(now, actions);
        }
    }

    /// Makes batches of a window that is over.
    fn gather(
        &mut self,
        window: &Gathering,
        setting: LaunchWindow,
        now: Timestamp,
        actions: &mut Vec<Action>,
    ) {
        let claims: Vec<Arc<NodeClaim>> = window
            .claims
            .iter()
            .filter_map(|name| self.cluster.claims.get(name).cloned())
            .collect();
        for claims in claims.chunks(setting.size.max(1)) {
            let attempts = claims.iter().map(|claim| {
                LaunchBatch::of(claim).map_or(0, |before| before.attempt().saturating_add(1))
            });
            let attempt = attempts.max().unwrap_or(0);
            let uids = claims.iter().map(|claim| &claim.uid);
            let digest = launch_digest(&claims[0], &window.options);
            let own = LaunchBatch::new(uids, digest, attempt);
            let batch = OpenBatch::of(claims);
            self.launches.batches.insert(own.token.clone(), batch);
            for claim in claims {
                let notes = &mut self.notes.of(&claim.name).launch;
                notes.window = None;
                notes.pending = Some(PendingLaunch {
                    batch: own.clone(),
                    options: Arc::clone(&window.options),
                });
            }
            for claim in claims {
                self.step_claim(&claim.name, now, actions);
            }
        }
    }

    /// Does what is due for a batch: the call, reading it back, or giving it up before it was made.
    fn step_batch(&mut self, token: &LaunchToken, now: Timestamp, actions: &mut Vec<Action>) {
        let object = ObjectKey::Launch(token.clone());
        let mut calls = [Purpose::Launch, Purpose::Find].into_iter();
        if calls.any(|purpose| self.orders.is_busy(&object, None, purpose)) {
            return;
        }
        let Some(batch) = self.launches.batches.get(token) else {
            return;
        };
        let (size, is_written) = (batch.size, batch.unwritten.is_empty());
        let is_refused = batch.refused.is_some();
        if !is_written {
            let count = batch.bearers.len() + batch.unwritten.len();
            if count < size || batch.goes {
                self.give_up(token);
            }
            return;
        }
        let BatchClaims { claims, taken } = self.standing_of(token);
        let Some(first) = claims.first() else { return };
        let goes = claims.iter().any(|claim| claim.deleting.is_some());
        let is_whole = !goes && claims.len() + taken.len() == size;
        let options = written_options(first, &self.market);
        if is_whole || goes || is_refused {
            self.launches.untear(token);
        } else if let Some(at) = self.launches.torn_until(token, now) {
            self.launches.timers.insert((at, token.clone()));
            return;
        }
        let is_launched = is_whole && !is_refused && !options.is_empty();
        let request = LaunchRequest {
            batch: LaunchBatch {
                token: token.clone(),
                size,
            },
            claims,
            taken,
            options,
        };
        let (purpose, call) = if is_launched {
            (Purpose::Launch, CloudCall::Launch(request))
        } else {
            (Purpose::Find, CloudCall::Find(request))
        };
        let want = Want {
            object,
            uid: None,
            purpose,
            version: None,
            request: Request::Cloud(call),
        };
        if let Some(at) = self.order(want, now, actions) {
            self.launches.timers.insert((at, token.clone()));
        }
    }

    /// The claims of a batch that still want an instance of it, and the instances that the others have.
    fn standing_of(&self, token: &LaunchToken) -> BatchClaims {
        let bearers = self.launches.batches.get(token);
        let bearers = bearers.into_iter().flat_map(|batch| &batch.bearers);
        let mut claims: Vec<Arc<NodeClaim>> = Vec::new();
        let mut taken = BTreeSet::new();
        for claim in bearers.filter_map(|name| self.cluster.claims.get(name)) {
            let notes = self.notes.get(&claim.name);
            let machine = notes.and_then(|notes| notes.machine.as_ref());
            let known = machine.map(|machine| &machine.provider_id);
            if let Some(id) = claim.provider_id.as_ref().or(known) {
                taken.insert(id.clone());
            } else if notes.is_none_or(|notes| notes.launch.ended.as_ref() != Some(token)) {
                claims.push(Arc::clone(claim));
            }
        }
        claims.sort_by(|a, b| a.uid.cmp(&b.uid));
        BatchClaims { claims, taken }
    }

    /// Launches of which claims still want an instance.
    pub(super) fn launches_asked_for(&self) -> BTreeSet<&LaunchToken> {
        let tokens = self.launches.batches.keys();
        tokens
            .filter(|token| !self.standing_of(token).claims.is_empty())
            .collect()
    }

    /// A batch whose call was never made: its claims wait for the next.
    fn give_up(&mut self, token: &LaunchToken) {
        let Some(batch) = self.launches.batches.get_mut(token) else {
            return;
        };
        let unwritten = std::mem::take(&mut batch.unwritten);
        let claims: Vec<ClaimName> = batch.bearers.iter().cloned().chain(unwritten).collect();
        if batch.bearers.is_empty() {
            self.launches.batches.remove(token);
        }
        for name in claims {
            self.end_launch_of(&name, token);
        }
    }

    /// A launch has ended for a claim without an instance.
    pub(super) fn end_launch_of(&mut self, name: &ClaimName, token: &LaunchToken) {
        let notes = &mut self.notes.of(name).launch;
        let is_own = |pending: &mut PendingLaunch| pending.batch.token == *token;
        notes.pending.take_if(is_own);
        notes.ended = Some(token.clone());
        self.dirty_claims.insert(name.clone());
    }

    /// `true` if a claim is the one of this uid.
    pub(super) fn is_claim(&self, name: &ClaimName, uid: &Uid) -> bool {
        let claim = self.cluster.claims.get(name);
        claim.is_some_and(|claim| claim.uid == *uid)
    }
}
