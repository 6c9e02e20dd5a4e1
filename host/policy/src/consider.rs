//! One answer about nodes that might go: budget policies cap, the ranking policy prices, the consolidation policy values, the
//! core keeps every rule.
//!
//! ```text
//! look ─► budget policies (caps) ─► ranking policy (prices) ─► moves ─► consolidation policy (values)
//!      ─► ranking policy (prices as they would be then) ─► commands
//! confirmation ─► budget policies (caps) ─► ranking policy (prices) ─► command ─► ranking policy (order) ─► launch lists
//! ```
//!
//! Without policies the answer is the core's own, to the byte. A policy that fails holds back: a consolidation policy moves
//! nothing, a budget policy lets nothing go but what has drifted. A ranking policy is replaced by list prices, as in a plan;
//! where it forbids offerings nothing is bought, and nodes go only where their pods fit elsewhere. The instances of a command get their
//! launch lists in its order when the command is confirmed; without an answer they stay in order of price.

use plimsoll_base::time::Span;
use plimsoll_base::units::PricePerHour;
use plimsoll_disrupt::confirm;
use plimsoll_disrupt::outlook::Outlook;
use plimsoll_disrupt::pass::{DisruptionPass, Proposal};
use plimsoll_hooks::rank::Prices;
use plimsoll_model::command::{Decision, DisruptionQuestion};
use plimsoll_model::snapshot::Snapshot;
use plimsoll_schedule::Session;

use crate::allow::{Budgeter, allow};
use crate::decide::{HOLD, Ranker};
use crate::manifest::Unit;
use crate::outcome::Fault;
use crate::score::{Consolidator, score};

/// The policies that are asked about nodes that might go.
#[derive(Clone, Copy, Default)]
pub struct Advisers<'p> {
    /// Prices what pools sell, and with it what stands; without it list prices decide. One that only orders is not asked.
    pub ranker: Option<&'p dyn Ranker>,
    /// Values moves; without it a move is worth what it saves.
    pub consolidator: Option<&'p dyn Consolidator>,
    /// Cap what may be down at once; the least counts.
    pub budgeters: &'p [&'p dyn Budgeter],
}

/// A decision about nodes, and what went wrong with policies while it was made.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Considered {
    /// The decision.
    pub decision: Decision,
    /// Faults, with the names of the policies that had them.
    pub faults: Vec<(String, Fault)>,
    /// Faults as sentences for people.
    pub notes: Vec<String>,
}

impl Considered {
    fn note(&mut self, policy: &str, fault: Option<Fault>, note: Option<String>) {
        let named = fault.map(|fault| (policy.to_owned(), fault));
        self.faults.extend(named);
        self.notes.extend(note);
    }
}

/// Answers a question of the engine, asking the policies that there are. Offers of the pools are kept in the session, and read
/// anew only where they changed.
pub fn consider(
    snapshot: &Snapshot,
    question: &DisruptionQuestion,
    advisers: &Advisers<'_>,
    session: &Session,
) -> Considered {
    let mut considered = Considered::default();
    let decision = match question {
        DisruptionQuestion::Pass { consolidate } => {
            let mut pass = DisruptionPass::within(snapshot, *consolidate, session);
            let recheck = cap(&mut pass, advisers.budgeters, &mut considered);
            price(&mut pass, question, advisers.ranker, &mut considered);
            let (proposal, values) = proposed(&pass, advisers, &mut considered);
            let mut decision = proposal.decide(values.as_deref());
            let recheck = recheck.map(|after| snapshot.now + after);
            decision.wake = [decision.wake, recheck].into_iter().flatten().min();
            decision
        }
        DisruptionQuestion::Confirm(command) => {
            let mut pass = DisruptionPass::within(snapshot, false, session);
            cap(&mut pass, advisers.budgeters, &mut considered);
            price(&mut pass, question, advisers.ranker, &mut considered);
            let mut decision = confirm::confirm(&pass, command);
            order(&pass, &mut decision, advisers.ranker, &mut considered);
            decision
        }
    };
    Considered {
        decision,
        ..considered
    }
}

/// Outlooks of the nodes in these rows of a snapshot, in a pass that looks for savings and asks the policies that there are, and what went
/// wrong with those.
pub(crate) fn outlooks(
    snapshot: &Snapshot,
    rows: &[usize],
    advisers: &Advisers<'_>,
    session: &Session,
) -> (Vec<Outlook>, Considered) {
    let mut considered = Considered::default();
    let question = DisruptionQuestion::Pass { consolidate: true };
    let mut pass = DisruptionPass::within(snapshot, true, session);
    cap(&mut pass, advisers.budgeters, &mut considered);
    price(&mut pass, &question, advisers.ranker, &mut considered);
    let (proposal, values) = proposed(&pass, advisers, &mut considered);
    let outlook = |row: &usize| proposal.outlook(*row, values.as_deref());
    (rows.iter().map(outlook).collect(), considered)
}

/// Commands that could be given, with what the consolidation policy values them at, less those that the ranking policy would take back.
fn proposed<'p, 's>(
    pass: &'p DisruptionPass<'s>,
    advisers: &Advisers<'_>,
    considered: &mut Considered,
) -> (Proposal<'p, 's>, Option<Vec<PricePerHour>>) {
    let mut proposal = pass.propose();
    let consolidator = advisers.consolidator;
    let values = consolidator.map(|asked| values(asked, &proposal, considered));
    hold(
        &mut proposal,
        values.as_deref(),
        advisers.ranker,
        considered,
    );
    (proposal, values)
}

