//! The choice among the moves that were found: in order of value, within budgets, no node twice; and none that the ranking
//! policy would rather take back.
//!
//! A policy may price by what runs already: a commitment that is used up, a share that is full. Then what goes may be cheaper to
//! buy once it is gone than it seemed while it stood. So the policy is asked once more, about the cluster as it would be: what
//! goes must not be worth less there than what comes has cost, or the next pass would take the move back.

use std::cell::OnceCell;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use plimsoll_base::units::PricePerHour;
use plimsoll_hooks::rank::{PriceQuestion, Prices};
use plimsoll_model::DisruptionReason;
use plimsoll_model::command::{Command, Refused};
use plimsoll_model::plan::Plan;
use plimsoll_model::snapshot::Snapshot;
use plimsoll_schedule::Quoted;

use super::MOST_COMMANDS;
use super::balanced;
use super::candidate::Candidate;
use super::churn::{self, BudgetUse};
use super::moves::{Move, carry_out};
use super::outlook::{Declined, DeclinedBy};
use super::pass::{BudgetsLeft, Proposal};
use super::savings::{Savings, command_of};
use super::stages;

/// Moves that are chosen, and those that are to be held back all the same.
#[derive(Default)]
pub(super) struct Choice {
    picked: OnceCell<Picked>,
    held: BTreeSet<usize>,
}

#[derive(Default)]
struct Picked {
    moves: Vec<PickedMove>,
    refused: Refused,
}

/// A move that is made, maybe in stages.
struct PickedMove {
    /// Its place among the moves that were found.
    at: usize,
    /// Rows of its nodes that are removed later.
    later: BTreeSet<usize>,
}

impl Proposal<'_, '_> {
    /// The question to the ranking policy before moves are made that buy something; `None` where there are none, or where list
    /// prices decide. `values` are those that [`Proposal::decide`] is given.
    pub fn reversal_question(&self, values: Option<&[PricePerHour]>) -> Option<PriceQuestion> {
        self.pass().fleet.quoted.as_ref()?;
        let mut picked = self.picked(values).moves.iter();
        picked
            .any(|picked| !self.moves[picked.at].claims.is_empty())
            .then(|| plimsoll_schedule::price_question(&self.after(values), self.pass().offers()))?
    }

    /// Holds moves back that the answer to [`Proposal::reversal_question`] would undo; without an answer all that buy something. `true` if
    /// it holds any: then others may be picked in their place.
    pub fn hold(&mut self, values: Option<&[PricePerHour]>, prices: Option<Prices>) -> bool {
        let pass = self.pass();
        let quoted = prices.map(|prices| Quoted::new(self.snapshot(), pass.offers(), prices));
        let mut bought = BTreeMap::new();
        let mut held = BTreeSet::new();
        for PickedMove { at, .. } in &self.picked(values).moves {
            let found = &self.moves[*at];
            if found.claims.is_empty() {
                continue;
            }
            let pays = quoted.as_ref().is_some_and(|quoted| {
                let members = self.members(found);
                let node_cost = self.snapshot().settings.node_cost;
                let worth = members.iter().map(|member| {
                    let labels = self.snapshot().nodes[member.row].labels();
                    let again = quoted.buy_back(&member.pool.name, labels, &mut bought);
                    again.unwrap_or(member.price) + node_cost
                });
                let worth: PricePerHour = worth.sum();
                let chosen = found.claims.iter().filter_map(|claim| claim.chosen());
                let planned = chosen.map(|option| option.price).sum();
                let budgets = BudgetUse::LeavesSome;
                let least = churn::least_saving(self.snapshot(), &members, &found.claims, budgets);
                worth - planned >= least
            });
            if !pays {
                held.insert(*at);
            }
        }
        let any = !held.is_empty();
        self.choice.held.extend(held);
        any
    }

    /// Picks anew, without the moves that are held back.
    pub fn repick(&mut self) {
        self.choice.picked = OnceCell::new();
    }

    /// The cluster with all chosen moves carried out.
    fn after(&self, values: Option<&[PricePerHour]>) -> Snapshot {
        let picked = self.picked(values).moves.iter();
        let moves: Vec<Move> = picked.map(|it| self.moves[it.at].clone()).collect();
        carry_out(self.snapshot(), &moves)
    }

    /// The commands of the moves that are made, best first.
    pub(super) fn choose(&mut self, values: Option<&[PricePerHour]>) -> Vec<Command> {
        if self.moves.is_empty() {
            return Vec::new();
        }
        let Picked { moves, refused } = self.picked(values);
        let held = &self.choice.held;
        let made = moves.iter().filter(|picked| !held.contains(&picked.at));
        let made = made.map(|picked| self.command_of(picked));
        let (commands, refused) = (made.collect(), *refused);
        self.refused.add(refused);
        self.refused.by_guard += u32::try_from(held.len()).unwrap_or(u32::MAX);
        commands
    }

    /// The command of the move that is made and takes the node of a row away; `None` where none does.
    pub(super) fn move_about(
        &self,
        row: usize,
        values: Option<&[PricePerHour]>,
    ) -> Option<Command> {
        let held = &self.choice.held;
        let mut made = self.picked(values).moves.iter();
        let made = made.find(|picked| {
            let goes = self.moves[picked.at].members.contains(&row);
            goes && !picked.later.contains(&row) && !held.contains(&picked.at)
        });
        made.map(|picked| self.command_of(picked))
    }

