//! A command looked at again after its wait: does it still hold in the world as it is now?
//!
//! Of empty nodes, those that are still so go; a move goes as a whole or not at all, and is found afresh in the same way as
//! it was found. What comes back is the command to be carried out, its plan made on this snapshot.

use plimsoll_model::DisruptionReason;
use plimsoll_model::command::{Command, Decision, Refused};
use plimsoll_model::plan::Plan;

use super::balanced;
use super::candidate::Candidate;
use super::churn::{self, BudgetUse};
use super::consolidate;
use super::moves::{self, Move};
use super::pass::{self, DisruptionPass, take};
use super::savings::{Savings, command_of};
use super::stages;
use super::static_drift;
use super::vacant;

/// Confirms a command in a fleet looked at again, capped by policies as before; a decision without commands where it does
/// not hold.
pub fn confirm(pass: &DisruptionPass<'_>, command: &Command) -> Decision {
    let held = match command.reason {
        DisruptionReason::Empty => still_empty(pass, command),
        DisruptionReason::Drifted => still_drifted(pass, command),
        DisruptionReason::Underutilized => still_worth_it(pass, command),
    };
    let (commands, refused) = match held {
        Ok(command) => (vec![command], Refused::default()),
        Err(refused) => (Vec::new(), refused),
    };
    Decision {
        commands,
        refused,
        ..Decision::default()
    }
}

const CHANGED: Refused = Refused {
    by_budget: 0,
    by_guard: 0,
    by_policy: 0,
    by_change: 1,
    by_pods: 0,
};
const NO_BUDGET: Refused = Refused {
    by_change: 0,
    by_budget: 1,
    ..CHANGED
};

fn still_empty(pass: &DisruptionPass<'_>, command: &Command) -> Result<Command, Refused> {
    let snapshot = pass.fleet.snapshot;
    let holds = |candidate: &&Candidate| {
        command.members.contains(&candidate.claim)
            && consolidate::fits_emptiness(snapshot, candidate).is_ok()
    };
    let fit: Vec<&Candidate> = pass.empty_nodes().into_iter().filter(holds).collect();
    let members = vacant::choose(pass, &fit).members;
    if members.is_empty() {
        return Err(CHANGED);
    }
    Ok(command_of(
        command.reason,
        &members,
        Savings::of_empty(&members),
        Plan::default(),
    ))
}

fn still_drifted(pass: &DisruptionPass<'_>, command: &Command) -> Result<Command, Refused> {
    let candidate = pass
        .drifted()
        .iter()
        .find(|candidate| command.members.contains(&candidate.claim))
        .ok_or(CHANGED)?;
    if candidate.pool.replicas.is_some() {
        return static_drift::reconfirm(pass, candidate);
    }
    if pass.left(candidate, command.reason) == 0 {
        return Err(NO_BUDGET);
    }
    let plan = pass::without(pass, candidate).ok_or(CHANGED)?;
    Ok(command_of(
        command.reason,
        &[candidate],
        Savings::default(),
        plan,
    ))
}

fn still_worth_it(pass: &DisruptionPass<'_>, command: &Command) -> Result<Command, Refused> {
    let snapshot = pass.fleet.snapshot;
    let members: Vec<&Candidate> = pass
        .graceful
        .iter()
        .filter(|candidate| command.is_about(&candidate.claim))
        .collect();
    let fit = |member: &&Candidate| consolidate::fits_consolidation(snapshot, member).is_ok();
    if members.len() != command.members.len() + command.later.len() || !members.iter().all(fit) {
        return Err(CHANGED);
    }
    let (now, later): (Vec<&Candidate>, Vec<&Candidate>) = members
        .iter()
        .partition(|member| command.members.contains(&member.claim));
    let mut left = pass.left_of_all();
    if !take(&mut left, &now) {
        return Err(NO_BUDGET);
    }
    let found = repriced_move(pass, &members, command).ok_or(CHANGED)?;
    let savings = Savings::of(&found);
    let plan = Plan {
        placements: found.placements,
        claims: found.claims,
        ..Plan::default()
    };
    let totals = balanced::totals(&pass.fleet);
    let budgets = BudgetUse::of(pass, &left, &members);
    let least = churn::least_saving(snapshot, &members, &plan.claims, budgets);
    let enough = savings.decides >= least;
    if !enough || !balanced::approves(&totals, &members, savings.decides) {
        return Err(CHANGED);
    }
    let past = churn::remembered(snapshot, &members, &plan.claims);
    let whole = Command {
        past: Some(past),
        ..command_of(command.reason, &members, savings, plan)
    };
    let later = later.iter().map(|member| member.row).collect();
    Ok(stages::first_stage(whole, &members, &later))
}

/// The move of these nodes as it would be found now. One instance more than was planned makes another move than the one that was
/// chosen.
fn repriced_move(
    pass: &DisruptionPass<'_>,
    members: &[&Candidate],
    command: &Command,
) -> Option<Move> {
    let planned = command.plan.claims.len();
    let snapshot = pass.fleet.snapshot;
    let rows: Vec<usize> = members.iter().map(|member| member.row).collect();
    let settings = pass::move_settings(snapshot, &pass.graceful);
    let (found, _) = moves::ask_at(snapshot, &rows, &settings, pass.market(), |simulation| {
        // In stages, all pods go to the new node.
        if !command.later.is_empty() {
            return simulation.ask_into_one(&rows);
        }
        let found = simulation.ask(&rows, planned);
        if planned != 1 {
            return found;
        }
        // All pods may have been meant for the new instance, or one instance may have been the packer's choice.
        found
            .or_else(|| simulation.ask_into_one(&rows))
            .or_else(|| simulation.ask(&rows, 2))
    });
    found.filter(|found| found.claims.len() <= planned)
}
