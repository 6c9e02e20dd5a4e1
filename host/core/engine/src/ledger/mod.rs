//! The ledger of commands: what each was to save, and the bill of the hour after it.
//!
//! An account is opened when a command begins and closed an hour after its end, where it was made to save; else at its end. What is
//! told each time is one value, [`Settled`], which says what the figures mean. Accounts live in memory: of a
//! command within whose hour the process ends nothing more is told, and one that another process takes up again is accounted from then on.

mod account;
mod begun;

use std::collections::{BTreeMap, BTreeSet};

pub(super) use account::{CommandAccount, Leaver};
pub use begun::Begun;

use plimsoll_base::ids::ClaimName;
use plimsoll_base::time::Timestamp;
use plimsoll_cluster::GroupId;
use plimsoll_model::action::{Action, ObjectKey};
use plimsoll_model::command::{CommandId, Settled, WATCHED};
use plimsoll_model::plan::LaunchOption;
use plimsoll_model::provider::ProviderFacts;
use plimsoll_model::{NodeClaim, is_reschedulable};

use super::commit::PodCounts;
use super::{Engine, report};

/// Accounts by when their commands began, the oldest first.
pub(super) type AccountKey = (Timestamp, CommandId);

/// Accounts of commands under way, and of those within the hour after.
#[derive(Clone, Debug, Default)]
pub(super) struct CommandLedger {
    accounts: BTreeMap<AccountKey, CommandAccount>,
    /// Accounts that some claim stands in.
    of_claim: BTreeMap<ClaimName, BTreeSet<AccountKey>>,
    /// Accounts of commands that moved pods of a group.
    of_group: BTreeMap<GroupId, BTreeSet<AccountKey>>,
    /// Accounts to be closed, by when.
    due: BTreeSet<(Timestamp, AccountKey)>,
}

impl CommandLedger {
    /// A command begins; the key of its account.
    pub(super) fn open(&mut self, account: CommandAccount) -> AccountKey {
        let key = (account.settled.begun, account.settled.id);
        for claim in account.substitutes.keys() {
            self.of_claim.entry(claim.clone()).or_default().insert(key);
        }
        self.accounts.insert(key, account);
        key
    }

    /// The nodes of a command are asked to go, with so many pods.
    fn drains(&mut self, key: AccountKey, moved: PodCounts) {
        let Some(account) = self.accounts.get_mut(&key) else {
            return;
        };
        for group in moved.keys() {
            self.of_group.entry(*group).or_default().insert(key);
        }
        account.moved = moved;
    }

    /// A node went because its command asked it to.
    pub(super) fn goes(&mut self, key: AccountKey, member: &ClaimName) {
        if let Some(account) = self.accounts.get_mut(&key) {
            account.goes(member);
        }
    }

    /// A claim is bought for pods that wait. Each of them counts to one command at most, the oldest that moved its like.
    pub(super) fn buys(&mut self, claim: &ClaimName, options: &[LaunchOption], pods: &PodCounts) {
        let all = pods.values().copied().fold(0, u32::saturating_add);
        for (group, count) in pods {
            let mut left = *count;
            for key in self.of_group.get(group).into_iter().flatten() {
                let Some(account) = self.accounts.get_mut(key).filter(|_| left > 0) else {
                    continue;
                };
                let own = account.returns(claim, options, (*group, left), all);
                left -= own;
                if own > 0 {
                    self.of_claim.entry(claim.clone()).or_default().insert(*key);
                }
            }
        }
    }

    /// A claim is no more, since another command replaces it or for any other reason.
    fn loses(
        &mut self,
        claim: &NodeClaim,
        is_replaced: bool,
        provider: &ProviderFacts,
        now: Timestamp,
    ) {
        for key in self.of_claim.remove(&claim.name).into_iter().flatten() {
            if let Some(account) = self.accounts.get_mut(&key) {
                account.loses(claim, is_replaced, provider, now);
            }
        }
    }

    fn close(&mut self, key: AccountKey) {
        let Some(account) = self.accounts.remove(&key) else {
            return;
        };
        for claim in account.substitutes.keys() {
            drop_key(&mut self.of_claim, claim, &key);
        }
        for group in account.moved.keys() {
            drop_key(&mut self.of_group, group, &key);
        }
    }

    pub(super) fn next_wake(&self) -> Option<Timestamp> {
        self.due.first().map(|(at, _)| *at)
    }
}

fn drop_key<K: Ord>(index: &mut BTreeMap<K, BTreeSet<AccountKey>>, of: &K, key: &AccountKey) {
    if let Some(keys) = index.get_mut(of) {
        keys.remove(key);
        if keys.is_empty() {
            index.remove(of);
        }
    }
}

impl Engine {
    /// The nodes of a command are asked to go: pods that run on them may come back. Those of commands that are not made to save are not
    /// followed.
    pub(super) fn account_drain(&mut self, key: AccountKey, members: &BTreeSet<ClaimName>) {
        let mut moved = PodCounts::new();
        for member in members {
            let claim = self.cluster.claims.get(member);
            let node = claim.and_then(|claim| self.cluster.nodes_of(claim).first());
            let pods = node
                .into_iter()
                .flat_map(|node| self.cluster.pods_on(&node.name));
            for pod in pods.filter(|pod| is_reschedulable(pod)) {
                if let Some(group) = self.cluster.group_of(&pod.name) {
                    *moved.entry(group).or_default() += 1;
                }
            }
        }
        self.ledger.drains(key, moved);
    }

    /// A claim is no more.
    pub(super) fn account_loss(&mut self, claim: &NodeClaim, now: Timestamp) {
        let reason = self.queue.reason_of(&claim.name);
        let moves_pods = reason.is_some_and(|reason| reason.facts().moves_pods);
        let is_replaced = moves_pods && self.queue.must_go(&claim.name).is_some();
        let provider = self.market.catalogues().provider();
        self.ledger.loses(claim, is_replaced, provider, now);
    }

    /// A command has come to its end: its account is told, and kept for an hour where it was made to save.
    pub(super) fn settle(&mut self, key: AccountKey, now: Timestamp, actions: &mut Vec<Action>) {
        let Some(account) = self.ledger.accounts.get_mut(&key) else {
            return;
        };
        account.end(now);
        let saves = account.settled.reason.facts().saves;
        self.tell_account(key, now, actions);
        if saves {
            self.ledger.due.insert((now + WATCHED, key));
        } else {
            self.ledger.close(key);
        }
    }

    /// Closes the accounts whose hour is over.
    pub(super) fn step_ledger(&mut self, now: Timestamp, actions: &mut Vec<Action>) {
        while let Some((at, key)) = self
            .ledger
            .due
            .first()
            .copied()
            .filter(|(at, _)| *at <= now)
        {
            self.ledger.due.remove(&(at, key));
            // The hour is over when it is over, however late the look.
            self.tell_account(key, at, actions);
            self.ledger.close(key);
        }
    }

    fn tell_account(&mut self, key: AccountKey, at: Timestamp, actions: &mut Vec<Action>) {
        let provider = self.market.catalogues().provider();
        let Some(account) = self.ledger.accounts.get_mut(&key) else {
            return;
        };
        let settled: Settled = account.tell(&self.cluster, provider, at);
        if settled.is_saving() {
            for pool in &settled.pools {
                let object = ObjectKey::Pool(pool.clone());
                actions.push(report(object, settled.event(), settled.words(), at));
            }
        }
        actions.push(Action::Settle(Box::new(settled)));
    }
}
