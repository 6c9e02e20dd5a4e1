//! One disruption pass over the fleet: candidates, budgets, and the first method that finds something to do.
//!
//! ```text
//! snapshot ─► candidates ─► allowances ─► question ─► policies (budget, ranking)
//!                               │                        │ caps, prices
//!                               ▼                        ▼
//!              empty nodes, else drifted ones; moves ─► question ─► policy (consolidation)
//!                                                     │                    │ values
//!                                                     ▼                    ▼
//!                                        guards, budgets, order of value ─► commands
//! ```
//!
//! The order of methods is Karpenter's: what is empty goes before anything else, drift before saving; but moves go beside empty
//! nodes, where nothing has drifted. A policy's cap only lowers an allowance, and its values only choose among moves that are feasible
//! and save enough.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use plimsoll_base::ids::PoolName;
use plimsoll_base::time::Timestamp;
use plimsoll_base::units::PricePerHour;
use plimsoll_hooks::rank::{PriceQuestion, Prices};
use plimsoll_model::DisruptionReason;
use plimsoll_model::buffers;
use plimsoll_model::command::{Command, Decision, DisruptionQuestion, Held, HeldAs, Refused};
use plimsoll_model::plan::Plan;
use plimsoll_model::snapshot::Snapshot;
use plimsoll_schedule::simulation::reschedule;
use plimsoll_schedule::{Offers, Quoted, Session};

use super::MOST_COMMANDS;
use super::budget::{PoolAllowance, allowances};
use super::candidate::{Blocked, Candidate, DisruptionClass, Fleet};
use super::choose::Choice;
use super::churn;
use super::consolidate::{self, Unfit};
use super::drift;
use super::held_pools::held_pools;
use super::moves::{self, BudgetRoom, KnownPrices, Move, MoveSettings, PoolRoom};
use super::savings::{Savings, command_of};
use super::static_drift;
use super::vacant::{self, Vacant};

/// One disruption pass over a fleet: who may go, and how many.
pub struct DisruptionPass<'s> {
    pub(super) fleet: Fleet<'s>,
    /// Nodes that may go for saving or for being empty, by row.
    pub graceful: Vec<Candidate>,
    /// Why the others may not, by row.
    pub blocked: Vec<(usize, Blocked)>,
    /// Allowances by pool and reason, as a budget policy is asked about them.
    pub allowances: Vec<PoolAllowance>,
    left: BudgetsLeft,
    consolidate: bool,
    session: Session,
    offers: OnceCell<Arc<Offers>>,
    drifted: OnceCell<Vec<Candidate>>,
}

/// Commands that could be given, before any policy has valued them.
pub struct Proposal<'l, 's> {
    pass: &'l DisruptionPass<'s>,
    pub(super) decided: Vec<Command>,
    /// `true` if moves to save money were looked for.
    pub(super) searched: bool,
    /// Empty nodes that are removed, by row.
    vacant: Vec<usize>,
    /// Nodes that budgets leave once those have gone, by pool and reason.
    pub(super) left: BudgetsLeft,
    /// Moves that are feasible and save something, each by itself: what a consolidation policy is asked about.
    pub moves: Vec<Move>,
    pub(super) unfit: Vec<(usize, Unfit)>,
    /// Drifted nodes of static pools that cannot be replaced now, and why.
    pub(super) held_static: Vec<(usize, String)>,
    pub(super) refused: Refused,
    pub(super) choice: Choice,
}

impl<'s> DisruptionPass<'s> {
    /// Looks at a snapshot.
    pub fn at(snapshot: &'s Snapshot, consolidate: bool) -> Self {
        Self::within(snapshot, consolidate, &Session::default())
    }