    /// The best move that would take the node of a row away, where none that is made does.
    pub(super) fn declined(&self, row: usize, values: Option<&[PricePerHour]>) -> Option<Declined> {
        let moves = self.moves.iter().enumerate();
        let about = moves.filter(|(_, found)| found.members.contains(&row));
        let valued = about.map(|(at, found)| (self.value(at, values), at, found));
        let (value, at, found) = valued.min_by_key(|(value, at, _)| (Reverse(*value), *at))?;
        let members = self.members(found);
        let totals = balanced::totals(&self.pass().fleet);
        let lost = churn::lost_work(self.snapshot(), &members);
        let within = self.within_budgets(&self.left, found, &members);
        let budgets = within.as_ref().map_or(BudgetUse::LeavesSome, |(_, rest)| {
            BudgetUse::of(self.pass(), rest, &members)
        });
        let least = churn::least_saving(self.snapshot(), &members, &found.claims, budgets);
        let is_worth =
            value > PricePerHour::ZERO && balanced::approves(&totals, &members, found.saving);
        let mut picked = self.picked(values).moves.iter();
        let by = if self.choice.held.contains(&at) {
            DeclinedBy::Ranking
        } else if picked.any(|picked| picked.at == at) {
            DeclinedBy::LaterStage
        } else if !is_worth {
            DeclinedBy::Value
        } else if found.saving < lost {
            DeclinedBy::LostWork(lost)
        } else if found.saving < least {
            DeclinedBy::LeastSaving(least)
        } else if churn::is_reversal(self.snapshot(), &members, &found.claims).is_some() {
            DeclinedBy::Reversal
        } else if within.is_none() {
            DeclinedBy::Budgets {
                nodes: members.len(),
            }
        } else {
            DeclinedBy::OtherMove
        };
        Some(Declined {
            saving: found.saving,
            value,
            pods: found.pods_moved(),
            by,
        })
    }

    /// Value of a move: the policy's, or what it saves.
    fn value(&self, at: usize, values: Option<&[PricePerHour]>) -> PricePerHour {
        match values {
            Some(values) => values.get(at).copied().unwrap_or(PricePerHour::ZERO),
            None => self.moves[at].saving,
        }
    }

    fn picked(&self, values: Option<&[PricePerHour]>) -> &Picked {
        self.choice.picked.get_or_init(|| self.pick(values))
    }

    fn pick(&self, values: Option<&[PricePerHour]>) -> Picked {
        let moves = &self.moves;
        let totals = balanced::totals(&self.pass().fleet);
        let value = |at: usize| self.value(at, values);
        let mut order: Vec<usize> = (0..moves.len()).collect();
        order.sort_by_key(|at| (Reverse(value(*at)), *at));
        let mut left = self.left.clone();
        let mut touched: BTreeSet<usize> = BTreeSet::new();
        let mut drawn: BTreeMap<usize, u32> = BTreeMap::new();
        let mut picked = Picked::default();
        let held = &self.choice.held;
        for at in order.into_iter().filter(|at| !held.contains(at)) {
            if picked.moves.len() == MOST_COMMANDS {
                break;
            }
            let found = &moves[at];
            let receivers = found.receivers();
            let mut rows = found.members.iter().chain(&receivers);
            if rows.any(|row| touched.contains(row)) || found.exceeds(&drawn) {
                continue;
            }
            let members = self.members(found);
            if value(at) <= PricePerHour::ZERO
                || !balanced::approves(&totals, &members, found.saving)
            {
                picked.refused.by_policy += 1;
            } else if churn::is_reversal(self.snapshot(), &members, &found.claims).is_some() {
                picked.refused.by_guard += 1;
            } else if let Some((later, rest)) = self.within_budgets(&left, found, &members) {
                let budgets = BudgetUse::of(self.pass(), &rest, &members);
                if found.saving
                    < churn::least_saving(self.snapshot(), &members, &found.claims, budgets)
                {
                    picked.refused.by_guard += 1;
                    continue;
                }
                left = rest;
                touched.extend(found.members.iter().chain(&receivers));
                found.draw(&mut drawn);
                picked.moves.push(PickedMove { at, later });
            } else {
                picked.refused.by_budget += 1;
            }
        }
        picked
    }

    /// Rows of a move's nodes that are removed later, and what budgets leave with it; `None` where they do not let it be made.
    fn within_budgets(
        &self,
        left: &BudgetsLeft,
        found: &Move,
        members: &[&Candidate],
    ) -> Option<(BTreeSet<usize>, BudgetsLeft)> {
        let mut rest = left.clone();
        let later = stages::take_now(self.snapshot(), &mut rest, found, members)?;
        Some((later, rest))
    }

    fn command_of(&self, picked: &PickedMove) -> Command {
        let found = &self.moves[picked.at];
        let members = self.members(found);
        let plan = Plan {
            placements: found.placements.clone(),
            claims: found.claims.clone(),
            ..Plan::default()
        };
        let reason = DisruptionReason::Underutilized;
        let mut command = command_of(reason, &members, Savings::of(found), plan);
        command.past = Some(churn::remembered(self.snapshot(), &members, &found.claims));
        stages::first_stage(command, &members, &picked.later)
    }

    fn members(&self, found: &Move) -> Vec<&Candidate> {
        let all = &self.pass().graceful;
        let place = |row: &usize| all.binary_search_by_key(row, |candidate| candidate.row);
        let places = found.members.iter().filter_map(|row| place(row).ok());
        places.map(|at| &all[at]).collect()
    }
}
