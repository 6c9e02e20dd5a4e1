//! Commands taken up again after a restart, and past moves remembered: both are read from the claims that were bought.
//!
//! Every replacement says which command it was bought for. Where all replacements of one are there, its nodes count as moving
//! from the first look on, and go once the replacements are ready. A command that lacks a replacement is not taken up: what
//! was launched for it is capacity like any other, as after a command that failed, and what was not goes before it costs
//! anything. Nor is one whose time was over: it was taken back.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Arc;

use plimsoll_base::ids::{ClaimName, PoolName, TypeName};
use plimsoll_base::time::Timestamp;
use plimsoll_base::units::PricePerHour;
use plimsoll_cluster::PromisedTarget;
use plimsoll_model::catalogue::launch_order;
use plimsoll_model::command::{Command, CommandId};
use plimsoll_model::plan::{LaunchOption, option};
use plimsoll_model::snapshot::PastMove;
use plimsoll_model::{ClaimPhase, DisruptionReason, NodeClaim};

use super::Engine;
use super::begin::REPLACES_ANNOTATION;
use super::counts::CommandKind;
use super::ledger::{AccountKey, CommandAccount, Leaver};
use super::queue::UnderWay;

/// Annotation of a claim with the command that it was bought for, as `word=value` pairs.
const COMMAND_ANNOTATION: &str = "plimsoll.dev/command";

/// A command as each of its replacements tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CommandRecord {
    reason: DisruptionReason,
    /// When it began, which tells it from others that were to move the same nodes.
    begun: Timestamp,
    /// Number of replacements.
    replacements: usize,
    /// Saving per hour at list prices, as predicted.
    saving: PricePerHour,
    /// The move, unless it may be reversed.
    past: Option<PastRecord>,
}

/// A move as later ones remember it, but for its instant: that is when its command began.
#[derive(Clone, Debug, PartialEq, Eq)]
struct PastRecord {
    pools: BTreeSet<PoolName>,
    from: BTreeSet<TypeName>,
    to: BTreeSet<TypeName>,
}

impl CommandRecord {
    /// The record of a command that begins now.
    pub(super) fn of(command: &Command, now: Timestamp) -> Self {
        let past = command.past.as_ref().map(|past| PastRecord {
            pools: past.pools.clone(),
            from: past.from.clone(),
            to: past.to.clone(),
        });
        Self {
            reason: command.reason,
            begun: now,
            replacements: command.plan.claims.len(),
            saving: command.list_saving,
            past,
        }
    }

    /// Writes it down for a claim.
    pub(super) fn annotation(&self) -> (Arc<str>, Arc<str>) {
        (Arc::from(COMMAND_ANNOTATION), Arc::from(self.to_text()))
    }

    fn to_text(&self) -> String {
        let reason = self.reason.as_str();
        let (count, saving) = (self.replacements, self.saving.nanos());
        let begun = self.begun.millis();
        let mut text =
            format!("reason={reason} begun={begun} replacements={count} saving={saving}");
        if let Some(past) = &self.past {
            for (word, names) in [
                ("pools", joined(&past.pools)),
                ("from", joined(&past.from)),
                ("to", joined(&past.to)),
            ] {
                let _ = write!(text, " {word}={names}");
            }
        }
        text
    }

    /// Reads what a claim says; `None` where it says nothing that can be read.
    fn parse(text: &str) -> Option<Self> {
        let words: BTreeMap<&str, &str> = text
            .split_whitespace()
            .filter_map(|pair| pair.split_once('='))
            .collect();
        let past = || {
            Some(PastRecord {
                pools: names(words.get("pools")?),
                from: names(words.get("from")?),
                to: names(words.get("to")?),
            })
        };
        Some(Self {
            reason: DisruptionReason::parse(words.get("reason")?)?,
            begun: Timestamp::from_millis(words.get("begun")?.parse().ok()?),
            replacements: words.get("replacements")?.parse().ok()?,
            saving: PricePerHour::from_nanos(words.get("saving")?.parse().ok()?),
            past: past(),
        })
    }
}