    /// The same within a session, which may have read already what pools sell.
    pub fn within(snapshot: &'s Snapshot, consolidate: bool, session: &Session) -> Self {
        let fleet = Fleet::of(snapshot);
        let (graceful, blocked) = fleet.candidates(DisruptionClass::Graceful);
        let mut pass = Self {
            fleet,
            graceful,
            blocked,
            allowances: allowances(snapshot),
            left: BTreeMap::new(),
            consolidate,
            session: session.clone(),
            offers: OnceCell::new(),
            drifted: OnceCell::new(),
        };
        pass.cap(&[]);
        pass
    }

    /// Lowers allowances to what a policy allows: at most so many down at once, parallel to [`DisruptionPass::allowances`]; where it
    /// says nothing, only the pool's own budgets count.
    pub fn cap(&mut self, caps: &[Option<u32>]) {
        let rows = self.allowances.iter().enumerate();
        let remaining = rows.map(|(at, row)| {
            let cap = caps.get(at).copied().flatten();
            ((row.pool.clone(), row.reason), row.remaining(cap))
        });
        self.left = remaining.collect();
    }

    /// The question to a ranking policy before the question is answered; `None` where nothing would be bought or valued, or
    /// there is nothing to buy.
    pub fn price_question(&self, question: &DisruptionQuestion) -> Option<PriceQuestion> {
        let matters = match question {
            DisruptionQuestion::Confirm(command) => command.reason.facts().moves_pods,
            DisruptionQuestion::Pass { consolidate } => {
                let moves = || self.graceful.iter().any(|node| !node.cost.is_of_empty());
                let moves_pods =
                    |node: &Candidate| node.pool.replicas.is_none() && !node.pods.is_empty();
                let drifted = || self.drifted().iter().any(moves_pods);
                (*consolidate && moves()) || drifted()
            }
        };
        let ask = || plimsoll_schedule::price_question(self.fleet.snapshot, self.offers());
        matters.then(ask)?
    }

    /// Takes in what the policy says, parallel to the candidates of [`DisruptionPass::price_question`]: what nodes are worth and what
    /// comes for them from now on. Without it list prices decide.
    pub fn price(&mut self, prices: Prices) {
        let quoted = Quoted::new(self.fleet.snapshot, self.offers(), prices);
        self.fleet.quoted = Some(quoted);
        let Self {
            fleet, graceful, ..
        } = self;
        for candidate in graceful {
            let node = &fleet.snapshot.nodes[candidate.row];
            candidate.worth = fleet.worth(node, &candidate.pool.name);
        }
    }

