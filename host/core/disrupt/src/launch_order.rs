//! The launch lists of a command that is about to be carried out, in the ranking policy's order.
//!
//! A policy may put any way to buy first that the command names, and take others off; it names none. What the command's claims name is
//! cheaper than what goes, whatever a launch gives, and stays so. Beyond that the order is followed as long as the command is still one
//! that would be made with its new first choices: it saves enough for its pools, buys no type that a late move took away, and what
//! comes costs no more at list prices than what goes or than what was planned, for drift no more than the cost cap's share of it.
//! Successors in static pools are not asked about. Step before: [`super::confirm`].

use plimsoll_base::units::PricePerHour;
use plimsoll_hooks::rank::{COST_CAP, LaunchLists, OrderQuestion};
use plimsoll_model::catalogue::CapacityType;
use plimsoll_model::command::Command;
use plimsoll_model::plan::{LaunchOption, PlannedClaim};
use plimsoll_schedule::Relisted;
use plimsoll_schedule::simulation::SPOT_TYPES;

use super::balanced;
use super::candidate::Candidate;
use super::churn::{self, BudgetUse};
use super::pass::DisruptionPass;

impl DisruptionPass<'_> {
    /// The question to the ranking policy about the claims of a command that this pass has confirmed; `None` where it buys nothing, or
    /// for a static pool.
    pub fn order_question(&self, command: &Command) -> Option<OrderQuestion> {
        let pods = command.plan.pods_by_claim();
        let pods: Vec<usize> = pods.iter().map(Vec::len).collect();
        let claims = &command.plan.claims;
        if claims.is_empty() {
            return None;
        }
        plimsoll_schedule::order_question(self.fleet.snapshot, self.offers(), claims, &pods)
    }

    /// Puts the claims of a command in the order of the answer to [`DisruptionPass::order_question`]. Whether it is followed; where it is not, the
    /// command stays as it was.
    pub fn order(&self, command: &mut Command, lists: &LaunchLists) -> bool {
        let snapshot = self.fleet.snapshot;
        let members = self.members_of(command);
        let pods = command.plan.pods_by_claim();
        let claims = command.plan.claims.iter().enumerate().map(|(at, claim)| {
            let relisted = Relisted {
                snapshot,
                offers: self.offers(),
                claim,
                pods: &pods[at],
                spot_types: if is_spot_for_spot(command, &members) {
                    SPOT_TYPES
                } else {
                    0
                },
            };
            let list = lists.claims.get(at);
            list.map_or_else(|| claim.clone(), |list| relisted.in_order(list))
        });
        let claims: Vec<PlannedClaim> = claims.collect();
        let ordered = with_claims(command, claims);
        let holds = if command.reason.facts().saves {
            self.is_worth_it(command, &ordered, &members)
        } else {
            let most = sum(&command.plan.claims, cheapest) * COST_CAP;
            listed(&ordered) <= most.max(listed(command))
        };
        if holds {
            *command = ordered;
            if command.past.is_some() {
                let claims = &command.plan.claims;
                command.past = Some(churn::remembered(snapshot, &members, claims));
            }
        }
        holds
    }

    /// `true` if a move would be made with other first choices, too.
    fn is_worth_it(&self, command: &Command, ordered: &Command, members: &[&Candidate]) -> bool {
        let snapshot = self.fleet.snapshot;
        let claims = &ordered.plan.claims;
        let later = command.later.iter().map(|node| node.price);
        let gone: PricePerHour = command.prices.iter().copied().chain(later).sum();
        let turned_back = |claims| churn::is_reversal(snapshot, members, claims).is_some();
        listed(ordered) <= gone.max(listed(command))
            && ordered.saving
                >= churn::least_saving(snapshot, members, claims, BudgetUse::LeavesSome)
            && balanced::approves(&balanced::totals(&self.fleet), members, ordered.saving)
            && (!turned_back(claims) || turned_back(&command.plan.claims))
    }

    fn members_of(&self, command: &Command) -> Vec<&Candidate> {
        let members = self.candidates(command.reason).iter();
        let own = members.filter(|candidate| command.is_about(&candidate.claim));
        own.collect()
    }
}

/// The command with other launch lists for its claims. What it saves goes by the first of each, if it is made to save anything.
fn with_claims(command: &Command, claims: Vec<PlannedClaim>) -> Command {
    let mut ordered = command.clone();
    if command.reason.facts().saves {
        let price = |option: &LaunchOption| option.price;
        let more = sum(&claims, |claim| claim.chosen().map(price))
            - sum(&command.plan.claims, |claim| claim.chosen().map(price));
        let list = |option: &LaunchOption| option.list_price;
        let list_more = sum(&claims, |claim| claim.chosen().map(list))
            - sum(&command.plan.claims, |claim| claim.chosen().map(list));
        ordered.saving = command.saving - more;
        ordered.list_saving = command.list_saving - list_more;
    }
    ordered.plan.claims = claims;
    ordered
}

/// `true` if one spot node goes for one on spot.
fn is_spot_for_spot(command: &Command, members: &[&Candidate]) -> bool {
    let is_spot = |member: &&Candidate| member.capacity_type == Some(CapacityType::Spot);
    command.reason.facts().saves && members.len() == 1 && members.iter().all(is_spot)
}

/// List price of the first choices of a command.
fn listed(command: &Command) -> PricePerHour {
    let list = |claim: &PlannedClaim| Some(claim.chosen()?.list_price);
    sum(&command.plan.claims, list)
}

fn cheapest(claim: &PlannedClaim) -> Option<PricePerHour> {
    claim.options.iter().map(|option| option.list_price).min()
}

fn sum(
    claims: &[PlannedClaim],
    price: impl Fn(&PlannedClaim) -> Option<PricePerHour>,
) -> PricePerHour {
    claims.iter().filter_map(price).sum()
}