/// Reason of the command that a claim was bought for; `None` where it was bought for none.
pub(super) fn command_reason(claim: &NodeClaim) -> Option<DisruptionReason> {
    let text = claim.annotations.get(COMMAND_ANNOTATION)?;
    CommandRecord::parse(text).map(|record| record.reason)
}

fn joined<N: ToString>(names: &BTreeSet<N>) -> String {
    let names: Vec<String> = names.iter().map(ToString::to_string).collect();
    names.join(",")
}

fn names<N: for<'a> From<&'a str> + Ord>(text: &str) -> BTreeSet<N> {
    let names = text.split(',').filter(|name| !name.is_empty());
    names.map(N::from).collect()
}

/// Claims that were bought for one command.
#[derive(Debug)]
struct ReplacementSet {
    record: CommandRecord,
    replacements: Vec<Arc<NodeClaim>>,
}

impl ReplacementSet {
    /// Account of the command, of whose nodes these are left.
    fn account(&self, id: CommandId, leavers: BTreeMap<ClaimName, Leaver>) -> CommandAccount {
        let CommandRecord {
            reason,
            begun,
            saving,
            ..
        } = self.record;
        let count = self.replacements.len();
        CommandAccount::of(id, reason, leavers, count, saving, begun)
    }
}

impl Engine {
    /// Takes commands up again that were under way, and remembers past moves, as the claims tell.
    pub(super) fn resume_commands(&mut self, claims: &[Arc<NodeClaim>], now: Timestamp) {
        for ((_, members), bought) in by_command(claims) {
            self.recall_move(&bought, now);
            let members: Vec<ClaimName> = members.split(',').map(ClaimName::from).collect();
            let id = CommandId::of(&members, bought.record.begun);
            let members = members.into_iter();
            let going: BTreeSet<ClaimName> = members
                .filter(|member| self.stays(member, bought.record.begun))
                .collect();
            if going.is_empty() {
                continue;
            }
            if bought.replacements.len() == bought.record.replacements {
                self.resume_command(id, &going, &bought, now);
            } else {
                self.abandon(&bought);
            }
        }
    }

    fn recall_move(&mut self, bought: &ReplacementSet, now: Timestamp) {
        let keep = self.settings.churn.reversal_cooldown;
        let Some(past) = bought.record.past.clone() else {
            return;
        };
        let at = bought.record.begun;
        if at + keep > now {
            let PastRecord { pools, from, to } = past;
            let past = PastMove {
                at,
                pools,
                from,
                to,
            };
            self.disruption.remember(past, keep);
        }
    }

    /// Gives up the replacements of a command of which not all were asked for, those that have no instance.
    fn abandon(&mut self, bought: &ReplacementSet) {
        let replacements = bought.replacements.iter();
        let waiting = replacements.filter(|claim| claim.phase() == ClaimPhase::Created);
        let names = waiting.map(|claim| claim.name.clone());
        self.queue.abandoned.extend(names);
    }

    /// `true` if a claim that was there when a command began is still there, was not asked to go and is not moved by a command.
    /// One that was made since bears the name of one that has gone.
    fn stays(&self, claim: &ClaimName, begun: Timestamp) -> bool {
        let there = self.cluster.claims.get(claim);
        let stays = |claim: &Arc<NodeClaim>| claim.created <= begun && claim.deleting.is_none();
        there.is_some_and(stays) && !self.queue.has(claim)
    }

    fn resume_command(
        &mut self,
        id: CommandId,
        members: &BTreeSet<ClaimName>,
        bought: &ReplacementSet,
        now: Timestamp,
    ) {
        let catalogues = self.market.catalogues();
        let leaver = |name: &ClaimName| {
            let claim = self.cluster.claims.get(name)?;
            let price = catalogues.of(&claim.class).price_of(claim);
            Some((name.clone(), Leaver::of(claim, &self.cluster, price)))
        };
        let leavers: BTreeMap<_, _> = members.iter().filter_map(leaver).collect();
        let mut account = bought.account(id, leavers);
        for claim in &bought.replacements {
            let sold = catalogues.of(&claim.class);
            let options = launch_order(claim).filter_map(|key| sold.offering(&key));
            let options: Vec<LaunchOption> = options.map(option).collect();
            account.buys(&claim.name, &options);
        }
        if now >= bought.record.begun + self.queue.limit_with(members.len()) {
            return;
        }
        for member in members {
            self.cluster.mark(member, now);
            self.dirty_claims.insert(member.clone());
        }
        let account = self.ledger.open(account);
        self.queue.push(UnderWay::resumed(members, account, bought));
    }
}