    /// Offers of the pools, with the quotes of the ranking policy.
    pub(super) fn market(&self) -> KnownPrices<'_> {
        KnownPrices {
            offers: Some(self.offers()),
            quoted: self.fleet.quoted.as_ref(),
        }
    }

    /// Drifted nodes that may be removed, in the order in which they are tried.
    pub(super) fn drifted(&self) -> &[Candidate] {
        self.drifted.get_or_init(|| drifted(&self.fleet))
    }

    /// Nodes that may go for a reason.
    pub(super) fn candidates(&self, reason: DisruptionReason) -> &[Candidate] {
        match reason {
            DisruptionReason::Drifted => self.drifted(),
            DisruptionReason::Empty | DisruptionReason::Underutilized => &self.graceful,
        }
    }

    pub(super) fn left(&self, candidate: &Candidate, reason: DisruptionReason) -> u32 {
        let key = (candidate.pool.name.clone(), reason);
        self.left.get(&key).copied().unwrap_or(0)
    }

    /// Nodes that all allowances leave, by pool and reason.
    pub(super) fn left_of_all(&self) -> BudgetsLeft {
        self.left.clone()
    }

    /// Offers of the pools, read when they are first needed.
    pub(super) fn offers(&self) -> &Arc<Offers> {
        let read = || self.session.offers(self.fleet.snapshot);
        self.offers.get_or_init(read)
    }

    /// Candidates for commands: those of the first method that finds any. Moves are looked for beside empty nodes, too, unless nodes
    /// have drifted: what they touch is other nodes, and waiting for each other would cost what both save.
    pub fn propose(&self) -> Proposal<'_, 's> {
        let mut proposal = Proposal {
            pass: self,
            decided: Vec::new(),
            searched: false,
            vacant: Vec::new(),
            left: self.left_of_all(),
            moves: Vec::new(),
            unfit: Vec::new(),
            held_static: Vec::new(),
            refused: Refused::default(),
            choice: Choice::default(),
        };
        let by_pods = self.blocked.iter().filter(|(_, why)| why.is_by_pods());
        proposal.refused.by_pods = u32::try_from(by_pods.count()).unwrap_or(u32::MAX);
        proposal.decided = proposal.empty().into_iter().collect();
        if proposal.decided.is_empty() {
            proposal.decided = proposal.drifted_static();
        }
        if proposal.decided.is_empty() {
            proposal.decided = proposal.drifted().into_iter().collect();
        }
        let moves_too = if proposal.vacant.is_empty() {
            proposal.decided.is_empty()
        } else {
            self.drifted().is_empty()
        };
        if self.consolidate && moves_too {
            proposal.searched = true;
            proposal.find_moves();
        }
        proposal
    }

    /// Empty nodes, the dearest first.
    pub(super) fn empty_nodes(&self) -> Vec<&Candidate> {
        let empty = self.graceful.iter();
        let mut sorted: Vec<&Candidate> = empty.filter(|node| node.cost.is_of_empty()).collect();
        sorted.sort_by(|a, b| b.price.cmp(&a.price).then_with(|| a.claim.cmp(&b.claim)));
        sorted
    }
}

impl<'l, 's> Proposal<'l, 's> {
    pub(super) fn pass(&self) -> &'l DisruptionPass<'s> {
        self.pass
    }

    pub(super) fn snapshot(&self) -> &Snapshot {
        self.pass.fleet.snapshot
    }

    /// Empty nodes, as far as budgets allow and no room is kept there.
    fn empty(&mut self) -> Option<Command> {
        let mut fit = Vec::new();
        for candidate in self.pass.empty_nodes() {
            match consolidate::fits_emptiness(self.snapshot(), candidate) {
                Ok(()) => fit.push(candidate),
                Err(unfit) => self.unfit.push((candidate.row, unfit)),
            }
        }
        let Vacant {
            members,
            kept,
            over_budget,
        } = vacant::choose(self.pass, &fit);
        self.refused.by_budget += over_budget;
        let kept = kept.into_iter().map(|kept| (kept.row, Unfit::KeepsSpare));
        self.unfit.extend(kept);
        if members.is_empty() {
            return None;
        }
        for ((pool, _), left) in &mut self.left {
            let own = members.iter().filter(|member| member.pool.name == *pool);
            *left = left.saturating_sub(u32::try_from(own.count()).unwrap_or(u32::MAX));
        }
        self.vacant = members.iter().map(|member| member.row).collect();
        let reason = DisruptionReason::Empty;
        let savings = Savings::of_empty(&members);
        Some(command_of(reason, &members, savings, Plan::default()))
    }

    /// Drifted nodes of static pools, one command each.
    fn drifted_static(&mut self) -> Vec<Command> {
        let found = static_drift::find(self.pass, MOST_COMMANDS);
        self.refused.by_budget += found.over_budget;
        self.held_static = found.held;
        found.commands
    }

    /// The first drifted node of other pools whose pods have a place: empty ones first, then the oldest.
    fn drifted(&mut self) -> Option<Command> {
        let reason = DisruptionReason::Drifted;
        let own = |candidate: &&Candidate| candidate.pool.replicas.is_none();
        for candidate in self.pass.drifted().iter().filter(own) {
            if self.pass.left(candidate, reason) == 0 {
                self.refused.by_budget += 1;
                continue;
            }
            if let Some(plan) = without(self.pass, candidate) {
                return Some(command_of(reason, &[candidate], Savings::default(), plan));
            }
        }
        None
    }