/// Lowers what budgets leave to what every policy allows; when to ask again although nothing else has changed.
fn cap(
    pass: &mut DisruptionPass<'_>,
    budgeters: &[&dyn Budgeter],
    considered: &mut Considered,
) -> Option<Span> {
    if budgeters.is_empty() {
        return None;
    }
    let allowed = allow(budgeters, &pass.allow_question());
    for (place, fault) in allowed.faults {
        let policy = budgeters[place].name().to_owned();
        considered.faults.push((policy, fault));
    }
    considered.notes.extend(allowed.notes);
    let rows = allowed.grants.rows.iter();
    let caps: Vec<Option<u32>> = rows.map(|grant| Some(grant.most_down)).collect();
    pass.cap(&caps);
    allowed.grants.recheck_after
}

/// Has what pools sell priced, where prices matter.
fn price(
    pass: &mut DisruptionPass<'_>,
    question: &DisruptionQuestion,
    ranker: Option<&dyn Ranker>,
    considered: &mut Considered,
) {
    let Some(ranker) = ranker.filter(|ranker| ranker.facts().unit == Unit::Dollars) else {
        return;
    };
    let Some(asked) = pass.price_question(question) else {
        return;
    };
    let (prices, failed) = match ranker.price(&asked) {
        Ok(prices) => (Some(prices), None),
        Err(fault) if ranker.facts().vetoes => {
            let why = fault.of_policy(ranker.name());
            let none = Prices::all_held(asked.pools.cand.len(), &why);
            (Some(none), Some((fault, HOLD)))
        }
        Err(fault) => (None, Some((fault, "list prices were taken"))),
    };
    if let Some(prices) = prices {
        pass.price(prices);
    }
    if let Some((fault, instead)) = failed {
        let name = ranker.name();
        let note = format!("policy {name} failed to price moves: {fault}; {instead}");
        considered.note(name, Some(fault), Some(note));
    }
}

/// Has the launch lists of confirmed commands put in order; a command that buys something is dropped where a policy that forbids
/// offerings cannot say in which.
fn order(
    pass: &DisruptionPass<'_>,
    decision: &mut Decision,
    ranker: Option<&dyn Ranker>,
    considered: &mut Considered,
) {
    let Some(ranker) = ranker.filter(|ranker| ranker.facts().orders) else {
        return;
    };
    let name = ranker.name();
    let mut commands = std::mem::take(&mut decision.commands);
    commands.retain_mut(|command| {
        let Some(asked) = pass.order_question(command) else {
            return true;
        };
        let fault = match ranker.order(&asked) {
            Ok(lists) => {
                if !pass.order(command, &lists) {
                    let note = format!("policy {name}: {NOT_FOLLOWED}");
                    considered.note(name, None, Some(note));
                }
                return true;
            }
            Err(fault) => fault,
        };
        let instead = if ranker.facts().vetoes {
            HOLD
        } else {
            "launch lists are in order of price"
        };
        if !ranker.holds_unordered() {
            let note = format!("policy {name} failed to order replacements: {fault}; {instead}");
            considered.note(name, Some(fault), Some(note));
        }
        decision.refused.by_policy += u32::from(ranker.facts().vetoes);
        !ranker.facts().vetoes
    });
    decision.commands = commands;
}

/// Remark on an order that is not taken.
const NOT_FOLLOWED: &str =
    "in its order of replacements a move would not be worth it; launch lists are in order of price";

/// How often moves are picked in one pass: where large ones are held back, smaller ones may still pay.
const MOST_PICKS: usize = 3;

/// Holds moves back that the ranking policy would take back; all that buy something where it cannot say.
fn hold(
    proposal: &mut Proposal<'_, '_>,
    values: Option<&[PricePerHour]>,
    ranker: Option<&dyn Ranker>,
    considered: &mut Considered,
) {
    let Some(ranker) = ranker else {
        return;
    };
    for pick in 1..=MOST_PICKS {
        let Some(asked) = proposal.reversal_question(values) else {
            return;
        };
        match ranker.price(&asked) {
            Ok(prices) => {
                if !proposal.hold(values, Some(prices)) || pick == MOST_PICKS {
                    return;
                }
                proposal.repick();
            }
            Err(fault) => {
                proposal.hold(values, None);
                let name = ranker.name();
                let note = format!(
                    "policy {name} failed to price moves: {fault}; nothing is bought for them"
                );
                considered.note(name, Some(fault), Some(note));
                return;
            }
        }
    }
}

/// Value of each move per hour; empty where the policy cannot say.
fn values(
    consolidator: &dyn Consolidator,
    proposal: &Proposal<'_, '_>,
    considered: &mut Considered,
) -> Vec<PricePerHour> {
    let policy = consolidator.name();
    match proposal.score_question() {
        Ok(question) => {
            let scored = score(consolidator, &question);
            considered.note(policy, scored.fault, scored.note);
            let rows = scored.verdicts.rows.iter();
            rows.map(|verdict| verdict.value).collect()
        }
        Err(error) => {
            let note = format!("policy {policy} cannot be asked: {error}; no node is consolidated");
            considered.note(policy, None, Some(note));
            vec![PricePerHour::ZERO; proposal.moves.len()]
        }
    }
}