/// Replacements by their command, the oldest first: when it began, and the claims that they replace as they are written on them.
fn by_command(claims: &[Arc<NodeClaim>]) -> BTreeMap<(Timestamp, Arc<str>), ReplacementSet> {
    let mut commands: BTreeMap<(Timestamp, Arc<str>), ReplacementSet> = BTreeMap::new();
    for claim in claims.iter().filter(|claim| claim.deleting.is_none()) {
        let members = claim.annotations.get(REPLACES_ANNOTATION);
        let record = claim.annotations.get(COMMAND_ANNOTATION);
        let record = record.and_then(|text| CommandRecord::parse(text));
        let Some((members, record)) = members.zip(record) else {
            continue;
        };
        let command = (record.begun, Arc::clone(members));
        let own = commands.entry(command).or_insert(ReplacementSet {
            record,
            replacements: Vec::new(),
        });
        own.replacements.push(Arc::clone(claim));
    }
    commands
}

impl UnderWay {
    /// A command as its replacements tell it, of whose nodes these are left. Replacements that are ready are not waited for.
    fn resumed(
        members: &BTreeSet<ClaimName>,
        account: AccountKey,
        bought: &ReplacementSet,
    ) -> Self {
        let replacements = bought.replacements.iter();
        let targets = replacements.clone();
        let targets = targets.map(|claim| PromisedTarget::Claim(claim.name.clone()));
        let awaited = replacements.filter(|claim| claim.phase() < ClaimPhase::Initialized);
        let CommandRecord { reason, begun, .. } = bought.record;
        Self {
            reason,
            kind: CommandKind::new(reason, members.len(), bought.replacements.len()),
            untainted: members.clone(),
            members: members.clone(),
            awaited: awaited.map(|claim| claim.name.clone()).collect(),
            launched: BTreeSet::new(),
            account,
            targets: targets.collect(),
            // Nodes that were to go later are candidates like any other.
            later: BTreeSet::new(),
            begun,
            drains: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set<N: for<'a> From<&'a str> + Ord>(of: &[&str]) -> BTreeSet<N> {
        of.iter().map(|name| N::from(name)).collect()
    }

    #[test]
    fn a_record_is_read_as_it_was_written() {
        let whole = CommandRecord {
            reason: DisruptionReason::Underutilized,
            begun: Timestamp::from_millis(1000),
            replacements: 2,
            saving: PricePerHour::from_nanos(-17),
            past: Some(PastRecord {
                pools: set(&["general", "spot"]),
                from: set(&["m5.large"]),
                to: set(&["c5.large", "m5.xlarge"]),
            }),
        };
        let text = "reason=Underutilized begun=1000 replacements=2 saving=-17 pools=general,spot from=m5.large to=c5.large,m5.xlarge";
        assert_eq!(whole.to_text(), text);
        assert_eq!(CommandRecord::parse(text), Some(whole.clone()));
        let bare = CommandRecord {
            reason: DisruptionReason::Drifted,
            past: None,
            ..whole
        };
        assert_eq!(CommandRecord::parse(&bare.to_text()), Some(bare));
    }

    #[test]
    fn what_cannot_be_read_is_no_record() {
        for text in [
            "",
            "reason=Underutilized",
            "reason=Sideways begun=0 replacements=1 saving=0",
            "reason=Drifted begun=0 replacements=-1 saving=0",
            "reason=Drifted replacements=1 saving=0",
            "reason=Drifted begun=0 replacements=1 saving=much",
        ] {
            assert_eq!(CommandRecord::parse(text), None, "{text}");
        }
    }
}