    fn find_moves(&mut self) {
        let snapshot = self.pass.fleet.snapshot;
        let reason = DisruptionReason::Underutilized;
        let left = |candidate: &Candidate| {
            let key = (candidate.pool.name.clone(), reason);
            self.left.get(&key).copied().unwrap_or(0)
        };
        let mut rows = Vec::new();
        let mut may_go = Vec::new();
        for candidate in &self.pass.graceful {
            match consolidate::fits_consolidation(snapshot, candidate) {
                Ok(()) if left(candidate) == 0 => {
                    self.refused.by_budget += 1;
                }
                Ok(()) => {
                    let young = consolidate::fits_replacement(snapshot, candidate).err();
                    self.unfit.extend(young.map(|unfit| (candidate.row, unfit)));
                    let room = PoolRoom {
                        left: left(candidate),
                        limits_search: churn::is_packed_by_price(snapshot, candidate),
                    };
                    may_go.push((candidate.row, &candidate.pool.name, room));
                    rows.push(candidate.row);
                }
                Err(unfit) => self.unfit.push((candidate.row, unfit)),
            }
        }
        if !rows.is_empty() {
            let mut settings = move_settings(snapshot, &self.pass.graceful);
            settings.excluded.extend(&self.vacant);
            settings.room = BudgetRoom::of(may_go);
            self.moves = moves::find_at(snapshot, &rows, &settings, self.pass.market());
        }
    }

    /// Chooses: moves in order of value while it is above nothing, at most what budgets allow. `values` is parallel to
    /// [`Proposal::moves`], in dollars per hour net of what the policy charges; without it a move is worth what it saves.
    pub fn decide(mut self, values: Option<&[PricePerHour]>) -> Decision {
        let wake = self.wake();
        let held = self.held();
        let held_pools = held_pools(&self.pass.allowances);
        let mut commands = std::mem::take(&mut self.decided);
        commands.extend(self.choose(values));
        Decision {
            commands,
            held,
            held_pools,
            refused: self.refused,
            wake,
        }
    }

    /// Why nodes stay, as far as people can do something about it.
    fn held(&self) -> Vec<Held> {
        let claim = |row: usize| Some(self.snapshot().nodes[row].claim.as_ref()?.name.clone());
        let blocked = self.pass.blocked.iter().filter(|(_, why)| why.is_told());
        let blocked = blocked.filter_map(|(row, why)| {
            Some(Held {
                claim: claim(*row)?,
                event: HeldAs::DisruptionBlocked,
                words: format!("not disrupted now: {why}"),
            })
        });
        let unfit = self.unfit.iter().filter(|(_, why)| why.is_told());
        let unfit = unfit.filter_map(|(row, why)| {
            Some(Held {
                claim: claim(*row)?,
                event: HeldAs::Unconsolidatable,
                words: format!("not consolidated now: {why}"),
            })
        });
        let held_static = self.held_static.iter().filter_map(|(row, why)| {
            Some(Held {
                claim: claim(*row)?,
                event: HeldAs::DisruptionBlocked,
                words: format!("not disrupted now: {why}"),
            })
        });
        blocked.chain(held_static).chain(unfit).collect()
    }

    /// The next instant at which something that stands in the way ends by itself.
    fn wake(&self) -> Option<Timestamp> {
        let blocked = self.pass.blocked.iter().filter_map(|(_, why)| why.until());
        let unfit = self.unfit.iter().filter_map(|(_, why)| why.until());
        let windows = (self.pass.allowances.iter()).filter_map(|row| row.declared.until);
        let guard = self.snapshot().settings.churn.reversal_cooldown;
        let moves = self.snapshot().activity.moves.iter();
        let barred = moves.map(|past| past.at + guard);
        let spare = buffers::next_change(&self.snapshot().buffers, self.snapshot().now);
        let ends = blocked.chain(unfit).chain(windows).chain(barred);
        let ends = ends.chain(spare.filter(|_| self.snapshot().settings.capacity_buffers));
        ends.filter(|at| *at > self.snapshot().now).min()
    }
}

/// Places of a node's pods when it goes; `None` where one finds no place, or a late node's room is waited for. Without pods nothing has to be planned.
pub(super) fn without(pass: &DisruptionPass<'_>, candidate: &Candidate) -> Option<Plan> {
    if candidate.pods.is_empty() {
        return Some(Plan::default());
    }
    let KnownPrices { offers, quoted } = pass.market();
    reschedule(&pass.fleet.reading, &[candidate.row], offers, quoted)
}

/// Drifted nodes that may be removed: those without pods to be moved first, then those that have been said to be drifted for longest, then the
/// oldest.
fn drifted(fleet: &Fleet<'_>) -> Vec<Candidate> {
    let (candidates, _) = fleet.candidates(DisruptionClass::Eventual);
    let has_drifted = |candidate: &Candidate| {
        let claim = fleet.snapshot.nodes[candidate.row].claim.as_ref()?;
        let catalogue = fleet.catalogue(&candidate.pool.name);
        let drift = drift::drift(&candidate.pool, claim, catalogue, fleet.snapshot.now);
        drift.map(|_| {
            let said = claim.drifted().map(|said| said.since);
            (
                !candidate.pods.is_empty(),
                said.unwrap_or(fleet.snapshot.now),
                claim.created,
                claim.name.clone(),
            )
        })
    };
    let mut sorted: Vec<_> = candidates
        .into_iter()
        .filter_map(|candidate| Some((has_drifted(&candidate)?, candidate)))
        .collect();
    sorted.sort_by(|a, b| a.0.cmp(&b.0));
    sorted.into_iter().map(|(_, candidate)| candidate).collect()
}

/// How moves are looked for: at least as strict as the mildest pool among the candidates.
pub(super) fn move_settings(snapshot: &Snapshot, candidates: &[Candidate]) -> MoveSettings {
    let guarded = candidates
        .iter()
        .all(|candidate| churn::old_enough_from(snapshot, candidate).is_some());
    let guards = &snapshot.settings.churn;
    MoveSettings {
        spot_to_spot: snapshot.settings.churn.spot_to_spot,
        least_saving: if guarded {
            guards.saving
        } else {
            PricePerHour::from_nanos(1)
        },
        least_saving_percent: if guarded { guards.saving_percent } else { 0 },
        excluded: consolidate::excluded(snapshot),
        young: young(snapshot, candidates),
        ..MoveSettings::default()
    }
}

/// Candidates too young to be replaced, by row.
fn young(snapshot: &Snapshot, candidates: &[Candidate]) -> Vec<usize> {
    let candidates = candidates.iter();
    let young = candidates.filter(|it| consolidate::fits_replacement(snapshot, it).is_err());
    young.map(|candidate| candidate.row).collect()
}

/// Nodes that budgets leave, by NodePool and reason.
pub(super) type BudgetsLeft = BTreeMap<(PoolName, DisruptionReason), u32>;

/// Takes a move's nodes out of what budgets leave; whether they allow it.
pub(super) fn take(left: &mut BudgetsLeft, members: &[&Candidate]) -> bool {
    let mut wanted: BTreeMap<&PoolName, u32> = BTreeMap::new();
    for member in members {
        *wanted.entry(&member.pool.name).or_default() += 1;
    }
    let key = |pool: &PoolName| (pool.clone(), DisruptionReason::Underutilized);
    let within = wanted
        .iter()
        .all(|(pool, count)| left.get(&key(pool)).is_some_and(|have| have >= count));
    if within {
        for (pool, count) in wanted {
            left.entry(key(pool)).and_modify(|have| *have -= count);
        }
    }
    within
}
